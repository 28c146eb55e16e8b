"""From what a file says to a plan, one maker for every kind; no row is read of a kind with a guarantee."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ziggurat.data import Schema, Table, read
from ziggurat.data.engines import DuckDBEngine, files_named
from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import Neighbours, Relation
from ziggurat.release.config._models import (
    AnonymizedSaid,
    CommunitiesSaid,
    ForeignModelSaid,
    LabelsSaid,
    MaskedSaid,
    ModelSaid,
    QuestionSaid,
    ReleaseConfig,
    ReportsSaid,
    SequencesSaid,
    SyntheticSaid,
    TrajectoriesSaid,
    VisitsSaid,
    WorkloadSaid,
)

if TYPE_CHECKING:
    from ziggurat.queries import Answer, WorkloadAnswer
    from ziggurat.release._plan import Plan
    from ziggurat.release._purse import Purse
    from ziggurat.release.questions import AnswerPlan, Session
    from ziggurat.release.trajectories import VisitRequest

_INVENTED_ROWS = 10_000

KINDS: dict[str, type[BaseModel]] = {
    "question": QuestionSaid,
    "workload": WorkloadSaid,
    "reports": ReportsSaid,
    "model": ModelSaid,
    "foreign model": ForeignModelSaid,
    "labels": LabelsSaid,
    "anonymized table": AnonymizedSaid,
    "masked table": MaskedSaid,
    "synthetic table": SyntheticSaid,
    "sequences": SequencesSaid,
    "trajectories": TrajectoriesSaid,
    "communities": CommunitiesSaid,
}
"""The kinds of releases, and what a file may say of each."""


@dataclass(frozen=True)
class PlanDesk:
    """Where a plan is made: the file's words, its folder, the purse that pays, and a private folder for drafts."""

    config: ReleaseConfig
    base: Path
    purse: Purse
    place: Path

    def file(self, name: str) -> str:
        """A file that is named from the folder of the description."""
        return str(self.base / name)

    @cached_property
    def engine(self) -> DuckDBEngine:
        """Where files are held."""
        return DuckDBEngine()

    @cached_property
    def schema(self) -> Schema:
        """What is publicly known of the table."""
        if self.config.schema_:
            return Schema.from_yaml(self.file(self.config.schema_))
        if self._invented:
            return _invent(self.config.table)[1]
        beside = Path(self.file(self.config.table)).with_name(f"{Path(self.config.table).name.split('.')[0]}.yaml")
        if not beside.is_file():
            raise DataError(f"There is no schema {str(beside)!r}; name one with 'schema', or have one proposed by "
                            f"'ziggurat schema suggest {self.config.table}'.")  # fmt: skip
        return Schema.from_yaml(beside)

    def table(self, *, later: bool = True) -> Table:
        """The table: planned with by its schema alone, unless it is to be opened at once."""
        if not self.config.table:
            raise DataError("The file names no table; say which with 'table'.")
        options: dict[str, Any] = {"engine": self.engine, "unreadable": self.config.unreadable}
        if self._invented:
            return read(_invent(self.config.table)[0], self.schema, engine=self.engine)
        file = self.file(self.config.table)
        if not files_named(file):
            raise DataError(f"There is no file {file!r}.")
        return read(file, self.schema, later=later, **options)

    def places(self, name: str) -> Table:
        """A public table of places: a file beside the description, or one of an invented city."""
        if not files_named(self.file(name)):
            return read(*_invent(name))
        beside = Path(self.file(name)).with_suffix(".yaml")
        return read(self.file(name), beside if beside.is_file() else None)

    @property
    def name(self) -> str:
        """What questions call the table."""
        return self.config.name or table_name(self.config)

    @property
    def _invented(self) -> bool:
        return is_open(self.config, self.base)


def table_name(config: ReleaseConfig) -> str:
    """What the table is called if nobody says: as its file, in letters that SQL takes."""
    plain = "".join(each if each.isalnum() else "_" for each in Path(config.table or "release").name.split(".")[0])
    return plain if plain[:1].isalpha() else f"t_{plain}"


def is_open(config: ReleaseConfig, base: Path) -> bool:
    """Whether the table is invented or public, so that a rehearsal on it needs no ledger."""
    from ziggurat.data import datasets
    from ziggurat.data.generators import INVENTED

    known = (*INVENTED, *datasets.names())
    return config.table in known and not (base / config.table).exists()


def _invent(name: str) -> tuple[Any, Schema]:
    from ziggurat.data import datasets
    from ziggurat.data.generators import invent

    if name in datasets.names():
        return datasets.load(name), datasets.schema(name)
    return invent(name, _INVENTED_ROWS, 0)


