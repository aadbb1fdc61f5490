"""Answers every page with a new cursor, for ever."""
from toy import Toy, tool


class Endless(Toy):
    def on_list(self, params):
        page = int(params.get("cursor", "0"))
        return {"tools": [tool(f"tool_{page}", "Does one small thing well.")], "nextCursor": str(page + 1)}


Endless().serve()
