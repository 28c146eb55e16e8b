"""Audit everything that promises something, plant faults, and write the table of docs/promises-audited.md.

Run `python bench/audits.py`; a name or a package audits those alone and prints, `--check` says whether every audit of
the catalogue stands in the table. Seeded, so that the table repeats.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ziggurat.attacks.audits import AuditedRow, audit_row, write_markdown
from ziggurat.attacks.audits.catalogue import list_cases

PAGE = Path(__file__).parents[1] / "docs/promises-audited.md"
BEGIN, END = "<!-- table: bench/audits.py -->", "<!-- end of table -->"
SEED = 2026


def audit_all(names: list[str]) -> list[AuditedRow]:
    """Audit the cases whose names begin so, at epsilon 1, and tell each as it is done."""
    rows = []
    for case in list_cases():
        if not names or any(case.name.startswith(name) for name in names):
            rows.append(audit_row(case, 1, faults=True, random_state=SEED))
            print(" · ".join(rows[-1].to_line().values()), file=sys.stderr, flush=True)
    return rows


def write_page(rows: list[AuditedRow]) -> None:
    """Put the table between its marks."""
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{write_markdown(rows)}{END}{after}", encoding="utf-8")


def main() -> int:
    """Audit, and write or print."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("names", nargs="*", help="names or packages; everything without")
    given.add_argument("--check", action="store_true", help="only say which audits the table lacks")
    asked = given.parse_args()
    if asked.check:
        missing = [case.name for case in list_cases() if f"| `{case.name}` |" not in PAGE.read_text(encoding="utf-8")]
        print("\n".join(missing))
        return int(bool(missing))
    rows = audit_all(asked.names)
    if asked.names:
        print(write_markdown(rows))
    else:
        write_page(rows)
    return int(any(row.audited.refuted or not row.caught for row in rows))


if __name__ == "__main__":
    sys.exit(main())
