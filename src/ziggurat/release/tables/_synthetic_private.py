"""Release synthetic tables with a guarantee: paid for before a row is read, attacked all the same, let go last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sklearn.base import clone

from ziggurat.data import Schema, Table, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import MixedNeighboursError, ParameterError, PrivacyError
from ziggurat.privacy import Event, Guarantee, whole_number
from ziggurat.queries.answering import QuotedPart
from ziggurat.randomness import secure, seeded
from ziggurat.release._certificate import NO_PROMISE
from ziggurat.release._cited import Cited
from ziggurat.release._evidence import Evidence
from ziggurat.release._plan import Plan, promise_at
from ziggurat.release._purse import Purse, require_ready, run_paid
from ziggurat.release.models import DEPENDS, in_words
from ziggurat.release.tables._anonymized import check_target, private_folder
from ziggurat.release.tables._attacking import Attackers, Claim, attack_fully, attackers_of, plan_attacks
from ziggurat.release.tables._synthetic import Progress, require_copies, say_nothing
from ziggurat.release.tables._synthetic_files import (
    File,
    certificate_of,
    copy_files,
    describe_files,
    digest_of,
    let_go,
    read_back,
    require_as_attacked,
)
from ziggurat.release.tables._synthetic_parts import TableSplit, check_share, schema_of_copies, toss_parts
from ziggurat.synthesize import write_copies
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.release._gate import Gate
    from ziggurat.release._release import Release
    from ziggurat.synthesize.marginals import PrivateSynthesis

KIND = "synthetic table"
NOT_COVERED = (
    "What attacks measured is exact and not covered by the guarantee, nor is how many people were kept back: this "
    "certificate is for the steward. The guarantee itself may be published."
)
_REHEARSAL = "This is a rehearsal: whoever knows the seed can take the noise off, so nobody is protected."
_A_DAY = 86_400.0


@dataclass(frozen=True)
class PrivateSyntheticRelease:
    """Synthetic copies that carry a guarantee and have left, what was paid for them, and what attackers make of them.

    Promise: whatever the files tell, and any other rows drawn from `model`, keep `guarantee`, which was paid for before
    a row was read.

    Attributes
    ----------
    paths, certificate
        The files, and the certificate beside them, which is for its owner: what attacks measured is not protected.
    files
        Name, hash and rows of each file.
    model
        The model that was fitted; as safe to publish as the files.
    event
        What was paid for.
    note
        What the steward says of it.
    release
        The release, from which a bundle is made.
    """

    paths: tuple[Path, ...]
    certificate: Path
    files: tuple[File, ...]
    model: Any = field(repr=False)
    event: Event = field(repr=False)
    note: str
    release: Release[PrivateDraft] = field(repr=False, compare=False)

    @property
    def entry(self) -> Cited:
        """Where it is written what was paid for."""
        if self.release.entry is None:
            raise PrivacyError("No ledger holds this release.")
        return self.release.entry

    @property
    def attack(self) -> Evidence:
        """What attacks on the files found: evidence, not the promise."""
        return self.release.evidence

    @property
    def guarantee(self) -> Guarantee:
        """The promise of all that left."""
        promised: Guarantee = self.model.guarantee_
        return promised

    @property
    def rehearsal(self) -> bool:
        """Whether seeded randomness was used, so that the files must not be published."""
        return bool(self.model.rehearsal_)

    @property
    def refuted(self) -> bool:
        """Whether an attack refuted the promise, so that it left, if it did, without one."""
        return self.release.event is None

    @property
    def sentence(self) -> str:
        """What was made, and what is promised."""
        copies = count_noun(len(self.files), "copy")
        if self.refuted:
            return f"{copies} of {self.files[0].rows:,} rows by {type(self.model).__name__}. {NO_PROMISE}"
        made = f"{copies} of {self.files[0].rows:,} rows by {type(self.model).__name__}: {self.guarantee}."
        return f"{made} {_REHEARSAL}" if self.rehearsal else f"{made} {_in_words(self.guarantee)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate, for the steward, as values that JSON can hold; no cell is in it."""
        said = {"sentence": self.sentence, "not_covered": NOT_COVERED, "note": self.note}
        return self.release.for_steward(self.files, **said)


