"""Files of Stata, SPSS and SAS keep labels, missing codes and descriptions on their way to the schema and back."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from ziggurat.data import FileLayout, Kind, Provenance, Schema, read, suggest_schema
from ziggurat.data.reading.formats import LoadedFile, load_file
from ziggurat.data.writing import write_table
from ziggurat.errors import DataError

SEX = {1: "male", 2: "female"}


def load(path: Path) -> LoadedFile:
    return load_file(str(path), FileLayout())


def described(loaded: LoadedFile) -> dict[str, Any]:
    return {column.name: column for column in loaded.columns or ()}


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    frame = pd.DataFrame(
        {
            "sex": [1, 2, 9, None],
            "age": [30.0, -8.0, -9.0, -99.0],
            "region": ["N", "S", "XX", ""],
            "born": pd.Series([date(1980, 12, 31)] * 3 + [None], dtype=object),
            "seen": pd.Series([datetime(2024, 1, 2, 3, 4, 5)] * 3 + [None], dtype=object),
            "stay": [93600.0 + 600, 0.0, None, 52500.0],
        }
    )
    pyreadstat.write_sav(
        frame,
        str(tmp_path / "t.sav"),
        column_labels={"sex": "Sex of the patient"},
        variable_value_labels={"sex": SEX | {9: "refused"}, "age": {-9: "no answer"}, "region": {"N": "North"}},
        missing_ranges={"sex": [9], "age": [{"lo": -9, "hi": -8}, -99], "region": ["XX"]},
        variable_format={"stay": "TIME8"},
    )
    return tmp_path / "t.sav"


@pytest.fixture
def stata(tmp_path: Path) -> Path:
    frame = pd.DataFrame(
        {
            "sex": [1, 2, "a", None],
            "income": [1200.5, "b", "c", None],
            "name": ["x", "y", "", "a"],
            "born": [date(1980, 12, 31), date(1970, 1, 1), None, None],
            "wide": [2.0**40, 1.0, None, 3.0],
        },
        dtype=object,
    )
    pyreadstat.write_dta(
        frame,
        str(tmp_path / "t.dta"),
        column_labels={"income": "Net income"},
        variable_value_labels={"sex": SEX | {"a": "refused"}},
        missing_user_values={"sex": ["a"], "income": ["b", "c"]},
    )
    return tmp_path / "t.dta"


def test_labels_and_user_missing_codes_of_spss_reach_the_schema(spss: Path) -> None:
    columns = described(load(spss))
    assert columns["sex"].kind is Kind.CATEGORY
    assert columns["sex"].categories.values == (1, 2)
    assert columns["sex"].categories.provenance is Provenance.LEARNED
    assert dict(columns["sex"].labels) == SEX | {9: "refused"}
    assert columns["sex"].missing == (9,)
    assert columns["sex"].description == "Sex of the patient"
    assert columns["age"].kind is Kind.INTEGER  # a code without a label among its values
    assert columns["age"].missing == (-99, -9, -8)
    assert columns["region"].missing == ("XX",)
    assert read(spss).schema["sex"] == columns["sex"]


def test_dates_moments_and_lengths_of_time_of_spss(spss: Path) -> None:
    first = load(spss).data.to_pylist()[0]
    assert first["born"] == date(1980, 12, 31)
    assert first["seen"] == datetime(2024, 1, 2, 3, 4, 5)
    assert first["stay"] == "26:10:00"  # not 02:10:00


def test_missing_values_of_stata_stay_apart(stata: Path) -> None:
    loaded = load(stata)
    columns = described(loaded)
    assert loaded.data["sex"].to_pylist() == ["1", "2", ".a", None]
    assert loaded.data["income"].to_pylist() == ["1200.5", ".b", ".c", None]
    assert (columns["sex"].kind, columns["sex"].missing) == (Kind.CATEGORY, (".a",))
    assert (columns["income"].kind, columns["income"].missing) == (Kind.REAL, (".b", ".c"))
    assert dict(columns["sex"].labels) == SEX | {".a": "refused"}
    assert columns["wide"].kind is Kind.INTEGER


def test_missing_values_of_stata_count_as_missing_and_numbers_as_numbers(stata: Path) -> None:
    table = read(stata)
    assert table.raw.rows(["sex", "income"]).to_pylist()[:3] == [
        {"sex": 1, "income": 1200.5},
        {"sex": 2, "income": None},
        {"sex": None, "income": None},
    ]
    assert table.validate() == []


@pytest.mark.parametrize("name", ["spss", "stata"])
def test_labels_codes_and_cells_survive_to_the_schema_and_back(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    file: Path = request.getfixturevalue(name)
    table = read(file)
    again = tmp_path / f"again{file.suffix}"
    write_table(table.raw.rows(as_held=True), again, table.schema)
    back = read(again)
    assert back.schema == table.schema
    assert back.raw.rows(as_held=True).equals(table.raw.rows(as_held=True))
    assert load(again).columns == load(file).columns


def test_a_proposed_schema_keeps_what_the_file_says(spss: Path, stata: Path) -> None:
    for file in (spss, stata):
        found, proposed = read(file).schema, suggest_schema(read(file)).schema
        sex = Schema.from_yaml(proposed.to_yaml())["sex"]
        assert (sex.kind, sex.categories, sex.labels) == (Kind.CATEGORY, found["sex"].categories, found["sex"].labels)
        assert (sex.missing, sex.description) == (found["sex"].missing, found["sex"].description)


def test_without_the_schema_the_labels_stay_behind(stata: Path, tmp_path: Path) -> None:
    write_table(read(stata).raw.rows(), tmp_path / "bare.dta")
    assert read(tmp_path / "bare.dta").schema["sex"].labels == ()


def test_a_table_of_spss_goes_to_stata_with_its_codes_still_missing(spss: Path, tmp_path: Path) -> None:
    table = read(spss)
    write_table(table.raw.rows(), tmp_path / "t.dta", table.schema)
    back = described(load(tmp_path / "t.dta"))
    assert dict(back["sex"].labels) == SEX | {".a": "refused"}
    assert dict(back["age"].labels) == {".a": "-99", ".b": "no answer", ".c": "-8"}
    assert load(tmp_path / "t.dta").data["age"].to_pylist() == ["30", ".c", ".b", ".a"]
    assert read(tmp_path / "t.dta").raw.rows(["region"]).to_pylist()[2] == {"region": None}


def test_a_wide_range_of_missing_values_becomes_those_that_occur(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, -5.0, -7.5, 2.0]})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), missing_ranges={"a": [{"lo": float("-inf"), "hi": -1}]})
    assert described(load(tmp_path / "t.sav"))["a"].missing == (-7.5, -5, -1)


def test_a_transport_file_of_sas_and_a_portable_one_of_spss(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, None], "s": ["x", ""], "d": [date(2020, 1, 2)] * 2})
    pyreadstat.write_xport(
        frame, str(tmp_path / "t.xpt"), column_labels=["A column", None, None], file_format_version=8
    )
    pyreadstat.write_por(frame, str(tmp_path / "t.por"))
    rows = [{"a": 1, "s": "x", "d": date(2020, 1, 2)}, {"a": None, "s": None, "d": date(2020, 1, 2)}]
    assert load(tmp_path / "t.xpt").data.to_pylist() == rows
    assert described(load(tmp_path / "t.xpt"))["a"].description == "A column"
    assert load(tmp_path / "t.por").data.to_pylist() == [
        {name.upper(): cell for name, cell in row.items()} for row in rows
    ]


@pytest.mark.parametrize("ending", [".dta", ".sav", ".por", ".xpt", ".sas7bdat"])
def test_a_broken_file_is_one_sentence(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"t{ending}").write_bytes(b"secret" * 100)
    with pytest.raises(DataError, match="is damaged, protected by a password or no") as caught:
        read(tmp_path / f"t{ending}")
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_formats_of_dates_in_stata_that_others_leave_as_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame({"d": [7670.0], "t": [52_500_000.0], "m": [768.0]})
    formats = {"d": "%tdDD/NN/CCYY", "t": "%tcHH:MM:SS", "m": "%tm"}
    pyreadstat.write_dta(frame, str(tmp_path / "t.dta"), variable_format=formats)
    loaded = load(tmp_path / "t.dta")
    assert loaded.data.to_pylist() == [{"d": date(1980, 12, 31), "t": "14:35:00", "m": 768}]
    assert loaded.notes == ("Periods are kept as numbers counted from 1960 in 'm'.",)
