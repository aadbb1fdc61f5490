"""Answers initialize with a line that never ends."""
from toy import Toy


class Endless(Toy):
    def on_initialize(self, params):
        self.write(b'{"jsonrpc":"2.0","id":0,"result":{"x":"')
        while True:
            self.write(b"a" * 65536)


Endless().serve()
