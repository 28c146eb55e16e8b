"""What starting costs in CPU seconds (user and system) of whole processes: the median of several, taken in turns.

Promises: `import ziggurat` and `ziggurat --help` at most 0.3 s beyond bare Python; `ziggurat ledger show` at most 0.4 s
and `ziggurat ask` on a Parquet file of 100,000 rows at most 1.0 s in all. A question that is asked for the first time
is paid for, read and answered; asked again it is replayed, which costs less and is printed beside it.

As in an installed package, Python's compiled files are there: the first round, which is not counted, writes them.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROUNDS = 5
ROWS = 100_000
ZIGGURAT = str(Path(sys.executable).parent / "ziggurat")
ASK = [ZIGGURAT, "ask", "people.parquet", "SELECT AVG(income) FROM people", "--epsilon", "0.2", "--rows-per-unit", "1"]
ASK += ["--analyst", "ana", "--ledger", "book.db"]
SCHEMA = """
unit: {person: person}
columns:
  person: {kind: integer, role: identifier}
  age: {kind: integer, role: quasi-identifier, bounds: [0, 120]}
  income: {kind: integer, role: sensitive, bounds: [0, 200000]}
  town: {kind: category, role: quasi-identifier, categories: [a, b, c]}
"""


def new_ledger() -> None:
    for file in Path().glob("book.db*"):
        file.unlink()
    budget = ["budget", "people", "--epsilon", "10", "--delta", "1e-6", "--person", "person"]
    for words in (budget, ["grant", "people", "ana", "--epsilon", "9"]):
        subprocess.run([ZIGGURAT, "ledger", *words, "--ledger", "book.db"], check=True, stdout=subprocess.DEVNULL)


COMMANDS: dict[str, tuple[list[str], Callable[[], None] | None]] = {
    "bare Python": ([sys.executable, "-c", "pass"], None),
    "import ziggurat": ([sys.executable, "-c", "import ziggurat"], None),
    "ziggurat --help": ([ZIGGURAT, "--help"], None),
    "ziggurat ask": (ASK, new_ledger),
    "... again": (ASK, None),
    "ziggurat ledger show": ([ZIGGURAT, "ledger", "show", "people", "--ledger", "book.db"], None),
}


def write_table() -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(1)
    columns = {
        "person": np.arange(ROWS),
        "age": draw.integers(18, 90, ROWS),
        "income": draw.integers(0, 200_000, ROWS),
        "town": draw.choice(["a", "b", "c"], ROWS),
    }
    pq.write_table(pa.table(columns), "people.parquet")
    Path("people.yaml").write_text(SCHEMA)


def seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        write_table()
        for _ in range(ROUNDS + 1):
            for name, (command, prepare) in COMMANDS.items():
                if prepare is not None:
                    prepare()
                taken[name].append(seconds(command))
        os.chdir("/")
    bare = statistics.median(taken["bare Python"][1:])
    print(f"The machine's load is {os.getloadavg()[0]:.1f}; others on it make CPU seconds longer.")
    print(f"{'CPU seconds':<22} {'median':>7} {'least':>7} {'beyond bare Python':>19}")
    for name, (_first, *values) in taken.items():
        middle = statistics.median(values)
        print(f"{name:<22} {middle:>7.3f} {min(values):>7.3f} {middle - bare:>+19.3f}")


if __name__ == "__main__":
    main()
