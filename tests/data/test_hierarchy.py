"""A hierarchy is a tree over values of one sort, and a column takes one that fits its kind."""

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.data import Column, Hierarchy, Kind, Schema, read
from ziggurat.errors import SchemaError

DAY = date(2024, 2, 29)
_VALUES = {
    Kind.TEXT: st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    Kind.INTEGER: st.integers(-(2**63), 2**63 - 1),
    Kind.REAL: st.floats(allow_nan=False, allow_infinity=False),
    Kind.DATE: st.dates(),
    Kind.BOOLEAN: st.booleans(),
}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "é"], Kind.TEXT),
        ([1, -(2**63)], Kind.INTEGER),
        ([1, 0.5], Kind.REAL),
        ([DAY], Kind.DATE),
        ([False, True], Kind.BOOLEAN),
    ],
)
def test_the_values_of_a_hierarchy_are_of_one_sort(values: list[Any], kind: Kind) -> None:
    assert Hierarchy(dict.fromkeys(values, ("*",))).kind is kind


@pytest.mark.parametrize(
    "values",
    [["a", 1], [2, True], [float("nan")], [float("inf")], [2**63, "a"], [datetime(2024, 1, 1)], [None], [DAY, 1]],
)
def test_values_of_several_sorts_or_of_none_are_refused(values: list[Any]) -> None:
    with pytest.raises(SchemaError, match="all text, all numbers, all dates or all truth values"):
        Hierarchy(dict.fromkeys(values, ("*",)))


def test_whole_numbers_among_reals_become_reals() -> None:
    hierarchy = Hierarchy({1: ("*",), 0.5: ("*",)})
    assert [type(value) for value in hierarchy.levels] == [float, float]
    with pytest.raises(SchemaError, match="the same real number"):
        Hierarchy({2**53: ("*",), 2**53 + 1: ("*",), 0.5: ("*",)})


def test_a_label_with_two_labels_above_it_is_no_tree() -> None:
    with pytest.raises(SchemaError) as caught:
        Hierarchy({"secret1": ("a", "x", "*"), "secret2": ("b", "y", "*"), "secret3": ("b", "x", "*")})
    assert str(caught.value).startswith("The hierarchy is not a tree: at level 1 a label has more than one label above")
    assert "secret" not in str(caught.value)
    with pytest.raises(SchemaError, match="at level 2 "):
        Hierarchy({1: ("a", "x", "p"), 2: ("b", "x", "q")})


@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=6))
def test_what_is_accepted_is_a_tree_and_what_is_refused_is_none(rows: list[tuple[str, ...]]) -> None:
    parents = [{(row[level], row[level + 1]) for row in rows} for level in range(2)]
    is_tree = all(len(pairs) == len({label for label, _ in pairs}) for pairs in parents)
    try:
        Hierarchy(dict(enumerate(rows)))
    except SchemaError:
        assert not is_tree
    else:
        assert is_tree


def test_the_lowest_level_is_the_value_as_people_write_it() -> None:
    assert Hierarchy({DAY: ("2024",)}).label(DAY, 0) == "2024-02-29"
    assert Hierarchy({True: ("*",)}).label(True, 0) == "true"
    assert Hierarchy({0.5: ("*",)}).label(0.5, 0) == "0.5"


@pytest.mark.parametrize(("kind", "value"), [("integer", 1), ("real", 0.5), ("date", DAY), ("boolean", True)])
def test_a_column_takes_a_hierarchy_of_its_kind_only(kind: str, value: Any) -> None:
    assert Column("c", kind, hierarchy=Hierarchy({value: ("*",)})).hierarchy is not None
    with pytest.raises(SchemaError, match=f"The hierarchy of column 'c' must map {kind} values"):
        Column("c", kind, hierarchy=Hierarchy({"a": ("*",)}))
    with pytest.raises(SchemaError, match="must map text values"):
        Column("c", "text", hierarchy=Hierarchy({value: ("*",)}))


def test_whole_numbers_stand_for_reals_and_truth_values() -> None:
    real = Column("c", "real", hierarchy=Hierarchy({1: ("*",)})).hierarchy
    truth = Column("c", "boolean", hierarchy=Hierarchy({0: ("*",), 1: ("*",)})).hierarchy
    assert real is not None
    assert real.kind is Kind.REAL
    assert truth is not None
    assert truth.kind is Kind.BOOLEAN
    with pytest.raises(SchemaError, match="boolean"):
        Column("c", "boolean", hierarchy=Hierarchy({2: ("*",)}))


@given(
    st.sampled_from(list(_VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), st.sets(_VALUES[kind], min_size=1)))
)
def test_a_schema_keeps_its_hierarchies(drawn: tuple[Kind, set[Any]]) -> None:
    kind, values = drawn
    schema = Schema((Column("c", kind, hierarchy=Hierarchy({value: (f"{value}!", "*") for value in values})),))
    assert Schema.from_yaml(schema.to_yaml() + "\n") == schema
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert again["c"].hierarchy is not None
    assert again["c"].hierarchy.kind is kind


def test_a_schema_names_the_file_of_a_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "born.csv").write_text("2024-02-29;2024;*\n2023-01-01;2023;*\n")
    (tmp_path / "all.csv").write_text("attribute,level0,level1\nland,01,*\nland,2,*\ncode,1,*\n")
    (tmp_path / "people.yaml").write_text(
        "columns:\n  born: {kind: date, hierarchy: {file: born.csv}}\n"
        "  land: {kind: category, hierarchy: {file: all.csv}}\n"
        "  code: {kind: category, categories: [1], hierarchy: {file: all.csv}}\n"
    )
    schema = Schema.from_yaml(tmp_path / "people.yaml")
    assert schema["born"].hierarchy == Hierarchy({DAY: ("2024", "*"), date(2023, 1, 1): ("2023", "*")})
    assert schema["land"].hierarchy == Hierarchy({"01": ("*",), "2": ("*",)})
    assert schema["code"].hierarchy == Hierarchy({1: ("*",)})


def test_only_a_schema_in_a_file_names_files(tmp_path: Path) -> None:
    text = "columns:\n  born: {kind: date, hierarchy: {file: born.csv}}\n"
    with pytest.raises(SchemaError, match="Only a schema that is a file itself"):
        Schema.from_yaml(text)
    (tmp_path / "people.yaml").write_text(text)
    with pytest.raises(SchemaError, match=r"line 2: Column 'born': The hierarchy file .* does not exist"):
        Schema.from_yaml(tmp_path / "people.yaml")


@pytest.mark.parametrize(
    ("kind", "cells", "known"), [("date", [DAY, date(1999, 1, 1)], DAY), ("real", [0.5, 2.5], 0.5)]
)
def test_values_outside_a_hierarchy_of_any_kind_are_counted(kind: str, cells: list[Any], known: Any) -> None:
    import pyarrow as pa

    schema = Schema((Column("c", kind, hierarchy=Hierarchy({known: ("*",)})),))
    (problem,) = read(pa.table({"c": cells}), schema).validate()
    assert str(problem) == "Column 'c': 1 cell is not among the hierarchy."
