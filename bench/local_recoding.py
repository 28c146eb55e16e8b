"""Local recoding of ARX's Adult table beside ARX's own figures, of a wide table, and Mondrian on a million rows.

Run `ZIGGURAT_DATA=... python bench/local_recoding.py`. ARX's figures are constants, measured with a warm JVM.
"""

from __future__ import annotations

import csv
import gzip
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from ziggurat.anonymize.generalizing._combinations import Combinations, code_hierarchy, find_codes
from ziggurat.anonymize.generalizing._local import recode
from ziggurat.anonymize.generalizing._models import KAnonymity, ModelNumbers
from ziggurat.anonymize.generalizing._mondrian import mondrian
from ziggurat.data import Hierarchy

ARX = (0.0577, 4557, 6.3)


def _adult(folder: Path) -> Combinations:
    levels: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    with gzip.open(folder / "arx_adult_hierarchies.csv.gz", "rt") as file:
        for name, value, *above in list(csv.reader(file))[1:]:
            levels[name][value] = tuple(label for label in above if label)
    cells = pq.read_table(folder / "arx_adult.parquet").to_pydict()
    ladders = tuple(code_hierarchy(name, Hierarchy(rungs)) for name, rungs in levels.items())
    return _counted(ladders, np.stack([find_codes(each, [str(c) for c in cells[each.column]]) for each in ladders], 1))


def _counted(ladders: tuple, codes: np.ndarray) -> Combinations:
    codes, counts = np.unique(codes, axis=0, return_counts=True)
    nobody, nothing = np.zeros(0, np.int64), np.zeros((len(codes), 0), np.int32)
    return Combinations(ladders, codes.astype(np.int32), counts, nobody, nothing, ())


def _generated(rows: int) -> Combinations:
    draw = np.random.default_rng(1)
    sizes = (100, 50, 16, 8, 2)
    trees = (Hierarchy({str(v): (str(v // 4 * 4), "*") for v in range(size)}) for size in sizes)
    ladders = tuple(code_hierarchy(f"c{j}", each) for j, each in enumerate(trees))
    return _counted(ladders, np.stack([draw.integers(0, size, rows) for size in sizes], 1))


def _wide(rows: int) -> Combinations:
    """Twelve columns that go together in three groups, with rungs of four, sixteen, ... values."""
    draw = np.random.default_rng(1)
    sizes = (100, 64, 50, 40, 24, 16, 16, 9, 8, 6, 4, 2)
    hidden = draw.random((rows, 3))
    mixed = (hidden[:, j % 3] * 0.7 + draw.random(rows) * 0.3 for j in range(len(sizes)))
    codes = [np.minimum((each**2 * size).astype(int), size - 1) for each, size in zip(mixed, sizes, strict=True)]
    return _counted(tuple(code_hierarchy(f"c{j}", _fours(size)) for j, size in enumerate(sizes)), np.stack(codes, 1))


def _fours(size: int) -> Hierarchy:
    widths = [4**level for level in range(1, 5) if 4**level < size]
    rungs = {v: [f"{v // width * width}-{v // width * width + width - 1}" for width in widths] for v in range(size)}
    return Hierarchy({str(v): (*labels, "*") for v, labels in rungs.items()})


def main() -> None:
    """Print loss, classes and seconds."""
    asked = [KAnonymity(5).to_numbers()]
    if "ZIGGURAT_DATA" in os.environ:
        _beside_arx(_adult(Path(os.environ["ZIGGURAT_DATA"])), asked)
    else:
        print("(set ZIGGURAT_DATA to a folder with arx_adult.parquet and its hierarchies to recode these)")
    wide = _wide(100_000)
    for seconds in (None, 10.0):
        start = time.perf_counter()
        found = recode(wide, asked, seconds=seconds)
        limit = "no limit" if seconds is None else f"stopped after {seconds:g} s"
        spent = time.perf_counter() - start
        print(f"local recoding of {wide.rows} rows x 12, {limit}: {found.score:.4f} {found.classes} {spent:.1f} s")
    big = _generated(5_000_000)
    start = time.perf_counter()
    boxes = mondrian(big, asked, ordered=["c0", "c1"])
    spent = time.perf_counter() - start
    print(
        f"mondrian of {big.rows} rows, {len(big.counts)} combinations: {boxes.score:.4f} {boxes.classes} {spent:.1f} s"
    )


def _beside_arx(adult: Combinations, asked: list[ModelNumbers]) -> None:
    recode(adult, asked, stop=np.ones(1, np.int64))
    start = time.perf_counter()
    found = recode(adult, asked)
    print(f"local recoding  ours {found.score:.4f} {found.classes} {time.perf_counter() - start:.1f} s")
    print(f"                ARX  {ARX[0]:.4f} {ARX[1]} {ARX[2]:.1f} s")
    for relaxed in (False, True):
        start = time.perf_counter()
        boxes = mondrian(adult, asked, ordered=["age"], relaxed=relaxed)
        print(
            f"mondrian adult, relaxed={relaxed}: {boxes.score:.4f} {boxes.classes} {time.perf_counter() - start:.1f} s"
        )


if __name__ == "__main__":
    main()
