"""What attackers ask of things that are no plain classifier: students, teachers who vote, models that are served.

`AttackedModel.of` meets everything in the manner of scikit-learn: networks by private gradient descent, our
regressions and trees among it. Here is the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models._attacked import Answers, AttackedModel, Floats
from ziggurat.errors import ParameterError
from ziggurat.pate import Aggregator, Student, Teachers, Votes
from ziggurat.randomness import Source


def meet_student(student: Student) -> AttackedModel:
    """A student as whoever received it asks it.

    Members are the teachers' people, to whom its labels promise something; or those of its own rows, to whom nothing is
    promised (document 004 trains it on the original rows). It has no recipe: attackers who train students on people's
    own rows and labels do not train as this one was.
    """
    met = AttackedModel.of(student)
    return AttackedModel(met.answers, met.kind, met.labels_only, None, met.name)


def meet_votes(teachers: Teachers) -> AttackedModel:
    """The ensemble by its raw votes: what would leak if shares of votes were told. They never leave: a control."""

    def answer(features: Floats) -> Floats:
        return Votes.from_labels(teachers.votes(features), teachers.classes).shares / len(teachers.seen_)

    return AttackedModel(answer, name="the teachers' votes")


def meet_aggregator(teachers: Teachers, aggregator: Aggregator, source: Source | None = None) -> AttackedModel:
    """The ensemble by the noisy labels that its aggregator releases, one for each row asked about.

    Every question is answered anew, and would be paid for: an epsilon is about all that are asked in one attack. A row
    that is not answered says nothing of its class.
    """

    def answer(features: Floats) -> Floats:
        released = aggregator.release(Votes.from_labels(teachers.votes(features), teachers.classes), source)
        named = np.eye(teachers.classes)[np.maximum(released.labels, 0)]
        return np.where(released.answered[:, None], named, 1 / teachers.classes)

    return AttackedModel(answer, labels_only=True, name="the teachers' noisy labels")


def meet_served(model: Any) -> AttackedModel:
    """A fitted model that stays with its steward and answers: densities, decision values or numbers.

    Of a density there is no label: the person's row is its own, all labels are 0, and the surer the larger the density
    at it. Answers that are perturbed one by one (`OutputPerturbation`) are those of the model that was perturbed; it
    knows its questions alone, which must be the rows that are asked about.
    """
    asked, inner = getattr(model, "predict", None), getattr(model, "model", model)
    name = type(model).__name__
    if hasattr(inner, "density"):
        return AttackedModel(_of_density(model.density if inner is model else model.predict), name=name)
    if hasattr(inner, "decision_function"):
        return AttackedModel(_of_margins(model.decision_function if inner is model else model.predict), name=name)
    if asked is None:
        raise ParameterError("A served model tells densities, decision values or numbers; give another as its answers.")
    return AttackedModel(asked, "numbers", name=name)


def _of_density(tell: Any) -> Answers:
    """The density as a probability that says the same in the same order; noise may have made it negative."""

    def answer(features: Floats) -> Floats:
        here = 0.5 + np.arctan(np.asarray(tell(features), np.float64)) / np.pi
        return np.column_stack([here, 1 - here])

    return answer


def _of_margins(tell: Any) -> Answers:
    def answer(features: Floats) -> npt.ArrayLike:
        from scipy.special import softmax

        said = np.asarray(tell(features), np.float64)
        return np.asarray(softmax(np.column_stack([-said / 2, said / 2]) if said.ndim == 1 else said, axis=1))

    return answer
