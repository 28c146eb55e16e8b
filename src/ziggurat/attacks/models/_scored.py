"""How well scores tell members from others: curves, intervals, and tests that are exact.

Every attack gives each person a score: the larger, the likelier a member. Two rules turn scores into guesses, both by
the scores alone, whoever the members are: *the surest* names the hundredth with the largest scores, *an even guess* as
many people as there are members, or where coins decided, as many as they make members on average. If the model does not
know which of the people its members are, and these were drawn at random, then members among those named are drawn
without replacement: Fisher's test is exact, as in `_guesses`.

For groups that were given, not drawn, any difference between them looks like membership to an attack. Such scores are
set beside a *blind* attack that never sees the model (Das, Zhang, Tramèr 2024, "Blind baselines beat membership
inference attacks for foundation models"), and there is no verdict.

The curve: of others at most a share FPR is named, of members TPR (Carlini, Chien, Nasr, Song, Terzis, Tramèr 2022,
"Membership inference attacks from first principles", IEEE S&P, on why small FPR count); its intervals are those of
Clopper and Pearson (1934). For an (epsilon, delta)-DP model TPR <= e^epsilon FPR + delta on average over all draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._epsilon import EpsilonBound, epsilon_bound
from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import ALARM, Guesses, judge
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.findings import CONFIDENCE, Finding, RangedNumber

Floats = npt.NDArray[np.float64]

SUREST = Fraction(1, 100)
"""Which share of the people the surest guesses name."""

FEWEST_OTHERS = {Fraction(1, 100): 100, Fraction(1, 1000): 10_000}
"""At which FPR a curve is read, and how many others that takes at least."""

LEVEL = 0.05
"""How often a bound above the true epsilon may come up, whatever was tried."""

_POINTS = 200


@dataclass(frozen=True)
class RankedArea(RangedNumber):
    """The area under the curve: how often a member has the larger score than somebody else, ties counting half.

    With the interval of DeLong, DeLong and Clarke-Pearson (1988) at 95 %, on the scale of log odds.
    """

    rate: float
    low: float
    high: float

    @classmethod
    def of(cls, members: Floats, others: Floats) -> RankedArea:
        """Compare all members with all others."""
        from scipy.stats import norm, rankdata

        m, n = len(members), len(others)
        joint = rankdata(np.concatenate([members, others]))
        beats = (joint[:m] - rankdata(members)) / n
        beaten = 1 - (joint[m:] - rankdata(others)) / m
        rate = float(beats.mean())
        if not 0 < rate < 1 or min(m, n) < 2:
            return cls(rate, 0.0 if rate < 1 else 1 - 1 / min(m, n), 1.0 if rate > 0 else 1 / min(m, n))
        error = math.sqrt(beats.var(ddof=1) / m + beaten.var(ddof=1) / n)
        reach = float(norm.ppf((1 + CONFIDENCE) / 2)) * error / (rate * (1 - rate))
        centre = math.log(rate / (1 - rate))
        return cls(rate, 1 / (1 + math.exp(reach - centre)), 1 / (1 + math.exp(-reach - centre)))

    def to_dict(self) -> dict[str, Any]:
        """Return the area and its ends."""
        return {"rate": self.rate, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        return f"{self.rate:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class CurveReading(Shown, RangedNumber):
    """The share of members that is named where at most a share of the others is.

    Attributes
    ----------
    at
        The share of others: FPR.
    named
        Members named, of all: TPR.
    falsely
        Others named, of all.
    """

    at: Fraction
    named: Share
    falsely: Share

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of the share of members by Clopper and Pearson at 95 %."""
        return clopper_pearson(self.named)

    def to_dict(self) -> dict[str, Any]:
        """Return what was read off the curve."""
        low, high = self.ends
        return {"at": str(self.at), "rate": self.named.rate, "low": low, "high": high, "others": self.falsely.to_dict()}

    def __str__(self) -> str:
        low, high = self.ends
        return f"{self.named.rate:.1%} ({low:.1%} to {high:.1%})"


