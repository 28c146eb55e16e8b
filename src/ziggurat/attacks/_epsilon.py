"""A lower bound on epsilon, from who of the people an attack takes to be in the table really is: a promise refuted.

Each of m people is kept back with probability q by a coin of their own; the others are what an (epsilon, delta)-DP
mechanism (adding or removing one person) sees. An attacker who knows its output and all m people, but no coin, says of
r of them that they are in the table. With p = e^epsilon (1 - q) / (e^epsilon (1 - q) + q), at least w of them are with
probability at most P[Binomial(r, p) >= w] + m q (1 - q) delta.

Proof. Fix i and the coins of all others, and let P and Q be the densities of the output if i is in the table, and if
not. Given the output, i is in with probability (1 - q) P / ((1 - q) P + q Q). What this exceeds p by is on average

    ∫ ((1 - q) (1 - p) P - q p Q)_+  =  (1 - q) (1 - p) ∫ (P - e^epsilon Q)_+  <=  (1 - q) (1 - p) delta,

since q p = (1 - q) (1 - p) e^epsilon; and 1 - p <= q. Given fewer coins than all others' it is no more (Jensen). Now
reveal the coins one by one: given the output and the coins before, i is in with a probability that exceeds p by amounts
whose means add up to at most m q (1 - q) delta. Coins with these probabilities cut at p, coupled with the true ones,
differ from them no more often than that, and of the r people named by the output alone they put at most as many into
the table as r coins of p do, in distribution. Hence, too, the bound is a p-value, although r depends on the output.

If it also says of r' other people that they are not, and v of these are not, then P[w + v >= k] is at most the chance
that Binomial(r, p) + Binomial(r', p') reach k, p' = e^epsilon q / (e^epsilon q + 1 - q), plus 2 m q (1 - q) delta: the
same with P and Q, and q and 1 - q, changed places; each person is named in by some outputs and out by others, so both
excesses count. If not m coins were tossed but m - n people drawn who are in the table and n who are not, all draws
equally likely, take q = n / m: these are coins of which, by chance, m - n fell so, and the bound is divided by the
probability of that, P[Binomial(m, 1 - q) = m - n] (an event has no more given another than by itself, over the other).

Steinke, Nasr, Jagielski (2023), "Privacy auditing with one (1) training run", NeurIPS, prove it for fair coins, with
less for delta where delta is large; for one person it is the region of Kairouz, Oh, Viswanath (2015), "The composition
theorem for differential privacy", ICML.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import Guesses
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.privacy import exact_delta, exact_epsilon, in_words

_ROUNDING = 1 + 1e-9  # of the binomial tail, and of amounts as floats
_LARGEST = 100.0  # an epsilon that nobody would promise; the search for the one that is shown ends there
_STEP = 1e-9


@dataclass(frozen=True)
class EpsilonBound(Finding):
    """What an attack shows of the epsilon of a release that promises one.

    Attributes
    ----------
    attack
        Which attack.
    right
        Of the people whom it takes to be in the table, those who are; and of those whom it takes not to be, if it says.
    people, kept_back
        For how many people a coin was tossed, and the probability that it kept them back.
    claimed, delta
        What is promised.
    chance
        How likely as many are right, or more, if the promise holds: at most.
    lower
        Which epsilon is shown at this delta: a smaller one would be refuted so with probability at most `level`.
    level
        See `lower`.
    """

    attack: str
    right: Share
    people: int
    kept_back: float
    claimed: Fraction
    delta: Fraction
    chance: float
    lower: float
    level: float

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        text = (
            f"Of {self.right.trials:,} guesses who is in the table {self.attack} has {self.right.hits:,} right: an "
            f"epsilon of at least {self.lower:.3g} is shown, and {in_words(self.claimed)} was promised"
        )
        if self.lower > self.claimed:
            return f"{text}. Warning: so much has a chance of {self.chance:.2g} at most if the promise holds."
        return f"{text}; that does not contradict it, and does not prove it either."

    @property
    def table(self) -> pa.Table:
        """What is promised beside what is shown."""
        return pa.table({"epsilon": ["promised", "shown"], "value": [float(self.claimed), self.lower]})

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold; amounts stay exact."""
        return {**super().to_dict(), "claimed": str(self.claimed), "delta": str(self.delta)}


