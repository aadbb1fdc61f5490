#!/bin/sh
# Asks programs of others whether the workflows are right: ours, those that the documentation shows, and the one that
# `sealmark init --ci github` prints. Usage: tests/validators/workflows.sh [BINARY]
# Needs what ci/test installs below target/tools/ci.
set -eu
cd "$(dirname "$0")/../.."
tools=$PWD/target/tools/ci/py/bin
shown=target/tools/ci/shown-workflows

status=0
"$tools/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml || status=1
"$tools/actionlint" -no-color -shellcheck "$tools/shellcheck" .github/workflows/*.yml || status=1
"$tools/zizmor" --offline --no-progress --quiet --persona auditor --strict-collection .github || status=1

rm -rf "$shown"
mkdir -p "$shown/.github/workflows"
if [ $# -gt 0 ]; then
    "$1" init --ci github > "$shown/init.yml" || status=1
fi
"$tools/python" - "$shown" README.md docs/*.md << 'PYTHON' || status=1
import pathlib, re, sys
from ruamel.yaml import YAML, YAMLError

shown, pages = pathlib.Path(sys.argv[1]), sys.argv[2:]
inputs = set(YAML(typ="safe").load(open("action.yml", encoding="utf-8"))["inputs"])
wrong, workflows = [], 0
blocks = [(f"{page}:{text.count(chr(10), 0, block.start()) + 2}", block[1])
          for page in pages for text in [pathlib.Path(page).read_text(encoding="utf-8")]
          for block in re.finditer(r"^```ya?ml\n(.*?)^```$", text, re.M | re.S)]
blocks += [("init --ci github", path.read_text(encoding="utf-8")) for path in shown.glob("init.yml")]


def steps(value):
    """Every mapping with a `uses`, at any depth."""
    if isinstance(value, dict):
        if "uses" in value:
            yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from steps(inner)


for place, text in blocks:
    try:
        content = YAML(typ="safe").load(text)
    except YAMLError as error:
        if "---" not in text:
            wrong.append(f"{place}: {error}")
        continue
    for step in steps(content):
        if str(step["uses"]).startswith("sealmark/action@"):
            unknown = set(step.get("with", {})) - inputs
            wrong += [f"{place}: the action has no input {name}" for name in sorted(unknown)]
    if isinstance(content, dict) and "jobs" in content:
        name = re.sub(r"\W+", "-", place)
        (shown / ".github/workflows" / f"{name}.yml").write_text(text, encoding="utf-8")
        workflows += 1
print("\n".join(wrong) or f"shown: {workflows} workflows in {len(blocks)} blocks of YAML")
sys.exit(bool(wrong) or workflows == 0)
PYTHON
# Readers see tags where we pin commits; everything else holds for what we show as well.
cat > "$shown/zizmor.yml" << 'YAML'
rules:
  unpinned-uses:
    config:
      policies:
        "actions/*": ref-pin
        "sealmark/*": ref-pin
YAML
set -- "$shown"/.github/workflows/*.yml
if [ -e "$1" ]; then
    "$tools/check-jsonschema" --builtin-schema vendor.github-workflows "$@" || status=1
    "$tools/actionlint" -no-color -shellcheck "$tools/shellcheck" "$@" || status=1
    "$tools/zizmor" --offline --no-progress --quiet --config "$shown/zizmor.yml" --strict-collection "$@" || status=1
fi
exit $status
