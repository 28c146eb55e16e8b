"""Workbooks that no library here writes: .xls (BIFF8 in a compound file) and .ods, made byte by byte."""

import struct
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_SECTOR = 512
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_DATE_FORMAT = 14


def write_xls(path: Path, rows: list[list[Any]], sheet: str = "Tabelle1") -> None:
    """Write a workbook of Excel 97; a pair (number, "date") is a cell that is shown as a date."""
    cells = [_cell(row, column, cell) for row, line in enumerate(rows) for column, cell in enumerate(line)]
    name = sheet.encode("latin-1")
    formats = [_record(0x00E0, struct.pack("<HHHHIIHxx", 0, shown, 0, 0, 0, 0, 0)) for shown in (0, _DATE_FORMAT)]
    start, end = _record(0x0809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 6)), _record(0x000A, b"")
    entry = struct.pack("<BBBB", 0, 0, len(name), 0) + name
    place = len(start) + sum(map(len, formats)) + 4 + 4 + len(entry) + len(end)
    bound = _record(0x0085, struct.pack("<I", place) + entry)
    begin = _record(0x0809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 6))
    write_compound(path, {"Workbook": b"".join([start, *formats, bound, end, begin, *cells, end])})


def write_compound(path: Path, streams: dict[str, bytes]) -> None:
    """Write a compound file of these streams, each long enough to have sectors of its own."""
    first, chain, body, entries = 2, [_TABLE, _END], b"", []
    for name, data in streams.items():
        padded = data.ljust(8 * _SECTOR, b"\0")
        count = -(-len(padded) // _SECTOR)
        entries.append(_entry(name, 2, first, len(padded), following=len(entries) + 2))
        chain += [*range(first + 1, first + count), _END]
        body += padded.ljust(count * _SECTOR, b"\0")
        first += count
    entries[-1] = entries[-1][:72] + struct.pack("<I", _FREE) + entries[-1][76:]
    directory = b"".join([_entry("Root Entry", 5, _END, 0, child=1), *entries]).ljust(_SECTOR, b"\0")
    table = struct.pack(f"<{len(chain)}I", *chain).ljust(_SECTOR, b"\xff")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, _END, 0, _END, 0)
    header += struct.pack("<I", 0) + b"\xff" * (108 * 4)
    path.write_bytes(header + table + directory + body)


def write_ods(path: Path, rows: list[list[Any]], sheet: str = "Tabelle1") -> None:
    """Write a workbook of LibreOffice; a pair (text, "date") is a date, other cells are numbers and text."""
    lines = "".join(f"<table:table-row>{''.join(map(_show, row))}</table:table-row>" for row in rows)
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces} office:version="1.2"><office:body>'
        f'<office:spreadsheet><table:table table:name="{escape(sheet)}">{lines}</table:table></office:spreadsheet>'
        "</office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), kind)
        archive.writestr(zipfile.ZipInfo("content.xml"), content)
        archive.writestr(zipfile.ZipInfo("META-INF/manifest.xml"), manifest)


def _record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _cell(row: int, column: int, cell: Any) -> bytes:
    if cell is None:
        return b""
    if isinstance(cell, str):
        return _record(0x0204, struct.pack("<HHHHB", row, column, 0, len(cell), 1) + cell.encode("utf-16-le"))
    number, shown = cell if isinstance(cell, tuple) else (cell, "")
    return _record(0x0203, struct.pack("<HHHd", row, column, 1 if shown else 0, number))


def _entry(name: str, kind: int, start: int, size: int, *, child: int = _FREE, following: int = _FREE) -> bytes:
    named = name.encode("utf-16-le") + b"\0\0"
    head = named.ljust(64, b"\0") + struct.pack("<HBB", len(named), kind, 1)
    return head + struct.pack("<III", _FREE, following, child) + bytes(36) + struct.pack("<IQ", start, size)


def _show(cell: Any) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, tuple):
        return f'<table:table-cell office:value-type="date" office:date-value="{cell[0]}"/>'
    if isinstance(cell, str):
        return f'<table:table-cell office:value-type="string"><text:p>{escape(cell)}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
