"""Release synthetic copies of a table: attacked first, written down as unbounded, and only then let go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from ziggurat.attacks import Scenario
from ziggurat.cards import Shown
from ziggurat.data import Table, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.free_text import free_text_in, refuse_free_text
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.randomness import Source, secure, seeded
from ziggurat.release._cited import Cited
from ziggurat.release._drafts import (
    File,
    Told,
    certificate_of,
    check_share,
    check_target,
    copy_files,
    describe_files,
    digest_of,
    let_go,
    private_folder,
    require_as_attacked,
    say_nothing,
)
from ziggurat.release._evidence import Evidence
from ziggurat.release._plan import Plan, ShownPlan
from ziggurat.release._purse import Purse
from ziggurat.release.tables._attacking import (
    Attackers,
    attack_fully,
    attack_partially,
    attackers_of,
    plan_attacks,
)
from ziggurat.release.tables._synthetic_files import read_back
from ziggurat.release.tables._synthetic_parts import TableSplit, keep_source, parts_of, schema_of_copies
from ziggurat.synthesize import Synthesizer, name_paths
from ziggurat.synthesize.learners import describe_method as described_method
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.release._gate import Gate
    from ziggurat.release._release import Release

NOT_PROMISED = (
    "No privacy is promised: a model that follows the table closely repeats people in it, and what was measured bounds "
    "nothing about attackers who know more or try harder."
)
_REHEARSAL = "This is a rehearsal: it was drawn from a seed and may not be published."


@dataclass(frozen=True)
class SyntheticRelease(Shown):
    """Synthetic copies that have left, what attackers make of them, and where that is written down.

    Not promised: privacy. What was measured bounds nothing about attackers who know more or try harder.

    Attributes
    ----------
    paths, certificate
        The files, and the certificate beside them. The certificate holds exact figures about the raw table, so that
        only its owner may read it.
    files
        Name, hash and rows of each file.
    synthesizer
        What was learned; it holds values of the table.
    table_rows, kept_back
        How many rows the table has, and how many of them were kept back from learning; None if they were others'.
    left_out
        The columns of the table that are not in the files.
    note
        What the steward says of it.
    release
        The release, from which a bundle is made.
    """

    paths: tuple[Path, ...]
    certificate: Path
    files: tuple[File, ...]
    synthesizer: Synthesizer = field(repr=False)
    table_rows: int
    kept_back: int | None
    left_out: tuple[str, ...]
    note: str
    release: Release[SyntheticDraft] = field(repr=False, compare=False)

    @property
    def attacked(self) -> Evidence:
        """What attacks on the files found."""
        return self.release.evidence

    @property
    def recorded(self) -> Cited | None:
        """The entry of the ledger; None if there was no ledger."""
        return self.release.entry

    @property
    def rehearsal(self) -> bool:
        """Whether seeded randomness was used, so that the files must not be published."""
        return self.synthesizer.random_state is not None

    @property
    def sentence(self) -> str:
        """What was made, and what is not promised."""
        seeded = f" {_REHEARSAL}" if self.rehearsal else ""
        return f"{what_was_made(self.synthesizer, self.files)} {NOT_PROMISED}{seeded}"

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate, for the steward, as values that JSON can hold; no cell is in it."""
        return self.release.for_steward(self.files, sentence=self.sentence, note=self.note)


