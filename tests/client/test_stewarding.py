"""Stewards and auditors from afar: tables, people, keys, budgets, grants and the ledger, on both sides."""

from __future__ import annotations

from fractions import Fraction

import pytest

import ziggurat
from ziggurat.data.generators import clinic_patients_schema
from ziggurat.errors import AccessError, ConflictError, DataError, ParameterError, SignInError, UnknownNameError
from ziggurat.plain import from_plain, to_plain

CSV = "age,sex\n" + "".join(f"{20 + place % 50},{'fm'[place % 2]}\n" for place in range(60))


def test_people_are_added_let_in_and_kept_out(service, side):
    chief = service.connect("chief", side)
    assert chief.me().chief
    added = chief.add_person("eve", "analyst")
    assert (added.role, added.active) == ("analyst", True)
    key = chief.make_key("eve", "her notebook", ("read", "spend"), 30)
    eve = ziggurat.connect("http://127.0.0.1:1", key.secret, transport=service.through)
    assert eve.me().name == "eve"
    assert [each.label for each in eve.keys("eve")] == ["her notebook"]
    with pytest.raises(AccessError):
        eve.people()
    chief.revoke_key("eve", key.id)
    with pytest.raises(SignInError):
        eve.me()
    assert not chief.change_person("eve", active=False).active
    assert "#link=" in chief.make_link("ben")
    with pytest.raises(ConflictError):
        chief.add_person("ana", "analyst")


def test_a_file_becomes_a_table_that_is_asked(service, side, tmp_path):
    (tmp_path / "survey.csv").write_text(CSV)
    chief = service.connect("chief", side)
    proposal = chief.propose(tmp_path / "survey.csv")
    assert proposal.schema.names == ("age", "sex")
    (tmp_path / "survey.yaml").write_text(
        "columns:\n  age: {kind: integer, bounds: [0, 120]}\n  sex: {kind: category, categories: [f, m]}\n"
    )
    made = chief.register("survey", tmp_path / "survey.csv", tmp_path / "survey.yaml", slot=0.1)
    assert (made.unit, made.slot, made.may) == ("one row", 0.1, "steward")
    assert chief.preview("survey").rows == 60
    assert chief.view("survey").columns == ("age", "sex")
    chief.make_budget("survey", 3)
    chief.grant("survey", "ana", "1/3")
    chief.give_right("survey", "ana")
    assert service.connect("ana", side).session("survey").ask("SELECT COUNT(*) AS n FROM survey", "1/3").value > 0
    chief.take_right("survey", "ana")
    with pytest.raises(UnknownNameError):
        service.connect("ana", side).session("survey")
    chief.remove_table("survey")
    assert chief.tables() == []


def test_what_contradicts_the_schema_is_told_to_who_registers(service, side, tmp_path):
    (tmp_path / "t.csv").write_text("patient,age,ward\np1,20,north\np1,130,nroth\np2,40,north\n")
    (tmp_path / "t.yaml").write_text(
        "unit: {person: patient}\ncolumns:\n  patient: {kind: text, role: identifier}\n"
        "  age: {kind: integer, bounds: [0, 120]}\n  ward: {kind: category, categories: [north]}\n"
    )
    chief = service.connect("chief", side)
    made = chief.register("t", tmp_path / "t.csv", tmp_path / "t.yaml")
    assert [each.split(". ")[0] for each in made.problems] == [
        "Column 'age': 1 cell is outside the bounds",
        "Column 'ward': 1 cell is not among the categories",
    ]
    assert "nroth" not in "".join(made.problems)
    assert chief.tables()[0].problems == ()


def test_a_preview_counts_identifiers_that_no_question_sees(service, side, tmp_path):
    (tmp_path / "t.csv").write_text("case;age\nA1;20\n-;30\n")
    (tmp_path / "t.yaml").write_text(
        "file: {delimiter: ;}\n"
        "columns:\n  case: {kind: text, role: identifier, missing: ['-']}\n  age: {kind: integer, bounds: [0, 120]}\n"
    )
    chief = service.connect("chief", side)
    chief.register("t", tmp_path / "t.csv", tmp_path / "t.yaml")
    counted = {row["name"]: row["missing"] for row in chief.preview("t").to_arrow().to_pylist()}
    assert counted == {"case": 1, "age": 0}


