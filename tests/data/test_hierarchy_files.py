"""What is written is read again, and a file that cannot be read is refused in one sentence with its line."""

import gzip
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ziggurat.data import Hierarchy, Kind, read_hierarchies, read_hierarchy, write_hierarchy
from ziggurat.errors import DataError, ParameterError

_TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(';,"\t\r\n \ufeff')), max_size=5)
_VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.TEXT: _TEXT,
    Kind.INTEGER: st.integers(-(2**63), 2**63 - 1),
    Kind.REAL: st.floats(allow_nan=False, allow_infinity=False),
    Kind.DATE: st.dates(),
    Kind.BOOLEAN: st.booleans(),
}


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    values = draw(st.sampled_from(list(_VALUES)).flatmap(lambda kind: st.sets(_VALUES[kind], min_size=1, max_size=6)))
    above = draw(st.dictionaries(_TEXT, _TEXT, min_size=1, max_size=4))
    top = draw(_TEXT)
    return Hierarchy({v: ((low := draw(st.sampled_from(list(above)))), above[low], top) for v in values})


@given(hierarchies())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_again(tmp_path: Path, hierarchy: Hierarchy) -> None:
    write_hierarchy(hierarchy, tmp_path / "h.csv")
    again = read_hierarchy(tmp_path / "h.csv", hierarchy.kind)
    assert (again, list(again.levels)) == (hierarchy, list(hierarchy.levels))


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_any_usual_delimiter_is_understood(tmp_path: Path, delimiter: str) -> None:
    rows = ['"a b"', "x", "*"], ["c", '"x"', "*"]
    (tmp_path / "h.csv").write_text("\n".join(delimiter.join(row) for row in rows))
    assert read_hierarchy(tmp_path / "h.csv") == Hierarchy({"a b": ("x", "*"), "c": ("x", "*")})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2"], Kind.INTEGER),
        (["1", "2.5"], Kind.REAL),
        (["2024-02-29", "2023-01-01"], Kind.DATE),
        (["true", "False"], Kind.BOOLEAN),
        (["01234", "99999"], Kind.TEXT),
        (["1", "nan"], Kind.TEXT),
        (["1", "1e999"], Kind.TEXT),
        (["9999999999999999999", "1"], Kind.TEXT),
    ],
)
def test_the_narrowest_kind_that_fits_is_taken(tmp_path: Path, values: list[str], kind: Kind) -> None:
    (tmp_path / "h.csv").write_text("".join(f"{value};*\n" for value in values))
    assert read_hierarchy(tmp_path / "h.csv").kind is kind
    assert read_hierarchy(tmp_path / "h.csv", "text").kind is Kind.TEXT


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"secret\n", "line 1: a value needs at least one label"),
        (b"a;x;*\n\nb;secret\n", "line 3: this row has 2 fields but line 1 has 3"),
        (b"a;x\nb;x\na;x\n", "line 3: this value stands in an earlier line"),
        (b'"a\na";x\nsecret;x\n"a\na";x\n', "line 4: this value stands in an earlier line"),
        (b"a;x\nb\xe9;secret\n", "line 2: this is not UTF-8"),
        ("a;x\n".encode("utf-16"), "line 1: this is not UTF-8"),
        (b'a;x\n"secret;x\n', "line 2: this is not CSV"),
        (b"a;x;p\nsecret;x;q\n", "not a tree: at level 1"),
        (b"attribute,level0,level1\n", "no rows"),
        (b"attribute,level0,level1,level2\na,1,x,*\na,2,*,\n", "line 3: this row has 2 fields but line 2 has 3"),
    ],
)
def test_a_bad_file_is_one_sentence_without_its_content(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "h.csv").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_hierarchies(tmp_path / "h.csv")
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("integer", "1.5"), ("integer", "1_0"), ("integer", str(2**63)), ("real", "nan"), ("date", "x"), ("boolean", "2")],
)
def test_a_value_of_another_kind_is_named_by_its_line(tmp_path: Path, kind: str, value: str) -> None:
    good = {"integer": "1", "real": "1", "date": "2024-01-01", "boolean": "true"}[kind]
    (tmp_path / "h.csv").write_text(f"{good};*\n{value};*\n")
    with pytest.raises(DataError, match=f"line 2: the value cannot be read as {kind}"):
        read_hierarchy(tmp_path / "h.csv", kind)


def test_many_columns_stand_in_one_file(tmp_path: Path) -> None:
    text = "attribute,level0,level1,level2\nage,1,0-9,*\nage,11,10-19,*\nsex,f,*,\nsex,m,*,\n"
    (tmp_path / "h.csv.gz").write_bytes(gzip.compress(text.encode()))
    found = read_hierarchies(tmp_path / "h.csv.gz")
    assert found == {
        "age": Hierarchy({1: ("0-9", "*"), 11: ("10-19", "*")}),
        "sex": Hierarchy({"f": ("*",), "m": ("*",)}),
    }
    assert read_hierarchies(tmp_path / "h.csv.gz", {"age": "text"})["age"].kind is Kind.TEXT
    assert read_hierarchy(tmp_path / "h.csv.gz", column="sex") == found["sex"]
    with pytest.raises(DataError, match="did you mean 'sex'"):
        read_hierarchy(tmp_path / "h.csv.gz", column="sexe")
    with pytest.raises(DataError, match="of 2 columns; say of which"):
        read_hierarchy(tmp_path / "h.csv.gz")


def test_a_single_hierarchy_is_called_like_its_file(tmp_path: Path) -> None:
    (tmp_path / "born.csv").write_text("2024-01-01;2024\n")
    assert read_hierarchies(tmp_path / "born.csv") == {"born": Hierarchy({date(2024, 1, 1): ("2024",)})}


def test_a_file_that_is_not_there_and_one_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "h.csv.gz").write_bytes(b"not compressed")
    for name in ("none.csv", "h.csv.gz"):
        with pytest.raises(DataError, match="does not exist or cannot be read"):
            read_hierarchy(tmp_path / name)
    with pytest.raises(ParameterError, match=r"ends in \.csv"):
        write_hierarchy(Hierarchy({1: ("*",)}), tmp_path / "h.csv.gz")
    with pytest.raises(DataError, match="could not be written"):
        write_hierarchy(Hierarchy({1: ("*",)}), tmp_path / "no" / "h.csv")


@given(st.binary(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_hierarchies_or_an_error_of_ours(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "h.csv").write_bytes(content)
    try:
        found = read_hierarchies(tmp_path / "h.csv")
    except DataError:
        return
    assert all(hierarchy.depth >= 1 for hierarchy in found.values())
