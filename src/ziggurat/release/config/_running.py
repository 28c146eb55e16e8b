"""Price, measure or run the release that a file describes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cards import Shown
from ziggurat.errors import DataError, GateError, ParameterError
from ziggurat.ledger import Ledger, load_private_key
from ziggurat.randomness import seeded
from ziggurat.release._gate import DEFAULTS, Gate
from ziggurat.release._purse import Purse
from ziggurat.release.bundle import HeldBundle, release_key, require_new
from ziggurat.release.config._kinds import PlanDesk, is_open, make_plan, table_name
from ziggurat.release.config._reading import read_config
from ziggurat.release.config._taking_up import DurableRun
from ziggurat.release.durable import ReleaseJournal, ReleaseSteps
from ziggurat.wording import nearest

if TYPE_CHECKING:
    from ziggurat.ledger import PrivateKey
    from ziggurat.release._plan import Plan, Progress
    from ziggurat.release._quotation import Quotation
    from ziggurat.release._release import Release
    from ziggurat.release.config._models import ReleaseConfig

_FILES = ("public/ (what leaves, certificate, page, signed manifest)", "steward/ (evidence, verdict, page)")
_HIDDEN = ("ledger", "rehearse", "bundle")
"""What a certificate does not repeat of the file: where things lie on the steward's machine, and a rehearsal's seed."""


@dataclass(frozen=True)
class Outlook(Shown):
    """What a release would be, before it is one.

    Attributes
    ----------
    kind, text
        What would leave.
    quotation
        Of a kind with a guarantee: its price and expected error, from public facts; no row was read.
    measured
        Of a kind without one: what would leave, attacked and judged for the steward; nothing was written down.
    bundle, files
        What a run would write.
    reads, judged_by
        What it would read, and which attacks would be tried on it.
    audit
        By how many fits on each of two invented neighbours its promise would be audited first.
    sentences
        All this in words.
    """

    kind: str
    text: str
    quotation: Quotation | None
    measured: Release[Any] | None
    bundle: Path
    files: tuple[str, ...]
    reads: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()
    audit: int = 0

    @property
    def fits(self) -> bool:
        """Whether a run would be paid for, or let go by the gate."""
        if self.quotation is not None:
            return self.quotation.fits
        return self.measured is None or not self.measured.verdict.stopped

    @property
    def sentences(self) -> list[str]:
        """What it would be, what it would cost or tell, and what would be written."""
        said = [self.text] if self.quotation is None else [str(self.quotation), "No row was read."]
        if self.measured is not None:
            said += [*self.measured.evidence.sentences, self.measured.verdict.sentence]
            said.append("This was measured for the steward's eyes: nothing has left, and nothing was written down.")
        if self.audit:
            said.append(f"A run first audits the promise by {self.audit:,} fits on each of two invented tables.")
        if self.quotation is not None:
            attacked = f"; then it is attacked by {', '.join(self.judged_by)}" if self.judged_by else ""
            said.append(f"A run reads {', '.join(self.reads)}{attacked}.")
        return [*said, f"A run writes {str(self.bundle)!r}, with {', '.join(self.files)}."]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        measured = self.measured
        return {
            "kind": self.kind,
            "what": self.text,
            "fits": self.fits,
            "quotation": None if self.quotation is None else self.quotation.to_dict(),
            "evidence": None if measured is None else measured.evidence.to_dict(),
            "verdict": None if measured is None else measured.verdict.to_dict(),
            "reads": list(self.reads),
            "judged_by": list(self.judged_by),
            "audit": self.audit,
            "bundle": str(self.bundle),
            "files": list(self.files),
        }


def describe_release(file: str | Path, *, group_size: int = 1_000) -> Outlook:
    """Say what the release of a file would be: priced from public facts, or measured where nothing is promised.

    Of a kind with a guarantee no row is read. A kind without one is made and attacked where nobody sees it; nothing is
    written down and nothing overwritten.
    """
    config = read_config(file)
    target, gate = bundle_of(config, file), _gate(config)
    with _desk(config, file, write=False) as desk:
        plan = make_plan(desk)
        _require_payer(plan, desk)
        if plan.event is not None:
            quoted = None if desk.purse.ledger is None else desk.purse.quote(plan, group_size=group_size)
            first = getattr(plan, "audit", 0)
            return Outlook(plan.kind, plan.text, quoted, None, target, _FILES, plan.reads, plan.judged_by, first)
        measured = desk.purse.measure(plan, gate=gate)
        return Outlook(plan.kind, plan.text, None, measured, target, _FILES, plan.reads, plan.judged_by)


def run_config(
    file: str | Path,
    *,
    key: PrivateKey | None = None,
    go_on: str = "",
    progress: Progress | None = None,
    told: Progress | None = None,
    journal: str | Path | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Release[Any] | HeldBundle, Path]:
    """Run the release of a file into its bundle; gives the release, and where the bundle is.

    With a journal it may be killed at any moment and run again with the same one, by any process that reaches the same
    files: nothing is paid twice, nothing that was paid for is lost, one output leaves, and a run of what is done gives
    its bundle again. What was made before the kill is given as a `HeldBundle`.

    Parameters
    ----------
    key
        Who signs; by default this user's release key.
    go_on
        Why it shall leave although the gate stops it. What a run before this one paid for, and the gate stopped, is
        taken up and not paid for again.
    progress
        Called with a few words before every step that may take long.
    told
        Called, before anything is written, with what will be, and with what is taken up.
    journal
        A folder of its own, for its owner alone, in which the run notes how far it is (see `ReleaseJournal`). It stays
        there when the run is done, until whoever named it clears it.
    cancelled
        Asked between the steps whether to stop; without a journal only before anything is reserved.

    Raises
    ------
    ReleaseStoppedError
        `cancelled` said so; the message says what stays spent.
    """
    config = read_config(file)
    target, held = bundle_of(config, file), held_folder(bundle_of(config, file))
    if journal is None or not ReleaseJournal(journal).begun:
        require_new(target)
    gate, signer = _gate(config), _signer(config, key)
    steps = ReleaseSteps(progress, cancelled)
    if journal is None and held.exists():
        return _take_up(HeldBundle.open(held), config, file, target, go_on, signer), target
    with _desk(config, file, write=True) as desk:
        if journal is None:
            plan = _ready_plan(desk, target, steps, told)
            return _run_once(plan, desk, gate, go_on, steps, (target, held), file, signer)
        run = DurableRun(
            ReleaseJournal(journal), steps, _digest(config), public_config(config, file), target, held, gate, go_on,
            config.looked, signer, told,
        )  # fmt: skip
        return run.run(desk.purse, lambda: _ready_plan(desk, target, steps, told))


def _ready_plan(desk: PlanDesk, target: Path, steps: ReleaseSteps, told: Progress | None) -> Plan[Any]:
    """Make the plan of a file, say what will be written, and refuse what can be refused before it is paid for."""
    steps.take("planning")
    plan = make_plan(desk)
    if told is not None:
        told(_will_write(plan, desk.purse, target))
    _require_payer(plan, desk)
    audited = _audit_first(plan, steps.progress)
    steps.take("releasing it")
    return audited


def _run_once(
    plan: Plan[Any], desk: PlanDesk, gate: Gate, go_on: str, steps: ReleaseSteps, places: tuple[Path, Path],
    file: str | Path, signer: PrivateKey | None,
) -> tuple[Release[Any], Path]:  # fmt: skip
    """Release a plan into its bundle without a journal: whoever is killed in between has spent what was reserved."""
    target, held = places
    try:
        made = desk.purse.release(plan, gate=gate, go_on=go_on, progress=steps.progress)
    except GateError as error:
        kept = _hold(error.held, desk.config, held)
        raise GateError(f"{error} {kept}") from None
    made = replace(made, config=public_config(desk.config, file), looked=desk.config.looked)
    return made, _write_bundle(made, desk.config, target, signer)


def _audit_first(plan: Plan[Any], progress: Progress | None) -> Plan[Any]:
    """Audit the promise of a model on invented rows, where the file says so; a false one stops before it is paid."""
    from ziggurat.release.models import TableModelPlan

    return plan.audited_first(progress) if isinstance(plan, TableModelPlan) else plan


def bundle_of(config: ReleaseConfig, file: str | Path) -> Path:
    """Where the bundle of a file is written."""
    path = Path(file)
    return path.parent / (config.bundle or f"{path.stem}.bundle")


def journal_of(file: str | Path) -> Path:
    """Where `ziggurat release run` notes how far the run of a file is: beside its bundle."""
    bundle = bundle_of(read_config(file), file)
    return bundle.with_name(f"{bundle.name}.journal")


def held_folder(bundle: Path) -> Path:
    """Where a release waits that the gate stopped, or that could not be written."""
    return bundle.with_name(f"{bundle.name}.held")


def public_config(config: ReleaseConfig, file: str | Path) -> dict[str, Any]:
    """What a certificate repeats of a file, and the hash of the whole."""
    said = config.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=set(_HIDDEN))
    said["table"] = Path(config.table).name
    return {**said, "sha256": hashlib.sha256(Path(file).read_bytes()).hexdigest()}


def _gate(config: ReleaseConfig) -> Gate:
    """The gate of a file; a threshold for what is no attack is refused before anything is paid."""
    known = (*DEFAULTS, "linkage", "untouched columns", "singling out")
    for name in config.gate.thresholds:
        if not name.startswith(known):
            raise ParameterError(f"There is no attack {name!r} to have a threshold; {nearest(name, known)}")
    return Gate(config.gate.level, {name: _amount(each) for name, each in config.gate.thresholds.items()})


def _amount(value: float | None) -> str | None:
    return None if value is None else str(value)


@contextmanager
def _desk(config: ReleaseConfig, file: str | Path, *, write: bool) -> Iterator[PlanDesk]:
    """Open the ledger and a private folder for drafts; both are closed afterwards."""
    base = Path(file).absolute().parent
    source = None if config.rehearse is None else seeded(config.rehearse)
    population = config.population or config.name or table_name(config)
    with _book(config, base, write) as book, tempfile.TemporaryDirectory(prefix="ziggurat-draft-") as place:
        yield PlanDesk(config, base, Purse(book, population, config.analyst, source), Path(place))


@contextmanager
def _book(config: ReleaseConfig, base: Path, write: bool) -> Iterator[Ledger | None]:
    """The ledger that pays or remembers; none for a rehearsal on open data."""
    if _is_unpaid(config, base) or not (write or config.analyst):
        yield None  # a dry run of what nothing bounds records nothing
        return
    where = _place(config, base)
    with Ledger.open(where, create=write and not config.analyst, read_only=not write) as book:
        yield book


def _place(config: ReleaseConfig, base: Path) -> str | Path:
    """The ledger that the file names, from its own folder; else the one that all commands use."""
    from platformdirs import user_data_path

    if config.ledger:
        return config.ledger if "://" in config.ledger else base / config.ledger
    default = user_data_path("ziggurat", appauthor=False) / "ledger.db"
    named = os.environ.get("ZIGGURAT_LEDGER")
    if not named:
        default.parent.mkdir(parents=True, exist_ok=True)
    return named or default


def _require_payer(plan: Plan[Any], desk: PlanDesk) -> None:
    if plan.event is not None and not desk.purse.analyst and not _is_unpaid(desk.config, desk.base):
        raise ParameterError("A release with a guarantee is paid for; say who pays with 'analyst'.")


def _is_unpaid(config: ReleaseConfig, base: Path) -> bool:
    """Whether it is a rehearsal on open data, for which nobody pays."""
    return config.rehearse is not None and not config.ledger and not config.analyst and is_open(config, base)


def _will_write(plan: Plan[Any], purse: Purse, target: Path) -> str:
    if purse.ledger is None:
        entry = "no entry in a ledger"
    elif plan.event is None:
        entry = f"an entry in the ledger that says for ever that {purse.population!r} left without a guarantee"
    else:
        entry = f"a reservation and an answer in the ledger, paid by {purse.analyst!r} out of {purse.population!r}"
    return f"This will write {str(target)!r}, with {', '.join(_FILES)}; and {entry}."


def _signer(config: ReleaseConfig, key: PrivateKey | None) -> PrivateKey | None:
    """The key that signs, found and read before anything is paid for; a rehearsal is never signed."""
    if config.rehearse is not None:
        return None
    return load_private_key(release_key(create=True).file if key is None else key)


def _write_bundle(made: Release[Any], config: ReleaseConfig, target: Path, signer: PrivateKey | None) -> Path:
    """Write the bundle; if that fails, keep what was paid for, so that the next run can."""
    try:
        return made.bundle(target, signer)
    except DataError as error:
        if made.event is None or made.plan.identity() is not None:
            raise
        HeldBundle.keep(made, held_folder(target), config=_digest(config))
        raise DataError(
            f"{error} What was paid for is kept in {str(held_folder(target))!r}: mend that and run again, which costs "
            "nothing."
        ) from None


def _hold(held: Any, config: ReleaseConfig, place: Path) -> str:
    """Keep what was paid for until the steward decides; what nothing bounds is made anew for nothing."""
    if held.event is None:
        return ""
    HeldBundle.keep(replace(held, looked=config.looked), place, config=_digest(config))
    return f"It was paid for and is kept in {str(place)!r}: run again with a reason (--go-on), or delete that folder."


def _take_up(
    held: HeldBundle, config: ReleaseConfig, file: str | Path, target: Path, go_on: str, key: PrivateKey | None
) -> HeldBundle:
    if held.verdict.stopped and not go_on.strip():
        raise GateError(f"{held.verdict.sentence} It waits in {str(held.folder)!r}: give a reason to go on, or delete "
                        "that folder.")  # fmt: skip
    if held.config != _digest(config):
        raise DataError(f"What waits in {str(held.folder)!r} was made by other words than the file has now; delete it.")
    with _desk(config, file, write=True) as desk:
        held.let_go(desk.purse, go_on, target, public_config(config, file), key)
    shutil.rmtree(held.folder)
    return held


def _digest(config: ReleaseConfig) -> str:
    said = json.dumps(config.model_dump(mode="json", by_alias=True), sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()
