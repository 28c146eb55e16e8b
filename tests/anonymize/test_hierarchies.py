"""Every builder makes a tree with one label at the top, whose labels say nothing false of the values under them."""

import os
import re
from datetime import date
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.anonymize import (
    AllOrNothing,
    Builder,
    CalendarParts,
    FrequentFirst,
    GivenTree,
    Intervals,
    MaskedEnds,
    NeighbouringGroups,
    QuantileIntervals,
    propose,
    read_hierarchies,
    reads_values,
)
from ziggurat.data import Bounds, Categories, Column, Hierarchy, Kind
from ziggurat.errors import DataError, ParameterError, SchemaError, ZigguratError

_INTEGERS = st.integers(-(2**63), 2**63 - 1)
_REALS = st.floats(allow_nan=False, allow_infinity=False)
_MODEST = st.floats(-1e6, 1e6, allow_subnormal=False)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_NUMBERS = st.one_of(
    st.lists(_INTEGERS, min_size=1), st.lists(_MODEST, min_size=1), st.lists(st.integers(0, 99), min_size=1)
)
_FALLING = st.sets(st.integers(1, 12), min_size=1, max_size=3).map(lambda kept: tuple(sorted(kept, reverse=True)))
_SMALL = st.integers(2, 5)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[Builder, list[Any]]:
    ends = sorted(draw(st.lists(st.integers(-100, 100), min_size=2, max_size=2)))
    lower, upper = (end if draw(st.booleans()) else None for end in ends)
    whole = draw(st.booleans())
    width = draw(st.integers(1, 50)) if whole else draw(st.sampled_from([0.1, 0.25, 0.003, 5, 7.5]))
    values = draw(st.lists(st.one_of(_INTEGERS, st.integers(-120, 120)) if whole else _MODEST, min_size=1))
    return Intervals(width, draw(st.integers(1, 4)), draw(_SMALL), lower, upper), values


@st.composite
def given_trees(draw: st.DrawFn) -> tuple[Builder, list[Any]]:
    values = draw(st.sets(_TEXT, min_size=1, max_size=8))
    tree: dict[str, Any] = {}
    for value in values:
        first, second = draw(st.sampled_from("abc")), draw(st.sampled_from("123"))
        if first == "c":
            tree.setdefault(first, []).append(value)
        else:
            tree.setdefault(first, {}).setdefault(first + second, []).append(value)
    return GivenTree(tree), draw(st.lists(st.sampled_from(sorted(values))))


BUILT = st.one_of(
    intervals(),
    st.tuples(st.builds(QuantileIntervals, st.integers(2, 9), _SMALL), _NUMBERS),
    st.tuples(st.sampled_from([CalendarParts(), CalendarParts(("year",))]), st.lists(st.dates(), min_size=1)),
    st.tuples(
        st.builds(MaskedEnds, st.none() | _FALLING, st.sampled_from(["left", "right"]), st.none(), st.booleans()),
        st.one_of(st.lists(_TEXT.filter(bool), min_size=1), st.lists(_INTEGERS, min_size=1)),
    ),
    st.tuples(st.builds(FrequentFirst, _FALLING), st.lists(st.sampled_from(["other", "*", "a", "b", "c"]), min_size=1)),
    st.lists(_TEXT, min_size=1, unique=True).map(lambda order: (NeighbouringGroups(tuple(order)), order)),
    st.tuples(st.just(AllOrNothing()), st.one_of(st.lists(_REALS, min_size=1), st.lists(st.booleans(), min_size=1))),
    given_trees(),
)


@given(BUILT)
def test_every_built_hierarchy_is_a_tree_with_one_label_at_the_top(drawn: tuple[Builder, list[Any]]) -> None:
    builder, values = drawn
    hierarchy = builder.build(values)
    rows = list(hierarchy.levels.values())
    assert set(values) <= set(hierarchy.levels)
    assert len({row[-1] for row in rows}) == 1
    for level in range(hierarchy.depth - 1):
        pairs = {(row[level], row[level + 1]) for row in rows}
        assert len(pairs) == len({below for below, _ in pairs})
    assert builder.describe().endswith(".")


@given(
    st.one_of(
        intervals(),
        st.tuples(st.just(QuantileIntervals(6)), _NUMBERS),
        st.tuples(st.just(CalendarParts()), st.lists(st.dates(), min_size=1)),
        st.lists(_TEXT, min_size=1, unique=True).map(lambda order: (NeighbouringGroups(tuple(order)), order)),
    )
)
def test_labels_never_reverse_an_order(drawn: tuple[Builder, list[Any]]) -> None:
    builder, values = drawn
    levels = builder.build(values).levels
    order = values if isinstance(builder, NeighbouringGroups) else sorted(levels)
    for labels in zip(*(levels[value] for value in order), strict=True):
        runs = [label for label, _ in groupby(labels)]
        assert len(runs) == len(set(runs))


