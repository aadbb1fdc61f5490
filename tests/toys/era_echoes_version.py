"""Answers initialize with whatever protocolVersion it was offered."""
from toy import Toy


class Echoes(Toy):
    def on_initialize(self, params):
        return {**super().on_initialize(params), "protocolVersion": params.get("protocolVersion")}


Echoes().serve()
