"""A schema is a mapping of columns that survives every form it is written in."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.data import Bounds, Categories, Column, Hierarchy, Kind, Provenance, Role, Schema, Unit
from ziggurat.errors import SchemaError

CLINIC = Schema(
    (
        Column("patient", "text", "identifier"),
        Column("age", "integer", "quasi-identifier", Bounds(0, 120)),
        Column("cost", "real", "sensitive", Bounds(0, 1e6)),
    ),
    Unit.person("patient"),
    "clinic",
)


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_NAME = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(str.isprintable)
_INT64 = st.integers(-(2**63), 2**63 - 1)
_REAL = st.floats(allow_nan=False, allow_infinity=False)
_CODES = st.one_of(
    st.lists(_TEXT, min_size=1, max_size=4, unique=True), st.lists(_INT64, min_size=1, max_size=4, unique=True)
)
_ENDS: dict[Kind, st.SearchStrategy[Any]] = {Kind.INTEGER: _INT64, Kind.REAL: _REAL, Kind.DATE: st.dates()}


@st.composite
def columns(draw: st.DrawFn, name: str) -> Column:
    kind = draw(st.sampled_from(Kind))
    bounds, categories, hierarchy = None, None, None
    if kind in _ENDS and draw(st.booleans()):
        lower, upper = sorted((draw(_ENDS[kind]), draw(_ENDS[kind])))
        bounds = Bounds(lower, upper, draw(st.sampled_from(Provenance)))
    if kind is Kind.CATEGORY and draw(st.booleans()):
        values = draw(_CODES)
        categories = Categories(tuple(values), draw(st.sampled_from(Provenance)), draw(st.booleans()))
        if draw(st.booleans()):
            hierarchy = Hierarchy({value: (draw(_TEXT), "*") for value in values})
    missing = tuple(draw(st.lists(st.one_of(_TEXT, _INT64, _REAL), max_size=2)))
    return Column(name, kind, draw(st.sampled_from(Role)), bounds, categories, hierarchy, missing, draw(_TEXT))


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(_NAME, min_size=1, max_size=4, unique_by=str.lower))
    made = tuple(draw(columns(name)) for name in names)
    unit = draw(st.sampled_from([Unit.row(), Unit.person(names[0]), Unit.of(names[-1], "firm")]))
    return Schema(made, unit, draw(_TEXT), draw(_TEXT))


def test_a_schema_is_a_mapping_of_names_to_columns() -> None:
    assert list(CLINIC) == ["patient", "age", "cost"]
    assert CLINIC["age"].bounds == Bounds(0, 120)
    assert "age" in CLINIC
    assert "agee" not in CLINIC
    assert len(CLINIC) == 3


def test_an_unknown_column_names_the_nearest() -> None:
    with pytest.raises(SchemaError, match=r"There is no column 'agee' in the schema; did you mean 'age'\?"):
        CLINIC["agee"]


def test_select_keeps_the_column_of_the_unit() -> None:
    assert CLINIC.select(["cost"]).names == ("cost", "patient")
    assert CLINIC.with_unit(Unit.row()).select(["cost"]).names == ("cost",)


def test_with_column_replaces_or_appends() -> None:
    changed = CLINIC.with_column(Column("age", "real")).with_column(Column("new", "text"))
    assert changed.names == ("patient", "age", "cost", "new")
    assert changed["age"].kind == "real"


def test_columns_are_found_by_role() -> None:
    assert [column.name for column in CLINIC.with_role(Role.SENSITIVE, Role.IDENTIFIER)] == ["patient", "cost"]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ((), "at least one column"),
        ((Column("a", "text"), Column("a", "real")), "Column 'a' is declared twice"),
        ((Column("a", "text"), Column("A", "real")), "differ only in case"),
    ],
)
def test_columns_have_distinct_names(columns: tuple[Column, ...], sentence: str) -> None:
    with pytest.raises(SchemaError, match=sentence):
        Schema(columns)


def test_the_column_of_the_unit_is_in_the_schema() -> None:
    with pytest.raises(SchemaError, match=r"The unit's column 'agee' is not in the schema; did you mean 'age'\?"):
        Schema((Column("age", "integer"),), Unit.person("agee"))


@given(schemas())
def test_dictionaries_and_json_round_trip(schema: Schema) -> None:
    assert Schema.from_dict(schema.to_dict()) == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@given(schemas())
def test_yaml_round_trips(schema: Schema) -> None:
    again = Schema.from_yaml(schema.to_yaml())
    assert again == schema
    assert again.fingerprint() == schema.fingerprint()


def test_the_fingerprint_ignores_order_and_sees_every_change() -> None:
    turned = Schema(tuple(reversed(CLINIC.columns)), CLINIC.unit, CLINIC.name)
    assert turned.fingerprint() == CLINIC.fingerprint()
    changed = CLINIC.with_column(Column("age", "integer", "quasi-identifier", Bounds(0, 120, "learned")))
    assert changed.fingerprint() != CLINIC.fingerprint()


def test_a_schema_file_round_trips(tmp_path: Path) -> None:
    CLINIC.to_yaml(tmp_path / "clinic.yaml")
    assert Schema.from_yaml(tmp_path / "clinic.yaml") == CLINIC
    assert Schema.from_yaml(str(tmp_path / "clinic.yaml")) == CLINIC
    assert [file.name for file in tmp_path.iterdir()] == ["clinic.yaml"]
