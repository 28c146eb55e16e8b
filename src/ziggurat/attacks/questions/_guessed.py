"""How many secrets an attack has right, beside guessing, and beside the most that a promise allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._epsilon import EpsilonBound, epsilon_bound
from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import ALARM, judge
from ziggurat.attacks.questions._attacks import QuestionAttack
from ziggurat.attacks.questions._people import Flags, PeopleCondition
from ziggurat.attacks.questions._promise import BitPromise
from ziggurat.attacks.questions._systems import QuestionedSystem
from ziggurat.errors import BudgetExceededError, ParameterError, QuestionError
from ziggurat.findings import Finding
from ziggurat.privacy import in_words
from ziggurat.wording import count_noun

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GuessedSecrets(Finding):
    """What one attack learned of secrets that coins gave to people.

    Attributes
    ----------
    attack, system
        Which attack, on what.
    right
        Guesses that are right, one about everybody.
    share
        The probability with which the coins gave the secret: known to attackers.
    unlearned
        About how many people nothing was answered; they are guessed by the share alone.
    questions, repeats, refused
        How many different questions were asked, how many times each, and how many of them were refused.
    promise
        What was paid for promises about one person's secret; None if the system promises nothing.
    bound
        How that compares with the guesses; None without a promise.
    chance
        How likely guesses by the share alone are right as often.
    """

    attack: str
    system: str
    right: Share
    share: float
    unlearned: int
    questions: int
    repeats: int
    refused: int
    promise: BitPromise | None
    bound: EpsilonBound | None
    chance: float

    @property
    def baseline(self) -> float:
        """How often guesses are right that know the share alone."""
        return max(self.share, 1 - self.share)

    @property
    def learned(self) -> bool:
        """Whether more is right than guesses by the share alone explain."""
        return self.chance <= ALARM

    @property
    def largest(self) -> float:
        """The largest share of right guesses that the promise allows on average; 1 without one."""
        return 1.0 if self.promise is None else self.promise.largest(self.share)

    @property
    def broken(self) -> bool:
        """Whether the promise is refuted: so much is right less often than the level of the bound."""
        return self.bound is not None and self.bound.chance <= self.bound.level

    @property
    def sentence(self) -> str:
        """What an attacker learned, in a sentence for a steward."""
        many = count_noun(self.questions, "question")
        many += f" asked {self.repeats:,} times" if self.repeats > 1 else ""
        many += f" ({self.refused:,} refused)" if self.refused else ""
        text = (
            f"By {self.attack} on {self.system}, {many}, an attacker has {self.right} of {self.right.trials:,} secrets "
            f"right, where guessing has {self.baseline:.1%}"
        )
        if self.promise is None:
            return f"{text}; nothing bounds it."
        spent = f"; for the epsilon of {in_words(self.promise.epsilon)} that was paid {self.largest:.1%} are possible"
        if self.broken and self.bound is not None:
            return f"{text}{spent}. The promise is false: that has a chance of {self.bound.chance:.2g} at most."
        return f"{text}{spent}: within the bound."

    @property
    def table(self) -> pa.Table:
        """The share that is right, beside guessing and what is possible."""
        rows = {
            "right": (self.right.rate, self.right.low, self.right.high),
            "right by guessing": (self.baseline, None, None),
            "possible": (self.largest, None, None),
        }
        ends = list(zip(*rows.values(), strict=True))
        return pa.table({"secrets": list(rows), "rate": ends[0], "low": ends[1], "high": ends[2]})

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        held = (
            None if self.promise is None else {"epsilon": str(self.promise.epsilon), "delta": str(self.promise.delta)}
        )
        bound = None if self.bound is None else self.bound.to_dict()
        derived = {"baseline": self.baseline, "largest": self.largest, "learned": self.learned, "broken": self.broken}
        return {**super().to_dict(), **derived, "promise": held, "bound": bound}


def attack_answers(
    attack: QuestionAttack,
    system: QuestionedSystem,
    secrets: Flags,
    *,
    share: float = 0.5,
    promise: BitPromise | None = None,
    level: float = 0.05,
) -> GuessedSecrets:
    """Let one attack ask a system, and count how many secrets it has right.

    Parameters
    ----------
    attack
        What it asks, from `plan_ranges` and its kin.
    system
        Who answers.
    secrets
        The truth, which coins with probability `share` gave to each person alone.
    share
        See `secrets`.
    promise
        What all answers together promise; without one, what the system charges for the questions that it answers is
        added up, as a pure promise whose questions count only people with the secret.
    level
        How often a promise that holds may be called broken: at most.
    """
    truth = np.asarray(secrets, np.bool_)
    if truth.shape != (len(attack.people),) or not 0 < share < 1 or not 0 < level < 1:
        raise ParameterError("Give a secret for each person, and a share and a level above 0 and below 1.")
    answers = _ask_each(attack, system) if not attack.questions else _ask_all(attack, system)
    values = attack.decode(answers)
    unlearned = np.isnan(values)
    guesses = np.where(unlearned, share > 0.5, np.nan_to_num(values) > 0.5)
    refused = int(np.isnan(answers).sum()) if attack.questions else int(bool(np.isnan(answers).all()))
    held = _add_up(system, attack.price - refused) if promise is None else promise
    right = Share(int((guesses == truth).sum()), len(truth))
    bound = None if held is None else _test(attack.name, guesses, truth, share, held, level)
    return GuessedSecrets(
        attack.name, system.name, right, share, int(unlearned.sum()), attack.price, attack.times, refused, held, bound,
        _chance(right, max(share, 1 - share)),
    )  # fmt: skip


def _ask_all(attack: QuestionAttack, system: QuestionedSystem) -> Floats:
    """The mean of the answers to each question; NaN where one was refused."""
    return np.array([_mean(system, each, attack.times) for each in attack.questions])


def _mean(system: QuestionedSystem, asked: PeopleCondition, times: int) -> float:
    try:
        return float(np.mean([system.answer(asked) for _ in range(times)]))
    except (QuestionError, BudgetExceededError):
        return float("nan")


def _ask_each(attack: QuestionAttack, system: QuestionedSystem) -> Floats:
    nothing = np.full(len(attack.people), np.nan)
    if system.answer_each is None:
        return nothing
    try:
        said = [np.asarray(system.answer_each(attack.people), np.float64) for _ in range(attack.times)]
        return np.asarray(np.mean(said, axis=0))
    except (QuestionError, BudgetExceededError):
        return nothing


def _add_up(system: QuestionedSystem, answered: int) -> BitPromise | None:
    return None if system.each is None else BitPromise.of(system.each * answered)


def _test(name: str, guesses: Flags, truth: Flags, share: float, held: BitPromise, level: float) -> EpsilonBound:
    """Test the promise by all guesses: who has the secret is "in the table" of those who have it."""
    named, spared = (Share(int((guesses & part).sum()), int(part.sum())) for part in (truth, ~truth))
    out = Share(int((~guesses & ~truth).sum()), int((~guesses).sum()))
    return epsilon_bound(
        name, judge(named, spared, Share(0, 0)), people=len(truth), kept_back=1 - share, epsilon=held.epsilon,
        delta=held.delta, level=level, named_out=out,
    )  # fmt: skip


def _chance(right: Share, baseline: float) -> float:
    from scipy import stats

    return float(stats.binom.sf(right.hits - 1, right.trials, baseline))
