"""Copy a model by asking it, and see how closely copies agree.

Tramèr, Zhang, Juels, Reiter, Ristenpart (2016), "Stealing machine learning models via prediction APIs", USENIX
Security: a linear model that tells probabilities is solved for from as many questions as a class has parameters, d + 1,
as log odds are linear in the row. Any other model is a teacher whose answers a model of the thief's own is trained on
(Jagielski, Carlini, Berthelot, Kurakin, Papernot 2020, "High accuracy and high fidelity extraction of neural networks",
USENIX Security, on agreement as the measure). Questions that were asked stay known, so that more hold the fewer.

Of the copies a thief can make, the one is taken that agrees most with answers that were kept back from learning; its
agreement is then measured on questions that it never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import whole
from ziggurat.attacks.models._attacked import AttackedModel, Floats
from ziggurat.attacks.models.extraction._copied import CopiedModel, CopyPoint
from ziggurat.attacks.models.extraction._copies import ModelCopy, list_copies
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import choose_source

Draw = Callable[[int, np.random.Generator], npt.ArrayLike]
Progress = Callable[[str, int, int], None]

QUESTIONS = (100, 300, 1000, 3000)
"""After how many questions copies are made, unless it is said."""

_KEPT = 5  # of so many questions one is kept back to choose between copies
_FEWEST = 10
_FAR = 1e-3
_PERFECT = 1 - 1e-9


def draw_within(bounds: npt.ArrayLike) -> Draw:
    """Draw questions evenly between public bounds.

    Parameters
    ----------
    bounds
        The lowest and the highest value of every column: two rows.
    """
    low, high = np.asarray(bounds, np.float64)
    if low.ndim != 1 or low.shape != high.shape or not (low <= high).all():
        raise ParameterError("Bounds are two rows of numbers, the lowest and the highest value of every column.")

    def draw(count: int, generator: np.random.Generator) -> Floats:
        return generator.uniform(low, high, (count, len(low)))

    return draw


def extract_model(
    model: AttackedModel,
    questions_from: npt.ArrayLike | Draw,
    *,
    questions: Sequence[int] = QUESTIONS,
    adaptive: bool = False,
    unseen: int = 1000,
    within: float = 0.1,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> CopiedModel:
    """Copy a model by asking it, and tell how many questions that takes.

    Parameters
    ----------
    model
        The model as askers meet it. It is asked about as many rows as the largest of `questions`, and about the unseen
        ones: ask only what may be asked.
    questions_from
        A pool of public rows, or a function that draws so many, such as `draw_within(bounds)`; no row of a member.
    questions
        After how many questions a copy is made.
    adaptive
        Whether to ask where the copy so far is least sure (uncertainty sampling, for classes with probabilities or
        not; for numbers where copies differ most), from a third of the questions on.
    unseen
        How many further rows agreement is measured on; of a pool those that are left, if they are fewer.
    within
        For numbers: how near counts as agreeing, in standard deviations of the model's answers.
    random_state
        A seed; None draws anew.
    progress
        Called with what is being done, how many copies were made, and of how many.

    Raises
    ------
    DataError
        If the pool is too small for the questions and unseen ones.
    """
    budgets = _read_budgets(questions)
    draw, told = choose_source(random_state).simulation(), progress or _say_nothing
    rows, tested = _draw_questions(
        questions_from, budgets[-1], whole(unseen, "The number of unseen questions"), draw, adaptive
    )
    said = model.ask(tested)
    spread = float(np.std(said)) if model.kind == "numbers" else 0.0
    asker = CopyRun(model, rows, within * spread, draw)
    points = []
    for done, budget in enumerate(budgets):
        told("copying", done, len(budgets))
        copy = asker.copy(budget, adaptive)
        points.append(_measure(copy, budget, tested, said, within * spread, spread))
    near = None if model.kind == "classes" else within
    constant = _share(_agree(_repeat_common(said, asker.answers), said, within * spread))
    return CopiedModel(model.name, tuple(points), constant, rows.shape[1], adaptive, near)


class CopyRun:
    """A thief: what was asked so far, and what the model said."""

    def __init__(self, model: AttackedModel, rows: Floats, near: float, draw: np.random.Generator) -> None:
        self.model, self.near, self.draw, self.left = model, near, draw, rows
        self.asked = np.empty((0, rows.shape[1]))
        self.answers: Floats = np.empty(0)

    def copy(self, budget: int, adaptive: bool) -> ModelCopy:
        """Ask until so many questions were asked, and give the best copy."""
        start = budget if not adaptive or len(self.asked) else max(_FEWEST, budget // 3)
        self._ask(np.arange(max(0, start - len(self.asked))))
        while len(self.asked) < budget:
            best = self._choose()
            some = max(1, min(budget - len(self.asked), len(self.asked) // 2))
            self._ask(np.argsort(best.doubt(self.left))[::-1][:some])
        return self._choose()

    def _ask(self, places: npt.NDArray[Any]) -> None:
        if not len(places):
            return
        rows = self.left[places]
        said = self.model.ask(rows)
        self.answers = said if not len(self.asked) else np.concatenate([self.answers, said])
        self.asked = np.vstack([self.asked, rows])
        self.left = np.delete(self.left, places, axis=0)

    def _choose(self) -> ModelCopy:
        """The copy that agrees most on answers kept back, learned again from all."""
        order = self.draw.permutation(len(self.asked))
        kept, learned = order[::_KEPT], np.delete(order, np.s_[::_KEPT])
        best, most = None, -np.inf
        for each in list_copies(self.model, int(self.draw.integers(2**31))):
            score = self._score(each, learned, kept)
            best, most = (each, score) if score > most else (best, most)
            if most > _PERFECT:  # nothing is left to gain by what takes longer
                break
        if best is None:
            raise DataError("The model's answers cannot be learned from.")
        return best.learn(self.asked, self.answers)

    def _score(self, copy: ModelCopy, learned: npt.NDArray[Any], kept: npt.NDArray[Any]) -> float:
        """The share on which both agree; of equal ones the nearer copy is better."""
        made, truth = (
            copy.learn(self.asked[learned], self.answers[learned]).answer(self.asked[kept]),
            self.answers[kept],
        )
        return float(_agree(made, truth, self.near).mean()) - _FAR * float(np.abs(made - truth).mean())


def _read_budgets(questions: Sequence[int]) -> tuple[int, ...]:
    budgets = tuple(sorted({whole(each, "A number of questions") for each in questions}))
    if not budgets or budgets[0] < _FEWEST:
        raise ParameterError(f"Copies are made after at least {_FEWEST} questions.")
    return budgets


def _draw_questions(
    given: npt.ArrayLike | Draw, most: int, unseen: int, draw: np.random.Generator, adaptive: bool
) -> tuple[Floats, Floats]:
    """What may be asked, and the unseen questions; who chooses among questions has ten times as many."""
    if callable(given):
        offered = most * (10 if adaptive else 1)
        rows = np.asarray(given(offered + unseen, draw), np.float64)
    else:
        rows = np.asarray(given, np.float64)
        rows = rows[draw.permutation(len(rows))] if rows.ndim == 2 else rows
        unseen = min(unseen, len(rows) - most)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise DataError("Questions are rows of finite numbers.")
    if unseen < _FEWEST:
        raise DataError("The pool must hold more rows than the most questions, so that some are left unseen.")
    return rows[unseen:], rows[:unseen]


def _measure(copy: ModelCopy, budget: int, rows: Floats, said: Floats, near: float, spread: float) -> CopyPoint:
    made = copy.answer(rows)
    apart = np.abs(made - said)
    distance = apart.sum(axis=1).mean() / 2 if said.ndim == 2 else apart.mean() / (spread or 1.0)
    return CopyPoint(budget, copy.name, _share(_agree(made, said, near)), float(distance))


def _agree(one: Floats, other: Floats, near: float) -> npt.NDArray[np.bool_]:
    if one.ndim == 2:
        return np.asarray(one.argmax(axis=1) == other.argmax(axis=1))
    return np.asarray(np.abs(one - other) <= near)


def _repeat_common(said: Floats, answers: Floats) -> Floats:
    """The most common class of the answers, or their mean, for everybody."""
    if said.ndim == 1:
        return np.full(len(said), answers.mean())
    common = int(np.bincount(answers.argmax(axis=1)).argmax())
    return np.tile(np.eye(said.shape[1])[common], (len(said), 1))


def _share(right: npt.NDArray[np.bool_]) -> Share:
    return Share(int(right.sum()), len(right))


def _say_nothing(_what: str, _done: int, _of: int) -> None:
    return None
