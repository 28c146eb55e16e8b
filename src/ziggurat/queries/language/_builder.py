"""Questions built in Python; they are SQL before they are understood, so both mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from sqlglot import exp

from ziggurat.errors import QuestionError
from ziggurat.queries._question import Question
from ziggurat.queries.language._catalogue import Catalogue
from ziggurat.queries.language._select import parse
from ziggurat.queries.language._written import Expression, column, tree_of, wrap

Written = str | Expression
"""An expression over one row: SQL text, or built with `column`."""


class Query:
    """A question about one table, built step by step; every step returns a new one.

    Parameters
    ----------
    name
        The table, as the catalogue calls it.
    """

    def __init__(self, name: str) -> None:
        self._tree = exp.Select().from_(exp.to_table(_identifier(name).sql(identify=True)))

    def where(self, condition: Written) -> Query:
        """Return the question about those rows only for which a condition holds."""
        return self._next(self._tree.where(_enclose(condition)))

    def with_column(self, name: str, expression: Written) -> Query:
        """Return the question about the same rows with one more column."""
        computed = _name_tree(tree_of(expression), name)
        return self._outside(self._rows("a new column").select(exp.Star(), computed))

    def per_unit(self, *keys: str, **totals: str) -> Query:
        """Return the question about totals per unit (and per combination of `keys`), one row each.

        Parameters
        ----------
        *keys
            Columns besides the unit.
        **totals
            Aggregates in SQL, by name: `total="SUM(cost)"`.
        """
        tree = self._rows("totals per unit").select(*(tree_of(key) for key in keys))
        tree = tree.select(*(_name_tree(tree_of(total), name) for name, total in totals.items()))
        return self._outside(tree.group_by(exp.Anonymous(this="UNIT"), *(tree_of(key) for key in keys)))

    def join(
        self, other: str | Query, *, on: Written | Sequence[str], how: Literal["inner", "left"] = "inner",
        name: str | None = None,
    ) -> Query:  # fmt: skip
        """Return the question about rows together with those of another table.

        Parameters
        ----------
        other
            A table of the catalogue, or a query of rows or of totals per unit, which then needs a name.
        on
            The columns that must be equal: one name or several that both have, or a condition.
        how
            "left" keeps rows that meet none.
        name
            What the other one is called from here on.
        """
        if how not in ("inner", "left"):
            raise QuestionError("how must be 'inner' or 'left'; begin with the table whose rows are kept.")
        item = _item(other, name)
        shared = [on] if isinstance(on, str) and on.isidentifier() else on
        if isinstance(shared, str | Expression):
            return self._next(self._tree.join(item, on=tree_of(shared), join_type=how))
        return self._next(self._tree.join(item, using=[_identifier(each) for each in shared], join_type=how))

    def group_by(self, *keys: Written, **named: Written) -> Query:
        """Return the question asked of every group; keys are expressions, or named ones: `decade="BIN(age, 10)"`."""
        tree = self._tree
        for key in keys:
            tree = tree.select(tree_of(key)).group_by(tree_of(key))
        for name, key in named.items():
            tree = tree.select(_name_tree(tree_of(key), name)).group_by(tree_of(key))
        return self._next(tree)

    def count(self, name: str = "count", where: Written | None = None) -> Query:
        """Ask how many rows there are."""
        return self._computing(exp.Count(this=exp.Star()), name, where)

    def count_units(self, name: str = "count_units", where: Written | None = None) -> Query:
        """Ask how many units there are."""
        unit = exp.Distinct(expressions=[exp.Anonymous(this="UNIT")])
        return self._computing(exp.Count(this=unit), name, where)

    def count_distinct(self, expression: Written, name: str | None = None, where: Written | None = None) -> Query:
        """Ask how many different values there are."""
        return self._computing(exp.Count(this=exp.Distinct(expressions=[tree_of(expression)])), name, where)

    def sum(self, expression: Written, name: str | None = None, where: Written | None = None) -> Query:
        """Ask for the sum."""
        return self._computing(exp.Sum(this=tree_of(expression)), name, where)

    def mean(self, expression: Written, name: str | None = None, where: Written | None = None) -> Query:
        """Ask for the mean."""
        return self._computing(exp.Avg(this=tree_of(expression)), name, where)

    def variance(self, expression: Written, name: str | None = None, where: Written | None = None) -> Query:
        """Ask for the variance of the sample."""
        return self._computing(exp.Variance(this=tree_of(expression)), name, where)

    def deviation(self, expression: Written, name: str | None = None, where: Written | None = None) -> Query:
        """Ask for the standard deviation of the sample."""
        return self._computing(exp.Stddev(this=tree_of(expression)), name, where)

    def quantile(
        self, expression: Written, share: float | str, name: str | None = None, where: Written | None = None
    ) -> Query:
        """Ask below which value lies a share of all, such as 0.9."""
        wanted = exp.Literal.number(str(share))
        return self._computing(exp.Quantile(this=tree_of(expression), quantile=wanted), name, where)

    def median(self, expression: Written, name: str | None = None, where: Written | None = None) -> Query:
        """Ask for the median."""
        return self.quantile(expression, "0.5", name, where)

    def most_frequent(self, expression: Written, name: str | None = None, where: Written | None = None) -> Query:
        """Ask for the most frequent of the values that are known beforehand."""
        return self._computing(exp.Mode(this=tree_of(expression)), name, where)

    def top(self, expression: Written, count: int, name: str | None = None, where: Written | None = None) -> Query:
        """Ask for the `count` most frequent of the values that are known beforehand."""
        given = [tree_of(expression), wrap(count)._tree]
        return self._computing(exp.Anonymous(this="TOP_K", expressions=given), name, where)

    def histogram(self, name: str, *, bins: int | None = None, edges: Sequence[float] | None = None) -> Query:
        """Ask how many rows lie in each bin of a column.

        Parameters
        ----------
        name
            The column; by itself, every value that is known beforehand is a bin.
        bins
            So many equally wide bins between the bounds of the column, numbered from 1.
        edges
            Bins between neighbouring edges, called by the lower one; the last edge belongs to the last bin.
        """
        if bins is not None and edges is not None:
            raise QuestionError("A histogram has either a number of bins or edges; leave one out.")
        if edges is not None:
            return self.group_by(**{name: _bin(column(name), list(edges))}).count()
        if bins is not None:
            return self.group_by(**{f"{name}_bin": column(name).bucket(bins)}).count()
        return self.group_by(column(name)).count()

    def having(self, condition: Written) -> Query:
        """Keep only those groups of the finished answer for which a condition holds; this costs nothing."""
        return self._next(self._tree.having(_enclose(condition)))

    def order_by(self, name: str, *, descending: bool = False) -> Query:
        """Sort the finished answer by one of its columns; this costs nothing."""
        by = exp.Ordered(this=tree_of(name), desc=descending, nulls_first=False)
        return self._next(self._tree.order_by(by))

    def limit(self, count: int) -> Query:
        """Show only the first rows of the finished answer; this costs nothing."""
        return self._next(self._tree.limit(count))

    def sql(self) -> str:
        """Return the question as SQL."""
        return self._tree.sql(dialect="duckdb")

    def resolve(self, catalogue: Catalogue) -> Question:
        """Return the question as it is understood, or raise QuestionError."""
        return parse(self.sql(), catalogue)

    def __repr__(self) -> str:
        return f"<Query {self.sql()}>"

    def _rows(self, what: str) -> exp.Select:
        if self._tree.expressions:
            raise QuestionError(f"Ask for {what} before grouping and counting.")
        return self._tree

    def _computing(self, aggregate: exp.Expr, name: str | None, where: Written | None) -> Query:
        if where is not None:
            aggregate = exp.Filter(this=aggregate, expression=exp.Where(this=tree_of(where)))
        return self._next(self._tree.select(aggregate if name is None else _name_tree(aggregate, name)))

    def _outside(self, tree: exp.Select) -> Query:
        return self._next(exp.Select().from_(tree.subquery("rows")))

    @staticmethod
    def _next(tree: exp.Select) -> Query:
        made = Query.__new__(Query)
        made._tree = tree
        return made


def _item(other: str | Query, name: str | None) -> exp.Expr:
    if isinstance(other, Query):
        if name is None:
            raise QuestionError("A query that is joined needs a name; pass name='totals', say.")
        rows = other._tree if other._tree.expressions else other._tree.select(exp.Star())
        return rows.subquery(_identifier(name))
    table = exp.to_table(_identifier(other).sql(identify=True))
    return table if name is None else exp.alias_(table, _identifier(name), table=True)


def _identifier(name: str) -> exp.Identifier:
    if not isinstance(name, str) or not name.isidentifier():
        raise QuestionError(f"{name!r} is not a name; use letters, digits and _.")
    return exp.to_identifier(name, quoted=True)


def _name_tree(tree: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(tree, _identifier(name))


def _enclose(condition: Written) -> exp.Expr:
    return exp.Paren(this=tree_of(condition))


def _bin(value: Expression, edges: list[float]) -> Expression:
    if len(edges) < 2 or sorted(set(edges)) != edges:
        raise QuestionError("The edges of a histogram must rise, and there must be at least two.")
    case = exp.Case().when((value < edges[0])._tree, exp.Null())
    for low, high in pairwise(edges[:-1]):
        case = case.when((value < high)._tree, wrap(low)._tree)
    return Expression(case.when((value <= edges[-1])._tree, wrap(edges[-2])._tree))
