"""Runs `tests/github.rs` with GitHub's own description of its API between the adapter and the fake.

Every request and every reply is judged by it, first as github.com has it, then as GitHub Enterprise Server does (below
`/api/v3`). Needs what `ci/test` installs below `target/tools/ci`. Arguments go to the tests, as those of `cargo test` do
after `--`.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
NODE = ROOT / "target/tools/ci/node_modules"
DESCRIPTIONS = {"github.com": "api.github.com.json", "Enterprise Server 3.19": "ghes-3.19.json"}
# Reading a description of twelve megabytes takes that long, and much longer on a busy machine.
PATIENCE = 180


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(flavour, description):
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    fake = subprocess.Popen(
        [sys.executable, "-B", pathlib.Path(__file__).with_name("fake.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    ports, port = json.loads(fake.stdout.readline()), free_port()
    prism = subprocess.Popen(
        [NODE / ".bin/prism", "proxy", "--errors", "--host", "127.0.0.1", "--port", str(port),
         NODE / "@octokit/openapi/generated" / description, f"http://127.0.0.1:{ports['back']}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )
    try:
        start = time.monotonic()
        while not answers(port):
            if prism.poll() is not None or time.monotonic() - start > PATIENCE:
                sys.exit(f"{flavour}: the proxy with the description does not start")
            time.sleep(0.2)
        print(f"{flavour}: the description was read in {time.monotonic() - start:.0f} s", flush=True)
        call(f"http://127.0.0.1:{ports['back']}/_proxy", f"http://127.0.0.1:{port}")
        if not judges(ports):
            sys.exit(f"{flavour}: a wrong request is let through: nothing would be proved")
        environment["SEALMARK_FAKE_GITHUB"] = json.dumps(ports)
        if flavour != "github.com":
            environment["SEALMARK_FAKE_ENTERPRISE"] = "1"
        return subprocess.run(["cargo", "test", "--quiet", "--test", "github", "--", *sys.argv[1:]], cwd=ROOT, env=environment).returncode
    finally:
        prism.terminate()
        fake.terminate()
        prism.wait()
        fake.wait()


def call(url, body=None):
    """The status and the text that an address answers."""
    request = urllib.request.Request(url, data=body.encode() if body else None, headers={"content-type": "application/json"})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def answers(port):
    try:
        call(f"http://127.0.0.1:{port}/")
    except OSError:
        return False
    return True


def judges(ports):
    """Whether a comment without a body is refused and noted."""
    scenario = f"http://127.0.0.1:{ports['back']}/_scenario/acme/self-check"
    call(scenario, "{}")
    status, _ = call(f"http://127.0.0.1:{ports['front']}/repos/acme/self-check/issues/7/comments", '{"text": "x"}')
    return status == 422 and json.loads(call(scenario)[1])["violations"] != []


if __name__ == "__main__":
    if not (NODE / ".bin/prism").exists():
        sys.exit("prism is missing: ci/test installs it")
    subprocess.run(["cargo", "test", "--quiet", "--test", "github", "--no-run"], cwd=ROOT, check=True)
    # All of them run; a test process that was ended by a signal has a negative code.
    codes = [run(flavour, description) for flavour, description in DESCRIPTIONS.items()]
    sys.exit(any(code != 0 for code in codes))
