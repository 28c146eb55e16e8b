"""What is written: rows that satisfy the models by independent code, and nothing that was to be hidden."""

import datetime
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.anonymize import AverageRisk, KAnonymity, LDiversity, TCloseness, anonymize
from ziggurat.data import Categories, Column, Hierarchy, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError

SECRET = [f"zq-{place}-secret" for place in range(12)]
TREE = Hierarchy({cell: (f"half {place % 2}", "*") for place, cell in enumerate(SECRET)})


def secret_table(rows: int = 200, seed: int = 5) -> pa.Table:
    """Two columns whose raw values may not leave, one of which has rare values, and one that may."""
    rng = random.Random(seed)
    rare = [rng.choice(SECRET[:2]) if rng.random() < 0.97 else rng.choice(SECRET[2:]) for _ in range(rows)]
    return pa.table(
        {
            "where": [rng.choice(SECRET) for _ in range(rows)],
            "rare": rare,
            "illness": [rng.choice(["flu", "cold", "measles"]) for _ in range(rows)],
            "cost": [rng.random() for _ in range(rows)],
        }
    )


def rows_of(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, keep_default_na=False)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_written_rows_satisfy_the_models_and_show_nothing_else(tmp_path: Path, suffix: str) -> None:
    table = secret_table()
    models = [KAnonymity(20), LDiversity("illness", 2), TCloseness("illness", 0.5)]
    trees = {"where": TREE, "rare": Hierarchy({cell: ("*",) for cell in SECRET})}  # noqa: C420
    found = anonymize(table, models, quasi_identifiers=["where", "rare"], hierarchies=trees, suppression="0.1")
    path = tmp_path / f"out{suffix}"
    found.write(path)
    frame = rows_of(path)
    assert len(frame) == 200 - found.suppressed
    everywhere = Counter(table.column("illness").to_pylist())
    for _, inside in frame.groupby(["where", "rare"]):
        here = Counter(inside["illness"])
        far = sum(abs(here[each] / len(inside) - everywhere[each] / 200) for each in everywhere) / 2
        assert len(inside) >= 20
        assert len(here) >= 2
        assert far <= 0.5 + 1e-9
    _hidden(found.levels, frame, table, path)


def _hidden(levels: Any, frame: pd.DataFrame, table: pa.Table, path: Path) -> None:
    """No raw value of a generalised column, and none that only suppressed rows have, is in the bytes of the file."""
    shown = {cell for name in ("where", "rare") if levels[name] == 0 for cell in set(frame[name])}
    raw = {cell for name in ("where", "rare") for cell in table.column(name).to_pylist()}
    content = path.read_bytes()
    if path.suffix == ".parquet":
        content += repr(pq.ParquetFile(path).metadata.to_dict()).encode()
        content += b"".join(
            column.encode() for column in pq.read_table(path).to_pandas().astype(str).to_numpy().ravel()
        )
    assert raw - shown
    assert not [cell for cell in raw - shown if cell.encode() in content]
    assert not list(path.parent.glob(".*"))


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_suppressed_rows_are_not_in_the_file(tmp_path: Path, recoding: Any) -> None:
    table = pa.table({"x": ["zq-1-secret"] * 5 + ["zq-2-secret"] * 2, "z": ["a"] * 5 + ["lonely"] * 2})
    tree = Hierarchy({"zq-1-secret": ("one",), "zq-2-secret": ("two",)})
    found = anonymize(
        table, KAnonymity(3), quasi_identifiers=["x"], hierarchies={"x": tree}, suppression="1/2", recoding=recoding
    )
    found.write(tmp_path / "out.parquet")
    assert found.suppressed == 2
    content = (tmp_path / "out.parquet").read_bytes()
    assert b"lonely" not in content
    assert b"zq-2-secret" not in content
    assert found.table().column("x").to_pylist() == ["zq-1-secret"] * 5


KINDS = {
    "whole": ([1, 2, 3, None, 40, 41] * 4, pa.int64()),
    "real": ([0.5, 0.25, None, -1.5, 1e6, 0.1] * 4, pa.float64()),
    "day": ([datetime.date(2020, 1, day) if day < 5 else None for day in (1, 2, 3, 4, 5, 6)] * 4, pa.date32()),
    "truth": ([True, False, True, None, True, False] * 4, pa.bool_()),
    "text": (["CV1 1AA", "CV1 2BB", "CV2 1AA", None, "B1 1AA", "B1 1AB"] * 4, pa.string()),
}


