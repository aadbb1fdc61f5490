#!/usr/bin/env python3
"""A fleet of shards' reports: what merging, the summary and the comment take. Prints a table; judges with --bounds.

usage: fleet.py BINARY [--servers 500] [--packs 13] [--shards 25] [-n RUNS] [--bounds] [--keep DIR]

Every server gets packs like those of a real one: the demo's report, its core pack repeated under other names, with evidence
of its own in every line. Bytes read and written by `cat` on the same files are the floor. The summary and the comment are
made as in a job of GitHub's for a pull request, with a server on this machine in the place of GitHub.
"""
import argparse, copy, http.server, json, os, pathlib, statistics, subprocess, sys, tempfile, threading, time

MAX_SECONDS, MAX_MIB = 2.0, 300
COMMENT, SUMMARY = 60_000, 1000 * 1024


class GitHub(http.server.BaseHTTPRequestHandler):
    """Has no comments, and takes one."""

    comment = b""

    def answer(self, code, value):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, [] if "/comments" in self.path else {})

    def do_POST(self):
        GitHub.comment = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, {"id": 1, "html_url": "http://127.0.0.1/1", "body": json.loads(GitHub.comment)["body"]})

    def log_message(self, *_):
        pass


def job(where, port):
    """The environment of a pull request's job."""
    event = {
        "number": 7,
        "pull_request": {"number": 7, "head": {"sha": "a" * 40, "ref": "topic", "repo": {"full_name": "acme/fleet", "id": 1}},
                         "base": {"ref": "main", "sha": "b" * 40, "repo": {"full_name": "acme/fleet", "id": 1}}},
        "repository": {"full_name": "acme/fleet", "id": 1, "default_branch": "main"},
    }
    pathlib.Path(where, "event.json").write_text(json.dumps(event))
    return {
        "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_TOKEN": "ghs_bench",
        "GITHUB_EVENT_PATH": f"{where}/event.json", "GITHUB_REPOSITORY": "acme/fleet", "GITHUB_REPOSITORY_ID": "1",
        "GITHUB_REF": "refs/pull/7/merge", "GITHUB_SHA": "c" * 40, "GITHUB_HEAD_REF": "topic", "GITHUB_BASE_REF": "main",
        "GITHUB_RUN_ID": "1", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": f"http://127.0.0.1:{port}",
        "GITHUB_STEP_SUMMARY": f"{where}/summary.md", "GITHUB_OUTPUT": f"{where}/output.txt",
    }


def demo(binary, mode, cwd):
    out = f"{cwd}/{mode}.json"
    subprocess.run([binary, "demo", "--mode", mode, "--format", "json", "--out", out], stderr=subprocess.DEVNULL, check=False)
    return json.loads(pathlib.Path(out).read_text())


def server(samples, number, packs):
    """Nine of ten are fine; the tenth fails all over."""
    run = copy.deepcopy(samples[number % 10 == 9])
    run["name"] = f"server-{number:04}"
    run["durationMs"] = 1000 + number * 7919 % 90000
    core = run["packs"].pop("core")
    for at in range(packs):
        pack = copy.deepcopy(core)
        for check in pack["checks"]:
            check["id"] = check["id"] if at == 0 else f"{check['id']}-{at}"
            for line in check["evidence"]:
                line["observed"] += f" ({number}.{at})"
        run["packs"]["core" if at == 0 else f"pack-{at}"] = pack
    return run


def shards(binary, where, servers, packs, count):
    samples = [demo(binary, "honest", where), demo(binary, "broken", where)]
    for index in range(count):
        runs = [server(samples, number, packs) for number in range(index, servers, count)]
        out = pathlib.Path(where, "in", f"job-{index + 1}", "sealmark-report.json")
        out.parent.mkdir(parents=True)
        report = runs[0] if len(runs) == 1 else {"schema": "sealmark.report/1", "runs": runs}
        # As sealmark writes them: what is visible is no escape.
        out.write_text(json.dumps(report, indent=2, ensure_ascii=False))


def measure(words, cwd, more):
    """One process: (wall seconds, peak MiB, exit code)."""
    env = {"PATH": os.environ["PATH"], "HOME": cwd, **more}
    start = time.perf_counter()
    process = subprocess.Popen(words, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - start, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--servers", type=int, default=500)
    parser.add_argument("--packs", type=int, default=13)
    parser.add_argument("--shards", type=int, default=25)
    parser.add_argument("-n", "--runs", type=int, default=5)
    parser.add_argument("--bounds", action="store_true", help=f"exit 1 above {MAX_SECONDS} s or {MAX_MIB} MiB")
    parser.add_argument("--keep", help="leave the reports in this new directory")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    with tempfile.TemporaryDirectory() as scratch:
        where = os.path.abspath(args.keep or scratch)
        os.makedirs(where, exist_ok=True)
        github = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
        threading.Thread(target=github.serve_forever, daemon=True).start()
        env = job(where, github.server_port)
        shards(binary, where, args.servers, args.packs, args.shards)
        merge = [binary, "merge", "in", "--out", "sealmark-report.json"]
        subprocess.run(merge, cwd=where, check=True)
        merged = pathlib.Path(where, "sealmark-report.json").stat().st_size
        steps = {
            "floor: cat": ["sh", "-c", "cat in/*/sealmark-report.json > floor.json"],
            "merge": merge,
            "summary and comment: publish": [binary, "publish", "--report", "sealmark-report.json", "--baseline", "off"],
            "gate": [binary, "gate", "--report", "sealmark-report.json"],
        }
        took = {name: [] for name in steps}
        for _ in range(args.runs):
            for name, words in steps.items():
                publishes = "publish" in name
                if publishes:
                    pathlib.Path(where, "summary.md").unlink(missing_ok=True)
                took[name].append(measure(words, where, env if publishes else {}))
            summary = pathlib.Path(where, "summary.md").stat().st_size
    print(f"{args.servers} servers x {args.packs} packs in {args.shards} shards: {merged / 2**20:.0f} MiB merged")
    print(f"{'step':<32} {'min s':>8} {'median':>8} {'x floor':>8} {'peak MiB':>9} {'exit':>5}")
    floor = min(seconds for seconds, _, _ in took["floor: cat"])
    total = peak = 0
    for name, samples in took.items():
        best, middle = min(s for s, _, _ in samples), statistics.median(s for s, _, _ in samples)
        most = max(mib for _, mib, _ in samples)
        print(f"{name:<32} {best:>8.3f} {middle:>8.3f} {best / floor:>8.1f} {most:>9.0f} {samples[0][2]:>5}")
        if name in ("merge", "summary and comment: publish"):
            total, peak = total + best, max(peak, most)
    print(f"merge, summary and comment: {total:.2f} s (at most {MAX_SECONDS:.0f}), {peak:.0f} MiB (at most {MAX_MIB})")
    comment = len(json.loads(GitHub.comment or '{"body": ""}')["body"].encode())
    print(f"comment: {comment} bytes (at most {COMMENT}); summary: {summary} bytes (at most {SUMMARY})")
    fits = 0 < comment <= COMMENT and 0 < summary <= SUMMARY
    sys.exit(args.bounds and not (fits and total <= MAX_SECONDS and peak <= MAX_MIB))


main()
