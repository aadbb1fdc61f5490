"""Lists its tools with bytes that are not UTF-8."""
import json

from toy import Toy


class Invalid(Toy):
    def send(self, message):
        data = json.dumps(message).encode() + b"\n"
        self.write(data.replace(b"Returns the text", b"Returns \xff\xc3\x28 the text"))


Invalid().serve()
