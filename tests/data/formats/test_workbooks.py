"""A workbook gives the table on its sheet, or one sentence says what to change."""

import zipfile
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from ziggurat.data import FileLayout, Kind, read
from ziggurat.data.reading.formats import handles_file, load_file
from ziggurat.errors import DataError

HEADER = ["name", "age", "paid"]
ROWS = [["Ada", 36, 12.5], ["Bob", 41, 7.0]]


def book(path: Path, sheets: dict[str, list[list[Any]]], hidden: tuple[str, ...] = ()) -> str:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
        for row in rows:
            sheet.append(row)
    made.save(path)
    return str(path)


def rows_of(path: str, **told: Any) -> list[dict[str, Any]]:
    return load_file(path, FileLayout(**told)).data.to_pylist()


EXPECTED = [{"name": "Ada", "age": 36, "paid": 12.5}, {"name": "Bob", "age": 41, "paid": 7.0}]


def test_titles_and_blanks_around_the_table_are_left_out_and_noted(tmp_path: Path) -> None:
    titles = [
        ["Report of the clinic"],
        ["as of", "31.12.2024"],
        [],
        [None, *HEADER],
        [None, *ROWS[0]],
        [],
        [None, *ROWS[1]],
    ]
    path = book(tmp_path / "t.xlsx", {"Patienten": [[], [], *titles, [], []]})
    loaded = load_file(path, FileLayout())
    assert loaded.data.to_pylist() == EXPECTED
    assert loaded.loose
    assert loaded.notes == ("2 rows above the header left out.", "1 blank row between the rows left out.")


def test_a_header_with_one_name_left_out_is_not_taken_for_a_title(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"s": [["name", None, "paid"], *ROWS]})
    assert rows_of(path)[0] == {"name": "Ada", "column_2": 36, "paid": 12.5}


def test_names_are_made_different_and_printable(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"s": [[" a ", "A", "a\nb", None, 2019], ["u", "v", "w", "x", 1]]})
    loaded = load_file(path, FileLayout())
    assert loaded.data.column_names == ["a", "A_2", "a b", "column_4", "2019"]
    assert len(loaded.notes) == 3


def test_cells_have_the_type_that_all_of_them_have(tmp_path: Path) -> None:
    header = ["whole", "day", "moment", "clock", "long", "truth", "mixed", "empty", None]
    day, moment = date(1980, 12, 31), datetime(2024, 1, 2, 3, 4, 5)
    rows = [
        [1, day, moment, time(14, 35), timedelta(hours=26, minutes=10), True, 12, None, None],
        [2, day, datetime(2024, 1, 2), time(0, 0), timedelta(0), False, "k.A.", None, None],
        [None, None, None, None, None, None, 12.5, None, None],
    ]
    table = load_file(book(tmp_path / "t.xlsx", {"s": [header, *rows]}), FileLayout()).data
    assert table.column_names == header[:-1]
    assert [str(each) for each in table.schema.types] == [
        "int64", "date32[day]", "timestamp[us]", "string", "string", "bool", "string", "string",
    ]  # fmt: skip
    assert table["clock"].to_pylist() == ["14:35:00", "00:00:00", None]
    assert table["long"].to_pylist() == ["26:10:00", "00:00:00", None]
    assert table["mixed"].to_pylist() == ["12", "k.A.", "12.5"]


def test_text_cells_are_guessed_as_in_a_text_file(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"s": [["n", "postcode"], ["12", "01067"], ["NA", "10115"]]})
    schema = read(path).schema
    assert schema["n"].kind is Kind.INTEGER
    assert schema["n"].missing == ("NA",)
    assert schema["postcode"].kind is Kind.TEXT


