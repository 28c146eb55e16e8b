"""One rule for every word of an expression over one row."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language.expressions import _arithmetic as arithmetic
from ziggurat.queries.language.expressions import _choices as choices
from ziggurat.queries.language.expressions import _comparison as comparison
from ziggurat.queries.language.expressions import _dates as dates
from ziggurat.queries.language.expressions import _functions as functions
from ziggurat.queries.language.expressions import _powers as powers
from ziggurat.queries.language.expressions import _rounding as rounding
from ziggurat.queries.language.expressions import _text_functions as texts
from ziggurat.queries.language.expressions._cells import NOTHING, literal
from ziggurat.queries.language.expressions._reading import not_understood, only
from ziggurat.queries.language.expressions._resolver import Resolver, Rule


def _binary(function: Callable[[Value, Value], Value]) -> Rule:
    def rule(self: Resolver, node: exp.Expr) -> Value:
        only(node, "this", "expression", "typed", "safe")
        return function(self.value(node.this), self.value(node.args["expression"]))

    return rule


def _unary(function: Callable[[Value], Value]) -> Rule:
    def rule(self: Resolver, node: exp.Expr) -> Value:
        only(node, "this")
        return function(self.value(node.this))

    return rule


def _several(function: Callable[[list[Value]], Value]) -> Rule:
    def rule(self: Resolver, node: exp.Expr) -> Value:
        only(node, "this", "expressions", "ignore_nulls")
        return function([self.value(each) for each in (node.this, *node.expressions)])

    return rule


def _comparing(node_type: type[exp.Binary]) -> Rule:
    return _binary(lambda left, right: comparison.compare(node_type, left, right))


def _connect(self: Resolver, node: exp.Expr) -> Value:
    parts = [comparison.condition(self.value(part)) for part in node.flatten()]
    return comparison.chain(type(node), parts)  # type: ignore[arg-type]


def _column(self: Resolver, node: exp.Expr) -> Value:
    if isinstance(node.this, exp.Star):
        raise QuestionError(not_understood(node.this))
    only(node, "this", "table")
    return self.scope.column(node)  # type: ignore[arg-type]


def _literal(_: Resolver, node: exp.Expr) -> Value:
    text = str(node.this)
    if node.is_string:
        return literal(text)
    if not re.fullmatch(r"[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,3})?", text) or not re.search("[0-9]", text):
        raise QuestionError("A number is written as 12, 0.5 or 1e6.")
    if text.isdigit():
        return literal(int(text) if len(text) <= 19 else 2**63)
    return literal(float(text))


def _boolean(_: Resolver, node: exp.Expr) -> Value:
    return literal(bool(node.this))


def _null(_: Resolver, __: exp.Expr) -> Value:
    return NOTHING


def _paren(self: Resolver, node: exp.Expr) -> Value:
    return self.value(node.this)


def _sum(self: Resolver, node: exp.Expr) -> Value:
    if isinstance(node.expression, exp.Interval):
        return dates.days_later(self.value(node.this), _interval(self, node.expression))
    return arithmetic.add(self.value(node.this), self.value(node.expression))


def _difference(self: Resolver, node: exp.Expr) -> Value:
    if isinstance(node.expression, exp.Interval):
        return dates.days_later(self.value(node.this), -_interval(self, node.expression))
    left, right = self.value(node.this), self.value(node.expression)
    if Kind.DATE in (left.kind, right.kind):
        return dates.days_between(functions.as_date(left), functions.as_date(right))
    return arithmetic.subtract(left, right)


def _interval(self: Resolver, node: exp.Interval) -> int:
    only(node, "this", "unit")
    unit = str(node.args.get("unit") or "").upper()
    number = node.this
    if unit not in ("DAY", "DAYS") or not isinstance(number, exp.Literal) or not str(number.this).isdigit():
        raise QuestionError("Of intervals only whole days are understood, as in d + INTERVAL 7 DAY.")
    return self.constant(exp.Literal.number(str(number.this)), "The number of days")


def is_in(self: Resolver, node: exp.Expr, *, as_filter: bool = False) -> Value:
    """Return whether a value is in a list of constants, or in a column of a public table."""
    only(node, "this", "expressions", "query")
    query = node.args.get("query")
    listed = [self.value(each) for each in node.expressions] if query is None else self.scope.public_values(query)
    return comparison.is_among(self.value(node.this), listed, as_filter=as_filter)


def _between(self: Resolver, node: exp.Expr) -> Value:
    only(node, "this", "low", "high")
    return comparison.is_between(*(self.value(node.args[name]) for name in ("this", "low", "high")))


def _is(self: Resolver, node: exp.Expr) -> Value:
    only(node, "this", "expression")
    value, other = self.value(node.this), node.expression
    if isinstance(other, exp.Boolean):
        return comparison.is_truth(value, bool(other.this))
    if not isinstance(other, exp.Null):
        raise QuestionError("IS takes NULL, NOT NULL, TRUE or FALSE.")
    return comparison.is_missing(value)


def _like(self: Resolver, node: exp.Expr) -> Value:
    only(node, "this", "expression", "negate")
    found = comparison.is_like(self.value(node.this), self.value(node.expression))
    return comparison.opposite(found) if node.args.get("negate") else found


def _case(self: Resolver, node: exp.Expr) -> Value:
    only(node, "this", "ifs", "default")
    subject = node.args.get("this")
    tests = [(_test(self, subject, each.this), self.value(each.args["true"])) for each in node.args["ifs"]]
    default = node.args.get("default")
    return choices.choose(tests, NOTHING if default is None else self.value(default))


def _if(self: Resolver, node: exp.Expr) -> Value:
    only(node, "this", "true", "false")
    otherwise = node.args.get("false")
    tests = [(self.condition(node.this), self.value(node.args["true"]))]
    return choices.choose(tests, NOTHING if otherwise is None else self.value(otherwise))


def _test(self: Resolver, subject: exp.Expr | None, node: exp.Expr) -> exp.Expr:
    return self.condition(node if subject is None else exp.EQ(this=subject, expression=node))


def _part(name: str) -> Rule:
    return _unary(lambda value: dates.part(name, value))


RULES: dict[type[exp.Expr], Rule] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Paren: _paren,
    exp.Neg: _unary(arithmetic.negate),
    exp.Add: _sum,
    exp.Sub: _difference,
    exp.Mul: _binary(arithmetic.multiply),
    exp.Div: _binary(arithmetic.divide),
    exp.Mod: _binary(arithmetic.remainder),
    exp.Pow: _binary(powers.power),
    **{each: _comparing(each) for each in (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)},
    exp.And: _connect,
    exp.Or: _connect,
    exp.Not: _unary(comparison.opposite),
    exp.In: is_in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Like: _like,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _several(choices.first_present),
    exp.Nullif: _binary(choices.null_if),
    exp.Least: _several(choices.least),
    exp.Greatest: _several(choices.greatest),
    exp.Abs: _unary(arithmetic.absolute),
    exp.Sign: _unary(arithmetic.sign),
    exp.Floor: _unary(rounding.floor),
    exp.Ceil: _unary(rounding.ceiling),
    exp.Round: functions.round_number,
    exp.Sqrt: _unary(powers.square_root),
    exp.Ln: _unary(powers.logarithm),
    exp.Log: functions.logarithm,
    exp.Exp: _unary(powers.exponential),
    exp.Extract: functions.extract,
    exp.Year: _part("YEAR"),
    exp.Quarter: _part("QUARTER"),
    exp.Month: _part("MONTH"),
    exp.Day: _part("DAY"),
    exp.DateDiff: functions.days,
    exp.Length: _unary(texts.length),
    exp.Lower: _unary(texts.lower),
    exp.Upper: _unary(texts.upper),
    exp.Trim: _unary(texts.trim),
    exp.Substring: functions.substring,
    exp.DPipe: _binary(texts.join_texts),
    exp.Cast: functions.cast,
    exp.Anonymous: functions.call_own,
}
"""What each word means; a word that is not here is refused."""
