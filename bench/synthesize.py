"""A whole table through the synthesiser: Adult beside a loop over scikit-learn, the thesis's task, five million rows.

Run `ZIGGURAT_DATA=... python bench/synthesize.py`; without the variable a table of Adult's shape is invented.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ziggurat.synthesize import Synthesizer

SIZES = (0, 9, 0, 16, 0, 7, 15, 6, 5, 2, 0, 0, 0, 42)
PRINTED = {"linear": (0.040, 0.068), "cart": (0.048, 0.533), "forest": (3.350, 103.543), "network": (0.510, 55.26)}
LARGE = 5_000_000


def adult() -> pa.Table:
    """Return the 14 columns of Adult, or columns of the same sizes."""
    if os.environ.get("ZIGGURAT_DATA"):
        table = pq.read_table(Path(os.environ["ZIGGURAT_DATA"]) / "adult_uci.parquet")
        return table.select(table.column_names[:14])
    draw = np.random.default_rng(1)
    hidden = draw.normal(size=48_842)
    columns = {}
    for place, size in enumerate(SIZES):
        values = np.round(20 * (hidden + draw.normal(size=48_842)))
        cuts = np.quantile(values, np.arange(1, max(size, 1)) / max(size, 1))
        columns[f"column {place}"] = np.searchsorted(cuts, values).astype(str) if size else values
    return pa.table(columns)


def loop(table: pa.Table, one_hot: bool) -> None:
    """Synthesise as one would by hand: fit a tree, draw from its leaves, go on to the next column."""
    draw = np.random.default_rng(1)
    real = [table.column(name).to_numpy() for name in table.column_names]
    made: list[np.ndarray] = []
    for place, target in enumerate(real):
        if place == 0:
            made.append(draw.choice(target, len(target)))
            continue
        shapes = [shape(column, one_hot) for column in real[:place]]
        given = np.hstack([each(column) for each, column in zip(shapes, real, strict=False)])
        drawn = np.hstack([each(column) for each, column in zip(shapes, made, strict=True)])
        kind = DecisionTreeRegressor if target.dtype.kind in "if" else DecisionTreeClassifier
        tree = kind(min_samples_leaf=5).fit(given, target)
        leaf, where = tree.apply(given), tree.apply(drawn)
        order = np.argsort(leaf, kind="stable")
        names, first, counts = np.unique(leaf[order], return_index=True, return_counts=True)
        at = np.searchsorted(names, where)
        made.append(target[order[first[at] + (draw.random(len(where)) * counts[at]).astype(int)]])


def shape(column: np.ndarray, one_hot: bool):
    if column.dtype.kind in "if":
        return lambda cells: np.asarray(cells, np.float32).reshape(-1, 1)
    if not one_hot:
        labels = np.unique(column)
        return lambda cells: np.searchsorted(labels, cells).astype(np.float32).reshape(-1, 1)
    coder = OneHotEncoder(sparse_output=False, dtype=np.float32).fit(column.reshape(-1, 1))
    return lambda cells: coder.transform(cells.reshape(-1, 1))


def ours(table: pa.Table) -> None:
    Synthesizer(order="table").fit(table).sample()


def thesis(table: pa.Table, method: str, kind: str) -> None:
    """Five copies of two columns of 3,000 rows, the other eight given."""
    names = table.column_names
    two = [names[2], names[0]]
    if kind == "partially":
        limits = {name: float(np.quantile(table[name].to_numpy(), 0.9)) for name in two}
        partial = {name: f'"{name}" > {limit}' for name, limit in limits.items()}
        Synthesizer(method, partial=partial).fit(table).sample(copies=5)
        return
    known = [name for name in names if name not in two]
    made = Synthesizer(method, known=known, order=two).fit(table)
    made.sample(3000, copies=5, population=table.select(known))


def seconds(work, *arguments) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def written(rows: int, path: Path) -> None:
    duckdb.sql(
        "SELECT (random() * 90)::INT AS age, CASE WHEN random() < .5 THEN 'f' ELSE 'm' END AS sex, "
        "'region ' || (random() * 30)::INT AS region, round(exp(9 + random() * 3)) AS income, "
        "'job ' || (random() * random() * 40)::INT AS job, DATE '1990-01-01' + (random() * 9000)::INT AS visit "
        f"FROM range({rows})"
    ).write_parquet(str(path))


def large(real: str) -> None:
    """Learn a file, write a synthetic one as long, and print the memory that took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    fitted = Synthesizer().fit(real)
    middle = time.perf_counter()
    fitted.write(Path(real).with_name("made.parquet"))
    end = time.perf_counter()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{fitted.rows_:,} rows: learned in {middle - start:.1f} s, written in {end - middle:.1f} s, "
        f"{after / 2**20:.2f} GiB at most ({before / 2**20:.2f} before the first row)"
    )


def main() -> None:
    """Print seconds and ratios; compiling, which is done once for a machine, is not counted."""
    table = adult()
    ours(table.slice(0, 500))
    mine = min(seconds(ours, table) for _ in range(3))
    plain, wide = seconds(loop, table, False), seconds(loop, table, True)
    print(f"{table.num_columns} columns, {table.num_rows:,} rows by trees: ours {mine:.2f} s")
    print(f"  scikit-learn loop, categories as numbers: {plain:.2f} s, {plain / mine:.1f} times ours")
    print(f"  scikit-learn loop, one-hot:               {wide:.2f} s, {wide / mine:.1f} times ours")
    few = table.slice(0, 3000).select(table.column_names[:10])
    for method, printed in PRINTED.items():
        for kind, theirs in zip(("partially", "fully"), printed, strict=True):
            thesis(few, method, kind)
            took = min(seconds(thesis, few, method, kind) for _ in range(3))
            print(
                f"5 copies, {kind} by {method}: {took:.2f} s (the thesis: {theirs} s, {theirs / took:.1f} times ours)"
            )
    for rows in (LARGE // 10, LARGE):
        with tempfile.TemporaryDirectory() as folder:
            real = Path(folder) / "real.parquet"
            written(rows, real)
            subprocess.run([sys.executable, __file__, str(real)], check=True)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        large(sys.argv[1])
    else:
        main()
