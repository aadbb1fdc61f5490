"""One protocol defect, or one near miss, by the name of its variant."""
import sys

from toy import ADD, ECHO, Refused, Toy, text, tool

FINE = "Does one small thing well."
TOOLS = {
    "bad-name": [ECHO, tool("read file!", FINE)],
    "empty-name": [ECHO, tool("", FINE)],
    "long-name": [ECHO, tool("n" * 129, FINE)],
    "duplicate-name": [ECHO, ADD, tool("echo", FINE)],
    "no-description": [ECHO, {k: v for k, v in ADD.items() if k != "description"}],
    "short-description": [ECHO, tool("add", "Adds.")],
    "blank-description": [ECHO, tool("add", " " * 40)],
    "no-tools": [],
    "entry-without-name": [ECHO, {"description": FINE, "inputSchema": {"type": "object"}}],
    "names-at-the-edge": [tool("n" * 128, FINE), tool("a", FINE), tool("Files.read-all_v2", FINE)],
    "description-at-the-edge": [tool("ten", "ten chars!"), ECHO],
}


class Variant(Toy):
    variant = sys.argv[1]
    tools = TOOLS.get(variant, [ECHO, ADD])

    def refuse(self, entry, why):
        if self.variant == "text-without-text":
            return {"content": [{"type": "text"}], "isError": True}
        if self.variant == "content-not-array":
            return {"content": "Invalid arguments", "isError": True}
        if self.variant == "noise-in-calls":
            self.write(b"[debug] refused a call\n")
        if self.variant == "stderr-in-calls":
            sys.stderr.write("[debug] refused a call\n")
        return super().refuse(entry, why)

    def on_list(self, params):
        if self.variant == "list-refused":
            raise Refused(-32603, "the tool list is not available")
        return super().on_list(params)

    def answer(self, message):
        silent = self.variant == "list-silent" and isinstance(message, dict) and message.get("method") == "tools/list"
        return None if silent else super().answer(message)


toy = Variant()
if toy.variant == "banner":
    toy.write(b"Toy server 1.0 listening on stdio\n")
if toy.variant == "json-banner":
    toy.write(b'{"level":"info","msg":"listening on stdio"}\n')
if toy.variant == "blank-lines":
    toy.write(b"\n")
toy.serve()
