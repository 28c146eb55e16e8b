"""Exact random choices: one of several candidates, an order, a sample."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.randomness._draw import Integers, draw, fill
from ziggurat.randomness._limits import LARGEST_EXPONENT, positive_terms
from ziggurat.randomness._samplers import uniform_below
from ziggurat.randomness._source import Source

_LARGEST_COUNT = 2**40


def _check_gaps(gaps: npt.NDArray[Any], numerator: int) -> Integers:
    array = np.asarray(gaps)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ParameterError("The gaps must be a non-empty one-dimensional array of integers.")
    return _bound_gaps(array, numerator)


def _bound_gaps(array: npt.NDArray[Any], numerator: int) -> Integers:
    if (array.min(axis=-1) != 0).any():
        raise ParameterError("The gaps must not be negative and the best candidate must have a gap of 0.")
    return np.ascontiguousarray(np.minimum(array, LARGEST_EXPONENT // numerator), dtype=np.int64)


@overload
def exponential_choice(gaps: npt.NDArray[Any], rate: Fraction | int, *, size: None = None, source: Source) -> int: ...
@overload
def exponential_choice(gaps: npt.NDArray[Any], rate: Fraction | int, *, size: int, source: Source) -> Integers: ...
def exponential_choice(
    gaps: npt.NDArray[Any], rate: Fraction | int, *, size: int | None = None, source: Source
) -> int | Integers:
    """Choose index i with probability exactly proportional to exp(-rate * gaps[i]).

    `gaps[i]` is the best score less score i. With scores of sensitivity D this is the exponential mechanism,
    pure (2*D*rate)-differentially private, and the law of Gumbel noise and a maximum. It is drawn by uniform
    proposals, about as many as there are candidates where only one is good.

    A gap above 2**62 over the rate's numerator counts as that bound. This is the mechanism on scores of the
    same sensitivity, max(score, best - bound), so the promise holds; no error depends on the data.
    """
    numerator, denominator = positive_terms(rate, "rate")
    return draw("choose", size, source, _check_gaps(gaps, numerator), numerator, denominator)


def exponential_choices(gaps: npt.NDArray[Any], rate: Fraction | int, *, source: Source) -> Integers:
    """Choose one index for every row of a matrix of gaps, each as `exponential_choice` does."""
    numerator, denominator = positive_terms(rate, "rate")
    array = np.asarray(gaps)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "iu":
        raise ParameterError("The gaps must be a matrix of integers, one row for each choice and one column at least.")
    drawn = draw("choose_by_row", len(array), source, _bound_gaps(array, numerator), numerator, denominator)
    return np.asarray(drawn)


@overload
def permute_and_flip(gaps: npt.NDArray[Any], rate: Fraction | int, *, size: None = None, source: Source) -> int: ...
@overload
def permute_and_flip(gaps: npt.NDArray[Any], rate: Fraction | int, *, size: int, source: Source) -> Integers: ...
def permute_and_flip(
    gaps: npt.NDArray[Any], rate: Fraction | int, *, size: int | None = None, source: Source
) -> int | Integers:
    """Go through the candidates in random order and take the first to pass Bernoulli(exp(-rate * gap)).

    As private as `exponential_choice` at the same rate and never worse in expected score (McKenna, Sheldon
    2020). Large gaps are bounded in the same way.
    """
    numerator, denominator = positive_terms(rate, "rate")
    checked = _check_gaps(gaps, numerator)
    return draw("permute_and_flip", size, source, np.empty_like(checked), checked, numerator, denominator)


def _count(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= _LARGEST_COUNT:
        raise ParameterError(f"The {name} must be an integer from 0 to 2**40.")
    return int(value)


def shuffle(n: int, *, source: Source) -> Integers:
    """Return 0, 1, ..., n-1 in uniformly random order."""
    order = np.arange(_count(n, "number of items"), dtype=np.int64)
    fill("shuffle", order, source)
    return order


def sample_without_replacement(n: int, k: int, *, source: Source) -> Integers:
    """Return `k` different numbers below `n`, every ordered selection being equally likely.

    Time and memory are of the order of `k`, not `n`.
    """
    if _count(k, "sample size") > _count(n, "number of items"):
        raise ParameterError("The sample must not be larger than the number of items.")
    if 2 * k > n:
        return shuffle(n, source=source)[:k].copy()
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < k:
        # Drawing with replacement and skipping repeats is drawing without replacement.
        more = uniform_below(n, size=k - drawn.size, source=source)
        drawn = _first_occurrences(np.concatenate([drawn, more]))
    return drawn


def _first_occurrences(values: Integers) -> Integers:
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]
