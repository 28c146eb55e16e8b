"""Systems that answer how many of some people have a secret: exactly, with rules that look safe, or a session of ours.

Each is a function of a condition. What it will not answer it refuses by an error, as a session does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.questions._people import PEOPLE, SECRET, Flags, KnownPeople, PeopleCondition, quote_name
from ziggurat.errors import ParameterError, QuestionError
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Amount, exact_epsilon
from ziggurat.randomness import Source, choose_source

AnswerQuestion = Callable[[PeopleCondition], float]
"""How many people of the condition have the secret, as the system tells it; a refusal raises QuestionError or
BudgetExceededError."""

AnswerEach = Callable[[KnownPeople], npt.ArrayLike]
"""One question with a group for every person: a number for each."""


class AskedSession(Protocol):
    """What attacks use of a `ziggurat.Session`; anything else that answers SQL at a price will do."""

    def ask(self, question: str, epsilon: Any, delta: Any = 0, **terms: Any) -> Any:
        """Answer; one number is the answer's `value`, a column of groups is answer["name"]."""


@dataclass(frozen=True)
class QuestionedSystem:
    """A system as attackers meet it.

    Attributes
    ----------
    name
        What it is, for people.
    answer
        How it answers a question about a condition.
    answer_each
        How it answers a question with a group for every person; None if it does not.
    each
        The epsilon that it charges for a question, if it charges; a question that was paid for is given again free.
    """

    name: str
    answer: AnswerQuestion = field(repr=False)
    answer_each: AnswerEach | None = field(default=None, repr=False)
    each: Fraction | None = None


def answer_exactly(secrets: Flags) -> QuestionedSystem:
    """Count without noise."""
    held = np.asarray(secrets, np.bool_)
    return QuestionedSystem(
        "exact answers", lambda asked: float(held[asked.members].sum()), lambda known: held[: len(known)].astype(float)
    )


def refuse_small(system: QuestionedSystem, smallest: int, people: int) -> QuestionedSystem:
    """Refuse questions about fewer people than `smallest`, or about all but fewer than so many.

    A question with a group for every person is refused whole.
    """
    if not 1 <= smallest <= people // 2:
        raise ParameterError("The smallest set that is answered has at least 1 and at most half of the people.")

    def answer(asked: PeopleCondition) -> float:
        if not smallest <= asked.size <= people - smallest:
            raise QuestionError(f"Questions are about {smallest} to {people - smallest} people here; widen it.")
        return system.answer(asked)

    return QuestionedSystem(f"{system.name}, no set under {smallest}", answer, None, system.each)


def round_answers(system: QuestionedSystem, base: int) -> QuestionedSystem:
    """Round what is answered to the nearest multiple of a base, halves up."""
    if base < 1:
        raise ParameterError("Answers are rounded to multiples of a whole number of at least 1.")

    def turn(value: npt.ArrayLike) -> npt.NDArray[np.float64]:
        return np.floor(np.asarray(value, np.float64) / base + 0.5) * base

    each = system.answer_each
    return QuestionedSystem(
        f"{system.name} rounded to {base}",
        lambda asked: float(turn(system.answer(asked))),
        None if each is None else lambda known: turn(each(known)),
        system.each,
    )


def add_fresh_noise(
    system: QuestionedSystem, scale: Amount, *, random_state: Source | int | None = None
) -> QuestionedSystem:
    """Add Laplace noise of one scale to whole answers, anew each time and without a budget: what many systems do."""
    width, source = exact_epsilon(scale), choose_source(random_state)
    noise = Laplace.calibrated(1 / width, values="integers", coordinates=1)

    def blur(value: npt.ArrayLike) -> npt.NDArray[np.float64]:
        return np.asarray(noise.release(np.asarray(value, np.float64).round().astype(np.int64), source).value, float)

    each = system.answer_each
    return QuestionedSystem(
        f"{system.name} with fresh noise of scale {float(width):g}",
        lambda asked: float(blur([system.answer(asked)])[0]),
        None if each is None else lambda known: blur(each(known)),
    )


def question_session(
    session: AskedSession, epsilon: Amount, *, table: str = PEOPLE, secret: str = SECRET, name: str = "a session"
) -> QuestionedSystem:
    """Ask a session in SQL, at one epsilon for each question; only people with the secret are ever counted.

    Parameters
    ----------
    session
        A `ziggurat.Session`, or what answers as it does.
    epsilon
        What each question may cost.
    table, secret
        How questions call the table, and its column that nobody may learn.
    name
        What it is, for people.
    """
    price = exact_epsilon(epsilon)
    counted = f"SELECT COUNT(DISTINCT UNIT()) AS n FROM {quote_name(table)} WHERE {quote_name(secret)}"  # noqa: S608

    def answer(asked: PeopleCondition) -> float:
        return float(session.ask(f"{counted} AND ({asked.where})", price, effects=0).value)

    def answer_each(known: KnownPeople) -> npt.ArrayLike:
        names = ", ".join(map(quote_name, known.columns))
        grouped = counted.replace("SELECT ", f"SELECT {names}, ", 1)
        said = session.ask(f"{grouped} GROUP BY {names}", price, effects=0, groups_per_unit=1)
        keys = zip(*(said[column] for column in known.columns), strict=True)
        found = dict(zip(keys, said["n"], strict=True))
        return [float(found.get(row, "nan")) for row in known.rows()]

    return QuestionedSystem(name, answer, answer_each, price)