def release_synthetic(
    table: object,
    path: str | Path,
    synthesizer: Synthesizer | None = None,
    *,
    copies: int = 1,
    rows: int | None = None,
    holdout: object = 0.1,
    known: Sequence[str] | None = None,
    secret: str | Sequence[str] | None = None,
    scenario: Scenario | None = None,
    ledger: Ledger | None = None,
    budget: str = "",
    note: str = "",
    checkpoint: str | Path | None = None,
    progress: Told | None = None,
    gate: Gate | None = None,
    go_on: str = "",
) -> SyntheticRelease:
    """Learn a table, draw synthetic copies, attack their files, write them down as unbounded, and let them go.

    The files are made where only their owner sees them and attacked there. Then the ledger remembers the release, then
    the files get their names: a crash can leave an entry without files, never files without the entry. A column that
    tells people apart is never learned. Not promised: privacy, in any sense; see `release_synthetic_private`.

    Parameters
    ----------
    table
        A table, or anything that `ziggurat.data.read` opens.
    path
        The .parquet, .csv, .xlsx or other file (`TABLE_ENDINGS`); several copies are NAME.1.parquet and so on. The
        certificate is NAME.parquet.certificate.json.
    synthesizer
        How to learn; by default `Synthesizer()`. One that has learned already (`Synthesizer.load`) learns nothing anew,
        and nobody can be kept back from it. It is not changed; the release has the one that has learned.
    copies, rows
        How many copies, of how many rows; by default one, as long as the table.
    holdout
        The share of people who are kept back from learning, so that attacks have a control, or a table of others. A
        partially synthetic table keeps its people, so that nobody is kept back.
    known, secret
        The columns that attackers know, and those that they want to learn; by default by the roles of the schema.
    scenario
        Of partially synthetic copies: an intruder who matches. By default one who knows the columns `known` of the
        people of whom cells were drawn anew.
    ledger, budget
        Where to remember the release, and the name of the table there; without a ledger nothing remembers it.
    note
        What it is for, in a sentence.
    checkpoint
        A folder that keeps each column as soon as it is learned; the same call takes up what is there.
    progress
        Called with "learning", "drawing" or "attacking", what of it, how much is done and how much there is.
    gate, go_on
        What stops the release, and why it shall leave all the same (see `Purse.release`).

    Raises
    ------
    PrivacyError
        A file shows a column that tells people apart; nothing has left.
    LedgerError
        The ledger cannot be written; nothing has left.
    """
    target = check_target(path, ledger, budget, note)
    asked: dict[str, Any] = {"copies": copies, "rows": rows, "holdout": holdout, "known": known, "secret": secret}
    asked |= {"scenario": scenario, "checkpoint": checkpoint, "progress": progress, "note": note}
    with DuckDBEngine() as engine, private_folder(target) as place:
        plan = plan_synthetic(table, target, synthesizer, place=Path(place), engine=engine, **asked)
        release = Purse(ledger, budget).release(plan, gate=gate, go_on=go_on)
        made = plan.conclude(release)
        let_go(Path(place), made.files, made.certificate, made.to_dict())
    return made


def plan_synthetic(
    table: object,
    target: Path,
    synthesizer: Synthesizer | None = None,
    *,
    place: Path,
    engine: DuckDBEngine,
    copies: int = 1,
    rows: int | None = None,
    holdout: object = 0.1,
    known: Sequence[str] | None = None,
    secret: str | Sequence[str] | None = None,
    scenario: Scenario | None = None,
    checkpoint: str | Path | None = None,
    progress: Told | None = None,
    note: str = "",
) -> SyntheticPlan:
    """Plan synthetic copies, whose drafts are made in `place`; see `release_synthetic`."""
    held = table if isinstance(table, Table) else read(table)
    maker = _prepare(synthesizer, held)
    names = _names(maker, held)
    who = attackers_of(held.schema, names, known, secret, scenario)
    _require_fitting(maker, holdout, scenario, target, copies)
    written = free_text_in(held, [name for name in held.schema.names if name not in names])
    todo = _Todo(held, names, who, holdout, rows, copies, checkpoint, engine, progress or say_nothing, written)
    return SyntheticPlan(maker, target, place, todo, note)


@dataclass(frozen=True)
class _Todo:
    """What is learned, drawn and attacked."""

    table: Table
    names: tuple[str, ...]
    who: Attackers
    holdout: object
    rows: int | None
    copies: int
    checkpoint: str | Path | None
    engine: DuckDBEngine
    told: Told
    free_text: tuple[str, ...] = ()


@dataclass(frozen=True)
class SyntheticDraft:
    """Synthetic files that have not left, what was found when they were attacked, and from how many rows they come."""

    files: tuple[File, ...]
    attacked: Evidence
    table_rows: int
    kept_back: int | None


