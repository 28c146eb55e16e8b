"""Every kind of release on one small table: how its plan is made, what pays for it, and what may be expected of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ziggurat import learn
from ziggurat.anonymize import Drop, KAnonymity, Round, anonymize, mask
from ziggurat.data import Bounds, Categories, Column, Role, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.ledger import Ledger
from ziggurat.local import VectorNoise, WholeRecord, privatizer_for
from ziggurat.pate import GumbelNoisyMax, Partition, Teachers
from ziggurat.pate.training import read_classifier, write_classifier
from ziggurat.privacy import Neighbours, Relation
from ziggurat.queries import Workload
from ziggurat.randomness import Source, secure, seeded
from ziggurat.release import (
    CollectionPlan,
    Labelling,
    MaskedPlan,
    Plan,
    Purse,
    Session,
    Task,
    plan_model,
    read_rows,
)
from ziggurat.release.labels._query_curator import PrivatizedPlan
from ziggurat.release.models import ModelExam, TableModelPlan, plan_said_model
from ziggurat.release.sequences import plan_sequences
from ziggurat.release.tables import AnonymizedPlan, plan_synthetic, plan_synthetic_private
from ziggurat.release.tables._synthetic_files import read_back
from ziggurat.release.tables._synthetic_parts import schema_of_copies
from ziggurat.release.trajectories import plan_communities, plan_trajectories
from ziggurat.sequences import SequenceLayout
from ziggurat.sequences.mobility import Ground, MarkovTrajectories, VisitLayout
from ziggurat.sequences.mobility.communities import PrivateSTLDA
from ziggurat.sequences.tokens import MarkovSequences
from ziggurat.synthesize import MST, Synthesizer

SCHEMA = Schema(
    (
        Column("patient", "text", Role.IDENTIFIER),
        Column("ward", "category", Role.QUASI_IDENTIFIER, categories=Categories(("east", "north", "west"))),
        Column("ill", "category", Role.SENSITIVE, categories=Categories(("no", "yes"))),
        Column("age", "integer", Role.QUASI_IDENTIFIER, bounds=Bounds(0, 99)),
        Column("cost", "real", bounds=Bounds(0.0, 100.0)),
    ),
    unit=Unit.person("patient"),
    name="clinic",
)
ADDED = Neighbours(SCHEMA.unit)
REPLACED = Neighbours(SCHEMA.unit, Relation.REPLACE_ONE)
TASK = Task(SCHEMA, "ill", ("age", "cost"))
SQL = "SELECT ward, COUNT(*) AS n FROM clinic GROUP BY ward"
WARDS = Ground(("east", "north", "west"))
GRANT, GRANT_DELTA = "6", "1e-5"


def people(count: int = 90) -> pa.Table:
    """So many patients; the same at every call."""
    draw = np.random.default_rng(16)
    return pa.table(
        {
            "patient": [f"p{i}" for i in range(count)],
            "ward": [("east", "north", "west")[i % 3] for i in range(count)],
            "ill": [("no", "yes")[i % 2] for i in range(count)],
            "age": draw.integers(18, 90, count),
            "cost": np.round(draw.uniform(0, 100, count), 1),
        }
    )


def one_changed(rows: pa.Table) -> pa.Table:
    """A neighbour: the last patient is another one."""
    other = {"patient": ["q"], "ward": ["east"], "ill": ["no"], "age": [1], "cost": [99.5]}
    return pa.concat_tables([rows.slice(0, rows.num_rows - 1), pa.table(other, schema=rows.schema)])


def one_added(rows: pa.Table) -> pa.Table:
    """A neighbour: one patient more."""
    return pa.concat_tables([rows, one_changed(rows).slice(rows.num_rows - 1)])


def one_removed(rows: pa.Table) -> pa.Table:
    """A neighbour: one patient less."""
    return rows.slice(1)


@dataclass(frozen=True, eq=False)
class ReleaseKind:
    """What the contract has to know of a kind of release.

    Attributes
    ----------
    name
        What tests call it.
    plan
        Makes its plan on a bench.
    neighbours
        What the budget protects that pays for it.
    guaranteed, replayed, judged
        Whether it has an event, is given again for nothing, and is attacked before it leaves.
    said
        The `release` of a file that describes it; None if files cannot.
    strict
        Thresholds that it cannot pass.
    people
        How many are in its table, so that what its tests ask for does not depend on the noise.
    prepare
        Makes what it needs besides the table.
    swap
        Of two outputs: the first as it would lie where the second does.
    """

    name: str
    plan: Callable[["Bench"], Plan[Any]]
    neighbours: Neighbours = ADDED
    guaranteed: bool = True
    replayed: bool = False
    judged: bool = False
    said: Mapping[str, Any] | None = None
    strict: Mapping[str, str] = field(default_factory=dict)
    people: int = 90
    prepare: Callable[[Path, pa.Table], None] = lambda folder, rows: None
    swap: Callable[[Any, Any], Any] = lambda first, second: first

    def __repr__(self) -> str:
        return self.name


def prepare(kind: ReleaseKind, folder: Path, rows: pa.Table | None = None, epsilon: str = GRANT) -> Path:
    """Write the table, its schema and a ledger in which ada may spend `epsilon` on the clinic; gives the folder."""
    folder.mkdir(exist_ok=True)
    held = people(kind.people) if rows is None else rows
    parquet.write_table(held, folder / "clinic.parquet")
    SCHEMA.to_yaml(folder / "clinic.yaml")
    kind.prepare(folder, held)
    with Ledger.open(folder / "book.db") as book:
        book.create_budget("clinic", "20", "1e-3", kind.neighbours)
        book.grant("clinic", "ada", epsilon, GRANT_DELTA)
    return folder


class Bench:
    """A prepared folder, opened: its ledger, and a purse with which plans of a kind are made.

    Parameters
    ----------
    seed
        Of the purse, and of what draws for itself; secure without one.
    own_seed
        Only of what draws for itself.
    """

    def __init__(
        self, kind: ReleaseKind, folder: Path, *, seed: int | None = None, own_seed: int | None = None
    ) -> None:
        self.kind, self.folder = kind, folder
        self.random_state = seed if own_seed is None else own_seed
        self.source: Source = secure() if seed is None else seeded(seed)
        self.ledger = Ledger.open(folder / "book.db", create=False)
        self.purse = Purse(self.ledger, "clinic", "ada", self.source)
        self.engine = DuckDBEngine()

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close()
        self.engine.close()

    def plan(self) -> Plan[Any]:
        """Make the plan of the kind."""
        return self.kind.plan(self)

    @cached_property
    def table(self) -> Table:
        """The table by its schema; no row is read yet."""
        return read(self.folder / "clinic.parquet", SCHEMA, engine=self.engine, later=True)

    @property
    def opened(self) -> Table:
        """The table, opened, for what nothing bounds."""
        self.table.ready()
        return self.table

    @cached_property
    def drafts(self) -> Path:
        """Where files are made before they leave; it goes as soon as the release is bundled."""
        place = self.folder / ".drafts"
        place.mkdir(exist_ok=True)
        return place

    def history(self) -> list[str]:
        """The kinds of the entries after the grant."""
        return entries(self.folder)


def entries(folder: Path) -> list[str]:
    """What the ledger of a folder says after the grant, read from the disk."""
    with Ledger.open(folder / "book.db", create=False, read_only=True) as book:
        return [each.kind for each in book.history()][3:]


def _session(bench: Bench) -> Session:
    return Session(bench.ledger, "ada", {"clinic": bench.table}, budget="clinic", source=bench.source)


def _question(bench: Bench) -> Plan[Any]:
    return _session(bench).plan(SQL, "0.5", rows_per_unit=1, groups_per_unit=1)


def _workload(bench: Bench) -> Plan[Any]:
    return _session(bench).plan(Workload(bench.table.schema).marginal("ward", "ill"), "0.5", rows_per_unit=1)


def _reports(bench: Bench) -> Plan[Any]:
    record = WholeRecord({"ill": privatizer_for(SCHEMA["ill"], "0.5", neighbours=REPLACED)})
    return CollectionPlan(record, lambda: read_rows(bench.table, ["ill"]))


def _numbers(folder: Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Features between 0 and 1, labels and patients, as somebody has them in memory."""
    held = parquet.read_table(folder / "clinic.parquet")
    features = np.column_stack([held["age"].to_numpy() / 99, held["cost"].to_numpy() / 100])
    return features, (held["ill"].to_numpy(zero_copy_only=False) == "yes").astype(int), held["patient"].to_pylist()


