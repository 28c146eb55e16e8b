"""What HAVING and ORDER BY see: the columns of the finished, noisy answer."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.queries._question import Aggregate, Key, Measure, Ordering
from ziggurat.queries._value import Value
from ziggurat.queries.language._aggregates import is_aggregate, read_aggregate, same
from ziggurat.queries.language._rows import SelectedRows
from ziggurat.queries.language._totals import item_at
from ziggurat.queries.language.expressions import Cell, Expressions, Literal, only, show
from ziggurat.wording import nearest


class AnswerScope:
    """The columns of the finished answer, by name.

    Parameters
    ----------
    rows
        The rows the question is about.
    keys, aggregates
        What the answer consists of.
    """

    def __init__(self, rows: SelectedRows, keys: list[Key], aggregates: list[Aggregate]) -> None:
        self._rows, self._keys, self._aggregates = rows, keys, aggregates
        self._names = [*(key.name for key in keys), *(each.name for each in aggregates)]

    def column(self, node: exp.Column) -> Value:
        """Return a column of the answer by name."""
        wanted = node.name.lower()
        for key in self._keys:
            if wanted == key.name.lower():
                return replace(key.value, sql=exp.column(key.name, quoted=True))
        for aggregate in self._aggregates:
            if wanted == aggregate.name.lower():
                return self._noisy(aggregate)
        known = nearest(wanted, self._names)
        raise QuestionError(f"HAVING sees only the answer, which has no column {node.name[:60]!r}; {known}")

    def public_values(self, query: exp.Expr) -> list[Literal]:
        """Return the values of a sub-query over a public table."""
        return self._rows.public_values(query)

    def condition(self, node: exp.Expr) -> exp.Expr:
        """Return a condition on the columns of the answer."""
        return Expressions(self).condition(self._rename(node))

    def order(self, select: exp.Select) -> tuple[Ordering, ...]:
        """Return how the answer is sorted."""
        order = select.args.get("order")
        if order is None:
            return ()
        only(order, "expressions")
        return tuple(self._ordering(select, each) for each in order.expressions)

    def _ordering(self, select: exp.Select, node: exp.Expr) -> Ordering:
        only(node, "this", "desc")
        wanted = node.this
        if isinstance(wanted, exp.Literal) and not wanted.is_string:
            item = item_at(select, str(wanted.this), "ORDER BY")
            wanted = exp.column(item.alias) if item.alias else item
        return Ordering(self._name(wanted), bool(node.args.get("desc")))

    def _name(self, node: exp.Expr) -> str:
        if is_aggregate(node):
            return self._name_of(node)
        if isinstance(node, exp.Column) and not self._rows.is_unit(node):
            for name in self._names:
                if name.lower() == node.name.lower():
                    return name
        value = Expressions(self._rows).value(node)
        for key in self._keys:
            if key.value.sql in (value.sql, value.bare if isinstance(value, Cell) else None):
                return key.name
        raise QuestionError(f"ORDER BY sees only the answer, and {show(node)} is not in it; add it to SELECT.")

    def _name_of(self, node: exp.Expr) -> str:
        wanted = read_aggregate(self._rows, node)
        for aggregate in self._aggregates:
            if same(aggregate, wanted):
                return aggregate.name
        raise QuestionError(f"{show(node)} is not in the answer; add it to SELECT.")

    def _rename(self, node: exp.Expr) -> exp.Expr:
        if is_aggregate(node):
            return exp.column(self._name_of(node), quoted=True)
        copy = node.copy()
        for child in list(copy.iter_expressions()):
            child.replace(self._rename(child))
        return copy

    @staticmethod
    def _noisy(aggregate: Aggregate) -> Value:
        """A column of the answer after noise: nothing is known of its range."""
        sql = exp.column(aggregate.name, quoted=True)
        if aggregate.measure is Measure.TOP:
            raise QuestionError("A list of the most frequent values cannot be compared; sort or cut by another column.")
        of = aggregate.value
        if aggregate.measure is Measure.MODE and of is not None:
            return replace(of, sql=sql)
        dated = aggregate.measure is Measure.QUANTILE and of is not None and of.kind is Kind.DATE
        return Value(sql, Kind.DATE if dated else Kind.REAL)
