"""Private models that are paid for before they see a row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import DataError, GateError, MixedNeighboursError, ParameterError, PrivacyError, ZigguratError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Event, Guarantee, Neighbours, Relation, as_replace_one, rename_unit
from ziggurat.queries.answering import QuotedPart
from ziggurat.release._cited import Cited
from ziggurat.release._drafts import check_share
from ziggurat.release._evidence import Evidence
from ziggurat.release._plan import Plan, Progress, ShownPlan, promise_at
from ziggurat.release._purse import Purse
from ziggurat.release.models._attacking import (
    INSPECTION,
    MEMBERSHIP,
    KeptBack,
    count_fitted,
    keep_back,
    require_attackable,
)
from ziggurat.release.models._examining import attack_fitted
from ziggurat.release.models._stopped import put_aside, require_unheld

if TYPE_CHECKING:
    from ziggurat.data import Table
    from ziggurat.learn import PrivateModel
    from ziggurat.randomness import Source
    from ziggurat.release._gate import Gate
    from ziggurat.release._release import Release
    from ziggurat.release.models._task import Task

KIND = "model"
DEPENDS = "how far off it is depends on the table; try it on an invented one (rehearse: 1)"

Model = TypeVar("Model", bound="PrivateModel")


@dataclass(frozen=True, eq=False)
class ModelPlan(ShownPlan, Plan["PrivateModel"]):
    """A private model before it has seen a row; make one with `plan_model`.

    `planned` is what fitting does by the model's own words, and `event` the same about the budget's unit and relation.
    """

    model: PrivateModel
    features: Any = field(repr=False)
    targets: Any = field(repr=False)
    event: Event
    planned: Event
    label: str = ""
    keep: Callable[[Event], Mapping[str, Any]] = field(repr=False, default=lambda event: {})  # noqa: ARG005
    back: KeptBack | None = field(repr=False, default=None)
    audited: Mapping[str, Any] | None = field(repr=False, default=None, kw_only=True)
    kind = KIND

    @classmethod
    def by_shape(
        cls, model: PrivateModel, rows: int, columns: int, *, purse: Purse, label: str = "", holdout: float = 0
    ) -> Self:
        """Plan a fit by the shape of a table alone, to be priced; nothing is read.

        Under add-or-remove-one the number of rows is private, and the price is the same for any. `label` is the column
        of the labels, for a promise about labels alone; `holdout` the share of rows that are kept back.
        """
        _require_private(model)
        planned, whom = _plan_part(model, rows, columns, label, purse, check_share(holdout))
        return cls(model, None, None, _restate(model, planned, whom, one_row_each=True), planned, label)

    @property
    def text(self) -> str:
        """Which model."""
        return f"A private model: {type(self.model).__name__}"

    def parts(self, group_size: int = 0) -> tuple[QuotedPart, ...]:  # noqa: ARG002
        """What is fitted; how far off it will be depends on the table."""
        name = self.label or type(self.model).__name__
        epsilon = promise_at(self.event, self.model.delta).epsilon
        return (QuotedPart(name, type(self.model).__name__, epsilon, None, note=DEPENDS),)

    def guarantee(self) -> Guarantee:
        """What fitting promises at the model's own delta."""
        return promise_at(self.event, self.model.delta)

    @property
    def rehearsal(self) -> bool:
        """Whether the model's randomness is seeded."""
        return self.model.random_state is not None

    @property
    def columns(self) -> int:
        """How many numbers a row of features has."""
        return int(np.shape(self.features)[1])

    @property
    def reads(self) -> tuple[str, ...]:
        """The rows that were handed over."""
        return ("the rows that were handed over",)

    def ready(self) -> None:
        """Have the model refuse what it cannot learn from."""
        if self.features is None:
            raise ParameterError("Only the shape of the table is known; plan the fit of its rows.")
        self.model.check(self.features, self.targets)

    def run(self, source: Source, progress: Progress | None) -> PrivateModel:  # noqa: ARG002
        """Fit; the model draws from its own randomness, which `random_state` seeds."""
        return self._fit()

    def _fit(self) -> PrivateModel:
        given = (self.features,) if self.targets is None else (self.features, self.targets)
        self.model.fit(*given)
        _require_as_planned(self.model, self.planned, self.label)
        self.model.kin.paid += 1
        return self.model

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Attacks with people who are kept back; none where nobody is."""
        return () if self.back is None else (MEMBERSHIP, INSPECTION)

    def judge(self, output: PrivateModel, progress: Progress | None) -> Evidence:
        """Attack the model, if people were kept back."""
        if self.back is None:
            return Evidence()
        return attack_fitted(output, self.features, self.targets, self.back, self.planned, progress)

    def to_ledger(self, output: PrivateModel) -> dict[str, Any]:
        """Which model, with which parameters; the model itself is not kept."""
        words = {"class": type(output).__name__, "parameters": in_words(output.get_params(deep=False))}
        return {"kind": self.kind, **words, **self.keep(self.event)}

    def artefacts(self, output: PrivateModel, folder: Path) -> list[Path]:
        """The model as `save` writes it, which runs no code when it is read."""
        file = folder / "model.npz"
        output.save(file)
        return [file]

    @property
    def not_protected(self) -> tuple[str, ...]:
        """The model's parameters and its columns are public."""
        return ("The kind of model, its parameters, and the names and bounds of its columns are public.",)

    def details(self, output: PrivateModel) -> dict[str, Any]:
        """Which model, with which parameters; of a rehearsal no seed."""
        given = {name: value for name, value in output.get_params(deep=False).items() if name != "random_state"}
        return {"class": type(output).__name__, "parameters": in_words(given)}


