"""A hospital's export, file by file: what once stopped a new user is read, proposed and shown as it should be."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from wall import NAMES, POSTCODES, SIZE, cells, read_back, typed, write_export

from ziggurat.data import Kind, Role, Suggestion, Table, read, suggest_schema
from ziggurat.errors import DataError


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.csv"
    write_export(path)
    return path


@pytest.fixture
def table(export: Path) -> Table:
    return read(export)


@pytest.fixture
def proposal(export: Path) -> Suggestion:
    return suggest_schema(read(export, on_bad_cell="missing"))


def write_typed(path: Path) -> None:
    """Write the export as a workbook, or as a file of SPSS, Stata or SAS."""
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(typed())
    if path.suffix == ".xlsx":
        frame.to_excel(path, sheet_name="Tabelle1", index=False)
        return
    writers = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}
    writers[path.suffix](frame, str(path))


@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".dta", ".xpt"])
def test_files_of_excel_spss_stata_and_sas_open(ending: str, tmp_path: Path) -> None:
    write_typed(tmp_path / f"export{ending}")
    columns = typed()
    wanted = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert read(tmp_path / f"export{ending}").raw.rows().to_pylist() == wanted


def test_german_dates_and_numbers_are_dates_and_numbers(table: Table) -> None:
    kinds = {name: table.schema[name].kind for name in ("Geboren", "Besuch", "Gewicht")}
    assert kinds == {"Geboren": Kind.DATE, "Besuch": Kind.DATE, "Gewicht": Kind.REAL}
    seen = table.raw.rows(["Geboren", "Gewicht", "Kosten €"]).to_pylist()
    assert seen == [{name: row[name] for name in ("Geboren", "Gewicht", "Kosten €")} for row in read_back()]


def test_the_costs_are_a_number_and_no_identifier(table: Table, proposal: Suggestion) -> None:
    assert table.schema["Kosten €"].kind is Kind.REAL
    proposed = proposal.schema["Kosten €"]
    assert proposed.kind is Kind.REAL
    assert proposed.role is not Role.IDENTIFIER


def test_a_dash_is_missing_and_no_category(proposal: Suggestion) -> None:
    illness = proposal.schema["Diagnose"]
    assert illness.categories is not None
    assert set(illness.categories.values) == {"Asthma", "Gicht", "Migräne"}
    assert "-" in illness.missing


def test_a_file_without_header_names_its_one_remedy_and_the_remedy_works(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    write_export(path, header=False)
    with pytest.raises(DataError) as caught:
        read(path)
    sentence = str(caught.value).replace(str(tmp_path), "")
    for piece in ("header=False", "--header none", "names"):
        assert piece in sentence
    assert not any(cell in sentence for cell in ("P-000", "31.12.1930", "01067"))
    told = read(path, header=False, names=NAMES)
    assert told.raw.count_rows() == SIZE
    assert told.schema["Geboren"].kind is Kind.DATE
    suggest_schema(told).schema.to_yaml(tmp_path / "bare.yaml")
    assert read(path, tmp_path / "bare.yaml").raw.count_rows() == SIZE


def test_a_file_without_header_and_names_has_numbered_columns(tmp_path: Path) -> None:
    write_export(tmp_path / "bare.csv", header=False)
    assert read(tmp_path / "bare.csv", header=False).schema.names == tuple(
        f"column_{place}" for place in range(1, len(NAMES) + 1)
    )


def test_several_rows_of_a_person_become_one(export: Path) -> None:
    from ziggurat.data.people import reshape_people

    one = reshape_people(read(export, unit="Patient"), keep="latest", by="Besuch")
    latest = {row["Patient"]: row["Besuch"] for row in reversed(cells())}
    assert {row["Patient"]: row["Besuch"] for row in one.table.raw.rows(["Patient", "Besuch"]).to_pylist()} == latest
    assert one.table.raw.count_rows() == SIZE // 2


@pytest.mark.parametrize("name", ["PLZ", "Postleitzahl", "post_code", "CP", "Wohngebiet"])
def test_no_postcode_survives_safe_harbor(name: str, tmp_path: Path) -> None:
    write_export(tmp_path / "export.csv", names=tuple(name if each == "PLZ" else each for each in NAMES))
    assert run(tmp_path, "schema", "suggest", "export.csv", "--out", "export.yaml").returncode == 0
    asked = ("mask", "export.csv", "--schema", "export.yaml", "--safe-harbor", "--out", "masked.csv")
    done = run(tmp_path, *asked)
    written = (tmp_path / "masked.csv").read_text() if done.returncode == 0 else ""
    assert not any(code in text for code in POSTCODES for text in (written, done.stdout, done.stderr))
    assert written or (name in done.stderr and not (tmp_path / "masked.csv").exists())


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment: dict[str, Any] = {**os.environ, "ZIGGURAT_LEDGER": str(folder / "book.db")}
    program = [str(Path(sys.executable).parent / "ziggurat"), *arguments]
    return subprocess.run(
        program, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_member_of_a_union_is_a_truth_value_that_stays_visible(
    export: Path, table: Table, proposal: Suggestion, tmp_path: Path
) -> None:
    assert table.schema["union_member"].kind is Kind.BOOLEAN
    proposed = proposal.schema["union_member"]
    assert proposed.kind is Kind.BOOLEAN
    assert proposed.role is not Role.IDENTIFIER
    proposal.schema.to_yaml(tmp_path / "export.yaml")
    seen = read(export, tmp_path / "export.yaml").raw.rows(["union_member"]).to_pylist()
    assert [row["union_member"] for row in seen] == [row["union_member"] for row in cells()]


def test_the_command_proposes_all_of_it(export: Path) -> None:
    done = run(export.parent, "schema", "suggest", export.name, "--out", "export.yaml")
    assert done.returncode == 0, done.stderr
    again = read(export, export.parent / "export.yaml", unit="Patient")
    assert again.schema["Kosten €"].kind is Kind.REAL
    assert again.schema["Geboren"].kind is Kind.DATE
    assert again.raw.count_rows() == SIZE


def test_a_notebook_shows_the_columns_of_a_table_and_no_cell(table: Table) -> None:
    shown = table._repr_html_()
    assert all(name in shown for name in NAMES)
    assert not any(cell in shown for cell in ("P-000", "P-029", "1930-12-31", "01067", "Migräne"))