def _privatised(bench: Bench) -> Plan[Any]:
    noise = VectorNoise("0.5", 2, norm=2, neighbours=REPLACED)
    return PrivatizedPlan(noise, _numbers(bench.folder)[0], noise.event)


def _bayes(bench: Bench) -> Any:
    return learn.GaussianNB(epsilon="1", bounds=(0.0, 1.0), classes=[0, 1], random_state=bench.random_state)


def _model(bench: Bench) -> Plan[Any]:
    features, labels, units = _numbers(bench.folder)
    return plan_model(_bayes(bench), features, labels, purse=bench.purse, units=units)


def _table_model(bench: Bench) -> Plan[Any]:
    return TableModelPlan.of(_bayes(bench), TASK, bench.table, bench.purse, 90)


def _train(folder: Path, rows: pa.Table) -> None:
    """A regression of all patients, as somebody brings it, and forty other people."""
    features, labels, _ = _numbers(folder)
    fitted = LogisticRegression(tol=1e-10, max_iter=10_000).fit(features, labels)
    (folder / "brought.skops").write_bytes(write_classifier(fitted))
    parquet.write_table(people(130).slice(90).select(["age", "cost", "ill"]), folder / "others.parquet")


def _foreign(bench: Bench) -> Plan[Any]:
    tables = bench.opened, read(bench.folder / "others.parquet", TASK.labelled_schema)
    exam = ModelExam(random_split=False, shadows=0)
    brought = read_classifier(bench.folder / "brought.skops")
    return plan_said_model(brought, bench.drafts / "model.skops", TASK, tables, exam)


