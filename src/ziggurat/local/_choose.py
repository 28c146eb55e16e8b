"""Which privatiser for which column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ziggurat.cards import Shown
from ziggurat.data import Column, Kind
from ziggurat.errors import ParameterError, SchemaError
from ziggurat.local._base import Privatizer
from ziggurat.local._categories import Stated
from ziggurat.local._choice import RecordChoice
from ziggurat.local._hashing import LocalHashing
from ziggurat.local._numbers import CountNoise, RecordLaplace
from ziggurat.local._response import Response
from ziggurat.local._unary import UnaryEncoding
from ziggurat.mechanisms import require_one_of
from ziggurat.privacy import Amount, Neighbours

METHODS: dict[str, Any] = {
    "response": Response,
    "unary": UnaryEncoding,
    "hashing": LocalHashing,
    "choice": RecordChoice,
}
"""The ways to protect a category, by the words of the command line."""

# A unary report has a bit for each category; beyond this many, a hash says the same in 64 bits.
_LONGEST_UNARY = 512


@dataclass(frozen=True)
class Recommendation(Shown):
    """The privatiser to use for a list of categories, and why.

    Attributes
    ----------
    privatizer
        Ready to use.
    reason
        In one sentence.
    spreads
        For each method the variance of an estimated count, per person, averaged over the list.
    """

    privatizer: Response | UnaryEncoding | LocalHashing
    reason: str
    spreads: dict[str, float]


def best_for_frequencies(
    epsilon: Amount,
    categories: Stated,
    *,
    missing: bool = False,
    other: str | int | None = None,
    neighbours: Neighbours | None = None,
) -> Recommendation:
    """Choose among `Response`, `UnaryEncoding` and `LocalHashing` the one whose counts vary least.

    If the share f of n people hold a category, the variance of its count is n (q(1-q) + f (p(1-p) - q(1-q))) / (p-q)^2
    with p and q the probabilities that a holder's and another person's report speaks for it. What counts is its mean
    over the list, that is f = 1/k. The rule looks at public parameters alone.

    Parameters
    ----------
    epsilon, categories
        As for `Response`.
    missing, other, neighbours
        As there.
    """
    options: Any = {"missing": missing, "other": other, "neighbours": neighbours}
    response = Response(epsilon, categories, **options)
    count = len(response.list)
    encoded = (UnaryEncoding if count <= _LONGEST_UNARY else LocalHashing)(epsilon, categories, **options)
    spreads = {made.kind: made.support.spread(1 / count) for made in (response, encoded)}
    chosen = response if spreads[response.kind] <= spreads[encoded.kind] else encoded
    least = spreads[chosen.kind]
    other = next(kind for kind in spreads if kind != chosen.kind)
    ratio = f"{spreads[other] / least:.3g} times" if least > 0 else "more than"
    return Recommendation(
        chosen,
        f"With {count} categories a count varies least with {chosen.kind}: {other} has {ratio} its variance.",
        spreads,
    )


def privatizer_for(
    column: Column,
    epsilon: Amount,
    *,
    method: str = "auto",
    missing: bool = False,
    neighbours: Neighbours | None = None,
) -> Privatizer:
    """Make the privatiser for a column of a schema, from its public categories or bounds.

    Parameters
    ----------
    column
        A category or boolean column with public categories, or an integer or real one with public bounds.
    epsilon
        What one report may cost.
    method
        For categories 'response', 'unary', 'hashing', 'choice', or 'auto' for the one whose counts vary least.
        Integers get `CountNoise` and reals `RecordLaplace`.
    missing
        As for these privatisers.
    neighbours
        The unit, under replace-one.
    """
    require_one_of(method, ("auto", *METHODS), "method")
    if column.kind in (Kind.CATEGORY, Kind.BOOLEAN):
        public = column.public_categories()
        if method == "auto":
            return best_for_frequencies(epsilon, public, missing=missing, neighbours=neighbours).privatizer
        made: Privatizer = METHODS[method](epsilon, public, missing=missing, neighbours=neighbours)
        return made
    if column.kind not in (Kind.INTEGER, Kind.REAL):
        raise SchemaError(f"Column {column.name!r} is {column.kind}; only categories and numbers can be collected.")
    return _for_numbers(column, epsilon, missing, neighbours)


def _for_numbers(column: Column, epsilon: Amount, missing: bool, neighbours: Neighbours | None) -> Privatizer:
    bounds = column.public_bounds()
    lower, upper = bounds.lower, bounds.upper
    if lower == upper:
        raise ParameterError(f"The bounds of column {column.name!r} are equal; there is nothing to collect.")
    made = CountNoise if column.kind is Kind.INTEGER else RecordLaplace
    return made(epsilon, lower, upper, missing=missing, neighbours=neighbours)  # type: ignore[arg-type]
