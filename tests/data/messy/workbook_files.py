"""Workbooks as people leave them: titles, totals, merged and hidden things, numbers stored as text."""

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

from messy_file import Make, MessyFile, as_rows, day, write_bytes, write_text
from old_workbook import write_compound, write_ods, write_xls

_TABLE = [["id", "alter", "ort"], [1, 34, "Ulm"], [2, 71, "Hof"], [3, 58, "Ulm"]]
_ROWS = as_rows("id alter ort", (1, 34, "Ulm"), (2, 71, "Hof"), (3, 58, "Ulm"))
_VISITS = [["id", "day"], [1, date(2024, 3, 12)], [2, date(2024, 11, 30)]]
_MEASURED = as_rows("id größe born", (1, 181.5, day("1980-12-31")), (2, None, day("1955-02-01")))


def write_workbook(*sheets: tuple[str, list[list[Any]]], change: Callable[[Any], object] | None = None) -> Make:
    """Return what writes a workbook of these sheets; `change` may spoil it before it is saved."""

    def make(path: Path) -> None:
        import openpyxl

        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets:
            sheet = book.create_sheet(name)
            for row in rows:
                sheet.append(row)
        if change is not None:
            change(book)
        book.save(path)

    return make


def _merge_title(book: Any) -> None:
    book["Tabelle1"].merge_cells("A1:C1")


def _hide_lists(book: Any) -> None:
    book["Listen"].sheet_state = "hidden"


def _mark_errors(book: Any) -> None:
    for place in ("B3", "B4"):
        book["Tabelle1"][place].data_type = "e"


def _store_as_text(book: Any) -> None:
    for row in book["Tabelle1"].iter_rows(min_row=2):
        row[1].number_format = "@"


def _show_as_percent(book: Any) -> None:
    for place in ("B2", "B3"):
        book["Tabelle1"][place].number_format = "0.0%"


def _leave_room(book: Any) -> None:
    sheet = book["Tabelle1"]
    sheet.insert_rows(1, 3)
    sheet.insert_cols(1, 2)


