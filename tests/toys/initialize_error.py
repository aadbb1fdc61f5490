"""Refuses initialize with an error."""
from toy import Refused, Toy


class Refuses(Toy):
    def on_initialize(self, params):
        raise Refused(-32603, "no licence key was found")


Refuses().serve()
