"""Answers a call with a line that never ends."""
from toy import Toy


class Endless(Toy):
    def refuse(self, entry, why):
        self.write(b'{"jsonrpc":"2.0","id":99,"result":{"x":"')
        while True:
            self.write(b"a" * 65536)


Endless().serve()
