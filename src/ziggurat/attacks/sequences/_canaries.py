"""Canaries: random sequences that are planted among those learned from, to see whether a model remembers them.

Carlini, Liu, Erlingsson, Kos, Song (2019), "The secret sharer", USENIX Security: the exposure of a canary is log2 of
the number of candidates less log2 of its rank among them. What it says of a promise:

Let m canaries be chosen independently, each uniformly from R candidates of its own that were drawn independently of
the data, and let each be planted once. Let W be how many of them have rank r at most by scores that depend on what was
released alone, where equal scores count as better than the canary's. If adding or removing one sequence keeps (epsilon,
delta), then with q = e^epsilon r / R, for every k <= w,

    P[W >= w]  <=  C(m, k) / C(w, k) * P_k,    P_k = q^k + delta (1 - q^k) / (1 - q)    (and at most 1).

Proof. Let P_k bound the probability that k given canaries all have rank r at most, whatever else was planted. Remove
the first of them: the probability is at most e^epsilon times what it then is, plus delta. Now what was released does
not depend on which of its candidates the canary was; so, given the release and all others, at most r of R choices
have rank r at most (ranks count ties as better), and the rest is about k - 1 canaries: P_k <= e^epsilon (r / R)
P_(k-1) + delta, P_0 = 1. The sum over all k-subsets of the canaries of the probability that all its members have rank
r at most is the mean of C(W, k), which is at least C(w, k) P[W >= w] (Markov). QED. (Schmidt, Siegel, Srinivasan 1995
use the same step for Chernoff's bound with limited independence.)

For one canary k = 1 and r its rank: e^epsilon rank / R + delta is a p-value. For several, r is one of 1, 2, 4, ...,
and the smallest bound times the number of these is one (Bonferroni). A canary that is planted t times is removed in t
steps: e^(t epsilon) and delta (1 + e^epsilon + ... + e^((t - 1) epsilon)) take the places of e^epsilon and delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._guesses import ALARM, whole
from ziggurat.attacks._nearest import find_nearest
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.privacy import exact_delta, exact_epsilon, in_words
from ziggurat.randomness import choose_source, uniform_below
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.wording import count_noun

Score = Callable[[Any], npt.ArrayLike]
"""Gives each of several sequences (or texts) a number from what was released alone: the larger, the better known."""

_ROUNDING = 1 + 1e-9
_LARGEST = 100.0  # an epsilon that nobody would promise; the search for the one that is shown ends there


@dataclass(frozen=True)
class Exposure:
    """How much better a canary is known than candidates that were not planted.

    Attributes
    ----------
    rank, among
        Its place by score among all candidates, itself included; equal scores count as better than its own, so that a
        score that tells nothing exposes nothing.
    extrapolated
        Only if asked for: its exposure in bits by a skew-normal distribution that was fitted to the candidates' scores,
        which can exceed what so few candidates show, and is no test.
    """

    rank: int
    among: int
    extrapolated: float | None = None

    @property
    def bits(self) -> float:
        """log2 of the number of candidates, less log2 of the rank."""
        return math.log2(self.among) - math.log2(self.rank)


def exposure(score: Score, canary: Any, candidates: Any, *, extrapolate: bool = False) -> Exposure:
    """Rank a canary among candidates.

    Parameters
    ----------
    score
        Gives each of several sequences, or texts, a number: the larger, the better it is known. A log-likelihood, or
        what `score_by_release` gives.
    canary
        What was planted: a set of one, or a text.
    candidates
        Others of the same kind that were not planted.
    extrapolate
        Whether to fit a skew-normal distribution as well.
    """
    own = _measure(score, [canary] if isinstance(canary, str) else canary)
    others = _measure(score, candidates)
    if own.size != 1 or not others.size:
        raise ParameterError("Give one canary, and at least one candidate that was not planted.")
    rank = 1 + int((others >= own[0]).sum())
    return Exposure(rank, others.size + 1, _extrapolate(float(own[0]), others) if extrapolate else None)


def score_by_release(released: Sequences) -> Callable[[Sequences], npt.NDArray[np.float64]]:
    """Return a score for generators that give no likelihood: minus the edit distance to the closest released sequence.

    A sequence that was itself released has 0, which no other exceeds.

    Parameters
    ----------
    released
        What was drawn from the generator.
    """
    texts = released.to_characters()
    if not texts:
        raise ParameterError("Nothing was released that canaries could be looked for in.")

    def measure(asked: Sequences) -> npt.NDArray[np.float64]:
        wanted = asked.to_characters()
        found = find_nearest(wanted, texts, texts)
        far = dict(zip(dict.fromkeys(wanted), found.first.tolist(), strict=True))
        return -np.array([far[each] for each in wanted])

    return measure


@dataclass(frozen=True)
class ExposedCanaries(Finding):
    """What planted canaries show of a model, and of the epsilon that it promises.

    Attributes
    ----------
    exposures
        Of each canary.
    times
        How often each was planted.
    claimed, delta
        What is promised about one sequence; None if nothing is.
    chance
        How likely ranks as good are, if the promise holds (without one: if the model knows nothing): at most.
    lower
        Which epsilon is shown at this delta: a smaller one would be refuted so with probability at most `level`.
    level
        See `lower`.
    """

    exposures: tuple[Exposure, ...]
    times: int
    claimed: Fraction | None
    delta: Fraction
    chance: float
    lower: float
    level: float

    @property
    def bits(self) -> float:
        """The mean exposure."""
        return math.fsum(each.bits for each in self.exposures) / len(self.exposures)

    @property
    def verdict(self) -> bool:
        """Whether the promise is refuted; where there is none, whether the canaries are remembered beyond chance."""
        return self.chance <= (ALARM if self.claimed is None else self.level)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        among, first = self.exposures[0].among, sum(each.rank == 1 for each in self.exposures)
        text = (
            f"{count_noun(len(self.exposures), 'canary')} planted {count_noun(self.times, 'time')} each have an "
            f"exposure of {self.bits:.2f} bits on average (1.44 if nothing is remembered, {math.log2(among):.1f} at "
            f"most), {first:,} rank first of {among:,}; an epsilon of at least {self.lower:.3g} is shown"
        )
        if self.claimed is None:
            told = "Warning: that is more than chance" if self.verdict else "That is no more than chance explains"
            return f"{text}. {told}."
        text += f", and {in_words(self.claimed)} was promised"
        if self.verdict:
            return f"{text}. Warning: so much has a chance of {self.chance:.2g} at most if the promise holds."
        return f"{text}; that does not contradict it, and does not prove it either."

    @property
    def table(self) -> pa.Table:
        """One row for each canary."""
        names = {"rank": "rank", "of": "among", "exposure in bits": "bits", "extrapolated": "extrapolated"}
        columns: dict[str, Any] = {
            title: [getattr(each, name) for each in self.exposures] for title, name in names.items()
        }
        return pa.table({**columns, "extrapolated": pa.array(columns["extrapolated"], pa.float64())})

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold; amounts stay exact."""
        said = None if self.claimed is None else str(self.claimed)
        return {**super().to_dict(), "claimed": said, "delta": str(self.delta), "verdict": self.verdict}


