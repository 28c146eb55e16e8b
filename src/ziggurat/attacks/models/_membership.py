"""Who was a model trained on? Attacks on membership, side by side, with a blind one that never sees the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.attacks._epsilon import EpsilonBound
from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows
from ziggurat.attacks.models._blind import REFUTED, BlindScores, attack_blindly
from ziggurat.attacks.models._methods import METHODS, explain_skipping
from ziggurat.attacks.models._recipes import Progress
from ziggurat.attacks.models._scored import MembershipAttack, judge_scores
from ziggurat.attacks.models._shadows import Shadows, train_shadows
from ziggurat.errors import DataError, ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import choose_source
from ziggurat.threads import one_thread

BLIND = "blind, without the model"


@dataclass(frozen=True)
class MembershipReport(Finding):
    """What attacks on membership found, one by one.

    Attributes
    ----------
    model
        What was attacked.
    attacks
        By what they are called.
    blind
        The attack that never sees the model.
    skipped
        Why an attack was not made.
    members, others
        How many people each group has.
    random_split
        Whether both were drawn at random from the same people: only then is there a verdict.
    refuted
        If that was claimed, and the blind attack shows that it is not so: how likely it would show it if it were.
    shadows
        How many shadow models were trained.
    """

    model: str
    attacks: dict[str, MembershipAttack]
    blind: MembershipAttack | None
    skipped: dict[str, str]
    members: int
    others: int
    random_split: bool
    refuted: float | None = None
    shadows: int = 0

    @property
    def strongest(self) -> MembershipAttack:
        """The attack with the largest area, among those that show more than chance if there are any."""
        return max(self.attacks.values(), key=lambda each: (each.verdict is True, each.area.rate))

    @property
    def verdict(self) -> bool | None:
        """Whether any attack tells members from others, beyond chance; None where that cannot be judged.

        A model that does not know its members is accused with probability 0.05 at most, however many attacks there are.
        """
        said = [each.verdict for each in self.attacks.values()]
        return None if all(each is None for each in said) else any(each is True for each in said)

    @property
    def bound(self) -> EpsilonBound | None:
        """Where an epsilon is promised: the most that any attack shows of it, corrected for all of them."""
        bounds = [each.bound for each in self.attacks.values() if each.bound is not None]
        return max(bounds, key=lambda each: (each.lower, -each.chance), default=None)

    @property
    def sentence(self) -> str:
        """What an attacker with these tools learned, in a sentence."""
        text = self.strongest.sentence.rstrip(".")
        if len(self.attacks) > 1:
            text += f", by the strongest of {len(self.attacks)} attacks"
        if self.blind is not None and not self.random_split:
            text += f"; an attack that never sees {self.model} reaches {self.blind.area}"
        if self.refuted is not None:
            text += (
                "; the split was said to be random and does not look so: members and others differ without the model "
                f"(a chance of {self.refuted:.1g} at most if it were)"
            )
        if self.bound is not None:
            text += f". {self.bound.sentence.rstrip('.')}"
        return f"{text}."

    @property
    def table(self) -> pa.Table:
        """A row for each attack: areas, members named at 1 % of others, verdicts, and the epsilon that is shown."""
        made = {**self.attacks, **({} if self.blind is None else {BLIND: self.blind})}
        rows = [{"attack": name, **_row(each)} for name, each in made.items()]
        return pa.Table.from_pylist(rows, _COLUMNS)


_COLUMNS = pa.schema(
    [
        ("attack", pa.string()),
        *((name, pa.float64()) for name in ("area", "low", "high", "named", "named_low", "named_high")),
        ("chance", pa.float64()),
        ("verdict", pa.bool_()),
        ("epsilon_shown", pa.float64()),
    ]
)


def _row(found: MembershipAttack) -> dict[str, Any]:
    row: dict[str, Any] = {"area": found.area.rate, "low": found.area.low, "high": found.area.high}
    if found.readings:
        low, high = found.readings[0].ends
        row |= {"named": found.readings[0].named.rate, "named_low": low, "named_high": high}
    if found.random_split:
        row |= {"chance": found.chance, "verdict": found.verdict}
    return row | ({} if found.bound is None else {"epsilon_shown": found.bound.lower})


def attack_membership(
    model: AttackedModel,
    members: LabelledRows,
    others: LabelledRows,
    *,
    random_split: bool,
    attacks: Iterable[str] | None = None,
    shadows: int | Shadows = 16,
    epsilon: Fraction | str | int | None = None,
    delta: Fraction | str | int = 0,
    kept_back: float | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> MembershipReport:
    """Attack a model: who of these people was it trained on?

    Parameters
    ----------
    model
        The model as attackers meet it.
    members, others
        People it was trained on, and people it was not.
    random_split
        Whether both were drawn at random from the same people: only then is there a verdict. If the blind attack, which
        never sees the model, tells them apart with a chance below one in a million, there is none either.
    attacks
        Names of `MEMBERSHIP_ATTACKS`; by default all that the model gives cause for.
    shadows
        How many shadow models are trained; or `Shadows` of these people, members first, that were trained before.
    epsilon, delta
        What is promised about adding or removing one of these people, if anything.
    kept_back
        The probability with which a coin kept each of them back; None if as many were drawn as there are members.
    random_state
        Draws the order of the people, the shadows and the noise of attacks.
    progress
        Called with how much of the shadows' training is done and how much there is.
    """
    source = choose_source(random_state)
    order = source.child("order").simulation().permutation(len(members) + len(others))
    people, member = members.join(others).take(order), order < len(members)
    _check(model, people)
    count = len(shadows) if isinstance(shadows, Shadows) else shadows
    names, skipped = _choose(model, attacks, count)
    draw = source.child("attacks").simulation()
    with one_thread():
        blind = attack_blindly(people, member, 2 if random_split else 5, draw)
        asked = model.remember(people)
        seed = int(source.child("shadows").words(1)[0] >> np.uint64(2))
        known = _cast(model, people, shadows, order, names, seed, progress)
        scores = {name: METHODS[name].score(asked, people, known, draw) for name in names}
    refuted = blind.chance if random_split and blind.chance <= REFUTED else None
    judged = _Judged(member, blind, random_split and refuted is None, len(names))
    promise = {"epsilon": epsilon, "delta": delta, "kept_back": kept_back}
    found = {name: judged.judge(METHODS[name].phrase, each, promise) for name, each in scores.items()}
    return MembershipReport(
        model.name, found, judged.judge_blind(), skipped, len(members), len(others), judged.random_split, refuted,
        len(known.inside) if known is not None else 0,
    )  # fmt: skip


@dataclass(frozen=True)
class _Judged:
    """Who is a member, which the attacks did not know, and whether a verdict holds."""

    member: Any
    blind: BlindScores
    random_split: bool
    tried: int

    def judge(self, phrase: str, scores: Floats, promise: dict[str, Any]) -> MembershipAttack:
        inside, outside = self._split(scores)
        terms = {**promise, "blind": self._split(self.blind.scores), "tried": self.tried}
        return judge_scores(phrase, inside, outside, random_split=self.random_split, **terms)

    def judge_blind(self) -> MembershipAttack:
        return judge_scores("who they are, without the model", *self._split(self.blind.scores), random_split=False)

    def _split(self, scores: Floats) -> tuple[Floats, Floats]:
        return scores[self.member], scores[~self.member]


def _choose(model: AttackedModel, attacks: Iterable[str] | None, shadows: int) -> tuple[list[str], dict[str, str]]:
    """Return which attacks to make, and why not the others."""
    if isinstance(shadows, bool) or not isinstance(shadows, int) or shadows < 0:
        raise ParameterError("The number of shadows is a whole number of at least 0.")
    named = list(METHODS) if attacks is None else list(dict.fromkeys(attacks))
    if unknown := [name for name in named if name not in METHODS]:
        raise ParameterError(f"There is no attack {unknown[0]!r}; there are {', '.join(METHODS)}.")
    reasons = {name: explain_skipping(METHODS[name], model, shadows, asked_for=attacks is not None) for name in named}
    skipped = {name: reason for name, reason in reasons.items() if reason is not None}
    made = [name for name in named if name not in skipped]
    if not made:
        raise ParameterError(
            f"None of these attacks can be made: {'; '.join(f'{a}, {b}' for a, b in skipped.items())}."
        )
    return made, skipped


def _cast(
    model: AttackedModel,
    people: LabelledRows,
    shadows: int | Shadows,
    order: Any,
    names: list[str],
    seed: int,
    progress: Progress | None,
) -> Any:
    """Train shadows if an attack needs them, or put those that were given in the order of the people."""
    if not any(METHODS[name].shadows for name in names):
        return None
    if not isinstance(shadows, Shadows):
        return train_shadows(model, people, shadows, random_state=seed, progress=progress)
    if shadows.inside.shape[1] != len(people):
        raise DataError("The shadows given are of other people; train them on members and others, members first.")
    return shadows.take(order)


def _check(model: AttackedModel, people: LabelledRows) -> None:
    labels = people.labels
    if model.kind == "classes" and ((labels != np.floor(labels)).any() or labels.min() < 0):
        raise DataError("Labels of classes are whole numbers from 0, in the order of the model's probabilities.")
