"""Expressions in Python: a thin, typed way to write SQL over columns."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from sqlglot import exp

from ziggurat.errors import QuestionError
from ziggurat.queries._value import Constant
from ziggurat.queries.language.expressions import only, read_select


class Expression:
    """Something computed from one row, to be built with operators: `column("age") > 30`.

    Operators and methods mean what SQL means by them; `&`, `|` and `~` are AND, OR and NOT.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tree: exp.Expr) -> None:
        self._tree = tree

    def sql(self) -> str:
        """Return the expression as SQL."""
        return self._tree.sql(dialect="duckdb")

    def __repr__(self) -> str:
        return f"<Expression {self.sql()}>"

    def __bool__(self) -> bool:
        raise QuestionError("An expression is neither true nor false; join conditions with &, | and ~.")

    def __add__(self, other: Operand) -> Expression:
        return self._with(exp.Add, other)

    def __sub__(self, other: Operand) -> Expression:
        return self._with(exp.Sub, other)

    def __mul__(self, other: Operand) -> Expression:
        return self._with(exp.Mul, other)

    def __truediv__(self, other: Operand) -> Expression:
        return self._with(exp.Div, other)

    def __mod__(self, other: Operand) -> Expression:
        return self._with(exp.Mod, other)

    def __pow__(self, other: Operand) -> Expression:
        return self._call("POWER", other)

    def __radd__(self, other: Constant) -> Expression:
        return wrap(other)._with(exp.Add, self)

    def __rsub__(self, other: Constant) -> Expression:
        return wrap(other)._with(exp.Sub, self)

    def __rmul__(self, other: Constant) -> Expression:
        return wrap(other)._with(exp.Mul, self)

    def __rtruediv__(self, other: Constant) -> Expression:
        return wrap(other)._with(exp.Div, self)

    def __neg__(self) -> Expression:
        return Expression(exp.Neg(this=self._operand()))

    def __lt__(self, other: Operand) -> Expression:
        return self._with(exp.LT, other)

    def __le__(self, other: Operand) -> Expression:
        return self._with(exp.LTE, other)

    def __gt__(self, other: Operand) -> Expression:
        return self._with(exp.GT, other)

    def __ge__(self, other: Operand) -> Expression:
        return self._with(exp.GTE, other)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return self._with(exp.EQ, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return self._with(exp.NEQ, other)  # type: ignore[arg-type]

    def __and__(self, other: Expression) -> Expression:
        return self._with(exp.And, other)

    def __or__(self, other: Expression) -> Expression:
        return self._with(exp.Or, other)

    def __invert__(self) -> Expression:
        return Expression(exp.Not(this=self._operand()))

    def between(self, low: Operand, high: Operand) -> Expression:
        """Return whether it lies between two values, both included."""
        ends = {"low": wrap(low)._operand(), "high": wrap(high)._operand()}
        return Expression(exp.Between(this=self._operand(), **ends))

    def is_in(self, values: Iterable[Constant]) -> Expression:
        """Return whether it is one of a list of constants."""
        return Expression(exp.In(this=self._operand(), expressions=[wrap(each)._tree for each in values]))

    def is_missing(self) -> Expression:
        """Return whether there is no value."""
        return Expression(exp.Is(this=self._operand(), expression=exp.Null()))

    def is_present(self) -> Expression:
        """Return whether there is a value."""
        return ~self.is_missing()

    def like(self, pattern: str) -> Expression:
        """Return whether a text follows a pattern in which % stands for any text and _ for one character."""
        return Expression(exp.Like(this=self._operand(), expression=wrap(pattern)._tree))

    def if_missing(self, value: Operand) -> Expression:
        """Return it, or else another value where there is none."""
        return self._call("COALESCE", value)

    def clamp(self, lower: Constant, upper: Constant) -> Expression:
        """Return a number or date moved between two constants."""
        return self._call("CLAMP", lower, upper)

    def bin(self, width: float, origin: float = 0) -> Expression:
        """Return the lower edge of the bin that holds a number."""
        return self._call("BIN", width, origin) if origin else self._call("BIN", width)

    def bucket(self, count: int, lower: float | None = None, upper: float | None = None) -> Expression:
        """Return which of `count` equal buckets holds a number, between its own bounds or those stated."""
        if lower is None or upper is None:
            return self._call("BUCKET", count)
        return self._call("BUCKET", lower, upper, count)

    def floor(self) -> Expression:
        """Return the next whole number below."""
        return self._call("FLOOR")

    def ceil(self) -> Expression:
        """Return the next whole number above."""
        return self._call("CEIL")

    def round(self, places: int = 0) -> Expression:
        """Return a number rounded to decimal places, halves upwards."""
        return self._call("ROUND", places)

    def abs(self) -> Expression:
        """Return the distance from zero."""
        return self._call("ABS")

    def sqrt(self) -> Expression:
        """Return the square root; missing for negative numbers."""
        return self._call("SQRT")

    def ln(self) -> Expression:
        """Return the natural logarithm; missing for what is not above zero."""
        return self._call("LN")

    def year(self) -> Expression:
        """Return the year of a date."""
        return self._call("YEAR")

    def month(self) -> Expression:
        """Return the month of a date."""
        return self._call("MONTH")

    def day(self) -> Expression:
        """Return the day of the month of a date."""
        return self._call("DAY")

    def lower(self) -> Expression:
        """Return a text with A to Z in lower case."""
        return self._call("LOWER")

    def upper(self) -> Expression:
        """Return a text with a to z in upper case."""
        return self._call("UPPER")

    def trim(self) -> Expression:
        """Return a text without the spaces at its ends."""
        return self._call("TRIM")

    def length(self) -> Expression:
        """Return how many characters a text has."""
        return self._call("LENGTH")

    def _with(self, operator: type[exp.Binary], other: Operand) -> Expression:
        return Expression(operator(this=self._operand(), expression=wrap(other)._operand()))

    def _call(self, name: str, *given: Operand) -> Expression:
        parts = [self._tree.copy(), *(wrap(each)._tree for each in given)]
        return Expression(exp.Anonymous(this=name, expressions=parts))

    def _operand(self) -> exp.Expr:
        copy = self._tree.copy()
        return copy if isinstance(copy, exp.Column | exp.Literal | exp.Anonymous) else exp.Paren(this=copy)


Operand = Expression | Constant


def column(name: str) -> Expression:
    """Return a column as an expression.

    Parameters
    ----------
    name
        The column, or "table.column".
    """
    *table, last = name.split(".", 1)
    return Expression(exp.column(last, table=exp.to_identifier(table[0], quoted=True) if table else None, quoted=True))


def wrap(value: Operand) -> Expression:
    """Return a constant as an expression; an expression stays as it is."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, bool):
        return Expression(exp.Boolean(this=value))
    if isinstance(value, int | float):
        number = Expression(exp.Literal.number(repr(abs(value))))
        return Expression(exp.Paren(this=exp.Neg(this=number._tree))) if value < 0 else number
    if isinstance(value, str):
        return Expression(exp.Literal.string(value))
    if isinstance(value, date) and not isinstance(value, datetime):
        return Expression(exp.cast(exp.Literal.string(value.isoformat()), "DATE"))
    raise QuestionError("An expression takes numbers, text, dates, TRUE, FALSE and other expressions.")


def tree_of(written: str | Expression) -> exp.Expr:
    """Return what is written as a tree: SQL over one row, or an expression built in Python."""
    if isinstance(written, Expression):
        return written._tree.copy()
    if not isinstance(written, str):
        raise QuestionError("Write an expression as SQL text, or build it with column('name').")
    select = read_select(f"SELECT {written}\n")
    only(select, "expressions")
    if len(select.expressions) != 1 or select.expressions[0].alias:
        raise QuestionError("One expression is needed here, without AS.")
    found: exp.Expr = select.expressions[0]
    return found
