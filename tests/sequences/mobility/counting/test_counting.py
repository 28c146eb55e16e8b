"""Counts by norms: what a loop over people counts, and tables to which nobody adds more than a bound."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.counting import LEFT_OUT, CellLookup, CountingRule, HeldVisits, NormedCounts

_PLACES = 6
_DOMAIN = TrajectoryDomain.on(Ground(tuple(range(_PLACES))), longest=8, unit=Unit.person("card"))
_GROUPS = np.array([0, 0, 1, 1, 2, 2])
_APART = np.array([[0, 1, LEFT_OUT], [2, 0, 3], [4, 5, 0]])


def _trajectories(people: int = 40) -> Trajectories:
    draw = np.random.default_rng(2)
    owners = np.sort(draw.integers(0, people, 3 * people))
    lengths = draw.integers(0, 9, len(owners))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    minutes = np.concatenate([np.sort(draw.integers(-2_000, 5_000, each)) for each in lengths])
    codes = draw.integers(0, _PLACES, offsets[-1]).astype(np.int32)
    return Trajectories(_DOMAIN, codes, offsets, None, owners, minutes)


def _by_loops(found: Trajectories, square: bool) -> Counter[tuple[int, int]]:
    """Steps between groups that count, one more for staying, and the lengths of all, person by person."""
    assert found.owners is not None
    own: dict[int, Counter[int]] = {}
    for owner, places in zip(found.owners.tolist(), found, strict=True):
        mine = own.setdefault(owner, Counter())
        mine[100 + len(places)] += 1
        for before, here in pairwise((_PLACES, *places[:-1])):
            mine[20 + int(before) * _PLACES + int(here)] += 1
        for here, there in pairwise(places):
            value = int(_APART[_GROUPS[here], _GROUPS[there]])
            if value != LEFT_OUT:
                mine[value + (10 if here == there else 0)] += 1
    total: Counter[tuple[int, int]] = Counter()
    for mine in own.values():
        norm = sum(many**2 if square else many for many in mine.values())
        for cell, many in mine.items():
            total[norm, cell] += many
    return total


_RULES = [
    CountingRule("step", (CellLookup(("before", "here"), 20 + np.arange(42).reshape(7, 6)),)),
    CountingRule("step", (CellLookup(("here", "there"), _APART, _GROUPS), CellLookup(("same",), np.array([0, 10])))),
    CountingRule("trajectory", (CellLookup(("length",), 100 + np.arange(9)),)),
]


@pytest.mark.parametrize("square", [False, True])
def test_counts_are_those_of_a_loop_over_people(square: bool) -> None:
    """Written a second time without arrays."""
    found = HeldVisits(_trajectories()).tally(_RULES, square=square)
    assert dict(
        zip(zip(found.norms.tolist(), found.cells.tolist(), strict=True), found.counts.tolist(), strict=True)
    ) == (_by_loops(_trajectories(), square))


def _moved(without: int, weigh: object, square: bool) -> float:
    """By how much the table moves when one person leaves."""
    every = _trajectories()
    assert every.owners is not None
    tables = [
        HeldVisits(each).tally(_RULES, square=square).weighed(200, weigh)  # type: ignore[arg-type]
        for each in (every, every.take(every.owners != without))
    ]
    change = np.abs(tables[0] - tables[1]).astype(float)
    return float(np.sqrt((change**2).sum()) if square else change.sum())


@pytest.mark.parametrize("square", [False, True])
def test_nobody_moves_a_weighed_table_by_more_than_the_bound(square: bool) -> None:
    """Weights by the norm bound what one person adds; with weights that forget the norm, somebody adds more."""
    bound, parts = 3, 2**10

    def weigh(norms: np.ndarray) -> np.ndarray:
        long = np.sqrt(norms) if square else norms
        return np.minimum(np.floor(bound * parts / long), parts).astype(np.int64)

    assert max(_moved(person, weigh, square) for person in range(40)) <= bound * parts
    assert max(_moved(person, lambda norms: np.full(len(norms), parts), square) for person in range(40)) > bound * parts


def test_parts_of_whole_people_add_up() -> None:
    """The table of all is the sum of the tables of parts."""
    every = _trajectories()
    assert every.owners is not None
    halves = [HeldVisits(every.take(every.owners % 2 == half)).tally(_RULES) for half in (0, 1)]
    whole = HeldVisits(every).tally(_RULES).weighed(200, lambda norms: 1 + norms % 3)
    assert NormedCounts.together(halves).weighed(200, lambda norms: 1 + norms % 3).tolist() == whole.tolist()
    assert NormedCounts.together([]).weighed(3, lambda norms: norms).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("event", "lookups"),
    [
        ("journey", (CellLookup(("length",), np.arange(3)),)),
        ("visit", ()),
        ("visit", (CellLookup(("there",), np.arange(3)),)),
        ("trajectory", (CellLookup(("before",), np.arange(3)),)),
    ],
)
def test_a_rule_that_counts_nothing_is_refused(event: str, lookups: tuple[CellLookup, ...]) -> None:
    """Before anything is counted."""
    with pytest.raises(ParameterError):
        CountingRule(event, lookups)  # type: ignore[arg-type]


def test_a_lookup_has_an_axis_for_each_fact() -> None:
    """And each fact once."""
    with pytest.raises(ParameterError, match="one axis"):
        CellLookup(("here", "there"), np.arange(3))
    with pytest.raises(ParameterError, match="one axis"):
        CellLookup(("here", "here"), np.eye(3))