@dataclass(frozen=True, eq=False, kw_only=True)
class TableModelPlan(ModelPlan):
    """A private model of a table, of which no row is read before `ready`; make one with `of`.

    What it costs is planned for `expected` rows, a public number. Under add-or-remove-one the price is the same for
    any; where it goes by the number of rows, which is then public, a table of another size is refused.
    """

    task: Task
    table: Table
    purse: Purse
    expected: int
    holdout: float = 0.0
    audit: int = 0
    opened: list[ModelPlan] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls,
        model: PrivateModel,
        task: Task,
        table: Table,
        purse: Purse,
        expected: int,
        holdout: float = 0.0,
        *,
        audit: int = 0,
    ) -> Self:
        """Plan a fit by what is public of a table.

        `holdout` is the share of people kept back for attacks, and `audit` how often such a model is fitted on each of
        two invented neighbours before anything is paid (see `audited_first`).
        """
        _require_private(model)
        planned, whom = _plan_part(model, expected, task.width, task.label, purse, check_share(holdout))
        require_same_unit(table.unit, whom.unit)
        event = _restate(model, planned, whom, one_row_each=True)
        given: dict[str, Any] = {"task": task, "table": table, "purse": purse, "expected": expected}
        return cls(model, None, None, event, planned, task.label, **given, holdout=holdout, audit=audit)

    def audited_first(self, progress: Progress | None = None) -> TableModelPlan:
        """The same with what an audit on invented rows found, if one is wanted; `PrivacyError` if it refutes."""
        if not self.audit:
            return self
        from ziggurat.release.models._audited import audit_plan

        return audit_plan(self, self.audit, self.purse, progress)

    @property
    def columns(self) -> int:
        """How many numbers a row of features has, by the public schema."""
        return self.task.width

    @property
    def text(self) -> str:
        """Which model of what."""
        by = ", ".join(self.task.encoding.names)
        return f"A private model: {type(self.model).__name__} of {self.task.label} by {by}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that the model learns from, and its label."""
        return (*self.task.encoding.names, self.task.label)

    def ready(self) -> None:
        """Open the table, and refuse what the model cannot learn from."""
        self.table.ready()
        least = 1 if self.event.neighbours.relation is Relation.REPLACE_ONE else 0
        held = self.task.rows(self.table, units=True, least=least)
        given: dict[str, Any] = {"units": held.units, "label": self.label, "holdout": self.holdout}
        found = plan_model(self.model, held.features, held.labels, purse=self.purse, **given)
        if found.event != self.event:
            raise ParameterError(self._explain(len(held.features)))
        found.ready()
        self.opened[:] = [found]

    def _explain(self, rows: int) -> str:
        """Only where the number of rows is public may it be told."""
        public = self.event.neighbours.relation is Relation.REPLACE_ONE
        what = str(rows) if public else "about how many there are, as is publicly known"
        return f"The price goes by the number of rows; say expected_rows: {what}."

    def run(self, source: Source, progress: Progress | None) -> PrivateModel:  # noqa: ARG002
        """Fit."""
        (opened,) = self.opened
        return opened._fit()

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Attacks with people who are kept back; none where nobody is."""
        return (MEMBERSHIP, INSPECTION) if self.holdout else ()

    def judge(self, output: PrivateModel, progress: Progress | None) -> Evidence:
        """Attack the model, if people were kept back."""
        (opened,) = self.opened
        return opened.judge(output, progress)

    def artefacts(self, output: PrivateModel, folder: Path) -> list[Path]:
        """The model, and how cells of a table become its features."""
        self.task.save(folder / "task.json")
        return [*super().artefacts(output, folder), folder / "task.json"]


@dataclass(frozen=True)
class FittedModel(Shown):
    """A model that was paid for: the model itself, what was reserved for it, where that is written, and the release."""

    model: Any
    event: Event
    entry: Cited
    release: Release[Any] | None = field(default=None, repr=False, compare=False)

    @property
    def rehearsal(self) -> bool:
        """Whether seeded randomness was used, so that the model must not be published."""
        return bool(self.model.rehearsal_)

    @property
    def refuted(self) -> bool:
        """Whether an attack refuted the promise, so that it left, if it did, without one."""
        return self.release is not None and self.release.event is None

    @property
    def audited(self) -> Mapping[str, Any] | None:
        """What an audit of the promise on invented rows found before it was paid for; None if there was none."""
        return None if self.release is None else self.release.plan.audited


def fit_model(
    model: Model,
    X: Any,  # noqa: N803 - as in scikit-learn
    y: Any = None,
    *,
    ledger: Ledger,
    analyst: str,
    budget: str,
    units: Any = None,
    holdout: float = 0,
    gate: Gate | None = None,
    go_on: str = "",
    audit: int = 0,
    aside: str | Path | None = None,
) -> FittedModel:
    """Pay for fitting a private model, fit it, and attack it if people are kept back for that.

    Promise: what fitting costs is planned from the model's parameters and what is public of the table's shape (under
    add-or-remove-one not the number of rows), and is on disk before the model learns from a row; the fitted model keeps
    it, for the unit and the relation of the budget. Where that unit is not a row, every unit must have exactly one:
    then a neighbour of one kind is one of the other. Where a model promises under add-or-remove-one and the budget
    under replace-one, the cost is that of a group of two, as replacing a row is removing one and adding one; a model
    with relation="replace-one" is mostly cheaper. The other way nothing follows.

    Parameters
    ----------
    model
        An estimator of `ziggurat.learn`; it is fitted in place.
    X, y
        Features, and what is to be predicted.
    ledger, analyst, budget
        Who pays, and out of what. The budget's relation decides: build the model with it.
    units
        The unit of every row, where the budget protects another unit than rows.
    holdout
        The share of rows that are kept back and not learned from, as a control for attacks on the model: by a coin for
        each, or under replace-one as many places as that is. What was found is for the steward, in `release.evidence`.
    gate, go_on
        What stops the model, and why it shall leave all the same (see `Purse.release`).
    audit
        How often to fit such a model on each of two invented neighbours before anything is paid; what that proves about
        epsilon stands on the certificate. 0 for not at all.
    aside
        A new folder in which a model that the gate stops is kept, for its owner alone, so that what was paid for is not
        lost: `ziggurat.release.bundle.HeldBundle.open(aside)` lets it go for a reason, and nothing is paid again.

    Raises
    ------
    ParameterError
        The model or a copy of it was fitted before and nobody paid: one payment is for one fit; nothing was spent.
    DataError
        The table is not one that the model can learn from, or some unit has several rows; nothing was spent.
    MixedNeighboursError
        The model promises nothing under the budget's unit and relation; it says what would.
    BudgetExceededError
        It costs more than is left; nothing was read or spent.
    GateError
        The gate stopped it, and it must not leave; it was paid for, `held` is the release, which `Purse.go_on` lets go
        for a reason, and `place` the folder in which it is kept.
    PrivacyError
        The audit refuted the promise; nothing was spent, and nothing must be released by it.
    """
    judging: dict[str, Any] = {"holdout": holdout, "gate": gate, "go_on": go_on, "audit": audit}
    if aside is not None:
        require_unheld(aside)
    try:
        return pay_and_fit(model, X, y, ledger=ledger, analyst=analyst, budget=budget, units=units, **judging)
    except GateError as error:
        if aside is None:
            raise
        stopped = put_aside(error, aside)
    raise stopped


def pay_and_fit(
    model: PrivateModel,
    X: Any,  # noqa: N803 - as in scikit-learn
    y: Any = None,
    *,
    ledger: Ledger,
    analyst: str,
    budget: str,
    units: Any = None,
    label: str = "",
    keep: Callable[[Event], Mapping[str, Any]] = lambda event: {},  # noqa: ARG005
    holdout: float = 0,
    gate: Gate | None = None,
    go_on: str = "",
    audit: int = 0,
) -> FittedModel:
    """Reserve, fit, `keep` what was fitted, write down what that says, and attack it, in this order."""
    purse = Purse(ledger, budget, analyst)
    plan = plan_model(model, X, y, purse=purse, units=units, label=label, keep=keep, holdout=holdout)
    if audit:
        from ziggurat.release.models._audited import audit_plan

        plan = audit_plan(plan, audit, purse)
    made = purse.release(plan, gate=gate, go_on=go_on)
    if made.entry is None:
        raise PrivacyError("No ledger holds this model.")
    return FittedModel(model, plan.event, made.entry, made)


def plan_model(
    model: PrivateModel,
    X: Any,  # noqa: N803 - as in scikit-learn
    y: Any = None,
    *,
    purse: Purse,
    units: Any = None,
    label: str = "",
    keep: Callable[[Event], Mapping[str, Any]] = lambda event: {},  # noqa: ARG005
    holdout: float = 0,
) -> ModelPlan:
    """Plan a fit for the budget of a purse, and refuse whatever would fail only once it was paid for.

    With a `holdout` that share of the rows is kept back, and the model attacked with them as the control.
    """
    _require_private(model)
    _require_no_unpaid_fits(model)
    table = _require_features(X)
    if y is not None:
        _require_targets(y, len(table))
    if check_share(holdout):
        require_attackable(model, y)
    planned, whom = _plan_part(model, len(table), table.shape[1], label, purse, holdout)
    event = _restate(model, planned, whom, one_row_each=_one_row_each(units, len(table)))
    if not holdout:
        return ModelPlan(model, X, y, event, planned, label, keep)
    from ziggurat.release._promised import holdout_source

    part = keep_back(table, y, holdout, event.neighbours.relation, holdout_source(model))
    return ModelPlan(model, *part[:2], event, planned, label, keep, part[2])


def _plan_part(
    model: PrivateModel, rows: int, columns: int, label: str, purse: Purse, holdout: float
) -> tuple[Event, Neighbours]:
    """What fitting all rows that are not kept back does, and whom the budget protects."""
    planned = _about_labels(model.planned(rows, columns), label)
    whom = purse.protects(planned.neighbours)
    fitted = count_fitted(rows, holdout, whom.relation)
    return planned if fitted == rows else _about_labels(model.planned(fitted, columns), label), whom


def require_same_unit(known: Unit, protected: Unit) -> None:
    """Refuse a budget of another unit than the table has: one row for each of these says nothing of those."""
    if protected.name != "label" and not protected.is_row and protected.column != known.column:
        raise MixedNeighboursError(
            f"The budget protects {protected}, but the schema of the table says {known}; name the same column in both."
        )


def _require_features(features: Any) -> Any:
    try:
        table = np.asarray(features, dtype=np.float64)
    except (ValueError, TypeError):
        table = np.empty(0)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise DataError("The features must be a table of finite numbers, a row for each record.")
    return table


def _require_private(model: object) -> None:
    from ziggurat.learn import PrivateModel

    if not isinstance(model, PrivateModel):
        raise ParameterError(
            "Give a model of ziggurat.learn itself: a pipeline or another estimator learns things that nobody pays for."
        )


def _require_no_unpaid_fits(model: PrivateModel) -> None:
    """A payment is for one fit: it does not cover earlier ones of the model or its copies that nobody paid for."""
    family = model.kin
    earlier = family.fits - family.paid
    if earlier > 0 or family.left or family.unpaid:
        raise ParameterError(
            f"This model or a copy of it was fitted before without a payment ({earlier} fits are known here, and "
            f"{family.left} copies left for other processes), which one payment does not cover; pay for model.fresh() "
            "if those fits never leave, or saw other people's rows."
        )


def _require_targets(y: Any, rows: int) -> None:
    targets = np.asarray(y)
    if targets.shape[:1] != (rows,):
        raise DataError("There are not as many targets as rows of features; give one for each.")
    if targets.dtype.kind == "f" and not np.isfinite(targets).all():
        raise DataError("Some targets are missing or infinite; fill them in, or leave their rows out.")


def _require_as_planned(model: PrivateModel, planned: Event, label: str) -> None:
    """A model that did something else than it said would have been paid for wrongly."""
    if _about_labels(model.event_, label) != planned:
        raise PrivacyError("The model did something else than was paid for; do not release it. The cost stays spent.")


def _about_labels(event: Event, label: str) -> Event:
    """The same event with the label under the name of its column; models call it y."""
    whom = event.neighbours
    if not label or whom.unit.name != "label":
        return event
    return rename_unit(event, Unit.of(label, "label"))


def _one_row_each(units: Any, rows: int) -> bool:
    if units is None:
        return False
    names = np.asarray(units)
    if names.shape != (rows,):
        raise DataError("Give the unit of every row.")
    if np.unique(names.astype(str)).size != rows:
        raise DataError(
            "Some units have several rows; these models protect rows, so give one row for each unit: "
            "'ziggurat table reshape' makes them (ziggurat.data.people.reshape_people)."
        )
    return True


def _restate(model: PrivateModel, event: Event, budgeted: Neighbours, *, one_row_each: bool) -> Event:
    """The same event about the budget's unit, if each has one row: a neighbour by unit is then a neighbour by row."""
    if event.neighbours == budgeted:
        return event
    if not event.neighbours.unit.is_row:
        raise _unpaid(model, event.neighbours, budgeted)
    if event.neighbours.relation != budgeted.relation:
        event = _by_replacing(model, event, budgeted)
    if budgeted.unit.is_row:
        return event
    if not one_row_each:
        raise ParameterError(f"The budget protects {budgeted}; say which {budgeted.unit.name} each row is about.")
    return rename_unit(event, budgeted.unit)


