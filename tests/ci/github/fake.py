"""A GitHub that keeps state: comments, pull requests, artifacts, branches, code scanning.

Three ports. Clients talk to `front`, which records every call and, once it is told of a proxy, sends each through it, so that
GitHub's own description judges request and reply; the proxy's upstream is `back`. `storage` holds artifacts and refuses
whoever brings a credential. Every repository is a scenario of its own, made and read with
`POST` and `GET` on `back` below `/_scenario/OWNER/NAME`; `tests/github.rs` is the caller.

Prints its ports as one line of JSON and ends when its standard input does. Only the standard library is used.
"""

import base64
import copy
import gzip
import hashlib
import json
import pathlib
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EXAMPLES = json.loads((pathlib.Path(__file__).parent / "examples.json").read_text())
NOW = "2026-12-01T00:00:00Z"
PREFIX = "/api/v3"
SCENARIOS: dict[str, "Scenario"] = {}
LOCK = threading.RLock()
PROXY: list[str] = []


def sha(*parts) -> str:
    return hashlib.sha1(json.dumps(parts).encode()).hexdigest()


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Answer(Exception):
    def __init__(self, status, body=None, headers=None):
        self.status, self.body, self.headers = status, body, headers or {}


def refuse(status, message, **more):
    return Answer(status, {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status), **more})


JOB = "github-actions[bot]"


class Scenario:
    def __init__(self, name, given):
        self.name = name
        self.given = given
        self.calls: list[str] = []
        self.bodies: list = []
        self.violations: list[str] = []
        self.rules = given.get("rules", [])
        self.comments = {int(number): list(comments) for number, comments in given.get("comments", {}).items()}
        self.next_comment = given.get("next_comment", 1000)
        self.branches = copy.deepcopy(given.get("branches", {"main": {"files": {}}}))
        self.objects: dict = {}
        self.deleted: list[int] = []
        self.uploads: list = []
        self.polls = list(given.get("polls", ["complete"]))
        for branch in self.branches.values():
            branch.setdefault("commits", [sha("root", branch["files"])])

    def state(self):
        return {
            "calls": self.calls,
            "bodies": self.bodies,
            "violations": self.violations,
            "comments": self.comments,
            "deleted": self.deleted,
            "branches": self.branches,
            "uploads": self.uploads,
        }

    def rule(self, method, path):
        """The first scripted answer that fits and is not used up."""
        for rule in self.rules:
            if rule["method"] == method and re.search(rule["path"], path) and rule.get("times", 1) != 0:
                return rule
        return None

    # comments

    def comment(self, number, body, login=JOB, kind="Bot", **more):
        made = {"id": self.next_comment, "number": number, "body": body, "login": login, "kind": kind, **more}
        self.next_comment += 1
        self.comments.setdefault(number, []).append(made)
        return made

    def shown_comment(self, comment):
        shown = copy.deepcopy(EXAMPLES["comment"])
        shown.update(
            id=comment["id"],
            body=comment["body"],
            html_url=f"https://github.com/{self.name}/pull/{comment.get('number', 7)}#issuecomment-{comment['id']}",
            created_at=NOW,
            updated_at=NOW,
        )
        if comment.get("login") is None:
            shown["user"] = None
        else:
            shown["user"].update(login=comment["login"], type=comment.get("kind", "User"))
        return shown

    def find_comment(self, ident):
        for comments in self.comments.values():
            for comment in comments:
                if comment["id"] == ident:
                    return comments, comment
        raise refuse(404, "Not Found")

    # contents

    def branch(self, name):
        if self.given.get("empty"):
            raise refuse(409, "Git Repository is empty.")
        if name not in self.branches:
            raise refuse(404, "Not Found")
        return self.branches[name]

    def move(self, branch):
        branch["commits"].append(sha("commit", len(branch["commits"]), branch["files"]))

    def shown_commit(self, branch):
        shown = copy.deepcopy(EXAMPLES["commit"])
        shown["sha"] = branch["commits"][-1]
        tree = sha("tree", branch["files"])
        shown["commit"]["tree"]["sha"] = tree
        self.objects[tree] = dict(branch["files"])
        return shown


def page(items, query):
    size, number = int(query.get("per_page", 30)), int(query.get("page", 1))
    part = items[(number - 1) * size : number * size]
    headers = {}
    if number * size < len(items):
        headers["Link"] = f'<https://api.github.com/next?page={number + 1}>; rel="next"'
    return part, headers


# The routes: each a method, a pattern below the repository and what answers.


def list_comments(s, query, body, number):
    part, headers = page(sorted(s.comments.get(int(number), []), key=lambda comment: comment["id"]), query)
    return Answer(200, [s.shown_comment(comment) for comment in part], headers)


