"""Good or poor advice in refusals and instructions, by the name of its variant."""
import sys

from toy import ADD, Refused, Toy, text, tool

INSTRUCTIONS = {
    "names-missing-tool": "Call `search_documents` first to find the id, then call `add`.",
    "names-own-tools": "Call `echo` to test the connection and `add` to add two numbers.",
    "plain-prose": "This server adds numbers. Results are rounded to two decimals; use `snake_case` for names.",
}


class Variant(Toy):
    variant = sys.argv[1]
    instructions = INSTRUCTIONS.get(variant)
    tools = [tool("echo", "Returns the text that it was given.", ["text"], text={"type": "string"}), ADD]

    def refuse(self, entry, why):
        if self.variant == "terse":
            return text("no", isError=True)
        if self.variant == "routing":
            return text(f"Invalid arguments: {why}. Use list_items to get a valid id instead, then try again.", isError=True)
        return super().refuse(entry, why)

    def on_call(self, params):
        if self.variant == "terse" and params.get("name") not in ("echo", "add"):
            raise Refused(-32602, "no")
        if self.variant == "routing" and params.get("name") not in ("echo", "add"):
            raise Refused(-32602, "Unknown tool. Use tools/list to see the tools that exist, then use one of those instead.")
        return super().on_call(params)


Variant().serve()
