"""A proposed schema is a draft: everything in it is learned, and every role has a reason."""

import pyarrow as pa
import pytest

from ziggurat.data import Kind, Provenance, Role, Schema, read, suggest_schema
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


def test_roles_follow_names_and_uniqueness() -> None:
    roles = {column.name: column.role for column in suggest_schema(read(DATA)).schema.columns}
    assert roles["ref"] is roles["patientId"] is roles["email"] is Role.IDENTIFIER
    assert roles["BirthYear"] is Role.QUASI_IDENTIFIER
    assert roles["income"] is roles["wage_class"] is Role.SENSITIVE
    assert roles["message"] is roles["score"] is roles["nothing"] is Role.INSENSITIVE


def test_every_column_has_a_reason() -> None:
    reasons = suggest_schema(read(DATA)).reasons
    assert set(reasons) == set(DATA.column_names)
    assert reasons["ref"] == "nearly every value is unique"
    assert "perhaps it is the column of the unit" in reasons["patientId"]


def test_everything_proposed_is_learned() -> None:
    schema = suggest_schema(read(DATA)).schema
    known = [column.bounds or column.categories for column in schema.columns]
    assert {each.provenance for each in known if each is not None} == {Provenance.LEARNED}
    with pytest.raises(NotPublicError):
        schema["score"].public_bounds()


def test_few_texts_are_categories_and_many_stay_text() -> None:
    schema = suggest_schema(read(DATA)).schema
    assert schema["wage_class"].categories is not None
    assert set(schema["wage_class"].categories.values) == {"low", "high", "?"}
    assert schema["message"].kind is Kind.TEXT


def test_a_proposal_can_be_written_corrected_and_used() -> None:
    text = suggest_schema(read(DATA)).schema.to_yaml().replace("learned", "public")
    assert read(DATA, Schema.from_yaml(text)).schema["score"].public_bounds().lower == 0