def release_synthetic_private(
    table: object,
    path: str | Path,
    model: PrivateSynthesis,
    *,
    ledger: Ledger,
    budget: str,
    analyst: str,
    copies: int = 1,
    rows: int | None = None,
    holdout: object = 0.1,
    known: Sequence[str] | None = None,
    secret: str | Sequence[str] | None = None,
    note: str = "",
    progress: Progress | None = None,
    gate: Gate | None = None,
    go_on: str = "",
) -> PrivateSyntheticRelease:
    """Pay for a private model of a table, fit it, draw copies, attack their files, and let them go.

    Promise: what fitting costs follows from the model's parameters and the public schema, and is on disk before the
    model sees a row; the files, and whatever else is drawn from the model, keep it for the unit of the budget. The
    ledger holds the hash of the files before they get their names: whatever goes wrong in between leaves the cost
    spent, and no file. A second call pays again: its noise is new.

    Parameters
    ----------
    table
        A table with a schema of public categories and bounds, or anything that `ziggurat.data.read` opens.
    path
        As for `release_synthetic`.
    model
        `AIM` or `MST`; it is not changed, the release has the one that was fitted.
    ledger, budget, analyst
        Who pays, and out of what. The budget protects the unit of the schema, under the model's relation.
    copies, rows
        How many copies, of how many rows; by default one, with as many rows as were learned from, by the noisy counts.
        More cost nothing.
    holdout
        The share of people who are kept back, each by a coin, so that attacks have a control; or a table of others.
    known, secret, note, progress, gate, go_on
        As for `release_synthetic`.

    Raises
    ------
    NotPublicError
        A column has no public domain, and nobody pays for it; nothing was read or spent.
    MixedNeighboursError
        The budget protects another unit, or under another relation; nothing was read or spent.
    BudgetExceededError
        It costs more than is left; nothing was read or spent.
    """
    target = check_target(path, ledger, budget, note)
    purse = Purse(ledger, budget, analyst)
    asked: dict[str, Any] = {"copies": copies, "rows": rows, "holdout": holdout, "known": known, "secret": secret}
    with DuckDBEngine() as engine, private_folder(target) as place:
        asked |= {"progress": progress, "note": note, "engine": engine, "place": Path(place)}
        plan = plan_synthetic_private(table, target, model, purse=purse, **asked)
        release = purse.release(plan, gate=gate, go_on=go_on)
        made = plan.conclude(release)
        run_paid(lambda: let_go(Path(place), made.files, made.certificate, made.to_dict()))
    return made


def plan_synthetic_private(
    table: object,
    target: Path,
    model: PrivateSynthesis,
    *,
    purse: Purse,
    place: Path,
    engine: DuckDBEngine,
    copies: int = 1,
    rows: int | None = None,
    holdout: object = 0.1,
    known: Sequence[str] | None = None,
    secret: str | Sequence[str] | None = None,
    progress: Progress | None = None,
    note: str = "",
) -> PrivateSyntheticPlan:
    """Plan synthetic copies with a guarantee, whose drafts are made in `place`; no row is read."""
    require_copies(target, copies)
    held = table if isinstance(table, Table) else read(table)
    maker = _clone(model)
    planned = _plan_event(maker, held.schema, purse)
    names = maker.plan_terms(held.schema).names
    who = attackers_of(held.schema, names, known, secret)
    _require_possible(maker, names, holdout, rows)
    task = _PrivateDrafting(maker, held, names, who, holdout, rows, copies, engine, place, progress or say_nothing)
    return PrivateSyntheticPlan(task, target, planned, note)


