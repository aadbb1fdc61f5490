"""The toys over Streamable HTTP: `toy_http.py PORT VARIANT` is correct in its plain variants and spoiled in the others."""
import json
import os
import sys
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from toy import META, Toy, text

PORT, VARIANT = int(sys.argv[1]), sys.argv[2]
FIXED = {"401": 401, "403": 403, "404": 404, "500": 500, "503": 503}
SESSIONS = set()


class Http(Toy):
    legacy, modern = VARIANT != "modern", VARIANT in ("modern", "dual")

    def refuse(self, entry, why):
        if VARIANT == "leaks":
            return text(f"{why}; environment: {dict(os.environ)}", isError=True)
        return super().refuse(entry, why)


TOY = Http()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405 if self.path == "/mcp" and VARIANT not in FIXED else FIXED.get(VARIANT, 404), Allow="POST")

    def do_DELETE(self):
        SESSIONS.discard(self.headers.get("Mcp-Session-Id"))
        self.reply(204 if VARIANT == "sessions" else 405)

    def do_POST(self):
        line = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if VARIANT == "slow":
            time.sleep(0.2)
        if VARIANT == "bearer" and self.headers.get("Authorization") != "Bearer toy-token":
            return self.reply(401, WWW_Authenticate="Bearer")
        if VARIANT == "html":
            return self.reply(200, b"<!doctype html><title>Toy</title><h1>It works</h1>", "text/html")
        if VARIANT == "redirect" and self.path == "/mcp":
            return self.reply(307, Location="/elsewhere")
        if VARIANT in FIXED:
            return self.reply(FIXED[VARIANT], b'{"error":"no"}')
        if self.path != "/mcp" and VARIANT != "redirect":
            return self.reply(404)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return self.reply(400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}')
        self.one(message if isinstance(message, dict) else {})

    def one(self, message):
        more, session = {}, self.headers.get("Mcp-Session-Id")
        if VARIANT == "sessions" and message.get("method") == "initialize":
            session = uuid.uuid4().hex
            SESSIONS.add(session)
            more = {"Mcp_Session_Id": session}
        elif VARIANT == "sessions" and session not in SESSIONS:
            return self.reply(404 if session else 400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"No session"}}')
        answer = TOY.answer(message)
        if answer is None:
            return self.reply(202)
        body = json.dumps(answer).encode()
        status = 200
        if VARIANT == "modern" and "error" in answer:
            status = 404 if answer["error"]["code"] == -32601 else 200 if META + "protocolVersion" in str(message) else 400
        if VARIANT == "sse":
            body = b": comment\n\nevent: message\nid: 1\ndata: " + body + b"\n\n"
            return self.reply(200, body, "text/event-stream", **more)
        self.reply(status, body, **more)

    def log_message(self, *_):
        pass


if VARIANT == "slow-start":
    time.sleep(2)
ThreadingHTTPServer.allow_reuse_address = True
ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
