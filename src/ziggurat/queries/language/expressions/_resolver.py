"""What the rules of expressions need of whoever resolves their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sqlglot import exp

from ziggurat.queries._value import Value
from ziggurat.queries.language.expressions._cells import Literal


class Scope(Protocol):
    """What names mean."""

    def column(self, node: exp.Column) -> Value:
        """Return the value of a column that the analyst named, or refuse it."""

    def public_values(self, query: exp.Expr) -> list[Literal]:
        """Return the values of a sub-query over a public table, or refuse it."""


class Resolver(Protocol):
    """What a rule needs to resolve the parts of its node."""

    scope: Scope

    def value(self, node: exp.Expr) -> Value:
        """Return an expression as a value, or refuse it."""

    def condition(self, node: exp.Expr) -> exp.Expr:
        """Return a condition of which only the truth matters."""

    def constant(self, node: exp.Expr | None, what: str) -> int:
        """Return a whole number that is written out, or refuse the expression."""


Rule = Callable[[Resolver, Any], Value]
"""How one kind of node is resolved."""
