"""An audit by one run: many canaries, each in or out by a coin of its own, and guesses which way the coins fell.

Steinke, Nasr, Jagielski (2023), "Privacy auditing with one (1) training run", NeurIPS; `ziggurat.attacks.epsilon_bound`
proves the bound for guesses in and out, also where the guesses that are dared depend on the output. So a trainer that
takes minutes, or a synthesizer end to end, is audited in the time of one run, on invented data.

Under replace-one every canary has a twin, and the coin says which of the two is there: given the other coins, the two
outputs are those of neighbours, which is all that the proof uses.

How many guesses are dared decides how much is seen: few sure ones prove a large epsilon, many unsure ones a small one.
`SHARES` of all canaries are tried, each at its part of the misses (Bonferroni), so that the best of them still holds.
What delta costs is the probability that true coins differ from those whose probabilities given the output are cut to
1 / (1 + e^epsilon) and e^epsilon / (1 + e^epsilon); no guess enters there, so that it is paid once for all shares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks._epsilon import EpsilonBound, epsilon_bound
from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import judge
from ziggurat.attacks.audits._proven import ProvenEpsilon
from ziggurat.errors import ParameterError
from ziggurat.privacy import Amount, exact_confidence, exact_delta, exact_epsilon, whole_number
from ziggurat.randomness import Source, bernoulli, choose_source

SHARES = tuple(Fraction(1, parts) for parts in (1, 2, 4, 8, 16))
"""Of how many canaries guesses are dared, where that is not said before."""

_CONFIDENCE = Fraction(999, 1000)
_FEWEST = 10

Coins = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class OneRunAudit(ProvenEpsilon):
    """What one run with canaries proves about a promised epsilon.

    Attributes
    ----------
    name
        What was audited.
    canaries
        For how many a coin was tossed.
    guesses, right
        About how many a guess was dared, and how many of these are right.
    claimed, delta
        The promise.
    lower
        The epsilon that is proven at this delta: if the promise holds, it is above the claim with probability at most
        1 - `confidence`.
    confidence
        See `lower`.
    """

    name: str
    canaries: int
    guesses: int
    right: int
    claimed: Fraction
    delta: Fraction
    lower: float
    confidence: Fraction

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        return self.conclude(
            f"One run of {self.name} on invented data with {self.canaries:,} canaries, each in or out by a coin: "
            f"{self.right:,} of {self.guesses:,} guesses are right, which proves"
        )


def audit_in_one_run(
    train: Callable[[Any], Any],
    canaries: Sequence[Any] | npt.NDArray[Any],
    score: Callable[[Any, Any], npt.ArrayLike],
    *,
    epsilon: Amount,
    delta: Amount = 0,
    twins: Sequence[Any] | npt.NDArray[Any] | None = None,
    guesses: int | None = None,
    confidence: Amount = _CONFIDENCE,
    name: str = "",
    random_state: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> OneRunAudit:
    """Train once on the canaries that fair coins let in, guess the coins, and bound epsilon from below.

    Promise: if training is (epsilon, delta)-DP about adding or removing one canary (with `twins`, about exchanging one
    for its twin), the bound is above epsilon with probability at most 1 - `confidence`, over the coins and the run.

    Parameters
    ----------
    train
        Takes the canaries that are in, beside whatever others it knows, and gives what would leave. With its own
        randomness: the coins are tossed here.
    canaries
        What may be in; no two are about the same unit.
    score
        Takes what would leave and all canaries, and gives a number for each: the higher, the surer it is in. It must
        not know the coins.
    epsilon, delta
        The promise.
    twins
        For a promise about replacing one: what stands in the place of every canary that is out.
    guesses
        About how many canaries to dare a guess, half of them in, half out; if None, several `SHARES` are tried, each
        at its part of the misses.
    confidence
        With which probability a promise that holds is not refuted. A delta costs m delta / 2 of it with m canaries.
    name
        What is audited, for the sentence.
    random_state
        Seeds the coins.
    progress
        Called with a few words before every step that may take long.
    """
    many, claimed, slack = len(canaries), exact_epsilon(epsilon), exact_delta(delta)
    if many < _FEWEST or (twins is not None and len(twins) != many):
        raise ParameterError(f"An audit needs at least {_FEWEST} canaries, and a twin for each or for none.")
    tell, what = progress or (lambda _words: None), name or getattr(train, "__name__", "the trainer")
    coins = _toss(many, choose_source(random_state))
    tell(f"training {what} once, with {many:,} canaries in or out")
    made = train(_let_in(canaries, twins, coins))
    tell(f"guessing which canaries {what} saw")
    scores = np.asarray(score(made, canaries), np.float64)
    if scores.shape != (many,) or np.isnan(scores).any():
        raise ParameterError("Give a score for every canary.")
    dared = _read_guesses(guesses, many)
    miss = _share_misses(1 - exact_confidence(confidence), many * slack / 2, len(dared))
    found = [_guess(scores, coins, each, claimed, slack, miss) for each in dared]
    best = max(found, key=lambda each: (each.lower, each.right.trials))
    known = exact_confidence(confidence)
    return OneRunAudit(what, many, best.right.trials, best.right.hits, claimed, slack, best.lower, known)


def _share_misses(misses: Fraction, beyond: Fraction, shares: int) -> float:
    """What each share may miss, with what delta costs, which `epsilon_bound` takes off again."""
    return float((misses - beyond) / shares + beyond) if misses > beyond else float(misses / shares)


def _toss(many: int, source: Source) -> Coins:
    return np.asarray(bernoulli(Fraction(1, 2), size=many, source=source), bool)


def _let_in(canaries: Any, twins: Any, coins: Coins) -> Any:
    """Those in, in their order; or each, or its twin in its place."""
    if isinstance(canaries, np.ndarray):
        if twins is None:
            return canaries[coins]
        return np.where(coins.reshape(-1, *([1] * (canaries.ndim - 1))), canaries, np.asarray(twins))
    if twins is None:
        return [each for each, inside in zip(canaries, coins, strict=True) if inside]
    return [each if inside else twin for each, twin, inside in zip(canaries, twins, coins, strict=True)]


def _read_guesses(guesses: int | None, many: int) -> list[int]:
    if guesses is None:
        return sorted({max(2, int(many * share)) for share in SHARES})
    dared = whole_number(guesses, "guesses", 2)
    if dared > many:
        raise ParameterError("There cannot be more guesses than canaries.")
    return [dared]


def _guess(
    scores: npt.NDArray[np.float64], coins: Coins, dared: int, claimed: Fraction, delta: Fraction, miss: float
) -> EpsilonBound:
    """The surest guesses, as many in as out; which they are is a function of the scores alone."""
    order = np.argsort(-scores, kind="stable")
    said_in, said_out = np.zeros(len(coins), bool), np.zeros(len(coins), bool)
    said_in[order[: dared - dared // 2]] = True
    said_out[order[len(coins) - dared // 2 :]] = True
    inside, others = (Share(int(said_in[part].sum()), int(part.sum())) for part in (coins, ~coins))
    outside = Share(int((said_out & ~coins).sum()), int(said_out.sum()))
    given: dict[str, Any] = {"people": len(coins), "kept_back": 0.5, "epsilon": claimed, "delta": delta}
    return epsilon_bound("one run", judge(inside, others, Share(0, 1)), **given, level=miss, named_out=outside)
