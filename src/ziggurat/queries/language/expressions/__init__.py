"""Expressions over one row: every word is looked up, and every value provably exists."""

from ziggurat.queries.language.expressions._arithmetic import aligned
from ziggurat.queries.language.expressions._cells import (
    WRITTEN,
    Cell,
    Literal,
    Seen,
    cell_of,
    derived,
    enclosed,
    is_nothing,
    literal,
    plain,
    within,
)
from ziggurat.queries.language.expressions._comparison import chained, compare, truth_as_number
from ziggurat.queries.language.expressions._expression import Expressions
from ziggurat.queries.language.expressions._reading import only, read_select, refuse_large, shown

__all__ = [
    "WRITTEN",
    "Cell",
    "Expressions",
    "Literal",
    "Seen",
    "aligned",
    "cell_of",
    "chained",
    "compare",
    "derived",
    "enclosed",
    "is_nothing",
    "literal",
    "only",
    "plain",
    "read_select",
    "refuse_large",
    "shown",
    "truth_as_number",
    "within",
]
