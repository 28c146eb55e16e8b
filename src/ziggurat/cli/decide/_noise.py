"""What is released, and with which noise: sensitivity, error in the analyst's units, and privacy at risk."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.privacy import PricedNoise

MECHANISMS = ("laplace", "geometric", "gaussian")
QUERIES = ("count", "sum", "mean")


@dataclass(frozen=True)
class AskedRelease:
    """What is released: how far one person moves it, and in words."""

    sensitivity: Fraction
    words: str


def read_release(query: str, sensitivity: str, rows: int | None, bounds: str, dimensions: int) -> AskedRelease:
    """Read a query or a sensitivity; a query says its own."""
    from ziggurat.privacy import exact_positive, in_words

    if query:
        if sensitivity or dimensions != 1:
            raise ParameterError("--query knows its sensitivity; leave out --sensitivity and --dimensions.")
        return _read_query(query, rows, bounds)
    if rows is not None or bounds:
        raise ParameterError("--rows and --bounds describe a query; add --query count, sum or mean.")
    moved = exact_positive(sensitivity or "1", "sensitivity")
    what = "A number" if dimensions == 1 else f"{dimensions} numbers"
    them = "it" if dimensions == 1 else "them"
    return AskedRelease(moved, f"{what}: one person moves {them} by at most {in_words(moved)}.")


def _read_query(query: str, rows: int | None, bounds: str) -> AskedRelease:
    from ziggurat.privacy import in_words

    if query not in QUERIES:
        raise ParameterError(f"--query must be one of {', '.join(QUERIES)}.")
    if query == "count":
        return AskedRelease(Fraction(1), "A count: one person more or less moves it by 1.")
    low, high = _read_bounds(bounds)
    if query == "sum":
        moved = max(abs(low), abs(high))
        return AskedRelease(moved, f"A sum: one person more or less moves it by at most {in_words(moved)}.")
    if rows is None or rows < 1:
        raise ParameterError("A mean needs --rows, the public number of people it is over.")
    moved = (high - low) / rows
    return AskedRelease(moved, f"A mean of {rows:,}: one person's other value moves it by at most {in_words(moved)}.")


def _read_bounds(text: str) -> tuple[Fraction, Fraction]:
    from ziggurat.privacy import exact

    parts = text.split(":")
    if len(parts) != 2:
        raise ParameterError("A sum or a mean needs --bounds, such as 0:100: values beyond count as the bound.")
    low, high = (exact(part, "a bound") for part in parts)
    if low >= high:
        raise ParameterError("The first of --bounds must be less than the second.")
    return low, high


def make_noise(mechanism: str, sensitivity: Fraction, dimensions: int, delta: str) -> PricedNoise:
    """The noise of a name; only Gaussian noise has a delta."""
    from ziggurat.privacy import GaussianNoise, GeometricNoise, LaplaceNoise, exact_delta, whole_number

    if mechanism not in MECHANISMS:
        raise ParameterError(f"--mechanism must be one of {', '.join(MECHANISMS)}.")
    numbers = whole_number(dimensions, "dimensions")
    if mechanism == "gaussian":
        allowed = exact_delta(delta or "1e-6")
        if not allowed:
            raise ParameterError("Gaussian noise needs a delta above 0.")
        return GaussianNoise(sensitivity, allowed)
    if delta:
        raise ParameterError("Only Gaussian noise has a --delta; leave it out.")
    if mechanism == "laplace":
        return LaplaceNoise(sensitivity, numbers)
    if numbers != 1 or sensitivity.denominator != 1:
        raise ParameterError("Noise on whole numbers is for one number with a whole sensitivity; use laplace.")
    return GeometricNoise(sensitivity)
