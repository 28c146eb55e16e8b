"""How much of one unit counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ziggurat.errors import QuestionError
from ziggurat.queries._question import Measure, Question
from ziggurat.queries._terms import Terms


@dataclass(frozen=True)
class Contribution:
    """The most that one unit adds: `rows` in one group, in `groups` groups, `total` rows in all.

    `bounding` says whether the engine has to enforce it; otherwise it holds for every table.
    """

    rows: int
    groups: int
    total: int
    bounding: bool

    def l1(self, largest: int, once: bool = False) -> int:
        """How far one unit moves all groups together, in l1, if one row moves one group by at most `largest`.

        With `once` it is the unit that moves a group by that much, however many rows it has there.
        """
        return largest * (self.groups if once else self.total)

    def l2(self, largest: int, once: bool = False) -> Fraction:
        """The same in l2, rounded up: sum of r_g^2 <= rows * total, as r_g <= rows and sum of r_g <= total."""
        square = self.groups if once else self.rows * self.total
        root = math.isqrt(square)
        if root * root == square:
            return Fraction(largest * root)
        return largest * Fraction(math.isqrt(square << 40) + 1, 1 << 20)


def contribution(question: Question, terms: Terms) -> Contribution:
    """Give what one unit can contribute to a question, or say what has to be stated."""
    proven = question.relation.rows_per_unit
    counts_units = any(each.measure is Measure.COUNT_UNITS for each in question.aggregates)
    if counts_units and question.relation.unit_column is None and proven != 1:
        raise QuestionError("Rows that meet several public rows cannot be told apart again; count them with COUNT(*).")
    if proven is not None:
        return Contribution(proven, proven if question.keys else 1, proven, bounding=False)
    units_only = all(each.measure is Measure.COUNT_UNITS for each in question.aggregates)
    if units_only and not question.keys:
        return Contribution(1, 1, 1, bounding=False)
    rows = 1 if units_only else _require_stated(terms.rows_per_unit, question, "rows", "rows_per_unit")
    groups = _require_stated(terms.groups_per_unit, question, "groups", "groups_per_unit") if question.keys else 1
    return Contribution(rows, groups, rows * groups, bounding=True)


def _require_stated(limit: int | None, question: Question, what: str, option: str) -> int:
    if limit is None:
        where = "in how many groups one may count" if what == "groups" else "how many of them count"
        raise QuestionError(
            f"One {question.relation.unit.name} may have any number of rows; state {where} ({option}=1, say, or "
            f"--{option.replace('_', '-')} 1 on the command line)."
        )
    return limit
