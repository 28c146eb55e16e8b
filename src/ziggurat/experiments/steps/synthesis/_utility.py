"""`synthesis-utility` and `synthesis-time`: what synthetic copies of samples are worth, and how long they take."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.synthesis._people import Places

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.synthesize import Synthetic

Floats = npt.NDArray[np.float64]
Missing = Mapping[str, Sequence[float]]

KINDS = ("partially", "fully")
CELLS = 20
_HALF_A_ROW = 0.5  # in every cell, so that no divergence is infinite (Krichevsky and Trofimov)


@step("synthesis-utility")
def synthesis_utility(
    population: pa.Table,
    chosen: Places,
    *,
    method: str = "cart",
    kind: str = "partially",
    columns: Sequence[str] = ("income", "age"),
    partial: Mapping[str, str] | None = None,
    missing: Missing | None = None,
    copies: int = 5,
    seed: int = 0,
) -> dict[str, float]:
    """Synthesise columns of each sample, and compare their means and distributions.

    Parameters
    ----------
    population, chosen
        The people, and for each sample the numbers of its rows.
    method
        A method of `ziggurat.synthesize`.
    kind
        'partially': the columns are drawn anew where `partial` says; 'fully': everybody's other columns are known,
        and each copy is a sample of everybody with the columns drawn.
    columns
        Which columns are synthesised, in this order.
    partial
        For each column in which rows.
    missing
        Codes for missing numbers; they are synthesised, and left out of means and distributions.
    copies
        How many.

    Returns
    -------
    dict
        Means over the samples, for each column by its name: `income_original_mean` and `income_synthetic_mean`;
        `income_ratio`, of the second to the first; `income_overlap`, of the 95% intervals of both; `income_covered`,
        how often the synthetic interval holds the mean of the population; `income_kl`, 1/(1 + KL) of the population's
        distribution from a copy's in 20 cells, and `income_original_kl`, the same for the sample itself.
    """
    from ziggurat.data import read
    from ziggurat.data.engines import DuckDBEngine
    from ziggurat.threads import one_thread

    synthesis = Synthesis(method, kind, columns, partial or {}, copies, missing or {})
    yardsticks = {name: _Yardstick(population, name, (missing or {}).get(name, ())) for name in columns}
    found: list[dict[str, float]] = []
    with one_thread(), closing(DuckDBEngine()) as engine:
        everybody = read(population, engine=engine)
        for place, rows in enumerate(chosen):
            sample = population.take(rows)
            held = read(sample, engine=engine)
            made = synthesis.of(held, sample.column_names, everybody, f"{seed}/{place}")
            found.append(_judge(sample, made, yardsticks))
    return {name: fmean(each[name] for each in found) for name in found[0]}


@dataclass(frozen=True)
class Synthesis:
    """What is synthesised, and how; see `synthesis_utility`."""

    method: str
    kind: str
    columns: Sequence[str]
    partial: Mapping[str, str]
    copies: int
    missing: Missing = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ExperimentError(f"'kind' must be one of {', '.join(KINDS)}.")
        if self.kind == "partially" and set(self.partial) != set(self.columns):
            raise ExperimentError("'partial' must say for each column in which rows it is drawn anew.")

    def of(self, sample: Any, names: Sequence[str], population: Any, seed: str) -> Synthetic:
        """Return copies of a sample with columns of these names."""
        from ziggurat.synthesize import Synthesizer

        made = Synthesizer(self.method, order=list(self.columns), missing=self.missing, random_state=seed)
        if self.kind == "partially":
            made.set_params(partial=dict(self.partial))
            return made.fit(sample).sample(copies=self.copies)
        made.set_params(known=[name for name in names if name not in self.columns])
        made.fit(sample)
        return made.sample(rows=made.rows_, copies=self.copies, population=population)


class _Yardstick:
    """A column of the population: its mean, and cells cut at its quantiles."""

    def __init__(self, population: pa.Table, name: str, codes: Sequence[float]) -> None:
        self.name, self._codes = name, codes
        values = self.values(population)
        self.mean = float(values.mean())
        self._cuts = np.unique(np.quantile(values, np.arange(1, CELLS) / CELLS, method="higher"))
        self._counts = self._count(values)

    def values(self, table: pa.Table) -> Floats:
        cells = np.asarray(table[self.name].cast("float64").to_numpy(), dtype=np.float64)
        return cells[~np.isnan(cells) & ~np.isin(cells, list(self._codes))]

    def kl(self, table: pa.Table) -> float:
        from ziggurat.utility import normalized_kl

        return normalized_kl(self._counts, self._count(self.values(table)), smoothing=_HALF_A_ROW)

    def _count(self, values: Floats) -> npt.NDArray[np.int64]:
        return np.bincount(np.searchsorted(self._cuts, values, side="right"), minlength=self._cuts.size + 1)


def _judge(sample: pa.Table, made: Synthetic, yardsticks: Mapping[str, _Yardstick]) -> dict[str, float]:
    from ziggurat.utility import interval_overlap

    found: dict[str, float] = {}
    for name, known in yardsticks.items():
        values, drawn = known.values(sample), made.mean(name)
        mean, reach = float(values.mean()), NormalDist().inv_cdf(0.975) * float(values.std(ddof=1)) / len(values) ** 0.5
        figures = {
            "original_mean": mean,
            "synthetic_mean": drawn.estimate,
            "ratio": drawn.estimate / mean,
            "overlap": interval_overlap((mean - reach, mean + reach), drawn.interval),
            "covered": float(drawn.low <= known.mean <= drawn.high),
            "kl": fmean(known.kl(table) for table in made.tables),
            "original_kl": known.kl(sample),
        }
        found |= {f"{name}_{what}": value for what, value in figures.items()}
    return found


@step("synthesis-time", outputs=("seconds",))
def synthesis_time(
    population: pa.Table,
    chosen: Places,
    *,
    method: str = "cart",
    kind: str = "partially",
    columns: Sequence[str] = ("income", "age"),
    partial: Mapping[str, str] | None = None,
    copies: int = 5,
    seed: int = 0,
) -> dict[str, float]:
    """Time how long it takes to learn from the first sample and to draw copies.

    A time belongs to one machine and one moment, so this step is not pure: the store remembers what was measured first.
    One run before is not counted: in it modules are loaded and kernels compiled.

    Parameters
    ----------
    population, chosen, method, kind, columns, partial, copies
        As for `synthesis-utility`.
    """
    sample, synthesis = population.take(chosen[0]), Synthesis(method, kind, columns, partial or {}, copies)
    for _ in range(2):
        start = time.perf_counter()
        synthesis.of(sample, sample.column_names, population, str(seed))
        seconds = time.perf_counter() - start
    return {"seconds": seconds}
