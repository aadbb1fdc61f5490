#!/bin/sh
# Asks programs of others whether templates/sealmark.yml is right, with the defaults and with every option of its inputs:
# GitLab's own schema for the configuration, shellcheck for the scripts. Usage: tests/validators/component.sh
# Needs what ci/test installs below target/tools/ci.
set -eu
cd "$(dirname "$0")/../.."
ci/component.py
exec target/tools/ci/py/bin/python - << 'PYTHON'
import json, pathlib, re, subprocess, sys, tempfile
from ruamel.yaml import YAML

TOOLS = pathlib.Path("target/tools/ci/py/bin")
yaml = YAML(typ="safe")
text = pathlib.Path("templates/sealmark.yml").read_text(encoding="utf-8")
header, jobs = yaml.load_all(text)
inputs = header["spec"]["inputs"]
wrong = []


def filled(node, values):
    """What GitLab makes of it: it fills in loaded YAML, keys as well, and a text that is nothing but an input becomes that."""
    if isinstance(node, dict):
        return {filled(key, values): filled(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [filled(value, values) for value in node]
    if not isinstance(node, str):
        return node
    if whole := re.fullmatch(r"\$\[\[\s*inputs\.([\w-]+)\s*\]\]", node):
        return values[whole[1]]
    shown = lambda found: str(values[found[1]]).lower() if values[found[1]] in (True, False) else values[found[1]]
    return re.sub(r"\$\[\[\s*inputs\.([\w-]+)\s*\]\]", shown, node)


used = set(re.findall(r"inputs\.([\w-]+)", text))
wrong += [f"the input {name} is used nowhere" for name in inputs if name not in used]
wrong += [f"the input {name} is not declared" for name in sorted(used - set(inputs))]
for name, spec in inputs.items():
    if "default" not in spec or not spec.get("description") or len(spec["description"]) > 1024:
        wrong.append(f"{name}: no default, or no description of at most 1024 characters")
# Nothing of an input is pasted into a script, and older versions of GitLab fill in one input per text.
def texts(node, place=""):
    if isinstance(node, dict):
        for key, value in node.items():
            yield place, key
            yield from texts(value, f"{place}.{key}")
    elif isinstance(node, list):
        for value in node:
            yield from texts(value, place)
    else:
        yield place, node
for place, node in texts(jobs):
    blocks = str(node).count("$[[")
    if blocks > 1 or (blocks and ("script" in place or (".variables" in place and not place.endswith(".value")))):
        wrong.append(f"{place}: an input in the wrong place: {node}")
for key in jobs:
    if not key.startswith("$[[ inputs.job-name ]]"):
        wrong.append(f"{key} is a global keyword or a job with a fixed name")

defaults = {name: spec["default"] for name, spec in inputs.items()}
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    def schema(name, document):
        path = scratch / f"{name}.gitlab-ci.json"
        path.write_text(json.dumps(document))
        said = subprocess.run([TOOLS / "check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", "--data-transform",
                               "gitlab-ci", path], capture_output=True, text=True)
        if said.returncode:
            wrong.append(f"{name}: {said.stdout}{said.stderr}")
    schema("spec", header)
    variants = [defaults] + [{**defaults, name: option} for name, spec in inputs.items() for option in spec.get("options", [])]
    for number, values in enumerate(variants):
        schema(f"jobs-{number}", filled(jobs, values))
    # A check that finds nothing anywhere would be none.
    broken = filled(jobs, {**defaults, "extra-report": "no-such-report"})
    before = len(wrong)
    schema("broken", broken)
    if len(wrong) == before:
        wrong.append("the schema takes a report that does not exist")
    del wrong[before:]
    for name, job in filled(jobs, defaults).items():
        for number, script in enumerate(job["script"]):
            path = scratch / f"{name}-{number}.sh"
            assigned = "\n".join(f"{variable}=" for variable in job["variables"])
            outside = "" if number == 0 else "\nsealmark_program="
            path.write_text(f"#!/bin/sh\n{assigned}{outside}\nexport CI_PROJECT_DIR CI_JOB_URL\n{script}")
            # SC2034, SC2154: a variable of one part is used in another.
            said = subprocess.run([TOOLS / "shellcheck", "--exclude", "SC2034,SC2154", path], capture_output=True, text=True)
            if said.returncode:
                wrong.append(said.stdout)
print("\n".join(wrong) or f"templates/sealmark.yml: {len(inputs)} inputs, {len(variants)} variants, {len(jobs)} jobs")
sys.exit(bool(wrong))
PYTHON
