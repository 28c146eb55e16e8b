"""A proposed schema is a draft: everything in it is learned, and every role has a reason."""

import dataclasses
import datetime
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data import (
    Bounds,
    Categories,
    Column,
    FileLayout,
    Kind,
    Notation,
    Provenance,
    Role,
    Schema,
    Suggestion,
    read,
    suggest_schema,
)
from ziggurat.errors import NotPublicError

SIZE = 60
DATA = pa.table(
    {
        "ref": [f"r{place}" for place in range(SIZE)],
        "patientId": [place // 2 for place in range(SIZE)],
        "email": [f"p{place // 2}@example.org" for place in range(SIZE)],
        "BirthYear": [1950 + place % 40 for place in range(SIZE)],
        "income": [1000 + place for place in range(SIZE)],
        "wage_class": [("low", "high", "?")[place % 3] for place in range(SIZE)],
        "message": [f"text {place % 55}" for place in range(SIZE)],
        "score": [place / 7 for place in range(SIZE)],
        "nothing": pa.array([None] * SIZE, pa.float64()),
    }
)


def _proposed(**columns: Any) -> Suggestion:
    return suggest_schema(read(pa.table(columns), unit="row"))


def test_roles_follow_names_and_uniqueness() -> None:
    roles = {column.name: column.role for column in suggest_schema(read(DATA, unit="row")).schema.columns}
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
    hidden = "; out of sight: identifiers are never shown"
    assert _proposed(id=[1]).reasons["id"] == f"its name says 'id'{hidden}"
    assert _proposed(id=pa.array([], pa.int64())).reasons["id"] == f"its name says 'id'{hidden}"
    assert _proposed(id=[4, 9, 2]).reasons["id"] == f"its name says 'id' and no value repeats{hidden}"


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
    reasons = suggest_schema(read(DATA, unit="row")).reasons
    assert set(reasons) == set(DATA.column_names)
    assert reasons["ref"] == "nearly every value is unique; out of sight: identifiers are never shown"
    assert "it may be the unit" in reasons["patientId"]


def test_everything_proposed_is_learned() -> None:
    schema = suggest_schema(read(DATA, unit="row")).schema
    known = [column.bounds or column.categories for column in schema.columns]
    assert {each.provenance for each in known if each is not None} == {Provenance.LEARNED}
    with pytest.raises(NotPublicError):
        schema["score"].public_bounds()


def test_few_texts_are_categories_and_many_stay_text() -> None:
    schema = suggest_schema(read(DATA, unit="row")).schema
    assert schema["wage_class"].categories is not None
    assert set(schema["wage_class"].categories.values) == {"low", "high"}
    assert schema["message"].kind is Kind.TEXT


def test_a_proposal_can_be_written_corrected_and_used() -> None:
    text = suggest_schema(read(DATA, unit="row")).schema.to_yaml().replace("learned", "public")
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


LONG = 300


def _over(*values: Any) -> list[Any]:
    return [values[place % len(values)] for place in range(LONG)]


def _texts(pattern: str) -> list[str]:
    return [pattern.format(place) for place in range(LONG)]


CONTRADICTED = [
    ("union_member", _over("yes", "no"), "sensitive", "'member', but it has 2 values, so it is no identifier"),
    ("union_member", _over("yes", "no", "-"), "sensitive", "'member', but it has 2 values, so it is no identifier"),
    ("club_member", _over("yes", "no", "NULL"), "quasi-identifier", "but it has 2 values"),
    ("club_member", _over(True, False, None), "quasi-identifier", "but it has 2 values"),
    ("product_name", _over(*"abcde"), "quasi-identifier", "'productname', but it has 5 values"),
    ("mobile", _over("ja", "nein"), "quasi-identifier", "'mobile', but it has 2 values"),
    (
        "mobile_country",
        _over("DE", "FR", "IT"),
        "quasi-identifier",
        "its name says 'country'; its name says 'mobile', but",
    ),
    ("email", _over("opted in", "opted out", "unknown"), "quasi-identifier", "'email', but it has 3 values"),
    ("patient", _over(0, 1), "quasi-identifier", "'patient', but it has 2 values"),
    ("member", [datetime.date(2000, 1, 1 + place % 28) for place in range(LONG)], "quasi-identifier", "it holds dates"),
    ("client", [place / 7 for place in range(LONG)], "quasi-identifier", "it holds fractions"),
    ("sensor_id", _over(*range(16)), "quasi-identifier", "'id', but it has 16 values"),
    ("state_id", _over(*range(16)), "quasi-identifier", "its name says 'state'"),
    ("age", _over(40), "insensitive", "its name says 'age', but all its cells are equal"),
    ("city", _texts("Ort{:04d}x"), "identifier", "its name says 'city', but 300 of 300 values differ"),
    ("diagnosis", _texts("p{}@example.org"), "identifier", "'diagnosis', but its values look like e-mail addresses"),
]


@pytest.mark.parametrize(("name", "cells", "role", "reason"), CONTRADICTED)
def test_no_role_follows_from_a_name_that_the_cells_contradict(
    name: str, cells: list[Any], role: str, reason: str
) -> None:
    proposal = _proposed(**{name: cells})
    assert proposal.schema[name].role.value == role
    assert reason in proposal.reasons[name]


NAMED = [
    ("Vorname Nachname Straße E-Mail Telefon prénom Geburtsname apellidos", Role.IDENTIFIER),
    ("PatID Patientennr Versichertennummer Fallnummer Kunden-Nr. id_cliente numero_patient patientId", Role.IDENTIFIER),
    ("Kosten_€ Diagnose Gehalt Bruttoeinkommen Religion coût diagnostic salaire ingresos malattia", Role.SENSITIVE),
    ("Geburtsdatum Geb.-Dat. Geb.Dat. PLZ Postleitzahl Wohnort Geschlecht Alter_(Jahre) Beruf", Role.QUASI_IDENTIFIER),
    ("Familienstand Staatsangehörigkeit Staatsangehoerigkeit Gewicht_[kg] naissance sexe", Role.QUASI_IDENTIFIER),
    ("code_postal ville métier edad sesso woonplaats Geburtsort âge_patient", Role.QUASI_IDENTIFIER),
]


@pytest.mark.parametrize(("name", "role"), [(name, role) for names, role in NAMED for name in names.split()])
def test_names_are_understood_in_several_languages_and_spellings(name: str, role: Role) -> None:
    shown = name.replace("_", " ") if name.isascii() is False else name
    proposal = _proposed(**{shown: [place % 100 for place in range(LONG)]})
    assert proposal.schema[shown].role is role
    assert proposal.reasons[shown].startswith("its name says")


ALIKE = [
    ("p{}@example.org", "e-mail addresses"),
    ("00000000-0000-0000-0000-000000{:06d}", "UUIDs"),
    ("DE89 3704 0044 0532 0{:03d} 00", "IBANs"),
    ("+49 30 12{:05d}", "phone numbers"),
    ("0341/97{:04d}", "phone numbers"),
    ("078-05-{:04d}", "national ids"),
    ("A{:09d}", "national ids"),
    ("4111 1111 1111 {:04d}", "card numbers"),
]


@pytest.mark.parametrize(("pattern", "what"), ALIKE)
def test_values_alone_make_an_identifier_even_if_they_repeat(pattern: str, what: str) -> None:
    cells = _texts(pattern)[:100] * 3
    proposal = _proposed(x=cells)
    assert proposal.schema["x"].role is Role.IDENTIFIER
    assert proposal.reasons["x"].startswith(f"its values look like {what}; out of sight")


@pytest.mark.parametrize("cells", [_texts("A{:03d}")[:100] * 3, _texts("01.02.{:04d}"), _texts("0{:07d}")[:100] * 3])
def test_codes_and_dates_do_not_look_like_phone_numbers_or_ids(cells: list[str]) -> None:
    assert "look like" not in _proposed(x=cells).reasons["x"]


def test_postcodes_are_quasi_identifiers_by_name_or_by_their_zeros() -> None:
    codes = [f"0{1000 + place}" for place in range(LONG)]
    proposal = _proposed(x=codes, PLZ=codes, zip=[10_000 + place for place in range(LONG)])
    assert {column.role for column in proposal.schema.columns} == {Role.QUASI_IDENTIFIER}
    assert proposal.reasons["x"] == "its values look like postcodes"
    assert proposal.reasons["PLZ"] == "its name says 'plz' and its values look like postcodes"


def test_numbers_that_hardly_repeat_are_identifiers_only_if_their_name_and_their_digits_say_so() -> None:
    cells = [700_000 + 7 * place for place in range(LONG)]
    proposal = _proposed(Rechnungsnr=cells, house_no=list(range(LONG)), steps=cells)
    assert [column.role.value for column in proposal.schema.columns] == [
        "identifier",
        "quasi-identifier",
        "quasi-identifier",
    ]
    assert "'nr', nearly every value is unique and all have 6 digits" in proposal.reasons["Rechnungsnr"]


def test_free_text_is_out_of_sight_and_the_reason_says_what_to_do() -> None:
    cells = [f"the patient of room {place} feels well, and slept {place % 9} hours" for place in range(LONG)]
    proposal = _proposed(note=cells, diagnosis=cells)
    for name in ("note", "diagnosis"):
        assert proposal.schema[name].role is Role.IDENTIFIER
        assert proposal.schema[name].kind is Kind.TEXT
        assert "free text" in proposal.reasons[name]
        assert "ziggurat mask --text" in proposal.reasons[name]
        assert "out of sight" in proposal.reasons[name]


def test_numbers_far_above_the_rest_are_mentioned_and_not_applied() -> None:
    proposal = _proposed(
        age=[*range(18, 105), *[999] * 213],
        likert=_over(1, 2, 3, 4, 5, 98, 99),
        weight=_over(*range(40, 100)),
        price=_over(5.5, 99.0, 7.25),
    )
    far = "999 stands far above the rest (next largest 104): if it means missing, add missing: [999]"
    assert far in proposal.reasons["age"]
    assert proposal.schema["age"].missing == ()
    assert proposal.schema["age"].bounds == Bounds(18, 999, "learned")
    assert "98, 99 stand far above the rest (next largest 5)" in proposal.reasons["likert"]
    assert "far above" not in proposal.reasons["weight"]
    assert "99 stands far above the rest (next largest 7.25)" in proposal.reasons["price"]


def test_days_that_programs_write_for_no_date_are_mentioned() -> None:
    days = [datetime.date(1950 + place % 40, 3, 4) for place in range(LONG)]
    proposal = _proposed(
        seen=[datetime.date(1900, 1, 1) if place % 10 == 0 else day for place, day in enumerate(days)],
        until=[datetime.date(9999, 12, 31) if place == 0 else day for place, day in enumerate(days)],
        once=[datetime.date(1970, 1, 1) if place == 0 else day for place, day in enumerate(days)],
    )
    assert "30 cells are 1900-01-01: if that means missing" in proposal.reasons["seen"]
    assert "1 cell is 9999-12-31" in proposal.reasons["until"]
    assert "1970" not in proposal.reasons["once"].replace("nothing", "")


def test_what_a_file_says_of_a_column_stays_in_the_proposal() -> None:
    sex = Column(
        "sex", "category", categories=Categories((1, 2)), missing=(9,), labels={1: "male", 2: "female", 9: "?"}
    )
    size = Column("size", "real", written=Notation(decimal=","))
    opened = Schema((sex, size), file=FileLayout(delimiter=";"), name="clinic", description="of one year")
    data = pa.table({"sex": _over(1, 2, 9), "size": _over("1,5", "2,5")})
    proposal = suggest_schema(read(data, opened))
    assert proposal.schema["sex"] == dataclasses.replace(sex, role=Role.QUASI_IDENTIFIER)
    assert proposal.schema["size"].written == size.written
    assert (proposal.schema.file, proposal.schema.description) == (opened.file, opened.description)
    assert "3 codes with a label" in proposal.reasons["sex"]
    assert read(data, proposal.schema).validate() == []


def test_a_wide_table_is_looked_at_in_one_long_column_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = {f"{name}_{copy}": DATA.column(name) for copy in range(9) for name in DATA.column_names}
    stacked = _proposed(**wide)
    monkeypatch.setattr("ziggurat.data._stacking.WORTH_STACKING", 10**9)
    assert _proposed(**wide) == stacked


def test_columns_whose_names_are_those_of_the_long_column_are_told_apart() -> None:
    names = ["ziggurat_place", "ziggurat_cell", "held", "seen", 'a "b"', *"cdefgh"]
    proposal = _proposed(**{name: [place, place + at] for place, name in enumerate(names) for at in [place]})
    for place, name in enumerate(names):
        assert proposal.schema[name].bounds == Bounds(place, 2 * place, "learned")