def _teach(folder: Path, rows: pa.Table) -> None:
    """Six stumps, as `ziggurat pate teach` writes them, and twelve queries."""
    features, labels, units = _numbers(folder)
    partition = Partition.by_unit(units, 6, unit=SCHEMA.unit)
    taught = Teachers(DecisionTreeClassifier(max_depth=1), classes=2).fit(features, labels, partition)
    taught.save(folder / "teachers")
    partition.save(folder / "teachers" / "partition.npz")
    TASK.save(folder / "teachers" / "task.json")
    asked = {"age": list(range(10, 94, 7)), "cost": [float(place) for place in range(0, 96, 8)]}
    parquet.write_table(pa.table(asked), folder / "queries.parquet")


def _labels(bench: Bench) -> Plan[Any]:
    taught = Teachers.load(bench.folder / "teachers")
    paying = {"budget": "clinic", "source": bench.source}
    labelling = Labelling(taught, GumbelNoisyMax("0.05"), bench.ledger, "ada", **paying)
    return labelling.plan(TASK.rows(read(bench.folder / "queries.parquet", TASK.query_schema), labels=False).features)


def _anonymized(bench: Bench) -> Plan[Any]:
    made = anonymize(bench.opened, [KAnonymity(3)], quasi_identifiers=["ward"])
    draft = bench.drafts / "table.csv"
    return AnonymizedPlan.of(made, draft, draft, {}, ["age", "cost"])


