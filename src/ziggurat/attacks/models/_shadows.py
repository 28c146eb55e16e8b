"""Shadows: models trained as the attacked one was, on halves of the people that the attacker drew and so knows.

Shokri, Stronati, Song, Shmatikov (2017), "Membership inference attacks against machine learning models", IEEE S&P.

Why the tests of `judge_scores` stay exact. The people are put in a random order that is independent of who is a member,
and halves of them are drawn by coins of the attacker's own. All that an attack computes, its shadows among it, is then
a function of the model, of the people in that order, and of these coins; and members lie at places of which every
choice of as many is equally likely, given all of it, if the model does not depend on who they are. That is Fisher's
hypothesis. For the same reason scores are guesses by the output alone, as the bound on epsilon needs them: the
attacker knows the people, and no coin that decided who is a member. What would break it is a shadow that is trained on
more members than others because they are members, or on rows in an order that tells them apart: so each half is drawn
from all, and its rows come in an order that was drawn too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows
from ziggurat.attacks.models._recipes import Progress, read_recipe
from ziggurat.attacks.models._signals import measure_loss, scale_answers
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import choose_source

Inside = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Shadows:
    """What models say that were trained as the attacked one was, on people whom the attacker knows.

    Attributes
    ----------
    inside
        Whether a shadow was trained on a person: (shadows, people).
    answers
        What each says about each: (shadows, people, classes), or (shadows, people) of regressions.
    """

    inside: Inside
    answers: Floats = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse shadows that tell nothing about somebody."""
        if self.answers.shape[:2] != self.inside.shape or self.answers.ndim not in (2, 3):
            raise DataError("Shadows need an answer of each about every person.")
        counts = self.inside.sum(axis=0)
        if (counts == 0).any() or (counts == len(self)).any():
            raise DataError("Everybody must be in some shadows and not in others; train more, by `train_shadows`.")

    def __len__(self) -> int:
        return len(self.inside)

    def take(self, places: npt.NDArray[Any]) -> Self:
        """What they say about some of the people."""
        return replace(self, inside=self.inside[:, places], answers=self.answers[:, places])

    def keep(self, count: int) -> Self:
        """The first of them."""
        return replace(self, inside=self.inside[:count], answers=self.answers[:count])

    def signals(self, labels: npt.NDArray[Any], least: float) -> Floats:
        """The log odds of the true class that each gives, where no probability is below `least`: (shadows, people)."""
        return np.stack([scale_answers(each, labels, least) for each in self.answers])

    def losses(self, labels: npt.NDArray[Any]) -> Floats:
        """How wrong they are about each: (shadows, people)."""
        return np.stack([measure_loss(each, labels) for each in self.answers])


def train_shadows(
    model: AttackedModel,
    people: LabelledRows,
    count: int,
    *,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Shadows:
    """Train shadows of a model on random halves of people, and ask each about all of them.

    Parameters
    ----------
    model
        The model, with its recipe.
    people
        Members and others together, in any order.
    count
        How many shadows: at least 2. They come in pairs, of which the second has whom the first has not.
    random_state
        Draws the halves, and a random state for each shadow.
    progress
        Called with how much is done and how much there is to do.
    """
    recipe = read_recipe(model)
    if recipe is None:
        raise ParameterError("Shadows need a recipe: an estimator that is trained as the model was.")
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise ParameterError("There must be at least 2 shadows.")
    source = choose_source(random_state)
    draw = source.child("halves").simulation()
    inside = draw_halves(len(people), count, draw)
    places = tuple(draw.permutation(np.flatnonzero(each)) for each in inside)
    seeds = tuple(int(source.child("shadow", at).words(1)[0] >> np.uint64(1)) for at in range(count))
    return Shadows(inside, recipe.answer(people, places, seeds, progress))


def draw_halves(people: int, count: int, draw: np.random.Generator) -> Inside:
    """Draw who is in which shadow: a half of all, and in the next shadow the other half."""
    if people < 4:
        raise DataError("Shadows need at least 4 people.")
    inside = np.zeros((count, people), bool)
    for at in range(0, count, 2):
        inside[at, draw.permutation(people)[: people // 2]] = True
        if at + 1 < count:
            inside[at + 1] = ~inside[at]
    return inside
