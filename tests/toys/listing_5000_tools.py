"""Lists 5 000 tools in pages of a thousand, just under 32 MiB: both bounds are met."""
from toy import Toy, tool

FILL = "Reads one record by its number and returns its fields. " * 100


class Large(Toy):
    tools = [tool(f"record_{n}", f"Reads record {n} of the archive.",
                  number={"type": "integer", "minimum": 0, "description": FILL},
                  part={"type": "string", "enum": ["head", "body", "tail"]}) for n in range(5000)]

    def on_list(self, params):
        start = int(params.get("cursor", 0))
        page = {"tools": self.tools[start:start + 1000]}
        return page if start + 1000 >= len(self.tools) else {**page, "nextCursor": str(start + 1000)}


Large().serve()
