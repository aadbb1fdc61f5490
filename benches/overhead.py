#!/usr/bin/env python3
"""Ratios of sealmark against the floor, measured alternately in one run. Prints a table; judges nothing.

usage: overhead.py BINARY [--servers DIR] [-n RUNS]

The floor of a server is: spawn, handshake, tools/list, kill. `own CPU` is sealmark's alone, without the server's.
Run it on an idle machine; DIR holds what `ci/test` installs (default: target/servers).
"""
import argparse, json, os, pathlib, resource, shutil, statistics, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
TICK = os.sysconf("SC_CLK_TCK")


def floor(command, cwd):
    """One bare conversation; seconds."""
    start = time.perf_counter()
    server = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "floor", "version": "0"}}
    say = lambda message: (server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"), server.stdin.flush())
    say({"id": 1, "method": "initialize", "params": hello})
    reply(server, 1)
    say({"method": "notifications/initialized"})
    say({"id": 2, "method": "tools/list", "params": {}})
    reply(server, 2)
    server.kill()
    server.wait()
    return time.perf_counter() - start


def reply(server, wanted):
    for line in server.stdout:
        try:
            if json.loads(line).get("id") == wanted:
                return
        except ValueError:
            continue
    sys.exit("the server ended without an answer")


def grade(binary, command, cwd):
    """One graded run; (wall seconds, own CPU seconds)."""
    start = time.perf_counter()
    args = [binary, "run", "--format", "json", "--out", f"{cwd}/report.json", "--fail-under", "none", "--", *command]
    run = subprocess.Popen(args, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)
    wall = time.perf_counter() - start
    fields = pathlib.Path(f"/proc/{run.pid}/stat").read_text().rsplit(")", 1)[1].split()
    run.wait()
    return wall, (int(fields[11]) + int(fields[12])) / TICK


def row(name, values):
    print(f"{name:<44} {min(values):>9.3f} {statistics.median(values):>9.3f} {max(values):>9.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--servers", default="target/servers")
    parser.add_argument("-n", type=int, default=9)
    options = parser.parse_args()
    binary, servers = os.path.abspath(options.binary), pathlib.Path(options.servers).resolve()
    work = tempfile.mkdtemp(prefix="overhead-")
    package = lambda folder, name, entry: ["node", str(servers / folder / "node_modules/@modelcontextprotocol" / name / entry)]
    rows = {
        "server-everything": package("npm-everything-2026.8.31", "server-everything", "dist/index.js") + ["stdio"],
        "server-filesystem": package("npm-fs-2026.8.31", "server-filesystem", "dist/index.js") + [work],
        "mcp-server-time": [str(servers / "venv-time/bin/mcp-server-time")],
    }
    print(f"{'figure':<44} {'min':>9} {'median':>9} {'max':>9}")
    for name, command in rows.items():
        if not os.path.exists(command[-1 if len(command) == 1 else 1]):
            print(f"{name}: not installed, passed over")
            continue
        floor(command, work), grade(binary, command, work)
        ratios, own, floors = [], [], []
        for _ in range(options.n):
            bare = floor(command, work)
            wall, cpu = grade(binary, command, work)
            ratios.append(wall / bare)
            own.append(cpu)
            floors.append(bare)
        row(f"{name}: floor, s", floors)
        row(f"{name}: wall / floor", ratios)
        row(f"{name}: own CPU, s", own)
    starts = []
    for _ in range(20):
        start = time.perf_counter()
        subprocess.run([binary, "--version"], stdout=subprocess.DEVNULL, check=True)
        starts.append(time.perf_counter() - start)
    row("--version, s", starts)
    listing(binary, work)
    shutil.rmtree(work)


def listing(binary, work):
    """Judging and rendering every format of a recorded listing: 5 000 tools, just under 32 MiB."""
    recording = f"{work}/listing.trace"
    toy = HERE.parent / "tests/toys/listing_5000_tools.py"
    made = [binary, "run", "--record", recording, "--fail-under", "none", "--format", "json", "--out", f"{work}/r.json"]
    subprocess.run([*made, "--", sys.executable, str(toy)], cwd=work, stderr=subprocess.DEVNULL)
    formats = "text,json,markdown,summary,junit,sarif"
    times, peaks = [], []
    for _ in range(5):
        start = time.perf_counter()
        judge = subprocess.Popen(
            [binary, "judge", recording, "--format", formats, "--out-dir", f"{work}/out", "--fail-under", "none"],
            cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(judge.pid, 0)
        times.append(time.perf_counter() - start)
        peaks.append(usage.ru_maxrss / 1024)
        if os.waitstatus_to_exitcode(status) > 1:
            sys.exit("the recording could not be judged")
    row("5 000 tools, judge and render, s", times)
    row("5 000 tools, peak memory, MiB", peaks)


main()
