"""`ziggurat schema suggest` and `check`: counts for every column, and a proposal for its owner's eyes."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    program = str(Path(sys.executable).parent / "ziggurat")

    def call(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [program, "schema", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    return call


def test_check_counts_unreadable_cells_of_every_column(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,age,seen\nx1,CANARY,2024-01-01\nx2,30,CANARY\nx3,CANARY,soon\n")
    columns = "who: {kind: integer, role: identifier}\n  age: {kind: integer}\n  seen: {kind: date}\n"
    (tmp_path / "s.yaml").write_text(f"columns:\n  {columns}")
    result = run("check", "t.csv", "--schema", "s.yaml")
    assert result.returncode == 1
    remedy = "Correct them, or let a share of them count as missing with --unreadable 0.01 (unreadable='0.01')."
    assert result.stderr.splitlines() == [
        f"Column 'who': 3 cells are not readable as integer. First at line 2, line 3, line 4. {remedy}",
        f"Column 'age': 2 cells are not readable as integer. First at line 2, line 4. {remedy}",
        f"Column 'seen': 2 cells are not readable as date. First at line 3, line 4. {remedy}",
    ]


def test_check_names_the_lines_of_the_first_cells_and_what_to_change(run: Run, tmp_path: Path) -> None:
    lines = ["born;weight;cost", *["1980-01-01;70.5;5"] * 4, "31.12.1980;86,8;-", "1980-01-02;61.0;700"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    columns = "born: {kind: date}\n  weight: {kind: real}\n  cost: {kind: integer, bounds: [0, 100]}\n"
    (tmp_path / "s.yaml").write_text(f"columns:\n  {columns}")
    assert run("check", "t.csv", "--schema", "s.yaml").stderr.splitlines() == [
        "Column 'cost': 1 cell is outside the bounds. First at line 7. Correct them, or widen the bounds if wider ones "
        "are publicly known; questions clamp them.",
        "Column 'born': 1 cell is not readable as date. First at line 6. Add written: {dates: ['%d.%m.%Y']} to the "
        "column in the schema.",
        "Column 'weight': 1 cell is not readable as real. First at line 6. Add written: {decimal: ','} to the column "
        "in the schema.",
        "Column 'cost': 1 cell is not readable as integer. First at line 6. Add missing: ['-'] to the column in the "
        "schema.",
    ]


def test_a_proposal_is_for_its_owner_only_and_survives_odd_cells(run: Run, tmp_path: Path) -> None:
    far = pa.table({"day": pa.array([0, 2**30], pa.int32()).cast(pa.date32()), "raw": [b"a", b"b"], "v": [1, 2]})
    pyarrow.parquet.write_table(far, tmp_path / "t.parquet")
    result = run("suggest", "t.parquet", "--out", "s.yaml")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "s.yaml").stat().st_mode & 0o777 == 0o600
    assert (
        "day: nothing is known of it, so treat it as telling until you decide; 1 cell cannot be read" in result.stderr
    )
    assert "raw: no kind describes its type, so it is left out" in result.stderr


def test_a_table_named_for_a_file_is_told_in_words_of_the_command_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    result = run("suggest", "t.csv", "--table", "t")
    assert (result.returncode, "--table on the command line" in result.stderr) == (2, True)


def test_of_many_columns_each_reason_is_told_once(run: Run, tmp_path: Path) -> None:
    names = [f"v{place}" for place in range(150)]
    rows = [",".join(str(10 + 7 * row + place) for place in range(150)) for row in range(30)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows, ""]))
    told = run("suggest", "t.csv", "--out", "s.yaml").stderr.splitlines()
    assert any(line.startswith("v0, v1, v2, v3 and 146 others: ") for line in told)
    assert len(told) < 20