@dataclass(frozen=True, eq=False)
class Canaries(Shown):
    """Random sequences to plant, and for each as many candidates as it was chosen from.

    Attributes
    ----------
    planted
        One canary each.
    candidates
        For each canary the others that it could have been.
    times
        How often each is planted.
    """

    planted: Sequences
    candidates: tuple[Sequences, ...]
    times: int = 1

    @classmethod
    def draw(
        cls,
        domain: SequenceDomain,
        count: int = 8,
        *,
        length: int,
        candidates: int = 1024,
        times: int = 1,
        random_state: int | None = None,
    ) -> Canaries:
        """Draw canaries over the public tokens of a domain; words make headlines, as `planted.to_texts()` gives them.

        Parameters
        ----------
        domain
            Whose tokens and classes they have; each canary and its candidates are of one random class.
        count, length
            How many, and of how many symbols.
        candidates
            From how many each is chosen: it shows at most log2 of that many bits.
        times
            How often each will be planted.
        random_state
            A seed for a rehearsal; by default they are secret.
        """
        for value, what in (
            (count, "count"),
            (length, "length"),
            (candidates - 1, "candidates less 1"),
            (times, "times"),
        ):
            whole(value, f"The {what}")
        if length > domain.longest:
            raise ParameterError(f"Canaries of {length} symbols would be cut to the domain's {domain.longest}.")
        source = choose_source(random_state)
        codes = uniform_below(domain.size, size=count * candidates * length, source=source).astype(np.int32)
        labels = np.repeat(uniform_below(domain.groups, size=count, source=source), candidates).astype(np.int32)
        rows = np.arange(count * candidates)
        owners = None if domain.unit.is_row else rows
        every = Sequences(
            domain, codes, np.append(rows, len(rows)) * length, labels if domain.classes else None, owners
        )
        sets = [every.take(rows[start : start + candidates]) for start in range(0, len(rows), candidates)]
        others = tuple(each.take(np.arange(1, candidates)) for each in sets)
        return cls(every.take(rows[::candidates]), others, times)

    def plant(self, sequences: Sequences) -> Sequences:
        """Return the sequences with every canary added as often as said; each canary has an owner of its own."""
        planted = self.planted.take(np.repeat(np.arange(len(self.planted)), self.times))
        return type(sequences).together([sequences, planted])

    def measure(
        self,
        score: Score,
        *,
        epsilon: Fraction | str | int | None = None,
        delta: Fraction | str | int = 0,
        level: float = 0.05,
        extrapolate: bool = False,
    ) -> ExposedCanaries:
        """Rank every canary among its candidates, and test a promise about adding or removing one sequence.

        Parameters
        ----------
        score
            As for `exposure`; it takes `Sequences`.
        epsilon, delta
            The promise, if there is one.
        level
            How often a lower bound above the true epsilon may come up.
        extrapolate
            As for `exposure`.
        """
        if not 0 < level < 1:
            raise ParameterError("The level lies above 0 and below 1.")
        ones = (self.planted.take([place]) for place in range(len(self.planted)))
        pairs = zip(ones, self.candidates, strict=True)
        found = tuple(exposure(score, one, others, extrapolate=extrapolate) for one, others in pairs)
        claimed, slack = None if epsilon is None else exact_epsilon(epsilon), exact_delta(delta)
        test = _RankTest([each.rank for each in found], found[0].among, self.times, float(slack))
        chance = test.bound(float(claimed or 0))
        return ExposedCanaries(found, self.times, claimed, slack, chance, test.invert(level), level)


