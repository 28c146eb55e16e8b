"""A schema file says what is wrong with it, and where."""

import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.data import Bounds, Categories, Provenance, Schema, Symbols, Unit
from ziggurat.errors import SchemaError

CLINIC = """\
name: clinic
unit: {person: patient_id}
columns:
  patient_id: {kind: text, role: identifier}
  age: {kind: integer, role: quasi-identifier, bounds: [0, 120]}
  land: {kind: category, categories: [NO, SE, "1e5", 01234, yes], categories_from: learned}
  seen: {kind: date, bounds: [2020-01-01, 2024-12-31]}
  job: {kind: category, categories: [a, b], hierarchy: {a: [x, "*"], b: [x, "*"]}, missing: ["?", -8]}
"""


def test_what_people_write_is_understood() -> None:
    schema = Schema.from_yaml(CLINIC)
    assert schema.unit == Unit.person("patient_id")
    assert schema["age"].bounds == Bounds(0, 120, Provenance.PUBLIC)
    assert schema["seen"].bounds == Bounds(datetime.date(2020, 1, 1), datetime.date(2024, 12, 31))
    assert schema["job"].missing == ("?", -8)


def test_categories_that_look_like_something_else_stay_text() -> None:
    values = ("NO", "SE", "1e5", "01234", "yes")
    assert Schema.from_yaml(CLINIC)["land"].categories == Categories(values, "learned")


def test_sequences_are_declared_with_their_tokens_and_come_back() -> None:
    written = "columns:\n  seq: {kind: text, sequence: {tokens: [on, '2'], longest: 5, separator: ','}}\n"
    schema = Schema.from_yaml(written)
    assert schema["seq"].sequence == Symbols(("on", "2"), 5, ",")
    assert Schema.from_yaml(schema.to_yaml()) == schema
    assert "sequence" not in Schema.from_yaml(CLINIC).to_dict()["columns"]["age"]


@pytest.mark.parametrize("sequence", ["[a, b]", "{tokens: [a]}", "{tokens: a, longest: 3}", "{tokens: [a], long: 3}"])
def test_half_a_declaration_of_sequences_is_refused(sequence: str) -> None:
    with pytest.raises(SchemaError, match=r"sequence|tokens"):
        Schema.from_yaml("columns:\n  seq: {kind: text, sequence: " + sequence + "}\n")


def test_the_written_form_is_pleasant() -> None:
    text = Schema.from_yaml(CLINIC).to_yaml()
    assert "unit: {person: patient_id}\n" in text
    assert "bounds: [2020-01-01, 2024-12-31]\n" in text
    assert "categories: ['NO', SE, '1e5', '01234', 'yes']\n" in text


@pytest.mark.parametrize(
    ("line", "text", "sentence"),
    [
        (2, "columns:\n  age: {knd: integer}\n", "unknown key 'knd'; did you mean 'kind'?"),
        (1, "colums:\n  age: {kind: integer}\n", "unknown key 'colums'; did you mean 'columns'?"),
        (3, "columns:\n  a: {kind: text}\n  b: {kind: intger}\n", "Column 'b': 'intger' is not a kind"),
        (2, "columns:\n  a: {kind: real, bounds: [3, 1]}\n", "Column 'a': The lower bound is above"),
        (2, "columns:\n  a: {kind: real, bounds: 3}\n", "'bounds' must be a list"),
        (2, "columns:\n  a: {kind: real, bounds: [1, 2, 3]}\n", "two values"),
        (2, "columns:\n  a: {kind: real, bounds_from: public}\n", "'bounds_from' stands without 'bounds'"),
        (2, "columns:\n  a: {role: sensitive}\n", "needs a kind"),
        (2, "columns:\n  a: integer\n", "Column 'a' must be a mapping"),
        (3, "columns:\n  a: {kind: text}\n  a: {kind: text}\n", "'a' is given twice"),
        (2, "columns:\n  1: {kind: text}\n", "must be text; put quotes"),
        (3, "columns:\n  a: &x {kind: text}\n  b: *x\n", "aliases are not allowed"),
        (3, "columns:\n  a: {kind: text\n", "not valid YAML"),
        (1, "unit: person\ncolumns:\n  a: {kind: text}\n", "'unit' must be 'row' or"),
        (1, "unit: {person: b}\ncolumns:\n  a: {kind: text}\n", "The unit's column 'b' is not in the schema"),
        (1, "name: 3\ncolumns:\n  a: {kind: text}\n", "the name of a schema must be text"),
        (2, "columns:\n  a: {kind: date, bounds: [2020-02-30, 2021-01-01]}\n", "not valid YAML"),
        (1, "- a\n- b\n", "A schema must be a mapping"),
        (1, "columns:\n", "'columns' must be a mapping"),
    ],
)
def test_an_error_names_the_file_and_the_line(tmp_path: Path, line: int, text: str, sentence: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(SchemaError) as caught:
        Schema.from_yaml(file)
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert sentence in str(caught.value)


def test_an_absent_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="does not exist or cannot be read"):
        Schema.from_yaml(tmp_path / "absent.yaml")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(SchemaError, match="nested too deeply"):
        Schema.from_yaml("columns: " + "[" * 20_000)


_SNIPPETS = st.sampled_from(
    ["columns:", "\n  ", "a: ", "{kind: ", "text}", "bounds", "[1, ", "&x ", "*x", "!!int ", "!!timestamp ", "'", "- "]
)


@given(st.one_of(st.text(max_size=60), st.lists(_SNIPPETS, max_size=12).map("".join)))
def test_any_text_is_a_schema_or_a_schema_error(text: str) -> None:
    with pytest.raises(SchemaError):
        Schema.from_yaml(text + "\nnonsense: true\n")


_TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)
_KEYS = st.sampled_from(
    ["kind", "role", "bounds", "bounds_from", "categories", "ordered", "hierarchy", "missing", "sequence"]
)


@given(st.dictionaries(_KEYS, _TREES, max_size=5), st.sampled_from(["integer", "date", "category", "text"]), _TREES)
def test_any_dictionary_is_a_schema_or_a_schema_error(column: dict[str, object], kind: str, unit: object) -> None:
    try:
        schema = Schema.from_dict({"unit": unit, "columns": {"a": {"kind": kind, **column}}})
    except SchemaError:
        return
    assert schema.names == ("a",)
