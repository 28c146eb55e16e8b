"""Whether released sequences follow those they were learned from more closely than others.

Many sequences are equal by nature (most logs are a handful of patterns), so that a copy alone says nothing: only what
is found of units that were learned from beyond what is found of units that were kept back counts.

Hypothesis: what was released does not know which units were learned from. Then these and the control are two parts of
one pool, dealt at random.

Closeness. As many units of both are drawn, and paired before anybody looks. Every different released sequence gives one
vote, shared equally by all sequences of the pool that are closest to it (by edit distance as a share of the longer's
length); equal ones have equal shares, so that what is frequent in both cancels. The votes of a unit are then a function
of the pool, whoever was learned from, and whether the two of a pair change places is a fair coin: the votes for those
learned from less the votes for the control are a sum of the pairs' differences with random signs, which `bound_luck`
bounds.

Copies. Of a sequence that only one unit of the whole pool has, the owner was learned from or not; whether it was
released does not depend on that. Of all units with such sequences those learned from are dealt without replacement,
which is Fisher's exact test, whatever the sizes of both are.

Each test alarms by chance with probability at most half of `ALARM`, hence the verdict with at most `ALARM`.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._guesses import ALARM, FEWEST, Excess, dealt_chance, excess, whole
from ziggurat.attacks._nearest import Distances, Nearest, find_nearest
from ziggurat.attacks._swaps import bound_luck
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.findings import CONFIDENCE, Finding, Share
from ziggurat.randomness import choose_source
from ziggurat.sequences import Sequences

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_QUANTILES = (0.05, 0.25, 0.5)
AT_MOST = 10_000
"""How many sequences of each kind are measured by default."""


@dataclass(frozen=True)
class SequenceCloseness(Shown):
    """How close released sequences come to some real ones, by default in edits as a share of the longer's length.

    Attributes
    ----------
    low, quarter, median
        The 5th, 25th and 50th percentile of the distances of the different released sequences to the closest.
    equal
        The released sequences, each time, that equal one.
    """

    low: float
    quarter: float
    median: float
    equal: Share


@dataclass(frozen=True)
class ClosestSequences(Finding):
    """Whether released sequences come closer to those they were learned from than to others.

    Attributes
    ----------
    released, distinct, units
        How many released sequences were measured, how many of them are different, and against how many units of each
        side.
    closer
        The share of the different released sequences that are closest to those learned from; a half is expected. One
        that is as close to several sequences counts by the share of them.
    chance
        By how much chance alone moves that share either way (at 95 %).
    luck
        A bound on how likely so many votes are by chance alone.
    learned, control
        How close they come to those learned from, and to the control; of as many units each.
    copies
        The released sequences that equal any that was learned from.
    uniques, control_uniques
        Of the units that have a sequence nobody else has, learned from or kept back, those of whom such a sequence was
        released.
    copied
        How likely so many of them are among those learned from by chance alone.
    """

    released: int
    distinct: int
    units: int
    closer: float
    chance: float
    luck: float
    learned: SequenceCloseness
    control: SequenceCloseness
    copies: Share
    uniques: Share
    control_uniques: Share
    copied: float

    @property
    def closeness(self) -> Excess:
        """By how much more of the different released sequences are closer to those learned from than to the control."""
        rate, reach = 2 * self.closer - 1, 2 * self.chance
        few = min(self.units, self.distinct) < FEWEST or self.chance > _Z / 2 / FEWEST**0.5
        return Excess(rate, rate - reach, rate + reach, None if few else self.luck <= ALARM / 2)

    @property
    def copying(self) -> Excess:
        """The share of rare sequences that were copied beyond what the control has by chance."""
        few = min(self.uniques.trials, self.control_uniques.trials) < FEWEST
        found = excess(self.uniques, self.control_uniques)
        return Excess(found.rate, found.low, found.high, None if few else self.copied <= ALARM / 2)

    @property
    def verdict(self) -> bool | None:
        """Whether the released sequences follow those learned from; None if there are too few to tell."""
        found = {self.closeness.verdict, self.copying.verdict}
        return True if True in found else (None if found == {None} else False)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        text = (
            f"{self.closer:.1%} of {self.distinct:,} different released sequences are closest to those learned "
            f"from rather than to the control (50% expected, give or take {self.chance:.1%}); sequences that one unit "
            f"alone has were released of {self.uniques} of {self.uniques.trials:,} units learned from and of "
            f"{self.control_uniques} of {self.control_uniques.trials:,} others"
        )
        if self.verdict:
            return f"{text}. Warning: the model copies what it learned from."
        if self.verdict is None:
            return f"{text}. These are too few for a verdict."
        return f"{text}. That is no more than chance explains."

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        return {**super().to_dict(), "verdict": self.verdict}

    @property
    def table(self) -> pa.Table:
        """Those learned from beside the control."""
        sides, uniques = (self.learned, self.control), (self.uniques, self.control_uniques)
        return pa.table(
            {
                "real sequences": ["learned from", "control"],
                "closest": [self.closer, 1 - self.closer],
                "distance, 5th percentile": [each.low for each in sides],
                "distance, 25th percentile": [each.quarter for each in sides],
                "distance, median": [each.median for each in sides],
                "released ones equal to one": [each.equal.rate for each in sides],
                "units with a sequence of their own": [each.trials for each in uniques],
                "of them released": [each.rate for each in uniques],
            }
        )


def closest_sequences(
    released: Sequences,
    learned: Sequences,
    control: Sequences,
    *,
    distance: Distances | None = None,
    at_most: int = AT_MOST,
    random_state: int | None = None,
) -> ClosestSequences:
    """Measure whether released sequences follow those learned from more closely than sequences that were kept back.

    Parameters
    ----------
    released
        What leaves. Texts are sequences of words.
    learned, control
        What it was learned from, and sequences of the same kind that it was not learned from: chosen at random, unit by
        unit, from the same pool.
    distance
        Another one than the edit distance, between texts of one character per symbol (`Sequences.to_characters`).
    at_most
        How many released sequences, and how many units of each side, are measured at most; drawn at random. Copies are
        looked for among all.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    most = whole(at_most, "The largest number of sequences")
    for each in (learned, control):
        if each.domain.tokens != released.domain.tokens or each.domain.unit != learned.domain.unit:
            raise ParameterError("The sequences have different tokens or units; give them the same domain.")
        if not len(each) or not len(released):
            raise ParameterError("There must be at least one sequence released, learned from and kept back.")
    draw = choose_source(random_state).simulation()
    texts = released.to_characters()
    asked = [texts[place] for place in draw.permutation(len(texts))[:most]]
    sides = [_SequenceSide(each) for each in (learned, control)]
    size = min(most, *(each.units for each in sides))
    ours, theirs = (each.draw(size, draw) for each in sides)
    found = find_nearest(asked, ours[0], theirs[0], distance)
    votes = [np.bincount(who, weights=found.votes(texts), minlength=size) for texts, who in (ours, theirs)]
    gaps, distinct = votes[0] - votes[1], len(found.times)
    uniques = _count_uniques(set(texts), *sides)
    known = set(sides[0].texts)
    return ClosestSequences(
        released=len(asked),
        distinct=distinct,
        units=size,
        closer=0.5 + float(gaps.sum()) / 2 / distinct,
        chance=float(_Z * np.sqrt((gaps**2).sum()) / 2 / distinct),
        luck=bound_luck(gaps),
        learned=_closeness(found, found.first),
        control=_closeness(found, found.second),
        copies=Share(sum(each in known for each in texts), len(texts)),
        uniques=uniques[0],
        control_uniques=uniques[1],
        copied=dealt_chance(*uniques),
    )