def _masked(bench: Bench) -> Plan[Any]:
    masked = mask(bench.opened, {"patient": Drop(), "cost": Round(10)}, source=bench.source)
    return MaskedPlan(masked, bench.drafts / "table.csv", bench.opened)


def _synthetic(bench: Bench) -> Plan[Any]:
    maker = Synthesizer(method="sample", leave_out=("age", "cost"), random_state=bench.random_state)
    given: dict[str, Any] = {"place": bench.drafts, "engine": bench.engine, "holdout": 0.0}
    return plan_synthetic(bench.opened, bench.drafts / "table.csv", maker, **given)


def _private(bench: Bench) -> Plan[Any]:
    model = MST("1", "1e-9", columns=("ward", "ill"), rows_per_unit=1, random_state=bench.random_state)
    given: dict[str, Any] = {"place": bench.drafts, "engine": bench.engine, "holdout": 0.0, "purse": bench.purse}
    return plan_synthetic_private(bench.table, bench.drafts / "table.csv", model, **given)


def _same_files(first: Any, second: Any) -> Any:
    """The files of the first copies where those of the second were made, attacked with the second's rows."""
    for mine, other in zip(second.drafts, first.drafts, strict=True):
        mine.write_bytes(other.read_bytes())
    task = second.task
    tables = read_back(second.drafts, schema_of_copies(task.table, task.names), task.table, task.engine)
    return replace(second, files=first.files, tables=tables)


def _sequences(bench: Bench) -> Plan[Any]:
    """Wards by age, as if a patient had several rows."""
    model = MarkovSequences("1", sequences_per_unit=1, random_state=bench.random_state)
    layout = SequenceLayout("patient", token="ward", order="age", label="ill", longest=2)
    given: dict[str, Any] = {"place": bench.drafts, "engine": bench.engine, "holdout": 0.0, "purse": bench.purse}
    return plan_sequences(bench.table, bench.drafts / "table.csv", model, layout=layout, **given)


def _same_sequences(first: Any, second: Any) -> Any:
    """The file of the first sequences where that of the second was made, attacked with the second's rows."""
    second.drafts[0].write_bytes(first.drafts[0].read_bytes())
    opened = second.task.file.read(second.drafts[0], second.task.engine)
    return replace(second, files=first.files, count=first.count, opened=opened)


def _trajectories(bench: Bench) -> Plan[Any]:
    """Patients in their ward at the minute of their age: one visit each."""
    model = MarkovTrajectories("1", sequences_per_unit=1, random_state=bench.random_state)
    given: dict[str, Any] = {"place": bench.drafts, "engine": bench.engine, "holdout": 0.0, "purse": bench.purse}
    given |= {"layout": VisitLayout("patient", "age", "ward", cut=None, longest=2), "ground": WARDS}
    return plan_trajectories(bench.table, bench.drafts / "table.csv", model, **given)


def _communities(bench: Bench) -> Plan[Any]:
    model = PrivateSTLDA("1", "1e-6", communities=2, visits_per_person=2, random_state=bench.random_state)
    given: dict[str, Any] = {"place": bench.drafts, "purse": bench.purse}
    given |= {"layout": VisitLayout("patient", "age", "ward", longest=2), "ground": WARDS}
    return plan_communities(bench.table, bench.drafts / "table.csv", model, **given)


def _same_description(first: Any, second: Any) -> Any:
    """The file about the first communities where that about the second was made."""
    second.drafts[0].write_bytes(first.drafts[0].read_bytes())
    return replace(second, files=first.files)