def create_comment(s, query, body, number):
    if len(body["body"]) > 65536:
        error = {"resource": "IssueComment", "code": "unprocessable", "field": "data",
                 "message": "Body is too long (maximum is 65536 characters)"}
        raise refuse(422, "Validation Failed", errors=[error])
    if race := s.given.get("race"):
        s.given["race"] = None
        s.comment(int(number), race)
    made = s.comment(int(number), body["body"], s.given.get("login", JOB), s.given.get("kind", "Bot"))
    if race := s.given.get("late_race"):
        s.given["late_race"] = None
        s.comment(int(number), race)
    return Answer(201, s.shown_comment(made))


def change_comment(s, query, body, ident):
    _, comment = s.find_comment(int(ident))
    comment["body"] = body["body"]
    return Answer(200, s.shown_comment(comment))


def delete_comment(s, query, body, ident):
    comments, comment = s.find_comment(int(ident))
    comments.remove(comment)
    s.deleted.append(comment["id"])
    return Answer(204)


def shown_pull(s, given):
    shown = copy.deepcopy(EXAMPLES["pull"])
    shown["number"] = given["number"]
    shown["head"]["sha"], shown["head"]["ref"] = given["sha"], given.get("branch", "topic")
    shown["head"]["repo"]["full_name"] = f"{given['head'].split(':')[0]}/mcp"
    shown["state"] = given.get("state", "open")
    shown["base"]["repo"]["full_name"] = given.get("base", s.name)
    shown["base"]["ref"] = given.get("into", "main")
    return shown


def list_pulls(s, query, body):
    fits = [pull for pull in s.given.get("pulls", []) if pull["head"] == query.get("head") and query.get("state") == "open"]
    return Answer(200, [shown_pull(s, pull) for pull in fits])


def get_pull(s, query, body, number):
    for pull in s.given.get("pulls", []):
        if pull["number"] == int(number):
            return Answer(200, shown_pull(s, pull))
    raise refuse(404, "Not Found")


def shown_artifact(s, given):
    shown = copy.deepcopy(EXAMPLES["artifact"])
    content = base64.b64decode(given.get("content", ""))
    shown.update(id=given["id"], name=given.get("name", "sealmark-report"), expired=given.get("expired", False),
                 size_in_bytes=given.get("size", len(content)),
                 digest=given.get("digest", "sha256:" + hashlib.sha256(content).hexdigest()))
    shown["workflow_run"].update(id=given.get("run", 1), repository_id=1, head_repository_id=given.get("head_repository", 1),
                                 head_branch=given.get("branch", "main"))
    return shown


def list_artifacts(s, query, body, run=None):
    fits = [artifact for artifact in s.given.get("artifacts", []) if artifact.get("name", "sealmark-report") == query.get("name")]
    if run is not None:
        fits = [artifact for artifact in fits if artifact.get("run", 1) == int(run)]
    part, headers = page(sorted(fits, key=lambda artifact: -artifact["id"]), query)
    return Answer(200, {"total_count": len(fits), "artifacts": [shown_artifact(s, artifact) for artifact in part]}, headers)


def download(s, query, body, ident):
    for artifact in s.given.get("artifacts", []):
        if artifact["id"] == int(ident):
            if artifact.get("gone"):
                raise refuse(410, "Artifact has expired")
            return Answer(302, None, {"Location": f"http://127.0.0.1:{STORAGE}/{s.name}/{ident}?sig=secret"})
    raise refuse(404, "Not Found")


def get_tree(s, query, body, ref):
    branch = s.branch(ref)
    shown = copy.deepcopy(EXAMPLES["tree"])
    shown["sha"] = branch["commits"][-1]
    shown["tree"] = [
        {"path": path, "mode": "100644", "type": "blob", "sha": blob(text.encode()), "size": len(text), "url": "https://x"}
        for path, text in branch["files"].items() if "/" not in path
    ]
    return Answer(200, shown)


def get_contents(s, query, body, path):
    branch = s.branch(query.get("ref", "main"))
    entries = []
    for name, text in branch["files"].items():
        if name.startswith(path + "/"):
            links = {"git": None, "self": "https://x", "html": None}
            entries.append({"type": "file", "size": len(text), "name": name.rsplit("/", 1)[-1], "path": name, "sha": blob(text.encode()),
                            "url": "https://x", "git_url": None, "html_url": None, "download_url": None, "_links": links})
    if not entries:
        raise refuse(404, "Not Found")
    return Answer(200, entries)


def put_contents(s, query, body, path):
    branch = s.branch(body.get("branch", "main"))
    present = branch["files"].get(path)
    if present is not None and "sha" not in body:
        raise refuse(422, "Invalid request.\n\n\"sha\" wasn't supplied.")
    if present is not None and body["sha"] != blob(present.encode()):
        raise refuse(409, f"{path} does not match {body['sha']}")
    branch["files"][path] = base64.b64decode(body["content"], validate=True).decode()
    s.move(branch)
    return Answer(200 if present is not None else 201, EXAMPLES["file_commit"])