def test_a_frame_is_sent_as_well(service, side):
    import pyarrow as pa

    chief = service.connect("chief", side)
    frame = pa.table({"age": list(range(20, 60))})
    text = "columns:\n  age: {kind: integer, bounds: [0, 120]}\n"
    assert chief.register("ages", frame, text).name == "ages"
    assert chief.preview("ages").rows == 40
    with pytest.raises(ParameterError, match="a frame"):
        chief.upload(3)
    with pytest.raises(DataError, match="no file"):
        chief.upload("nothing.csv")


def test_what_a_schema_says_of_cells_in_secret_stays_with_the_steward(service, side, tmp_path):
    (tmp_path / "t.csv").write_text("age,town\n20,Xanadu\n4711,Xanadu\n-8,Elba\n")
    (tmp_path / "t.yaml").write_text(
        "columns:\n  age: {kind: integer, bounds: {range: [20, 4711], provenance: learned}, missing: [-8]}\n"
        "  town: {kind: category, categories: {values: [Xanadu, Elba], provenance: learned}}\n"
    )
    chief = service.connect("chief", side)
    try:
        chief.register("t", tmp_path / "t.csv", tmp_path / "t.yaml")
    except ziggurat.ZigguratError:
        schema = ziggurat.suggest_schema(ziggurat.read(tmp_path / "t.csv")).schema
        chief.register("t", tmp_path / "t.csv", schema)
    chief.give_right("t", "ben")
    ben = service.connect("ben", side)
    told = ben.declared("t").to_yaml() + repr(ben.view("t")) + ben.view("t")._repr_html_()
    assert [each for each in ("4711", "Xanadu", "-8") if each in told] == []
    assert "4711" in str(chief.preview("t")), "the search would find it"


def test_accounts_come_back_as_they_are_kept(clinic, side):
    clinic.connect("ana", side).session("clinic").ask("SELECT COUNT(*) AS n FROM clinic", "0.1", rows_per_unit=1)
    (told,) = clinic.connect("chief", side).budgets()
    assert told == clinic.house.ledger.account("clinic")
    assert told.sentences() == clinic.house.ledger.account("clinic").sentences()
    (mine,) = clinic.connect("ana", side).grants()
    assert mine == told.budgets[0].grants[0]
    assert mine.left == Fraction(9, 10)


def test_facts_come_back_from_plain_values():
    schema = clinic_patients_schema()
    assert from_plain(Fraction, to_plain(Fraction(1, 3))) == Fraction(1, 3)
    assert from_plain(tuple[int, ...], [1, 2]) == (1, 2)
    assert from_plain(int | None, None) is None
    assert from_plain(type(schema.unit), to_plain(schema.unit)) == schema.unit


def test_grants_are_given_and_ended(clinic, side):
    chief = clinic.connect("chief", side)
    made = chief.grant("clinic", "ben", "1/2", "1e-7", "zcdp")
    assert (made.grant.epsilon, made.grant.rule, made.closed) == (Fraction(1, 2), "zcdp", False)
    chief.close_grant("clinic", "ben")
    assert chief.budgets()[0].budgets[0].grants[1].closed


def test_auditors_read_the_ledger_and_see_no_answer(clinic, side):
    clinic.connect("ana").session("clinic").ask("SELECT COUNT(*) AS n FROM clinic", "0.1", rows_per_unit=1)
    audrey = clinic.connect("audrey", side)
    entries = audrey.entries(2)
    assert [each.kind for each in entries] == ["reserve", "commit"]
    assert not [each for each in entries if "answer" in each.data]
    assert audrey.entries(10, before=entries[0].seq)[-1].seq == entries[0].seq - 1
    assert audrey.head() == (entries[-1].seq, entries[-1].hash)
    verified = audrey.verify(whole=True)
    assert (verified.ok, verified.entries) == (True, entries[-1].seq)
    verified.require_sound()
    assert audrey.witness()["named"] is False
    with pytest.raises(AccessError):
        clinic.connect("ana", side).entries()
