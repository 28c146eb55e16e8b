"""Release what communities are like, with a guarantee: places and hours of each; who belongs to which never leaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from ziggurat.cards import Shown
from ziggurat.data import Table, open_table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError
from ziggurat.privacy import Event, whole_number
from ziggurat.release._drafts import File, Told, require_streamed, say_nothing
from ziggurat.release._evidence import Evidence
from ziggurat.release._promised import (
    PromisedDraft,
    PromisedFiles,
    PromisedPlan,
    release_promised,
    require_as_planned,
    require_payer,
)
from ziggurat.release._purse import Purse
from ziggurat.release.trajectories._files import TrajectoryFile, hides_no_person
from ziggurat.release.trajectories._request import require_same_names
from ziggurat.sequences.mobility import Ground, VisitLayout, domain_of_visits
from ziggurat.sequences.mobility.communities import PrivateSTLDA, describe_communities
from ziggurat.synthesize import write_copies
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.release._gate import Gate

KIND = "communities"
COLUMNS = ("community", "share", "what", "name", "chance", "times", "latitude", "longitude")
_NAMED = 25
_PUBLIC = (
    "The places and where they lie, how hours are folded, how many communities there are and how many visits of one "
    "person count are public, and so are the model and its parameters."
)
_LEFT_OUT = "Who belongs to which community did not leave, and neither did people, dates and other columns."


class CommunityRelease(Shown, PromisedFiles):
    """Communities that were described with a guarantee and have left, and what was paid for them.

    Promise: whatever the file and `model` tell of communities keeps `guarantee`, which was paid for before a row was
    read. What `model.transform` says of people is as raw as their visits.
    """

    @property
    def made(self) -> str:
        """How many communities, by which model."""
        many = count_noun(self.model.communities, "community", "communities")
        return f"{many} by {type(self.model).__name__}"


def release_communities(
    table: object,
    path: str | Path,
    model: PrivateSTLDA,
    *,
    ledger: Ledger,
    budget: str,
    analyst: str,
    layout: VisitLayout,
    ground: Ground,
    most: int = _NAMED,
    note: str = "",
    progress: Told | None = None,
    gate: Gate | None = None,
    go_on: str = "",
) -> CommunityRelease:
    """Pay for a private topic model of visits, fit it, and let the description of its communities go.

    Promise: as that of `release_trajectories`, about where communities go and when.

    Parameters
    ----------
    table, ledger, budget, analyst, layout, ground, note, progress, gate, go_on
        As for `release_trajectories`; where trajectories end does not matter to communities.
    path
        The .parquet or .csv file: what `describe_communities` tells.
    model
        The topic model; it is not changed, the release has the one that was fitted.
    most
        How many places of a community are named at most: those that stand out of the noise.
    """

    def plan(target: Path, purse: Purse, engine: DuckDBEngine, place: Path) -> CommunityPlan:  # noqa: ARG001
        asked: dict[str, Any] = {"layout": layout, "ground": ground, "place": place, "progress": progress}
        asked["most"] = most
        return plan_communities(table, target, model, purse=purse, note=note, **asked)

    paying: dict[str, Any] = {"ledger": ledger, "budget": budget, "analyst": analyst, "note": note}
    return release_promised(path, plan, CommunityRelease, **paying, gate=gate, go_on=go_on)


def plan_communities(
    table: object,
    target: Path,
    model: PrivateSTLDA,
    *,
    purse: Purse,
    place: Path,
    layout: VisitLayout,
    ground: Ground,
    most: int = _NAMED,
    progress: Told | None = None,
    note: str = "",
) -> CommunityPlan:
    """Plan a description of communities with a guarantee, whose draft is made in `place`; no row is read."""
    if not isinstance(model, PrivateSTLDA):
        raise ParameterError("Give a PrivateSTLDA(...); what other models learn of communities is raw.")
    require_streamed(target)
    held = open_table(table)
    require_same_names(held.declared, layout, ground)
    file = TrajectoryFile(layout, domain_of_visits(held.declared, layout, ground))
    event = require_payer(model.planned(file.domain), purse)
    task = _Describing(clone(model), held, file, whole_number(most, "most"), place, progress or say_nothing)
    return CommunityPlan(task, target, event, note)


@dataclass(frozen=True, eq=False)
class CommunityPlan(PromisedPlan["CommunityDraft"]):
    """Communities that are to be described with a guarantee, before a row is read."""

    task: _Describing
    target: Path
    event: Event
    note: str = ""
    kind = KIND
    drawn = "places and hours of communities"

    @property
    def text(self) -> str:
        """What is described, by which model."""
        told = f"Communities over {self.task.file.domain.size:,} public places"
        return f"{told} by {type(self.task.maker).__name__}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that say who was where and when."""
        return self.task.file.reads

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file."""
        return COLUMNS

    def run(self, source: object, progress: object) -> CommunityDraft:  # noqa: ARG002
        """Fit, and write out of sight; the model draws from its own randomness."""
        return self.task.run(self.target.name, self.event)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is public, and what did not leave."""
        return (_PUBLIC, _LEFT_OUT, *hides_no_person(self.task.file.domain.unit))

    def details(self, output: CommunityDraft) -> dict[str, Any]:
        """Which model with which parameters, and what was publicly known."""
        return {**super().details(output), **self.task.file.facts()}


@dataclass(frozen=True)
class _Describing:
    """What is done between the reservation and its answer."""

    maker: Any
    table: Table
    file: TrajectoryFile
    most: int
    folder: Path
    told: Told
    holdout: object = 0.0  # there is nothing to attack: what leaves is noisy tables and what follows from them

    def run(self, name: str, planned: Event) -> CommunityDraft:
        """Fit, and write what communities are like."""
        self.told("reading", "visits", 0, 0)
        visits = self.file.learn_from(self.table)
        self.told("learning", KIND, 0, 0)
        self.maker.fit(visits)
        require_as_planned(self.maker, planned)
        rows = describe_communities(self.maker, self.most)
        facts = {"kind": KIND, "promise": str(self.maker.guarantee_), "rehearsal": self.maker.rehearsal_}
        drafts = write_copies(self.folder / name, iter([iter([rows])]), 1, facts, resume=False).paths
        return CommunityDraft(tuple(File.at(each, rows=rows.num_rows) for each in drafts), drafts, None)


@dataclass(frozen=True)
class CommunityDraft(PromisedDraft):
    """A file that was paid for and has not left."""

    def find(self) -> Evidence:
        """Attack nothing: no row of the file is about anybody."""
        return Evidence()