def clopper_pearson(share: Share, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the interval of a share that is too wide rather than too narrow."""
    from scipy.stats import beta

    miss, k, n = (1 - confidence) / 2, share.hits, share.trials
    low = float(beta.ppf(miss, k, n - k + 1)) if k else 0.0
    return low, float(beta.ppf(1 - miss, k + 1, n - k)) if k < n else 1.0


@dataclass(frozen=True)
class MembershipAttack(Finding):
    """How well one attack tells who a model was trained on.

    Attributes
    ----------
    attack
        What it is called.
    area
        Under the curve; 0.5 for an attack that knows nothing.
    readings
        The curve where it matters most.
    even, surest
        Guesses by the two rules; their naive ones are those of the blind attack. Without a random split they carry no
        verdict.
    random_split
        Whether members and others were drawn at random from the same people.
    bound
        Where an epsilon is promised: what the guesses show of it.
    curve
        Points (FPR, TPR), for a picture.
    tried
        How many attacks were tried on the same people. The verdict and the bound are corrected for it (Bonferroni).
    """

    attack: str
    area: RankedArea
    readings: tuple[CurveReading, ...]
    even: Guesses
    surest: Guesses
    random_split: bool
    bound: EpsilonBound | None
    curve: tuple[tuple[float, float], ...]
    tried: int = 1

    @property
    def accuracy(self) -> float:
        """The balanced accuracy of the even guess."""
        return (1 + self.even.attack.rate - self.even.control.rate) / 2

    @property
    def verdict(self) -> bool | None:
        """Whether it tells members from others, beyond chance; None where that cannot be judged."""
        if not self.random_split:
            return None
        return None if self.even.risk.verdict is None else self.chance <= 2 * ALARM

    @property
    def chance(self) -> float:
        """How likely so much is, by any rule of any attack tried, if the model does not know its members: at most."""
        return min(1.0, 2 * self.tried * min(self.even.chance, self.surest.chance))

    @property
    def sentence(self) -> str:
        """What an attacker learned, in a sentence for a steward."""
        text = f"By {self.attack} an attacker tells who is a member with an area of {self.area} under the curve"
        if self.readings:
            text += f", and names {self.readings[0]} of the members with {float(self.readings[0].at):.0%} of others"
        if not self.random_split:
            return f"{text}; members and others were not drawn at random, so that is no verdict."
        if self.verdict is None:
            return f"{text}; there are too few people for a verdict."
        if self.verdict:
            return f"{text}: that is more than chance explains."
        return f"{text}: that is no more than chance explains."

    @property
    def table(self) -> pa.Table:
        """The figures with their ends."""
        rows: dict[str, tuple[float, float, float]] = {
            "area under the curve": (self.area.rate, self.area.low, self.area.high)
        }
        for each in self.readings:
            rows[f"members named at {float(each.at):.1%} of others"] = (each.named.rate, *each.ends)
        names, ends = list(rows), list(zip(*rows.values(), strict=True))
        return pa.table({"figure": names, "rate": ends[0], "low": ends[1], "high": ends[2]})


def judge_scores(
    attack: str,
    members: npt.ArrayLike,
    others: npt.ArrayLike,
    *,
    random_split: bool,
    blind: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    epsilon: Fraction | str | int | None = None,
    delta: Fraction | str | int = 0,
    kept_back: float | None = None,
    tried: int = 1,
) -> MembershipAttack:
    """Judge the scores that an attack gave to members and to others; the larger, the likelier a member.

    Parameters
    ----------
    attack
        What it is called.
    members, others
        Their scores.
    random_split
        Whether members and others were drawn at random from the same people: only then is there a verdict.
    blind
        The scores of an attack that never sees the model, for both.
    epsilon, delta
        What is promised about adding or removing one of these people, if anything.
    kept_back
        The probability with which a coin kept each of them back; None if as many were drawn as there are members.
    tried
        How many attacks are tried on the same people, this one among them.
    """
    inside, outside = _scores(members), _scores(others)
    unseen = None if blind is None else (_scores(blind[0]), _scores(blind[1]))
    people = len(inside) + len(outside)
    # How many were kept back by coins is not known to who sees the output alone, so the rule must not use it.
    half = len(inside) if kept_back is None else round(people * (1 - kept_back))
    even, surest = name_people(inside, outside, half, unseen)
    bound = None
    if epsilon is not None and random_split:
        share, fixed = (len(outside) / people, True) if kept_back is None else (kept_back, False)
        terms: dict[str, Any] = {"people": people, "epsilon": epsilon, "delta": delta, "kept_back": share}
        # Two rules are tried and the better is told, so each is tested at half the level.
        tests = [
            epsilon_bound(attack, each, **terms, level=LEVEL / (2 * tried), fixed_sizes=fixed)
            for each in (even, surest)
        ]
        best = min(tests, key=lambda each: (each.chance, -each.lower))
        lower = max(each.lower for each in tests)
        bound = replace(best, chance=min(1.0, 2 * tried * best.chance), lower=lower, level=LEVEL)
    readings = tuple(_read_curve(inside, outside, at) for at, fewest in FEWEST_OTHERS.items() if len(outside) >= fewest)
    area = RankedArea.of(inside, outside)
    curve = _draw_curve(inside, outside)
    return MembershipAttack(attack, area, readings, even, surest, random_split, bound, curve, tried)


def name_people(
    inside: Floats, outside: Floats, half: int, unseen: tuple[Floats, Floats] | None = None
) -> tuple[Guesses, Guesses]:
    """Return guesses by the two rules: an even guess that names so many, and the surest."""
    few = max(1, round((len(inside) + len(outside)) * SUREST))
    return _name(inside, outside, max(1, half), unseen), _name(inside, outside, few, unseen)


def _scores(given: npt.ArrayLike) -> Floats:
    scores = np.asarray(given, np.float64)
    if scores.ndim != 1 or not len(scores) or np.isnan(scores).any():
        raise ParameterError("Scores are numbers, one for each person, and there must be members and others.")
    return scores


def _name(inside: Floats, outside: Floats, named: int, unseen: tuple[Floats, Floats] | None) -> Guesses:
    """Guess that the people with the largest scores are members: so many, or about as many where scores are equal."""
    attack, control = _count(inside, outside, named)
    naive = Share(0, 0) if unseen is None else _count(*unseen, named)[0]
    return judge(attack, control, naive)


def _count(inside: Floats, outside: Floats, named: int) -> tuple[Share, Share]:
    """Name so many; of people with equal scores all or none, whichever comes nearer to the number."""
    joint = np.sort(np.concatenate([inside, outside]))[::-1]
    least = joint[min(named, len(joint)) - 1]
    above, with_equals = int((joint > least).sum()), int((joint >= least).sum())
    falls_short = with_equals - named < named - above
    return _share(inside, least, falls_short), _share(outside, least, falls_short)


def _share(scores: Floats, least: float, equals: bool) -> Share:
    return Share(int((scores >= least if equals else scores > least).sum()), len(scores))


def _read_curve(inside: Floats, outside: Floats, at: Fraction) -> CurveReading:
    allowed = int(len(outside) * at)
    least = np.sort(outside)[::-1][allowed]
    return CurveReading(
        at,
        Share(int((inside > least).sum()), len(inside)),
        Share(int((outside > least).sum()), len(outside)),
    )


def _draw_curve(inside: Floats, outside: Floats) -> tuple[tuple[float, float], ...]:
    """Points at cuts that are dense where few others are named, from (0, 0) to (1, 1)."""
    ordered = np.sort(outside)[::-1]
    counts = np.unique(np.round(np.geomspace(1, len(outside), _POINTS)).astype(int))
    cuts = ordered[counts - 1]
    members, others = np.sort(inside), np.sort(outside)
    named = 1 - np.searchsorted(members, cuts, side="left") / len(members)
    falsely = 1 - np.searchsorted(others, cuts, side="left") / len(others)
    first = float((inside > ordered[0]).mean())
    return ((0.0, first), *zip(falsely.tolist(), named.tolist(), strict=True), (1.0, 1.0))
