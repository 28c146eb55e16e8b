"""Release drawn trajectories with a guarantee: paid for before a row is read, attacked all the same, let go last."""

from __future__ import annotations

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
from ziggurat.release.trajectories._attacking import TrajectoryAttacks
from ziggurat.release.trajectories._files import TrajectoryFile
from ziggurat.release.trajectories._request import require_same_names
from ziggurat.sequences.mobility import Ground, TrajectoryGenerator, VisitLayout, domain_of_visits
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.release._gate import Gate


class TrajectoryRelease(Shown, PromisedFiles):
    """Drawn trajectories that carry a guarantee and have left, what was paid, and what attackers make of them.

    Promise: whatever the file tells, and any other trajectories drawn from `model`, keep `guarantee`, which was paid
    for before a row was read.
    """

    @property
    def made(self) -> str:
        """How many trajectories, by which model."""
        return f"{count_noun(self.release.output.count, 'trajectory', 'trajectories')} by {type(self.model).__name__}"


def release_trajectories(
    table: object,
    path: str | Path,
    model: TrajectoryGenerator,
    *,
    ledger: Ledger,
    budget: str,
    analyst: str,
    layout: VisitLayout,
    ground: Ground,
    count: int | None = None,
    holdout: object = 0.1,
    canaries: int = 0,
    note: str = "",
    progress: Told | None = None,
    gate: Gate | None = None,
    go_on: str = "",
) -> TrajectoryRelease:
    """Pay for a private model of the trajectories of a table, fit it, draw new ones, attack their file, and let it go.

    Promise: what fitting costs follows from the model's parameters, the schema, the layout and the public ground, and
    is on disk before the model sees a row; the file, and whatever else is drawn from the model, keep it for the unit of
    the budget: a person, whose `sequences_per_unit` trajectories at most count, if `layout.person` tells people apart;
    if it tells trajectories apart, one trajectory and no person, and the certificate says so. The ledger holds the hash
    of the file before it gets its name: whatever goes wrong in between leaves the cost spent, and no file. A second
    call pays again: its noise is new.

    Parameters
    ----------
    table
        A table of visits, one row each, or anything that `ziggurat.data.read` opens; its unit is `layout.person`.
    path
        The .parquet or .csv file: the number of the trajectory and of the visit, the place with its degrees, if they
        are known, and the minute since midnight. The certificate is NAME.parquet.certificate.json.
    model
        A generator of trajectories, such as `MarkovTrajectories`; it is not changed, the release has the one that was
        fitted.
    ledger, budget, analyst
        Who pays, and out of what.
    layout
        Where visits stand in the table, and where a trajectory ends.
    ground
        The public places.
    count
        How many are drawn; by default as many as were learned from, by a noisy count. More cost nothing.
    holdout
        The share of people who are kept back, each by a coin, so that attacks have a control; or a table of others.
    canaries
        Of a rehearsal: how many invented people, each at random places and hours, are planted among those learned from
        and looked for in what is drawn.
    note, progress, gate, go_on
        As for `release_synthetic`.

    Raises
    ------
    SchemaError
        The schema's unit is not the column of the people, or a column is not there; nothing was read or spent.
    MixedNeighboursError
        The budget protects another unit, or under another relation; nothing was read or spent.
    BudgetExceededError
        It costs more than is left; nothing was read or spent.
    """
    asked: dict[str, Any] = {"layout": layout, "ground": ground, "count": count, "holdout": holdout}
    asked["canaries"] = canaries

    def plan(target: Path, purse: Purse, engine: DuckDBEngine, place: Path) -> DrawnPlan:
        given: dict[str, Any] = asked | {"progress": progress, "note": note, "engine": engine, "place": place}
        return plan_trajectories(table, target, model, purse=purse, **given)

    paying: dict[str, Any] = {"ledger": ledger, "budget": budget, "analyst": analyst, "note": note}
    return release_promised(path, plan, TrajectoryRelease, **paying, gate=gate, go_on=go_on)


def plan_trajectories(
    table: object,
    target: Path,
    model: TrajectoryGenerator,
    *,
    purse: Purse,
    place: Path,
    engine: DuckDBEngine,
    layout: VisitLayout,
    ground: Ground,
    count: int | None = None,
    holdout: object = 0.1,
    canaries: int = 0,
    progress: Told | None = None,
    note: str = "",
) -> DrawnPlan:
    """Plan drawn trajectories with a guarantee, whose draft is made in `place`; no row is read."""
    if not isinstance(model, TrajectoryGenerator):
        raise ParameterError(
            "Give a generator of trajectories, such as MarkovTrajectories(...); others do not draw where and when."
        )
    held = open_table(table)
    require_same_names(held.declared, layout, ground)
    file = TrajectoryFile(layout, domain_of_visits(held.declared, layout, ground))
    attacks = TrajectoryAttacks.planting(file.domain, canaries, model.random_state)
    asked: dict[str, Any] = {"count": count, "sizes": None, "holdout": holdout, "progress": progress, "note": note}
    return plan_drawn(held, target, model, file, attacks, purse=purse, place=place, engine=engine, **asked)
