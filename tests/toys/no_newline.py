"""Answers without the newline that ends a message."""
import json

from toy import Toy


class Unended(Toy):
    def send(self, message):
        self.write(json.dumps(message).encode())


Unended().serve()
