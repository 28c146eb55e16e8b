"""Routes of what leaves by long work, models and labels, and of deciding whether it should."""

from ziggurat.service.web.routes.leaving import _decide, _jobs, _labels, _models, _releases

LEAVING = tuple(each.router for each in (_releases, _jobs, _models, _labels, _decide))
"""All of them, in the order of the description."""

__all__ = ["LEAVING"]
