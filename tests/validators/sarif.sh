#!/bin/sh
# Asks two programs of others whether SARIF files are valid: the official JSON schema, then Microsoft's validator with the
# rules of GitHub's code scanning. Usage: tests/validators/sarif.sh FILE...
# Sample files: cargo test --lib -- --ignored write_samples   (target/report-samples/*.sarif)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cache="$root/.cache/validators"
mkdir -p "$cache"

tool="$cache/node_modules/@microsoft/sarif-multitool-linux"
if [ ! -e "$tool/Sarif.Multitool" ]; then
    npm install --prefix "$cache" --no-audit --no-fund --silent @microsoft/sarif-multitool-linux@5.7.0
    chmod u+x "$tool/Sarif.Multitool" # npm 11 does not run the package's own script that does this
fi
if [ ! -d "$cache/python/check_jsonschema" ]; then
    python3 -m pip install --quiet --target "$cache/python" check-jsonschema==0.39.0
fi

status=0
for file in "$@"; do
    # The schema first: a word that is not in an enumeration makes the validator report nothing at all.
    PYTHONPATH="$cache/python" python3 -m check_jsonschema --schemafile "$tool/sarif-2.1.0.json" "$file" || status=1
    log="$cache/$(basename "$file").validation"
    "$tool/Sarif.Multitool" validate "$file" --rule-kind 'Sarif;Ghas' --level 'Error;Warning' --rich-return-code true \
        --log ForceOverwrite -o "$log.sarif" >"$log" 2>&1 || { cat "$log"; status=1; }
    # SARIF2005 asks for a version of digits; a report may be of any build. A finding does not change its exit code.
    if grep -E ': (error|warning) ' "$log" | grep -v SARIF2005; then status=1; fi
done
exit $status