@dataclass(frozen=True, eq=False)
class PrivateSyntheticPlan(Plan["PrivateDraft"]):
    """Synthetic copies with a guarantee, before a row is read.

    It has no identity: a second release pays again, because its noise is new.
    """

    task: _PrivateDrafting
    target: Path
    event: Event
    note: str = ""
    kind = KIND
    lifetime = _A_DAY
    paid_by_promise = True

    @property
    def text(self) -> str:
        """How many copies, by which model."""
        return f"Synthetic table: {count_noun(self.task.copies, 'copy')} by {type(self.task.maker).__name__}"

    def parts(self, group_size: int = 0) -> tuple[QuotedPart, ...]:  # noqa: ARG002
        """What is learned; how far off the counts of the copies will be depends on the table."""
        name = type(self.task.maker).__name__
        return (QuotedPart("copies", name, promise_at(self.event, self.task.maker.delta).epsilon, None, note=DEPENDS),)

    def guarantee(self) -> Guarantee:
        """The model's own, at its own delta."""
        return promise_at(self.event, self.task.maker.delta)

    @property
    def rehearsal(self) -> bool:
        """Whether the model's randomness is seeded."""
        return self.task.maker.random_state is not None

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are learned."""
        return tuple(self.task.names)

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Attacks with people who are kept back, or without where there are none."""
        return plan_attacks(self.task.who, self.reads, control=bool(self.task.holdout))

    def ready(self) -> None:
        """See that the tables can be read."""
        require_ready(each for each in (self.task.table, self.task.holdout) if isinstance(each, Table))

    def run(self, source: object, progress: object) -> PrivateDraft:  # noqa: ARG002
        """Fit, draw, write out of sight, and read back; the model draws from its own randomness."""
        return self.task.run(self.target.name, self.event)

    def to_ledger(self, output: PrivateDraft) -> dict[str, Any]:
        """The model, and the hash of the files; they themselves are not kept."""
        made = {"kind": KIND, "class": type(self.task.maker).__name__, "parameters": _parameters(self.task.maker)}
        return made | {"digest": digest_of(output.files), "files": len(output.files)}

    def describe(self, output: PrivateDraft) -> str:
        """What was made, and the hash of the files."""
        return f"{self.text}, SHA-256 {digest_of(output.files)}"

    def judge(self, output: PrivateDraft, progress: object) -> Evidence:  # noqa: ARG002
        """Attack the files, as they were read back."""
        return output.attack()

    def artefacts(self, output: PrivateDraft, folder: Path) -> list[Path]:
        """The copies."""
        return copy_files(output.files, (self.target.parent, self.task.folder), folder)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """That the schema is public."""
        return ("The names, bounds and categories of the columns are public, and so are the model and its parameters.",)

    def details(self, output: PrivateDraft) -> dict[str, Any]:
        """Which model with which parameters, and the columns and rows of the copies."""
        maker = self.task.maker
        columns = [axis.name for axis in maker.axes_]
        made = {"method": type(maker).__name__, "parameters": _parameters(maker), "columns": columns}
        return {**made, "files": [file.to_dict() for file in output.files]}

    def conclude(self, release: Release[PrivateDraft]) -> PrivateSyntheticRelease:
        """What has left, for the steward."""
        files = release.output.files
        return PrivateSyntheticRelease(
            paths=tuple(self.target.with_name(file.name) for file in files),
            certificate=certificate_of(self.target),
            files=files,
            model=self.task.maker,
            event=self.event,
            note=self.note,
            release=release,
        )


def _require_possible(maker: Any, names: Sequence[str], holdout: object, rows: int | None) -> None:
    """Refuse what would fail only once it was paid for."""
    maker.require_solver()
    if rows is not None:
        whole_number(rows, "rows")
    if isinstance(holdout, Table):
        holdout.schema.select(names)
    else:
        check_share(holdout)


