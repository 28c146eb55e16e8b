"""What releases of drawn sequences and trajectories share: split, fitted, drawn, written and attacked alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from ziggurat.data import Categories, Column, Kind, Table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError
from ziggurat.privacy import Event, whole_number
from ziggurat.release._drafts import Told, check_share, describe_files, require_streamed, say_nothing
from ziggurat.release._evidence import Evidence
from ziggurat.release._promised import (
    PromisedDraft,
    PromisedPlan,
    holdout_source,
    require_as_planned,
    require_payer,
)
from ziggurat.release._purse import Purse
from ziggurat.sequences import SequenceDomain, SequenceGenerator, Sequences, Token
from ziggurat.synthesize import write_copies

if TYPE_CHECKING:
    from ziggurat.attacks.sequences import Canaries
    from ziggurat.release._tried import ExactCopies

CANARIES, COPIES = "canaries", "exact copies"
CANARY, CANDIDATES = 10, 256
"""How many symbols a canary has, unless fewer count, and from how many it is chosen."""
NO_CONTROL = "Nobody was kept back, so there is no control to tell a risk from chance."
_PIECE = 50_000


class NumberedSymbols(NamedTuple):
    """The rows of a long file: whose each is, which place it has there, and its code where there is one."""

    whose: np.ndarray
    place: np.ndarray
    filled: np.ndarray
    codes: np.ndarray


def number_symbols(drawn: Sequences) -> NumberedSymbols:
    """One row for each symbol, and one without any for an empty sequence; numbers from 0."""
    rows = np.maximum(drawn.lengths, 1)
    whose = np.repeat(np.arange(len(drawn)), rows)
    place = np.arange(len(whose)) - np.repeat(np.cumsum(rows) - rows, rows)
    filled = place < drawn.lengths[whose]
    codes = np.zeros(len(whose), np.int64)
    codes[filled] = drawn.codes
    return NumberedSymbols(whose, place, filled, codes)


def split_pieces(drawn: Sequences) -> Iterator[tuple[int, Sequences]]:
    """Some sequences at a time, and how many came before; one empty piece of none."""
    for start in range(0, max(1, len(drawn)), _PIECE):
        yield start, drawn.take(np.arange(start, min(start + _PIECE, len(drawn))))


def token_values(names: tuple[Token, ...]) -> pa.Array:
    """Symbols or classes as a column has them."""
    return pa.array(names, pa.int64() if all(isinstance(each, int) for each in names) else pa.string())


def label_column(name: str, values: tuple[Token, ...]) -> Column:
    """The column that holds them."""
    return Column(name, Kind.CATEGORY, categories=Categories(values))


class DrawnFile(ABC):
    """How what is drawn is laid out in a file, and how the table and that file are read.

    Attributes
    ----------
    kind
        What is drawn, in a word; the kind of the release.
    domain
        What is publicly known of it.
    """

    kind: ClassVar[str]
    domain: SequenceDomain

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns of the file: those that say what was drawn, and no others."""

    @property
    @abstractmethod
    def reads(self) -> tuple[str, ...]:
        """The columns of the table that are read."""

    @property
    @abstractmethod
    def told(self) -> str:
        """What is drawn, for people: it goes before "by" and the model."""

    @property
    @abstractmethod
    def not_protected(self) -> tuple[str, ...]:
        """What is public, and what did not leave, one sentence each."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What was publicly known, for the certificate."""

    @abstractmethod
    def require_like(self, table: Table) -> None:
        """Refuse a table of others that is laid out differently; no row is read."""

    @abstractmethod
    def learn_from(self, table: Table) -> Sequences:
        """Read the private table."""

    @abstractmethod
    def pieces(self, drawn: Sequences) -> Iterator[pa.Table]:
        """What was drawn as rows, some at a time."""

    @abstractmethod
    def read(self, file: Path, engine: DuckDBEngine) -> Table:
        """Open a file as any outsider would who is told its schema."""

    @abstractmethod
    def read_back(self, table: Table) -> Sequences:
        """What is in such a file."""


