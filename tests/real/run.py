#!/usr/bin/env python3
"""Grades pinned real servers with a sealmark binary and compares with `servers.json`.

usage: run.py BINARY [--full] [--only TEXT] [--dir DIR] [--jobs N] [--install-only]

The table is our own record of what was seen on each server's wire. `fixed` rows are the part that every run takes;
--full takes all. Packages come from npm, PyPI and crates.io, pinned with all they pull in (`constraints.txt`, AS_OF, lock
files), into DIR (default target/servers). Closes with `N passed, N failed`; a row whose server cannot be installed,
started or graded has failed.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
# npm takes what was published by then: ranges of old packages resolve to incompatible majors otherwise.
AS_OF = "2026-11-30T20:00:00Z"
CONSTRAINTS = HERE / "constraints.txt"


class Wrong(Exception):
    """Why a row failed before it could be compared."""


def interpreter(version):
    """A Python of that minor version: PATH first, then pyenv's; any newer than 3.10 will do when there is none."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python")), reverse=True)]
    for candidate in filter(None, [*candidates, sys.executable]):
        if subprocess.run([candidate, "-c", "import sys, venv; sys.exit(sys.version_info < (3, 10))"], capture_output=True).returncode == 0:
            return candidate
    raise Wrong(f"no python{version}")


def install(row, base):
    """Installs the row's packages once; rows with the same packages share a directory."""
    wanted = row["install"]
    rules = [AS_OF] if "npm" in wanted else [CONSTRAINTS.read_text()] if "pip" in wanted else []
    key = hashlib.sha256(json.dumps([wanted, rules], sort_keys=True).encode()).hexdigest()[:12]
    home = base / key
    if (home / "installed").exists():
        return home
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    steps = []
    if "npm" in wanted:
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        # Scripts are needed by packages that unpack a binary or build one; all others do without.
        scripts = [] if row.get("scripts") else ["--ignore-scripts"]
        steps.append(["npm", "install", "--prefix", str(home), f"--before={AS_OF}", *quiet, *scripts, *wanted["npm"]])
    if "pip" in wanted:
        words = wanted["pip"]
        steps.append([interpreter(wanted["python"]), "-m", "venv", str(home)])
        steps.append([str(home / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", "-c", str(CONSTRAINTS), *words])
    if "cargo" in wanted:
        steps.append(["cargo", "install", "--quiet", "--locked", "--root", str(home), *wanted["cargo"]])
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Wrong("not installed: " + " | ".join(done.stderr.strip().splitlines()[-3:])[:400])
    (home / "installed").touch()
    return home


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def grade(binary, row, home):
    with tempfile.TemporaryDirectory(prefix="real-") as work:
        text = json.dumps({"schema_version": 1, "name": row["name"], "server": row["server"], "packs": ["core"]})
        for name, value in {"@DIR@": home, "@HERE@": HERE, "@PORT@": free_port()}.items():
            text = text.replace(name, str(value))
        pathlib.Path(work, "sealmark.yaml").write_text(text)
        env = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS", "GITLAB_CI")}
        command = [binary, "run", "--format", "json", "--out", "report.json", "--fail-under", "none"]
        try:
            run = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Wrong("no end in 300 s") from None
        try:
            return json.loads(pathlib.Path(work, "report.json").read_text()), run
        except (OSError, ValueError) as error:
            raise Wrong(f"exit {run.returncode}, no report ({error}): {run.stderr.strip()[-300:]}") from None


def compare(row, report, run):
    if run.returncode != 0:
        yield f"exit {run.returncode}: {run.stderr.strip()[-300:]}"
    checks = {check["id"]: check for pack in report["packs"].values() for check in pack["checks"]}
    for check, allowed in row["expected"].items():
        found = checks.get(check, {"verdict": "absent", "summary": ""})
        if found["verdict"] not in allowed:
            yield f"{check}: expected {'/'.join(allowed)}, got {found['verdict']}: {found['summary']}"
    for check, found in checks.items():
        if check not in row["expected"] and found["verdict"] == "inconclusive":
            yield f"{check} was not judged: {found['summary']}"
    revision, tools = report["server"].get("protocolVersion"), len(report["server"]["surface"]["tools"])
    if revision != row["revision"]:
        yield f"graded in {revision}, expected {row['revision']}"
    if tools != row["tools"]:
        yield f"{tools} tools, expected {row['tools']}"


def one(binary, row, home):
    try:
        if isinstance(home, Wrong):
            raise home
        return row["name"], list(compare(row, *grade(binary, row, home)))
    except Wrong as error:
        return row["name"], [str(error)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("binary")
    ap.add_argument("--full", action="store_true")
    ap.add_argument("--only", default="")
    ap.add_argument("--dir", default="target/servers")
    ap.add_argument("--jobs", type=int, default=os.cpu_count())
    ap.add_argument("--install-only", action="store_true")
    a = ap.parse_args()
    base, binary = pathlib.Path(a.dir).resolve(), os.path.abspath(a.binary)
    rows = json.loads((HERE / "servers.json").read_text())
    rows = [row for row in rows if (a.full or row["fixed"] or a.only) and a.only in row["name"]]
    homes = {}
    for row in rows:
        try:
            homes[row["name"]] = install(row, base)
        except Wrong as error:
            homes[row["name"]] = error
        print(f"{row['name']}: {'installed' if not isinstance(homes[row['name']], Wrong) else homes[row['name']]}", flush=True)
    if a.install_only:
        return any(isinstance(home, Wrong) for home in homes.values())
    failed = 0
    with ThreadPoolExecutor(a.jobs) as pool:
        for name, complaints in pool.map(lambda row: one(binary, row, homes[row["name"]]), rows):
            failed += bool(complaints)
            print(f"{name}: {'ok' if not complaints else ''}", flush=True)
            for complaint in complaints:
                print(f"  {complaint}", flush=True)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return failed or not rows


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
