"""Sends every reply twice."""
from toy import Toy


class Twice(Toy):
    def send(self, message):
        super().send(message)
        super().send(message)


Twice().serve()
