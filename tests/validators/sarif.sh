#!/bin/sh
# Asks two programs of others whether SARIF files are valid: the official JSON schema, then Microsoft's validator with the
# rules of GitHub's code scanning, and last the limits that neither knows. Usage: tests/validators/sarif.sh FILE...
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
    python3 - "$file" <<'PYTHON' || status=1
import gzip, json, sys

name = sys.argv[1]
data = open(name, "rb").read()
assert len(data) < 10_000_000, f"{name}: {len(data)} bytes, GitLab takes 10 MB"
packed = len(gzip.compress(data))
assert packed < 10_000_000, f"{name}: {packed} bytes packed, GitHub takes 10 MB"
log = json.loads(data)
assert len(log["runs"]) <= 20, "runs"
categories, results = [], 0
for run in log["runs"]:
    category, _, last = run["automationDetails"]["id"].rpartition("/")
    assert category and not last, "a category is what stands before the last slash"
    categories.append(category)
    rules = run["tool"]["driver"]["rules"]
    assert len(rules) <= 25_000 and len({rule["id"] for rule in rules}) == len(rules), "rules"
    for rule in rules:
        texts = [rule[key]["text"] for key in ("shortDescription", "fullDescription")]
        assert all(0 < len(text) <= 1024 for text in texts), rule["id"]
        assert len(rule["name"]) <= 255 and len(rule.get("helpUri", "")) <= 2048, rule["id"]
        assert len(rule["properties"]["tags"]) <= 10, rule["id"]
        score = rule["properties"].get("security-severity")
        assert score is None or isinstance(score, str) and 0 < float(score) <= 10, rule["id"]
    assert len(run["results"]) <= 5_000, "results"
    prints = set()
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result["ruleId"]
        assert 0 < len(result["message"]["text"]) <= 1024, result["ruleId"]
        assert "suppressions" not in result and result.get("kind", "fail") == "fail"
        assert len(result["locations"]) == 1
        for location in result["locations"] + result.get("relatedLocations", []):
            place = location["physicalLocation"]
            uri = place["artifactLocation"]["uri"]
            assert uri and not uri.startswith(("/", ".")) and ":" not in uri and ".." not in uri.split("/"), uri
            assert place["region"]["startLine"] >= 1
        prints.add(result["partialFingerprints"]["primaryLocationLineHash"])
    assert len(prints) == len(run["results"]), "fingerprints fall together"
    results += len(prints)
assert len(set(categories)) == len(categories), "a category stands twice"
print(name, "ok,", results, "results,", len(data), "bytes,", packed, "packed")
PYTHON
done
exit $status