def post_tree(s, query, body):
    files = dict(s.objects[body["base_tree"]]) if "base_tree" in body else {}
    files.update({entry["path"]: entry["content"] for entry in body["tree"]})
    made = sha("tree", files)
    s.objects[made] = files
    return Answer(201, {**copy.deepcopy(EXAMPLES["tree"]), "sha": made})


def post_commit(s, query, body):
    made = sha("new commit", body, len(s.objects))
    s.objects[made] = (body["parents"], s.objects[body["tree"]])
    return Answer(201, {**copy.deepcopy(EXAMPLES["git_commit"]), "sha": made})


def post_ref(s, query, body):
    name = body["ref"].removeprefix("refs/heads/")
    if name in s.branches:
        raise refuse(422, "Reference already exists")
    s.branches[name] = {"files": dict(s.objects[body["sha"]][1]), "commits": [body["sha"]], "orphan": not s.objects[body["sha"]][0]}
    return Answer(201, EXAMPLES["ref"])


def patch_ref(s, query, body, ref):
    branch = s.branch(ref.removeprefix("heads/"))
    parents, files = s.objects[body["sha"]]
    if parents != [branch["commits"][-1]]:
        raise refuse(422, "Update is not a fast forward")
    branch["files"] = dict(files)
    branch["commits"].append(body["sha"])
    return Answer(200, EXAMPLES["ref"])


def get_commit(s, query, body, ref):
    return Answer(200, s.shown_commit(s.branch(ref)))


def post_sarif(s, query, body):
    document = json.loads(gzip.decompress(base64.b64decode(body["sarif"], validate=True)))
    s.uploads.append({"sha": body["commit_sha"], "ref": body["ref"], "runs": len(document["runs"]), "version": document["version"]})
    ident = f"upload-{len(s.uploads)}"
    return Answer(202, {"id": ident, "url": f"https://api.github.com/repos/{s.name}/code-scanning/sarifs/{ident}"})


def get_sarif(s, query, body, ident):
    state = s.polls.pop(0) if len(s.polls) > 1 else s.polls[0]
    errors = s.given.get("errors") if state == "failed" else None
    return Answer(200, {"processing_status": state, "analyses_url": "https://api.github.com/x", "errors": errors})


ROUTES = [
    ("GET", r"issues/(\d+)/comments", list_comments),
    ("POST", r"issues/(\d+)/comments", create_comment),
    ("PATCH", r"issues/comments/(\d+)", change_comment),
    ("DELETE", r"issues/comments/(\d+)", delete_comment),
    ("GET", r"pulls", list_pulls),
    ("GET", r"pulls/(\d+)", get_pull),
    ("GET", r"actions/artifacts", list_artifacts),
    ("GET", r"actions/runs/(\d+)/artifacts", lambda s, query, body, run: list_artifacts(s, query, body, run)),
    ("GET", r"actions/artifacts/(\d+)/zip", download),
    ("GET", r"git/trees/([^/]+)", get_tree),
    ("POST", r"git/trees", post_tree),
    ("POST", r"git/commits", post_commit),
    ("POST", r"git/refs", post_ref),
    ("PATCH", r"git/refs/([^/]+)", patch_ref),
    ("GET", r"commits/([^/]+)", get_commit),
    ("GET", r"contents/([^/]+)", get_contents),
    ("PUT", r"contents/([^/]+)", put_contents),
    ("POST", r"code-scanning/sarifs", post_sarif),
    ("GET", r"code-scanning/sarifs/([^/]+)", get_sarif),
]


def scenario_of(path):
    found = re.match(r"/repos/([^/?]+/[^/?]+)/?([^?]*)", path)
    if found and found[1] in SCENARIOS:
        return SCENARIOS[found[1]], found[2]
    return None, None


