"""A small clinic, a ledger with two grants, engines that count or fail, and teachers with two ledgers."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

from ziggurat.data import Bounds, Categories, Column, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.ledger import Ledger
from ziggurat.pate import GumbelNoisyMax, Partition, Teachers
from ziggurat.privacy import Neighbours, Relation
from ziggurat.randomness import seeded
from ziggurat.release import Labelling, Session

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
    """DuckDB, keeping what it was asked about rows; which columns there are (LIMIT 0) it is asked before a payment."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def _fetch(self, statement: str) -> pa.Table:
        if not statement.endswith("LIMIT 0"):
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


def rows_of(people: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(people, 4))


@pytest.fixture(scope="session")
def teachers() -> Teachers:
    """Thirty decision stumps, each on twenty rows."""
    rows = rows_of(600)
    partition = Partition.by_record(600, 30, source=seeded("partition"))
    stumps = Teachers(DecisionTreeClassifier(max_depth=1), classes=2)
    return stumps.fit(rows, (rows[:, 0] > 0).astype(int), partition, source=seeded("teachers"))


@pytest.fixture
def teachers_ledger(tmp_path: Path, teachers: Teachers) -> Iterator[Ledger]:
    """The budget 'patients' holds (20, 1e-4), of which sam, who has a student, may spend (8, 1e-5)."""
    with Ledger.open(tmp_path / "teachers.db") as opened:
        opened.create_budget("patients", "20", "1e-4", Neighbours.from_dict(teachers.manifest_["neighbours"]))
        opened.grant("patients", "sam", "8", "1e-5")
        yield opened


@pytest.fixture
def students_ledger(tmp_path: Path) -> Iterator[Ledger]:
    """The budget 'own' holds epsilon 4 for the rows of the student's table, all of it granted to curie."""
    with Ledger.open(tmp_path / "student.db") as opened:
        opened.create_budget("own", "4", 0, Neighbours(relation=Relation.REPLACE_ONE))
        opened.grant("own", "curie", "4")
        yield opened


@pytest.fixture
def labelling(teachers: Teachers, teachers_ledger: Ledger) -> Labelling:
    """Sam's rehearsal with Gumbel noise."""
    return Labelling(teachers, GumbelNoisyMax("0.1"), teachers_ledger, "sam", budget="patients", source=seeded("noise"))
