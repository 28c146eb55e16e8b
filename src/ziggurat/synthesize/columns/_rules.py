"""Rules that every synthetic row keeps: `birth <= visit`, or `age < 18 -> marital = 'single'`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Condition
from ziggurat.data.coded import Reals
from ziggurat.data.engines import Engine
from ziggurat.errors import DataError, ParameterError
from ziggurat.synthesize._encoding import ColumnCoding
from ziggurat.synthesize._method import Codes

_ARROW = "->"


@dataclass(frozen=True)
class RowRule:
    """What holds for every row: a condition, or a condition wherever another one holds.

    A missing cell breaks no rule.

    Parameters
    ----------
    text
        As it was written.
    then
        What must hold.
    when
        Where it must; None stands for everywhere.
    """

    text: str
    then: Condition
    when: Condition | None = None

    @classmethod
    def parse(cls, text: str, known: Sequence[str]) -> RowRule:
        """Read a rule about columns whose names are `known`."""
        if not isinstance(text, str):
            raise ParameterError('A rule is text such as "birth <= visit" or "age < 18 -> marital = \'single\'".')
        parts = text.split(_ARROW)
        if len(parts) > 2:
            raise ParameterError(f"The rule {text!r} may hold one '->'; write two rules.")
        conditions = [Condition.parse(part, known) for part in parts]
        return cls(text.strip(), conditions[-1], conditions[0] if len(conditions) == 2 else None)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it is about."""
        return frozenset(self.then.columns) | frozenset(self.when.columns if self.when else ())

    @property
    def sets(self) -> tuple[str, object] | None:
        """The column that the rule fixes, and to which value, where it reads `... -> column = value`."""
        stated = self.then.expression.unnest()
        if self.when is None or not isinstance(stated, exp.EQ) or not isinstance(stated.left, exp.Column):
            return None
        value = _constant(stated.right)
        if value is None or stated.left.name in self.when.columns:
            return None
        return stated.left.name, value

    def applies(self, rows: pa.Table, engine: Engine | None = None) -> np.ndarray:
        """Return for each row whether the rule says something about it."""
        return np.ones(rows.num_rows, np.bool_) if self.when is None else self.when.holds(rows, engine=engine)

    def broken(self, rows: pa.Table, engine: Engine | None = None) -> np.ndarray:
        """Return for each row whether it breaks the rule."""
        return self.applies(rows, engine) & ~self.then.holds(rows, unknown=True, engine=engine)


def check_rules(
    texts: Iterable[str], known: Sequence[str], rows: pa.Table, engine: Engine | None = None
) -> tuple[RowRule, ...]:
    """Read rules, and refuse those that the table itself does not keep."""
    if isinstance(texts, str):
        raise ParameterError("Give rules as a list of texts.")
    rules = tuple(RowRule.parse(text, known) for text in texts)
    for rule in rules:
        wrong = int(rule.broken(rows.select(sorted(rule.columns)), engine).sum())
        if wrong:
            raise DataError(
                f"The rule {rule.text!r} contradicts the table: {wrong:,} of {rows.num_rows:,} rows break it; "
                "correct these rows, or change the rule."
            )
    return rules


def set_where(
    rule: RowRule, made: ColumnCoding, applies: np.ndarray, codes: Codes, values: Reals | None
) -> tuple[Codes, Reals | None]:
    """Return drawn cells with those fixed that the rule fixes."""
    fixed = rule.sets
    assert fixed is not None
    code, number = made.value(fixed[1])
    return np.where(applies, np.int32(code), codes), None if values is None else np.where(applies, number, values)


def _constant(node: exp.Expr) -> object:
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Neg):
        inner = _constant(node.this)
        return -inner if isinstance(inner, int | float) else None
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return str(node.this)
    number = float(node.this)
    return int(number) if number.is_integer() else number
