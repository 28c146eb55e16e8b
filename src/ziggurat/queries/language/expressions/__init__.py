"""Expressions over one row: every word is looked up, and every value provably exists."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.queries.language.expressions._arithmetic import align
    from ziggurat.queries.language.expressions._cells import (
        WRITTEN,
        Cell,
        Literal,
        Seen,
        cell_of,
        derive,
        enclose,
        is_nothing,
        literal,
        plain,
        tell_apart,
        within,
    )
    from ziggurat.queries.language.expressions._comparison import chain, compare, truth_as_number
    from ziggurat.queries.language.expressions._expression import Expressions
    from ziggurat.queries.language.expressions._reading import only, read_select, refuse_large, show
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_arithmetic": "align",
            "_cells": "Cell Literal Seen WRITTEN cell_of derive enclose is_nothing literal plain tell_apart within",
            "_comparison": "chain compare truth_as_number",
            "_expression": "Expressions",
            "_reading": "only read_select refuse_large show",
        },
    )

__all__ = [
    "WRITTEN",
    "Cell",
    "Expressions",
    "Literal",
    "Seen",
    "align",
    "cell_of",
    "chain",
    "compare",
    "derive",
    "enclose",
    "is_nothing",
    "literal",
    "only",
    "plain",
    "read_select",
    "refuse_large",
    "show",
    "tell_apart",
    "truth_as_number",
    "within",
]
