"""Lists its tools with JSON that is 200 000 levels deep."""
import json

from toy import Toy


class Deep(Toy):
    def send(self, message):
        deep = b'"default":' + b"[" * 200_000 + b"]" * 200_000
        self.write(json.dumps(message).encode().replace(b'"description": "What to return."', deep) + b"\n")


Deep().serve()
