"""The Safe Harbor preset: eighteen kinds, a plan from names and kinds, and what it cannot see."""

import json
from datetime import date

import pyarrow as pa
import pytest

from ziggurat.anonymize import SAFE_HARBOR, SPARSE_ZIP3, PostcodePrefix, mask, require_harmless, safe_harbor
from ziggurat.data import Column, Kind, Role, Schema
from ziggurat.errors import DataError, ParameterError

DAY = date(2026, 11, 15)


def planned(name, kind=Kind.TEXT, role=Role.INSENSITIVE):
    plan = safe_harbor(Schema((Column(name, kind, role),)), as_of=DAY)
    return plan.techniques.get(name), plan.reasons[name]


def test_the_rule_has_eighteen_kinds_and_the_guidance_seventeen_sparse_areas():
    assert "".join(kind.letter for kind in SAFE_HARBOR) == "ABCDEFGHIJKLMNOPQR"
    assert len(set(SPARSE_ZIP3)) == 17


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("last_name", "A"), ("PatientName", "A"), ("street", "B"), ("city", "B"), ("home phone", "D"), ("fax", "E"),
        ("Email", "F"), ("e_mail", "F"), ("ssn", "G"), ("mrn", "H"), ("patient_id", "H"), ("medicare_no", "I"),
        ("iban", "J"), ("passport", "K"), ("vin", "L"), ("device", "M"), ("url", "N"), ("ip_address", "O"),
        ("mac_address", "M"), ("email address", "F"), ("licence_plate", "L"),
        ("fingerprint", "P"), ("photo", "Q"), ("record_uuid", "R"), ("admission_date", "C"),
    ],
)  # fmt: skip
def test_a_column_named_like_one_of_the_kinds_is_removed(name, letter):
    technique, reason = planned(name)
    assert technique is not None
    assert technique.name == "drop"
    assert reason.startswith(letter)


@pytest.mark.parametrize("name", ["package", "average", "diagnosis", "sex", "state", "tablet", "dosage", "zipper"])
def test_a_name_that_only_contains_such_a_word_stays(name):
    assert planned(name, Kind.CATEGORY)[0] is None


def test_dates_ages_and_zip_codes_are_cut_and_not_removed():
    assert planned("admitted", Kind.DATE)[0].parameters() == {}
    assert planned("dob", Kind.DATE)[0].parameters() == {"earliest": 1936}
    assert planned("birth_year", Kind.INTEGER)[0].parameters() == {"bound": 1937, "label": "1936 or earlier"}
    assert planned("age", Kind.INTEGER)[0].parameters() == {"bound": 89, "label": "90+"}
    assert planned("zip_code")[0].name == "zip-prefix"


@pytest.mark.parametrize(
    ("names", "technique"),
    [
        (["zip5", "ZIP9", "zcta", "Zip Code"], "zip-prefix"),
        (["post_code", "PostCode", "plz", "PLZ", "Postleitzahl", "pin_code", "home_postcode"], "postcode-prefix"),
        (["code postal", "CodePostal", "plz_wohnort", "PLZ5", "Patienten-PLZ", "postnr"], "postcode-prefix"),
    ],
)
@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.CATEGORY, Kind.TEXT])
def test_postcodes_are_cut_however_they_are_called(names, technique, kind):
    assert [planned(name, kind)[0].name for name in names] == [technique] * len(names)
    assert [planned(name, Kind.REAL)[0].name for name in names] == ["drop"] * len(names)


