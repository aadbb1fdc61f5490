"""Answers initialize with a protocolVersion that no revision has."""
from toy import Toy


class Unknown(Toy):
    def on_initialize(self, params):
        return {**super().on_initialize(params), "protocolVersion": "1999-01-01"}


Unknown().serve()
