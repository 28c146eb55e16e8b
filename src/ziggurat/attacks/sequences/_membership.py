"""Whose sequences was a generator learned from? Those it knows better than sequences like them are known in the world.

The same as `attack_synthetic_membership` for tables: a sequence's score is how well the release knows it less how well
the reference does (van Breugel et al. 2023; Watson, Guo, Cormode, Sablayrolles 2022, "On the importance of difficulty
calibration in membership inference attacks", ICLR). What is known is measured by *closest*, minus the edit distance to
the closest sequence as a share of the longer's length, which finds copies; or by *transitions*, the log-likelihood
under a chain of symbols that is fitted to them, which finds counts that were fitted too well. A model that gives
likelihoods is asked itself, and set beside the reference's chain.

Somebody with several sequences has the mean of their scores. Which sequences are members' plays no part in a score, so
that the test of `judge_scores` is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models import MembershipAttack, judge_scores
from ziggurat.attacks.sequences._canaries import Score, score_by_release
from ziggurat.errors import ParameterError
from ziggurat.sequences import Sequences

Known = Literal["closest", "transitions"]
"""By what it is measured how well a sequence is known."""

Floats = npt.NDArray[np.float64]

_PRIOR = 0.5
_NAMES = {
    "closest": "how close released sequences come to a person's",
    "transitions": "how likely a person's sequences are by the released ones",
}
_BY_MODEL = "how likely a person's sequences are by the model"


def attack_sequence_membership(
    released: Sequences | Score,
    members: Sequences,
    others: Sequences,
    reference: Sequences,
    *,
    random_split: bool,
    known_by: Known = "closest",
    epsilon: Fraction | str | int | None = None,
    delta: Fraction | str | int = 0,
    kept_back: float | None = None,
    tried: int = 1,
) -> MembershipAttack:
    """Attack released sequences, or a model of them: who of these units was it learned from?

    For the steward: the figures are exact functions of private sequences. The unit is the domain's: a sequence, or
    somebody who owns several.

    Parameters
    ----------
    released
        What was drawn from a generator; or, of a model that gives likelihoods, a function that gives the logarithm of
        that of each sequence.
    members, others
        What it was learned from, and sequences of the same kind that it was not learned from.
    reference
        Further ones, neither members' nor others': what an attacker knows of the population.
    random_split
        Whether members and others were drawn at random, unit by unit, from one pool: only then is there a verdict.
    known_by
        "closest" finds copies, "transitions" finds counts that were fitted too well; a model is asked itself.
    epsilon, delta
        What is promised about adding or removing one of these units, if anything.
    kept_back
        The probability with which a coin kept each of them back; None if as many were drawn as there are members.
    tried
        How many attacks are tried on the same people: verdict and bound are corrected for it.
    """
    if known_by not in _NAMES:
        raise ParameterError(f"Sequences are known by one of {', '.join(_NAMES)}.")
    parts = [members, others, reference, *([released] if isinstance(released, Sequences) else [])]
    if any(each.domain.tokens != members.domain.tokens or each.domain.unit != members.domain.unit for each in parts):
        raise ParameterError("The sequences have different tokens or units; give them the same domain.")
    if not all(map(len, parts)):
        raise ParameterError("There must be at least one sequence released, of members, others and the reference.")
    name, known, usual = _choose_scores(released, reference, known_by)
    scores = [_mean_by_unit(each, _ask(known, each) - _ask(usual, each)) for each in (members, others)]
    said: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "kept_back": kept_back, "tried": tried}
    return judge_scores(name, *scores, random_split=random_split, **said)


def score_by_transitions(released: Sequences) -> Callable[[Sequences], Floats]:
    """Return a score for generators that give no likelihood: that of a chain of symbols fitted to what was drawn.

    Counted are what follows what within a class, beginning and end included, with half a transition added to each.

    Parameters
    ----------
    released
        What was drawn from the generator.
    """
    states = released.domain.size + 1
    table = np.full((released.domain.groups, states, states), _PRIOR)
    np.add.at(table, _transitions(released)[:3], 1)
    logs = np.log(table / table.sum(axis=2, keepdims=True))

    def measure(asked: Sequences) -> Floats:
        *cells, whose = _transitions(asked)
        return np.asarray(np.bincount(whose, weights=logs[tuple(cells)], minlength=len(asked)), np.float64)

    return measure


def _transitions(sequences: Sequences) -> tuple[npt.NDArray[np.int64], ...]:
    """The class, the symbols before and after of every transition, and whose it is; the code after all is the end."""
    ends, lengths = sequences.domain.size, sequences.lengths
    whose = np.repeat(np.arange(len(sequences)), lengths + 1)
    starts = sequences.offsets[:-1] + np.arange(len(sequences))
    after = np.full(len(whose), ends, dtype=np.int64)
    after[np.setdiff1d(np.arange(len(whose)), starts + lengths, assume_unique=True)] = sequences.codes
    before = np.concatenate([[ends], after[:-1]]).astype(np.int64)
    labels = np.zeros(len(sequences), np.int64) if sequences.labels is None else sequences.labels.astype(np.int64)
    return labels[whose], before, after, whose


def _choose_scores(released: Sequences | Score, reference: Sequences, known_by: Known) -> tuple[str, Score, Score]:
    if not isinstance(released, Sequences):
        return _BY_MODEL, released, score_by_transitions(reference)
    rule = score_by_release if known_by == "closest" else score_by_transitions
    return _NAMES[known_by], rule(released), rule(reference)


def _ask(score: Score, sequences: Sequences) -> Floats:
    found = np.asarray(score(sequences), np.float64)
    if found.shape != (len(sequences),) or np.isnan(found).any():
        raise ParameterError("A score must give one number for each sequence.")
    return found


def _mean_by_unit(sequences: Sequences, scores: Floats) -> Floats:
    if sequences.owners is None:
        return scores
    _, unit = np.unique(sequences.owners, return_inverse=True)
    return np.bincount(unit, weights=scores) / np.bincount(unit)
