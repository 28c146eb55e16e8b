"""Release synthetic tables with a guarantee: paid for before a row is read, attacked all the same, let go last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sklearn.base import clone

from ziggurat.cards import Shown
from ziggurat.data import Table, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.writing import check_table_file
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
from ziggurat.release.tables._attacking import Attackers, Claim, attack_fully, attackers_of, plan_attacks
from ziggurat.release.tables._synthetic import require_copies
from ziggurat.release.tables._synthetic_files import read_back
from ziggurat.release.tables._synthetic_parts import TableSplit, schema_of_copies, toss_parts
from ziggurat.synthesize import write_copies
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.release._gate import Gate
    from ziggurat.synthesize.marginals import PrivateSynthesis

KIND = "synthetic table"


class PrivateSyntheticRelease(Shown, PromisedFiles):
    """Synthetic copies that carry a guarantee and have left, what was paid for them, and what attackers make of them.

    Promise: whatever the files tell, and any other rows drawn from `model`, keep `guarantee`, which was paid for before
    a row was read.
    """

    @property
    def made(self) -> str:
        """How many copies of how many rows, by which model."""
        return f"{count_noun(len(self.files), 'copy')} of {self.files[0].rows:,} rows by {type(self.model).__name__}"


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
    progress: Told | None = None,
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
    asked: dict[str, Any] = {"copies": copies, "rows": rows, "holdout": holdout, "known": known, "secret": secret}

    def plan(target: Path, purse: Purse, engine: DuckDBEngine, place: Path) -> PrivateSyntheticPlan:
        given: dict[str, Any] = asked | {"progress": progress, "note": note, "engine": engine, "place": place}
        return plan_synthetic_private(table, target, model, purse=purse, **given)

    paying: dict[str, Any] = {"ledger": ledger, "budget": budget, "analyst": analyst, "note": note}
    return release_promised(path, plan, PrivateSyntheticRelease, **paying, gate=gate, go_on=go_on)


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
    progress: Told | None = None,
    note: str = "",
) -> PrivateSyntheticPlan:
    """Plan synthetic copies with a guarantee, whose drafts are made in `place`; no row is read."""
    require_copies(target, copies)
    held = table if isinstance(table, Table) else read(table)
    maker = _clone(model)
    planned = require_payer(maker.planned(held.schema), purse)
    names = maker.plan_terms(held.schema).names
    who = attackers_of(held.schema, names, known, secret)
    _require_possible(maker, names, holdout, rows)
    _require_room(target, names, rows)
    task = _PrivateDrafting(maker, held, names, who, holdout, rows, copies, engine, place, progress or say_nothing)
    return PrivateSyntheticPlan(task, target, planned, note)


@dataclass(frozen=True, eq=False)
class PrivateSyntheticPlan(PromisedPlan["PrivateDraft"]):
    """Synthetic copies with a guarantee, before a row is read."""

    task: _PrivateDrafting
    target: Path
    event: Event
    note: str = ""
    kind = KIND
    drawn = "copies"

    @property
    def text(self) -> str:
        """How many copies, by which model."""
        return f"Synthetic table: {count_noun(self.task.copies, 'copy')} by {type(self.task.maker).__name__}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are learned."""
        return tuple(self.task.names)

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Attacks with people who are kept back, or without where there are none."""
        return plan_attacks(self.task.who, self.reads, control=bool(self.task.holdout))

    def run(self, source: object, progress: object) -> PrivateDraft:  # noqa: ARG002
        """Fit, draw, write out of sight, and read back; the model draws from its own randomness."""
        return self.task.run(self.target.name, self.event)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """That the schema is public."""
        return ("The names, bounds and categories of the columns are public, and so are the model and its parameters.",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the copies."""
        return tuple(axis.name for axis in self.task.maker.axes_)


def _require_possible(maker: Any, names: Sequence[str], holdout: object, rows: int | None) -> None:
    """Refuse what would fail only once it was paid for."""
    maker.require_solver()
    if rows is not None:
        whole_number(rows, "rows")
    if isinstance(holdout, Table):
        holdout.schema.select(names)
    else:
        check_share(holdout)


def _require_room(target: Path, names: Sequence[str], rows: int | None) -> None:
    """Refuse a file that could turn out too small once the copies are paid for."""
    check_table_file(target, names, rows)
    if rows is None and target.suffix.lower() == ".xlsx":
        raise ParameterError("A sheet of Excel has an end; say with rows= (--rows) how many rows a copy shall have.")


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
    told: Told

    def run(self, name: str, planned: Event) -> PrivateDraft:
        """Fit, draw and write; say how many rows were kept back."""
        source = holdout_source(self.maker)
        learned, parts = toss_parts(self.table, self.names, self.holdout, source, self.engine)
        self.maker.fit(learned, progress=lambda text: self.told("learning", text, 0, 0))
        require_as_planned(self.maker, planned)
        drafts = self._draw(self.folder / name)
        tables = read_back(drafts, schema_of_copies(self.table, self.names), self.table, self.engine)
        back = None if isinstance(self.holdout, Table) else _count(parts.control)
        return PrivateDraft(describe_files(drafts, tables), drafts, back, tables, parts, self)

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
class PrivateDraft(PromisedDraft):
    """Synthetic files that were paid for and have not left, and the rows that they are compared with."""

    tables: Sequence[Table]
    parts: TableSplit
    task: _PrivateDrafting

    def find(self) -> Evidence:
        """Attack the files as they were read back."""
        return self.task.attack(self.tables, self.parts)


def _clone(model: object) -> Any:
    from ziggurat.synthesize.marginals import PrivateSynthesis

    if not isinstance(model, PrivateSynthesis):
        raise ParameterError("Give AIM(...) or MST(...); other synthesisers carry no guarantee: use release_synthetic.")
    return clone(model)


def _count(table: Table | None) -> int:
    return 0 if table is None else table.raw.count_rows()
