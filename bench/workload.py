"""Workloads answered together beside one by one: the ratio of their errors, expected and measured in the same run.

Run `ZIGGURAT_DATA=... python bench/workload.py`, or `--quick` for fewer repetitions.
"""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction

import numpy as np
import pyarrow as pa

from ziggurat.data import Bounds, Column, Kind, Schema, Table
from ziggurat.data.datasets import load, schema
from ziggurat.data.engines import DuckDBEngine
from ziggurat.mechanisms import AdditiveNoise, Gaussian, Laplace
from ziggurat.queries.workloads._plan import WorkloadPlan, most_queries
from ziggurat.queries.workloads._workload import Workload
from ziggurat.randomness import Source, seeded

Options = dict[str, object]
LEVEL = Fraction(95, 100)


def _adult() -> tuple[Workload, Table]:
    engine, known = DuckDBEngine(), schema("adult_uci")
    table = Table(engine, engine.attach(load("adult_uci", progress=False)), known)
    columns = [name for name in known.names if name not in ("fnlwgt", "split")]
    return Workload(known, bins={"capital_gain": 32, "capital_loss": 32}).marginals(2, columns), table


def _ranges() -> tuple[Workload, Table]:
    engine, known = DuckDBEngine(), Schema((Column("x", Kind.INTEGER, bounds=Bounds(0, 1023)),))
    values = np.clip(np.random.default_rng(1).normal(500, 200, 100_000), 0, 1023).astype(np.int64)
    return Workload(known).all_ranges("x"), Table(engine, engine.attach(pa.table({"x": values})), known)


def _alone(plan: WorkloadPlan, options: Options) -> AdditiveNoise:
    """The noise of every query if each is asked on its own."""
    sizes = {name: int(places[-1]) + 1 for name, places in plan._maps.items()}
    queries = most_queries(plan._groups, sizes)
    if "delta" in options:
        base = Gaussian.calibrated(options["epsilon"], options["delta"], values="integers", coordinates=1)  # type: ignore[arg-type]
        return Gaussian(1, base.sigma * Fraction(math.sqrt(queries)), values="integers", coordinates=1)
    return Laplace.calibrated(options["epsilon"], queries, values="integers", coordinates=queries)  # type: ignore[arg-type]


def _measured(plan: WorkloadPlan, table: Table, runs: int, source: Source) -> float:
    """The root mean squared error over several draws of the noise; the exact answers come from the same estimator."""
    counts, _ = plan._counted(table, source)
    zero = [np.zeros_like(each) for each in counts]
    squares = [
        np.mean(np.concatenate([group.value for group in plan._released(zero, source, LEVEL, False)]) ** 2)
        for _ in range(runs)
    ]
    return math.sqrt(float(np.mean(squares)))


def _row(name: str, made: tuple[Workload, Table], options: Options, runs: int) -> None:
    workload, table = made
    source = seeded("bench")
    start = time.perf_counter()
    plan = workload.plan(table.unit, **options)  # type: ignore[arg-type]
    planned = time.perf_counter()
    plan.run(table, source)
    ran = time.perf_counter()
    together = _measured(plan, table, runs, source)
    alone = np.asarray(
        _alone(plan, options).release(np.zeros(len(workload), dtype=np.int64), source).value, dtype=float
    )
    one_by_one = math.sqrt(float(np.mean(alone**2)))
    print(
        f"{name:34}{len(workload):>9,}{plan.expected_error:>11.1f}{together:>11.1f}{one_by_one:>13.1f}"
        f"{one_by_one / together:>11.2f}x{planned - start:>8.1f} s{ran - planned:>7.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 draws of the noise instead of 100")
    runs = 10 if parser.parse_args().quick else 100
    print(f"{'':34}{'':>9}{'together':>22}{'one by one':>13}")
    print(f"{'':34}{'queries':>9}{'expected':>11}{'measured':>11}{'measured':>13}{'ratio':>12}{'plan':>10}{'run':>9}")
    settings: list[tuple[str, Options]] = [
        ("Laplace, epsilon 1", {"epsilon": 1}),
        ("Gaussian, 1 and 1e-6", {"epsilon": 1, "delta": "1e-6"}),
    ]
    for title, made in (("Adult, 2-way", _adult()), ("all ranges", _ranges())):
        for noise, options in settings:
            _row(f"{title}, {noise}", made, options, runs)


if __name__ == "__main__":
    main()
