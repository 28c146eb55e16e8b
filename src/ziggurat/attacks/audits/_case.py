"""One promise, tried from outside: a pair of neighbours, a mechanism that is run on each, and what its outputs prove.

A case draws outputs of one public mechanism, estimator, synthesizer or aggregator on the two neighbours that tell it
apart best as far as is known, on invented data alone. What the outputs prove about epsilon (`prove_epsilon`) must
stay below the claim; and a planted fault, the same run with more epsilon spent than claimed, must be seen. So a case
says which faults it is blind to: all that are smaller than the smallest that it sees.

What is proven says nothing about a real table, and nothing of one enters: it may stand on a certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._proven import ProvenEpsilon
from ziggurat.attacks.audits._scores import prove_epsilon
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.privacy import (
    Amount,
    exact_confidence,
    exact_delta,
    exact_epsilon,
    exact_positive,
    whole_number,
)
from ziggurat.randomness import Source, choose_source

Draw = Callable[[Literal[0, 1], int, Source], npt.ArrayLike]
"""Runs the mechanism so often on the first or on the second neighbour: one number for each run that tells them apart
(the log ratio of likelihoods, where it is known), or a row of numbers of which one is made by learning."""

Progress = Callable[[str], None]

CONFIDENCE = Fraction(999_999, 1_000_000)
"""With which probability a promise that holds is not refuted."""

FACTORS = tuple(map(Fraction, ("1.1", "1.25", "1.5", "2", "3", "4", "6", "8", "12", "16", "24", "32")))
"""How many times the epsilon that is claimed is spent, when the smallest fault that an audit sees is looked for."""


@dataclass(frozen=True)
class AuditCase(Shown):
    """How one public name is audited.

    Attributes
    ----------
    name
        Where it lives and what it is called: "mechanisms.Laplace".
    pair
        The two neighbours, their unit and relation, in a clause.
    make
        Gives the draws of the mechanism built for an epsilon (at `delta`).
    delta
        Of the promise; exact.
    runs
        How often it is run on each neighbour, unless told otherwise.
    fault
        A fault that the audit must see with so many runs: spending so many times the epsilon that is claimed.
    sees
        "all" if the attacker sees more than leaves (the log ratio of likelihoods of what the noise protects),
        "released" if only what leaves.
    """

    name: str
    pair: str
    make: Callable[[Fraction], Draw] = field(repr=False)
    delta: Amount = 0
    runs: int = 10_000
    fault: Amount = 2
    sees: Literal["all", "released"] = "released"


@dataclass(frozen=True)
class AuditedPromise(ProvenEpsilon):
    """What an audit proves about a promised epsilon.

    Attributes
    ----------
    name
        What was audited.
    pair
        On which neighbours.
    claimed, delta
        The promise.
    lower
        The epsilon that is proven at this delta: if the promise holds, it is above the claim with probability at most
        1 - `confidence`.
    runs
        How often it was run on each neighbour.
    confidence
        See `lower`.
    """

    name: str
    pair: str
    claimed: Fraction
    delta: Fraction
    lower: float
    runs: int
    confidence: Fraction

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        runs = f"{self.runs:,} runs on each of {self.pair}"
        return self.conclude(f"An audit of {self.name} on invented data ({runs}) proves")


def audit_case(
    case: AuditCase,
    epsilon: Amount = 1,
    *,
    spent: Amount | None = None,
    runs: int | None = None,
    confidence: Amount = CONFIDENCE,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> AuditedPromise:
    """Run one audit.

    Promise: if the mechanism is (epsilon, delta)-DP on the pair, and its runs are independent, the bound is above
    epsilon with probability at most 1 - `confidence`. Proof: for any set S of outputs, P[S] <= e^epsilon Q[S] + delta,
    and the other way round; `prove_epsilon` fixes its sets by some runs and bounds their probabilities by others.

    Parameters
    ----------
    case
        What is audited.
    epsilon
        The claim.
    spent
        A planted fault: the mechanism is built for this epsilon instead, and the claim stays.
    runs
        How often it is run on each neighbour.
    confidence
        With which probability a promise that holds is not refuted.
    random_state
        Seeds the runs, so that they repeat; secure randomness without.
    progress
        Called with a few words before every step that may take long.
    """
    claimed, delta = exact_epsilon(epsilon), exact_delta(case.delta)
    times = whole_number(case.runs if runs is None else runs, "runs", 200)
    draw = case.make(claimed if spent is None else exact_epsilon(spent))
    source, tell = choose_source(random_state), progress or _say_nothing
    seen = []
    for world in (0, 1):
        tell(f"running {case.name} {times:,} times on {'the other neighbour' if world else 'one neighbour'}")
        seen.append(_read_outcomes(draw(world, times, source), times))
    tell(f"telling the neighbours of {case.name} apart")
    lower = prove_epsilon(*seen, delta=delta, confidence=confidence)
    return AuditedPromise(case.name, case.pair, claimed, delta, lower, times, exact_confidence(confidence))


def find_smallest_fault(
    case: AuditCase,
    epsilon: Amount = 1,
    *,
    factors: Sequence[Amount] = FACTORS,
    runs: int | None = None,
    confidence: Amount = CONFIDENCE,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Fraction | None:
    """Return how many times its epsilon a mechanism must spend until this audit sees it; None if it never does.

    The factors are tried from the smallest on until one is seen, so that what is returned is the smallest of them that
    was refuted. Larger ones are not tried: what an audit sees need not grow with the fault, as the event that tells
    neighbours apart may become too rare. So an audit that finds nothing says: no fault as large as this one, at this
    pair of neighbours. A factor for which the mechanism refuses to be built ends the search: what nobody can build
    says nothing about what the audit sees.

    Parameters
    ----------
    case, epsilon, runs, confidence, random_state, progress
        As for `audit_case`.
    factors
        Which to try.
    """
    claimed, rising = exact_epsilon(epsilon), sorted(exact_positive(each, "a factor") for each in factors)
    whole_number(case.runs if runs is None else runs, "runs", 200)
    given: dict[str, Any] = {"runs": runs, "confidence": confidence, "random_state": random_state, "progress": progress}
    for factor in rising:
        try:
            seen = audit_case(case, claimed, spent=claimed * factor, **given).refuted
        except ParameterError:
            return None
        if seen:
            return factor
    return None


def _read_outcomes(drawn: npt.ArrayLike, times: int) -> npt.NDArray[np.float64]:
    seen = np.asarray(drawn, np.float64)
    if seen.shape[:1] != (times,):
        raise ParameterError("An audit needs the outcome of every run.")
    return seen


def _say_nothing(_words: str) -> None:
    pass
