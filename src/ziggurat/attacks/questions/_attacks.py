"""Attacks as lists of questions, and how the answers are turned into a value for every person.

None depends on earlier answers, so that what an attack costs is known before it asks, and the same for every table.

*Range sums* (document 000, figure 2.2): where no single person may be asked about, two ranges that differ by one
person at their end tell about that one. *Differences*: everybody, and everybody but one. A rule that refuses sets of
fewer than k people, or of all but fewer than k, stops differences, and ranges that are shorter than k. It does not stop
a *general tracker*: a set T of 2k to n - 2k people pads any C with fewer than k, since q(C) = q(C or T) + q(C or not T)
- q(T) - q(not T), and all four sets are answered (Denning, Denning, Schwartz 1979, "The tracker: a threat to
statistical database security", ACM TODS 4(1)). *Averages*: the same, each question many times over, so that noise drawn
anew averages out. *A linear program*: see `_program`. *One grouped question*: a group for every person, asked once; it
does best against noise that is right, because one epsilon pays for all groups at once and no sum blurs anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ziggurat.attacks._guesses import whole
from ziggurat.attacks.questions._people import KnownPeople, PeopleCondition
from ziggurat.attacks.questions._program import solve_program
from ziggurat.errors import ParameterError
from ziggurat.randomness import Source, choose_source

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class QuestionAttack:
    """An attack, before it asks.

    Attributes
    ----------
    name
        What it is called.
    people
        What is known of them.
    questions
        All questions, each different; none if one grouped question is asked.
    decode
        Turns the answers, NaN where refused, into a value for every person, NaN where nothing was learned: above 1/2
        the person is taken to have the secret.
    times
        How often each question is asked; the mean of its answers counts.
    """

    name: str
    people: KnownPeople
    questions: tuple[PeopleCondition, ...] = field(repr=False)
    decode: Callable[[Floats], Floats] = field(repr=False)
    times: int = 1

    @property
    def price(self) -> int:
        """How many questions are paid for: repetitions are not."""
        return len(self.questions) or 1


def plan_ranges(people: KnownPeople, shortest: int = 2) -> QuestionAttack:
    """Ask about ranges of people that overlap, none shorter than `shortest`: 2 (n - shortest) + 1 questions."""
    n, size = len(people), whole(shortest, "The shortest range")
    if size >= n:
        raise ParameterError("The shortest range must leave somebody out.")
    short = [people.select_span(first, size) for first in range(n - size + 1)]
    wide = [people.select_span(first, size + 1) for first in range(n - size)]

    def decode(answers: Floats) -> Floats:
        shorter, wider = np.split(answers, [len(short)])
        first = wider - shorter[1:]  # the first person of each wider range
        return np.concatenate([first, (wider - shorter[:-1])[-size:]])  # and the last of the last ones

    return QuestionAttack("range sums", people, (*short, *wide), decode)


def plan_differences(people: KnownPeople) -> QuestionAttack:
    """Ask about everybody, and about everybody but each one: n + 1 questions."""
    everybody = np.ones(len(people), np.bool_)
    rest = [people.select(np.arange(len(people)) != person) for person in range(len(people))]
    return QuestionAttack("differences", people, (people.select(everybody), *rest), lambda said: said[0] - said[1:])


def plan_tracker(people: KnownPeople, *, random_state: Source | int | None = None, times: int = 1) -> QuestionAttack:
    """Pad each person with a tracker of half of the people, or with the other half: n + 2 questions.

    Gets round every rule that refuses sets of fewer than k people or all but fewer than k, for k up to n / 4. For one
    person C, q(C or T) is q(T) if C lies in T, and the formula loses two of its terms.

    Parameters
    ----------
    people
        What is known of them.
    random_state
        Seeds the choice of the tracker.
    times
        How often each question is asked; more than once is called averages.
    """
    n, often = len(people), whole(times, "How often each question is asked")
    tracker = np.zeros(n, np.bool_)
    tracker[choose_source(random_state).simulation().permutation(n)[: n // 2]] = True
    padded = [people.select((~tracker if tracker[one] else tracker) | (np.arange(n) == one)) for one in range(n)]

    def decode(answers: Floats) -> Floats:
        inside, outside, each = answers[0], answers[1], answers[2:]
        return np.asarray(each - np.where(tracker, outside, inside))

    name = "a general tracker" if often == 1 else "averages"
    return QuestionAttack(name, people, (people.select(tracker), people.select(~tracker), *padded), decode, often)


def plan_averages(people: KnownPeople, times: int = 200, *, random_state: Source | int | None = None) -> QuestionAttack:
    """Ask what a general tracker asks, each question so many times over."""
    return plan_tracker(people, random_state=random_state, times=whole(times, "How often each question is asked"))


def plan_program(
    people: KnownPeople, questions: int | None = None, *, random_state: Source | int | None = None
) -> QuestionAttack:
    """Ask about random halves of the people, 4 n of them unless told, and solve a linear program."""
    asked = whole(4 * len(people) if questions is None else questions, "The number of questions")
    draw = choose_source(random_state).simulation()
    halves = tuple(people.select_half(draw) for _ in range(asked))
    masks = np.array([each.members for each in halves])
    return QuestionAttack("a linear program", people, halves, lambda answers: solve_program(masks, answers))


def plan_groups(people: KnownPeople, times: int = 1) -> QuestionAttack:
    """Ask one question with a group for every person, so many times over."""
    often = whole(times, "How often the question is asked")
    name = "one grouped question" if often == 1 else "averages of one grouped question"
    return QuestionAttack(name, people, (), lambda answers: answers, often)
