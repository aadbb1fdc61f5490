#!/bin/sh
# Asks whether Code Quality (*.codequality.json) and SAST reports (*.sast.json) hold what GitLab reads: JSON schemas after
# its documentation and validators, then what a schema cannot say. Usage: tests/validators/gitlab.sh FILE...
# Sample files: cargo test --lib -- --ignored write_samples   (target/report-samples/)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache="$here/../../.cache/validators"
mkdir -p "$cache"
if [ ! -d "$cache/python/check_jsonschema" ]; then
    python3 -m pip install --quiet --target "$cache/python" check-jsonschema==0.39.0
fi

status=0
for file in "$@"; do
    case "$file" in
        *sast.json) schema=sast ;;
        *) schema=codequality ;;
    esac
    PYTHONPATH="$cache/python" python3 -m check_jsonschema --schemafile "$here/$schema.schema.json" "$file" || status=1
    python3 - "$schema" "$file" <<'PYTHON' || status=1
import json, sys

schema, name = sys.argv[1:]
data = open(name, "rb").read()
assert not data.startswith(b"\xef\xbb\xbf"), f"{name}: a byte order mark"
report = json.loads(data)
if schema == "sast":
    # What GitLab takes for the same: the first identifier on the same line.
    found = report["vulnerabilities"]
    ids = [(v["identifiers"][0]["type"], v["identifiers"][0]["value"], *v["location"].values()) for v in found]
    assert len({v["id"] for v in found}) == len(found), f"{name}: an id stands twice"
else:
    ids = [issue["fingerprint"] for issue in report]
assert len(set(ids)) == len(ids), f"{name}: findings fall together"
print(name, "ok,", len(ids), "findings")
PYTHON
done
exit $status
