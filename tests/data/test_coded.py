"""Rows are counted by codes where these are at hand, and by the engine elsewhere: both find the same."""

import itertools
import math
import random
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from ziggurat.anonymize import KAnonymity, LDiversity, anonymize
from ziggurat.data import Categories, Column, Kind, Schema, Table, read
from ziggurat.data.coded import CodedTable, class_rows, code_alike, code_rows, group_rows, read_numbers
from ziggurat.data.engines import DuckDBEngine, Engine, PostgresEngine, SparkEngine
from ziggurat.data.engines import _columns as columns
from ziggurat.data.expressions import null_if_missing
from ziggurat.errors import DataError, SchemaError

TEXTS = [
    "",
    " ",
    "a",
    "A",
    "a ",
    "é",
    "e\u0301",
    "null",
    "NaN",
    "-0.0",
    "0",
    "00",
    "x" * 300,
    "it's",
    '"',
    "日本",
    "🙂",
]
NUMBERS = [0, 1, -1, 2**63 - 1, -(2**63), 7]


def nasty(seed: int, rows: int = 400) -> pa.Table:
    rng = random.Random(seed)

    def some(cells: list[Any]) -> list[Any]:
        return rng.choices([*cells, None], k=rows)

    listed = pa.DictionaryArray.from_arrays(
        pa.array(some([0, 1, 2, 3, 4]), pa.int8()), pa.array(["twice", "once", "twice", None, "é", "never"])
    )
    return pa.table(
        {
            "text": pa.array(some(TEXTS), pa.string()),
            "large": pa.array(some(TEXTS[:4]), pa.large_string()),
            "listed": listed,
            "number": pa.array(some(NUMBERS), pa.int64()),
            "small": pa.array(some([0, 255, 7]), pa.uint8()),
            "truth": pa.array(some([True, False]), pa.bool_()),
            "gone": pa.array([None] * rows, pa.string()),
        }
    )


def as_file(table: pa.Table, path: Path) -> Path:
    # A dictionary with an entry for NULL, or one entry twice, is for arrays only.
    plain = table.column("listed").cast(pa.string())
    parquet.write_table(table.set_column(2, "listed", plain), path, row_group_size=90)
    return path


def counts(found: CodedTable) -> dict[tuple[Any, ...], int]:
    columns = [values.take(pa.array(codes)) for codes, values in zip(found.codes, found.values, strict=True)]
    combinations = list(zip(*(column.to_pylist() for column in columns), strict=True))
    assert len(set(combinations)) == len(combinations)
    for codes, values in zip(found.codes, found.values, strict=True):
        assert sorted(set(codes.tolist())) == list(range(len(values)))
    return dict(zip(combinations, found.counts.tolist(), strict=True))


def by_engine(table: Table, names: list[str], monkeypatch: pytest.MonkeyPatch) -> CodedTable:
    with monkeypatch.context() as patched:
        patched.setattr(columns, "MOST_ROWS", -1)
        assert table.at_hand(names) is None
        return group_rows(table, names)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("source", ["arrays", "file", "files"])
def test_codes_and_engine_count_the_same(
    seed: int, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = nasty(seed)
    if source == "files":
        as_file(made.slice(0, 130), tmp_path / "part-1.parquet")
        as_file(made.slice(130), tmp_path / "part-2.parquet")
    held = {"arrays": made, "file": tmp_path / "one.parquet", "files": tmp_path / "part-*.parquet"}[source]
    if source == "file":
        as_file(made, tmp_path / "one.parquet")
    table = read(held)
    names = made.column_names
    for chosen in (names, names[::-1], names[:1], ["number", "listed"], ["gone"]):
        assert table.at_hand(chosen) is not None
        here, there = group_rows(table, chosen), by_engine(table, chosen, monkeypatch)
        assert here.names == there.names == tuple(chosen)
        assert [each.type for each in here.values] == [each.type for each in there.values]
        assert counts(here) == counts(there)
        assert here.rows == made.num_rows
    assert counts(group_rows(table, names)) != counts(group_rows(read(nasty(seed + 100)), names))


@pytest.mark.parametrize(
    "engine",
    [pytest.param("spark", marks=pytest.mark.spark), pytest.param("postgres", marks=pytest.mark.postgres)],
)
def test_other_engines_count_what_codes_count(engine: str, request: pytest.FixtureRequest) -> None:
    made = nasty(3).select(["text", "number", "truth"])
    here = group_rows(read(made), made.column_names)
    held: Engine
    if engine == "spark":
        held = SparkEngine(request.getfixturevalue("spark_session"))
        table = Table(held, held.attach(made))
    else:
        held = PostgresEngine(_into_postgres(request.getfixturevalue("postgres_uri"), made))
        table = Table(held, "coded_cells")
    with held:
        assert table.at_hand(made.column_names) is None
        assert counts(group_rows(table, made.column_names)) == counts(here)


def _into_postgres(uri: str, table: pa.Table) -> str:
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS coded_cells")
        cursor.execute("CREATE TABLE coded_cells (text text, number bigint, truth boolean)")
        with cursor.copy("COPY coded_cells FROM STDIN") as copy:
            for row in table.to_pylist():
                copy.write_row(list(row.values()))
    return uri


def test_pandas_categories_that_no_row_has_are_no_values() -> None:
    import pandas as pd

    frame = pd.DataFrame({"job": pd.Categorical(["b", None, "b"], categories=["a", "b", "c"])})
    assert counts(group_rows(read(frame), ["job"])) == {("b",): 2, (None,): 1}


def test_dictionaries_of_any_width_in_several_chunks_are_one_list(monkeypatch: pytest.MonkeyPatch) -> None:
    full = [f"v{place}" for place in range(128)]  # as many as one byte can count
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(values, pa.large_string()))
        for places, values in (([0, 127, None], full), ([1, 0, 1], ["v0", None]), ([0, 1, None], ["v127", "v127"]))
    ]
    for held in (chunks, chunks[::2], chunks[:1], chunks[1:2]):
        table = read(pa.table({"cell": pa.chunked_array(held)}))
        assert counts(group_rows(table, ["cell"])) == counts(by_engine(table, ["cell"], monkeypatch))


