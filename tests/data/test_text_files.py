"""A text file is read as it stands, or one sentence says what is wrong with it, by line and never by cell.

What an engine attaches by itself is of the one kind that we write; `read` takes other habits, too (tests/data/messy).
"""

import contextlib
import csv
import gzip
import io
import os
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.data import Column, Schema, Table, read
from ziggurat.data.engines import DuckDBEngine, unmark_text
from ziggurat.data.engines.texts import _scan
from ziggurat.errors import DataError, ParameterError, ZigguratError

LONG_GZIP = gzip.compress(b"a,b\n" + b"\n".join(os.urandom(20).hex().encode() + b",2" for _ in range(500)))

FAULTS = {
    "Latin-1 in a cell": ("t.csv", b"a,b\n1,2\n3,\xfc\n", "line 3 is not UTF-8"),
    "Latin-1 far below": ("t.csv", b"a,b\n" + b"1,x\n" * 50_000 + b"3,\xfc\n", "line 50002 is not UTF-8"),
    "Latin-1 in the header": ("t.csv", b"\xfc,b\n1,2\n", "line 1 is not UTF-8"),
    "a blank line first": ("t.csv", b"\na,b\n1,2\n", "begins with a blank line"),
    "half a gzip file": ("t.csv.gz", LONG_GZIP[: len(LONG_GZIP) // 2], "not a complete gzip file"),
    "no gzip file": ("t.csv.gz", b"a,b\n1,2\n", "not a complete gzip file"),
    "a line break in a name": ("t.csv", b'"a\nb",c\n1,2\n', "a line break or an unprintable character in a name"),
    "a separator at the end": ("t.csv", b"a,b,\n1,2,\n", "ends with a separator"),
    "a name left out": ("t.csv", b"a,,b\n1,2,3\n", "leaves a column without a name"),
    "a long cell": ("t.csv", b"a,b\n1," + b"x" * 3_000_000 + b"\n", "line 2 is longer than 2,000,000 bytes"),
    "a ragged line": ("t.csv", b"a,b\n1,2\n1,2,3,4\n", "line 3 has 4 fields, but the header has 2"),
    "a stray quotation mark": ("t.csv", b'a,b\n1,2\n"x"y"z,1\n', "line 3 has quotation marks that do not match"),
    "two kinds of line": ("t.csv", b"a,b\r\n1,2\n3,4\n", "line 2 ends in another way than the first (LF and CR LF)"),
    "two kinds of line after sep": ("t.csv", b"sep=;\na;b\r\n1;2\r\n", "line 2 ends in another way"),
    "an open quotation mark": ("t.csv", b'"a,b\n1,2\n', "quotation marks in the header"),
    "an open cell": ("t.csv", b'a,b\n1,2\n3,"4\n5,6\n', "line 3 has quotation marks that do not match"),
    "an open cell, then much": (
        "t.csv",
        b'a,b\n1,2\n3,"4\n' + b"5,6\n" * 600_000,
        "line 3 is longer than 2,000,000 bytes; is a quotation mark left open?",
    ),
    "a quotation mark inside": ("t.csv", b'a,b\n1,6" pipe\n', "line 2 has quotation marks that do not match"),
    "a space before quotes": ("t.csv", b'a,b\n1, "x"\n', "line 2 has quotation marks that do not match"),
    "a missing field": ("t.csv", b"a,b\n" + b"1,2\n" * 10_000 + b"1\n", "line 10002 has 1 field, but the header has 2"),
    "fields that add up": ("t.csv", b"a,b\n1\n1,2,3\n", "line 2 has 1 field"),
    "one CR LF among LF": ("t.csv", b"a,b\n1,2\n3,4\r\n5,6\n", "line 3 ends in another way"),
    "one LF among CR LF": ("t.csv", b"a,b\r\n1,2\r\n3,4\n5,6\r\n", "line 3 ends in another way"),
    "CR alone": ("t.csv", b"a,b\r1,2\r", "line 1 has a carriage return (CR) outside quotes"),
    "a zero byte": ("t.csv", b"a,b\n1,2\n3,\0\n", "line 3 holds a zero byte"),
    "a blank line": ("t.csv", b"a,b\n1,2\n\n3,4\n", "line 3 is blank"),
    "a long last line without an end": ("t.csv", b"a,b\n1,2\n1," + b"x" * 40_000_000, "line 3 is longer than"),
    "UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16"), "line 1 is not UTF-8"),
    "text behind line breaks in cells": ("t.csv", b'a,b\n"1\n2",2\n3,4,5\n', "line 4 has 3 fields"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_own_sentence(fault: str, tmp_path: Path) -> None:
    name, content, sentence = FAULTS[fault]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        DuckDBEngine().attach(tmp_path / name)
    assert sentence in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(DataError, match=r"t\.csv' is a folder; name the files in it, such as .*/t\.csv/\*\.csv'"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("line", ["sep=;\n", "sep=;\r\n", '"sep=;"\n', "SEP=;\n"])
def test_the_separator_that_excel_names_is_obeyed(line: str, tmp_path: Path) -> None:
    ending = "\r\n" if line.endswith("\r\n") else "\n"
    content = f"{line}a;b{ending}1,5;2{ending}".encode()
    (tmp_path / "t.csv").write_bytes(content)
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(content))
    for name in ("t.csv", "z.csv.gz"):
        assert read(tmp_path / name).raw.rows().to_pylist() == [{"a": 1.5, "b": 2}]


@pytest.mark.parametrize("path", ["x" * 300 + ".csv", "x\0.csv", "y" * 5000])
def test_a_name_that_no_file_can_have_is_one_sentence(path: str) -> None:
    with pytest.raises(ZigguratError, match="There is no file"):
        read(path)


BODIES = {
    "plain": b"a,b\n1,2\n3,4\n",
    "no end of line": b"a,b\n1,2\n3,4",
    "CR LF": b"a,b\r\n1,2\r\n3,4\r\n",
    "CR LF, no end of line": b"a,b\r\n1,2\r\n3,4",
    "blank lines at the end": b"a,b\n1,2\n3,4\n\n\n",
    "a byte order mark": b"\xef\xbb\xbfa,b\n1,2\n3,4\n",
    "everything in quotes": b'"a","b"\n"1","2"\n"3","4"\n',
    "an empty cell at the end": b"a,b\n1,2\n3,\n",
    "line breaks in cells": b'a,b\n"1\n\n1","2\r\n"\n3,"""4,"\n',
    "one column with a blank line": b"a\n\n1\n",
    "one column with a blank last line": b"a\n1\n\n",
    "comments are cells": b"a,b\n#1,2\n#3,4\n",
}


@pytest.mark.parametrize("body", BODIES)
def test_the_rows_are_as_many_as_python_counts(body: str, tmp_path: Path) -> None:
    text = BODIES[body].decode("utf-8-sig")
    records = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    wanted = len(records) - 1 - (0 if len(records[0]) == 1 else sum(not record for record in records))
    (tmp_path / "t.csv").write_bytes(BODIES[body])
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(BODIES[body][:7]) + gzip.compress(BODIES[body][7:]))
    for name in ("t.csv", "z.csv.gz"):
        assert read(tmp_path / name, on_bad_cell="missing").raw.count_rows() == wanted == 2


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from('a,1"\n\r;'), max_size=40), st.integers(3, 40))
def test_a_file_is_refused_or_read_as_python_reads_it(
    tmp_path_factory: pytest.TempPathFactory, body: str, chunk: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "odd.csv"
    file.write_bytes(b"x,y\n" + body.encode())
    with pytest.MonkeyPatch.context() as patched, contextlib.suppress(DataError):
        patched.setattr(_scan, "_CHUNK", chunk)
        engine = DuckDBEngine()
        table = Table(engine, engine.attach(file), Schema((Column("x", "text"), Column("y", "text"))))
        records = list(csv.reader(io.StringIO(f"x,y\n{body}", newline=""), strict=True))
        rows = [tuple(cell or None for cell in record) for record in records[1:] if record]
        assert [tuple(row.values()) for row in table.raw.rows().to_pylist()] == rows


CELLS = st.text(st.characters(codec="cp1252", exclude_categories=("Cc",)), min_size=1, max_size=8).map(str.strip)
ROWS = st.lists(st.tuples(CELLS.filter(bool), CELLS.filter(bool)), min_size=3, max_size=12)


@settings(max_examples=150, deadline=None)
@given(
    ROWS,
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_whatever_writes_a_file_its_cells_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    delimiter: str,
    encoding: str,
    end: str,
    quoting: Literal[0, 1, 2, 3],
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.csv"
    with file.open("w", encoding=encoding, newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
        writer.writerows([("first", "second"), *rows])
    table = read(
        file, Schema((Column("first", "text"), Column("second", "text"))), delimiter=delimiter, encoding=encoding
    )
    assert [tuple(row.values()) for row in table.raw.rows().to_pylist()] == [
        tuple(map(unmark_text, row)) for row in rows
    ]


def test_an_unreadable_cell_is_named_by_line_and_column_and_not_shown(tmp_path: Path) -> None:
    lines = ["id;bmi", *[f"{number};24.5" for number in range(500)], '"5\n0\n0";1,5', "7;86,8"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    schema = Schema((Column("id", "text"), Column("bmi", "real")))
    with pytest.raises(DataError, match=r"^Line 502, column 'bmi': not a number as the schema says; 2 cells") as caught:
        read(tmp_path / "t.csv", schema)
    assert not any(cell in str(caught.value) for cell in ("1,5", "86,8", "24.5"))


def test_the_steward_may_allow_a_share_of_unreadable_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 98 + "x,2\ny,2\n")
    schema = Schema((Column("a", "integer"), Column("b", "integer")))
    assert read(tmp_path / "t.csv", schema, unreadable="0.02").raw.count_rows() == 100
    with pytest.raises(DataError, match="Line 100, column 'a': not a whole number"):
        read(tmp_path / "t.csv", schema, unreadable="0.019")
    with pytest.raises(ParameterError, match="from 0 to 1"):
        read(tmp_path / "t.csv", schema, unreadable="2%")


@pytest.mark.parametrize("day", ["0000-01-01", "0000-02-29", "0100-02-29", "2023-02-29", "10000-01-01"])
def test_a_day_that_no_calendar_has_is_refused_where_the_file_is_opened(day: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"day\n2024-02-29\n{day}\n")
    with pytest.raises(DataError, match="Line 3, column 'day': not a date"):
        read(tmp_path / "t.csv", Schema((Column("day", "date"),)))


def test_every_day_of_the_calendar_is_read(tmp_path: Path) -> None:
    days = [
        "0001-01-01",
        "0004-02-29",
        "0010-12-31",
        "0100-01-01",
        "0400-02-29",
        "1000-06-30",
        "2000-02-29",
        "9999-12-31",
    ]
    (tmp_path / "t.csv").write_text("\n".join(["day", *days]))
    table = read(tmp_path / "t.csv", Schema((Column("day", "date"),)))
    assert [each.isoformat() for each in table.raw.rows().column("day").to_pylist()] == days


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (b"\xfcber,1\n", "line 4 is not UTF-8"),
        (b'"say \\"x\\"",1\n', "line 4 has quotation marks that do not match"),
        (b"'a,b',1\n", "line 4 has 3 fields"),
    ],
)
def test_with_a_schema_no_row_changes_how_the_rows_of_others_are_read(row: bytes, what: str, tmp_path: Path) -> None:
    others = "first,second\nm\u00fcde,1\n'x',2\n".encode()
    (tmp_path / "t.csv").write_bytes(others)
    schema = Schema((Column("first", "text"), Column("second", "integer")))
    assert read(tmp_path / "t.csv", schema).raw.rows().column("first").to_pylist() == ["m\u00fcde", "'x'"]
    (tmp_path / "t.csv").write_bytes(others + row)
    with pytest.raises(DataError, match=what):
        read(tmp_path / "t.csv", schema)
