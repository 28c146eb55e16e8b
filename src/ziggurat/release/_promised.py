"""What releases of drawn files with a guarantee share: tables and sequences are paid for, made and let go alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ziggurat.data import Table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import MixedNeighboursError, PrivacyError
from ziggurat.privacy import Event, Guarantee
from ziggurat.queries.answering import QuotedPart
from ziggurat.randomness import Source, choose_source
from ziggurat.release._certificate import NO_PROMISE
from ziggurat.release._cited import Cited
from ziggurat.release._drafts import (
    File,
    certificate_of,
    check_target,
    copy_files,
    digest_of,
    let_go,
    private_folder,
    require_as_attacked,
)
from ziggurat.release._evidence import Evidence
from ziggurat.release._plan import Plan, ShownPlan, promise_at
from ziggurat.release._purse import Purse, require_ready, run_paid
from ziggurat.release.models import DEPENDS, in_words

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.release._gate import Gate
    from ziggurat.release._release import Release

NOT_COVERED = (
    "What attacks measured is exact and not covered by the guarantee, nor is how many people were kept back: this "
    "certificate is for the steward. The guarantee itself may be published."
)
_REHEARSAL = "This is a rehearsal: whoever knows the seed can take the noise off, so nobody is protected."
_A_DAY = 86_400.0


@dataclass(frozen=True)
class PromisedFiles:
    """Files that carry a guarantee and have left, what was paid for them, and what attackers make of them.

    Promise: whatever the files tell, and whatever else is drawn from `model`, keep `guarantee`, which was paid for
    before a row was read.

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
    release: Release[Any] = field(repr=False, compare=False)

    @property
    @abstractmethod
    def made(self) -> str:
        """What left, and by which model, without a full stop."""

    @property
    def entry(self) -> Cited:
        """Where it is written what was paid for."""
        if self.release.entry is None:
            raise PrivacyError("No ledger holds this release.")
        return self.release.entry

    @property
    def attacked(self) -> Evidence:
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
        if self.refuted:
            return f"{self.made}. {NO_PROMISE}"
        said = f"{self.made}: {self.guarantee}."
        return f"{said} {_REHEARSAL}" if self.rehearsal else f"{said} {_in_words(self.guarantee)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate, for the steward, as values that JSON can hold; no cell is in it."""
        said = {"sentence": self.sentence, "not_covered": NOT_COVERED, "note": self.note}
        return self.release.for_steward(self.files, **said)


@dataclass(frozen=True)
class PromisedDraft:
    """Files that were paid for and have not left, how many were kept back, and how the files are attacked."""

    files: tuple[File, ...]
    drafts: Sequence[Path]
    kept_back: int | None

    @abstractmethod
    def find(self) -> Evidence:
        """Attack the files as they were read back."""

    def attack(self) -> Evidence:
        """Attack the files; PrivacyError if one changed meanwhile."""
        found = self.find()
        require_as_attacked(self.drafts, self.files)
        return found if found == Evidence() else replace(found, facts={**found.facts, "kept_back": self.kept_back})


Draft = TypeVar("Draft", bound=PromisedDraft)
Left = TypeVar("Left", bound=PromisedFiles)