def test_no_rows_are_no_combinations(tmp_path: Path) -> None:
    empty = nasty(1).slice(0, 0)
    for source in (empty, as_file(empty, tmp_path / "none.parquet")):
        found = group_rows(read(source), ["text", "number"])
        assert (found.rows, found.counts.size, len(found.values[0])) == (0, 0, 0)


def test_more_values_than_fit_into_one_number_are_told_apart() -> None:
    rng = np.random.default_rng(5)
    base = {f"c{place}": rng.permutation(3000) for place in range(8)}
    twice = pa.table({name: np.concatenate([cells, cells[:1000]]) for name, cells in base.items()})
    found = group_rows(read(twice), twice.column_names)
    assert sorted(found.counts.tolist()) == [1] * 2000 + [2] * 1000
    assert code_rows(twice).classes(twice.column_names)[1] == 3000
    assert 3000**8 > 2**62


def test_cells_that_a_schema_reads_as_something_else_are_left_to_the_engine(tmp_path: Path) -> None:
    cells = pa.table({"age": ["1", "01", "x", None], "dose": [0.0, -0.0, 1.0, 1.0], "job": ["a", "?", "?", None]})
    path = tmp_path / "people.parquet"
    parquet.write_table(cells, path)
    schema = Schema(
        (
            Column("age", Kind.INTEGER),
            Column("dose", Kind.REAL),
            Column("job", Kind.CATEGORY, categories=Categories(("a", "?")), missing=("?",)),
        )
    )
    table = read(path, schema, on_bad_cell="missing")
    assert table.at_hand(["age"]) is table.at_hand(["dose"]) is table.at_hand(["age", "job"]) is None
    assert counts(group_rows(table, ["age"])) == {(1,): 2, (None,): 2}
    assert counts(group_rows(table, ["dose"])) == {(0.0,): 2, (1.0,): 2}
    assert counts(group_rows(table, ["job"])) == {("a",): 1, ("?",): 2, (None,): 1}
    assert counts(group_rows(table, [null_if_missing(schema["job"])])) == {("a",): 1, (None,): 3}


def test_names_that_the_engine_changes_or_that_are_ambiguous_are_left_to_it(tmp_path: Path) -> None:
    clash = pa.table({"a": [1, 2], "A": [3, 3], "A_1": [5, 6]})
    nested = pa.table({"s": [{"a": "x"}, {"a": "y"}], "s.a": ["p", "p"]})
    for place, cells in enumerate((clash, nested)):
        path = tmp_path / f"{place}.parquet"
        parquet.write_table(cells, path)
        table = read(path)
        for name in table.schema.names:
            assert table.at_hand([name]) is None
            shown = table.raw.rows([name]).column(0).to_pylist()
            assert counts(group_rows(table, [name])) == {(each,): shown.count(each) for each in shown}


def test_identifiers_and_unknown_columns_are_refused(tmp_path: Path) -> None:
    table = read(as_file(nasty(1), tmp_path / "a.parquet"), {"columns": {"text": {"kind": "text", "role": "identifier"},
                                                                       "number": {"kind": "integer"}}})  # fmt: skip
    for name in ("text", "large"):
        with pytest.raises(SchemaError):
            group_rows(table, [name])


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    path = as_file(nasty(1), tmp_path / "a.parquet")
    table = read(path)
    as_file(nasty(2), path)
    with pytest.raises(DataError, match="changed since it was opened"):
        group_rows(table, ["text"])


def test_text_files_and_large_tables_are_grouped_by_their_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,x\n1,x\n")
    table = read(tmp_path / "a.csv")
    assert table.at_hand(["a", "b"]) is None
    assert counts(group_rows(table, ["a", "b"])) == {(1, "x"): 2}
    monkeypatch.setattr(columns, "MOST_ROWS", 3)
    assert read(pa.table({"a": [1, 2, 3, 4]})).at_hand(["a"]) is None
    assert read(pa.table({"a": [1, 2, 3]})).at_hand(["a"]) is not None