@dataclass(frozen=True)
class _RankTest:
    """The bound that stands above."""

    ranks: Sequence[int]
    among: int
    times: int
    delta: float

    def bound(self, epsilon: float) -> float:
        """How likely ranks as good are if (epsilon, delta) holds: at most."""
        if len(self.ranks) == 1:
            return self._tail(epsilon, self.ranks[0], 1)
        steps = [1 << power for power in range(self.among.bit_length()) if 1 << power < self.among]
        counts = [sum(rank <= step for rank in self.ranks) for step in steps]
        bounds = [self._tail(epsilon, step, count) for step, count in zip(steps, counts, strict=True)]
        return min(1.0, len(steps) * min(bounds, default=1.0))

    def invert(self, level: float) -> float:
        """The largest epsilon whose bound is at most the level; 0 if there is none."""
        if self.bound(0.0) > level:
            return 0.0
        low, high = 0.0, _LARGEST
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.bound(middle) <= level else (low, middle)
        return low

    def _tail(self, epsilon: float, rank: int, count: int) -> float:
        """P[W >= count] at most, where W canaries have this rank at most."""
        q = min(1.0, math.exp(self.times * epsilon) * rank / self.among)
        if not count or q >= 1:
            return 1.0
        slack = self.delta * math.fsum(math.exp(step * epsilon) for step in range(self.times))
        bounds = (self._moment(q, slack, size, count) for size in range(1, count + 1))
        return min(1.0, _ROUNDING * min(bounds))

    def _moment(self, q: float, slack: float, size: int, count: int) -> float:
        together = min(1.0, q**size + slack * (1 - q**size) / (1 - q))
        return math.comb(len(self.ranks), size) / math.comb(count, size) * together


def _measure(score: Score, asked: Any) -> npt.NDArray[np.float64]:
    found = np.asarray(score(asked), dtype=np.float64).reshape(-1)
    if found.size != len(asked) or np.isnan(found).any():
        raise ParameterError("A score must give one number for each sequence.")
    return found


def _extrapolate(own: float, others: npt.NDArray[np.float64]) -> float:
    from scipy import stats

    return float(-stats.skewnorm.logsf(own, *stats.skewnorm.fit(others)) / math.log(2))
