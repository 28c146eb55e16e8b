"""Release drawn sequences with a guarantee: paid for before a row is read, attacked all the same, let go last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ziggurat.data import Table, open_table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError
from ziggurat.privacy import Event, whole_number
from ziggurat.release._drafts import Told, check_share, describe_files, say_nothing
from ziggurat.release._evidence import Evidence
from ziggurat.release._promised import (
    PromisedDraft,
    PromisedFiles,
    PromisedPlan,
    holdout_source,
    release_promised,
    require_as_planned,
    require_payer,
)
from ziggurat.release._purse import Purse
from ziggurat.release.sequences._attacking import attack_sequences, draw_canaries, look_for_canaries, plan_attacks
from ziggurat.release.sequences._files import SequenceFile
from ziggurat.sequences import SequenceDomain, SequenceGenerator, SequenceLayout, Sequences, domain_of, read_sequences
from ziggurat.synthesize import write_copies
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.attacks.sequences import Canaries
    from ziggurat.ledger import Ledger
    from ziggurat.release._gate import Gate

KIND = "sequences"
_PUBLIC = (
    "The tokens and classes, how many symbols of a sequence count, and the names of the columns are public, and so are "
    "the model and its parameters."
)
_LEFT_OUT = "Other columns of the table did not leave."
_NUMBERED = "Sequences and symbols are numbered from 1; times and other columns of the table did not leave."


class SequenceRelease(PromisedFiles):
    """Drawn sequences that carry a guarantee and have left, what was paid for them, and what attackers make of them.

    Promise: whatever the file tells, and any other sequences drawn from `model`, keep `guarantee`, which was paid for
    before a row was read.
    """

    @property
    def made(self) -> str:
        """How many sequences, by which model."""
        return f"{count_noun(self.release.output.count, 'sequence')} by {type(self.model).__name__}"


def release_sequences(
    table: object,
    path: str | Path,
    model: SequenceGenerator,
    *,
    ledger: Ledger,
    budget: str,
    analyst: str,
    layout: SequenceLayout | None = None,
    count: int | None = None,
    sizes: Mapping[Any, int] | None = None,
    holdout: object = 0.1,
    canaries: int = 0,
    note: str = "",
    progress: Told | None = None,
    gate: Gate | None = None,
    go_on: str = "",
) -> SequenceRelease:
    """Pay for a private model of the sequences of a table, fit it, draw new ones, attack their file, and let it go.

    Promise: what fitting costs follows from the model's parameters and the public schema, and is on disk before the
    model sees a row; the file, and whatever else is drawn from the model, keep it for the unit of the budget. The
    ledger holds the hash of the file before it gets its name: whatever goes wrong in between leaves the cost spent, and
    no file. A second call pays again: its noise is new.

    Parameters
    ----------
    table
        A table whose schema declares the tokens, or anything that `ziggurat.data.read` opens.
    path
        The .parquet or .csv file, laid out like the table; the certificate is NAME.parquet.certificate.json.
    model
        A generator of sequences, such as `MarkovSequences`; it is not changed, the release has the one that was fitted.
    ledger, budget, analyst
        Who pays, and out of what. The budget protects the unit of the schema: one sequence (a row), or their owner.
    layout
        Where sequences stand in the table; by default in the one column that the schema declares.
    count, sizes
        How many are drawn, in all or of each class; by default as many as were learned from, by the noisy counts. More
        cost nothing.
    holdout
        The share of units that are kept back, each by a coin, so that attacks have a control; or a table of others.
    canaries
        Of a rehearsal: how many random sequences, each of somebody invented, are planted among those learned from and
        looked for in what is drawn. What leaves must have learned from nobody invented.
    note, progress, gate, go_on
        As for `release_synthetic`.

    Raises
    ------
    NotPublicError
        The tokens, or the classes, are not declared as public; nothing was read or spent.
    MixedNeighboursError
        The budget protects another unit, or under another relation; nothing was read or spent.
    BudgetExceededError
        It costs more than is left; nothing was read or spent.
    """
    asked: dict[str, Any] = {"layout": layout, "count": count, "sizes": sizes, "holdout": holdout}
    asked["canaries"] = canaries

    def plan(target: Path, purse: Purse, engine: DuckDBEngine, place: Path) -> SequencePlan:
        given: dict[str, Any] = asked | {"progress": progress, "note": note, "engine": engine, "place": place}
        return plan_sequences(table, target, model, purse=purse, **given)

    paying: dict[str, Any] = {"ledger": ledger, "budget": budget, "analyst": analyst, "note": note}
    return release_promised(path, plan, SequenceRelease, **paying, gate=gate, go_on=go_on)


def plan_sequences(
    table: object,
    target: Path,
    model: SequenceGenerator,
    *,
    purse: Purse,
    place: Path,
    engine: DuckDBEngine,
    layout: SequenceLayout | None = None,
    count: int | None = None,
    sizes: Mapping[Any, int] | None = None,
    holdout: object = 0.1,
    canaries: int = 0,
    progress: Told | None = None,
    note: str = "",
) -> SequencePlan:
    """Plan drawn sequences with a guarantee, whose draft is made in `place`; no row is read."""
    if not isinstance(model, SequenceGenerator):
        raise ParameterError(
            "Give a generator of sequences, such as MarkovSequences(...); others are not for sequences."
        )
    held = open_table(table)
    where = layout or SequenceLayout.of(held.declared)
    domain = domain_of(held.declared, where)
    planned = require_payer(model.planned(domain), purse)
    _require_possible(domain, where, count, sizes, holdout)
    if whole_number(canaries, "canaries", 0) and model.random_state is None:
        raise ParameterError(
            "Canaries are planted in a rehearsal only: give the model a random_state, or leave them out."
        )
    file = SequenceFile.like(held.declared, where, domain)
    many = (holdout, canaries, count, sizes)
    task = _SequenceDrafting(clone(model), held, file, *many, engine, place, progress or say_nothing)
    return SequencePlan(task, target, planned, note)


def _require_possible(
    domain: SequenceDomain, layout: SequenceLayout, count: int | None, sizes: Mapping[Any, int] | None, holdout: object
) -> None:
    """Refuse what would fail only once it was paid for."""
    if count is not None:
        whole_number(count, "count")
    if sizes is not None and (count is not None or not domain.classes):
        raise ParameterError("Give either how many sequences in all, or how many of each class of the label column.")
    for name, size in (sizes or {}).items():
        domain.class_code(name)
        whole_number(size, "sizes")
    if not isinstance(holdout, Table):
        check_share(holdout)
    elif domain_of(holdout.declared, layout) != domain:
        raise ParameterError("The table of others must have the same tokens, classes and unit.")


@dataclass(frozen=True, eq=False)
class SequencePlan(PromisedPlan["SequenceDraft"]):
    """Drawn sequences with a guarantee, before a row is read."""

    task: _SequenceDrafting
    target: Path
    event: Event
    note: str = ""
    kind = KIND
    drawn = "sequences"

    @property
    def text(self) -> str:
        """What is drawn, by which model."""
        where = self.task.file.layout
        return f"Sequences of column {(where.token or where.sequence)!r} by {type(self.task.maker).__name__}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are learned, and the one that says whose a sequence is."""
        unit = self.task.file.domain.unit.column
        return tuple(dict.fromkeys((*self.columns, *([] if unit is None else [unit]))))

    @property
    def judged_by(self) -> tuple[str, ...]:
        """An attack with units that are kept back, or without where there are none."""
        return plan_attacks(control=bool(self.task.holdout), canaries=self.task.canaries)

    def run(self, source: object, progress: object) -> SequenceDraft:  # noqa: ARG002
        """Fit, draw, write out of sight, and read back; the model draws from its own randomness."""
        return self.task.run(self.target.name, self.event)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is public, and what did not leave."""
        return (_PUBLIC, _LEFT_OUT if self.task.file.layout.is_wide else _NUMBERED)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file."""
        return self.task.file.columns

    def details(self, output: SequenceDraft) -> dict[str, Any]:
        """Which model with which parameters, what was publicly known, and how many were drawn."""
        known = self.task.file.domain
        facts = {"tokens": list(known.tokens), "longest": known.longest, "classes": list(known.classes)}
        return {**super().details(output), **facts, "sequences": output.count}


