"""Lists its tools in 40 pages with distinct cursors: long, and allowed."""
from toy import Toy, tool

TOOLS = [tool(f"tool_{n}", "Does one small thing well.", ["text"], text={"type": "string"}) for n in range(40)]


class Pages(Toy):
    tools = TOOLS

    def on_list(self, params):
        page = int(params.get("cursor", "0"))
        return {"tools": TOOLS[page : page + 1], **({"nextCursor": str(page + 1)} if page < 39 else {})}


Pages().serve()
