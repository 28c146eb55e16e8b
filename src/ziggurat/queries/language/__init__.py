"""Questions in SQL or in Python, understood as a whole or refused with the reason."""

from ziggurat.queries.language._builder import Query
from ziggurat.queries.language._catalogue import Catalogue
from ziggurat.queries.language._select import parse
from ziggurat.queries.language._written import Expression, column

__all__ = [
    "Catalogue",
    "Expression",
    "Query",
    "column",
    "parse",
]