def test_postcodes_that_are_none_of_the_us_are_cut_to_a_region():
    cut = PostcodePrefix()
    texts = pa.table({"x": ["04109", "D-80331", "69002", "1012 AB", "LS1 4AP", "sw1a 1aa", "elsewhere", None]})
    shown = cut.apply(texts, "x").table.column("x").to_pylist()
    assert shown == ["04", "80", "69", "10", "LS", "SW", "00", None]
    assert cut.apply(pa.table({"x": [4109, 80331]}), "x").table.column("x").to_pylist() == ["04", "80"]
    with pytest.raises(DataError, match="neither text nor whole numbers"):
        cut.apply(pa.table({"x": [1.5]}), "x")
    with pytest.raises(ParameterError, match="3 to 9 digits"):
        PostcodePrefix(kept=5)


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("Name", "A"), ("Vorname", "A"), ("Nachname", "A"), ("Prénom", "A"), ("Nom de naissance", "A"), ("Ort", "B"),
        ("Wohnort", "B"), ("Straße", "B"), ("Adresse", "B"), ("Ville", "B"), ("Telefon", "D"), ("Handynummer", "D"),
        ("Téléphone", "D"), ("E-Mail", "F"), ("Courriel", "F"), ("Sozialversicherungsnummer", "G"), ("NIR", "G"),
        ("Fallnummer", "H"), ("Pat.-Nr.", "H"), ("Versichertennummer", "I"), ("KVNR", "I"), ("Kontonummer", "J"),
        ("Personalausweis", "K"), ("Kennzeichen", "L"), ("Foto", "Q"), ("Kennung", "R"), ("Todesdatum", "C"),
    ],
)  # fmt: skip
def test_german_and_french_names_are_understood(name, letter):
    technique, reason = planned(name, Kind.CATEGORY)
    assert technique.name == "drop"
    assert reason.startswith(f"{letter}, ")


@pytest.mark.parametrize("name", ["Alter", "Âge", "Lebensalter"])
def test_ages_over_89_are_coded_in_german_and_french_too(name):
    assert planned(name, Kind.INTEGER)[0].parameters() == {"bound": 89, "label": "90+"}


@pytest.mark.parametrize("name", ["Diagnose", "Kosten €", "Geburtsgewicht", "Todesursache", "Mobilität", "Station"])
def test_german_columns_that_tell_nobody_stay(name):
    assert planned(name, Kind.CATEGORY)[0] is None


@pytest.mark.parametrize("name", ["patientage", "yearofbirth", "admit_dt", "created_at", "timestamp"])
def test_ages_and_dates_do_not_stay_as_they_are(name):
    assert planned(name, Kind.INTEGER)[0] is not None


@pytest.mark.parametrize(
    ("cells", "harmless"),
    [
        (["81601", "81602", None], False),
        (["81601-1234", "81602-1234"], False),
        (["SW1A 1AA", "M1 1AE"], False),
        (["K1A 0B1"], False),
        (["2024-03-01", "2024-03-02T10:00"], False),
        (["31.12.1980", "1/2/1980"], False),
        (["flu", "gout", "81601"], True),
        ([None, None], True),
        ([1.5, 2.5], True),
        ([4109, 80331, 69002], False),
        ([19801231, 20240301], False),
        (["a@example.org", "b@example.org"], False),
        ([f"P-{i}" for i in range(30)], False),
        ([150, 80_000, 999, 12, 7], True),
    ],
)
def test_what_looks_like_a_postcode_or_a_date_under_another_name_is_refused(cells, harmless):
    table, schema = pa.table({"x": cells}), Schema((Column("x", Kind.CATEGORY),))
    secret = Schema((Column("x", Kind.CATEGORY, Role.SENSITIVE),))
    require_harmless(table, secret, ["x"])
    require_harmless(table, schema, [])
    if harmless:
        require_harmless(table, schema, ["x"])
        return
    with pytest.raises(DataError, match="Column 'x' looks like none of the eighteen") as caught:
        require_harmless(table, schema, ["x"])
    assert not any(str(cell) in str(caught.value) for cell in cells)


def test_identifiers_by_role_and_free_text_are_removed():
    assert planned("xyz", Kind.INTEGER, Role.IDENTIFIER)[1].startswith("R")
    assert planned("note", Kind.TEXT, Role.SENSITIVE)[1].startswith("Free text")
    assert planned("remark", Kind.TEXT)[0].name == "drop"
    assert planned("zip", Kind.REAL)[0].name == "drop"