def test_a_sheet_is_named_or_numbered_and_several_are_refused_with_their_names(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"Legende": [["x"], ["y"]], "Patienten": [HEADER, *ROWS], "leer": []})
    assert rows_of(path, sheet="Patienten") == rows_of(path, sheet="patienten") == rows_of(path, sheet="2") == EXPECTED
    assert read(path, sheet="Patienten").raw.count_rows() == 2
    with pytest.raises(DataError, match=r"several sheets, 'Legende' and 'Patienten'; name one with sheet="):
        read(path)
    with pytest.raises(DataError, match="no sheet 'Patient'; did you mean 'Patienten'"):
        read(path, sheet="Patient")


def test_a_hidden_sheet_does_not_stand_in_the_way(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"lists": [["a"], ["b"]], "data": [HEADER, *ROWS]}, hidden=("lists",))
    loaded = load_file(path, FileLayout())
    assert loaded.data.to_pylist() == EXPECTED
    assert loaded.notes == ("Read from sheet 'data'; other sheets with cells are hidden.",)


def test_a_sheet_without_a_header_is_refused_until_that_is_told(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"s": ROWS})
    with pytest.raises(DataError, match="looks like data, not like names; pass header=False") as caught:
        read(path)
    assert "Ada" not in str(caught.value)
    assert [list(row) for row in rows_of(path, header=False)] == [["column_1", "column_2", "column_3"]] * 2
    assert rows_of(path, header=False, names=HEADER) == EXPECTED
    with pytest.raises(DataError, match=r"There are 3 columns on .*, but 2 names"):
        rows_of(path, header=False, names=HEADER[:2])


def test_rows_to_skip_are_skipped(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", {"s": [["wrong", "wrong", "wrong"], HEADER, *ROWS, ["total", 77, 19.5]]})
    assert rows_of(path, skip=1, skip_last=1) == EXPECTED
    with pytest.raises(DataError, match="No cell is left"):
        rows_of(path, skip=9)


FALSE = {
    "a web page": (
        "t.xls",
        b"<html><table><tr><td>secret</td></tr></table></html>",
        r"\(HTML\); open it in a spreadsheet",
    ),
    "text": ("t.xls", b"a;b\nsecret;2\n", "holds text; name it .csv"),
    "a password": ("t.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(3000), "protected by a password"),
    "half a file": ("t.xlsx", b"PK\x03\x04" + bytes(300), "damaged or no workbook"),
    "nothing": ("t.xlsx", b"", "is empty"),
}


@pytest.mark.parametrize("fault", FALSE)
def test_what_is_no_workbook_is_one_sentence_with_the_remedy(fault: str, tmp_path: Path) -> None:
    name, content, sentence = FALSE[fault]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=sentence) as caught:
        read(tmp_path / name)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_an_open_document_sheet_is_read(tmp_path: Path) -> None:
    cell = '<table:table-cell office:value-type="{0}" office:{1}="{2}"><text:p>{2}</text:p></table:table-cell>'
    text = '<table:table-cell office:value-type="string"><text:p>{0}</text:p></table:table-cell>'
    head = "".join(text.format(name) for name in HEADER)
    body = text.format("Ada") + cell.format("float", "value", "36") + cell.format("float", "value", "12.5")
    spaces = " ".join(
        f'xmlns:{each}="urn:oasis:names:tc:opendocument:xmlns:{each}:1.0"' for each in ("office", "table", "text")
    )
    content = f"<table:table-row>{head}</table:table-row><table:table-row>{body}</table:table-row>"
    sheet = f'<office:spreadsheet><table:table table:name="s">{content}</table:table></office:spreadsheet>'
    whole = f"<office:document-content {spaces}><office:body>{sheet}</office:body></office:document-content>"
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", f"<?xml version='1.0'?>{whole}")
    assert rows_of(str(tmp_path / "t.ods")) == EXPECTED[:1]


def test_endings_tell_which_files_are_handled() -> None:
    assert all(handles_file(f"T{ending}") for ending in (".XLSX", ".sav", ".Rds", ".jsonl.gz", ".db"))
    assert not any(handles_file(f"t{ending}") for ending in (".csv", ".parquet", ".txt", ""))