@dataclass(frozen=True, eq=False)
class SyntheticPlan(ShownPlan, Plan[SyntheticDraft]):
    """Synthetic copies without a guarantee, before anything is learned; nothing bounds what they tell."""

    maker: Synthesizer
    target: Path
    place: Path
    todo: _Todo
    note: str = ""
    kind = "synthetic table"
    event = None

    @property
    def text(self) -> str:
        """How many copies."""
        return f"Synthetic table: {count_noun(self.todo.copies, 'copy')} by {type(self.maker).__name__}"

    @property
    def rehearsal(self) -> bool:
        """Whether the synthesiser's randomness is seeded."""
        return self.maker.random_state is not None

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are learned."""
        return self.todo.names

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Attacks with people who are kept back, or without where there are none."""
        partial = self.maker.partial is not None
        return plan_attacks(self.todo.who, self.reads, control=bool(self.todo.holdout), partial=partial)

    def run(self, source: Source, progress: object) -> SyntheticDraft:  # noqa: ARG002
        """Learn, draw, write out of sight, and attack the files as they are read back."""
        todo, maker = self.todo, self.maker
        parts = _parts(maker, todo.table, todo.names, todo.holdout, _source(maker, todo.checkpoint), todo.engine)
        _learn(maker, parts, todo.names, todo.checkpoint, todo.told)
        draft, rows = self.place / self.target.name, _rows(maker, todo.rows, parts)
        drafts = _draw(maker, draft, rows, todo.copies, todo.table, todo.told)
        files, attacked = _attack(maker, drafts, todo.table, todo.names, parts, todo.who, todo.engine, todo.told)
        require_as_attacked(drafts, files)
        return SyntheticDraft(files, attacked, parts.rows, _count_back(parts, todo.holdout))

    def judge(self, output: SyntheticDraft, progress: object) -> Evidence:  # noqa: ARG002
        """What attacks on the files found, and from how many rows these come."""
        return replace(output.attacked, facts={"table_rows": output.table_rows, "kept_back": output.kept_back})

    def describe(self, output: SyntheticDraft) -> str:
        """What was made, the hash of the files, and the note."""
        hashed = f"SHA-256 {digest_of(output.files)}" + (" (of the files' hashes)." if len(output.files) > 1 else ".")
        return f"Synthetic table: {what_was_made(self.maker, output.files)} {hashed} {self.note}".strip()

    def artefacts(self, output: SyntheticDraft, folder: Path) -> list[Path]:
        """The copies."""
        return copy_files(output.files, (self.target.parent, self.place), folder)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """That nothing is promised."""
        return (NOT_PROMISED,)

    def details(self, output: SyntheticDraft) -> dict[str, Any]:
        """What was made, how, and what did not leave."""
        made = {"made": what_was_made(self.maker, output.files), **_done(self.maker), "left_out": list(self._left_out)}
        return {**made, **({"free_text": list(self.todo.free_text)} if self.todo.free_text else {})}

    @property
    def _left_out(self) -> tuple[str, ...]:
        return tuple(name for name in self.todo.table.declared.names if name not in self.todo.names)

    def conclude(self, release: Release[SyntheticDraft]) -> SyntheticRelease:
        """What has left, for the steward."""
        output = release.output
        return SyntheticRelease(
            paths=tuple(self.target.with_name(file.name) for file in output.files),
            certificate=certificate_of(self.target),
            files=output.files,
            synthesizer=self.maker,
            table_rows=output.table_rows,
            kept_back=output.kept_back,
            left_out=self._left_out,
            note=self.note,
            release=release,
        )


def what_was_made(maker: Synthesizer, files: Sequence[File]) -> str:
    """Say what was made, in a sentence."""
    copies = count_noun(len(files), "copy")
    what = f"{copies} of {files[0].rows:,} rows, {_kind(maker)} synthetic, learned from {maker.learned_from_:,} rows."
    replaced: Mapping[str, int] = getattr(maker, "replaced_", {})
    if replaced:
        what += " Drawn anew: " + ", ".join(f"{count:,} cells of {name}" for name, count in replaced.items()) + "."
    return what


def _prepare(synthesizer: Synthesizer | None, table: Table) -> Synthesizer:
    """One to learn with that leaves out what tells people apart, or the one that has learned already."""
    given = Synthesizer() if synthesizer is None else synthesizer
    if not isinstance(given, Synthesizer):
        raise ParameterError("Give a Synthesizer; AIM and MST are released by release_synthetic_private.")
    if hasattr(given, "model_"):
        return given
    made: Synthesizer = clone(given)
    unit = table.unit.column
    if isinstance(made.leave_out, str) or unit is None or unit in made.leave_out:
        return made  # a text in place of a list is refused when it learns
    made.set_params(leave_out=(*made.leave_out, unit))
    return made


def _names(maker: Synthesizer, table: Table) -> tuple[str, ...]:
    names: tuple[str, ...] = maker.names_ if hasattr(maker, "model_") else maker.choose_names(table)
    if table.unit.column in names:
        raise PrivacyError(
            f"What was learned has column {table.unit.column!r}, which tells people apart; learn without it."
        )
    for name in names:
        table.schema[name]
    if hasattr(maker, "model_"):
        for name in free_text_in(table, names):
            raise ParameterError(refuse_free_text(name, "learn again with --leave-out"))
    return names