def epsilon_bound(
    attack: str,
    guesses: Guesses,
    *,
    people: int,
    kept_back: float,
    epsilon: Fraction | str | int,
    delta: Fraction | str | int = 0,
    level: float = 0.05,
    named_out: Share | None = None,
    fixed_sizes: bool = False,
) -> EpsilonBound:
    """Test a promise of (epsilon, delta) by guesses about all people of whom each was kept back by a coin.

    Parameters
    ----------
    attack
        What it is called.
    guesses
        One about each of the people, right or wrong by the output alone: a right one takes the person to be in.
    people, kept_back
        How many there are, and the probability with which each was kept back.
    epsilon, delta
        The promise, about adding or removing one of these people.
    level
        How often a lower bound above the true epsilon may come up.
    named_out
        Of people whom it takes not to be in the table, how many are not; nobody is named both.
    fixed_sizes
        Whether no coins were tossed, but as many people drawn at random as there are in the table.
    """
    if guesses.attack.trials + guesses.control.trials != people:
        raise ParameterError("A promise is tested by guesses about all people for whom a coin was tossed.")
    if not 0 < kept_back < 1 or not 0 < level < 1:
        raise ParameterError("Both the probability to be kept back and the level lie above 0 and below 1.")
    claimed, slack = exact_epsilon(epsilon), exact_delta(delta)
    inside = Share(guesses.attack.hits, guesses.attack.hits + guesses.control.hits)
    outside = named_out or Share(0, 0)
    if inside.trials + outside.trials > people:
        raise ParameterError("Nobody can be taken to be in the table and not to be; name everybody once at most.")
    law = _Law(inside, outside, guesses.control.trials / people if fixed_sizes else kept_back)
    luck = law.of_sizes(guesses.attack.trials, people) if fixed_sizes else 1.0
    sides = 2 if outside.trials else 1
    beyond = sides * people * law.kept_back * (1 - law.kept_back) * float(slack)
    chance = min(1.0, (law.tail(float(claimed)) * _ROUNDING + beyond) / luck)
    shown = law.invert(level * luck / _ROUNDING - beyond)
    right = Share(inside.hits + outside.hits, inside.trials + outside.trials)
    return EpsilonBound(attack, right, people, law.kept_back, claimed, slack, chance, shown, level)


@dataclass(frozen=True)
class _Law:
    """How many guesses are right at most, in distribution, if an epsilon holds without delta."""

    inside: Share
    outside: Share
    kept_back: float

    def of_sizes(self, members: int, people: int) -> float:
        """How likely coins give as many members; never rounded up."""
        from scipy import stats

        return float(stats.binom.pmf(members, people, 1 - self.kept_back)) / _ROUNDING

    def tail(self, epsilon: float) -> float:
        """How likely as many are right, or more."""
        from scipy import stats

        odds = self.kept_back / (1 - self.kept_back)
        p, others = 1 / (1 + odds * math.exp(-epsilon)), 1 / (1 + math.exp(-epsilon) / odds)
        hits = self.inside.hits + self.outside.hits
        if not self.outside.trials:
            return float(stats.binom.sf(hits - 1, self.inside.trials, p))
        each = np.arange(self.outside.trials + 1)
        less = stats.binom.pmf(each, self.outside.trials, others)
        return min(1.0, float(less @ stats.binom.sf(hits - each - 1, self.inside.trials, p)))

    def invert(self, level: float) -> float:
        """The largest epsilon whose tail is at most the level, from below."""
        if not self.outside.trials:
            return self._invert_at_once(level)
        low, high = 0.0, _LARGEST
        if level <= 0 or self.tail(low) > level:
            return 0.0
        while high - low > _STEP:
            middle = (low + high) / 2
            low, high = (middle, high) if self.tail(middle) <= level else (low, middle)
        return low

    def _invert_at_once(self, level: float) -> float:
        """The same where nobody is named out, by the limit of Clopper and Pearson (1934)."""
        from scipy import stats

        hits, odds = self.inside.hits, self.kept_back / (1 - self.kept_back)
        if not hits or level <= 0:
            return 0.0
        p = float(stats.beta.ppf(level, hits, self.inside.trials - hits + 1))
        return max(0.0, math.log(p / (1 - p) * odds)) if 0 < p < 1 else 0.0
