"""Workbooks: the sheet that holds the table, and its cells as they are shown; formulas by what they last gave."""

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.data.reading.formats._loaded import LoadedFile, withhold_reason
from ziggurat.data.reading.formats._sheet_table import table_of
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError
from ziggurat.wording import list_names, nearest

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
"""The endings of workbooks."""

_OLE, _ZIP = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 4096


def load_workbook(path: str, layout: FileLayout) -> LoadedFile:
    """Return the table of one sheet of a workbook.

    Parameters
    ----------
    path
        Of the file.
    layout
        Which sheet, and where on it the table stands; what is left out is seen from the cells.
    """
    _check_content(path)
    book = _open(path)
    name, notes = _choose_sheet(path, book, layout.sheet)
    broken = f"Sheet {name!r} of {path!r} cannot be read; open the file in its own program and save it again."
    sheet = withhold_reason(lambda: book.get_sheet_by_name(name), broken)
    rows = withhold_reason(lambda: sheet.to_python(skip_empty_area=True), broken)
    above = sheet.start[0] if sheet.start else 0
    cells: list[list[Any]] = [[None if cell == "" else cell for cell in row] for row in rows]
    table, said = table_of(cells, layout, f"sheet {name!r} of {path!r}", above)
    return LoadedFile(table, loose=True, notes=(*notes, *said))


def _open(path: str) -> "CalamineWorkbook":
    import python_calamine as calamine

    try:
        return calamine.load_workbook(path)
    except calamine.PasswordError:
        reason = f"The workbook {path!r} is protected by a password; save it without one."
    except Exception:  # noqa: BLE001  (whatever the reader says of a broken file)
        reason = f"The workbook {path!r} is damaged or no workbook; open it in its own program and save it again."
    raise DataError(reason)


def _check_content(path: str) -> None:
    """Refuse what only bears the name of a workbook, by its first bytes."""
    with Path(path).open("rb") as file:
        first = file.read(_LOOKED_AT)
    if first.startswith(_OLE):
        if not path.lower().endswith(".xls"):
            raise DataError(
                f"The workbook {path!r} is protected by a password, or an .xls file under another name; save it "
                "without a password, as .xlsx."
            )
    elif first.startswith(_ZIP):
        _check_archive(path)
    elif not (path.lower().endswith(".xls") and first[:1] == b"\x09"):  # a very old one
        _refuse_text(path, first)


def _check_archive(path: str) -> None:
    if path.lower().endswith(".ods"):
        broken = f"The workbook {path!r} is damaged; open it in its own program and save it again."
        if "encryption-data" in withhold_reason(lambda: _manifest(path), broken):
            raise DataError(f"The workbook {path!r} is protected by a password; save it without one.")


def _manifest(path: str) -> str:
    with zipfile.ZipFile(path) as archive:
        if "META-INF/manifest.xml" not in archive.namelist():
            return ""
        return archive.read("META-INF/manifest.xml").decode("utf-8", "replace")


def _refuse_text(path: str, first: bytes) -> None:
    start = first.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<html", b"<!doctype", b"<table", b"<head", b"<meta", b"<div")):
        found, remedy = "a web page (HTML)", "open it in a spreadsheet and save it as .xlsx"
    elif start.startswith(b"<?xml"):
        found, remedy = "XML", "open it in a spreadsheet and save it as .xlsx"
    elif first and (b"\0" not in first or first.startswith(_UTF_16)):
        found, remedy = "text", "name it .csv"
    else:
        found, remedy = "nothing that a workbook begins with", "open it in its own program and save it again"
    raise DataError(f"The file {path!r} is named like a workbook but holds {found}; {remedy}.")


def _choose_sheet(path: str, book: "CalamineWorkbook", wanted: str) -> tuple[str, tuple[str, ...]]:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    sheets = {each.name: each.visible for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet}
    names = list(sheets)
    if wanted:
        return _find_sheet(path, names, wanted), ()
    filled = [name for name in names if _is_filled(path, book, name)]
    if not filled:
        raise DataError(f"The workbook {path!r} has no sheet with cells in it.")
    shown = [name for name in filled if sheets[name] == SheetVisibleEnum.Visible]
    if len(shown) == 1 < len(filled):
        return shown[0], (f"Read from sheet {shown[0]!r}; other sheets with cells are hidden.",)
    if len(filled) > 1:
        raise DataError(
            f"The workbook {path!r} has several sheets, {list_names(filled)}; name one with sheet= (--sheet)."
        )
    return filled[0], ((f"Read from sheet {filled[0]!r}; the others are empty.",) if len(names) > 1 else ())


def _is_filled(path: str, book: "CalamineWorkbook", name: str) -> bool:
    broken = f"Sheet {name!r} of {path!r} cannot be read; open the file in its own program and save it again."
    return withhold_reason(lambda: book.get_sheet_by_name(name).start, broken) is not None


def _find_sheet(path: str, names: list[str], wanted: str) -> str:
    alike = [name for name in names if name.strip().lower() == wanted.strip().lower()]
    if wanted in names or len(alike) == 1:
        return wanted if wanted in names else alike[0]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise DataError(f"The workbook {path!r} has no sheet {wanted!r}; {nearest(wanted, names)}")