def _require_fitting(maker: Synthesizer, holdout: object, scenario: object, target: Path, copies: int) -> None:
    """Refuse what could only fail later."""
    require_copies(target, copies)
    if not isinstance(holdout, Table):
        check_share(holdout)
    partial = maker.partial is not None
    if partial and isinstance(holdout, Table):
        raise ParameterError("Partially synthetic copies are attacked by a scenario; leave the hold-out out.")
    if scenario is not None and not partial:
        raise ParameterError("A scenario is for partially synthetic copies, whose rows stand for people; leave it out.")


def require_copies(target: Path, copies: int) -> None:
    if isinstance(copies, bool) or not isinstance(copies, int) or copies < 1:
        raise ParameterError("The number of copies must be a whole number of at least 1.")
    name_paths(target, copies)


def _source(maker: Synthesizer, checkpoint: str | Path | None) -> Source:
    if maker.random_state is not None:
        return seeded(maker.random_state)
    return secure() if checkpoint is None else keep_source(checkpoint)


def _parts(
    maker: Synthesizer, table: Table, names: tuple[str, ...], holdout: object, source: Source, engine: DuckDBEngine
) -> TableSplit:
    if maker.partial is not None:
        return TableSplit(table, None, table.raw.count_rows())
    if not hasattr(maker, "model_"):
        return parts_of(table, names, holdout, maker.learn_from, source, engine)
    # From whom a synthesiser learned that was stored is not known: anybody may be one of them, and nobody a control.
    asked = holdout if isinstance(holdout, Table) else 0.0
    return parts_of(table, names, asked, max(1, table.raw.count_rows()), source, engine)


def _learn(
    maker: Synthesizer, parts: TableSplit, names: tuple[str, ...], checkpoint: str | Path | None, told: Told
) -> None:
    if hasattr(maker, "model_"):
        return
    if maker.partial is None:
        maker.set_params(leave_out=())  # the part that is learned from does not have these columns
    maker.fit(parts.learned, progress=lambda *how: told("learning", *how), checkpoint=checkpoint, names=names)


def _rows(maker: Synthesizer, rows: int | None, parts: TableSplit) -> int | None:
    return parts.rows if rows is None and maker.partial is None else rows


def _draw(maker: Synthesizer, draft: Path, rows: int | None, copies: int, table: Table, told: Told) -> tuple[Path, ...]:
    held = table if maker.partial is not None else None
    return maker.write(draft, rows, copies, table=held, progress=lambda *how: told("drawing", *how)).paths


def _attack(
    maker: Synthesizer,
    drafts: Sequence[Path],
    table: Table,
    names: tuple[str, ...],
    parts: TableSplit,
    who: Attackers,
    engine: DuckDBEngine,
    told: Told,
) -> tuple[tuple[File, ...], Evidence]:
    """Attack the files themselves, as they were read back."""
    tables = read_back(drafts, schema_of_copies(table, names), table, engine)
    files = describe_files(drafts, tables)
    if maker.plan_.where is None:
        return files, attack_fully(parts.learned, tables, parts.control, who, maker.random_state, told)
    targets = " OR ".join(dict.fromkeys(f"({each.text})" for each in maker.plan_.where.values()))
    return files, attack_partially(table, tables, names, who, targets, told)


def _count_back(parts: TableSplit, holdout: object) -> int | None:
    if isinstance(holdout, Table):
        return None
    return 0 if parts.control is None else parts.control.raw.count_rows()


def _kind(maker: Synthesizer) -> str:
    return "fully" if maker.plan_.where is None else "partially"


def _done(maker: Synthesizer) -> dict[str, Any]:
    plan = maker.plan_
    where = plan.where
    return {
        "kind": _kind(maker),
        "learned_from": maker.learned_from_,
        "order": list(plan.order),
        "methods": {name: described_method(plan.methods[name]) for name in plan.order},
        "predictors": {name: list(names) for name, names in (maker.predictors or {}).items()},
        "rules": list(maker.rules),
        "smoothing": maker.smoothing,
        "posterior": maker.is_proper,
        "where": None if where is None else {name: each.text for name, each in where.items()},
        "replaced": dict(getattr(maker, "replaced_", {})),
        "as_they_were": [] if where is None else [name for name in maker.names_ if name not in where],
    }
