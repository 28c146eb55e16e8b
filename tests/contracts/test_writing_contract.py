"""What holds when anonymised rows leave an engine: the same rows from each, whole or not at all, none through here."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ziggurat.anonymize import Anonymized, KAnonymity, LDiversity, anonymize
from ziggurat.data import Hierarchy, Table, read
from ziggurat.data.engines import DuckDBEngine, Engine
from ziggurat.errors import DataError, PrivacyError
from ziggurat.release import release_anonymized
from ziggurat.release.bundle import verify_bundle

ODD = ["plain", "a,b", 'quo"te', "line\nbreak", "car\rret", "=run()", "'=marked", " pad ", "", None, "back\\slash", "ü"]
PLACES = [f"zq-{place}-secret" for place in range(6)]
KEPT = ["illness", "insured", "note", "share"]
TREE = Hierarchy({place: ("north" if int(place[3]) < 3 else "south", "*") for place in PLACES})


def people(rows: int = 360) -> pa.Table:
    rng = random.Random(7)
    return pa.table(
        {
            "place": [rng.choice(PLACES) for _ in range(rows)],
            "age": pa.array([rng.choice(["young", "old", None]) for _ in range(rows)], pa.string()),
            "illness": [rng.choice(["flu", "gout", "cold"]) for _ in range(rows)],
            "insured": pa.array([rng.choice([True, False, None]) for _ in range(rows)]),
            "note": pa.array([ODD[i % len(ODD)] for i in range(rows)], pa.string()),
            "share": pa.array([None if i % 7 == 0 else i / 8 for i in range(rows)], pa.float64()),
        }
    )


def ask(table: Table, k: int = 20) -> Anonymized:
    models = [KAnonymity(k), LDiversity("illness", 2)]
    return anonymize(table, models, quasi_identifiers=["place", "age"], hierarchies={"place": TREE})


def counted(rows: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in rows.to_pylist())


def rows_in(path: Path) -> pa.Table:
    """What anybody reads from a file or a folder, in the columns' own kinds."""
    return read(path, {"columns": {name: {"kind": kind} for name, kind in KINDS.items()}}).raw.rows()


KINDS = {"place": "text", "age": "text", "illness": "text", "insured": "boolean", "note": "text", "share": "real"}


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.parquet/", "out.csv/"])
def test_every_engine_writes_the_same_rows(held: tuple[Engine, Any], tmp_path: Path, name: str) -> None:
    engine, load = held
    here = ask(read(people())).table()
    ask(Table(engine, load(people()))).write(f"{tmp_path}/{name}")
    out = tmp_path / name
    assert out.is_dir() == name.endswith("/")
    assert [each.name for each in tmp_path.iterdir()] == [name.rstrip("/")]
    assert not out.is_dir() or {each.name[:5] for each in out.iterdir()} == {"part-"}
    text = out.suffix == ".csv"  # which tells no empty text from a missing one, whoever wrote it
    assert counted(rows_in(out)) == counted(_blanks_missing(here) if text else here)


def _blanks_missing(rows: pa.Table) -> pa.Table:
    notes = [each or None for each in rows.column("note").to_pylist()]
    place = rows.schema.get_field_index("note")
    return rows.set_column(place, "note", pa.array(notes, pa.string()))


@pytest.mark.spark
def test_text_that_a_spreadsheet_would_run_is_marked_by_spark_too(spark_session: Any, tmp_path: Path) -> None:
    ask(read(spark_session.createDataFrame(people()))).write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        notes = {row["note"] for row in csv.DictReader(file)}
    assert {"'=run()", "''=marked"} <= notes
    assert "=run()" not in notes


