"""Answers each wrong call with JSON that is 200 000 levels deep."""
import json

from toy import Toy


class Deep(Toy):
    def send(self, message):
        deep = b'"isError": true, "_meta": {"x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
        self.write(json.dumps(message).encode().replace(b'"isError": true', deep) + b"\n")


Deep().serve()
