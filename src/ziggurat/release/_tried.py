"""What findings say to a gate: a figure, and for attacks with a control the chance that it is luck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import pyarrow as pa

from ziggurat.attacks import (
    AttributeInference,
    ClosestRecords,
    EpsilonBound,
    Excess,
    Guesses,
    Homogeneity,
    Intersection,
    Linkability,
    Linkage,
    MatchRisk,
    RiskReport,
    Share,
    Skewness,
    SyntheticSinglingOut,
    Undone,
)
from ziggurat.attacks.mobility import (
    ClosestTrajectories,
    FoundByPoints,
    FoundHomes,
    LinkedTraces,
    TopPlaces,
    TrajectoryAnonymity,
    Uniqueness,
)
from ziggurat.attacks.models import MembershipAttack, MembershipReport
from ziggurat.attacks.models.extraction import CopiedModel
from ziggurat.attacks.models.inspection import HeldRows
from ziggurat.attacks.models.inversion import InferredAttribute, ReconstructedRows
from ziggurat.attacks.sequences import ClosestSequences, ExposedCanaries
from ziggurat.findings import Finding


@dataclass(frozen=True)
class ExactCopies(Finding):
    """How many synthetic rows equal a real one, without a control to say how many would by chance.

    Attributes
    ----------
    copies
        Of fully synthetic copies the rows that equal any row that was learned from; of partially synthetic ones the
        rows that are as they were.
    partial
        Which of the two.
    """

    copies: Share
    partial: bool

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        if self.partial:
            return f"{self.copies} of the rows left as they were: whoever they are about is in the files."
        return f"{self.copies} of the synthetic rows equal a real one; nobody was kept back to compare with."

    @property
    def table(self) -> pa.Table:
        """The share with its interval."""
        ends = {end: [getattr(self.copies, end)] for end in ("rate", "low", "high")}
        return pa.table({"figure": ["rows that equal a real one"], **ends})


@dataclass(frozen=True)
class Tried:
    """One thing that a gate can judge.

    Attributes
    ----------
    name, kind
        What it is called in this release, and the kind that it has its threshold by if it has none of its own.
    figure
        What was measured: of an attack with a control the risk beyond it, see `Excess`.
    means
        What the figure is, in words.
    chance
        How likely so much is if nothing, or no more than was promised, is given away; None without a control.
    few
        Whether there are too few guesses for a verdict.
    claimed
        The epsilon that was promised, if it is one that the figure bounds from below.
    unjudged
        Why there is no verdict, whatever the figure is; empty if there can be one.
    """

    name: str
    kind: str
    figure: float
    means: str
    chance: float | None = None
    few: bool = False
    claimed: Fraction | None = None
    unjudged: str = ""


def find_guesses(finding: Finding) -> dict[str, Guesses]:
    """Return the guesses of an attack that has a control and a naive baseline, by what they are called."""
    if isinstance(finding, SyntheticSinglingOut):
        return {
            "singling out, one column": finding.univariate,
            "singling out, several columns": finding.multivariate,
        }
    if isinstance(finding, Linkability):
        return {"linking": finding.guesses}
    if isinstance(finding, AttributeInference):
        return {f"inferring {finding.secret!r}": finding.guesses}
    return {}


def find_excesses(finding: Finding) -> dict[str, Excess]:
    """What an attack learns beyond its control, by what it is called; nothing if there was nothing to try."""
    if isinstance(finding, ClosestRecords):
        rate, reach = 2 * finding.closer.rate - 1, 2 * finding.chance
        return {"closest records": Excess(rate, rate - reach, rate + reach, finding.verdict)}
    if isinstance(finding, ClosestSequences):
        return {"closest sequences": finding.closeness, "copied sequences": finding.copying}
    if isinstance(finding, ClosestTrajectories):
        return {
            "closest trajectories": finding.closeness,
            "copied trajectories": finding.copying,
            "nearest people": finding.nearness,
        }
    if isinstance(finding, FoundByPoints):
        return {"found by points": finding.risk}
    if isinstance(finding, MembershipAttack):
        return {f"membership by {finding.attack}": finding.even.risk} if finding.random_split else {}
    if isinstance(finding, InferredAttribute):
        return {f"inferring {finding.attribute}": finding.guesses.risk} if finding.random_split else {}
    if isinstance(finding, MembershipReport):
        return {name: risk for each in finding.attacks.values() for name, risk in find_excesses(each).items()}
    held = find_guesses(finding).items()
    return {name: each.risk for name, each in held if each.attack.trials and each.control.trials}


_BEYOND = "of what the control leaves to be learned is learned about people in the table"


def figures_of(name: str, finding: Finding) -> list[Tried]:
    """Return what a gate can judge of a finding, by its name in the evidence; nothing if the gate knows no figure."""
    return list(_figures(finding, name))


@singledispatch
def _figures(_finding: Finding, _name: str) -> Iterator[Tried]:
    yield from ()


@_figures.register
def _(finding: ClosestRecords, name: str) -> Iterator[Tried]:
    (risk,) = find_excesses(finding).values()
    means = "of the synthetic rows, over and above one half, are closer to people in the table than to others"
    yield Tried(name, "closest records", risk.rate, means, finding.luck, finding.verdict is None)


@_figures.register
def _(finding: ClosestSequences, name: str) -> Iterator[Tried]:
    close, copied = finding.closeness, finding.copying
    means = (
        "of the different released sequences, over and above one half, are closer to those learned from than to others"
    )
    yield Tried(f"{name}, closest", "closest sequences", close.rate, means, finding.luck, close.verdict is None)
    means = "of the units with a sequence of their own had it copied, beyond what chance copies of others"
    yield Tried(f"{name}, copied", "copied sequences", copied.rate, means, finding.copied, copied.verdict is None)


@_figures.register
def _(finding: ClosestTrajectories, name: str) -> Iterator[Tried]:
    close, copied, near = finding.closeness, finding.copying, finding.nearness
    chances = finding.found.luck, finding.found.copied, finding.luck
    means = (
        "of the different released trajectories, over and above one half, are closer to people learned from than to "
        "others"
    )
    yield Tried(f"{name}, closest", "closest trajectories", close.rate, means, chances[0], close.verdict is None)
    means = "of the people with a trajectory of their own had it copied, beyond what chance copies of others"
    yield Tried(f"{name}, copied", "copied trajectories", copied.rate, means, chances[1], copied.verdict is None)
    means = "of pairs, over and above one half, have the one learned from nearer to what was released than the other"
    yield Tried(f"{name}, nearest", "nearest people", near.rate, means, chances[2], near.verdict is None)


@_figures.register
def _(finding: FoundByPoints, name: str) -> Iterator[Tried]:
    means = f"of the people learned from are found by {finding.points} points, beyond what is found of others"
    yield Tried(name, "found by points", finding.risk.rate, means, finding.chance, finding.verdict is None)


@_figures.register
def _(finding: Uniqueness, name: str) -> Iterator[Tried]:
    means = f"of the people are singled out by {finding.points} points ({finding.resolution})"
    yield Tried(name, "unique by points", finding.alone[-1].rate, means)


@_figures.register
def _(finding: LinkedTraces, name: str) -> Iterator[Tried]:
    means = f"of the people are linked with their own other trace ({finding.resolution})"
    yield Tried(name, "linked traces", finding.first.rate, means, finding.chance)


@_figures.register
def _(finding: TrajectoryAnonymity | TopPlaces | FoundHomes, name: str) -> Iterator[Tried]:
    kinds = {TrajectoryAnonymity: "trajectory anonymity", TopPlaces: "top places", FoundHomes: "homes"}
    means = f"of the people share their {finding.last.told} with nobody ({finding.resolution})"
    yield Tried(name, kinds[type(finding)], finding.last.alone.rate, means)


@_figures.register
def _(finding: ExposedCanaries, name: str) -> Iterator[Tried]:
    if finding.claimed is None:
        yield Tried(name, "canaries", finding.bits, "bits of a canary are remembered on average", finding.chance)
    else:
        yield Tried(name, "epsilon", finding.lower, "is the epsilon shown", finding.chance, claimed=finding.claimed)


@_figures.register
def _(finding: SyntheticSinglingOut, name: str) -> Iterator[Tried]:
    for part, each in (("one column", finding.univariate), ("several columns", finding.multivariate)):
        yield _by_guesses(f"{name}, {part}", f"singling out, {part}", each)


@_figures.register
def _(finding: Linkability, name: str) -> Iterator[Tried]:
    yield _by_guesses(name, "linking", finding.guesses)


@_figures.register
def _(finding: AttributeInference, name: str) -> Iterator[Tried]:
    yield _by_guesses(name, "inferring", finding.guesses)


@_figures.register
def _(finding: EpsilonBound, name: str) -> Iterator[Tried]:
    yield Tried(name, "epsilon", finding.lower, "is the epsilon shown", finding.chance, claimed=finding.claimed)


# Quotients of whole numbers are rounded correctly, and so keep the order: a class of five is not above a risk of 0.2.
@_figures.register
def _(finding: RiskReport, name: str) -> Iterator[Tried]:
    yield Tried(f"{name}, highest", "highest risk", 1 / min(finding.sizes), "is the highest risk of a person")
    average = finding.classes / finding.rows
    yield Tried(f"{name}, average", "average risk", average, "is the average risk")


@_figures.register
def _(finding: Homogeneity, name: str) -> Iterator[Tried]:
    yield Tried(name, "homogeneity", finding.learned.rate, f"of the people have their {finding.sensitive!r} given away")


@_figures.register
def _(finding: Skewness, name: str) -> Iterator[Tried]:
    means = f"of the people have their {finding.sensitive!r} all but told by their class"
    yield Tried(name, "skewness", finding.above.rate, means)


@_figures.register
def _(finding: MatchRisk, name: str) -> Iterator[Tried]:
    yield Tried(name, "matching", finding.rate, "of the targets are expected to be found")


@_figures.register
def _(finding: Linkage, name: str) -> Iterator[Tried]:
    found = finding.claims if finding.right is None else finding.right
    yield Tried(name, "joining", found.rate, "of the people in the auxiliary table are found")


@_figures.register
def _(finding: Intersection, name: str) -> Iterator[Tried]:
    means = f"of the people have their {finding.sensitive!r} given away by both releases together"
    yield Tried(name, "intersection", finding.together.rate, means)


@_figures.register
def _(finding: ExactCopies, name: str) -> Iterator[Tried]:
    if finding.partial:
        yield Tried(name, "rows as they were", finding.copies.rate, "of the rows left as they were")
    else:
        yield Tried(name, "exact copies", finding.copies.rate, "of the synthetic rows equal a real one")


@_figures.register
def _(finding: Undone, name: str) -> Iterator[Tried]:
    yield Tried(name, "undone", float(len(finding.columns)), "columns that leave as they were undo it")


@_figures.register
def _(finding: MembershipAttack | MembershipReport, name: str) -> Iterator[Tried]:
    from ziggurat.release._tried_models import weigh_membership

    yield from weigh_membership(finding, name)


@_figures.register
def _(finding: InferredAttribute, name: str) -> Iterator[Tried]:
    from ziggurat.release._tried_models import weigh_attribute

    yield from weigh_attribute(finding, name)


@_figures.register
def _(finding: ReconstructedRows, name: str) -> Iterator[Tried]:
    from ziggurat.release._tried_models import weigh_rows

    yield from weigh_rows(finding, name)


@_figures.register
def _(finding: HeldRows, name: str) -> Iterator[Tried]:
    from ziggurat.release._tried_models import weigh_held

    yield from weigh_held(finding, name)


@_figures.register
def _(finding: CopiedModel, name: str) -> Iterator[Tried]:
    from ziggurat.release._tried_models import weigh_copy

    yield from weigh_copy(finding, name)


def _by_guesses(name: str, kind: str, each: Guesses) -> Tried:
    return Tried(name, kind, each.risk.rate, _BEYOND, each.chance, each.risk.verdict is None)
