"""Runs the composite action with `act`, on this machine, in a scratch repository; nested actions are stubs that keep what
they were given."""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
ACT = ROOT / "target/tools/ci/py/bin/act"
# Writes its inputs to $STUB_LOG as one line of JSON and keeps a copy of the files that it should upload.
STUB = """name: stub
description: stub
inputs: {%s}
runs:
  using: composite
  steps:
    - shell: bash
      run: python3 "$STUB_PROGRAM"
      env:
        STUB_NAME: %s
        STUB_INPUTS: ${{ toJSON(inputs) }}
"""
STUB_PROGRAM = """import json, os, pathlib, shutil, sys
name, inputs = os.environ["STUB_NAME"], json.loads(os.environ["STUB_INPUTS"])
with open(os.environ["STUB_LOG"], "a") as log:
    log.write(json.dumps({"stub": name, **inputs}) + "\\n")
source = pathlib.Path(inputs.get("path") or inputs.get("sarif_file"))
kept = pathlib.Path(os.environ["STUB_KEEP"], name)
shutil.rmtree(kept, ignore_errors=True)
if source.is_dir():
    shutil.copytree(source, kept)
else:
    kept.mkdir()
    shutil.copy(source, kept)
if name in os.environ.get("STUB_FAIL", ""):
    sys.exit("::error::" + os.environ["STUB_FAIL"])
"""
# act gives steps a terminal and loses the last lines of one that fails; GitHub's runner gives them a pipe and loses nothing.
# So the shell of a step is this: its output goes through a pipe, and to a file.
SHELL = """#!%(bash)s
if [[ -n ${HARNESS_INNER-} ]]; then exec %(bash)s "$@"; fi
set -o pipefail
HARNESS_INNER=1 %(bash)s "$@" 2>&1 | tee -a "%(log)s"
"""


def commands(log):
    """The workflow commands in a log, as actions/runner reads it: at the start of a line, and in its old form anywhere."""
    for line in re.split(r"\r\n|\n|\r", log):
        new = re.match(r"\s*::([A-Za-z-]+)(?: ([^\n]*?))?::(.*)", line)
        old = re.search(r"##\[([A-Za-z-]+)(?: ([^\]]*))?\](.*)", line)
        for found in filter(None, (new, old)):
            text = found[3].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
            yield found[1].lower(), found[2] or "", text


@dataclasses.dataclass
class Result:
    """What one run of the workflow did."""

    passed: bool
    # What the steps wrote to the log.
    log: str
    # The composite's outputs.
    outputs: dict
    # The job summaries, joined.
    summary: str
    # What each stub was given, in order.
    stubs: list
    # How the inner steps ended, by name.
    steps: dict

    @property
    def annotations(self):
        """The annotations: (level, message)."""
        return [(name, text) for name, _, text in commands(self.log) if name in ("error", "warning", "notice")]

    def stub(self, name):
        found = [stub for stub in self.stubs if stub["stub"] == name]
        assert len(found) <= 1, found
        return found[0] if found else None


def nested():
    """The nested actions of action.yml: name → (reference that is pinned, repository, path in it)."""
    found = {}
    for repository, path, commit in re.findall(r"uses: ([\w.-]+/[\w.-]+)((?:/[\w.-]+)*)@([0-9a-f]{40})", (ROOT / "action.yml").read_text()):
        found[(path or repository).split("/")[-1]] = (f"{repository}@{commit}", path.strip("/"))
    assert set(found) == {"upload-artifact", "upload-sarif"}, found
    return found


class Repository:
    """A scratch repository that holds a copy of the action and is run by act as often as needed."""

    def __init__(self, work, name="acme/demo"):
        self.work = pathlib.Path(work)
        self.home = self.work / "checkout"
        self.kept = self.work / "kept"
        (self.home / ".github/workflows").mkdir(parents=True)
        self.kept.mkdir()
        shutil.copy(ROOT / "action.yml", self.home)
        shutil.copytree(ROOT / "ci", self.home / "ci")
        (self.work / "stub.py").write_text(STUB_PROGRAM)
        self.local = []
        for stub, (reference, path) in nested().items():
            inputs = {"upload-artifact": "name: {}, path: {}, overwrite: {}, if-no-files-found: {}", "upload-sarif": "sarif_file: {}"}[stub]
            place = self.work / "stubs" / stub
            (place / path).mkdir(parents=True)
            (place / path / "action.yml").write_text(STUB % (inputs, stub))
            self.local += ["--local-repository", f"{reference}={place}"]
        self.log = self.work / "steps.log"
        self.runs = 0
        shell = self.work / "bin/bash"
        shell.parent.mkdir()
        shell.write_text(SHELL % {"bash": shutil.which("bash"), "log": self.log})
        shell.chmod(0o755)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("remote", "add", "origin", f"https://github.com/{name}.git")

    def git(self, *words):
        author = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *author, *words], cwd=self.home, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self.git("rev-parse", "HEAD")

    def workflow(self, inputs, **job):
        """One job that uses the action with those inputs."""
        step = {"id": "sealmark", "uses": "./", "with": inputs}
        text = {
            "on": ["push", "pull_request", "workflow_run", "pull_request_target", "merge_group"],
            "jobs": {"grade": {"runs-on": "ubuntu-latest", **job, "steps": [{"uses": "actions/checkout@v7"}, step]}},
        }
        # JSON is YAML.
        self.write(".github/workflows/grade.yml", json.dumps(text, indent=1))

    def run(self, event_name, event, *, env=None, token="ghs_" + "t0ken" * 8):
        log, payload = self.work / "stub.log", self.work / "event.json"
        log.write_text("")
        self.log.write_text("")
        payload.write_text(json.dumps(event))
        self.runs += 1
        variables = {
            # As on GitHub, every run has its own number: links to it differ.
            "GITHUB_RUN_ID": str(4096 + self.runs),
            "STUB_LOG": log,
            "STUB_KEEP": self.kept,
            "STUB_PROGRAM": self.work / "stub.py",
            "CI": "true",
            **(env or {}),
        }
        command = [str(ACT), event_name, "-W", ".github/workflows/grade.yml", "-e", str(payload), "-P", "ubuntu-latest=-self-hosted", "--json"]
        command += self.local + [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        command += ["-s", f"GITHUB_TOKEN={token}"]
        # Its own home: runs side by side share nothing, and the token is in no command line of ours that others see.
        clean = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        clean |= {"PATH": f"{self.work}/bin:{clean['PATH']}", "HOME": str(self.work / "home"), "XDG_CACHE_HOME": str(self.work / "home/cache")}
        done = subprocess.run(command, cwd=self.home, env=clean, capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL)
        return self.read(done, log)

    def read(self, done, log):
        stubs = [json.loads(line) for line in log.read_text().splitlines()]
        result = Result(done.returncode == 0, self.log.read_text(), {}, "", stubs, {})
        seen = []
        for line in filter(lambda line: line.startswith("{"), done.stdout.splitlines()):
            entry = json.loads(line)
            where, command = entry.get("stepID") or [], entry.get("command")
            if command == "set-output" and where == ["sealmark"]:
                result.outputs[entry["name"]] = entry["arg"]
            elif command == "summary" and len(where) == 2:
                result.summary += entry["content"]
            elif command in ("error", "warning", "notice") and len(where) == 2:
                seen.append(command)
            if "stepResult" in entry and len(where) == 2:
                result.steps[where[1]] = entry["stepResult"]
        if not result.steps:
            raise RuntimeError(f"act did not run the action: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        # What act, which reads the new form alone, took for an annotation is one for us too.
        assert len(seen) <= len(result.annotations), (seen, result.annotations)
        return result
