#!/usr/bin/env python3
"""Tells whether the tables of docs/github.md are what action.yml says; UPDATE=1 rewrites them."""
import os
import pathlib
import re
import sys

from ruamel.yaml import YAML

ROOT = pathlib.Path(__file__).resolve().parents[3]


def cell(text):
    return str(text).replace("|", "\\|").strip()


def main():
    action = YAML(typ="safe").load((ROOT / "action.yml").read_text())
    inputs = ["| input | meaning | default |", "|---|---|---|"]
    for name, about in action["inputs"].items():
        default = "the job's token" if "github.token" in about["default"] else f"`{about['default']}`" if about["default"] else ""
        inputs.append(f"| `{name}` | {cell(about['description'])} | {default} |")
    outputs = ["| output | meaning |", "|---|---|"]
    outputs += [f"| `{name}` | {cell(about['description'])} |" for name, about in action["outputs"].items()]
    page = ROOT / "docs/github.md"
    text = fresh = page.read_text()
    for name, table in (("inputs", inputs), ("outputs", outputs)):
        fresh, found = re.subn(
            rf"(<!-- {name}: from action.yml -->\n).*?(<!-- end -->)", lambda m: m[1] + "\n".join(table) + "\n" + m[2], fresh, flags=re.S
        )
        assert found == 1, f"docs/github.md has no place for the {name}"
    if fresh == text:
        return 0
    if os.environ.get("UPDATE") == "1":
        page.write_text(fresh)
        return 0
    print("docs/github.md does not say what action.yml says: UPDATE=1 target/tools/ci/py/bin/python tests/ci/action/tables.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