def test_a_plan_masks_a_table_and_says_what_it_cannot_see():
    schema = Schema(
        (
            Column("name", Kind.TEXT, Role.IDENTIFIER),
            Column("dob", Kind.DATE),
            Column("age", Kind.INTEGER),
            Column("zip", Kind.TEXT),
            Column("hba1c", Kind.REAL, Role.SENSITIVE),
        )
    )
    plan = safe_harbor(schema, as_of=DAY)
    table = pa.table({"name": ["Ann"], "dob": [date(1930, 2, 3)], "age": [96], "zip": ["03601"], "hba1c": [5.4]})
    shown = mask(table, plan.techniques).table.to_pylist()
    assert shown == [{"dob": "1936 or earlier", "age": "90+", "zip": "000", "hba1c": 5.4}]
    said = json.dumps(plan.to_dict())
    assert "Free text" in said
    assert "hotograph" in said


def test_a_plan_needs_a_schema():
    with pytest.raises(ParameterError, match="Schema"):
        safe_harbor({"name": "text"})


def hospital_export():
    """A hospital's export as a steward describes it, with what must not be seen in every column."""
    n = 40
    rows = pa.table({
        "Name": [f"Geheim{i}" for i in range(n)],
        "Vorname": [f"Anna{i}" for i in range(n)],
        "PLZ": [4103 + i for i in range(n)],
        "Ort": ["Leipzig", "Borna"] * (n // 2),
        "Geburtsdatum": [date(1925 + 2 * i, 3, 4) for i in range(n)],
        "Aufnahme": [date(2024, 5, 1 + i % 28) for i in range(n)],
        "Telefon": [f"0341/77{i:04d}" for i in range(n)],
        "E-Mail": [f"a{i}@example.org" for i in range(n)],
        "Versichertennummer": [f"A{i:09d}" for i in range(n)],
        "Kosten €": [150.5 * i for i in range(n)],
        "Diagnose": ["I10", "E11.9"] * (n // 2),
        "Notiz": [f"Geheim{i} rief wegen Anna{i} an." for i in range(n)],
        "Gebiet": ["04109", "04177"] * (n // 2),
    })  # fmt: skip
    kinds = {"PLZ": "integer", "Geburtsdatum": "date", "Aufnahme": "date", "Kosten €": "real"}
    categories = ("Diagnose", "Gebiet", "Ort")
    columns = {
        each: {"kind": kinds.get(each, "category" if each in categories else "text")} for each in rows.column_names
    }
    return rows, Schema.from_dict({"columns": columns})


def test_of_a_hospital_s_export_only_harmless_columns_leave_as_they_are():
    rows, schema = hospital_export()
    plan = safe_harbor(schema, as_of=DAY, rows=rows)
    shown = mask(rows, plan.techniques)
    assert shown.table.column_names == ["PLZ", "Geburtsdatum", "Aufnahme", "Kosten €", "Diagnose", "Gebiet"]
    assert shown.untouched == ("Kosten €", "Diagnose")
    assert set(shown.table.column("PLZ").to_pylist()) == {"04"}
    assert set(shown.table.column("Gebiet").to_pylist()) == {"04"}
    assert set(shown.table.column("Aufnahme").to_pylist()) == {2024}
    assert "1936 or earlier" in shown.table.column("Geburtsdatum").to_pylist()
    assert all(secret not in str(shown.table.to_pylist()) for secret in ("Geheim", "Anna", "0341", "@", "04109"))
    require_harmless(shown.table, schema, shown.untouched)


def test_a_plan_that_looks_into_no_cell_lets_postcodes_under_another_name_be_refused():
    rows, schema = hospital_export()
    shown = mask(rows, safe_harbor(schema, as_of=DAY).techniques)
    with pytest.raises(DataError, match="'Gebiet' looks like none of the eighteen"):
        require_harmless(shown.table, schema, shown.untouched)


def test_whole_numbers_that_may_be_postcodes_are_named_and_not_passed():
    schema = Schema((Column("area", Kind.INTEGER), Column("cost", Kind.INTEGER, Role.SENSITIVE)))
    rows = pa.table({"area": [4109, 80331, 69002], "cost": [12_345, 54_321, 11_111]})
    plan = safe_harbor(schema, rows=rows)
    assert plan.techniques == {}
    assert list(plan.undecided) == ["area"]
    assert "undecided" in plan.to_dict()
