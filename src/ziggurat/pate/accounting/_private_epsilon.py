"""An epsilon that was computed from private votes, and is private itself."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from ziggurat.errors import ParameterError, PrivacyError

_HIDDEN = "<private epsilon: it depends on the votes; publish the data-independent or the sanitised one>"


class PrivateEpsilon:
    """A data-dependent epsilon. Nothing shows it, and no rule can be made of it, by accident.

    Promise: text, JSON (`to_dict`) and representation do not contain the number; comparison, arithmetic, conversion,
    hashing and pickling raise `PrivacyError`. A stopping rule that looked at it would release what nobody has paid
    for. The steward, who may see the votes, sees it by `reveal_to_steward`.
    """

    __slots__ = ("_epsilon",)

    def __init__(self, epsilon: float) -> None:
        if not isinstance(epsilon, float) or math.isnan(epsilon) or epsilon < 0:
            raise ParameterError("A private epsilon must be a float of at least 0.")
        self._epsilon = epsilon

    def reveal_to_steward(self) -> float:
        """Give the number, to one who may see the votes themselves."""
        return self._epsilon

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, which has no number."""
        return {"private": True}

    def __repr__(self) -> str:
        return _HIDDEN

    def __format__(self, _spec: str) -> str:
        return _HIDDEN

    def __copy__(self) -> PrivateEpsilon:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> PrivateEpsilon:
        return self

    def _refuse(self, *_other: object) -> NoReturn:
        raise PrivacyError(
            "A data-dependent epsilon is private: it cannot be compared, computed with, converted or stored. Use the "
            "data-independent epsilon, or release this one with sanitize(...)."
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __pow__ = __rpow__ = __divmod__ = __rdivmod__ = _refuse
    __neg__ = __pos__ = __abs__ = __round__ = __trunc__ = __floor__ = __ceil__ = _refuse
    __bool__ = __float__ = __int__ = __complex__ = __index__ = __hash__ = _refuse
    __reduce__ = __reduce_ex__ = __getstate__ = _refuse
