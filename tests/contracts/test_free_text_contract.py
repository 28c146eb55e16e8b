"""Free text is free text in every engine: the same columns are found, masked and dropped."""

import pyarrow as pa

from ziggurat.anonymize import Codes, Drop, MaskText, mask
from ziggurat.data import Column, Schema, Table
from ziggurat.data.free_text import free_text_in
from ziggurat.synthesize import synthesize

SCHEMA = Schema((Column("first_name", "text"), Column("age", "integer"), Column("note", "text")))
ROWS = pa.table({
    "first_name": ["Ilse", "Jan", "Mia"] * 10,
    "age": pa.array(range(30, 60), pa.int64()),
    "note": [f"Frau Okonkwo brachte Befund {at}; Kopie an jan@example.org." for at in range(30)],
})  # fmt: skip


def test_notes_are_found_masked_coded_and_dropped(held):
    engine, load = held
    table = Table(engine, load(ROWS), SCHEMA)
    assert free_text_in(table) == ("note",)
    masked = mask(table, {"note": MaskText(), "first_name": Drop()}).table["note"].to_pylist()
    assert sorted(masked) == sorted(f"Frau [NAME] brachte Befund {at}; Kopie an [E-MAIL]." for at in range(30))
    coded = mask(table, {"note": Codes(), "first_name": Drop()}).table["note"].to_pylist()
    assert (len(set(coded)), any("Okonkwo" in str(each) for each in coded)) == (30, False)
    made = synthesize(table, random_state=1).tables[0]
    assert "note" not in made.column_names
