"""How long a whole call of `anonymize` takes beside a whole call of ARX, and five million rows from file to file.

Both are timed in processor time, warm, from an opened table to the best generalisation and what it suppresses; what
the first call on a table that was just opened takes stands beside it, so that it is seen that no answer is kept. ARX
cannot be had from the registries that this project uses, so that its times are those which an outside audit measured on
a machine of this kind, in one run with an earlier version of ours; that version's times in that run stand beside them,
so that machines can be compared. The rows of the second part are drawn at random. Every part runs in a process of its
own, the first of them twice: if the second starts much faster, then the loops were compiled in the first and kept.

Run `ZIGGURAT_DATA=... python bench/anonymize.py`; `--rows` makes the second part smaller or larger.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROUNDS = 7
COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
           "salary-class"]  # fmt: skip
# Rows that may be suppressed: ARX's milliseconds (with its faster metric where it has one), and ours of version 0.1.0.
AUDITED = {"0": (48, 72), "0.02": (1_178, 261), "1": (2_620, 445), "local": (6_418, 2_284)}
# What version 0.1.0 takes on the machine of this bench, by which the audited times are scaled to it.
HERE = {"0": 40, "0.02": 156, "1": 283, "local": 1_239}
GENERATED = """
COPY (
    SELECT CAST(20 + floor(60 * random()) AS BIGINT) AS age,
           CAST(10000 + floor(90 * random() * random()) AS BIGINT) AS postcode,
           CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
           'job ' || CAST(floor(12 * random() * random()) AS VARCHAR) AS job,
           'school ' || CAST(floor(8 * random()) AS VARCHAR) AS education,
           'illness ' || CAST(floor(12 * random() * random()) AS VARCHAR) AS illness,
           round(1e4 * random(), 2) AS cost
    FROM range({rows})
) TO '{path}' (FORMAT parquet)
"""


def called(share: str) -> dict[str, Any]:
    """The time of the first answer of this process; once it is warm, processor times of opening and of a whole call."""
    start = time.perf_counter()
    from ziggurat.anonymize import KAnonymity, anonymize, read_hierarchies
    from ziggurat.data import read

    folder = Path(os.environ["ZIGGURAT_DATA"])
    options: dict[str, Any] = {"quasi_identifiers": COLUMNS}
    options["hierarchies"] = read_hierarchies(folder / "arx_adult_hierarchies.csv.gz")
    options |= {"recoding": "local"} if share == "local" else {"suppression": share}
    found = anonymize(read(folder / "arx_adult.parquet"), KAnonymity(5), **options)
    first = time.perf_counter() - start
    taken: dict[str, list[float]] = {"open": [], "fresh": [], "call": []}
    for _ in range(ROUNDS):
        with timed(taken["open"]):
            table = read(folder / "arx_adult.parquet")
        for which in ("fresh", "call"):
            with timed(taken[which]):
                found = anonymize(table, KAnonymity(5), **options)
    rows: list[float] = []
    with timed(rows):
        found.table()
    medians = {name: statistics.median(each) for name, each in taken.items()}
    return {"first": first, **medians, "rows": rows[0], "score": found.score}


@contextmanager
def timed(taken: list[float]) -> Iterator[None]:
    """Note how much processor time something takes."""
    start = time.process_time()
    yield
    taken.append(time.process_time() - start)


def from_file_to_file(path: str, diverse: bool) -> dict[str, Any]:
    """Count, search and write; the most memory that the process ever held."""
    from ziggurat.anonymize import KAnonymity, LDiversity, anonymize
    from ziggurat.data import read

    start = time.perf_counter()
    known = ["age", "postcode", "sex", "job", "education"]
    models = [KAnonymity(10), LDiversity("illness", 3)] if diverse else [KAnonymity(10)]
    table = read(path)
    opened = time.perf_counter()
    found = anonymize(table, models, quasi_identifiers=known, suppression="0.05")
    sought = time.perf_counter()
    found.write(Path(path).with_name("out.parquet"))
    written = time.perf_counter()
    return {
        "open": opened - start,
        "count and search": sought - opened,
        "write": written - sought,
        "combinations": len(found.lattice.counted.counts),
        "nodes": found.lattice.nodes,
        "published": found.rows - found.suppressed,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def apart(part: str, value: str) -> dict[str, Any]:
    """Run a part in a process of its own."""
    command = [sys.executable, __file__, "--part", part, "--value", value]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def report(rows: int) -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if "ZIGGURAT_DATA" in os.environ:
        beside_arx()
    else:
        print("(set ZIGGURAT_DATA to a folder with arx_adult.parquet and its hierarchies to search these)")
    generated(rows)


def beside_arx() -> None:
    print(f"first answer of a first process   {apart('call', '0')['first']:6.2f} s")
    print(f"first answer of a second process  {apart('call', '0')['first']:6.2f} s")
    print("whole calls, milliseconds of processor time; ARX and version 0.1.0 as audited on a machine of this kind")
    for share, (theirs, before) in AUDITED.items():
        found = apart("call", share)
        what = "local recoding" if share == "local" else f"suppression {share}"
        ratio = theirs / before * HERE[share] / 1000 / found["call"]
        print(
            f"k=5, {what:<16} {1000 * found['call']:7.1f}, loss {found['score']:.5f}; ARX {theirs:,}, 0.1.0 {before:,}"
        )
        scaled = f"{ratio:.2f} times as fast as ARX, scaled to this machine"
        more = [1000 * found[name] for name in ("open", "fresh", "rows")]
        print(
            "     {}; opening takes {:.0f}, the first call after it {:.1f}, the rows {:.0f} more".format(scaled, *more)
        )


def generated(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        import duckdb

        path = str(Path(folder) / "in.parquet")
        duckdb.sql(GENERATED.format(rows=rows, path=path))
        for part, models in (("file", "10-anonymous"), ("diverse", "and 3 illnesses in each class")):
            found = apart(part, path)
            listed = ", ".join(f"{name} {each:,.1f}" for name, each in found.items())
            print(f"{rows:,} rows from file to file, {models}: {listed} (seconds; peak in GiB)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--part", choices=["call", "file", "diverse"], help=argparse.SUPPRESS)
    parser.add_argument("--value", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part is None:
        report(given.rows)
    else:
        diverse = given.part == "diverse"
        print(json.dumps(called(given.value) if given.part == "call" else from_file_to_file(given.value, diverse)))


if __name__ == "__main__":
    main()
