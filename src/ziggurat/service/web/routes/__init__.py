"""The routes, by what they are about; each is thin: it authorises, plans, and gives the plan to a purse."""

from ziggurat.service.web.routes import (
    _access,
    _budgets,
    _decide,
    _jobs,
    _labels,
    _ledger,
    _models,
    _oidc,
    _people,
    _populations,
    _questions,
    _releases,
    _state,
    _surveys,
    _tables,
)

ROUTERS = tuple(
    each.router
    for each in (
        _state,
        _access,
        _oidc,
        _people,
        _tables,
        _budgets,
        _questions,
        _releases,
        _jobs,
        _models,
        _labels,
        _decide,
        _surveys,
        _populations,
        _ledger,
    )
)
"""All of them, in the order of the description."""

__all__ = ["ROUTERS"]
