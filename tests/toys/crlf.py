"""Ends its lines with carriage return and line feed: odd, and readable."""
import json

from toy import Toy


class Crlf(Toy):
    def send(self, message):
        self.write(json.dumps(message).encode() + b"\r\n")


Crlf().serve()
