"""The Safe Harbor preset: eighteen kinds, a plan from names and kinds, and what it cannot see."""

import json
from datetime import date

import pyarrow as pa
import pytest

from ziggurat.anonymize import SAFE_HARBOR, SPARSE_ZIP3, mask, require_harmless, safe_harbor
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
    "name", ["post_code", "PostCode", "zip5", "ZIP9", "plz", "PLZ", "Postleitzahl", "zcta", "pin_code", "home_postcode"]
)
@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.CATEGORY, Kind.TEXT])
def test_postcodes_are_cut_however_they_are_called(name, kind):
    assert planned(name, kind)[0].name == "zip-prefix"
    assert planned(name, Kind.REAL)[0].name == "drop"


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
