"""A proposed schema is a draft: everything in it is learned, and every role has a reason."""

import datetime
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Categories, Kind, Provenance, Role, Schema, Suggestion, read, suggest_schema
from ziggurat.errors import NotPublicError

SIZE = 60
DATA = pa.table(
    {
        "ref": [f"r{place}" for place in range(SIZE)],
        "patientId": [place // 2 for place in range(SIZE)],
        "email": ["same"] * SIZE,
        "BirthYear": [1950 + place % 40 for place in range(SIZE)],
        "income": [1000 + place for place in range(SIZE)],
        "wage_class": [("low", "high", "?")[place % 3] for place in range(SIZE)],
        "message": [f"text {place % 55}" for place in range(SIZE)],
        "score": [place / 7 for place in range(SIZE)],
        "nothing": pa.array([None] * SIZE, pa.float64()),
    }
)


def _proposed(**columns: Any) -> Suggestion:
    return suggest_schema(read(pa.table(columns)))


def test_roles_follow_names_and_uniqueness() -> None:
    roles = {column.name: column.role for column in suggest_schema(read(DATA)).schema.columns}
    assert roles["ref"] is roles["patientId"] is roles["email"] is Role.IDENTIFIER
    assert roles["BirthYear"] is Role.QUASI_IDENTIFIER
    assert roles["income"] is roles["wage_class"] is Role.SENSITIVE
    assert roles["message"] is roles["score"] is Role.QUASI_IDENTIFIER


@pytest.mark.parametrize("name", ["AGEP", "age_group", "RAC1P", "HISP", "PUMA", "lat", "longitude", "postcode", "male"])
def test_names_that_tell_people_apart_are_quasi_identifiers(name: str) -> None:
    suggestion = _proposed(**{name: list(range(SIZE))})
    assert suggestion.schema[name].role is Role.QUASI_IDENTIFIER
    assert suggestion.reasons[name].startswith("its name says")


@pytest.mark.parametrize(
    "name", ["PINCP", "DREM", "DEAR", "hba1c", "blood_pressure", "alcabuse", "smoker", "HIV", "debt"]
)
def test_names_of_what_people_keep_to_themselves_are_sensitive(name: str) -> None:
    assert _proposed(**{name: list(range(SIZE))}).schema[name].role is Role.SENSITIVE


def test_an_unknown_column_is_treated_as_telling_and_only_constants_and_counters_are_not() -> None:
    numbers = list(range(SIZE))
    suggestion = _proposed(q17=[7 * place for place in numbers], row=numbers, fixed=["x"] * SIZE, none=[None] * SIZE)
    roles = [column.role.value for column in suggestion.schema.columns]
    assert roles == ["quasi-identifier", "insensitive", "insensitive", "insensitive"]
    assert suggestion.reasons["q17"] == "nothing is known of it, so treat it as telling until you decide"
    assert suggestion.reasons["fixed"] == "all its cells are equal; 1 distinct value, so a category"


def test_reasons_are_true_of_short_tables() -> None:
    assert _proposed(id=[1]).reasons["id"] == "its name says 'id'"
    assert _proposed(id=pa.array([], pa.int64())).reasons["id"] == "its name says 'id'"
    assert _proposed(id=[4, 9, 2]).reasons["id"] == "its name says 'id' and no value repeats"


def test_a_repeating_identifier_may_be_the_unit() -> None:
    suggestion = _proposed(user=[place // 3 for place in range(SIZE)], is_customer=[0, 1] * (SIZE // 2))
    assert "unit: {person: user}" in suggestion.reasons["user"]
    assert suggestion.schema["is_customer"].role is Role.QUASI_IDENTIFIER


def test_unique_integers_are_identifiers_only_by_name() -> None:
    suggestion = _proposed(steps=[place * 3 for place in range(SIZE)])
    assert suggestion.schema["steps"].role is Role.QUASI_IDENTIFIER
    uuids = _proposed(x=[str(uuid.UUID(int=place)) for place in range(4)])
    assert uuids.schema["x"].role is Role.IDENTIFIER


def test_marks_for_missing_values_are_proposed_as_missing_codes() -> None:
    suggestion = _proposed(
        code=[-9 if place % 10 == 0 else place for place in range(SIZE)],
        cold=[place - 9 for place in range(SIZE)],
        word=[("a", "b", "?", "NA")[place % 4] for place in range(SIZE)],
    )
    columns = suggestion.schema
    assert (columns["code"].missing, columns["code"].bounds) == ((-9,), Bounds(1, 59, "learned"))
    assert (columns["cold"].missing, columns["cold"].bounds) == ((), Bounds(-9, 50, "learned"))
    assert columns["word"].missing == ("?", "NA")
    assert columns["word"].categories == Categories(("a", "b"), "learned")


def test_marks_for_missing_values_do_not_turn_numbers_into_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("v,w,d\n1,NA,2024-01-01\nN/A,2.5,NULL\n3,?,\n")
    schema = suggest_schema(read(tmp_path / "t.csv")).schema
    assert [column.kind.value for column in schema.columns] == ["integer", "real", "date"]
    assert [column.missing for column in schema.columns] == [("N/A",), ("?", "NA"), ("NULL",)]
    assert read(tmp_path / "t.csv", schema).validate() == []


def test_zeros_and_ones_stay_a_bounded_integer() -> None:
    column = _proposed(flag=[0, 1] * 30).schema["flag"]
    assert (column.kind, column.bounds) == (Kind.INTEGER, Bounds(0, 1, "learned"))


def test_a_column_that_no_kind_describes_is_left_out_and_named() -> None:
    suggestion = _proposed(v=[1, 2], raw=[b"a", b"b"], many=[[1], [2]], at=[datetime.time(1), datetime.time(2)])
    assert suggestion.schema.names == ("v",)
    assert {suggestion.reasons[name] for name in ("raw", "many", "at")} == {
        "no kind describes its type, so it is left out"
    }


def test_a_proposal_of_identifiers_alone_can_be_checked() -> None:
    data = pa.table({"ref": [f"r{place}" for place in range(SIZE)]})
    schema = suggest_schema(read(data)).schema
    assert schema["ref"].role is Role.IDENTIFIER
    assert read(data, schema).validate() == []


def test_every_column_has_a_reason() -> None:
    reasons = suggest_schema(read(DATA)).reasons
    assert set(reasons) == set(DATA.column_names)
    assert reasons["ref"] == "nearly every value is unique"
    assert "it may be the unit" in reasons["patientId"]


def test_everything_proposed_is_learned() -> None:
    schema = suggest_schema(read(DATA)).schema
    known = [column.bounds or column.categories for column in schema.columns]
    assert {each.provenance for each in known if each is not None} == {Provenance.LEARNED}
    with pytest.raises(NotPublicError):
        schema["score"].public_bounds()


def test_few_texts_are_categories_and_many_stay_text() -> None:
    schema = suggest_schema(read(DATA)).schema
    assert schema["wage_class"].categories is not None
    assert set(schema["wage_class"].categories.values) == {"low", "high"}
    assert schema["message"].kind is Kind.TEXT


def test_a_proposal_can_be_written_corrected_and_used() -> None:
    text = suggest_schema(read(DATA)).schema.to_yaml().replace("learned", "public")
    assert read(DATA, Schema.from_yaml(text)).schema["score"].public_bounds().lower == 0


def test_cells_that_hold_few_symbols_again_and_again_are_sequences() -> None:
    from ziggurat.data.generators import headlines, log_sequences

    logs = suggest_schema(read(log_sequences(300, seed=1))).schema["seq"]
    assert logs.role is Role.QUASI_IDENTIFIER
    assert logs.sequence.tokens[:3] == ("1", "2", "3")
    assert logs.sequence.provenance is Provenance.LEARNED
    with pytest.raises(NotPublicError):
        logs.public_symbols()
    titles = suggest_schema(read(headlines(300, seed=1))).schema["title"]
    assert titles.sequence is None


def _letters(count: int, place: int) -> str:
    """So many of the letters a and b, different for every place."""
    return " ".join("ab"[place >> bit & 1] for bit in range(count))


def test_text_that_only_looks_a_little_like_sequences_stays_text() -> None:
    """A name that says who, too few symbols in a cell, symbols that do not repeat; the last is one for comparison."""
    table = {
        "email": [_letters(8, place) for place in range(200)],
        "short": [_letters(3, place) + str(place % 60) for place in range(200)],
        "prose": [f"{_letters(8, place)} w{place} v{place}" for place in range(200)],
        "log": [_letters(8, place) for place in range(200)],
    }
    found = {column.name: column.sequence is not None for column in _proposed(**table).schema.columns}
    assert found == {"email": False, "short": False, "prose": False, "log": True}
