"""Questions in SQL or in Python, understood as a whole or refused with the reason."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.queries.language._builder import Query
    from ziggurat.queries.language._catalogue import Catalogue
    from ziggurat.queries.language._select import parse
    from ziggurat.queries.language._written import Expression, column
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_builder": "Query",
            "_catalogue": "Catalogue",
            "_select": "parse",
            "_written": "Expression column",
        },
    )

__all__ = [
    "Catalogue",
    "Expression",
    "Query",
    "column",
    "parse",
]
