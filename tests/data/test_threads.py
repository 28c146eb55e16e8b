"""One engine serves many threads, as those of a service: nothing is opened twice, and nobody ends another's query."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pyarrow as pa
import pytest

from ziggurat.data import Schema, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import EngineError

SCHEMA = Schema.from_yaml("columns:\n  age: {kind: integer, bounds: [0, 120]}\n")
MANY = 12


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "\n".join(str(each % 100) for each in range(20_000)) + "\n")
    return path


def together(work):
    """Do work in many threads that begin at once; gives what came of it, or raises what was raised."""
    start = Barrier(MANY)

    def begin(number):
        start.wait()
        return work(number)

    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(begin, range(MANY)))


def test_a_table_that_is_opened_later_is_opened_by_one_of_many_threads(file, monkeypatch):
    engine, opened = DuckDBEngine(), []
    table, usual = read(str(file), SCHEMA, engine=engine, later=True), DuckDBEngine.attach
    monkeypatch.setattr(DuckDBEngine, "attach", lambda self, *given: opened.append(1) or usual(self, *given))
    together(lambda _number: table.ready())
    assert opened == [1]
    assert table.preview().rows == 20_000


def test_threads_that_open_and_ask_at_once_do_not_end_each_others_queries(file):
    engine = DuckDBEngine()
    first = read(str(file), SCHEMA, engine=engine)

    def work(number):
        for _ in range(4):
            if number % 3 == 0:
                assert read(str(file), SCHEMA, engine=engine).preview().rows == 20_000
            elif number % 3 == 1:
                lent = engine.lend(pa.table({"n": [1, 2, 3]}))
                engine.take_back(lent)
            else:
                assert first.preview().rows == 20_000

    together(work)


def test_an_engine_that_is_confined_reads_files_of_one_folder_alone(file, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "more.csv").write_text("age\n1\n")
    engine = DuckDBEngine()
    engine.confine(outside, "500MB")
    assert read(str(outside / "more.csv"), SCHEMA, engine=engine).preview().rows == 1
    for statement in (f"SELECT * FROM read_csv('{file}')", "SET enable_external_access = true"):
        with pytest.raises(EngineError):
            engine._withheld(lambda statement=statement: engine._fetch(statement), "Trying")
    assert DuckDBEngine()._fetch(f"SELECT * FROM read_csv('{file}')").num_rows == 20_000  # the control


def test_a_memory_that_is_none_is_refused():
    with pytest.raises(EngineError):
        DuckDBEngine().confine("/tmp", "much'; SELECT 1")