class _SequenceSide:
    """Those learned from, or the control: texts of one character per symbol, and whose each is."""

    def __init__(self, sequences: Sequences) -> None:
        self.texts = sequences.to_characters()
        owners = np.arange(len(sequences)) if sequences.owners is None else sequences.owners
        names, self.owners = np.unique(owners, return_inverse=True)
        self.units = len(names)

    def draw(self, size: int, draw: np.random.Generator) -> tuple[list[str], npt.NDArray[np.int64]]:
        """The sequences of so many units, and the place of the unit of each: the i-th of both sides are a pair."""
        place = np.full(self.units, -1)
        place[draw.permutation(self.units)[:size]] = np.arange(size)
        held = np.flatnonzero(place[self.owners] >= 0)
        return [self.texts[each] for each in held.tolist()], place[self.owners[held]]


def _count_uniques(released: set[str], learned: _SequenceSide, control: _SequenceSide) -> tuple[Share, Share]:
    """Of the units with a text of their own, those of whom one was released: learned from, and of the control."""
    owner: dict[str, tuple[int, int] | None] = {}
    for side, each in enumerate((learned, control)):
        for text, unit in zip(each.texts, each.owners.tolist(), strict=True):
            whose = (side, unit)
            owner[text] = whose if owner.setdefault(text, whose) == whose else None
    alone = {whose for whose in owner.values() if whose is not None}
    found = {whose for text, whose in owner.items() if whose is not None and text in released}
    shares = [Share(sum(who[0] == side for who in found), sum(who[0] == side for who in alone)) for side in (0, 1)]
    return shares[0], shares[1]


def _closeness(found: Nearest, distances: npt.NDArray[np.float64]) -> SequenceCloseness:
    low, quarter, median = (float(each) for each in np.quantile(distances, _QUANTILES))
    return SequenceCloseness(
        low, quarter, median, Share(int(found.times[distances == 0].sum()), int(found.times.sum()))
    )
