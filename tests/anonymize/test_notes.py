"""Notes are masked: what is found, what stays, and how much of what was planted."""

import pyarrow as pa
import pytest

from ziggurat import read
from ziggurat.anonymize import MaskText, mask, mask_batches, mask_notes, mask_plan, measure_masking, read_names
from ziggurat.anonymize.masking.notes import _checksums as checks
from ziggurat.data import Schema
from ziggurat.data.free_text import free_text_in
from ziggurat.data.generators.notes import hospital_notes, hospital_notes_schema, listed_names
from ziggurat.errors import DataError, ParameterError

NAMES = ("Anna", "Müller", "Schmidt", "de la Tour", "Meyer-Lindner")


def masked(text, **options):
    return mask_notes([text], names=NAMES, **options).texts[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("an anna.m@web.de oder a.m (at) web.de", "an [E-MAIL] oder [E-MAIL]"),
        ("siehe https://a.example/x?y=1, www.praxis.de", "siehe [URL], [URL]"),
        ("Tel. 0341/123456 oder +49 171 1234567", "Tel. [PHONE] oder [PHONE]"),
        ("tél 04 72 11 22 33, +33 (0)6 11 22 33 44", "tél [PHONE], [PHONE]"),
        ("call (555) 201-4567 or 020 7946 0958", "call [PHONE] or [PHONE]"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN [IBAN]"),
        ("card 4111-1111-1111-1111.", "card [CARD]."),
        ("SSN 123-45-6789, NHS 943 476 5919", "SSN [ID], NHS [ID]"),
        ("am 31.12.1980, 1980-12-31, 3. März 2024", "am [DATE], [DATE], [DATE]"),
        ("le 1er mars 1975 et 12/03/2024", "le [DATE] et [DATE]"),
        ("on March 3rd, 2021 and 31-Dec-1980", "on [DATE] and [DATE]"),
        ("wohnt Hauptstr. 12a, 04109 Leipzig", "wohnt [ADDRESS], [ADDRESS]"),
        ("Unter den Linden 77", "[ADDRESS]"),
        ("au 12 bis, rue de la République, 69002 Lyon", "au [ADDRESS], [ADDRESS]"),
        ("at 12 High Street, Leeds LS1 4AP", "at [ADDRESS], [ADDRESS]"),
        ("Portland, OR 97201", "[ADDRESS]"),
        ("ANNA kam, müllers Sohn, Schmidt's Hund", "[NAME] kam, [NAME] Sohn, [NAME] Hund"),
        ("A. Müller und Anna de la Tour", "[NAME] und [NAME]"),
        ("mit Anna-Lena", "mit [NAME]"),
        ("Frau Dr. Okonkwo und Herr von Berg", "Frau Dr. [NAME] und Herr [NAME]"),
        ("Mme Le Goff, Mr O'Hara", "Mme [NAME], Mr [NAME]"),
        ("Schmitdt und Mueller", "[NAME] und Mueller"),
    ],
)
def test_what_tells_who_somebody_is_gives_way(text, expected):
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "RR 135/85 mmHg, Leukozyten 11200/µl, HbA1c 6,8 %, 1-0-1",
        "Seit 2019 Hypertonie, raucht 20 Zigaretten",
        "WBC 11.2, pain 4/10, see page 3. May need help",
        "ICD I10.90, OPS 5-470.11",
        "Okonkwo wartet",
    ],
)
def test_measurements_years_and_names_that_no_list_knows_stay(text):
    assert masked(text) == text


def test_misspelt_names_are_left_alone_if_asked():
    assert masked("Schmitdt", misspelt=False) == "Schmitdt"


def test_forms_of_other_countries_are_left_alone_if_asked():
    assert masked("NHS-Nr 943 476 5919", countries=("de",)) != masked("943 476 5919", countries=("de",))
    assert masked("Hauptstr. 12", countries=("fr",)) == "Hauptstr. 12"
    with pytest.raises(ParameterError, match="No forms of the country 'xx'"):
        masked("x", countries=("xx",))


def test_missing_notes_stay_missing_and_progress_is_told():
    told = []
    done = mask_notes([None, "Anna"], names=NAMES, progress=lambda done, of: told.append((done, of)))
    assert done.texts == [None, "[NAME]"]
    assert done.counts == {"NAME": 1}
    assert told == [(2, 2)]
    with pytest.raises(ParameterError, match="its own row"):
        mask_notes(["a"], own=[])


