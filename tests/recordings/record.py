#!/usr/bin/env python3
"""Records real servers and toys with a sealmark binary: what `tests/matrix.rs` and `tests/registry.rs` judge.

usage: record.py BINARY [--only TEXT] [--servers DIR]

A recording must say nothing about the machine it was made on: servers run with an environment of three variables and are
started by relative paths, and what Python writes into tracebacks is rewritten to places that exist nowhere. stderr is cut,
since no check reads more of it than its tokens.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
MAX_BYTES = 300_000
MAX_STDERR = 400

REAL = [
    "gen-everything-2026.8.31", "fs-official-2025.7.1", "fs-official-0.5.1", "fs-official-2025.3.28-zod4", "git-official-2025.7.1",
    "gen-time-2026.10.19", "net-fetch-official-2026.10.24", "net-rust-mcp-server-fetch-0.1.0", "interop-go-excel-0.12.0",
    "exec-mcp-server-commands-0.5.0", "net-server-curl-0.1.0", "http-py-mcp-1.30.0", "http-ts-sdk-1.32.2-simpleStreamableHttp",
]
# A toy's words; what else stands in its configuration.
TOYS = [
    (["honest"], {}),
    (["era_modern_only"], {}),
    (["era_dual"], {}),
    (["poison", "conceal"], {}),
    (["poison", "homoglyph"], {}),
    (["poison", "own-tools", "instructions"], {}),
    (["protocol", "duplicate-name"], {}),
    (["protocol", "noise-in-calls"], {}),
    (["robust", "mostly-lenient"], {}),
    (["robust", "leak"], {}),
    (["robust", "blank-line-kills"], {}),
    (["dies_in_call"], {}),
    (["hangs_in_call"], {"timeout_probe_sec": 2}),
    (["ends_by_itself"], {}),
    (["secret", "base64"], {}),
    (["secret", "stderr"], {}),
    (["secret", "masked"], {}),
    (["advice", "terse"], {}),
    (["advice", "routing"], {}),
    (["advice", "names-own-tools"], {}),
    (["advice", "plain-prose"], {"checks": {"instructions-hygiene": {"deny": ["two decimals"]}}}),
    (["toy_http", "dual"], {}),
]


def real_servers():
    """`tests/real/run.py` knows how each server is installed."""
    spec = importlib.util.spec_from_file_location("run", TESTS / "real/run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(binary, name, server, extra, links, places):
    """Runs one server in a directory of links and keeps the cleaned recording."""
    out = HERE / f"{name}.json"
    with tempfile.TemporaryDirectory(prefix="record-") as work:
        work = pathlib.Path(work)
        for link, target in links.items():
            (work / link).symlink_to(target)
        config = {"schema_version": 1, "name": name, "server": server, "packs": ["core"], **extra}
        (work / "sealmark.yaml").write_text(json.dumps(config, indent=1))
        tools = {pathlib.Path(tool).parent for tool in map(shutil.which, ("node", "git")) if tool}
        path = ":".join(dict.fromkeys([*sorted(map(str, tools)), "/usr/local/bin", "/usr/bin", "/bin"]))
        env = {"PATH": path, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [binary, "run", "--record", "trace.json", "--format", "summary", "--fail-under", "none"]
        run = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
        if run.returncode:
            return f"exit {run.returncode}: {run.stderr.strip()[-300:]}"
        text = (work / "trace.json").read_text()
        places = {**places, os.path.realpath(work): "/project", str(work): "/project"}
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, places[place])
    # The sandbox's own directory is called what a machine's may be called, too: the search below must not stop at it.
    text = re.sub(r"(/tmp/sealmark-\w+)/work\b", r"\1/box", text)
    trace = json.loads(text)
    for event in trace["events"]:
        piece = event.get("text") if event["event"] == "stderr" else None
        if piece and len(piece.get("text", "")) > MAX_STDERR and not event.get("hits"):
            piece["text"] = piece["text"][:MAX_STDERR] + "\n"
    text = json.dumps(trace, ensure_ascii=False, separators=(",", ":")) + "\n"
    for place in {str(pathlib.Path.home()), str(TESTS.parent), "/root", "/work"}:
        if place in text:
            at = text.index(place)
            return f"names a place of this machine: {text[max(0, at - 80):at + 80]}"
    if len(text.encode()) > MAX_BYTES:
        return f"{len(text.encode())} bytes, at most {MAX_BYTES}"
    out.write_text(text)
    return None


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("binary")
    ap.add_argument("--only", default="")
    ap.add_argument("--servers", default="target/servers")
    a = ap.parse_args()
    run = real_servers()
    binary, base, failed = os.path.abspath(a.binary), pathlib.Path(a.servers).resolve(), 0
    todo = []
    rows = {row["name"]: row for row in json.loads((TESTS / "real/servers.json").read_text())}
    for name in REAL:
        if a.only not in name:
            continue
        row = rows[name]
        home = run.install(row, base)
        text = json.dumps(row["server"]).replace("@DIR@", "server").replace("@HERE@", "real").replace("@PORT@", str(run.free_port()))
        python = home / "bin/python"
        prefix = subprocess.run([python, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True).stdout.strip() if python.exists() else ""
        places = {str(home): "/server", **({prefix: "/python"} if len(prefix) > 4 else {})}
        todo.append((name, json.loads(text), {}, {"server": home, "real": TESTS / "real"}, places))
    for words, extra in TOYS:
        name = "toy-" + "-".join(word.replace("_", "-") for word in words)
        if a.only not in name:
            continue
        server = {"command": "python3", "args": [f"toys/{words[0]}.py", *words[1:]]}
        if words[0] == "toy_http":
            port = run.free_port()
            server = {"command": "python3", "args": ["toys/toy_http.py", str(port), *words[1:]], "url": f"http://127.0.0.1:{port}/mcp"}
        todo.append((name, server, extra, {"toys": TESTS / "toys"}, {}))
    for name, *rest in todo:
        complaint = record(binary, name, *rest)
        failed += bool(complaint)
        print(f"{name}: {complaint or 'recorded'}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
