"""A small clinic, a ledger with two grants, and engines that count or fail."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Categories, Column, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours
from ziggurat.randomness import seeded
from ziggurat.release import Session

SCHEMA = Schema(
    (
        Column("patient", "text"),
        Column("age", "integer", bounds=Bounds(0, 100)),
        Column("ward", "category", categories=Categories(("east", "north", "west"))),
        Column("town", "text"),
        Column("cost", "real"),
    ),
    unit=Unit.person("patient"),
    name="clinic",
)


class CountingEngine(DuckDBEngine):
    """DuckDB, keeping what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def _fetch(self, statement: str) -> pa.Table:
        self.asked.append(statement)
        return super()._fetch(statement)


def patients(people: int = 400) -> pa.Table:
    return pa.table(
        {
            "patient": [f"p{i}" for i in range(people)],
            "age": [20 + i % 60 for i in range(people)],
            "ward": [("east", "north")[i % 2] for i in range(people)],
            "town": [("Aville", "Beton", "Cove")[i % 3] for i in range(people)],
            "cost": [float(i % 50) for i in range(people)],
        }
    )


@pytest.fixture
def engine() -> Iterator[CountingEngine]:
    with CountingEngine() as made:
        yield made


@pytest.fixture
def table(engine: CountingEngine) -> Table:
    opened = read(patients(), SCHEMA, engine=engine)
    engine.asked.clear()
    return opened


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """The budget 'clinic' holds (20, 1e-3), of which ada has epsilon 2 and bob (1, 1e-5)."""
    with Ledger.open(tmp_path / "ledger.db") as opened:
        opened.create_budget("clinic", "20", "1e-3", Neighbours(SCHEMA.unit))
        opened.grant("clinic", "ada", "2")
        opened.grant("clinic", "bob", "1", "1e-5", "sum")
        yield opened


@pytest.fixture
def session(ledger: Ledger, table: Table) -> Session:
    """Ada's rehearsal."""
    return Session(ledger, "ada", table, source=seeded(1))
