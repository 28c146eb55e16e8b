"""What is provably known about a row-wise expression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from sqlglot import exp

from ziggurat.data import Kind

Constant = bool | int | float | date | str

MOST_KEYS = 100_000
"""The most groups that are known beforehand and therefore all answered, the empty ones too."""


@dataclass(frozen=True)
class Value:
    """An expression over one row that no engine can fail on, with what is known of its values whatever the data.

    Attributes
    ----------
    sql
        The expression over the columns of a `Relation`; NULL where the value is missing, and never NaN or infinite.
    kind
        What it is stored as: INTEGER (64 bits), REAL, BOOLEAN, DATE or TEXT.
    lower, upper
        Every value that is not NULL lies between them; None where no bound can be proven.
    categories
        Every value that is not NULL is one of these; None where no list can be proven.
    column
        The name of the column if this is one as it stands, so that its bounds can be learned.
    raw
        For such a column, the cell before it was moved into its bounds, so that the moved ones can be counted.
    """

    sql: exp.Expr
    kind: Kind
    lower: int | float | date | None = None
    upper: int | float | date | None = None
    categories: tuple[Constant, ...] | None = None
    column: str | None = None
    raw: exp.Expr | None = None

    @property
    def is_number(self) -> bool:
        """Whether it can be added up."""
        return self.kind in (Kind.INTEGER, Kind.REAL)

    @property
    def bounded(self) -> bool:
        """Whether both ends of its range are known."""
        return self.lower is not None and self.upper is not None

    @property
    def presence(self) -> exp.Expr:
        """What is NULL where the value is missing, and nowhere else: the cell itself, if it need not be moved first."""
        return self.sql if self.raw is None else self.raw

    def domain(self, most: int = MOST_KEYS) -> tuple[Constant, ...] | None:
        """Every value it can take, in order, or None if they are not known or more than `most`."""
        if self.kind is Kind.BOOLEAN:
            return (False, True)
        if self.categories is not None:
            return self.categories if len(self.categories) <= most else None
        if not self.bounded or self.kind not in (Kind.INTEGER, Kind.DATE):
            return None
        lower: Any = self.lower
        upper: Any = self.upper
        if self.kind is Kind.DATE:
            days = (upper - lower).days + 1
            return tuple(lower + timedelta(days=day) for day in range(days)) if days <= most else None
        return tuple(range(lower, upper + 1)) if upper - lower < most else None

    def named(self, name: str) -> Value:
        """The same value, read from a column of an enclosing query."""
        return replace(self, sql=exp.column(name, quoted=True))
