"""Answers every page with the same cursor."""
from toy import Toy


class Repeats(Toy):
    def on_list(self, params):
        return {"tools": self.tools[:1] if "cursor" not in params else [], "nextCursor": "again"}


Repeats().serve()
