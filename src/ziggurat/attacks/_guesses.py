"""Guesses about people in the table, about people who are not, and naive ones: what being in the table adds.

Giomi, Boenisch, Wehmeyer, Tasnádi (2023), "A unified framework for quantifying privacy risk in synthetic data", PoPETs
2023(2): an attack on synthetic data counts only by how much better it does on the rows they were made from than on rows
that were kept back, and only if it beats guesses that use next to nothing.

The verdict is an exact test of the hypothesis that the synthetic table does not know which rows it was made from: then
rows of the original and of the control can change places. Guesses about single people are right or wrong whatever
the others are, so that of all right ones those about the original are drawn without replacement (Fisher 1935).
Predicates that single out depend on all rows, and on each other; there pairs of rows change places at random, and as
many right guesses must be rarer than `ALARM` (Barnard 1963). Either way a table that knows nothing alarms at most once
in forty times, however few the guesses are. With fewer than `FEWEST` there is no verdict: they would clear anybody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pyarrow as pa

from ziggurat.attacks._finding import Difference, Share
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError

ALARM = 0.025
"""How often a verdict of more than chance may be false: at most."""

FEWEST = 30
"""With fewer guesses there is no verdict."""


@dataclass(frozen=True)
class Excess:
    """The share of what the control leaves to be learned that the attack learns: (attack - control) / (1 - control).

    Attributes
    ----------
    rate
        The share; below 0 if the control does better, and cut at -1.
    low, high
        Its interval at 95 %, by the method of variance estimates recovery from Wilson's intervals (Donner and Zou 2012,
        Stat. Methods Med. Res. 21(4)): it leaves out 0 where Newcombe's interval of the difference does. It takes
        guesses for independent; the verdict does not.
    verdict
        Whether that is more than chance explains; None if the guesses are too few to tell.
    """

    rate: float
    low: float
    high: float
    verdict: bool | None = None

    @property
    def more_than_chance(self) -> bool:
        """Whether that is more than chance explains; not if the guesses are too few to tell."""
        return self.verdict is True

    def __str__(self) -> str:
        return f"{self.rate:.1%} ({self.low:.1%} to {self.high:.1%})"


@dataclass(frozen=True)
class Guesses(Shown):
    """How often guesses of one kind are right.

    Attributes
    ----------
    attack
        About rows of the original.
    control
        The same guesses about rows that the synthetic table was not made from.
    naive
        Guesses about rows of the original that use next to nothing of the synthetic table.
    risk
        What the attack learns beyond the control.
    chance
        How often as many right guesses, or more, fall to the original if it and the control change places.
    """

    attack: Share
    control: Share
    naive: Share
    risk: Excess
    chance: float

    @property
    def sentence(self) -> str:
        """How often the guesses are right, and whether that is more than chance."""
        many, others = f"{self.attack.trials:,} guesses", f"{self.control.trials:,}"
        text = f"{self.attack} of {many} about the original's rows are right, and {self.control} of {others} about"
        text += " control rows"
        if self.risk.verdict is None:
            return f"{text}; these are too few for a verdict, which needs {FEWEST} of each."
        if self.risk.more_than_chance:
            text += f"; that is more than chance, and a risk of {self.risk}"
        else:
            text += f"; that is no more than chance explains (risk {self.risk})"
        if Difference(self.attack, self.naive).low <= 0:
            text += f". Naive guesses do as well ({self.naive}): so weak an attack does not show that there is no risk"
        return f"{text}."

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals."""
        named: dict[str, Share | Excess] = {
            "right about the original's rows": self.attack,
            "right about control rows": self.control,
            "right by naive guesses": self.naive,
            "risk beyond the control": self.risk,
        }
        ends = {end: [getattr(share, end) for share in named.values()] for end in ("rate", "low", "high")}
        guesses = [getattr(share, "trials", None) for share in named.values()]
        return pa.table({"figure": list(named), **ends, "guesses": pa.array(guesses, pa.int64())})


def judge(attack: Share, control: Share, naive: Share, chance: float | None = None) -> Guesses:
    """Return the guesses with the risk that they amount to; without `chance` they are about single people."""
    by_luck = dealt_chance(attack, control) if chance is None else chance
    few = min(attack.trials, control.trials) < FEWEST
    risk = replace(excess(attack, control), verdict=None if few else by_luck <= ALARM)
    return Guesses(attack, control, naive, risk, by_luck)


def dealt_chance(attack: Share, control: Share) -> float:
    """Return how likely at least as many of all right guesses fall to the original by the luck of the draw (Fisher)."""
    from scipy import stats

    trials, hits = attack.trials + control.trials, attack.hits + control.hits
    return float(stats.hypergeom.sf(attack.hits - 1, trials, hits, attack.trials))


def excess(attack: Share, control: Share) -> Excess:
    """Return the risk beyond the control: 1 minus the ratio of the shares of failures."""
    failed, left = 1 - attack.rate, 1 - control.rate
    rate = 1 - failed / left if left else float(failed > 0) * -1
    # The limits R of the ratio: where the limits of failed - R left, recovered from those of both, are 0.
    least = _limit(failed, 1 - attack.high, left, 1 - control.low)
    most = _limit(failed, 1 - attack.low, left, 1 - control.high, upper=True)
    return Excess(max(-1.0, rate), max(-1.0, 1 - most), max(-1.0, 1 - least))


def pool(shares: list[Share]) -> Share:
    """Return several shares as one of all their trials."""
    return Share(sum(each.hits for each in shares), sum(each.trials for each in shares))


def whole(value: object, what: str) -> int:
    """Return a whole number of at least 1, or raise ParameterError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{what} must be a whole number of at least 1.")
    return value


def _limit(top: float, top_end: float, bottom: float, bottom_end: float, *, upper: bool = False) -> float:
    """The root R of bottom_end (2 bottom - bottom_end) R^2 - 2 top bottom R + top_end (2 top - top_end) = 0."""
    a, b, c = bottom_end * (2 * bottom - bottom_end), top * bottom, top_end * (2 * top - top_end)
    far = b + math.sqrt(max(0.0, b * b - a * c))
    if upper:
        return far / a if a > 0 else math.inf
    return c / far if far > 0 else 0.0
