"""Uses the empty string as a cursor, which is a cursor like any other."""
from toy import ADD, ECHO, Toy


class Empty(Toy):
    def on_list(self, params):
        return {"tools": [ADD]} if params.get("cursor") == "" else {"tools": [ECHO], "nextCursor": ""}


Empty().serve()
