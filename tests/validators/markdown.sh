#!/bin/sh
# Renders pages as GitHub does (its own cmark, with the extensions of GFM) and looks at what came out: no link, image, mention,
# reference or element that a server planted. Usage: tests/validators/markdown.sh FILE...
# Sample files: cargo test --lib -- --ignored write_page_samples   (target/page-samples/*.md)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cache="$root/.cache/validators"
mkdir -p "$cache"
if [ ! -d "$cache/python/cmarkgfm" ]; then
    python3 -m pip install --quiet --target "$cache/python" cmarkgfm==2025.10.22
fi
PYTHONPATH="$cache/python" exec python3 "$(dirname "$0")/markdown.py" "$@"
