"""Every messy file is read right, or refused with one sentence that names the remedy."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus import CORPUS
from messy_file import MessyFile, Rows

from ziggurat.data import Role, Schema, Suggestion, Table, read, suggest_schema
from ziggurat.errors import ZigguratError

READ = [case for case in CORPUS if not case.refused]
REFUSED = [case for case in CORPUS if case.refused]
ASKED = (
    "german_excel.csv",
    "unicode_text.txt",
    "packed.csv.zip",
    "report_title.csv",
    "backslash_quotes.csv",
    "name_twice.csv",
    "euro_behind.csv",
    "german_dates.csv",
    "keine_angabe.csv",
    "green_triangles.xlsx",
    "labels.sav",
    "one_table.sqlite",
    "missing_keys.jsonl",
    "no_header.csv",
    "two_in_one.csv.zip",
    "signature_below.csv",
    "disk_crash.csv",
)


def by_name(case: MessyFile) -> str:
    return case.name


def make(case: MessyFile, folder: Path) -> Path:
    path = folder / case.name
    case.make(path)
    return path


def rows_of(table: Table, missing: Mapping[str, tuple[Any, ...]] | None = None) -> Rows:
    """The rows that the steward sees, where a code that the schema calls missing is missing."""
    codes = missing or {column.name: column.missing for column in table.schema.columns}
    return [
        {name: None if cell in codes[name] else cell for name, cell in row.items()}
        for row in table.raw.rows().to_pylist()
    ]


def say(table: Table, suggestion: Suggestion) -> str:
    """What the steward is told about how a file was read."""
    return " ".join([*table.notes, *(f"{name}: {reason}" for name, reason in suggestion.reasons.items())])


def reasons_of(error: BaseException) -> Iterator[BaseException]:
    """The errors behind an error, which a traceback would show."""
    while (behind := error.__cause__ or error.__context__) is not None:
        yield behind
        error = behind


def tell_nobody_apart(schema: Schema) -> Schema:
    """The same schema without identifiers, so that every column can be compared."""
    return replace(schema, columns=tuple(replace(column, role=Role.INSENSITIVE) for column in schema.columns))


def test_there_are_at_least_sixty_and_no_two_are_alike() -> None:
    assert len(CORPUS) >= 60
    for told in ({case.name for case in CORPUS}, {case.habit for case in CORPUS}):
        assert len(told) == len(CORPUS)


@pytest.mark.parametrize("case", CORPUS, ids=by_name)
def test_a_habit_is_one_line_and_an_outcome_is_said(case: MessyFile) -> None:
    assert "\n" not in case.habit
    assert len(case.habit) <= 120
    assert bool(case.refused) != (case.rows is not None)
    assert not (case.refused and (case.kinds or case.missing or case.labels or case.notes))


@pytest.mark.parametrize("case", READ, ids=by_name)
def test_it_is_read_right(case: MessyFile, tmp_path: Path) -> None:
    table = read(make(case, tmp_path), **case.options)
    columns = {column.name: column for column in table.schema.columns}
    assert {name: columns[name].kind.value for name in case.kinds} == dict(case.kinds)
    for name, codes in case.missing.items():
        assert set(codes) <= set(columns[name].missing)
    for name, labels in case.labels.items():
        assert {code: text for code, text in columns[name].labels if code in labels} == labels
    assert rows_of(table) == case.rows
    if case.notes:
        assert re.search(case.notes, say(table, suggest_schema(table)))


@pytest.mark.parametrize("case", REFUSED, ids=by_name)
def test_it_is_refused_with_one_sentence_that_names_the_remedy(case: MessyFile, tmp_path: Path) -> None:
    path = make(case, tmp_path)
    with pytest.raises(ZigguratError) as caught:
        read(path, **case.options)
    sentence = str(caught.value).replace(str(tmp_path), "")
    assert re.search(case.refused, sentence), sentence
    assert sentence.endswith((".", "?"))  # "did you mean ...?"
    assert "\n" not in sentence
    told = " ".join([sentence, *map(str, reasons_of(caught.value))])
    assert [cell for cell in case.unlike if cell in told.replace(str(tmp_path), "")] == []


@pytest.mark.parametrize("case", READ, ids=by_name)
def test_its_proposed_schema_alone_reads_it_the_same_way(case: MessyFile, tmp_path: Path) -> None:
    path = make(case, tmp_path)
    first = read(path, **{**case.options, "on_bad_cell": "missing"})
    proposed = tell_nobody_apart(suggest_schema(first).schema)
    proposed.to_yaml(tmp_path / "proposed.yaml")
    kept: dict[str, Any] = {"on_bad_cell": "missing"} if first.unreadable() else {}
    again = read(path, tmp_path / "proposed.yaml", **kept)
    missing = {column.name: column.missing for column in proposed.columns}
    assert rows_of(again, missing) == rows_of(first, missing)


@pytest.mark.parametrize("name", ASKED)
def test_the_command_proposes_a_schema_or_says_one_sentence(name: str, tmp_path: Path) -> None:
    case = next(case for case in CORPUS if case.name == name)
    assert not case.options
    make(case, tmp_path)
    program = [str(Path(sys.executable).parent / "ziggurat"), "schema", "suggest", name, "--out", "s.yaml"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode != 0) == bool(case.refused), done.stderr
    assert (tmp_path / "s.yaml").exists() == (not case.refused)
    if case.refused:
        assert len(done.stderr.strip().splitlines()) == 1
        assert re.search(case.refused, done.stderr)
        assert [cell for cell in case.unlike if cell in done.stderr] == []
