"""The risk that people in a table are re-identified, from how many of them share each combination of cells.

Three attackers (El Emam, "Guide to the De-Identification of Personal Health Information", 2013): the prosecutor knows
that a person is in the table, the journalist does not and would be content with anybody, the marketer wants as many as
possible. A person whom f people of the table, and F people of the population, are like is found with probability 1/f
by the prosecutor and 1/F by the journalist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._finding import fraction
from ziggurat.attacks.tables._classes import choose_columns, read_groups
from ziggurat.attacks.tables._matching import hierarchies_for, match
from ziggurat.attacks.tables._population import PopulationUniques, expected_inverse_sizes, population_uniques
from ziggurat.data import Hierarchy, Table, open_table
from ziggurat.data.coded import CodedTable
from ziggurat.findings import Finding
from ziggurat.wording import count_noun

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Reidentification:
    """How likely people are re-identified by one kind of attacker.

    Attributes
    ----------
    average, highest
        The mean over all rows, and the largest.
    above
        The share of rows whose risk is above the threshold.
    basis
        What the figures rest on: "table", "population" (a table of it) or "estimate" (from the sampling fraction).
    """

    average: float
    highest: float
    above: float
    basis: str


@dataclass(frozen=True)
class RiskReport(Finding):
    """How exposed the people in a table are.

    Attributes
    ----------
    quasi_identifiers
        What attackers are taken to know.
    rows, classes, uniques
        How many people, how many different combinations, and how many people who share theirs with nobody.
    sizes
        How many classes have which size.
    threshold
        Which risk counts as high.
    prosecutor, journalist
        Their risks. Without a population table or a sampling fraction the journalist is as strong as the prosecutor,
        which is the worst case.
    marketer
        The share of all rows that an attacker who links everybody is expected to re-identify.
    population_uniques
        The estimated number of people unique in the population, if the sampling fraction is known.
    beyond_population
        Rows of classes that the population table holds fewer of than the table itself; they count with the table's.
    """

    quasi_identifiers: tuple[str, ...]
    rows: int
    classes: int
    uniques: int
    sizes: Mapping[int, int]
    threshold: float
    prosecutor: Reidentification
    journalist: Reidentification
    marketer: float
    population_uniques: PopulationUniques | None
    beyond_population: int

    @property
    def unique_share(self) -> float:
        """The share of people who share their combination with nobody."""
        return self.uniques / self.rows

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        known = "this column" if len(self.quasi_identifiers) == 1 else f"these {len(self.quasi_identifiers)} columns"
        text = (
            f"Who knows {known} of a person finds exactly one row for {self.uniques:,} of "
            f"{count_noun(self.rows, 'person', 'people')} ({self.unique_share:.1%}), and would name the right row for "
            f"{self.prosecutor.average:.1%} of all on average; {self.prosecutor.above:.1%} bear a risk above "
            f"{self.threshold:g}."
        )
        estimate = self.population_uniques
        if estimate is None:
            return text
        return f"{text} About {estimate.expected:,.0f} people ({estimate.share:.1%}) are unique in the population."

    @property
    def table(self) -> pa.Table:
        """The figures, one a line."""
        lines = list(self.figures().items())
        return pa.table({"figure": [name for name, _ in lines], "value": [value for _, value in lines]})

    def figures(self) -> dict[str, float]:
        """Return the figures by what they are called in reports; shares and risks between 0 and 1."""
        found = {
            "rows": float(self.rows),
            "classes": float(self.classes),
            "smallest class": float(min(self.sizes)),
            "average class": self.rows / self.classes,
            "sample uniques": float(self.uniques),
            "share of sample uniques": self.unique_share,
            "prosecutor risk, average": self.prosecutor.average,
            "prosecutor risk, highest": self.prosecutor.highest,
            f"rows with prosecutor risk above {self.threshold:g}": self.prosecutor.above,
            "journalist risk, average": self.journalist.average,
            "journalist risk, highest": self.journalist.highest,
            "marketer risk": self.marketer,
        }
        estimate = self.population_uniques
        if estimate is not None:
            found["population uniques, estimated"] = estimate.expected
            found["share of population uniques, estimated"] = estimate.share
        return found


def risk(
    table: Table | pa.Table,
    quasi_identifiers: Iterable[str] | None = None,
    *,
    threshold: float = 0.2,
    population: Table | pa.Table | None = None,
    sampling_fraction: float | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> RiskReport:
    """Measure how exposed the people in a table are; the table is read by one grouped count in its engine.

    It says how many rows look alike, not what can be learned from those that do: see `homogeneity`. It promises
    nothing about attackers who know more than the columns named.

    Parameters
    ----------
    table
        The table, raw or released; each row one person.
    quasi_identifiers
        What attackers know of a person; by default the columns with that role. Missing cells count as a value of
        their own.
    threshold
        Which risk counts as high: 0.2 is the risk in a class of five.
    population
        A table of the population with the same columns; the journalist's and the marketer's risk then rest on it.
    sampling_fraction
        The share of the population that the table holds; then these risks and the uniques of the population are
        estimated.
    hierarchies
        For generalised columns of the table, when the population's are raw.
    """
    held = open_table(table)
    names = choose_columns(held, quasi_identifiers)
    combinations = read_groups(held, names)
    if population is None:
        return risk_of(combinations, threshold=threshold, sampling_fraction=sampling_fraction)
    others = open_table(population)
    everyone = read_groups(others, choose_columns(others, names))
    pairs = match(everyone, combinations, names, hierarchies_for(held, names, hierarchies))
    weights = everyone.counts[pairs.known].astype(float)
    sizes = np.bincount(pairs.released, weights=weights, minlength=combinations.counts.size).astype(np.int64)
    sizes[pairs.suppressed] = everyone.rows
    return risk_of(combinations, threshold=threshold, sampling_fraction=sampling_fraction, population_sizes=sizes)


def risk_of(
    combinations: CodedTable,
    *,
    threshold: float = 0.2,
    sampling_fraction: float | None = None,
    population_sizes: Numbers | None = None,
) -> RiskReport:
    """Measure the risk of combinations that were counted already, see `risk`."""
    limit = fraction(threshold, "The threshold")
    counts = combinations.counts
    size, number = np.unique(counts, return_counts=True)
    sizes = {int(each): int(many) for each, many in zip(size, number, strict=True)}
    prosecutor = _reidentification(counts, 1 / counts, limit, "table")
    journalist, beyond = prosecutor, 0
    if population_sizes is not None:
        beyond = int(counts[population_sizes < counts].sum())
        journalist = _reidentification(counts, 1 / np.maximum(population_sizes, counts), limit, "population")
    elif sampling_fraction is not None:
        share = fraction(sampling_fraction, "The sampling fraction")
        inverse = expected_inverse_sizes(sizes, share)[np.searchsorted(size, counts)]
        journalist = _reidentification(counts, inverse, limit, "estimate")
    return RiskReport(
        quasi_identifiers=combinations.names,
        rows=combinations.rows,
        classes=counts.size,
        uniques=sizes.get(1, 0),
        sizes=sizes,
        threshold=limit,
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=journalist.average,
        population_uniques=None if sampling_fraction is None else population_uniques(sizes, sampling_fraction),
        beyond_population=beyond,
    )


def _reidentification(counts: Numbers, each: npt.NDArray[np.float64], threshold: float, basis: str) -> Reidentification:
    rows = int(counts.sum())
    above = int(counts[each > threshold].sum()) / rows
    return Reidentification(float(counts @ each) / rows, float(each.max()), above, basis)
