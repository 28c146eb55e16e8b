"""AIM and MST on Adult beside OpenDP's own AIM: average total variation of all pairs of columns, and time.

How to read it: the same rows, the same cells (15 columns; numbers in 32 bins between bounds that somebody who knows
the table would call public), the same rho, which follows from epsilon and delta = 1e-9, one row added or removed. The
distance is between the table and the rows drawn from each model, over the 105 pairs. OpenDP is asked for the same
workload, all pairs (`queries=2`); its other settings are its own. It compiles a program for each new set of columns, so
that a run of it takes long: `--columns 8` or `--rounds 30` shorten it (OpenDP's rounds alone; ours do without).

Run `ZIGGURAT_DATA=... python bench/synthesize_private.py --peer PYTHON`, where PYTHON is an interpreter that has
OpenDP with mbi, which pins other versions than ours: python -m venv od && od/bin/pip install 'opendp[mbi]' pandas,
then --peer od/bin/python. Without it ours alone are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Table, read
from ziggurat.privacy import compose
from ziggurat.synthesize import AIM, MST

DELTA = "1e-9"
MANY = 1_000_000
BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
}
# Those kept by --columns come first.
ORDER = ["age", "education", "marital_status", "occupation", "sex", "hours_per_week", "income", "race", "relationship"]

PEER = """
import itertools, json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, polars as pl, opendp.prelude as dp
dp.enable_features("contrib")
data, facts = dict(np.load(sys.argv[1])), json.loads(sys.argv[2])
frame = pl.DataFrame({name: codes.astype(np.int64) for name, codes in data.items()}).lazy()
rho = facts["rho"]
context = dp.Context.compositor(
    data=frame, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=rho)
)
start = time.perf_counter()
keys = {name: list(range(size)) for name, size in facts["sizes"].items()}
algorithm = dp.mbi.AIM(queries=2, rounds=facts["rounds"])
table = context.query(rho=rho).contingency_table(keys=keys, algorithm=algorithm).release()
spent = time.perf_counter() - start
rows = table.synthesize()
drawn = {name: rows[name].fill_null(size).to_numpy().astype(np.int64) for name, size in facts["sizes"].items()}
np.savez(sys.argv[3], **drawn)
# Its rows are further from the table than its model is, so both are told.
far = []
for a, b in itertools.combinations(facts["sizes"], 2):
    model = np.asarray(table.project((a, b)))
    exact = np.zeros(model.shape)
    np.add.at(exact, (data[a], data[b]), 1)
    far.append(np.abs(exact / exact.sum() - model / model.sum()).sum() / 2)
print(json.dumps([spent, float(np.mean(far))]))
"""

Codes = Mapping[str, Any]


def _table(columns: int | None) -> Table:
    path = Path(os.environ["ZIGGURAT_DATA"]) / "adult_uci.parquet"
    rows = duckdb.sql(f"SELECT * EXCLUDE (split) FROM '{path}'").to_arrow_table()
    rest = [name for name in rows.column_names if name not in ORDER]
    rows = rows.select([*ORDER, *rest][:columns])
    return read(rows, Schema(tuple(_column(name, rows) for name in rows.column_names)))


def _column(name: str, rows: pa.Table) -> Column:
    if name in BOUNDS:
        return Column(name, Kind.INTEGER, bounds=Bounds(*BOUNDS[name]))
    return Column(name, Kind.CATEGORY, categories=Categories(tuple(sorted(set(rows[name].to_pylist())))))


def _distance(one: Codes, other: Codes, sizes: Mapping[str, int]) -> float:
    """The mean total variation of all pairs; a code beyond the sizes is one more cell."""
    found = []
    for a, b in combinations(sizes, 2):
        width, cells = sizes[b] + 1, (sizes[a] + 1) * (sizes[b] + 1)
        shares = [np.bincount(each[a] * width + each[b], minlength=cells) / each[a].size for each in (one, other)]
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))


def _peer(
    python: str, codes: Codes, sizes: Mapping[str, int], rho: float, rounds: int | None
) -> tuple[Codes, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given.npz", Path(folder) / "made.npz"
        np.savez(given, **codes)
        facts = json.dumps({"rho": rho, "sizes": sizes, "rounds": rounds})
        told = subprocess.run(
            [python, "-c", PEER, str(given), facts, str(made)], check=True, stdout=subprocess.PIPE, text=True
        )
        return dict(np.load(made)), json.loads(told.stdout.splitlines()[-1])


def _ours(table: Table, raw: pa.Table, epsilon: str, make: Any, seed: int) -> Any:
    """Fit and draw once; say how far the rows are from the table, and many rows, which stand for the model."""
    model = make(epsilon, DELTA, random_state=seed)
    start = time.perf_counter()
    model.fit(table)
    spent = time.perf_counter() - start
    sizes = {axis.name: axis.size for axis in model.axes_}
    codes, made, many = (
        {axis.name: axis.codes(each[axis.name]) for axis in model.axes_}
        for each in (raw, model.sample(random_state=seed), model.sample(MANY, random_state=seed))
    )
    rows, far = (_distance(codes, each, sizes) for each in (made, many))
    _show(epsilon, f"ziggurat {make.__name__}, {len(model.measurements_)} tables", rows, far, spent)
    return codes, model.axes_


def _show(epsilon: str, who: str, rows: float, model: float, spent: float) -> None:
    print(f"epsilon {epsilon:>4}: total variation of rows {rows:.4f}, of the model {model:.4f}, {spent:7.1f} s: {who}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--peer", help="an interpreter that has opendp[mbi]")
    options.add_argument("--columns", type=int, help="how many columns, by default all 15")
    options.add_argument("--rounds", type=int, help="the rounds of OpenDP's AIM, by default its own choice")
    options.add_argument("--epsilons", nargs="+", default=["0.1", "1", "10"])
    options.add_argument("--seeds", type=int, default=1)
    given = options.parse_args()
    table = _table(given.columns)
    raw = table.raw.rows()
    for epsilon in given.epsilons:
        for make, seed in product((AIM, MST), range(given.seeds)):
            codes, axes = _ours(table, raw, epsilon, make, seed)
        if given.peer:
            rho = float(compose(AIM(epsilon, DELTA).planned(table.schema)).zcdp().rho)
            values = {axis.name: axis.values for axis in axes}  # OpenDP adds a cell for what is missing by itself
            theirs, (spent, far) = _peer(given.peer, codes, values, rho, given.rounds)
            _show(epsilon, "OpenDP AIM", _distance(codes, theirs, values), far, spent)


if __name__ == "__main__":
    main()