def make_plan(desk: PlanDesk) -> Plan[Any]:
    """Make the plan that a file describes."""
    maker: Callable[[PlanDesk, Any], Plan[Any]] = _MAKERS[type(desk.config.release)]
    return maker(desk, desk.config.release)


def _question(desk: PlanDesk, said: QuestionSaid) -> Plan[Any]:
    public = {name: read(desk.file(file), engine=desk.engine) for name, file in desk.config.public.items()}
    return plan_said_question(_session(desk, desk.table(), public), said)


def plan_said_question(session: Session, said: QuestionSaid) -> AnswerPlan[Answer]:
    """Plan a question in a session, in the words that a release file uses for it."""
    bounds: dict[str, Any] = {name: tuple(ends) for name, ends in said.bounds.items()}
    same = ("rows_per_unit", "groups_per_unit", "bounding", "noise", "effects", "confidence", "shares")
    terms: dict[str, Any] = {name: getattr(said, name) for name in same}
    return session.plan(said.sql, said.epsilon, said.delta, **terms, bounds=bounds, learn=tuple(said.learn))


def _session(desk: PlanDesk, table: Table, public: dict[str, Table] | None = None) -> Session:
    from ziggurat.release.questions import Session

    purse = desk.purse
    if purse.ledger is None or not purse.analyst:
        raise ParameterError("A question is paid for; say who pays with 'analyst'.")
    rest: dict[str, Any] = {"public": public, "budget": purse.population, "source": purse.source}
    return Session(purse.ledger, purse.analyst, {desk.name: table}, **rest)


def _workload(desk: PlanDesk, said: WorkloadSaid) -> Plan[Any]:
    table = desk.table()
    return plan_said_workload(_session(desk, table), table.schema, said)


def plan_said_workload(session: Session, schema: Schema, said: WorkloadSaid) -> AnswerPlan[WorkloadAnswer]:
    """Plan a workload in a session, in the words that a release file uses for it."""
    from ziggurat.queries import Workload

    asked = Workload(schema, bins=said.bins)
    for columns in said.marginals:
        asked = asked.marginal(*columns)
    given = {"rows_per_unit": said.rows_per_unit, "noise": said.noise, "confidence": said.confidence}
    terms: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return session.plan(asked.total() if said.total else asked, said.epsilon, said.delta, **terms)


def _reports(desk: PlanDesk, said: ReportsSaid) -> Plan[Any]:
    from ziggurat.local import WholeRecord, privatizer_for
    from ziggurat.release.tables import CollectionPlan, read_rows

    whom, parts = Neighbours(desk.schema.unit, Relation.REPLACE_ONE), {}
    for name, epsilon in said.columns.items():
        column, allowed = desk.schema[name], said.missing or bool(desk.schema[name].missing)
        parts[name] = privatizer_for(column, epsilon, method=said.method, missing=allowed, neighbours=whom)
    table = desk.table()
    return CollectionPlan(WholeRecord(parts), lambda: read_rows(table, list(parts)))


def _model(desk: PlanDesk, said: ModelSaid) -> Plan[Any]:
    from ziggurat.release.models import TableModelPlan, Task, make_model, model_name

    task = Task(desk.schema, said.label, tuple(said.columns))
    whom = desk.purse.protects(Neighbours(desk.schema.unit))
    options = {**said.options, **({} if said.expected_rows is None else {"expected_rows": said.expected_rows})}
    given = (said.epsilon, said.delta, options, desk.config.rehearse, whom.relation.value)
    model = make_model(model_name(said.model, task), task, *given)
    rows = said.expected_rows or 1_000
    return TableModelPlan.of(model, task, desk.table(), desk.purse, rows, said.holdout, audit=said.audit)


def _foreign_model(desk: PlanDesk, said: ForeignModelSaid) -> Plan[Any]:
    from ziggurat.release.models import ModelExam, Task, plan_said_model, read_model_file

    task = Task(desk.schema, said.label, tuple(said.columns))
    tables = desk.table(later=False), read(desk.file(said.others), task.labelled_schema)
    exam = ModelExam(
        said.random_split, shadows=said.shadows, questions=said.questions, random_state=desk.config.rehearse
    )
    model = read_model_file(desk.file(said.model))
    out = said.out or f"model{Path(said.model).suffix.lower()}"
    return plan_said_model(model, desk.place / out, task, tables, exam, said.sensitive, scaled=said.scaled)


