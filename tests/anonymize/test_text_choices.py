"""Text is dropped unless somebody chooses: codes, or kept for a reason."""

import pyarrow as pa
import pytest

from ziggurat import read
from ziggurat.anonymize import Codes, Drop, Keep, mask, mask_batches, mask_plan, require_named
from ziggurat.data import Schema
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import seeded

SECRET = "the patient is called Rumpelstilzchen here"
ROWS = pa.table({"age": [1, 2, 3, 4], "note": [SECRET, "again another long sentence of words", SECRET, None]})


def test_free_text_that_nobody_named_is_dropped_and_said():
    shown = mask(ROWS, {"age": Drop()})
    assert shown.table.column_names == []
    assert shown.free_text == ("note",)
    assert shown.to_dict()["free_text"] == ["note"]
    assert SECRET not in str(shown.to_dict())


def test_a_category_is_no_free_text():
    schema = Schema.from_dict({"columns": {"age": {"kind": "integer"}, "note": {"kind": "category"}}})
    assert mask(read(ROWS, schema), {"age": Drop()}).table.column_names == ["note"]


def test_text_is_kept_for_a_reason_that_the_record_holds():
    shown = mask(ROWS, {"note": Keep("read by two people")})
    assert SECRET in shown.table.column("note").to_pylist()
    assert shown.to_dict()["techniques"][0]["parameters"] == {"because": "read by two people"}
    for nothing in ("", "  ", "a\nb"):
        with pytest.raises(ParameterError, match="Say why"):
            Keep(nothing)


def test_an_identifier_is_not_kept():
    schema = Schema.from_dict({"columns": {"age": {"kind": "integer"}, "note": {"kind": "text", "role": "identifier"}}})
    table = read(ROWS, schema)
    with pytest.raises(ParameterError, match="tells people apart"):
        require_named(table, mask(table, {"note": Keep("why not")}))


def test_batches_with_free_text_are_refused_without_a_cell():
    batches = mask_batches(ROWS, {"age": Drop()})
    with pytest.raises(DataError, match="--codes note") as caught:
        list(batches)
    assert SECRET not in str(caught.value)


def test_equal_text_has_equal_codes_and_nothing_else_is_seen():
    shown = mask(ROWS, {"note": Codes()}, source=seeded(1))
    first, second, third, missing = shown.table.column("note").to_pylist()
    assert first == third != second
    assert missing is None
    assert {first, second} == {"c1", "c2"}
    assert "Equal cells have equal codes" in shown.to_dict()["techniques"][0]["stated"]["not_hidden"]
    assert shown.rehearsal


def test_the_order_of_codes_is_drawn():
    cells = pa.table({"x": [f"value {i}" for i in range(50)]})
    drawn = {tuple(mask(cells, {"x": Codes()}, source=seeded(seed)).table.column("x").to_pylist()) for seed in range(3)}
    assert len(drawn) == 3
    assert all(len(set(codes)) == 50 for codes in drawn)
    assert not any(list(codes) == sorted(codes) for codes in drawn)


def test_a_plan_names_codes_and_keep(tmp_path):
    plan = mask_plan({"a": "codes", "b": {"technique": "keep", "because": "short"}}, ["a", "b"], tmp_path)
    assert [each[0].name for each in plan.values()] == ["codes", "keep"]
    with pytest.raises(ParameterError, match="printable"):
        Codes(prefix=1)
