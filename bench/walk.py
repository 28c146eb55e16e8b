"""The way of a question, an anonymised table and labels through the house: what is passed, and what is done twice.

Every command runs in a process of its own, on generated tables, twice: the first time everything is imported. Counted
in the second are the functions of ours that are entered and the files that they stand in; and how often a table is
opened (the file that leaves is read back besides), SQL is parsed and a question is planned. Run `python
bench/walk.py`; `--json` prints the figures alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

KINDS = ("ask", "anonymize", "labels")
NAMES = ("first", "second")
ROWS = 100_000
SCHEMA = """name: people
unit: {person: person}
columns:
  person: {kind: integer, role: identifier}
  age: {kind: integer, role: quasi-identifier, bounds: [0, 120]}
  income: {kind: real, bounds: [0, 500000]}
  city: {kind: category, role: quasi-identifier, categories: [a, b, c, d]}
"""


def made_table(folder: Path, rows: int = ROWS) -> Path:
    """Write a table of invented people and its schema."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(0)
    table = {
        "person": np.arange(rows),
        "age": rng.integers(0, 100, rows),
        "income": rng.gamma(2, 20_000, rows).round(2).clip(0, 500_000),
        "city": rng.choice(["a", "b", "c", "d"], rows),
    }
    parquet.write_table(pa.table(table), folder / "people.parquet")
    (folder / "people.yaml").write_text(SCHEMA, encoding="utf-8")
    return folder / "people.parquet"


def asking(folder: Path) -> Callable[[str], Any]:
    """One question on the command line, which is paid for."""
    from ziggurat.data import Unit
    from ziggurat.ledger import Ledger
    from ziggurat.privacy import Neighbours

    file = made_table(folder)
    with Ledger.open(folder / "book.db") as ledger:
        ledger.create_budget("people", 5, 0, Neighbours(Unit.person("person")))
        ledger.grant("people", "ana", 4)
    terms = ["--epsilon", "0.2", "--rows-per-unit", "1", "--analyst", "ana", "--ledger", str(folder / "book.db")]
    return lambda name: _run(["ask", str(file), f"SELECT AVG(income) AS {name} FROM people", *terms])


def anonymizing(folder: Path) -> Callable[[str], Any]:
    """One table on the command line, which the ledger remembers."""
    file = made_table(folder)
    words = ["anonymize", str(file), "--k", "5", "--drop", "income", "--suppress", "0.1", "--quiet"]
    book = ["--ledger", str(folder / "book.db")]
    return lambda name: _run([*words, "--out", str(folder / f"{name}.parquet"), *book])


def labelling(folder: Path) -> Callable[[str], Any]:
    """Labels of fifty queries by twenty teachers, which are paid for; the teachers are there already."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    from ziggurat.data import Unit
    from ziggurat.ledger import Ledger
    from ziggurat.pate import GumbelNoisyMax, Partition, Teachers
    from ziggurat.privacy import Neighbours
    from ziggurat.randomness import seeded
    from ziggurat.release import Labelling

    rng = np.random.default_rng(0)
    rows, classes = rng.normal(size=(4_000, 4)), rng.integers(0, 2, 4_000)
    people = np.arange(4_000)
    partition = Partition.by_unit(people, 20, unit=Unit.person("person"), source=seeded(1))
    teachers = Teachers(LogisticRegression(), classes=2).fit(rows, classes, partition)
    ledger = Ledger.open(folder / "book.db")
    ledger.create_budget("people", 50, "1e-6", Neighbours(Unit.person("person")))
    ledger.grant("people", "ana", 50, "1e-6")
    queries = {name: rng.normal(size=(50, 4)) for name in NAMES}
    return lambda name: Labelling(teachers, GumbelNoisyMax("0.05"), ledger, "ana", budget="people").label(queries[name])


def _run(words: list[str]) -> None:
    from ziggurat.cli import app

    app(words, standalone_mode=False)


def walked(kind: str) -> dict[str, int]:
    """Count what one call passes."""
    import ziggurat

    home = str(Path(ziggurat.__file__).parent)
    passed: set[tuple[str, int, str]] = set()
    counts = {"opens": 0, "parses": 0, "plans": 0}

    def entered(frame: Any, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call":
            return
        if code.co_filename.startswith(home) and code.co_name != "<module>":
            passed.add((code.co_filename, code.co_firstlineno, code.co_name))
        what = _counted(code.co_filename, code.co_name, frame)
        if what:
            counts[what] += 1

    with tempfile.TemporaryDirectory() as folder:
        run = {"ask": asking, "anonymize": anonymizing, "labels": labelling}[kind](Path(folder))
        run(NAMES[0])
        sys.setprofile(entered)
        try:
            run(NAMES[1])
        finally:
            sys.setprofile(None)
    return {"functions": len(passed), "files": len({file for file, _, _ in passed}), **counts}


def _counted(file: str, name: str, frame: Any) -> str:
    if name == "attach" and file.endswith("_duckdb.py") and frame.f_back.f_code.co_name != "lend":
        return "opens"
    if name in ("parse", "parse_one") and file.endswith("sqlglot/__init__.py") and _ours(frame.f_back):
        return "parses"
    made = frame.f_locals.get("self") if name == "__init__" else None
    return "plans" if type(made).__name__ == "QuestionPlan" and "queries" in file else ""


def _ours(frame: Any) -> bool:
    return any(f"ziggurat/{each}/" in frame.f_code.co_filename for each in ("queries", "release"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.only:
        print("\n" + json.dumps(walked(options.only)))
        return
    found = {}
    for kind in KINDS:
        command = [sys.executable, __file__, "--only", kind]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        found[kind] = json.loads(run.stdout.strip().splitlines()[-1])
    if options.json:
        print(json.dumps(found))
        return
    print(f"{'':10}" + "".join(f"{name:>11}" for name in found["ask"]))
    for kind, counts in found.items():
        print(f"{kind:10}" + "".join(f"{count:>11,}" for count in counts.values()))


if __name__ == "__main__":
    main()