_TERMS = {"epsilon": "0.5", "rows_per_unit": 1}
_VISITS = {"time": "age", "place": "ward", "longest": 2}
KINDS = (
    ReleaseKind(
        "question",
        _question,
        replayed=True,
        said={"kind": "question", "sql": SQL, **_TERMS, "groups_per_unit": 1},
    ),
    ReleaseKind(
        "workload",
        _workload,
        replayed=True,
        said={"kind": "workload", "marginals": [["ward", "ill"]], **_TERMS},
    ),
    ReleaseKind("reports", _reports, REPLACED, said={"kind": "reports", "columns": {"ill": "0.5"}}),
    ReleaseKind("privatised queries", _privatised, REPLACED),
    ReleaseKind("model", _model),
    ReleaseKind(
        "model of a table",
        _table_model,
        said={
            "kind": "model",
            "label": "ill",
            "columns": ["age", "cost"],
            "model": "naive-bayes",
            "epsilon": 1,
            "delta": 0,
        },
    ),
    ReleaseKind(
        "foreign model",
        _foreign,
        guaranteed=False,
        judged=True,
        said={
            "kind": "foreign model",
            "model": "brought.skops",
            "others": "others.parquet",
            "label": "ill",
            "columns": ["age", "cost"],
            "shadows": 0,
        },
        strict={"held rows": "0", "rebuilt rows": "0"},
        prepare=_train,
    ),
    ReleaseKind(
        "labels",
        _labels,
        replayed=True,
        said={"kind": "labels", "teachers": "teachers", "queries": "queries.parquet"},
        prepare=_teach,
    ),
    ReleaseKind(
        "anonymized table",
        _anonymized,
        guaranteed=False,
        judged=True,
        said={"kind": "anonymized table", "k": 3, "quasi_identifiers": ["ward"], "drop": ["age", "cost"]},
        strict={"highest risk": "0"},
    ),
    ReleaseKind(
        "masked table",
        _masked,
        guaranteed=False,
        judged=True,
        said={"kind": "masked table", "techniques": {"patient": "drop", "cost": {"technique": "round", "base": 10}}},
        strict={"highest risk": "0"},
    ),
    ReleaseKind(
        "synthetic table",
        _synthetic,
        guaranteed=False,
        judged=True,
        said={"kind": "synthetic table", "method": "sample", "holdout": 0.0, "leave_out": ["age", "cost"]},
        strict={"exact copies": "0"},
    ),
    ReleaseKind(
        "synthetic table with a guarantee",
        _private,
        judged=True,
        said={
            "kind": "synthetic table",
            "method": "mst",
            "epsilon": 1,
            "delta": 1e-9,
            "holdout": 0.0,
            "leave_out": ["age", "cost"],
            "options": {"rows_per_unit": 1},
        },
        strict={"exact copies": "0"},
        swap=_same_files,
    ),
    ReleaseKind(
        "sequences",
        _sequences,
        judged=True,
        said={
            "kind": "sequences",
            "epsilon": 1,
            "sequence": "patient",
            "token": "ward",
            "order": "age",
            "label": "ill",
            "longest": 2,
            "holdout": 0.0,
        },
        strict={"exact copies": "0"},
        people=600,  # as for trajectories
        swap=_same_sequences,
    ),
    ReleaseKind(
        "trajectories",
        _trajectories,
        judged=True,
        said={"kind": "trajectories", "epsilon": 1, **_VISITS, "cut": "never", "holdout": 0.0},
        strict={"exact copies": "0"},
        people=600,  # that no drawn trajectory has one visit, as theirs have, happens once in 10^12 times
        swap=_same_sequences,
    ),
    ReleaseKind(
        "communities",
        _communities,
        said={"kind": "communities", "epsilon": 1, **_VISITS, "communities": 2, "visits_per_person": 2},
        swap=_same_description,
    ),
)
BY_NAME = {each.name: each for each in KINDS}


def write_config(folder: Path, kind: ReleaseKind, **more: Any) -> Path:
    """Write the file that describes a release of a kind, in a prepared folder."""
    paying = {"analyst": "ada"} if kind.guaranteed else {}
    file = folder / "release.yaml"
    said = {"format": "ziggurat/release/1", "table": "clinic.parquet", "ledger": "book.db", "population": "clinic"}
    file.write_text(json.dumps({**said, **paying, "release": dict(kind.said or {}), **more}))
    return file
