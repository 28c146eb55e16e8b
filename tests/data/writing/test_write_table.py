"""A table that is written to a file of any format is read back as it was, or refused in one sentence."""

import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

from ziggurat.data import Column, FileLayout, Kind, Schema, read
from ziggurat.data.reading.formats import load_file
from ziggurat.data.writing import STREAMED_ENDINGS, TABLE_ENDINGS, TableWriter, check_table_file, write_table
from ziggurat.errors import DataError, MissingExtraError

TABLE = pa.table(
    {
        "whole": [1, None, 2**40],
        "part": [1.5, None, -2.0],
        "truth": [True, False, None],
        "day": pa.array([date(1980, 12, 31), None, date(1850, 1, 1)]),
        "text": ["=1+1", "01067", None],
    }
)
SCHEMA = Schema(
    (
        Column("whole", Kind.INTEGER),
        Column("part", Kind.REAL),
        Column("truth", Kind.BOOLEAN),
        Column("day", Kind.DATE),
        Column("text", Kind.TEXT),
    )
)


@pytest.mark.parametrize("ending", TABLE_ENDINGS)
def test_what_is_written_is_read_back(ending: str, tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / f"t{ending}")
    assert read(tmp_path / f"t{ending}", SCHEMA).raw.rows().to_pylist() == TABLE.to_pylist()


@pytest.mark.parametrize("ending", TABLE_ENDINGS)
@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_without_rows_or_without_a_cell_is_written_too(ending: str, rows: int, tmp_path: Path) -> None:
    bare = (
        TABLE.schema.empty_table()
        if not rows
        else pa.table({field.name: pa.nulls(1, field.type) for field in TABLE.schema})
    )
    write_table(bare, tmp_path / f"t{ending}")
    if rows or ending != ".jsonl":  # without a line there is no name
        kept = 0 if ending == ".xlsx" else rows  # a blank row of a sheet is no row
        assert read(tmp_path / f"t{ending}", SCHEMA).raw.count_rows() == kept


@pytest.mark.parametrize("ending", TABLE_ENDINGS)
def test_pieces_make_the_same_table(ending: str, tmp_path: Path) -> None:
    with TableWriter(tmp_path / f"t{ending}", TABLE.schema) as writer:
        writer.write_table(TABLE.slice(0, 1))
        for batch in TABLE.slice(1).to_batches():
            writer.write_batch(batch)
    assert read(tmp_path / f"t{ending}", SCHEMA).raw.rows().to_pylist() == TABLE.to_pylist()


def test_text_that_a_spreadsheet_would_run_is_text_in_excel(tmp_path: Path) -> None:
    dangerous = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("x")']
    write_table(pa.table({"=name": dangerous}), tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert [cell.value for cell in cells] == ["=name", *dangerous]
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr"}
    assert sheet.freeze_panes == "A2"
    assert cells[0].font.bold
    assert load_file(str(tmp_path / "t.xlsx"), FileLayout()).data.to_pylist() == [{"=name": text} for text in dangerous]


def test_moments_and_long_numbers_in_excel(tmp_path: Path) -> None:
    table = pa.table({"at": [datetime(2024, 1, 2, 3, 4, 5)], "card": [1234567890123456789], "gone": [float("nan")]})
    write_table(table, tmp_path / "t.xlsx")
    found = load_file(str(tmp_path / "t.xlsx"), FileLayout()).data.to_pylist()
    assert found == [{"at": datetime(2024, 1, 2, 3, 4, 5), "card": "1234567890123456789", "gone": None}]


def _row(**cells: Any) -> pa.Table:
    return pa.table({name: [cell] for name, cell in cells.items()})


FAULTS = {
    "no ending": ("t.docx", _row(a=1), "has no known ending; use .parquet, .csv"),
    "a long text": ("t.xlsx", _row(a="secret" * 6_000), "Column 'a' holds text of more than 32,767 characters"),
    "a control character": ("t.xlsx", _row(a="secret\x01"), "Column 'a' holds control characters"),
    "a list": ("t.xlsx", _row(a=["secret"]), "Column 'a' holds lists"),
    "a list in Stata": ("t.dta", _row(a=["secret"]), "Column 'a' is of a type"),
    "a list in text": ("t.csv", _row(a=["secret"]), "do not fit into .*; write .parquet instead"),
    "a name for Stata": (
        "t.dta",
        _row(**{"Kosten €": 1}),
        "Stata does not allow the name 'Kosten €' .* call it 'Kosten'",
    ),
    "a word of Stata": ("t.dta", _row(**{"if": 1}), "does not allow the name 'if' .* call it 'if_1'"),
    "a name for SPSS": ("t.sav", _row(**{"1st": 1}), "SPSS does not allow the name '1st' .* call it 'v_1st'"),
    "a long number": ("t.dta", _row(a=2**60), "Column 'a' holds whole numbers of more than 15 digits"),
    "an infinite number": ("t.sav", _row(a=float("inf")), "Column 'a' holds infinite numbers"),
    "bytes in JSON": ("t.jsonl", _row(a=b"secret"), "JSON lines cannot hold bytes"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_format_cannot_hold_is_one_sentence_and_leaves_no_file(fault: str, tmp_path: Path) -> None:
    name, table, sentence = FAULTS[fault]
    with pytest.raises(DataError, match=sentence) as caught:
        write_table(table, tmp_path / name)
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_sheet_has_an_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="at most 1,048,576 rows"):
        check_table_file("t.xlsx", ["a"], 1_048_576)
    check_table_file("t.xlsx", ["a"], 1_048_575)
    with pytest.raises(DataError, match="at most 16,384 columns"):
        check_table_file("t.xlsx", ["a"] * 16_385)
    monkeypatch.setattr("ziggurat.data.writing._workbook._MOST_ROWS", 3)
    with pytest.raises(DataError, match="A sheet of Excel"):
        write_table(TABLE, tmp_path / "t.xlsx")


def test_names_are_checked_before_anything_is_written() -> None:
    for ending in STREAMED_ENDINGS:
        check_table_file(f"t{ending}", ["Kosten €"])
    with pytest.raises(DataError, match="Stata does not allow"):
        check_table_file("t.dta", ["Kosten €"])


def test_without_pandas_the_sentence_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        write_table(_row(a=1), tmp_path / "t.sav")


def test_codes_for_missing_values_that_spss_has_no_room_for(tmp_path: Path) -> None:
    cells = pa.table({"a": [1, 96, 97, 98, 99, 5]})
    close = Schema((Column("a", Kind.INTEGER, missing=(5, 96, 97, 98, 99)),))
    write_table(cells, tmp_path / "t.sav", close)
    assert read(tmp_path / "t.sav").schema["a"].missing == (5, 96, 97, 98, 99)
    apart = Schema((Column("a", Kind.INTEGER, missing=(5, 96, 98, 99)),))
    with pytest.raises(DataError, match=r"SPSS keeps at most three codes .* column 'a' has 4"):
        write_table(cells, tmp_path / "u.sav", apart)


def test_a_column_of_another_type_than_the_schema_says_is_written_without_its_labels(tmp_path: Path) -> None:
    schema = Schema((Column("age", Kind.INTEGER, missing=(-9,), labels=((-9, "unknown"),)),))
    write_table(pa.table({"age": ["30-39", "40-49"]}), tmp_path / "t.dta", schema)
    assert read(tmp_path / "t.dta").raw.rows().to_pylist() == [{"age": "30-39"}, {"age": "40-49"}]