def test_what_is_lent_to_the_engine_is_not_kept() -> None:
    with DuckDBEngine() as engine:
        lent = engine.lend(pa.table({"a": [1]}))
        assert engine.at_hand(lent.name, ["a"]) is not None
        engine.take_back(lent)
        assert engine.at_hand(lent.name, ["a"]) is None


def _people(seed: int) -> pa.Table:
    rng = random.Random(seed)
    choices: dict[str, Callable[[], Any]] = {
        "age": lambda: rng.choice([*range(20, 40), None]),
        "home": lambda: rng.choice(["é", "e\u0301", "", None, "a"]),
        "smoker": lambda: rng.choice([True, False, None]),
        "illness": lambda: rng.choice(["flu", "cold", "gout", None]),
    }
    return pa.table({name: [draw() for _ in range(600)] for name, draw in choices.items()})


@pytest.mark.parametrize(("seed", "recoding"), itertools.product(range(3), ["global", "local"]))
def test_a_table_is_anonymised_alike_by_codes_and_by_the_engine(
    seed: int, recoding: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.parquet"
    parquet.write_table(_people(seed), path)
    models = [KAnonymity(3), LDiversity("illness", 2)]
    options: dict[str, Any] = {"quasi_identifiers": ["age", "home", "smoker"], "suppression": "0.1"}
    here = anonymize(read(path), models, recoding=recoding, **options)
    monkeypatch.setattr(columns, "MOST_ROWS", -1)
    there = anonymize(read(path), models, recoding=recoding, **options)
    assert here.to_dict() == there.to_dict()
    assert here.hierarchies == there.hierarchies
    rows = sorted(here.table().to_pylist(), key=str)
    assert rows == sorted(there.table().to_pylist(), key=str)


REALS = [0.0, 1.5, -1e300, math.inf, -math.inf, math.nan]
DAYS = [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29)]
KINDS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.string(), TEXTS),
    (pa.int64(), NUMBERS),
    (pa.bool_(), [True, False]),
    (pa.date32(), DAYS),
    (pa.float64(), REALS),
    (pa.string(), []),
]


def pieces(rng: random.Random, kind: pa.DataType, cells: list[Any], rows: int) -> pa.ChunkedArray:
    """Cells, some of them missing, in chunks that may be empty; no chunk for no rows."""
    drawn = rng.choices([*cells, None], k=rows)
    cut = rng.randrange(rows + 1)
    return pa.chunked_array([pa.array(each, kind) for each in (drawn[:cut], [], drawn[cut:])] if rows else [], kind)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("kind", "cells"), KINDS)
def test_the_same_column_of_several_tables_has_the_same_codes(seed: int, kind: pa.DataType, cells: list[Any]) -> None:
    rng = random.Random(seed)
    half = len(cells) // 2  # some cells are in one table only
    columns = [pieces(rng, kind, cells[:half], 1), pieces(rng, kind, cells, 50), pieces(rng, kind, cells[half:], 0)]
    codes, values = code_alike(columns)
    numbers: dict[str, int] = {}
    plain = [[numbers.setdefault(repr(cell), len(numbers)) for cell in column.to_pylist()] for column in columns]
    assert [each.tolist() for each in codes] == plain
    assert [repr(cell) for cell in values.to_pylist()] == list(numbers)
    assert all(each.dtype == np.int64 for each in codes)
    assert (values.type, len(code_alike(columns[2:])[1])) == (kind, 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.date32()])
def test_numbers_and_days_are_read_as_reals(seed: int, kind: pa.DataType) -> None:
    cells: list[Any] = {pa.int64(): NUMBERS, pa.float64(): [*REALS, -0.0], pa.date32(): DAYS}[kind]
    column = pieces(random.Random(seed), kind, cells, 40 * seed)
    found = read_numbers(column)
    plain = [math.nan if cell is None else _real(cell) for cell in column.to_pylist()]
    assert [repr(each) for each in found.tolist()] == [repr(each) for each in plain]
    found[:] = 0  # its own, not the table's
    assert found.dtype == np.float64


def _real(cell: Any) -> float:
    return float((cell - date(1970, 1, 1)).days) if isinstance(cell, date) else float(cell)


@pytest.mark.parametrize(("seed", "rows"), list(itertools.product(range(3), (0, 1, 300))))
def test_rows_that_are_alike_are_one_class(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [(rng.integers(0, many, rows), many) for many in (1, 3, 2**40, 2**40, 4)]  # more than one number holds
    columns = [(np.minimum(codes, 3), many) for codes, many in columns]
    ids, first = class_rows(columns, rows)
    numbers: dict[tuple[int, ...], int] = {}
    plain = [
        numbers.setdefault(row, len(numbers)) for row in zip(*(codes.tolist() for codes, _ in columns), strict=True)
    ]
    assert ids.tolist() == plain
    assert first.tolist() == [plain.index(number) for number in range(len(numbers))]
