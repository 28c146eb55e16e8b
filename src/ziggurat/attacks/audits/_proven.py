"""What every audit proves, by many runs or by one: a lower bound on epsilon beside the promise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

import pyarrow as pa

from ziggurat.errors import PrivacyError
from ziggurat.findings import Finding
from ziggurat.privacy import in_words


class ProvenEpsilon(Finding):
    """A promise beside the epsilon that was proven, for dataclasses that say how.

    Attributes
    ----------
    claimed, delta
        The promise.
    lower
        The epsilon that is proven at this delta: if the promise holds, it is above the claim with probability at most
        1 - `confidence`.
    confidence
        See `lower`.
    """

    claimed: Fraction
    delta: Fraction
    lower: float
    confidence: Fraction

    @property
    def refuted(self) -> bool:
        """Whether the promise is false."""
        return self.lower > self.claimed

    def conclude(self, proves: str) -> str:
        """Return a sentence from what "proves" the epsilon: what is promised, and what follows."""
        text = f"{proves} an epsilon of at least {self.lower:.3g}, and {in_words(self.claimed)} is promised"
        if self.refuted:
            return f"{text}. The promise is false: release nothing by it, and report this."
        return f"{text}; that does not contradict it, and does not prove it either."

    def require(self) -> Self:
        """Return this, or raise `PrivacyError` if the promise is false: nothing may rest on it then."""
        if self.refuted:
            raise PrivacyError(self.sentence)
        return self

    @property
    def table(self) -> pa.Table:
        """What is promised beside what is proven."""
        return pa.table({"epsilon": ["promised", "proven"], "value": [float(self.claimed), self.lower]})

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold; amounts stay exact."""
        exact = {name: str(getattr(self, name)) for name in ("claimed", "delta", "confidence")}
        return {**super().to_dict(), **exact}