@pytest.mark.parametrize("name", list(KINDS))
@pytest.mark.parametrize("k", [4, 5, 24])
def test_every_kind_of_column_can_be_a_quasi_identifier(name: str, k: int, tmp_path: Path) -> None:
    cells, kind = KINDS[name]
    table = pa.table({name: pa.array(cells, kind), "other": pa.array(range(24))})
    found = anonymize(table, KAnonymity(k), quasi_identifiers=[name])
    out = found.table()
    found.write(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").schema.field(name).type == out.schema.field(name).type
    assert out.num_rows == 24
    assert min(Counter(out.column(name).to_pylist()).values()) >= k
    if k == 4:
        assert found.levels == {name: 0}
        assert out.schema.field(name).type == kind
        assert Counter(out.column(name).to_pylist()) == Counter(cells)
    else:
        assert out.schema.field(name).type == pa.string()


def test_codes_of_categories_and_hierarchies_written_otherwise_are_understood() -> None:
    codes = Column("code", Kind.CATEGORY, categories=Categories((1, 2, 3)))
    table = pa.table({"code": [1, 1, 2, 3], "day": [datetime.date(2020, 1, 1)] * 4, "truth": [True] * 4})
    engine = DuckDBEngine()
    schema = Schema((codes, Column("day", Kind.DATE), Column("truth", Kind.BOOLEAN)))
    trees = {
        "code": Hierarchy({"1": ("few",), "2": ("many",), "3": ("many",)}),
        "day": Hierarchy({"2020-01-01": ("2020",)}),
        "truth": Hierarchy({"true": ("*",), "false": ("*",)}),
    }
    held = Table(engine, engine.attach(table), schema)
    found = anonymize(held, KAnonymity(2), quasi_identifiers=["code", "day", "truth"], hierarchies=trees)
    assert found.levels == {"code": 1, "day": 0, "truth": 0}
    assert Counter(found.table().column("code").to_pylist()) == {"few": 2, "many": 2}
    assert found.table().column("day").to_pylist() == [datetime.date(2020, 1, 1)] * 4


@settings(max_examples=25)
@given(st.data())
def test_outputs_are_what_plain_python_makes_of_the_levels(data: st.DataObject) -> None:
    cells = [st.sampled_from([*SECRET[:5], None]), st.sampled_from([*SECRET[:3], None])]
    rows = data.draw(st.lists(st.tuples(*cells, st.sampled_from("pqr")), min_size=4, max_size=25))
    columns = {name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate("abs")}
    models = data.draw(st.sampled_from([[KAnonymity(3)], [KAnonymity(2), LDiversity("s", 2)], [AverageRisk(0.4)]]))
    found = anonymize(
        pa.table(columns), models, quasi_identifiers=["a", "b"], hierarchies={"a": TREE, "b": TREE}, suppression=1
    )
    levels = (found.levels["a"], found.levels["b"])
    labelled = Counter((*(_label(row[at], levels[at] or 0) for at in (0, 1)), row[2]) for row in rows)
    out = Counter(tuple(row.values()) for row in found.table().to_pylist())
    assert all(out[row] in (0, many) for row, many in labelled.items())
    assert sum(out.values()) == len(rows) - found.suppressed
    sizes = Counter(row[:2] for row in out.elements())
    assert len(sizes) == found.classes
    if isinstance(models[0], KAnonymity):
        assert all(many >= models[0].k for many in sizes.values())
    else:
        assert len(sizes) <= 0.4 * sum(sizes.values()) + 1e-9


@pytest.mark.parametrize("recoding", ["local", "mondrian"])
def test_cells_of_different_levels_satisfy_the_models_too(recoding: Any) -> None:
    table = secret_table(120).append_column("age", pa.array([20 + place * 7 % 50 for place in range(120)], pa.int64()))
    known = ["where", "rare", "age"]
    models = [KAnonymity(6), LDiversity("illness", 2)]
    trees = {"where": TREE, "rare": TREE}
    found = anonymize(table, models, quasi_identifiers=known, hierarchies=trees, recoding=recoding)
    groups = found.table().to_pandas().groupby(known, dropna=False)
    assert groups.size().min() >= 6
    assert groups["illness"].nunique().min() >= 2
    assert (groups.size().sum(), len(groups)) == (120 - found.suppressed, found.classes)
    assert sorted(found.table().column("cost").to_pylist()) == sorted(table.column("cost").to_pylist())


def _label(cell: str | None, level: int) -> str | None:
    return "*" if level == 2 else None if cell is None else (cell, *TREE.levels[cell])[level]


def test_the_order_of_rows_says_nothing_of_that_of_the_table() -> None:
    table = secret_table()
    shuffled = table.take(random.Random(3).sample(range(200), 200))
    trees = {"where": TREE, "rare": TREE}
    made = [
        anonymize(each, KAnonymity(4), quasi_identifiers=list(trees), hierarchies=trees, suppression="0.1")
        for each in (table, shuffled)
    ]
    first, again, other = made[0].table().to_pylist(), made[0].table().to_pylist(), made[1].table().to_pylist()
    assert sorted(map(str, first)) == sorted(map(str, again)) == sorted(map(str, other))
    assert first != again
    places = {row["cost"]: place for place, row in enumerate(table.to_pylist())}
    assert abs(pd.Series([places[row["cost"]] for row in first]).corr(pd.Series(range(len(first))))) < 0.4


def _changing(cells: list[str | None]) -> tuple[Any, Table]:
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (x VARCHAR, s VARCHAR)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(cell, "p") for cell in cells])
    return connection, Table(DuckDBEngine(connection), "t")


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO t VALUES ('zq-0-secret', 'p')",
        "DELETE FROM t WHERE rowid = 0",
        "UPDATE t SET x = 'zq-1-secret' WHERE rowid = 0",
        "UPDATE t SET x = 'zq-5-secret' WHERE rowid = 0",
        "UPDATE t SET x = NULL WHERE rowid = 0",
        "UPDATE t SET s = 'q' WHERE rowid = 0",
        "UPDATE t SET s = NULL WHERE rowid = 0",
    ],
)
@pytest.mark.parametrize("missing", [[], [None] * 4])
def test_a_table_that_changed_since_it_was_counted_is_not_written(
    change: str, missing: list[None], tmp_path: Path
) -> None:
    connection, table = _changing(["zq-0-secret"] * 4 + ["zq-1-secret"] * 4 + missing)
    models = [KAnonymity(4), TCloseness("s", 0.5)]
    found = anonymize(table, models, quasi_identifiers=["x"], hierarchies={"x": TREE})
    assert found.table().num_rows == 8 + len(missing)
    connection.execute(change)
    with pytest.raises(DataError, match="changed while it was anonymised"):
        found.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_rows_of_values_that_were_not_counted_do_not_leave() -> None:
    connection, table = _changing(["zq-0-secret"] * 4)
    found = anonymize(table, KAnonymity(4), quasi_identifiers=["x"], hierarchies={"x": TREE})
    connection.execute("INSERT INTO t VALUES ('zq-5-secret', 'p'), (NULL, 'p')")
    assert found.table().column("x").to_pylist() == ["zq-0-secret"] * 4


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("recoding", ["global", "local"])
def test_if_all_rows_are_suppressed_the_file_has_columns_and_no_rows(
    tmp_path: Path, suffix: str, recoding: Any
) -> None:
    table = pa.table({"x": ["a", "b"], "s": ["p", "p"], "n": [1, 2]})
    trees = {"x": Hierarchy({"a": ("*",), "b": ("*",)})}
    models = [KAnonymity(2), LDiversity("s", 2)]
    found = anonymize(table, models, quasi_identifiers=["x"], hierarchies=trees, suppression=1, recoding=recoding)
    path = tmp_path / f"out{suffix}"
    found.write(path)
    assert found.suppressed == 2
    assert list(rows_of(path).columns) == ["x", "s", "n"]
    assert len(rows_of(path)) == 0
    assert found.table().num_rows == 0


