"""What synthesis returns: copies of a table, and estimates from all of them with right intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from scipy import stats

from ziggurat.cards import Shown
from ziggurat.data import Condition
from ziggurat.errors import DataError, ParameterError
from ziggurat.frames import GivenAsFrame
from ziggurat.synthesize._combining import Combined, CombiningRule, combine_estimates
from ziggurat.synthesize._encoding import finite_numbers
from ziggurat.wording import count_noun

Synthesis = Literal["fully", "partially"]
Estimator = Callable[[pa.Table], tuple[float, float]]

NOT_PROMISED = (
    "No privacy is promised: a model that follows the table closely repeats people in it. "
    "Attack the copies before they leave."
)
"""What every synthetic table without a guarantee says of itself."""


@dataclass(frozen=True)
class Origin(Shown):
    """What the combining rules must know of copies: it travels with them, in memory and in their files.

    Attributes
    ----------
    kind, proper, known
        As in `Synthetic`.
    rows
        How many rows were learned from.
    marked
        Of partially synthetic copies: how many rows have cells that are drawn anew, if that is known.
    """

    kind: Synthesis
    rows: int
    marked: int | None
    proper: bool
    known: bool = False

    @property
    def rule(self) -> CombiningRule:
        """The combining rule that fits best.

        Fully synthetic copies follow the rule "simple", whose intervals are narrower with few copies; it takes for
        granted that every cell was drawn from what was learned, so copies with known columns follow the rule "fully".
        """
        return "simple" if self.kind == "fully" and not self.known else self.kind

    def count_drawn(self, size: int) -> int:
        """Return how many rows of a copy of this size were drawn from what was learned."""
        if self.kind == "fully":
            return size
        return self.rows if self.marked is None else self.marked

    def to_dict(self) -> dict[str, Any]:
        """Return the facts that stand in files; `from_dict` reads them."""
        return {
            "kind": self.kind,
            "learned_from": self.rows,
            "marked": self.marked,
            "proper": self.proper,
            "known": self.known,
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Origin | None:
        """Return what the facts of a file say; None if they do not say it."""
        kind, rows, marked = facts.get("kind"), _count(facts.get("learned_from")), _count(facts.get("marked"))
        if kind not in ("fully", "partially") or rows is None:
            return None
        return cls(kind, rows, marked, bool(facts.get("proper")), bool(facts.get("known")))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


@dataclass(frozen=True)
class Synthetic(Shown, GivenAsFrame):
    """Synthetic copies of a table.

    Not promised: privacy. How close the copies come to real people is to be measured.

    Attributes
    ----------
    tables
        The copies. Row i of a partially synthetic copy stands for row i of the table.
    kind
        "fully" or "partially" synthetic.
    rows
        How many rows were learned from; the intervals rest on it.
    proper
        Whether the copies were drawn from the posterior of the parameters, on which the intervals rest.
    rehearsal
        Whether they were drawn from a seed; then they may not be published.
    replaced
        Of a partially synthetic table: how many cells of each column were drawn anew in each copy.
    methods
        By which method each column was learned.
    missing
        Codes for missing numbers, by column; estimates leave them out.
    known
        Whether some columns were taken from a population.
    marked
        Of a partially synthetic table: how many rows have cells that are drawn anew; `rows` of them were learned from.
    """

    tables: tuple[pa.Table, ...] = field(repr=False)
    kind: Synthesis
    rows: int
    proper: bool
    rehearsal: bool
    methods: dict[str, str]
    replaced: dict[str, int] = field(default_factory=dict)
    missing: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    known: bool = False
    marked: int | None = None

    def __len__(self) -> int:
        return len(self.tables)

    def __getitem__(self, copy: int) -> pa.Table:
        return self.tables[copy]

    def to_arrow(self) -> pa.Table:
        """Return the only copy; of several, take one as `synthetic[0]` or write them all."""
        if len(self.tables) != 1:
            raise ParameterError(f"There are {len(self)} copies; take one of them, such as synthetic[0].")
        return self.tables[0]

    @property
    def sentence(self) -> str:
        """What was made, and what is not promised."""
        copies = count_noun(len(self), "copy")
        size = self.tables[0].num_rows if self.tables else 0
        what = f"{copies} of {size:,} rows, {self.kind} synthetic, learned from {self.rows:,} rows."
        if self.replaced:
            what += " Drawn anew: " + ", ".join(f"{n:,} cells of {name}" for name, n in self.replaced.items()) + "."
        seeded = " This is a rehearsal: it was drawn from a seed and may not be published." if self.rehearsal else ""
        return f"{what} {NOT_PROMISED}{seeded}"

    @property
    def rule(self) -> CombiningRule:
        """The combining rule that fits the copies best; see `Origin`."""
        return self.origin.rule

    @property
    def origin(self) -> Origin:
        """What the combining rules must know of the copies."""
        return Origin(self.kind, self.rows, self.marked, self.proper, self.known)

    def estimate(self, of: Estimator, *, rule: CombiningRule | None = None, confidence: float = 0.95) -> Combined:
        """Combine what a function computes on each copy.

        Parameters
        ----------
        of
            Takes a copy and returns an estimate and its variance, as if the copy were real.
        rule
            "fully", "partially" or "simple"; by default the one that fits best, see `rule`.
        confidence
            Of the interval.
        """
        if rule in ("fully", "partially") and not self.proper:
            raise ParameterError(
                f"These copies share their parameters, so the rule {rule!r} would be too sure; draw copies with "
                "posterior=True, or use the rule 'simple'."
            )
        found = [of(table) for table in self.tables]
        size = self.tables[0].num_rows if self.tables else 1
        return combine_estimates(
            [estimate for estimate, _ in found],
            [variance for _, variance in found],
            rule or self.rule,
            rows=self.rows,
            synthetic_rows=self.origin.count_drawn(size),
            proper=self.proper,
            confidence=confidence,
        )

    def mean(self, column: str, *, rule: CombiningRule | None = None, confidence: float = 0.95) -> Combined:
        """Return the mean of a column of numbers; missing cells do not count."""
        return self.estimate(lambda table: _mean(self._numbers(table, column)), rule=rule, confidence=confidence)

    def share(self, condition: str, *, rule: CombiningRule | None = None, confidence: float = 0.95) -> Combined:
        """Return the share of rows in which a condition such as "age < 30" holds."""

        def of(table: pa.Table) -> tuple[float, float]:
            return _mean(Condition.parse(condition, table.column_names).holds(table).astype(np.float64))

        return self.estimate(of, rule=rule, confidence=confidence)

    def quantile(
        self, column: str, level: float = 0.5, *, rule: CombiningRule | None = None, confidence: float = 0.95
    ) -> Combined:
        """Return a quantile of a column of numbers; its variance in a copy is that of Woodruff (1952)."""
        if not 0 < level < 1:
            raise ParameterError("The level of a quantile must lie between 0 and 1.")
        values = self._numbers
        return self.estimate(lambda table: _quantile(values(table, column), level), rule=rule, confidence=confidence)

    def _numbers(self, table: pa.Table, column: str) -> np.ndarray:
        if column not in table.column_names:
            raise ParameterError(
                f"There is no column {column!r}; known: {', '.join(map(repr, table.column_names[:12]))}."
            )
        cells = table.column(column)
        if not any(is_kind(cells.type) for is_kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_date)):
            raise ParameterError(f"Column {column!r} holds no numbers.")
        values = finite_numbers(cells)
        return values[~np.isnan(values) & ~np.isin(values, [float(code) for code in self.missing.get(column, ())])]


def _mean(values: np.ndarray) -> tuple[float, float]:
    if values.size < 2:
        raise DataError("An estimate needs at least 2 rows with a value in every copy.")
    return float(values.mean()), float(values.var(ddof=1) / values.size)


def _quantile(values: np.ndarray, level: float) -> tuple[float, float]:
    if values.size < 2:
        raise DataError("An estimate needs at least 2 rows with a value in every copy.")
    half = float(stats.norm.ppf(0.975)) * math.sqrt(level * (1 - level) / values.size)
    low, middle, high = np.quantile(values, [max(level - half, 0.0), level, min(level + half, 1.0)])
    return float(middle), float((high - low) / (2 * stats.norm.ppf(0.975))) ** 2
