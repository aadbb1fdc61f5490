"""One way to take wrong input badly, or a near miss that takes it well, by the name of its variant."""
import os
import sys

from toy import ADD, ECHO, Refused, Toy, text, tool

TRACE = 'Traceback (most recent call last):\n  File "/srv/toy/app/server.py", line 41, in echo\n    return text.upper()\n' \
    "AttributeError: 'int' object has no attribute 'upper'"
PYDANTIC = "1 validation error for echoArguments\ntext\n  Input should be a valid string [type=string_type, input_value=7]"
REFUSALS = {
    "plain-text": lambda why: text(f"Error: {why}"),
    "pydantic": lambda why: text(PYDANTIC, isError=True),
    "zod": lambda why: text('MCP error -32602: Invalid arguments: [{"code":"invalid_type","path":["text"],"message":"Required"}]', isError=True),
    "bare-is-error": lambda why: text("", isError=True),
    "leak": lambda why: text(TRACE, isError=True),
    "runtime-error": lambda why: text("TypeError: Cannot read properties of undefined (reading 'toUpperCase')", isError=True),
    "source-path": lambda why: text("failed at /srv/toy/node_modules/toy/dist/index.js:41:17", isError=True),
    "used-before-error": lambda why: text("Request failed with status code 404: GET http://api.invalid/echo/undefined", isError=True),
    "mostly-lenient": lambda why: text("done"),
}
ANY = {"name": "anything", "description": "Takes anything, as its schema says.", "inputSchema": {"type": "object"}}


class Variant(Toy):
    variant = sys.argv[1]
    tools = {"accepts-anything": [ANY], "one-lenient": [ECHO, ADD, tool("flag", "Sets the flag named.", ["on"], on={"type": "boolean"})]}.get(variant, [ECHO, ADD])
    spoiled = False

    def refuse(self, entry, why):
        if self.variant == "one-lenient" and entry["name"] == "flag" and "must be a" in why:
            return text("done")
        if self.variant == "json-rpc-errors":
            raise Refused(-32602, f"Invalid params: {why}")
        self.spoiled = True
        return REFUSALS[self.variant](why) if self.variant in REFUSALS else super().refuse(entry, why)

    def on_call(self, params):
        known = params.get("name") in [entry["name"] for entry in self.tools]
        if self.variant == "unknown-tool-is-error" and not known:
            return text(f"Tool {params.get('name')} not found", isError=True)
        if self.variant == "unknown-tool-accepted" and not known:
            return text("done")
        if self.variant == "accepts-anything" and known and isinstance(params.get("arguments", {}), dict):
            return text("done")
        return super().on_call(params)

    def on_list(self, params):
        if self.variant == "list-lost" and self.spoiled:
            raise Refused(-32603, "internal state is corrupt")
        return super().on_list(params)

    def on_line(self, line):
        if self.variant == "blank-line-kills" and not line.strip():
            os._exit(0)
        if self.variant == "long-line-kills" and len(line) > 500_000:
            os._exit(137)
        if self.variant == "answers-malformed" and not line.lstrip().startswith(b'{"'):
            return self.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
        super().on_line(line)


Variant().serve()