def test_identifiers_never_leave(tmp_path: Path) -> None:
    engine = DuckDBEngine()
    name = engine.attach(pa.table({"who": SECRET[:6], "x": list("aaabbb")}))
    schema = Schema((Column("who", Kind.TEXT, "identifier"), Column("x", Kind.TEXT, "quasi-identifier")), Unit.row())
    found = anonymize(Table(engine, name, schema), KAnonymity(3))
    found.write(tmp_path / "out.csv")
    assert found.table().column_names == ["x"]
    assert b"secret" not in (tmp_path / "out.csv").read_bytes()


def test_more_combinations_than_one_number_holds(tmp_path: Path) -> None:
    rng = random.Random(1)
    columns = {f"c{place}": [rng.choice("ab") for _ in range(60)] for place in range(12)}
    trees = {name: Hierarchy({v: ("*",) for v in ["a", "b", *map(str, range(98))]}) for name in columns}  # noqa: C420
    table = pa.table({**columns, "z": range(60)})
    found = anonymize(table, KAnonymity(5), quasi_identifiers=list(columns), hierarchies=trees, suppression="0.5")
    assert 100**12 > 2**64
    sizes = found.table().to_pandas().groupby(list(columns)).size()
    assert sizes.min() >= 5
    assert sizes.sum() == 60 - found.suppressed


@pytest.mark.parametrize("name", ["out.docx", "out", "nowhere/out.csv"])
def test_a_file_that_cannot_be_written_is_one_sentence(name: str, tmp_path: Path) -> None:
    found = anonymize(pa.table({"x": ["a", "a"]}), KAnonymity(2), quasi_identifiers=["x"])
    with pytest.raises(DataError):
        found.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