def contains(label: str, value: int | float) -> bool:
    """Whether a number is in an interval, by the words of its label alone."""
    number = Decimal(repr(value))
    if label == "*":
        return True
    if found := re.fullmatch(r"(<|>=|>)(.+)", label):
        end = Decimal(found[2])
        return {"<": number < end, ">": number > end, ">=": number >= end}[found[1]]
    if found := re.fullmatch(r"\[(.+), (.+)([\])])", label):
        start, end = Decimal(found[1]), Decimal(found[2])
        return start <= number < end or (found[3] == "]" and number == end)
    found = re.fullmatch(r"(-?\d+)(?:(?:-| to )(-?\d+))?", label)
    assert found is not None
    return int(found[1]) <= value <= int(found[2] or found[1])


@given(st.one_of(intervals(), st.tuples(st.just(QuantileIntervals(5)), _NUMBERS)))
def test_intervals_contain_their_values(drawn: tuple[Builder, list[Any]]) -> None:
    builder, values = drawn
    for value, labels in builder.build(values).levels.items():
        assert all(contains(label, value) for label in labels)  # type: ignore[arg-type]


def test_the_check_of_intervals_finds_a_value_that_is_outside() -> None:
    wrong = [("20-24", 25), ("-5 to -1", 0), ("[0.1, 0.2)", 0.2), ("<18", 18), (">=5", 4), (">90", 90), ("7", 8)]
    assert not any(contains(label, value) for label, value in wrong)


def test_whole_numbers_and_reals_are_labelled_as_people_write_them() -> None:
    assert Intervals(5).build([34]).levels[34] == ("30-34", "30-39", "20-39", "*")
    assert Intervals(5, levels=1).build([-3]).levels[-3] == ("-5 to -1", "*")
    assert Intervals(5, levels=1).build([20.5]).levels[20.5] == ("[20, 25)", "*")
    tenths = Intervals(0.1, levels=1).build([tenth / 10 for tenth in range(10)])
    assert [labels[0] for labels in tenths.levels.values()][2:4] == ["[0.2, 0.3)", "[0.3, 0.4)"]


def test_numbers_outside_the_ends_are_coded_at_bottom_and_top() -> None:
    built = Intervals(10, levels=2, lower=18, upper=90).build([17, 18, 90, 91]).levels
    assert built[17] == ("<18", "<18", "*")
    assert built[18] == ("18-27", "18-37", "*")
    assert built[90] == ("88-90", "78-90", "*")
    assert built[91] == (">90", ">90", "*")
    assert Intervals(5, levels=1, lower=0, upper=10).build([10.0]).levels[10.0] == ("[5, 10]", "*")


def test_quantile_intervals_hold_about_equally_many_rows_and_hide_the_extremes() -> None:
    built = QuantileIntervals(groups=4).build(dict.fromkeys(range(1000, 1100), 3)).levels
    first = [labels[0] for labels in built.values()]
    assert {label: first.count(label) for label in first} == {
        "<1025": 25,
        "1025-1049": 25,
        "1050-1074": 25,
        ">=1075": 25,
    }
    assert not any("1000" in label or "1099" in label for labels in built.values() for label in labels)


def test_frequent_numbers_weigh_more() -> None:
    built = QuantileIntervals(groups=2).build({1: 1, 2: 1, 3: 98}).levels
    assert (built[1], built[3]) == (("*", "*"), ("*", "*"))
    assert QuantileIntervals(groups=2).build({1: 60, 2: 1, 3: 39}).levels[1] == ("<2", "*")


def test_postcodes_are_masked_from_either_end() -> None:
    assert MaskedEnds().build(["CV12"]).levels["CV12"] == ("CV1*", "CV*", "C*", "*")
    assert MaskedEnds(fill=True).build(["81667"]).levels["81667"][:2] == ("8166*", "816**")
    assert MaskedEnds((2,), side="left").build(["81667"]).levels["81667"] == ("*67", "*")
    assert MaskedEnds((2,)).build([1067, 81667]).levels[1067] == ("01*", "*")
    assert len(MaskedEnds().build(["x" * 100]).levels["x" * 100]) == 8


def test_rare_categories_are_merged_first() -> None:
    built = FrequentFirst((2, 1)).build(["a"] * 5 + ["b"] * 3 + ["c"]).levels
    assert built == {"a": ("a", "a", "*"), "b": ("b", "other", "*"), "c": ("other", "other", "*")}


