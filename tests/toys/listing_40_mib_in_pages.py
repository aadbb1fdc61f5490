"""Lists its tools in ten pages of 5 MiB."""
from toy import Toy, tool


class Large(Toy):
    def on_list(self, params):
        page = int(params.get("cursor", "0"))
        entry = tool(f"big_{page}", "Has a very long default.", text={"type": "string", "default": "word " * (4 << 18)})
        return {"tools": [entry], **({"nextCursor": str(page + 1)} if page < 9 else {})}


Large().serve()
