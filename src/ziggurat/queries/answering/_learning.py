"""Learning the bounds of a column privately: a noisy histogram over powers of two.

The histogram counts the rows of every bucket between neighbouring powers of two, positive and negative. The bounds
are the outer ends of the outermost buckets that are surely not empty, as in Wilson et al. (2020).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Neighbours
from ziggurat.queries._value import Value
from ziggurat.queries.answering._contribution import Contribution
from ziggurat.randomness import Source

_EMPTY = Fraction(99, 100)
_EXPONENTS = {Kind.INTEGER: range(62), Kind.REAL: range(-20, 60)}


class MagnitudeBuckets:
    """The buckets of one column, and the noise on their counts."""

    def __init__(self, value: Value, epsilon: Fraction, shared: Contribution, neighbours: Neighbours) -> None:
        if value.kind not in _EXPONENTS:
            raise QuestionError(f"Only bounds of numbers can be learned, and {value.column!r} holds none.")
        self.value = value
        steps = [Fraction(2) ** power for power in _EXPONENTS[value.kind]]
        self.edges = [-step for step in reversed(steps)] + [Fraction(0)] + steps
        self.noise = Laplace(
            shared.total, shared.total / epsilon, values="integers", coordinates=shared.total, neighbours=neighbours
        )

    @property
    def cell(self) -> exp.Expr:
        """The number of the bucket: that of the first edge which is not below the value."""
        cases = [
            exp.If(
                this=exp.LTE(this=self.value.sql.copy(), expression=_literal(edge, self.value.kind)),
                true=exp.Literal.number(place),
            )
            for place, edge in enumerate(self.edges)
        ]
        beyond = exp.Literal.number(len(self.edges))
        inside = exp.Case(ifs=cases, default=beyond)
        missing = exp.Is(this=self.value.sql.copy(), expression=exp.Null())
        return exp.Case(ifs=[exp.If(this=missing, true=exp.Null())], default=inside)

    @property
    def size(self) -> int:
        """How many buckets there are."""
        return len(self.edges) + 1

    def learn(self, counts: npt.NDArray[np.int64], source: Source) -> Value:
        """Give the value with the bounds that the noisy counts suggest, moved into them."""
        noisy = np.asarray(self.noise.release(counts, source).value)
        sure = noisy > self._limit
        if not sure.any():
            sure = noisy == noisy.max()
        places = np.flatnonzero(sure)
        last = len(self.edges) - 1
        lower, upper = self.edges[max(int(places[0]) - 1, 0)], self.edges[min(int(places[-1]), last)]
        if lower == upper:  # only the outermost bucket on the positive side was found
            lower = self.edges[max(last - 1, 0)]
        return _clamp(self.value, lower, upper)

    def found(self, confidence: Fraction) -> int:
        """How many rows a bucket must hold to be seen with this confidence."""
        return int(self._limit + float(self.noise.half_width(confidence))) + 1

    @property
    def _limit(self) -> float:
        """What empty buckets hardly ever exceed, all together."""
        return float(self.noise.half_width(_EMPTY, answers=self.size))


def placeholder(value: Value) -> Value:
    """A value with bounds of the right kind, from which the budget of a learned one can be planned.

    Around 0, a sum and a sum of deviations are the same measurement. So whatever is measured once in a run was measured
    once in the plan, and an event never tells of less than is done.
    """
    ends: tuple[int | float, int | float] = (-1, 1) if value.kind is Kind.INTEGER else (-1.0, 1.0)
    return replace(value, lower=ends[0], upper=ends[1])


def _clamp(value: Value, lower: Fraction, upper: Fraction) -> Value:
    low, high = (int(end) if value.kind is Kind.INTEGER else float(end) for end in (lower, upper))
    cell = value.sql.copy()
    moved = exp.Greatest(
        this=exp.Least(this=cell, expressions=[_literal(upper, value.kind)], ignore_nulls=True),
        expressions=[_literal(lower, value.kind)],
        ignore_nulls=True,
    )
    missing = exp.Is(this=cell.copy(), expression=exp.Null())
    inside = exp.Case(ifs=[exp.If(this=missing, true=exp.Null())], default=moved)
    return replace(value, sql=inside, lower=low, upper=high)


def _literal(edge: Fraction, kind: Kind) -> exp.Expr:
    shown, type_name = (str(int(edge)), "BIGINT") if kind is Kind.INTEGER else (repr(float(edge)), "DOUBLE")
    return exp.cast(exp.Literal.string(shown), type_name)
