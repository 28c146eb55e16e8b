"""The routes, by what they are about; each is thin: it authorises, plans, and gives the plan to a purse."""

from ziggurat.service.web.routes import (
    _access,
    _budgets,
    _ledger,
    _oidc,
    _people,
    _populations,
    _questions,
    _state,
    _surveys,
    _tables,
)
from ziggurat.service.web.routes.leaving import LEAVING

_FIRST = (_state, _access, _oidc, _people, _tables, _budgets, _questions)
_LAST = (_surveys, _populations, _ledger)
ROUTERS = (*(each.router for each in _FIRST), *LEAVING, *(each.router for each in _LAST))
"""All of them, in the order of the description."""

__all__ = ["ROUTERS"]
