"""What the analyst wrote about one row, as a value: every word is looked up, and what is not known is refused."""

from __future__ import annotations

from sqlglot import exp

from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language.expressions import _comparison as comparison
from ziggurat.queries.language.expressions._cells import NOTHING
from ziggurat.queries.language.expressions._reading import not_understood
from ziggurat.queries.language.expressions._resolver import Scope
from ziggurat.queries.language.expressions._rounding import whole_constant
from ziggurat.queries.language.expressions._rules import RULES, is_in


class Expressions:
    """Resolves expressions over one row.

    Parameters
    ----------
    scope
        What names mean.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def value(self, node: exp.Expr) -> Value:
        """Return an expression as a value, or raise QuestionError with what to write instead."""
        rule = RULES.get(type(node))
        if rule is None:
            raise QuestionError(not_understood(node))
        return rule(self, node)

    def condition(self, node: exp.Expr) -> exp.Expr:
        """Return a condition that selects rows; where it is NULL, it selects none."""
        return comparison.condition(self._filter(node))

    def _filter(self, node: exp.Expr) -> Value:
        """A condition of which only the truth matters: NULL and FALSE are the same."""
        if isinstance(node, exp.And | exp.Or):
            parts = [comparison.condition(self._filter(part)) for part in node.flatten()]
            return comparison.chain(type(node), parts)
        if isinstance(node, exp.Paren):
            return self._filter(node.this)
        if isinstance(node, exp.EQ):
            return comparison.compare(exp.EQ, self.value(node.this), self.value(node.expression), as_filter=True)
        if type(node) is exp.In:
            return is_in(self, node, as_filter=True)
        return self.value(node)

    def constant(self, node: exp.Expr | None, what: str) -> int:
        """Return a whole number that is written out, or refuse the expression."""
        return whole_constant(NOTHING if node is None else self.value(node), what)
