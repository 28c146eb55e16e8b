"""Audit everything that promises something, plant faults, and write the table of docs/promises-audited.md.

Run `python bench/audits.py`; a name or a package audits those alone and prints, with `--only` it also puts their lines
into the table and leaves the others as they are. `--check` says whether every audit stands in the table. Seeded, so
that the table repeats.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ziggurat.attacks.audits import AuditedRow, audit_row, write_markdown
from ziggurat.release.audits import list_audits

PAGE = Path(__file__).parents[1] / "docs/promises-audited.md"
BEGIN, END = "<!-- table: bench/audits.py -->", "<!-- end of table -->"
SEED = 2026


def audit_all(names: list[str]) -> list[AuditedRow]:
    """Audit the cases whose names begin so, at epsilon 1, and tell each as it is done."""
    rows = []
    for case in list_audits():
        if not names or any(case.name.startswith(name) for name in names):
            rows.append(audit_row(case, 1, faults=True, random_state=SEED))
            print(" · ".join(rows[-1].to_line().values()), file=sys.stderr, flush=True)
    return rows


def write_page(rows: list[AuditedRow]) -> None:
    """Put lines between the marks, in the order of the audits: new ones, and of those not audited now the old ones."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    held, after = rest.split(END)
    head, made = write_markdown(rows).splitlines()[:2], _lines_in(write_markdown(rows))
    lines = {**_lines_in(held), **made}
    table = "\n".join([*head, *(lines[case.name] for case in list_audits() if case.name in lines)])
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def _lines_in(table: str) -> dict[str, str]:
    return {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}


def main() -> int:
    """Audit, and write or print."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("names", nargs="*", help="names or packages; everything without")
    given.add_argument(
        "--only", action="store_true", help="put the lines of these names into the table, and keep others"
    )
    given.add_argument("--check", action="store_true", help="only say which audits the table lacks")
    asked = given.parse_args()
    if asked.check:
        missing = [case.name for case in list_audits() if f"| `{case.name}` |" not in PAGE.read_text(encoding="utf-8")]
        print("\n".join(missing))
        return int(bool(missing))
    rows = audit_all(asked.names)
    if asked.names and not asked.only:
        print(write_markdown(rows))
    else:
        write_page(rows)
    return int(any(row.audited.refuted or not row.caught for row in rows))


if __name__ == "__main__":
    sys.exit(main())