class PromisedPlan(ShownPlan, Plan[Draft]):
    """Drawn files with a guarantee, before a row is read.

    It has no identity: a second release pays again, because its noise is new.

    Attributes
    ----------
    task
        What is done between the reservation and its answer, with a `maker`, `table`, `holdout` and `folder` of drafts.
    target, note
        The file that leaves, and what the steward says of it.
    drawn
        What is drawn, in a word.
    """

    task: Any
    target: Path
    note: str
    drawn: str
    lifetime = _A_DAY
    paid_by_promise = True

    if TYPE_CHECKING:

        @property
        def event(self) -> Event: ...

    def parts(self, group_size: int = 0) -> tuple[QuotedPart, ...]:  # noqa: ARG002
        """What is learned; how far off what is drawn will be depends on the table."""
        return (QuotedPart(self.drawn, type(self.task.maker).__name__, self.guarantee().epsilon, None, note=DEPENDS),)

    def guarantee(self) -> Any:
        """The model's own, at its own delta."""
        return promise_at(self.event, self.task.maker.delta)

    @property
    def rehearsal(self) -> bool:
        """Whether the model's randomness is seeded."""
        return self.task.maker.random_state is not None

    def ready(self) -> None:
        """See that the tables can be read."""
        require_ready(each for each in (self.task.table, self.task.holdout) if isinstance(each, Table))

    def to_ledger(self, output: Draft) -> dict[str, Any]:
        """The model, and the hash of the files; they themselves are not kept."""
        made = {"kind": self.kind, "class": type(self.task.maker).__name__, "parameters": words_of(self.task.maker)}
        return made | {"digest": digest_of(output.files), "files": len(output.files)}

    def describe(self, output: Draft) -> str:
        """What was made, and the hash of the files."""
        return f"{self.text}, SHA-256 {digest_of(output.files)}"

    def judge(self, output: Draft, progress: object) -> Evidence:  # noqa: ARG002
        """Attack the files, as they were read back."""
        return output.attack()

    def artefacts(self, output: Draft, folder: Path) -> list[Path]:
        """The files."""
        return copy_files(output.files, (self.target.parent, self.task.folder), folder)

    def details(self, output: Draft) -> dict[str, Any]:
        """Which model with which parameters, and the columns and rows of the files."""
        maker = self.task.maker
        made = {"method": type(maker).__name__, "parameters": words_of(maker), "columns": list(self.columns)}
        return {**made, "files": [file.to_dict() for file in output.files]}

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns of the files."""

    def gather(self, kind: type[Left], release: Release[Draft]) -> Left:
        """What has left, for the steward."""
        return kind(
            paths=tuple(self.target.with_name(file.name) for file in release.output.files),
            certificate=certificate_of(self.target),
            files=release.output.files,
            model=self.task.maker,
            event=self.event,
            note=self.note,
            release=release,
        )


def release_promised(
    path: str | Path,
    plan: Callable[[Path, Purse, DuckDBEngine, Path], PromisedPlan[Any]],
    kind: type[Left],
    *,
    ledger: Ledger,
    budget: str,
    analyst: str,
    note: str,
    gate: Gate | None,
    go_on: str,
) -> Left:
    """Pay for what is planned, make it out of sight, and let it go."""
    target = check_target(path, ledger, budget, note)
    purse = Purse(ledger, budget, analyst)
    with DuckDBEngine() as engine, private_folder(target) as place:
        planned = plan(target, purse, engine, Path(place))
        made = planned.gather(kind, purse.release(planned, gate=gate, go_on=go_on))
        run_paid(lambda: let_go(Path(place), made.files, made.certificate, made.to_dict()))
    return made


def require_payer(event: Event, purse: Purse) -> Event:
    """Return the event if the purse's budget protects those it is about; MixedNeighboursError says what to change."""
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


def require_as_planned(maker: Any, planned: Event) -> None:
    """Raise PrivacyError if a fitted model did something else than was paid for."""
    if maker.event_ != planned:
        raise PrivacyError("The model did something else than was paid for; nothing was released.")


def holdout_source(maker: Any) -> Source:
    """The randomness of the coins that decide who is kept back."""
    return choose_source(maker.random_state).child("holdout")


def words_of(model: Any) -> dict[str, str]:
    """The parameters in words, but for the seed of a rehearsal and where checkpoints lie on the steward's machine."""
    told = model.get_params(deep=False).items()
    return in_words({name: value for name, value in told if name not in ("random_state", "checkpoint")})


def _in_words(guarantee: Any) -> str:
    return str(guarantee.sentence()) if hasattr(guarantee, "sentence") else str(guarantee)