@dataclass(frozen=True)
class DrawnAttacks(ABC):
    """How a file of what was drawn is attacked.

    Attributes
    ----------
    planted
        Of a rehearsal: what is planted among those learned from, and looked for in what is drawn.
    """

    planted: Canaries | None = None

    @abstractmethod
    def names(self, *, control: bool) -> tuple[str, ...]:
        """Say which attacks will be tried besides canaries, as the evidence will call them."""

    @abstractmethod
    def attack(self, draft: Drawn, drawn: Sequences) -> Evidence:
        """Attack what was read back from the file."""

    def lay(self, learned: Sequences) -> Sequences:
        """What is learned from, with the canaries."""
        return learned if self.planted is None else self.planted.plant(learned)

    def judge(self, draft: Drawn) -> Evidence:
        """Attack the file as it was read back."""
        drawn = draft.read_back()
        found = self.attack(draft, drawn)
        if self.planted is None:
            return found
        if not len(drawn):
            return replace(found, skipped={**found.skipped, CANARIES: "Nothing was drawn to look for them in."})
        from ziggurat.attacks.sequences import score_by_release

        draft.task.told("attacking", CANARIES, 0, 1)
        promised = draft.task.maker.guarantee_
        claimed: dict[str, Any] = {"epsilon": promised.epsilon, "delta": getattr(promised, "delta", 0)}
        seen = self.planted.measure(score_by_release(drawn), **claimed)
        return replace(found, findings={**found.findings, CANARIES: seen})


def require_rehearsal(canaries: int, seed: int | None) -> bool:
    """Whether canaries are asked for; ParameterError unless it is a rehearsal that they are planted in."""
    if not whole_number(canaries, "canaries", 0):
        return False
    if seed is None:
        raise ParameterError(
            "Canaries are planted in a rehearsal only: give the model a random_state, or leave them out."
        )
    return True


def plan_drawn(
    table: Table,
    target: Path,
    model: SequenceGenerator,
    file: DrawnFile,
    attacks: DrawnAttacks,
    *,
    purse: Purse,
    place: Path,
    engine: DuckDBEngine,
    count: int | None,
    sizes: Mapping[Any, int] | None,
    holdout: object,
    progress: Told | None,
    note: str,
) -> DrawnPlan:
    """Plan something drawn with a guarantee, whose draft is made in `place`; no row is read."""
    planned = require_payer(model.planned(file.domain), purse)
    _require_possible(file, count, sizes, holdout)
    require_streamed(target)
    told = progress or say_nothing
    task = _Drafting(clone(model), table, file, attacks, holdout, count, sizes, engine, place, told)
    return DrawnPlan(task, target, planned, note, file.kind, file.kind)


def _require_possible(file: DrawnFile, count: int | None, sizes: Mapping[Any, int] | None, holdout: object) -> None:
    """Refuse what would fail only once it was paid for."""
    if count is not None:
        whole_number(count, "count")
    if sizes is not None and (count is not None or not file.domain.classes):
        raise ParameterError(f"Give either how many {file.kind} in all, or how many of each class of the label column.")
    for name, size in (sizes or {}).items():
        file.domain.class_code(name)
        whole_number(size, "sizes")
    if isinstance(holdout, Table):
        file.require_like(holdout)
    else:
        check_share(holdout)


