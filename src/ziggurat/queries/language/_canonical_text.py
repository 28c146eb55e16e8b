"""The canonical text of a question: the same for everything that means the same by writing, and for nothing else.

It is made of what was resolved, not of what was written: case, spaces, aliases of tables and the order of a
comparison leave no trace, while every bound and every guard that decides about a row is in it.
"""

from __future__ import annotations

from sqlglot import exp

from ziggurat.queries._question import Aggregate, Measure, Question
from ziggurat.queries.language._from_items import NAMED, UNIT
from ziggurat.queries.language.expressions import WRITTEN

_WORDS = {
    Measure.SUM: "SUM",
    Measure.MEAN: "AVG",
    Measure.MODE: "MODE",
    Measure.QUANTILE: "QUANTILE",
    Measure.TOP: "TOP_K",
}
_SPREADS = {
    (Measure.VARIANCE, 0): "VAR_POP",
    (Measure.VARIANCE, 1): "VAR_SAMP",
    (Measure.DEVIATION, 0): "STDDEV_POP",
    (Measure.DEVIATION, 1): "STDDEV_SAMP",
}


def canonical(question: Question) -> tuple[str, frozenset[str]]:
    """Return the canonical SQL of a question, and the tables in it; its own text is not used."""
    keys = {key.name: key.value.sql for key in question.keys}
    computed = {each.name: _aggregate(each) for each in question.aggregates}
    chosen = [{**keys, **computed}[name].as_(name, quoted=True) for name in question.columns]
    query = exp.select(*chosen).from_(question.relation.query.subquery("rows"))
    if question.where is not None:
        query = query.where(question.where)
    if question.keys:
        query = query.group_by(*keys.values())
    if question.having is not None:
        query = query.having(question.having)
    if question.order:
        query = query.order_by(*(_order(each.column, each.descending) for each in question.order))
    if question.limit is not None:
        query = query.limit(question.limit)
    plain = query.transform(_plain)
    return plain.sql(identify=True), frozenset(table.name for table in plain.find_all(exp.Table))


def _aggregate(aggregate: Aggregate) -> exp.Expr:
    call = _call(aggregate)
    return call if aggregate.where is None else exp.Filter(this=call, expression=exp.Where(this=aggregate.where))


def _call(aggregate: Aggregate) -> exp.Expr:
    measure, value, parameter = aggregate.measure, aggregate.value, aggregate.parameter
    if measure is Measure.COUNT_UNITS:
        return exp.Count(this=exp.Distinct(expressions=[exp.column(UNIT, quoted=True)]))
    if value is None:
        return exp.Count(this=exp.Star())
    if measure is Measure.COUNT:
        return exp.Count(this=value.sql)
    if measure is Measure.COUNT_DISTINCT:
        return exp.Count(this=exp.Distinct(expressions=[value.sql]))
    if parameter is not None and (measure, int(parameter)) in _SPREADS:
        return exp.Anonymous(this=_SPREADS[measure, int(parameter)], expressions=[value.sql])
    given = [] if parameter is None else [exp.Literal.string(str(parameter))]
    return exp.Anonymous(this=_WORDS[measure], expressions=[value.sql, *given])


def _order(name: str, descending: bool) -> exp.Expr:
    return exp.Ordered(this=exp.column(name, quoted=True), desc=descending, nulls_first=not descending)


def _plain(node: exp.Expr) -> exp.Expr:
    """Tables by their names in the catalogue, guarded expressions and numbers as one writes them."""
    if WRITTEN in node.meta:
        meant: exp.Expr = node.meta[WRITTEN].node
        return meant.transform(_plain)
    if isinstance(node, exp.Subquery):
        name = node.meta.get(NAMED) or node.this.meta.get(NAMED)
        if name:
            return exp.table_(name, alias=node.alias or None, quoted=True)
    written = isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string
    if written and node.args["to"].is_type("BIGINT", "DOUBLE"):
        return exp.Literal.number(node.this.name)
    return node
