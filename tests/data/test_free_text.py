"""What counts as free text, and what does not."""

import pyarrow as pa
import pytest

from ziggurat import read
from ziggurat.data import Column, Schema
from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.free_text import free_text_in, is_free_text, may_be_free_text, refuse_free_text, say_dropped

SENTENCE = "a sentence of five words"
CASES = [
    (["ward A", "ward B", "ward A"], False),
    ([SENTENCE, "o.B.", "o.B."], True),
    ([SENTENCE] * 5 + ["o.B."], False),
    ([SENTENCE] * 4 + ["o.B."], True),
    (["x" * 41, "y"], True),
    (["x" * 40, "y"], False),
    ([f"label {i}" for i in range(20)], False),
    ([f"label {i}" for i in range(21)], True),
    ([f"label {i % 21}" for i in range(42)], False),
    ([f"label {i % 21}" for i in range(41)], True),
    ([None, None], False),
    ([], False),
]


@pytest.mark.parametrize(("cells", "free"), CASES)
def test_labels_repeat_and_a_rare_one_is_short(cells, free):
    column = pa.chunked_array([pa.array(cells, pa.string())])
    assert is_free_text(column) is free
    schema = Schema((Column("x", "text"), Column("n", "integer")))
    table = read(pa.table({"x": column, "n": pa.array(range(len(cells)), pa.int64())}), schema)
    assert free_text_in(table) == (("x",) if free else ())


@pytest.mark.parametrize(
    ("declared", "open_"),
    [
        ({"kind": "text"}, True),
        ({"kind": "text", "role": "sensitive"}, True),
        ({"kind": "text", "role": "identifier"}, False),
        ({"kind": "category"}, False),
        ({"kind": "text", "hierarchy": {"a": ["*"]}}, False),
        ({"kind": "text", "sequence": {"tokens": ["a"], "longest": 3}}, False),
        ({"kind": "integer"}, False),
    ],
)
def test_the_schema_decides_whether_a_column_may_be_free_text(declared, open_):
    assert may_be_free_text(Schema.from_dict({"columns": {"x": declared}})["x"]) is open_


def test_a_column_that_tells_units_apart_and_a_missing_code_are_no_free_text():
    rows = pa.table({"who": [SENTENCE, SENTENCE + "!"], "x": [SENTENCE, "a"]})
    schema = Schema.from_dict(
        {"unit": {"person": "who"}, "columns": {"who": {"kind": "text"}, "x": {"kind": "text", "missing": [SENTENCE]}}}
    )
    assert free_text_in(read(rows, schema)) == ()


def test_numbers_are_no_free_text():
    assert not is_free_text(pa.chunked_array([[1, 2, 3]]))


def test_the_sentences_name_the_choices():
    said = refuse_free_text("note")
    assert all(choice in said for choice in ("--drop note", "--text note", "--codes note"))
    assert said.count(".\n") == 0
    assert said.endswith(".")
    assert say_dropped([]) == ""
    assert say_dropped(["note"]) == "'note' holds free text and was dropped."
    assert say_dropped(["a", "b"]) == "'a' and 'b' hold free text and were dropped."


def test_the_engine_is_asked_no_more_often_for_many_columns_than_for_few(monkeypatch):
    asked = []
    query = DuckDBEngine.query
    monkeypatch.setattr(DuckDBEngine, "query", lambda *given: asked.append(1) or query(*given))
    counts = []
    for columns in (10, 300):
        table = read(pa.table({f"c{place}": ["a", "a", "b"] for place in range(columns)}))
        asked.clear()
        assert free_text_in(table) == ()
        counts.append(len(asked))
    assert counts[0] == counts[1] > 0