@dataclass(frozen=True, eq=False)
class DrawnPlan(PromisedPlan["Drawn"]):
    """Something drawn with a guarantee, before a row is read."""

    task: _Drafting
    target: Path
    event: Event
    note: str
    kind: str
    drawn: str

    @property
    def text(self) -> str:
        """What is drawn, by which model."""
        return f"{self.task.file.told} by {type(self.task.maker).__name__}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are learned, and the one that says whose it is."""
        return self.task.file.reads

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Attacks with units that are kept back, or without where there are none."""
        attacks = self.task.attacks
        return (*attacks.names(control=bool(self.task.holdout)), *((CANARIES,) if attacks.planted else ()))

    def run(self, source: object, progress: object) -> Drawn:  # noqa: ARG002
        """Fit, draw, write out of sight, and read back; the model draws from its own randomness."""
        return self.task.run(self.target.name, self.event)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is public, and what did not leave."""
        return self.task.file.not_protected

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file."""
        return self.task.file.columns

    def details(self, output: Drawn) -> dict[str, Any]:
        """Which model with which parameters, what was publicly known, and how many were drawn."""
        return {**super().details(output), **self.task.file.facts(), self.kind: output.count}


@dataclass(frozen=True)
class _Drafting:
    """What is done between the reservation and its answer."""

    maker: Any
    table: Table
    file: DrawnFile
    attacks: DrawnAttacks
    holdout: object
    count: int | None
    sizes: Mapping[Any, int] | None
    engine: DuckDBEngine
    folder: Path
    told: Told

    def run(self, name: str, planned: Event) -> Drawn:
        """Fit, draw and write; say how many were kept back."""
        learned, control = self._split()
        self.maker.fit(self.attacks.lay(learned), progress=lambda what, done, of: self.told("learning", what, done, of))
        require_as_planned(self.maker, planned)
        self.told("drawing", self.file.kind, 0, 0)
        drawn = self.maker.sample(self.count, sizes=self.sizes, random_state=self.maker.random_state)
        drafts = self._write(self.folder / name, drawn)
        tables = [self.file.read(each, self.engine) for each in drafts]
        back = None if isinstance(self.holdout, Table) else 0 if control is None else len(control)
        return Drawn(describe_files(drafts, tables), drafts, back, len(drawn), tables[0], learned, control, self)

    def _split(self) -> tuple[Sequences, Sequences | None]:
        """Those that are learned from, and the control.

        Whoever is added or removed is kept back or learned from by a coin of their own, and all others stay where they
        are: parts of neighbouring tables are neighbours, so that a promise about the part holds for the table.
        """
        self.told("reading", self.file.kind, 0, 0)
        whole = self.file.learn_from(self.table)
        if isinstance(self.holdout, Table):
            return whole, self.file.learn_from(self.holdout)
        share = check_share(self.holdout)
        if not share:
            return whole, None
        whose = np.arange(len(whole)) if whole.owners is None else whole.owners
        coins = int(whose.max(initial=-1)) + 1
        back = (holdout_source(self.maker).simulation().random(coins) < share)[whose]
        return whole.take(~back), whole.take(back) if back.any() else None

    def _write(self, draft: Path, drawn: Sequences) -> tuple[Path, ...]:
        facts = {"kind": self.file.kind, "promise": str(self.maker.guarantee_), "rehearsal": self.maker.rehearsal_}
        return write_copies(draft, iter([self.file.pieces(drawn)]), 1, facts, resume=False).paths


@dataclass(frozen=True)
class Drawn(PromisedDraft):
    """A file that was paid for and has not left, and what it is compared with."""

    count: int
    opened: Table
    learned: Sequences
    control: Sequences | None
    task: _Drafting

    def find(self) -> Evidence:
        """Attack the file as it was read back."""
        return self.task.attacks.judge(self)

    def read_back(self) -> Sequences:
        """What is in the file."""
        return self.task.file.read_back(self.opened)


def count_copies(drawn: Sequences, learned: Sequences) -> ExactCopies:
    """Count what was drawn that equals something learned from, symbol by symbol."""
    from ziggurat.attacks import Share
    from ziggurat.release._tried import ExactCopies

    known = {_bytes(learned, place) for place in range(len(learned))}
    found = sum(_bytes(drawn, place) in known for place in range(len(drawn)))
    return ExactCopies(Share(found, len(drawn)), partial=False)


def _bytes(sequences: Sequences, place: int) -> bytes:
    codes = sequences.codes[sequences.offsets[place] : sequences.offsets[place + 1]]
    return np.ascontiguousarray(codes).tobytes()