@dataclass(frozen=True)
class _SequenceDrafting:
    """What is done between the reservation and its answer."""

    maker: Any
    table: Table
    file: SequenceFile
    holdout: object
    canaries: int
    count: int | None
    sizes: Mapping[Any, int] | None
    engine: DuckDBEngine
    folder: Path
    told: Told

    def run(self, name: str, planned: Event) -> SequenceDraft:
        """Fit, draw and write; say how many sequences were kept back."""
        learned, control = self._split()
        planted = draw_canaries(learned.domain, self.canaries, self.maker.random_state) if self.canaries else None
        self.maker.fit(
            learned if planted is None else planted.plant(learned),
            progress=lambda what, done, of: self.told("learning", what, done, of),
        )
        require_as_planned(self.maker, planned)
        self.told("drawing", "sequences", 0, 0)
        drawn = self.maker.sample(self.count, sizes=self.sizes, random_state=self.maker.random_state)
        drafts = self._write(self.folder / name, drawn)
        tables = [self.file.read(each, self.engine) for each in drafts]
        back = None if isinstance(self.holdout, Table) else 0 if control is None else len(control)
        files = describe_files(drafts, tables)
        return SequenceDraft(files, drafts, back, len(drawn), tables[0], learned, control, planted, self)

    def _split(self) -> tuple[Sequences, Sequences | None]:
        """Those that are learned from, and the control.

        Whoever is added or removed is kept back or learned from by a coin of their own, and all others stay where they
        are: parts of neighbouring tables are neighbours, so that a promise about the part holds for the table.
        """
        layout = self.file.layout
        self.told("reading", "sequences", 0, 0)
        whole = read_sequences(self.table, layout)
        if isinstance(self.holdout, Table):
            return whole, read_sequences(self.holdout, layout)
        share = check_share(self.holdout)
        if not share:
            return whole, None
        whose = np.arange(len(whole)) if whole.owners is None else whole.owners
        coins = int(whose.max(initial=-1)) + 1
        back = (holdout_source(self.maker).simulation().random(coins) < share)[whose]
        return whole.take(~back), whole.take(back) if back.any() else None

    def _write(self, draft: Path, drawn: Sequences) -> tuple[Path, ...]:
        facts = {"kind": KIND, "promise": str(self.maker.guarantee_), "rehearsal": self.maker.rehearsal_}
        return write_copies(draft, iter([self.file.pieces(drawn)]), 1, facts, resume=False).paths


@dataclass(frozen=True)
class SequenceDraft(PromisedDraft):
    """A file that was paid for and has not left, and the sequences that it is compared with."""

    count: int
    opened: Table
    learned: Sequences
    control: Sequences | None
    planted: Canaries | None
    task: _SequenceDrafting

    def find(self) -> Evidence:
        """Attack the file as it was read back."""
        drawn, task = self.task.file.read_sequences(self.opened), self.task
        found = attack_sequences(drawn, self.learned, self.control, task.maker.random_state, task.told)
        if self.planted is None:
            return found
        seen = look_for_canaries(self.planted, drawn, task.maker.guarantee_, task.told)
        return Evidence({**found.findings, **seen.findings}, {**found.skipped, **seen.skipped})
