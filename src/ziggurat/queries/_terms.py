"""On which terms a question is answered: what it may cost, how that is split, and what one unit may contribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from ziggurat.errors import ParameterError
from ziggurat.plain import fields_to_plain
from ziggurat.privacy import Amount, exact, exact_delta, exact_epsilon, whole_number

Noise = Literal["laplace", "gaussian"]
"""Which noise protects an answer."""
Bounding = Literal["weigh", "lot"]
"""What happens to the rows of a person who has too many: each counts in part, or some are left out by lot."""


@dataclass(frozen=True)
class Terms:
    """What a question may cost, and how it is to be answered; nothing here depends on the data.

    Parameters
    ----------
    epsilon, delta
        The cost of the whole question, exact. Delta is needed for Gaussian noise and for groups whose names are not
        public.
    shares
        Which part of the cost each aggregate gets, by the name of its column; the parts add up to 1. By default all
        get the same.
    rows_per_unit
        How many rows of one unit count in one group; the others are left out by lot. Needed where a unit may have
        many rows.
    groups_per_unit
        In how many groups one unit may count; needed for grouped questions where a unit may have many rows.
    bounding
        What becomes of a unit with more rows than count: "weigh" counts each of them in part, which is what drawing
        lots gives on average, without the chance and much faster; "lot" draws lots. Distinct values, quantiles and
        most frequent values always draw lots.
    noise
        "laplace" (a pure promise), or "gaussian", which is better if one unit is in many groups.
    learn
        Columns without public bounds whose bounds are to be learned, out of the same epsilon.
    effects
        Which part of the cost pays for estimates of the errors that are not noise (clipped cells, rows left out,
        groups not shown); 0 for none. It is not spent where there is no such error.
    confidence
        With which probability each interval holds its true value; a fifth of the misses is kept for errors that are
        not noise, so that against noise alone an interval of 95% holds in 96%.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    shares: Mapping[str, Fraction] = field(default_factory=dict)
    rows_per_unit: int | None = None
    groups_per_unit: int | None = None
    bounding: Bounding = "weigh"
    noise: Noise = "laplace"
    learn: tuple[str, ...] = ()
    effects: Fraction = Fraction(1, 10)
    confidence: Fraction = Fraction(95, 100)

    def __init__(
        self,
        epsilon: Amount,
        delta: Amount = 0,
        *,
        shares: Mapping[str, Amount] | None = None,
        rows_per_unit: int | None = None,
        groups_per_unit: int | None = None,
        bounding: Bounding = "weigh",
        noise: Noise = "laplace",
        learn: Iterable[str] = (),
        effects: Amount = "0.1",
        confidence: Amount = "0.95",
    ) -> None:
        self._set("epsilon", exact_epsilon(epsilon))
        self._set("delta", exact_delta(delta))
        self._set("shares", {name: _share(part) for name, part in sorted((shares or {}).items())})
        self._set("rows_per_unit", None if rows_per_unit is None else whole_number(rows_per_unit, "rows_per_unit"))
        self._set(
            "groups_per_unit", None if groups_per_unit is None else whole_number(groups_per_unit, "groups_per_unit")
        )
        self._set("bounding", bounding)
        self._set("noise", noise)
        self._set("learn", tuple(sorted({learn} if isinstance(learn, str) else set(learn))))
        self._set("effects", exact(effects, "effects"))
        self._set("confidence", exact(confidence, "confidence"))
        self._check()

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; equal terms have equal forms."""
        return fields_to_plain(self)

    def split(self, names: tuple[str, ...]) -> dict[str, Fraction]:
        """The share of each aggregate: as stated, or equal parts."""
        if not self.shares:
            return dict.fromkeys(names, Fraction(1, len(names)))
        if set(self.shares) != set(names):
            listed = ", ".join(repr(name) for name in names)
            raise ParameterError(f"shares must name exactly the aggregates of the question: {listed}.")
        return {name: self.shares[name] for name in names}

    def _check(self) -> None:
        if self.bounding not in ("weigh", "lot"):
            raise ParameterError("bounding must be 'weigh' or 'lot'.")
        if self.noise not in ("laplace", "gaussian"):
            raise ParameterError("noise must be 'laplace' or 'gaussian'.")
        if self.noise == "gaussian" and self.delta == 0:
            raise ParameterError(
                "Gaussian noise promises nothing at delta 0; state a delta such as 1e-6, or use laplace."
            )
        if self.shares and sum(self.shares.values()) != 1:
            raise ParameterError("The shares must add up to exactly 1.")
        if not 0 <= self.effects < 1:
            raise ParameterError("effects must be a share of the cost: at least 0 and less than 1.")
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence must lie strictly between 0 and 1, for instance 0.95.")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


def _share(part: Amount) -> Fraction:
    value = exact(part, "share")
    if value <= 0:
        raise ParameterError("Every share must be greater than 0; leave the aggregate out of the question instead.")
    return value
