"""A text file is read as it stands, or one sentence says what is wrong with it, by line and never by cell."""

import gzip
import os
from pathlib import Path

import pytest

from ziggurat.data import read
from ziggurat.errors import DataError, ZigguratError

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
    "a stray quotation mark": ("t.csv", b'a,b\n1,2\n"x"y"z,1\n', "the quotation marks at line 3 do not match"),
    "two kinds of line": ("t.csv", b"a,b\r\n1,2\n3,4\n", "its lines end in different ways"),
    "two kinds of line after sep": ("t.csv", b"sep=;\na;b\r\n1;2\r\n", "end in different ways"),
    "an open quotation mark": ("t.csv", b'"a,b\n1,2\n', "quotation marks in the header"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_own_sentence(fault: str, tmp_path: Path) -> None:
    name, content, sentence = FAULTS[fault]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(tmp_path / name)
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
        assert read(tmp_path / name).raw.rows().to_pylist() == [{"a": "1,5", "b": 2}]


@pytest.mark.parametrize("path", ["x" * 300 + ".csv", "x\0.csv", "y" * 5000])
def test_a_name_that_no_file_can_have_is_one_sentence(path: str) -> None:
    with pytest.raises(ZigguratError, match="There is no file"):
        read(path)
