"""Propose a hierarchy for a column, from what is publicly known of it or else from its values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from ziggurat.anonymize.hierarchies._categories import AllOrNothing, FrequentFirst, GivenTree, NeighbouringGroups
from ziggurat.anonymize.hierarchies._intervals import Intervals, QuantileIntervals
from ziggurat.anonymize.hierarchies._text import CalendarParts, MaskedEnds
from ziggurat.anonymize.hierarchies._values import Builder, Values, count_values
from ziggurat.cards import Shown
from ziggurat.data import Bounds, Column, Hierarchy, Kind, Provenance, read_hierarchies, read_hierarchy, write_hierarchy
from ziggurat.data.schema import Value
from ziggurat.errors import ParameterError

__all__ = [
    "AllOrNothing",
    "Builder",
    "CalendarParts",
    "FrequentFirst",
    "GivenTree",
    "HierarchyProposal",
    "Intervals",
    "MaskedEnds",
    "NeighbouringGroups",
    "QuantileIntervals",
    "propose",
    "read_hierarchies",
    "read_hierarchy",
    "reads_values",
    "write_hierarchy",
]

_MOST_LISTED = 40_000  # whole numbers or days between public bounds; a century of days is fewer
_ABOUT = 20  # intervals of the first level
_FEW = 5  # categories that are not worth merging
_POSTCODE_NAME = re.compile(r"zip|plz|postal|post_?code|postcode", re.IGNORECASE)
_POSTCODE = re.compile(r"[A-Z]{0,3}-?[0-9][0-9A-Z]{0,5}([ -][0-9A-Z]{1,4})?")
_LIKE_POSTCODES = 0.95


@dataclass(frozen=True)
class HierarchyProposal(Shown):
    """A hierarchy that seems sensible, and why.

    Parameters
    ----------
    builder
        What made it; build another with other parameters if this one does not suit.
    hierarchy
        The hierarchy itself.
    reason
        Why this builder, and what its levels are.
    learned
        Whether anything in it (its values, its ends, its order) was read off the data. Then it is for the steward's
        eyes: even the list of its values says that somebody has each of them.
    """

    builder: Builder
    hierarchy: Hierarchy
    reason: str
    learned: bool


def propose(column: Column, values: Values | None = None) -> HierarchyProposal:
    """Propose a hierarchy for a column.

    Truth values are kept or dropped; dates go by the calendar; numbers get intervals of a round width, about 20 of
    them; ordered categories get groups of neighbours; what looks like postcodes is masked from the right; of many
    other values the most frequent are kept. Where public bounds or categories list all values, the hierarchy covers
    exactly these and none is taken from the data.

    Parameters
    ----------
    column
        As the schema declares it.
    values
        Its values, each as often as it occurs or with its number of rows; not needed where `reads_values` is false.
    """
    public = _public_values(column)
    if public is None and values is None:
        raise ParameterError(
            f"Column {column.name!r} has no public bounds or categories that list its values; pass the values."
        )
    given = values if values is not None else public
    assert given is not None
    builder, why = _choose(column, given)
    learned = public is None or isinstance(builder, FrequentFirst) or not _is_public(column)
    listed = given if public is None else _merge(public, values)
    hierarchy = builder.build(listed)
    replace(column, hierarchy=hierarchy)  # refuses values of another kind than the column's
    return HierarchyProposal(builder, hierarchy, f"{why} {builder.describe()}", learned)


def reads_values(column: Column) -> bool:
    """Return whether a proposal for this column needs its values, or is worse without."""
    return _public_values(column) is None or (column.kind is Kind.CATEGORY and not _is_ordered(column))


def _merge(public: list[Value], values: Values | None) -> dict[Any, int]:
    """The public values, with the number of rows that hold each."""
    counts: Mapping[Any, int] = {} if values is None else count_values(values)[1]
    return {value: counts.get(value, 0) for value in public}


def _public_values(column: Column) -> list[Value] | None:
    """Every value that the column may have, if that is publicly known and not too long a list."""
    if column.kind is Kind.BOOLEAN:
        return [False, True]
    if not _is_public(column):
        return None
    if column.categories is not None:
        return list(column.categories.values)
    return _between(column.bounds) if column.bounds is not None else None


def _is_public(column: Column) -> bool:
    known = column.bounds or column.categories
    return column.kind is Kind.BOOLEAN or (known is not None and known.provenance is Provenance.PUBLIC)


def _between(bounds: Bounds) -> list[Value] | None:
    lower, upper = bounds.lower, bounds.upper
    if isinstance(lower, date) and isinstance(upper, date):
        days = (upper - lower).days
        return [lower + timedelta(day) for day in range(days + 1)] if days < _MOST_LISTED else None
    if isinstance(lower, int) and isinstance(upper, int):
        return list(range(lower, upper + 1)) if upper - lower < _MOST_LISTED else None
    return None


def _is_ordered(column: Column) -> bool:
    return column.categories is not None and column.categories.ordered


def _choose(column: Column, values: Values) -> tuple[Builder, str]:
    if column.kind is Kind.BOOLEAN:
        return AllOrNothing(), "There are only two truth values."
    sort, counts = count_values(values)
    if sort is Kind.DATE:
        return CalendarParts(), "Dates go by the calendar."
    if column.categories is not None and column.categories.ordered and len(column.categories.values) > 2:
        return NeighbouringGroups(column.categories.values), "The categories have an order."
    if sort in (Kind.TEXT, Kind.INTEGER) and _like_postcodes(column, counts):
        return _choose_masks(counts), "The values look like postcodes."
    if sort in (Kind.INTEGER, Kind.REAL) and column.kind is not Kind.CATEGORY:
        return _intervals(column, counts, sort), "Numbers fall into intervals."
    return _by_frequency(counts)


def _like_postcodes(column: Column, counts: Mapping[Value, int]) -> bool:
    if _POSTCODE_NAME.search(column.name):
        return True
    if not all(isinstance(value, str) for value in counts) or len(counts) <= _FEW:
        return False
    fitting = sum(len(str(value)) > 3 and _POSTCODE.fullmatch(str(value)) is not None for value in counts)
    return fitting >= _LIKE_POSTCODES * len(counts)


def _choose_masks(counts: Mapping[Value, int]) -> Builder:
    """Masks of which each merges something and leaves something to tell apart."""
    every = MaskedEnds().build(counts)
    sizes = [len(counts), *(len(set(labels)) for labels in zip(*every.levels.values(), strict=True))]
    kept = MaskedEnds().characters_kept(max(len(str(value)) for value in counts))
    useful = [count for count, below, size in zip(kept, sizes, sizes[1:], strict=False) if below > size > 1]
    return MaskedEnds(tuple(useful)) if useful else AllOrNothing()


def _intervals(column: Column, counts: Mapping[Any, int], sort: Kind) -> Builder:
    lower, upper = (column.bounds.lower, column.bounds.upper) if column.bounds else (min(counts), max(counts))
    span = float(upper) - float(lower)  # type: ignore[arg-type]
    if not 0 < span < math.inf or (sort is Kind.INTEGER and span < _FEW):
        return AllOrNothing()
    width = _round_width(span / _ABOUT, whole=sort is Kind.INTEGER)
    levels = max(1, math.floor(math.log2(span / width)))
    return Intervals(width, levels=levels)


def _round_width(about: float, *, whole: bool) -> int | float:
    """The round number (1, 2 or 5 and zeros) nearest to `about` by ratio; at least 2 for whole numbers."""
    power = math.floor(math.log10(about))
    steps = [(step, power + up) for up in (0, 1) for step in (1, 2, 5)]
    step, zeros = min(steps, key=lambda each: abs(math.log10(each[0]) + each[1] - math.log10(about)))
    if whole:
        return max(2, step * 10**zeros) if zeros >= 0 else 2
    return float(f"{step}e{zeros}")


def _by_frequency(counts: Mapping[Value, int]) -> tuple[Builder, str]:
    if len(counts) <= _FEW:
        return AllOrNothing(), "There are too few values to merge some of them."
    if len(set(counts.values())) == 1:
        return AllOrNothing(), "Nothing is known of how the values belong together; give a tree."
    kept = [count for count in (len(counts) // 2, len(counts) // 4) if count]
    return FrequentFirst(tuple(min(count, most) for count, most in zip(kept, (20, 10), strict=False))), (
        "Nothing is known of how the values belong together, so rare ones are merged; a tree would be better."
    )
