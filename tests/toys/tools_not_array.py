"""Answers tools/list with an object where the array belongs."""
from toy import Toy


class Wrong(Toy):
    def on_list(self, params):
        return {"tools": {entry["name"]: entry for entry in self.tools}}


Wrong().serve()
