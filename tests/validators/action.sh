#!/bin/sh
# Asks programs of others whether action.yml and its scripts are right. Usage: tests/validators/action.sh
# Needs what ci/test installs below target/tools/ci.
set -eu
cd "$(dirname "$0")/../.."
tools=target/tools/ci/py/bin

status=0
"$tools/check-jsonschema" --builtin-schema vendor.github-actions action.yml || status=1
# --strict-collection: what it cannot read is an error, not skipped.
"$tools/zizmor" --offline --no-progress --quiet --persona auditor --strict-collection action.yml || status=1
"$tools/shellcheck" ci/*.sh ci/test .ci/run tests/validators/*.sh || status=1
# Nothing of a workflow is pasted into a script, and what others wrote is pinned to a commit.
"$tools/python" - << 'PYTHON' || status=1
import re, sys
from ruamel.yaml import YAML

wrong = []
action = YAML(typ="safe").load(open("action.yml", encoding="utf-8"))
used = set()
for step in action["runs"]["steps"]:
    if "${{" in step.get("run", ""):
        wrong.append(f"{step['name']}: an expression in its script")
    if "uses" in step and not re.search(r"@[0-9a-f]{40}$", step["uses"]):
        wrong.append(f"{step['uses']} is not pinned")
    for text in [*step.get("env", {}).values(), *step.get("with", {}).values(), step.get("if", "")]:
        used |= set(re.findall(r"inputs\.([\w-]+)", str(text)))
wrong += [f"the input {name} is used by no step" for name in action["inputs"] if name not in used]
wrong += [f"the input {name} is not declared" for name in sorted(used - set(action["inputs"]))]
print("\n".join(wrong) or f"action.yml: {len(action['inputs'])} inputs, {len(action['outputs'])} outputs")
sys.exit(bool(wrong))
PYTHON
exit $status
