"""A GitLab that remembers: notes of one merge request, artifacts, packages; it knows who asks and breaks on demand.

Written after GitLab's documentation of its REST API (notes, users, job artifacts, jobs, generic packages). What a client may
not do is kept in `violations`: a token at the storage, a token in the header of the other kind, a write as the job.
"""
import json
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JOB, PERSONAL, BOT, SOMEBODY = "glcbt-64_job-token-secret", "glpat-personal-token-secret", 4242, 7


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        length = int(self.headers.get("content-length") or 0)
        self.body = self.rfile.read(length)
        self.server.fake.handle(self)

    do_GET = do_POST = do_PUT = do_DELETE = serve


class Storage(Handler):
    """Where artifacts lie: refuses whoever brings a token, as object storages do."""

    def serve(self):
        fake = self.server.fake
        brought = [name for name in ("private-token", "job-token", "authorization") if name in self.headers]
        if brought:
            fake.violations.append(f"{brought} was sent to the storage")
            return self.answer(400, b"<Error>InvalidAuthenticationInfo</Error>")
        self.answer(200, fake.stored[int(self.path.rsplit("/", 1)[1].split("?")[0])])

    do_GET = serve


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client that refuses our certificate is what some scenarios are about."""


class Fake:
    """`tls` is the context of a TLS server, or None."""

    def __init__(self, tls=None):
        self.tls = tls
        self.notes, self.packages, self.artifacts, self.stored = [], {}, {}, []
        self.calls, self.violations, self.bodies = [], [], []
        # (method, part of the path) -> status: what is refused, whoever asks; 0 is no answer, 302 a circle.
        self.refused = {}
        self.servers = []
        self.api = self.start(Handler) + "/api/v4"
        self.storage = self.start(Storage)

    def start(self, handler):
        server = Server(("127.0.0.1", 0), handler)
        server.fake, server.daemon_threads = self, True
        if self.tls:
            server.socket = self.tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self.servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http{'s' * bool(self.tls)}://127.0.0.1:{server.server_port}"

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def taken(self):
        """The calls since the last time."""
        calls, self.calls = self.calls, []
        return calls

    def who(self, request):
        job, personal = request.headers.get("job-token"), request.headers.get("private-token")
        if job not in (None, JOB) or personal not in (None, PERSONAL) or (job and personal):
            self.violations.append("a token in a header that is not its own")
            return "invalid"
        return "job" if job else "personal" if personal else "nobody"

    def handle(self, request):
        url = urllib.parse.urlsplit(request.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        # `%2F` in a part is a slash of a name, as in GitLab.
        path = [urllib.parse.unquote(part) for part in url.path.removeprefix("/api/v4/").split("/")]
        who = self.who(request)
        self.calls.append(f"{request.command} {'/'.join(path)} as {who}")
        self.bodies.append(request.body.decode())
        for (method, part), status in self.refused.items():
            if method == request.command and part in request.path:
                if status == 0:
                    request.close_connection = True
                    return None
                if status == 302:
                    return request.answer(302, location=request.path)
                return request.answer(status, {"message": f"{status} refused by the scenario"})
        if who == "invalid":
            return request.answer(401, {"message": "401 Unauthorized"})
        if path == ["user"]:
            return request.answer(200, {"id": BOT, "username": "project_11_bot"}) if who == "personal" else \
                request.answer(401, {"message": "401 Unauthorized"})
        if path[:1] != ["projects"]:
            return request.answer(404, {"error": "404 Not Found"})
        project, rest = path[1], path[2:]
        if rest[0] == "merge_requests" and rest[2] == "notes":
            return self.note(request, who, query, rest[3:])
        if rest[:2] == ["jobs", "artifacts"]:
            return self.artifact(request, who, project, rest[2], rest[4:], query.get("job"))
        if rest == ["jobs"]:
            return request.answer(200, [])
        if rest[:2] == ["packages", "generic"]:
            return self.package(request, who, "/".join([project, *rest[2:]]))
        request.answer(404, {"error": "404 Not Found"})

    def note(self, request, who, query, rest):
        if request.command != "GET" and who != "personal":
            self.violations.append(f"a note was written as {who}")
            return request.answer(401, {"message": "401 Unauthorized"})
        if request.command == "GET":
            size, page = min(int(query.get("per_page", 20)), 100), int(query.get("page", 1))
            newest = query.get("sort", "desc") == "desc"
            notes = sorted(self.notes, key=lambda note: note["id"], reverse=newest)
            more = str(page + 1) if len(notes) > page * size else ""
            return request.answer(200, notes[(page - 1) * size : page * size], x_next_page=more)
        if request.command == "POST":
            body = json.loads(request.body)["body"]
            # GitLab runs what looks like a command, and refuses a note that holds nothing else.
            if re.search(r"^/(merge|close|approve|assign|label)\b", body, re.M):
                self.violations.append("a note holds a quick action")
            return request.answer(201, self.add(BOT, body))
        found = next((note for note in self.notes if str(note["id"]) == rest[0]), None)
        if not found:
            return request.answer(404, {"message": "404 Note Not Found"})
        if found["author"]["id"] != BOT:
            self.violations.append("somebody else's note was touched")
            return request.answer(403, {"message": "403 Forbidden"})
        if request.command == "DELETE":
            self.notes.remove(found)
            return request.answer(204)
        found["body"] = json.loads(request.body)["body"].strip()
        request.answer(200, found)

    def add(self, author, body, system=False):
        note = {"id": 100 + len(self.notes), "type": None, "body": body.strip(), "system": system, "noteable_iid": 7,
                "author": {"id": author, "username": f"user{author}"}, "resolvable": False}
        self.notes.append(note)
        return note

    def artifact(self, request, who, project, ref, path, job):
        if who == "nobody":
            return request.answer(401, {"message": "401 Unauthorized"})
        data = self.artifacts.get((project, ref, job, "/".join(path)))
        if data is None:
            return request.answer(404, {"message": "404 Not Found"})
        self.stored.append(data)
        # The signature stands for the right to read: it is nothing for a log.
        request.answer(302, location=f"{self.storage}/artifacts/{len(self.stored) - 1}?signature=signed-url-secret")

    def package(self, request, who, key):
        if request.command == "PUT" and who == "job":
            self.packages[key] = request.body
            return request.answer(201, {"message": "201 Created"})
        data = self.packages.get(key)
        request.answer(200, data) if data is not None else request.answer(404, {"message": "404 Not Found"})
