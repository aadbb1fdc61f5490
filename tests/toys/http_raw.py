"""Streamable HTTP by hand over raw sockets: `http_raw.py PORT VARIANT` is correct up to the one thing that its variant spoils."""
import gzip
import json
import os
import socket
import struct
import sys
import threading
import time

from toy import Toy

PORT, VARIANT = int(sys.argv[1]), sys.argv[2]
TOY = Toy()
COUNT = {"posts": 0, "calls": 0}
REASONS = {200: "OK", 202: "Accepted", 204: "No Content", 307: "Temporary Redirect", 404: "Not Found", 405: "Method Not Allowed", 429: "Too Many Requests", 503: "Service Unavailable"}


def head(status, *headers, version="HTTP/1.1"):
    return "\r\n".join([f"{version} {status} {REASONS[status]}", *headers, "", ""]).encode()


def whole(status, body=b"", *headers, kind="application/json", version="HTTP/1.1"):
    return head(status, f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, version=version) + body


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def read(stream):
    """One request: method, headers, body; None at the end."""
    line = stream.readline()
    if not line.strip():
        return None
    headers = {}
    for field in iter(stream.readline, b"\r\n"):
        if not field:
            return None
        name, _, value = field.partition(b":")
        headers[name.strip().lower().decode()] = value.strip().decode()
    return line.split()[0].decode(), headers, stream.read(int(headers.get("content-length", 0)))