def _labels(desk: PlanDesk, said: LabelsSaid) -> Plan[Any]:
    from ziggurat.pate import Partition, Teachers, aggregator_named
    from ziggurat.release.labels import Labelling
    from ziggurat.release.models import Task

    purse, folder = desk.purse, Path(desk.file(said.teachers))
    if purse.ledger is None or not purse.analyst:
        raise ParameterError("Labels are paid for; say who pays with 'analyst'.")
    task, teachers = Task.load(folder / "task.json"), Teachers.load(folder)
    if (folder / "partition.npz").exists():
        Partition.load(folder / "partition.npz").verify(teachers.manifest_)
    queries = task.rows(read(desk.file(said.queries), task.query_schema), labels=False).features
    labelling = Labelling(
        teachers, aggregator_named(said.aggregator), purse.ledger, purse.analyst, budget=purse.population,
        source=purse.source,
    )  # fmt: skip
    return labelling.plan(queries, most_answers=said.most_answers)


def _anonymize(desk: PlanDesk, said: AnonymizedSaid) -> Plan[Any]:
    from ziggurat.anonymize import METRICS, anonymize
    from ziggurat.data import hierarchies_in
    from ziggurat.release.tables import AnonymizedPlan, check_keep

    table = desk.table(later=False)
    trees = hierarchies_in([desk.file(each) for each in said.hierarchies], table.schema)
    models, known = _models(said, trees), said.quasi_identifiers or None
    options: dict[str, Any] = {"suppression": said.suppression, "recoding": said.recoding}
    if said.metric != "loss" or said.weights:
        options["metric"] = METRICS[said.metric](said.weights)
    made = anonymize(table, models, quasi_identifiers=known, hierarchies=_use_trees(trees, said, table), **options)
    kept = check_keep(made, said.keep, said.drop)
    target = desk.place / said.out
    return AnonymizedPlan.of(made, target, target, kept, tuple(said.drop), desk.config.note)


def _use_trees(trees: dict[str, Any], said: AnonymizedSaid, table: Table) -> dict[str, Any]:
    from ziggurat.data import Role

    roles = [column.name for column in table.schema.with_role(Role.QUASI_IDENTIFIER)]
    wanted = [name for name in said.quasi_identifiers or roles if name not in {**said.diversity, **said.closeness}]
    return {name: tree for name, tree in trees.items() if name in wanted}


def _models(said: AnonymizedSaid, trees: dict[str, Any]) -> list[Any]:
    from ziggurat.anonymize import AverageRisk, HighestRisk, KAnonymity, LDiversity, TCloseness

    found: list[Any] = [] if said.k is None else [KAnonymity(said.k)]
    for name, each in said.diversity.items():
        found.append(LDiversity(name, each.amount, each.kind, each.c, missing_is_a_value=each.missing_is_a_value))
    for name, near in said.closeness.items():
        tree = trees.get(name) if near.distance == "hierarchical" else None
        found.append(TCloseness(name, near.amount, near.distance, tree, missing_is_a_value=near.missing_is_a_value))
    found += [] if said.highest_risk is None else [HighestRisk(said.highest_risk)]
    found += [] if said.average_risk is None else [AverageRisk(said.average_risk)]
    if not found:
        raise ParameterError("Say what classes must satisfy, for instance 'k: 5'.")
    return found


def _mask(desk: PlanDesk, said: MaskedSaid) -> Plan[Any]:
    from ziggurat.anonymize import mask, mask_plan, require_harmless, require_named, safe_harbor
    from ziggurat.release.tables import MaskedPlan

    table = desk.table(later=False)
    if said.safe_harbor:
        chosen: Any = {name: [each] for name, each in safe_harbor(table.declared, rows=table).techniques.items()}
        masked = mask(table, chosen, source=desk.purse.source)
        require_harmless(masked.table, table.declared, masked.untouched)
    else:
        plan = mask_plan(said.techniques, table.declared.names, desk.base)
        masked = mask(table, plan, source=desk.purse.source)
    require_named(table, masked)
    return MaskedPlan(masked, desk.place / said.out, table)