def test_a_tree_is_read_from_yaml_and_keeps_ranks_level(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text("Europe:\n  North: [NO, SE]\n  South: [IT]\nAsia: [JP]\n")
    built = GivenTree.from_yaml(tmp_path / "world.yaml").build(["NO", None]).levels
    assert built["NO"] == ("North", "Europe", "*")
    assert built["JP"] == ("Asia", "Asia", "*")


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Intervals(0), "above zero"),
        (lambda: Intervals(float("nan")), "finite"),
        (lambda: Intervals(5, factor=1), "The factor must be a whole number of at least 2"),
        (lambda: Intervals(5, levels=2000), "fewer levels"),
        (lambda: Intervals(5, lower=2, upper=1), "swap them"),
        (lambda: Intervals(0.5).build([1]), "must be whole"),
        (lambda: Intervals(1e-9).build([1e300]), "too narrow"),
        (lambda: Intervals(5).build(["secret"]), "all whole numbers or all numbers"),
        (lambda: Intervals(5).build([None, float("nan")]), "no values"),
        (lambda: QuantileIntervals(1), "at least 2"),
        (lambda: CalendarParts(("year", "month")), "in order"),
        (lambda: CalendarParts().build([1]), "all dates"),
        (lambda: MaskedEnds((2, 3)), "fewer characters"),
        (lambda: MaskedEnds(length=3).build(["secret"]), "more than 3 characters"),
        (lambda: MaskedEnds(side="middle"), "'right' or 'left'"),
        (lambda: FrequentFirst(()), "fewer values"),
        (lambda: FrequentFirst().build({"secret": -1}), "not below zero"),
        (lambda: NeighbouringGroups(("a", "a")), "each category once"),
        (lambda: NeighbouringGroups(("a", "b")).build(["secret", "a"]), "1 value is not in the order"),
        (lambda: GivenTree({"a": ["b"]}).build(["secret", "more"]), "2 values are not in the tree"),
        (lambda: GivenTree({"a": ["b"], "c": ["b"]}).build(), "in two places"),
        (lambda: GivenTree({"a": {"x": ["b"]}, "c": {"x": ["d"]}}).build(), "not a tree"),
        (lambda: GivenTree({"a": []}).build(), "no values"),
        (lambda: GivenTree({"a": [["b"]]}).build(), "lists of values"),
        (lambda: AllOrNothing().build([1, "secret"]), "all text or all whole numbers"),
        (lambda: propose(Column("c", "text")), "pass the values"),
        (lambda: propose(Column("c", "integer"), ["secret"]), "must map integer values"),
    ],
)
def test_what_cannot_be_built_is_one_sentence_without_a_value(build: Any, sentence: str) -> None:
    with pytest.raises((ParameterError, DataError, SchemaError)) as caught:
        build()
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "values", "builder"),
    [
        (Column("smoker", "boolean"), None, AllOrNothing()),
        (Column("age", "integer", bounds=Bounds(0, 120)), None, Intervals(5, levels=4)),
        (Column("age", "integer"), range(18, 99), Intervals(5, levels=4)),
        (Column("bmi", "real", bounds=Bounds(0.0, 60.0)), [20.1, 30.2], Intervals(2.0, levels=4)),
        (Column("stars", "integer", bounds=Bounds(1, 5)), None, AllOrNothing()),
        (Column("born", "date"), [date(2024, 1, 1)], CalendarParts()),
        (Column("zip", "integer"), [81667, 81675, 10115], MaskedEnds((3,))),
        (Column("where", "text"), [f"CV{i}" for i in range(10, 60)], MaskedEnds((3,))),
        (
            Column("pain", "category", categories=Categories(("none", "mild", "bad"), ordered=True)),
            None,
            NeighbouringGroups(("none", "mild", "bad")),
        ),
        (Column("sex", "category", categories=Categories(("f", "m"))), None, AllOrNothing()),
        (Column("job", "text"), {f"job {'abcdefgh'[i]}": i for i in range(8)}, FrequentFirst((4, 2))),
    ],
)
def test_a_proposal_fits_the_column(column: Column, values: Any, builder: Builder) -> None:
    made = propose(column, values)
    assert made.builder == builder
    assert builder.describe() in made.reason
    assert made.learned is (values is not None)


def test_what_is_public_needs_no_values_and_lists_none_of_them() -> None:
    age = Column("age", "integer", bounds=Bounds(0, 120))
    assert not reads_values(age)
    assert list(propose(age, [34, 777]).hierarchy.levels) == list(range(121))
    assert reads_values(Column("age", "integer", bounds=Bounds(0, 120, "learned")))
    assert reads_values(Column("job", "category", categories=Categories(("a", "b"))))


@given(
    st.sampled_from(list(Kind)),
    st.one_of(
        *(st.lists(each | st.none(), max_size=8) for each in (_TEXT, _INTEGERS, _REALS, st.dates(), st.booleans()))
    ),
)
def test_any_values_get_a_proposal_or_an_error_of_ours(kind: Kind, values: list[Any]) -> None:
    try:
        made = propose(Column("c", kind), values)
    except ZigguratError:
        return
    if kind is Kind.BOOLEAN:  # whose values are public
        assert set(made.hierarchy.levels) == {False, True}
    else:
        assert {value for value in values if value is not None} == set(made.hierarchy.levels)


@pytest.mark.data
def test_intervals_repeat_the_published_hierarchy_of_ages() -> None:
    folder = os.environ.get("ZIGGURAT_DATA")
    if not folder:
        pytest.skip("ZIGGURAT_DATA is not set")
    published = read_hierarchies(Path(folder) / "arx_adult_hierarchies.csv.gz")["age"]
    # The file counts from one, but calls its first interval 0-4: its labels are ours, one year late.
    ours = Intervals(5, levels=3).build(range(100))
    assert published == Hierarchy({age + 1: labels for age, labels in ours.levels.items()})