def spoiled(connection, message, body, is_call):
    """Sends the reply in the variant's way; True when the connection stays usable."""
    send = connection.sendall
    late = is_call or message.get("method") == "ping"
    if VARIANT == "length-too-long":
        send(head(200, "Content-Type: application/json", f"Content-Length: {len(body) + 50}") + body)
        return False
    if VARIANT == "length-too-short":
        send(head(200, "Content-Type: application/json", f"Content-Length: {len(body) - 5}") + body)
        return False
    if VARIANT == "length-huge" and is_call:
        send(head(200, "Content-Type: application/json", "Content-Length: 99999999999999") + body)
        time.sleep(30)
        return False
    if VARIANT == "length-twice" and is_call:
        send(head(200, "Content-Type: application/json", f"Content-Length: {len(body)}", "Content-Length: 3") + body)
        return False
    if VARIANT == "chunk-garbage" and is_call:
        send(head(200, "Content-Type: application/json", "Transfer-Encoding: chunked") + b"zz\r\n" + body + b"\r\nffffffffffffffffff\r\n")
        return False
    if VARIANT == "sse-endless" and is_call:
        send(head(200, "Content-Type: text/event-stream"))
        while True:
            send(b": still here\n\n" * 50)
            time.sleep(0.01)
    if VARIANT == "sse-after-reply":
        send(head(200, "Content-Type: text/event-stream") + b"data: " + body + b"\n\n")
        for _ in range(3000):
            send(b": still here\n\n")
            time.sleep(0.01)
        return False
    if VARIANT == "sse-200-mib" and is_call and COUNT["calls"] < 4:
        send(head(200, "Content-Type: text/event-stream") + b"data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" % message["id"])
        for _ in range(200):
            send(b"x" * (1 << 20))
        send(b"\"}]}}\n\n")
        return False
    if VARIANT == "sse-requests" and is_call:
        ask = b"data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n"
        send(head(200, "Content-Type: text/event-stream") + b"".join(ask % n for n in range(20_000)) + b"data: " + body + b"\n\n")
        return False
    if VARIANT == "sse-no-blank":
        send(head(200, "Content-Type: text/event-stream") + b"data: " + body)
        return False
    if VARIANT == "gzip":
        send(whole(200, gzip.compress(body), "Content-Encoding: gzip"))
        return True
    if VARIANT == "gzip-bomb" and is_call:
        send(whole(200, BOMB, "Content-Encoding: gzip"))
        return True
    if VARIANT == "redirect-away" and is_call:
        send(whole(307, b"", f"Location: http://127.0.0.1:{PORT}/trap"))
        return True
    if VARIANT == "continue":
        send(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + whole(200, body))
        return True
    if VARIANT == "continue-endless" and is_call:
        while True:
            send(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
            time.sleep(0.001)
    if VARIANT in ("204-with-body", "202-with-body") and is_call:
        send(whole(int(VARIANT[:3]), body))
        return True
    if VARIANT == "kind-lies":
        send(whole(200, body, kind="text/html; charset=utf-8"))
        return True
    if VARIANT == "kind-says-sse" and is_call:
        send(whole(200, body, kind="text/event-stream"))
        return True
    if VARIANT == "kind-none":
        send(head(200, f"Content-Length: {len(body)}") + body)
        return True
    if VARIANT == "slow-headers" and is_call:
        for byte in head(200, f"Content-Length: {len(body)}"):
            send(bytes([byte]))
            time.sleep(1)
        return False
    if VARIANT == "headers-endless" and is_call:
        send(b"HTTP/1.1 200 OK\r\n")
        while True:
            send(b"X-More: " + b"y" * 1000 + b"\r\n")
    if VARIANT == "header-controls":
        send(whole(200, body, "X-Evil: \x1b[31m\tred", "Mcp-Session-Id: a\tb\x80\xff"))
        return True
    if VARIANT == "reset-mid-body" and is_call:
        send(head(200, "Content-Type: application/json", f"Content-Length: {len(body)}") + body[: len(body) // 2])
        reset(connection)
        return False
    if VARIANT == "reset-at-once" and is_call:
        reset(connection)
        return False
    if VARIANT == "session-changes":
        send(whole(200, body, f"Mcp-Session-Id: s{COUNT['posts']}"))
        return True
    if VARIANT in ("429", "503") and late and COUNT["posts"] % 2:
        send(whole(int(VARIANT), b"", "Retry-After: 3600"))
        return True
    if VARIANT == "1.0":
        send(whole(200, body, version="HTTP/1.0"))
        return False
    if VARIANT == "keep-alive-lies":
        send(whole(200, body, "Connection: keep-alive", "Keep-Alive: timeout=600"))
        return False
    if VARIANT == "not-http":
        send(b"\x00\x01\x02 SSH-2.0-OpenSSH_9.9\r\n")
        return False
    if VARIANT == "dies-in-call" and is_call and COUNT["calls"] > 3:
        os._exit(3)
    if VARIANT == "silent-in-call" and is_call:
        time.sleep(60)
    send(whole(200, body))
    return True


def expired(session, message):
    """A server that forgets its session in the middle of the run."""
    return VARIANT == "session-expires" and message.get("method") == "tools/call" and COUNT["calls"] == 5


def serve(connection):
    stream = connection.makefile("rb")
    alive = True
    while alive and (request := read(stream)):
        method, headers, line = request
        if method != "POST":
            connection.sendall(whole(405, b"", "Allow: POST"))
            continue
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = {}
        message = message if isinstance(message, dict) else {}
        COUNT["posts"] += 1
        is_call = message.get("method") == "tools/call"
        COUNT["calls"] += is_call
        answer = TOY.answer(message)
        if answer is None:
            connection.sendall(whole(202))
        elif expired(headers.get("mcp-session-id"), message):
            connection.sendall(whole(404, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'))
        elif VARIANT == "session-expires" and message.get("method") == "initialize":
            connection.sendall(whole(200, json.dumps(answer).encode(), f"Mcp-Session-Id: s{COUNT['posts']}"))
        else:
            alive = spoiled(connection, message, json.dumps(answer).encode(), is_call)
    connection.close()


def guarded(connection):
    try:
        serve(connection)
    except OSError:
        pass


BOMB = gzip.compress(gzip.compress(b"0" * (200 << 20), 1), 1) if VARIANT == "gzip-bomb" else b""
if VARIANT == "ipv6":
    listener = socket.create_server(("::1", PORT), family=socket.AF_INET6)
else:
    listener = socket.create_server(("127.0.0.1", PORT), backlog=100)
while True:
    threading.Thread(target=guarded, args=[listener.accept()[0]], daemon=True).start()
