#!/usr/bin/env python3
"""Puts ci/install.sh and ci/checksums.txt into templates/sealmark.yml: a GitLab component is one file.

ci/component.py           exits 1 when the copies in the template are not those files
ci/component.py --write   makes them so
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "templates/sealmark.yml"
FILES = {"END-OF-INSTALL.SH": ROOT / "ci/install.sh", "END-OF-CHECKSUMS.TXT": ROOT / "ci/checksums.txt"}


def filled(template: str) -> str:
    for mark, path in FILES.items():
        text = path.read_text(encoding="utf-8")
        # `$[[` is GitLab's own, in any text; a line like the mark would end the copy.
        if "$[[" in text or mark in text or not text.endswith("\n"):
            sys.exit(f"{path.name} cannot stand in a component: it holds `$[[` or {mark}, or its last line has no end")
        found = re.search(rf"^( *)cat > .* << '{re.escape(mark)}'\n", template, re.M)
        end = found and template.find(f"\n{found[1]}{mark}\n", found.end() - 1)
        if not found or end < 0:
            sys.exit(f"{TEMPLATE.name} has no place marked {mark}")
        indented = "".join(f"{found[1]}{line}" if line.strip() else line for line in text.splitlines(keepends=True))
        template = template[: found.end()] + indented + template[end + 1 :]
    return template


def main() -> int:
    if sys.argv[1:] not in ([], ["--write"]):
        print(__doc__, file=sys.stderr)
        return 2
    template = TEMPLATE.read_text(encoding="utf-8")
    wanted = filled(template)
    if sys.argv[1:]:
        TEMPLATE.write_text(wanted, encoding="utf-8")
    elif template != wanted:
        print("templates/sealmark.yml holds other copies of ci/install.sh or ci/checksums.txt: ci/component.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
