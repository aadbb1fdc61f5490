"""Makes the pictures of the documentation: what a pull request shows when a server got worse.

    python3 docs/pictures/make.py target/debug/sealmark

Grades the server beside this file twice, the second time as `sealmark ci` in a pull request whose API is a stand-in on this
machine, renders the comment and the job summary as GitHub does, and photographs them. Needs chromium and two
packages (`pip install cmarkgfm==2025.10.22 pillow==13.0.0`); writes comment.png and summary.png.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import cmarkgfm
import PIL.Image
from cmarkgfm.cmark import Options

HERE = pathlib.Path(__file__).resolve().parent
WIDTH = 900
MOST_HEIGHT = 2400
MOST_BYTES = 200_000
STYLE = """
* { box-sizing: border-box } body { margin: 0; padding: 16px; background: #fff; color: #1f2328;
  font: 14px/1.5 "Segoe UI", "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif, "Noto Color Emoji" }
.box { border: 1px solid #d1d9e0; border-radius: 6px } .bar { padding: 8px 16px; background: #f6f8fa; color: #59636e;
  border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0 } .bar b { color: #1f2328 }
.bar i { border: 1px solid #d1d9e0; border-radius: 2em; padding: 0 7px; font-size: 12px; font-style: normal }
.text { padding: 16px } h2 { font-size: 1.5em; border-bottom: 1px solid #d1d9e0; padding-bottom: .3em; margin: 0 0 16px }
h3 { font-size: 1.25em; margin: 24px 0 16px } p, ul, table, pre, details { margin: 0 0 16px } ul { padding-left: 2em }
li ul { margin: 0 } code { background: #818b981f; border-radius: 6px; padding: .2em .4em; font: 85% "DejaVu Sans Mono", monospace }
pre { background: #f6f8fa; border-radius: 6px; padding: 16px; overflow: hidden } pre code { background: none; padding: 0;
  white-space: pre-wrap; display: block } .new { background: #dafbe1; color: #116329; display: block }
.old { background: #ffebe9; color: #82071e; display: block } table { border-collapse: collapse }
td, th { border: 1px solid #d1d9e0; padding: 6px 13px; text-align: left } tr:nth-child(2n) { background: #f6f8fa }
a { color: #0969da; text-decoration: none } hr { height: 4px; background: #d1d9e0; border: 0; margin: 24px 0 }
"""


class Api(http.server.BaseHTTPRequestHandler):
    """As much of GitHub as one comment needs."""

    comment = None

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        own = {"id": 1, "body": Api.comment, "user": {"login": "github-actions[bot]", "type": "Bot"}}
        self.reply(200, ([own] if Api.comment else []) if "/comments" in self.path else {})

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Api.comment = sent["body"]
        url = "https://github.com/acme/notes/pull/7#issuecomment-1"
        self.reply(201, {"id": 1, "html_url": url, "body": Api.comment, "user": {"login": "github-actions[bot]", "type": "Bot"}})

    def log_message(self, *_):
        pass


def grade(binary, scratch):
    """The comment and the job summary, as Markdown."""
    shutil.copy(HERE / "server.py", scratch)
    environment = {"PATH": os.environ["PATH"], "HOME": str(scratch)}
    good, later = ["--", sys.executable, "server.py"], ["--", sys.executable, "server.py", "later"]

    def run(arguments, codes, **more):
        done = subprocess.run([binary, *arguments], cwd=scratch, env=environment | more, capture_output=True, text=True)
        if done.returncode not in codes:
            sys.exit(f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")

    run(["run", "--name", "notes", "--write-baseline", "before.json", "--write-surface", "surface.json", *good], [0])
    api = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=api.serve_forever, daemon=True).start()
    event = {
        "number": 7,
        "pull_request": {"number": 7, "head": {"sha": "a" * 40, "ref": "search", "repo": {"full_name": "acme/notes"}},
                         "base": {"ref": "main", "sha": "b" * 40, "repo": {"full_name": "acme/notes"}}},
        "repository": {"full_name": "acme/notes", "id": 1, "default_branch": "main"},
    }
    (scratch / "event.json").write_text(json.dumps(event))
    run(
        ["ci", "--name", "notes", "--baseline", "before.json", "--surface", "surface.json", *later], [1],
        CI="true", GITHUB_ACTIONS="true", GITHUB_EVENT_NAME="pull_request", GITHUB_EVENT_PATH=str(scratch / "event.json"),
        GITHUB_REPOSITORY="acme/notes", GITHUB_REPOSITORY_ID="1", GITHUB_REF="refs/pull/7/merge", GITHUB_SHA="c" * 40,
        GITHUB_HEAD_REF="search", GITHUB_BASE_REF="main", GITHUB_RUN_ID="4711", GITHUB_SERVER_URL="https://github.com",
        GITHUB_API_URL=f"http://127.0.0.1:{api.server_port}", GITHUB_STEP_SUMMARY=str(scratch / "summary.md"),
        GITHUB_OUTPUT=str(scratch / "output"), GITHUB_WORKSPACE=str(scratch), GITHUB_TOKEN="none-of-github",
    )
    api.shutdown()
    if not Api.comment:
        sys.exit("no comment was written")
    return Api.comment, (scratch / "summary.md").read_text()


def rendered(markdown, bar):
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_GITHUB_PRE_LANG
    html = cmarkgfm.markdown_to_html_with_extensions(markdown, options, ["table", "autolink", "strikethrough"])

    def colour(block):
        kinds = {"+": "new", "-": "old"}
        lines = block.group(2).rstrip("\n").split("\n")
        spans = [f'<span class="{kinds[line[0]]}">{line}</span>' if line[:1] in kinds else f"{line}\n" for line in lines]
        return block.group(1) + "".join(spans) + "</code></pre>"

    html = re.sub(r'(<pre lang="diff"><code>)(.*?)</code></pre>', colour, html, flags=re.S)
    # The picture shows what a reviewer opens first.
    html = html.replace("<details><summary>tool", "<details open><summary>tool")
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style><div class="box"><div class="bar">{bar}</div><div class="text">{html}</div></div>'


def photograph(html, picture, scratch):
    page = scratch / "page.html"
    measure = "<script>document.body.dataset.height = document.documentElement.scrollHeight</script>"
    page.write_text(html + measure)
    chromium = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={scratch}/profile"]
    look = subprocess.run([*chromium, f"--window-size={WIDTH},200", "--dump-dom", page.as_uri()], capture_output=True, text=True)
    found = re.search(r'data-height="(\d+)"', look.stdout)
    if not found:
        sys.exit(f"chromium did not show the page: {look.stderr}")
    height = min(int(found.group(1)), MOST_HEIGHT)
    subprocess.run(
        [*chromium, f"--window-size={WIDTH},{height}", f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True
    )
    # Few colours are in it: a palette takes a third of the bytes.
    PIL.Image.open(picture).convert("RGB").quantize(256, PIL.Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)
    size = picture.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{picture.name} has {size} bytes, at most {MOST_BYTES}")
    print(picture.name, WIDTH, "x", height, size, "bytes")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make.py SEALMARK")
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        comment, summary = grade(binary, scratch)
        bar = "<b>github-actions</b> <i>bot</i> commented now"
        photograph(rendered(comment, bar), HERE / "comment.png", scratch)
        photograph(rendered(summary, "<b>grade</b> summary"), HERE / "summary.png", scratch)


if __name__ == "__main__":
    main()
