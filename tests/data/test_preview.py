"""What a table shows: names to everybody, exact counts to the steward who asks for them."""

import pyarrow as pa

from ziggurat.data import Bounds, Column, FileLayout, Kind, Notation, Role, Schema, read

TABLE = pa.table({"age": [31, None, 17, -9], "cost": ["1,5", "2,5", None, "4,0"]})
SCHEMA = Schema(
    (
        Column("age", Kind.INTEGER, Role.QUASI_IDENTIFIER, Bounds(0, 120), missing=(-9,)),
        Column("cost", Kind.TEXT),
    ),
    name="visits",
)


def test_columns_are_the_names_that_queries_see():
    assert read(TABLE, SCHEMA).columns == ("age", "cost")


def test_a_preview_counts_what_is_missing_codes_too():
    shown = read(TABLE, SCHEMA).preview()
    assert shown.rows == 4
    assert shown.to_arrow().select(["name", "missing", "codes", "values", "known"]).to_pylist() == [
        {"name": "age", "missing": 2, "codes": "-9", "values": "0 to 120", "known": "public"},
        {"name": "cost", "missing": 1, "codes": "", "values": "", "known": ""},
    ]
    assert str(shown).splitlines()[0] == "visits: 4 rows, 2 columns, unit: one row (private: steward only)"


def test_a_preview_says_how_cells_are_written():
    written = Column("cost", Kind.REAL, written=Notation(decimal=","))
    from ziggurat.data._preview import preview_column

    assert preview_column(written, 0, 0)["written"] == "decimal ,"


def test_a_view_holds_public_facts_and_no_count():
    view = read(TABLE, SCHEMA).view("visits")
    assert repr(view) == "<Table visits: 2 columns, unit: one row>"
    assert view.columns == ("age", "cost")
    assert "0 to 120" in view._repr_html_()


def test_a_file_that_is_opened_later_is_looked_at_as_one_that_was_opened(tmp_path):
    (tmp_path / "t.csv").write_text("case;age\nA1;20\n-;130\n")
    case = Column("case", Kind.TEXT, Role.IDENTIFIER, missing=("-",))
    schema = Schema((case, Column("age", Kind.INTEGER, bounds=Bounds(0, 120))), file=FileLayout(delimiter=";"))
    later = [read(tmp_path / "t.csv", schema, later=True) for _ in range(3)]
    assert later[0].preview().to_arrow().column("missing").to_pylist() == [1, 0]
    assert [each.column for each in later[1].validate()] == ["age"]
    assert (later[2].unreadable(), later[2].unreadable_cells("age")) == ({}, set())