def answer(method, target, headers, body):
    """What the API says."""
    path, _, query = target.partition("?")
    query = dict(urllib.parse.parse_qsl(query))
    token = headers.get("authorization", "").removeprefix("Bearer ")
    if path == "/user":
        # The one route without a repository: the token says whose it is.
        if not token.startswith("ghp_"):
            raise refuse(403, "Resource not accessible by integration")
        return Answer(200, {**EXAMPLES["user"], "login": token.removeprefix("ghp_"), "type": "User"})
    if path.endswith("/graphql"):
        return Answer(200, {"data": {"viewer": {"login": f"{token.removeprefix('ghs_app_')}[bot]" if token.startswith("ghs_app_") else JOB}}})
    with LOCK:
        scenario, rest = scenario_of(path)
        if scenario is None:
            raise refuse(404, "Not Found")
        delay = 0
        if rule := scenario.rule(method, rest):
            rule["times"] = rule.get("times", 1) - 1
            delay = rule.get("delay", 0)
    # Outside of the lock: others go on.
    time.sleep(delay)
    with LOCK:
        if rule and "status" in rule:
            raise Answer(rule["status"], rule.get("body"), rule.get("headers"))
        if not token.startswith(("ghs_", "ghp_")):
            raise refuse(401, "Bad credentials")
        for wanted, pattern, handle in ROUTES:
            found = re.fullmatch(pattern, rest)
            if found and wanted == method:
                made = handle(scenario, query, json.loads(body) if body else None, *map(urllib.parse.unquote, found.groups()))
                if rule and rule.get("cut"):
                    # It was done, and the answer is lost.
                    made.headers["X-Cut"] = "1"
                return made
    raise refuse(404, "Not Found")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def handle_one(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        try:
            made = self.serve(body)
        except Answer as refusal:
            made = refusal
        if made is None or made.headers.pop("X-Cut", None):
            self.close_connection = True
            return
        if isinstance(made.body, (bytes, type(None))):
            content = made.body or b""
        elif isinstance(made.body, str):
            content = made.body.encode()
        else:
            content = json.dumps(made.body).encode()
        self.send_response(made.status)
        for name, value in made.headers.items():
            self.send_header(name, value)
        if content and not any(name.lower() == "content-type" for name in made.headers):
            self.send_header("Content-Type", "application/json; charset=utf-8")
        if made.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one


class Back(Handler):
    # The proxy uses a connection again that has just been closed; here each call has its own.
    protocol_version = "HTTP/1.0"

    def serve(self, body):
        if self.path == "/_proxy":
            PROXY[:] = [body.decode()]
            return Answer(200, {})
        if self.path.startswith("/_scenario/"):
            name = self.path.removeprefix("/_scenario/")
            with LOCK:
                if self.command == "POST":
                    SCENARIOS[name] = Scenario(name, json.loads(body))
                    return Answer(200, {})
                return Answer(200, SCENARIOS[name].state())
        return answer(self.command, self.path, self.headers, body)


class Front(Handler):
    def serve(self, body):
        target = self.path.removeprefix(PREFIX)
        scenario, rest = scenario_of(target)
        direct = False
        if scenario is not None:
            with LOCK:
                scenario.calls.append(f"{self.command} {rest}")
                scenario.bodies.append(json.loads(body) if body else None)
                # GitHub does answer what its description leaves out, or describes so that nothing can fit.
                rule = scenario.rule(self.command, rest) or {}
                direct = scenario.given.get("direct") or rule.get("undescribed")
        # The proxy would follow the redirect of a download by itself, and knows the REST API alone.
        if not PROXY or direct or target.endswith(("/zip", "/graphql")):
            return answer(self.command, target, self.headers, body)
        request = urllib.request.Request(PROXY[0] + target, data=body or None, method=self.command)
        for name in ("authorization", "content-type", "accept", "user-agent", "x-github-api-version"):
            if name in self.headers:
                request.add_header(name, self.headers[name])
        try:
            with OPENER.open(request, timeout=90) as reply:
                status, headers, content = reply.status, reply.headers, reply.read()
        except urllib.error.HTTPError as error:
            status, headers, content = error.code, error.headers, error.read()
        if "stoplight.io/prism" in content.decode(errors="replace") or "sl-violations" in headers:
            note = f"{self.command} {target}: {content.decode(errors='replace')[:2000]} {headers.get('sl-violations', '')}"
            print(note, file=sys.stderr, flush=True)
            if scenario is not None:
                scenario.violations.append(note)
        kept = ("link", "retry-after", "location", "content-type", "date", "x-ratelimit-remaining", "x-ratelimit-reset")
        return Answer(status, content, {name: value for name, value in headers.items() if name.lower() in kept and name.lower() != "date"})


class Storage(Handler):
    def serve(self, body):
        if "authorization" in self.headers:
            return Answer(400, b"InvalidAuthenticationInfo", {"Content-Type": "application/xml"})
        name, _, ident = self.path.partition("?")[0].strip("/").rpartition("/")
        for artifact in SCENARIOS[name].given["artifacts"]:
            if artifact["id"] == int(ident):
                content = base64.b64decode(artifact["content"])
                return Answer(200, content, {"Content-Type": artifact.get("type", "application/zip")})
        return Answer(404, b"BlobNotFound", {"Content-Type": "application/xml"})


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        # A client that gave up is part of a scenario.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def start(handler):
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


if __name__ == "__main__":
    STORAGE = start(Storage)
    ports = {"front": start(Front), "back": start(Back), "storage": STORAGE}
    print(json.dumps(ports), flush=True)
    sys.stdin.read()