def _synthetic(desk: PlanDesk, said: SyntheticSaid) -> Plan[Any]:
    known, secret = said.known or None, said.secret or None
    asked: dict[str, Any] = {"copies": said.copies, "rows": said.rows, "holdout": said.holdout}
    asked |= {"known": known, "secret": secret, "note": desk.config.note, "place": desk.place, "engine": desk.engine}
    target = desk.place / said.out
    if not said.private:
        from ziggurat.release.tables import plan_synthetic
        from ziggurat.synthesize import Synthesizer

        maker = Synthesizer(
            method=said.method, leave_out=tuple(said.leave_out), random_state=desk.config.rehearse, **said.options
        )
        return plan_synthetic(desk.table(later=False), target, maker, **asked)
    from ziggurat import synthesize
    from ziggurat.release.tables import plan_synthetic_private

    table = desk.table()
    out = {*said.leave_out, table.unit.column}
    given = {"epsilon": said.epsilon, "delta": said.delta, "random_state": desk.config.rehearse, **said.options}
    columns = [name for name in table.schema.names if name not in out]
    model = {"aim": synthesize.AIM, "mst": synthesize.MST}[said.method]
    made = model(columns=columns, **{name: value for name, value in given.items() if value is not None})
    return plan_synthetic_private(table, target, made, purse=desk.purse, **asked)


def _sequences(desk: PlanDesk, said: SequencesSaid) -> Plan[Any]:
    from ziggurat.release.sequences import SequenceRequest, plan_sequences

    named = ("sequence", "token", "order", "label", "longest", "sequences_per_unit", "sizes")
    asked = SequenceRequest(**{name: getattr(said, name) for name in named})
    table = desk.table()
    layout = asked.layout(table.declared)
    given = {"epsilon": said.epsilon, "delta": said.delta, "random_state": desk.config.rehearse, **said.options}
    model = asked.generator(table.declared, said.method, **given)
    more: dict[str, Any] = {"holdout": said.holdout, "note": desk.config.note, "sizes": asked.sizes_of(table.declared)}
    more |= {
        "purse": desk.purse,
        "place": desk.place,
        "engine": desk.engine,
        "count": said.count,
        "canaries": said.canaries,
    }
    return plan_sequences(table, desk.place / said.out, model, layout=layout, **more)


def _visits(desk: PlanDesk, said: VisitsSaid, table: Table) -> tuple[VisitRequest, dict[str, Any]]:
    """What was said about visits, and where they stand on which places."""
    from ziggurat.release.trajectories import GroundRequest, VisitRequest

    named = ("time", "place", "latitude", "longitude", "trip", "gap", "starts", "least", "longest", "within")
    when = {name: value for name, value in said.calendar if value is not None}
    asked = VisitRequest(**{name: getattr(said, name) for name in named}, cut=said.cut or "", **when)
    places = dict(said.places)
    public = places.pop("table")
    ground = GroundRequest(desk.places(public) if public else None, **places).ground(table.declared, said.place)
    return asked, {"layout": asked.layout(table.declared), "ground": ground}


def _trajectories(desk: PlanDesk, said: TrajectoriesSaid) -> Plan[Any]:
    from ziggurat.release.trajectories import plan_trajectories

    table = desk.table()
    asked, where = _visits(desk, said, table)
    given = {"epsilon": said.epsilon, "delta": said.delta, "random_state": desk.config.rehearse, **said.options}
    model = asked.generator(said.method, said.trajectories_per_person, **given)
    more: dict[str, Any] = {"holdout": said.holdout, "note": desk.config.note, "count": said.count, **where}
    more |= {"purse": desk.purse, "place": desk.place, "engine": desk.engine, "canaries": said.canaries}
    return plan_trajectories(table, desk.place / said.out, model, **more)


def _communities(desk: PlanDesk, said: CommunitiesSaid) -> Plan[Any]:
    from ziggurat.release.trajectories import plan_communities
    from ziggurat.sequences.mobility.communities import PrivateSTLDA

    table = desk.table()
    given = {name: getattr(said, name) for name in ("epsilon", "delta", "communities", "visits_per_person")}
    given |= {"random_state": desk.config.rehearse, **said.options}
    model = PrivateSTLDA(**{name: value for name, value in given.items() if value is not None})
    more: dict[str, Any] = {"purse": desk.purse, "place": desk.place, "note": desk.config.note}
    return plan_communities(table, desk.place / said.out, model, **more, **_visits(desk, said, table)[1])


_MAKERS: dict[type[Any], Callable[[PlanDesk, Any], Any]] = {
    QuestionSaid: _question,
    WorkloadSaid: _workload,
    ReportsSaid: _reports,
    ModelSaid: _model,
    ForeignModelSaid: _foreign_model,
    LabelsSaid: _labels,
    AnonymizedSaid: _anonymize,
    MaskedSaid: _mask,
    SyntheticSaid: _synthetic,
    SequencesSaid: _sequences,
    TrajectoriesSaid: _trajectories,
    CommunitiesSaid: _communities,
}
