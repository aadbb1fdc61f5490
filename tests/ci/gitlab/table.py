#!/usr/bin/env python3
"""Tells whether the table of docs/gitlab.md is what templates/sealmark.yml says; UPDATE=1 rewrites it."""
import os
import pathlib
import re
import sys

from ruamel.yaml import YAML

ROOT = pathlib.Path(__file__).resolve().parents[3]


def shown(value):
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value != "" else ""


def main():
    header = next(YAML(typ="safe").load_all((ROOT / "templates/sealmark.yml").read_text()))
    table = ["| input | meaning | default |", "|---|---|---|"]
    for name, about in header["spec"]["inputs"].items():
        choice = f" ({', '.join(map(str, about['options']))})" if "options" in about and ":" not in about["description"] else ""
        table.append(f"| `{name}` | {about['description']}{choice} | {shown(about['default'])} |")
    page = ROOT / "docs/gitlab.md"
    text = page.read_text()
    mark = r"(<!-- inputs: from templates/sealmark.yml -->\n).*?(<!-- end -->)"
    fresh, found = re.subn(mark, lambda m: m[1] + "\n".join(table) + "\n" + m[2], text, flags=re.S)
    assert found == 1, "docs/gitlab.md has no place for the inputs"
    if fresh == text:
        return 0
    if os.environ.get("UPDATE") == "1":
        page.write_text(fresh)
        return 0
    print("docs/gitlab.md does not say what the component says: UPDATE=1 target/tools/ci/py/bin/python tests/ci/gitlab/table.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