@pytest.mark.parametrize(
    ("test", "right", "wrong"),
    [
        (checks.is_card, "4111111111111111", "4111111111111112"),
        (checks.is_iban, "DE89370400440532013000", "DE88370400440532013000"),
        (checks.is_german_tax_id, "86095742719", "86095742718"),
        (checks.is_german_pension_number, "65170839J003", "65170839J004"),
        (checks.is_german_insured_number, "A123456780", "A123456781"),
        (checks.is_french_person_number, "255081416802538", "255081416802539"),
        (checks.is_nhs_number, "9434765919", "9434765918"),
        (checks.is_social_security_number, "123456789", "000456789"),
    ],
)
def test_check_digits_are_those_of_published_examples(test, right, wrong):
    assert test(right)
    assert not test(wrong)


def test_names_and_numbers_of_the_row_are_masked_in_its_note():
    rows = pa.table({
        "first": ["Ilse", "Bo"], "number": ["PX-4711", "PX-4712"],
        "note": ["Bo und ilse, PX-4711", "PX-4711 gehört Ilses Akte, px-4712 nicht"],
    })  # fmt: skip
    technique = MaskText(names_in=("first", "number"))
    shown = mask(rows, {"note": technique})
    assert shown.table.column("note").to_pylist() == [
        "Bo und [NAME], [ID]",
        "PX-4711 gehört [NAME] Akte, [ID] nicht",
    ]
    assert not technique.row_wise
    with pytest.raises(ParameterError, match="must see the whole table"):
        mask_batches(rows, {"note": technique})


def test_the_record_states_the_measured_recall_and_no_name():
    rows = pa.table({"note": ["Anna kam", None]})
    record = mask(rows, {"note": MaskText(NAMES)}).to_dict()["techniques"][0]
    assert record["parameters"]["names"] == len(NAMES)
    assert record["counts"] == {"NAME": 1}
    assert "name that no list knows 0%: such names stay" in record["stated"]["recall"]
    assert "not anonymous" in record["stated"]["not_anonymous"]
    assert "Müller" not in str(record)


def test_only_text_can_be_masked():
    with pytest.raises(DataError, match="does not hold text"):
        mask(pa.table({"n": [1]}), {"n": MaskText()})
    with pytest.raises(ParameterError, match="tuple of texts"):
        MaskText(names="Anna")


def test_a_plan_masks_notes_with_names_from_files(tmp_path):
    (tmp_path / "names.txt").write_text("# our staff\nAnna\n\n Ilse \n", encoding="utf-8")
    assert read_names(tmp_path / "names.txt") == ("Anna", "Ilse")
    plan = mask_plan({"note": {"technique": "mask-text", "names": {"file": "names.txt"}}}, ["note"], tmp_path)
    assert mask(pa.table({"note": ["Ilse"]}), plan).table.column("note").to_pylist() == ["[NAME]"]
    with pytest.raises(DataError, match="does not exist or is no text"):
        read_names(tmp_path / "others.txt")


SCORES = measure_masking(1000, seed=11)


@pytest.mark.parametrize(
    ("kind", "least"),
    [
        ("e-mail", 0.90), ("url", 0.98), ("phone", 0.90), ("iban", 0.98), ("card", 0.98), ("national id", 0.92),
        ("date", 0.90), ("address", 0.90), ("name on the list", 0.95), ("misspelt name", 0.90),
        ("name after a title", 0.95),
    ],
)  # fmt: skip
def test_the_recall_on_invented_notes_is_at_least_what_is_said(kind, least):
    assert SCORES.recall(kind) >= least


def test_names_that_no_list_knows_stay_and_words_that_are_names_are_masked_too():
    assert SCORES.recall("name that no list knows") < 0.05
    assert SCORES.precision("NAME") >= 0.7
    assert all(SCORES.precision(kind) >= 0.97 for kind in SCORES.masks if kind != "NAME")


def test_without_the_search_for_misspelt_names_few_are_found():
    assert measure_masking(500, seed=11, misspelt=False).recall("misspelt name") < 0.3


def test_invented_notes_hold_what_was_planted_where_it_is_said():
    rows = hospital_notes(50, seed=3).to_pylist()
    assert rows == hospital_notes(50, seed=3).to_pylist() != hospital_notes(50, seed=4).to_pylist()
    for row in rows:
        for each in row["planted"]:
            assert 0 <= each["start"] < each["end"] <= len(row["note"])
    assert "Müller" in listed_names()
    table = read(hospital_notes(50, seed=3), hospital_notes_schema())
    assert free_text_in(table) == ("note",)
    assert isinstance(hospital_notes_schema(), Schema)
