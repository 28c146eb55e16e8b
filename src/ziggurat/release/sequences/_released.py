"""Release drawn sequences with a guarantee: paid for before a row is read, attacked all the same, let go last."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cards import Shown
from ziggurat.data import open_table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError
from ziggurat.release._drafts import Told
from ziggurat.release._drawn import DrawnPlan, plan_drawn
from ziggurat.release._promised import PromisedFiles, release_promised
from ziggurat.release._purse import Purse
from ziggurat.release.sequences._attacking import SequenceAttacks
from ziggurat.release.sequences._files import SequenceFile
from ziggurat.sequences import SequenceGenerator, SequenceLayout, domain_of
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.release._gate import Gate


class SequenceRelease(Shown, PromisedFiles):
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

    def plan(target: Path, purse: Purse, engine: DuckDBEngine, place: Path) -> DrawnPlan:
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
) -> DrawnPlan:
    """Plan drawn sequences with a guarantee, whose draft is made in `place`; no row is read."""
    if not isinstance(model, SequenceGenerator):
        raise ParameterError(
            "Give a generator of sequences, such as MarkovSequences(...); others are not for sequences."
        )
    held = open_table(table)
    where = layout or SequenceLayout.of(held.declared)
    file = SequenceFile.like(held.declared, where, domain_of(held.declared, where))
    attacks = SequenceAttacks.planting(file.domain, canaries, model.random_state)
    asked: dict[str, Any] = {"count": count, "sizes": sizes, "holdout": holdout, "progress": progress, "note": note}
    return plan_drawn(held, target, model, file, attacks, purse=purse, place=place, engine=engine, **asked)