def _by_replacing(model: PrivateModel, event: Event, budgeted: Neighbours) -> Event:
    """What follows under replace-one of a promise under add-or-remove-one."""
    if budgeted.relation is not Relation.REPLACE_ONE:
        raise _unpaid(model, event.neighbours, budgeted)
    try:
        return as_replace_one(event)
    except PrivacyError:
        raise _unpaid(model, event.neighbours, budgeted) from None


def _unpaid(model: PrivateModel, promised: Neighbours, budgeted: Neighbours) -> MixedNeighboursError:
    """Say what would pay for a model; the relation is advised only if the model can be planned with it."""
    wanted, unit = budgeted.relation.value, promised.unit
    if unit.is_row and _can_promise(model, wanted):
        way = f"give the model relation={wanted!r}"
    elif unit.is_row:
        way = f"it needs a budget with --relation {promised.relation.value}"
    else:
        way = f"it needs a budget with --unit {unit.name}={unit.column} --relation {promised.relation.value}"
    return MixedNeighboursError(
        f"The budget protects {budgeted}, but this {type(model).__name__} promises about {promised}; {way}."
    )


def _can_promise(model: PrivateModel, relation: str) -> bool:
    from sklearn.base import clone

    named = [name for name in ("relation", "model__relation") if name in model.get_params()]
    try:
        return bool(named) and bool(clone(model).set_params(**{named[0]: relation}).planned(1, 1))
    except MixedNeighboursError:
        return False
    except ZigguratError:  # something else is missing, such as expected_rows, and will be named then
        return True


def in_words(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Parameters are public; what is not plain is told by its text, for people."""
    return {name: json.dumps(value) if _is_plain(value) else str(value) for name, value in parameters.items()}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)
