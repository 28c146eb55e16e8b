"""Conditions about one row, as people write them: `age < 18`, `birth <= visit`, `income > 70000 AND sex = 'f'`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import sqlglot
from sqlglot import errors, exp

from ziggurat.data.engines import DuckDBEngine, Engine
from ziggurat.errors import DataError, EngineError, ParameterError
from ziggurat.wording import nearest

Truths = npt.NDArray[np.bool_]

_ALLOWED = (
    exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.Null,
    exp.Between, exp.In, exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Neg, exp.Add, exp.Sub, exp.Mul,
)  # fmt: skip
_ABOUT_TRUTH = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Is,
    exp.Between,
    exp.In,
)
_PLACE = "ziggurat place"


@dataclass(frozen=True)
class Condition:
    """What may hold for a row: comparisons of columns and constants, joined by AND, OR and NOT.

    As in SQL, a comparison with a missing cell is neither true nor false. Names with other signs than letters, digits
    and underscores stand in double quotes, text and dates in single ones. Make one with `Condition.parse`.

    Attributes
    ----------
    text
        As it was written.
    columns
        The columns that it is about.
    expression
        The same for a query.
    """

    text: str
    columns: tuple[str, ...]
    expression: exp.Expr = field(compare=False, repr=False)

    @classmethod
    def parse(cls, text: str, known: Iterable[str]) -> Condition:
        """Read a condition about columns whose names are `known`; ParameterError says what is wrong with it."""
        names = {name.lower(): name for name in known}
        parsed = _parse(text)
        for node in parsed.walk():
            if not isinstance(node, _ALLOWED):
                raise ParameterError(
                    f"The condition {text!r} may hold only columns, constants, comparisons, IN, BETWEEN, IS NULL, "
                    "+, -, *, AND, OR and NOT."
                )
            if isinstance(node, exp.Column) and node.name.lower() not in names:
                raise ParameterError(
                    f"The condition {text!r} names {node.name!r}, which is no column; "
                    f"{nearest(node.name, names.values())}"
                )
        named = parsed.transform(lambda node: _name_columns(node, names))
        columns = tuple(dict.fromkeys(each.name for each in named.find_all(exp.Column)))
        if not isinstance(named.unnest(), _ABOUT_TRUTH) or not columns:
            raise ParameterError(f"The condition {text!r} must compare a column with something.")
        return cls(text.strip(), columns, named)

    def holds(self, rows: pa.Table, *, unknown: bool = False, engine: Engine | None = None) -> Truths:
        """Return for each row whether the condition holds; `unknown` is what a missing cell makes of it.

        Parameters
        ----------
        rows
            A table in memory with the columns of the condition.
        unknown
            The answer where a missing cell leaves it open.
        engine
            Where to ask; by default DuckDB for this question alone.
        """
        found = np.full(rows.num_rows, unknown)
        asked = rows.select(self.columns).append_column(_PLACE, pa.array(np.arange(rows.num_rows)))
        used = engine or DuckDBEngine()
        lent = used.lend(asked)
        try:
            place = exp.column(_PLACE, quoted=True)
            answer = used.query(exp.select(place, self.expression.as_("held")).from_(lent))
        except EngineError:
            raise DataError(
                f"The condition {self.text!r} compares values of different kinds; put quotes around text and dates, "
                "and none around numbers."
            ) from None
        finally:
            used.take_back(lent)
            if engine is None:
                used.close()
        held = answer.column("held").fill_null(unknown)
        found[answer.column(_PLACE).to_numpy()] = held.to_numpy()
        return found


def _parse(text: str) -> exp.Expr:
    if not isinstance(text, str) or not text.strip():
        raise ParameterError('A condition is text such as "income > 70000".')
    try:
        found = sqlglot.parse(text, read="duckdb")
    except errors.SqlglotError:
        found = []
    if len(found) != 1 or found[0] is None:
        raise ParameterError(
            f"The condition {text!r} cannot be read; write it like \"income > 70000 AND sex = 'f'\", with double "
            "quotes around names that hold other signs than letters, digits and underscores."
        )
    return found[0]


def _name_columns(node: exp.Expr, names: dict[str, str]) -> exp.Expr:
    return exp.column(names[node.name.lower()], quoted=True) if isinstance(node, exp.Column) else node
