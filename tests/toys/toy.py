"""A correct little MCP server on stdio that the other toys spoil in one place each. Standard library only."""
import json
import sys

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
CHECKS = {"string": str, "boolean": bool, "object": dict, "array": list, "integer": int, "number": (int, float)}


def tool(name, description, required=(), read_only=None, **properties):
    """A tool entry; properties are parameter=schema."""
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    entry = {"name": name, "description": description, "inputSchema": schema}
    return entry if read_only is None else {**entry, "annotations": {"readOnlyHint": read_only}}


def text(content, **more):
    return {"content": [{"type": "text", "text": content}], **more}


ECHO = tool("echo", "Returns the text that it was given.", ["text"], text={"type": "string", "description": "What to return."})
ADD = tool("add", "Adds two numbers and returns the sum.", ["a", "b"], a={"type": "number"}, b={"type": "number"})


class Refused(Exception):
    """A JSON-RPC error."""

    def __init__(self, code, message, **data):
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


def complaint(schema, arguments):
    """What is wrong with the arguments, or None: the few keywords that the toys use."""
    if not isinstance(arguments, dict):
        return "arguments must be an object"
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in arguments:
            return f"missing required parameter '{name}'"
    for name, value in arguments.items():
        if name not in properties:
            if schema.get("additionalProperties") is False:
                return f"unknown parameter '{name}'"
            continue
        wanted = properties[name].get("type")
        if wanted and (not isinstance(value, CHECKS[wanted]) or (isinstance(value, bool) and wanted != "boolean")):
            return f"parameter '{name}' must be a {wanted}"
        if "enum" in properties[name] and value not in properties[name]["enum"]:
            return f"parameter '{name}' must be one of {properties[name]['enum']}"


class Toy:
    """Subclasses override one hook. `legacy` and `modern` say which eras it speaks."""

    tools, prompts, resources, instructions = [ECHO, ADD], None, None, None
    legacy, modern = True, False

    def call(self, name, arguments):
        return text(str(arguments.get("text", arguments.get("a", 0))))

    def refuse(self, entry, why):
        return text(f"Invalid arguments for {entry['name']}: {why}. Read the input schema and call again.", isError=True)

    def on_call(self, params):
        entry = next((t for t in self.tools if t.get("name") == params.get("name")), None)
        if entry is None:
            raise Refused(-32602, "Unknown tool: call tools/list for the names of those that exist")
        why = complaint(entry["inputSchema"], params.get("arguments", {}))
        return self.refuse(entry, why) if why else self.call(entry["name"], params.get("arguments", {}))

    def on_list(self, params):
        return {"tools": self.tools}

    def facts(self):
        sections = {"tools": self.tools, "prompts": self.prompts, "resources": self.resources}
        facts = {"capabilities": {name: {} for name, entries in sections.items() if entries is not None}}
        return {**facts, "instructions": self.instructions} if self.instructions else facts

    def on_initialize(self, params):
        version = params.get("protocolVersion")
        version = version if version in LEGACY else LEGACY[-1]
        return {"protocolVersion": version, "serverInfo": {"name": "toy", "version": "1.0.0"}, **self.facts()}

    def on_discover(self, params):
        info = {META + "serverInfo": {"name": "toy", "version": "1.0.0"}}
        return {"supportedVersions": [MODERN], "_meta": info, **self.facts()}

    def result(self, method, params):
        meta = (params.get("_meta") or {}).get(META + "protocolVersion") if isinstance(params.get("_meta"), dict) else None
        if meta is not None and self.modern and meta != MODERN:
            raise Refused(-32022, "Unsupported protocol version", supported=[MODERN], requested=meta)
        now_modern = self.modern and meta is not None
        known = {"tools/list": self.on_list, "tools/call": self.on_call}
        known.update({"prompts/list": lambda _: {"prompts": self.prompts}} if self.prompts is not None else {})
        if self.resources is not None:
            known["resources/list"] = lambda _: {"resources": self.resources}
            known["resources/templates/list"] = lambda _: {"resourceTemplates": []}
        known.update({"server/discover": self.on_discover} if self.modern else {})
        known.update({"initialize": self.on_initialize, "ping": lambda _: {}} if self.legacy and not now_modern else {})
        if method not in known:
            raise Refused(-32601, "Method not found")
        if not self.legacy and not now_modern:
            raise Refused(-32602, "params._meta must name the protocol version")
        more = {"resultType": "complete"} if now_modern else {}
        if now_modern and method != "tools/call":
            more.update(ttlMs=0, cacheScope="private")
        return {**more, **known[method](params)}

    def answer(self, message):
        """The reply to a message, or None when it needs none."""
        if not isinstance(message, dict) or not isinstance(message.get("method"), str) or message.get("id") is None:
            return None
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        try:
            return {"jsonrpc": "2.0", "id": message["id"], "result": self.result(message["method"], params)}
        except Refused as refused:
            return {"jsonrpc": "2.0", "id": message["id"], "error": refused.error}

    def write(self, data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def on_line(self, line):
        """One line from the client; malformed ones are passed over in silence, as the big SDKs do."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        reply = self.answer(message)
        if reply is not None:
            self.send(reply)

    def serve(self):
        for line in iter(sys.stdin.buffer.readline, b""):
            self.on_line(line)