@pytest.mark.spark
@pytest.mark.parametrize("name", ["out.parquet", "out.parquet/", "out.csv/"])
def test_no_row_passes_through_this_process(
    spark_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    table = read(spark_session.createDataFrame(people(3000)))
    made, fetched = ask(table), []
    kind: Any = type(table.engine)
    plain = kind._fetch
    monkeypatch.setattr(kind, "_fetch", lambda self, asked: fetched.append(plain(self, asked)) or fetched[-1])
    monkeypatch.setattr(kind, "_stream", lambda *_: pytest.fail("rows were streamed"))
    made.write(f"{tmp_path}/{name}")
    assert sum(each.num_rows for each in fetched) == 0


@pytest.mark.spark
def test_what_spark_remembers_of_a_column_does_not_leave(spark_session: Any, tmp_path: Path) -> None:
    frame = spark_session.createDataFrame(people()).withMetadata("note", {"vals": ["zq-hidden-value"]})
    ask(read(frame)).write(f"{tmp_path}/out.parquet/")
    content = b"".join(each.read_bytes() for each in (tmp_path / "out.parquet").iterdir())
    assert b"zq-hidden-value" not in content
    assert not [place for place in PLACES if place.encode() in content]


@pytest.mark.spark
def test_a_table_that_changed_since_it_was_counted_is_not_written(spark_session: Any, tmp_path: Path) -> None:
    before, after = people(), people().slice(0, 359)
    moved = pa.concat_tables([after, people().slice(0, 1)])  # as many rows as before, one of another combination
    relation = "ziggurat_changing"
    for changed in (after, moved):
        spark_session.createDataFrame(before).createOrReplaceTempView(relation)
        made = ask(Table(read(spark_session.createDataFrame(before)).engine, relation))
        spark_session.createDataFrame(changed).createOrReplaceTempView(relation)
        with pytest.raises(DataError, match="changed while it was anonymised"):
            made.write(f"{tmp_path}/out.parquet/")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_a_zero_byte_does_not_leave_as_text(spark_session: Any, tmp_path: Path) -> None:
    table = people().set_column(4, "note", pa.array(["a\0b"] * 360))
    made = ask(read(spark_session.createDataFrame(table)))
    with pytest.raises(DataError, match="zero byte"):
        made.write(f"{tmp_path}/out.csv/")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    made = ask(read(people()))
    (tmp_path / "out.parquet").mkdir()
    (tmp_path / "out.parquet" / "mine").write_text("mine")
    for write in (made.write, lambda path: release_anonymized(made, path, keep=KEPT)):
        with pytest.raises(DataError, match="is there already"):
            write(f"{tmp_path}/out.parquet/")
    with pytest.raises(DataError, match=r"must end in \.parquet or \.csv"):
        made.write(f"{tmp_path}/out.xlsx/")
    assert [each.name for each in tmp_path.iterdir()] == ["out.parquet"]


def test_a_folder_is_released_with_a_digest_of_all_its_parts(held: tuple[Engine, Any], tmp_path: Path) -> None:
    engine, load = held
    made = ask(Table(engine, load(people())))
    release = release_anonymized(made, f"{tmp_path}/out.parquet/", keep=KEPT)
    said = subprocess.run(
        "sha256sum * | sha256sum", shell=True, cwd=tmp_path / "out.parquet", capture_output=True, check=True, text=True,
        env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    assert said.stdout.split()[0] == release.sha256
    facts = json.loads(release.certificate.read_text())
    assert [each["name"] for each in facts["artefacts"]] == sorted(
        f"out.parquet/{each.name}" for each in (tmp_path / "out.parquet").iterdir()
    )
    assert facts["details"]["folder"]["sha256"] == release.sha256
    bundle = release.release.bundle(tmp_path / "bundle")
    assert verify_bundle(bundle).sound
    part = sorted((bundle / "public" / "out.parquet").iterdir())[-1]
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    wrong = verify_bundle(bundle)
    assert [each.file for each in wrong.problems] == [f"public/out.parquet/{part.name}"]


class PlantedPart:
    """A publication that spoils one part after it was written: a row that stands alone."""

    def __init__(self, made: Anonymized) -> None:
        self._plain, self.original = made.publication, made.publication.original
        self.rows = made.publication.rows

    def write(self, path: str) -> None:
        self._plain.write(path)
        part = sorted(Path(path).iterdir())[-1]
        rows = pq.read_table(part)
        alone = pa.array(["nowhere", *rows.column("place").to_pylist()[1:]])
        pq.write_table(rows.set_column(rows.schema.get_field_index("place"), "place", alone), part)


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.spark
def test_a_planted_violation_in_one_part_is_found(
    spark_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spread: bool
) -> None:
    import dataclasses

    table = read(spark_session.createDataFrame(people()))
    monkeypatch.setattr(type(table.engine), "spread", spread)  # as on a cluster, where Spark reads back what it wrote
    made = ask(table)
    assert release_anonymized(made, f"{tmp_path}/good.parquet/", keep=KEPT).path.is_dir()
    planted: Any = dataclasses.replace(made, publication=PlantedPart(made))
    with pytest.raises(PrivacyError, match="rows in the smallest class 1"):
        release_anonymized(planted, f"{tmp_path}/out.parquet/", keep=[])
    assert not (tmp_path / "out.parquet").exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_kill_in_the_middle_leaves_no_output(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        sys.path.insert(0, sys.argv[1])
        from test_writing_contract import KEPT, ask, people
        from ziggurat.data import read, writing
        from ziggurat.release import release_anonymized
        import ziggurat.release.tables._anonymized as leaving
        made = ask(read(people()))
        die = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        if sys.argv[3] == "writing":
            writing._by_ending.TableWriter.__exit__ = die
        else:
            leaving.place = die
        release_anonymized(made, sys.argv[2] + "/out.parquet/", keep=KEPT)
    """
    for moment in ("writing", "placing"):
        given = [sys.executable, "-c", textwrap.dedent(script), str(Path(__file__).parent), str(tmp_path), moment]
        done = subprocess.run(given, capture_output=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        assert [each for each in tmp_path.iterdir() if not each.name.startswith(".")] == []
        assert all(each.stat().st_mode & 0o077 == 0 for each in tmp_path.iterdir())


def test_an_engine_says_that_it_does_not_write(tmp_path: Path) -> None:
    with DuckDBEngine() as engine, pytest.raises(DataError, match="does not write"):
        engine.write_rows(read(people()).select("place"), tmp_path, ".parquet", weight="w", salt=1, one=True)