@dataclass(frozen=True)
class _PrivateDrafting:
    """What is done between the reservation and its answer."""

    maker: Any
    table: Table
    names: Sequence[str]
    who: Attackers
    holdout: object
    rows: int | None
    copies: int
    engine: DuckDBEngine
    folder: Path
    told: Progress

    def run(self, name: str, planned: Event) -> PrivateDraft:
        """Fit, draw and write; say how many rows were kept back."""
        seed = self.maker.random_state
        source = (secure() if seed is None else seeded(seed)).child("holdout")
        learned, parts = toss_parts(self.table, self.names, self.holdout, source, self.engine)
        self.maker.fit(learned, progress=lambda text: self.told("learning", text, 0, 0))
        if self.maker.event_ != planned:
            raise PrivacyError("The model did something else than was paid for; nothing was released.")
        drafts = self._draw(self.folder / name)
        tables = read_back(drafts, schema_of_copies(self.table, self.names), self.table, self.engine)
        back = None if isinstance(self.holdout, Table) else _count(parts.control)
        return PrivateDraft(describe_files(drafts, tables), drafts, tables, parts, back, self)

    def _draw(self, draft: Path) -> tuple[Path, ...]:
        facts = {"kind": "fully", "promise": str(self.maker.guarantee_), "rehearsal": self.maker.rehearsal_}
        return write_copies(draft, self._pieces(), self.copies, facts, resume=False).paths

    def _pieces(self) -> Iterator[Iterator[pa.Table]]:
        seed = self.maker.random_state
        for number in range(self.copies):
            self.told("drawing", "copies", number, self.copies)
            yield iter([self.maker.sample(self.rows, random_state=None if seed is None else int(seed) + number)])

    def attack(self, tables: Sequence[Table], parts: TableSplit) -> Evidence:
        """Attack the files themselves, as they were read back."""
        schema = schema_of_copies(self.table, self.names)
        original = read(parts.learned.raw.rows(self.names), schema, engine=self.engine, on_bad_cell="missing")
        if _count(original) == 0:
            return Evidence()
        share = 0.0 if isinstance(self.holdout, Table) else check_share(self.holdout)
        claim = Claim(self.maker.guarantee_, share, parts.coins)
        seed = self.maker.random_state
        return attack_fully(original, list(tables), parts.control, self.who, seed, self.told, claim)


@dataclass(frozen=True)
class PrivateDraft:
    """Synthetic files that were paid for and have not left, and the rows that they are compared with."""

    files: tuple[File, ...]
    drafts: Sequence[Path]
    tables: Sequence[Table]
    parts: TableSplit
    kept_back: int | None
    task: _PrivateDrafting

    def attack(self) -> Evidence:
        """Attack the files; PrivacyError if one changed meanwhile."""
        found = self.task.attack(self.tables, self.parts)
        require_as_attacked(self.drafts, self.files)
        return found if found == Evidence() else replace(found, facts={"kept_back": self.kept_back})


def _clone(model: object) -> Any:
    from ziggurat.synthesize.marginals import PrivateSynthesis

    if not isinstance(model, PrivateSynthesis):
        raise ParameterError("Give AIM(...) or MST(...); other synthesisers carry no guarantee: use release_synthetic.")
    return clone(model)


def _plan_event(model: Any, schema: Schema, purse: Purse) -> Event:
    event: Event = model.planned(schema)
    whom = event.neighbours
    if purse.ledger is None:
        return event
    try:
        purse.ledger.paying(purse.population, whom, purse.analyst)
    except MixedNeighboursError:
        unit = "" if whom.unit.is_row else f" --unit {whom.unit.name}={whom.unit.column}"
        held = purse.ledger.budget(purse.population).neighbours
        raise MixedNeighboursError(
            f"The budget protects {held}, but by its schema and the model this table protects {whom}; create a budget "
            f"with{unit} --relation {whom.relation.value}, or change the schema's unit or the model's relation."
        ) from None
    return event


def _count(table: Table | None) -> int:
    return 0 if table is None else table.raw.count_rows()


def _parameters(model: Any) -> dict[str, str]:
    """The parameters in words; of a rehearsal no seed."""
    return in_words({name: value for name, value in model.get_params(deep=False).items() if name != "random_state"})


def _in_words(guarantee: Any) -> str:
    return str(guarantee.sentence()) if hasattr(guarantee, "sentence") else str(guarantee)