FILES = (
    MessyFile(
        "plain.xlsx",
        "Excel keeps whole numbers as reals; they are whole again.",
        write_workbook(("Tabelle1", _TABLE)),
        rows=_ROWS,
        kinds={"id": "integer", "alter": "integer", "ort": "text"},
    ),
    MessyFile(
        "excel_dates.xlsx",
        "Dates are dates of Excel, some with a time of day.",
        write_workbook(
            ("Tabelle1", [["id", "born", "seen"], [1, date(1980, 12, 31), datetime(2024, 3, 12, 14, 35)]]),
        ),
        rows=as_rows("id born seen", (1, day("1980-12-31"), day("2024-03-12"))),
        kinds={"born": "date", "seen": "date"},
    ),
    MessyFile(
        "green_triangles.xlsx",
        "Numbers and dates are stored as text; Excel warns with green triangles.",
        write_workbook(
            (
                "Tabelle1",
                [["id", "kosten", "geboren"], [1, "1.234,50", "31.12.1980"], [2, "86,8", "01.02.1955"]],
            ),
            change=_store_as_text,
        ),
        rows=as_rows("id kosten geboren", (1, 1234.5, day("1980-12-31")), (2, 86.8, day("1955-02-01"))),
        kinds={"kosten": "real", "geboren": "date"},
    ),
    MessyFile(
        "numbers_and_marks.xlsx",
        "Among the numbers of a column stand k.A. and a dash.",
        write_workbook(("Tabelle1", [["id", "gewicht"], [1, 86.8], [2, "k.A."], [3, "-"], [4, 61]])),
        rows=as_rows("id gewicht", (1, 86.8), (2, None), (3, None), (4, 61.0)),
        kinds={"gewicht": "real"},
        missing={"gewicht": ("k.A.", "-")},
    ),
    MessyFile(
        "dates_and_text_dates.xlsx",
        "Some dates are dates of Excel, and some were typed as text.",
        write_workbook(("Tabelle1", [["id", "born"], [1, date(1980, 12, 31)], [2, "01.02.1955"], [3, "14.07.1991"]])),
        rows=as_rows("id born", (1, day("1980-12-31")), (2, day("1955-02-01")), (3, day("1991-07-14"))),
        kinds={"born": "date"},
    ),
    MessyFile(
        "formula_errors.xlsx",
        "Formulas gave #N/A and #DIV/0!",
        write_workbook(
            ("Tabelle1", [["id", "rate"], [1, 0.5], [2, "#N/A"], [3, "#DIV/0!"], [4, 0.75]]), change=_mark_errors
        ),
        rows=as_rows("id rate", (1, 0.5), (2, None), (3, None), (4, 0.75)),
        kinds={"rate": "real"},
    ),
    MessyFile(
        "shown_as_percent.xlsx",
        "A share is shown as 86.8 %, but the cell holds 0.868.",
        write_workbook(("Tabelle1", [["id", "share"], [1, 0.868], [2, 0.5]]), change=_show_as_percent),
        rows=as_rows("id share", (1, 0.868), (2, 0.5)),
        kinds={"share": "real"},
    ),
    MessyFile(
        "truth_cells.xlsx",
        "Cells hold truth values, and some hold nothing.",
        write_workbook(("Tabelle1", [["id", "smoker"], [1, True], [2, False], [3, None]])),
        rows=as_rows("id smoker", (1, True), (2, False), (3, None)),
        kinds={"smoker": "boolean"},
    ),
    MessyFile(
        "merged_title.xlsx",
        "A title in merged cells and a blank row stand above the table.",
        write_workbook(("Tabelle1", [["Patienten der Station Nord 2023"], [], *_TABLE]), change=_merge_title),
        rows=_ROWS,
        notes=r"(?i)\b(1|2|two) rows?\b.*above",
    ),
    MessyFile(
        "somewhere_on_the_sheet.xlsx",
        "The table begins in cell C4, with nothing above and beside it.",
        write_workbook(("Tabelle1", _TABLE), change=_leave_room),
        rows=_ROWS,
    ),
    MessyFile(
        "gaps.xlsx",
        "Blank rows stand between the rows.",
        write_workbook(("Tabelle1", [*_TABLE[:2], [], *_TABLE[2:3], [], [], _TABLE[3]])),
        rows=_ROWS,
        notes="(?i)blank|empty",
    ),
    MessyFile(
        "two_header_rows.xlsx",
        "Groups of columns have names of their own above the header; told, that row is skipped.",
        write_workbook(("Tabelle1", [["Wer", "Wer", "Wo"], *_TABLE])),
        {"skip": 1},
        rows=_ROWS,
    ),
    MessyFile(
        "total_row.xlsx",
        "The last row of the sheet is a total; told, it is skipped.",
        write_workbook(("Tabelle1", [*_TABLE, ["Summe", 163, None]])),
        {"skip_last": 1},
        rows=_ROWS,
        kinds={"id": "integer"},
    ),
    MessyFile(
        "names_of_a_sheet.xlsx",
        "A sheet has a name twice, a name with a line break and a column without one.",
        write_workbook(("Tabelle1", [["id", "wert", "wert", "in\nkg", None], [1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])),
        rows=as_rows(["id", "wert", "wert_2", "in kg", "column_5"], (1, 2, 3, 4, 5), (6, 7, 8, 9, 10)),
        notes="(?=.*wert_2)(?=.*column_5)",
    ),
    MessyFile(
        "no_header.xlsx",
        "A sheet begins with data.",
        write_workbook(("Tabelle1", _TABLE[1:])),
        refused="(?i)(?=.*header(=False| none))(?=.*names)",
        unlike=("Ulm", "34"),
    ),
    MessyFile(
        "no_header_told.xlsx",
        "A sheet begins with data and is told so.",
        write_workbook(("Tabelle1", _TABLE[1:])),
        {"header": False, "names": ("id", "alter", "ort")},
        rows=_ROWS,
    ),
    MessyFile(
        "two_sheets.xlsx",
        "A workbook has two tables and nobody says which.",
        write_workbook(("Patienten", _TABLE), ("Besuche", _VISITS)),
        refused="(?i)(?=.*Patienten)(?=.*Besuche)(?=.*sheet)",
        unlike=("Ulm",),
    ),
    MessyFile(
        "two_sheets_told.xlsx",
        "A workbook has two tables and the second is told.",
        write_workbook(("Patienten", _TABLE), ("Besuche", _VISITS)),
        {"sheet": "Besuche"},
        rows=as_rows("id day", (1, day("2024-03-12")), (2, day("2024-11-30"))),
    ),
    MessyFile(
        "no_such_sheet.xlsx",
        "A sheet is told that the workbook does not have.",
        write_workbook(("Patienten", _TABLE), ("Besuche", _VISITS)),
        {"sheet": "Patient"},
        refused="Patienten",
        unlike=("Ulm",),
    ),
    MessyFile(
        "empty_sheets.xlsx",
        "German Excel used to make three sheets, and two of them stayed empty.",
        write_workbook(("Tabelle1", _TABLE), ("Tabelle2", []), ("Tabelle3", [])),
        rows=_ROWS,
    ),
    MessyFile(
        "hidden_sheet.xlsx",
        "A hidden sheet holds the lists of a form; the table is the one that people see.",
        write_workbook(("Patienten", _TABLE), ("Listen", [["orte"], ["Ulm"], ["Hof"]]), change=_hide_lists),
        rows=_ROWS,
    ),
    MessyFile(
        "nothing.xlsx",
        "A workbook was saved before anything was typed.",
        write_workbook(("Tabelle1", [])),
        refused="(?i)no sheet with|empty|no cells",
    ),
    MessyFile(
        "excel_97.xls",
        "A ward still saves in the format of Excel 97.",
        lambda path: write_xls(
            path, [["id", "größe", "born"], [1, 181.5, (29586, "date")], [2, None, (20121, "date")]]
        ),
        rows=_MEASURED,
        kinds={"id": "integer", "größe": "real", "born": "date"},
    ),
    MessyFile(
        "libreoffice.ods",
        "An office works with LibreOffice.",
        lambda path: write_ods(
            path, [["id", "größe", "born"], [1, 181.5, ("1980-12-31", "date")], [2, None, ("1955-02-01", "date")]]
        ),
        rows=_MEASURED,
        kinds={"id": "integer", "größe": "real", "born": "date"},
    ),
    MessyFile(
        "web_page.xls",
        "A portal names a web page .xls, because Excel opens it.",
        write_text("<html><body><table><tr><td>id</td></tr><tr><td>4711</td></tr></table></body></html>"),
        refused=r"(?i)(?=.*(html|web page))(?=.*save)",
        unlike=("4711",),
    ),
    MessyFile(
        "tabs_named_xls.xls",
        "SAP names a text with tabs .xls.",
        write_text("Beleg\tBetrag\nB1\t1.234,50-\nB2\t99,95\n", "cp1252"),
        refused=r"(?i)text.*\.(csv|txt|tsv)",
        unlike=("B1", "99,95"),
    ),
    MessyFile(
        "with_password.xlsx",
        "A workbook is protected by a password.",
        lambda path: write_compound(path, {"EncryptedPackage": b"\1" * 100, "EncryptionInfo": b"\4\0\4\0"}),
        refused="(?i)password",
    ),
    MessyFile(
        "workbook_named_csv.csv",
        "A workbook was renamed to .csv.",
        write_workbook(("Tabelle1", _TABLE)),
        refused=r"(?i)xlsx|workbook",
        unlike=("Ulm",),
    ),
    MessyFile(
        "half_a_workbook.xlsx",
        "An upload was cut off in the middle of a workbook.",
        write_bytes(b"PK\x03\x04" + bytes(range(200))),
        refused="(?i)damaged|save it again",
    ),
)
