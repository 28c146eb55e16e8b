"""Sessions of ours stay within the bound on secrets, and a session that breaks its promise is caught."""

import itertools
from fractions import Fraction

import pytest

from ziggurat import Ledger, Neighbours
from ziggurat.attacks.questions import (
    answer_exactly,
    attack_answers,
    attack_session,
    invent_people,
    open_people,
    plan_differences,
    plan_groups,
    question_session,
)
from ziggurat.errors import ParameterError
from ziggurat.randomness import seeded
from ziggurat.release import Session

LEVEL = 1e-6


@pytest.fixture
def make(tmp_path):
    """Makes sessions with a total epsilon, each with its own ledger and seed."""
    numbers = itertools.count(1)

    def with_total(total):
        def make_session(table):
            number = next(numbers)
            ledger = Ledger.open(tmp_path / f"{number}.db")
            ledger.create_budget("people", epsilon=total, neighbours=Neighbours(table.unit))
            ledger.grant("people", "eve", epsilon=total, rule="sum")
            return Session(ledger, "eve", {"people": table}, source=seeded(number))

        return make_session

    return with_total


class TooLittleNoise:
    """A planted fault: noise for ten times the epsilon that is charged."""

    def __init__(self, session):
        self.session = session

    def ask(self, question, epsilon, delta=0, **terms):
        return self.session.ask(question, 10 * epsilon, delta, **terms)


class DrawnAnew:
    """A planted fault: a question that was paid for is not given again, but answered by new noise, free of charge."""

    def __init__(self, sessions):
        self.sessions = sessions

    def ask(self, question, epsilon, delta=0, **terms):
        return next(self.sessions).ask(question, epsilon, delta, **terms)


def test_no_attack_on_a_session_of_epsilon_1_goes_beyond_the_bound(make):
    told = []
    found = attack_session(make("1"), "1", people=12, times=5, level=LEVEL, random_state=11, progress=told.append)
    assert not found.broken
    assert len(told) == len(found.found) == 6
    for each in found.found.values():
        assert each.promise.epsilon == 1
        assert each.refused == 0
        assert each.largest == pytest.approx(0.7310586)
        assert "within the bound" in each.sentence
    grouped = found.found["groups"]
    assert grouped.learned  # one grouped question comes to the bound itself: the attacks are not weak
    assert 0.65 < grouped.right.rate < 0.81
    assert found.table.num_rows == 6


def test_asking_a_session_again_gains_nothing_and_costs_nothing(make):
    known, secrets = invent_people(64, random_state=3)
    session = make("1")(open_people(known, secrets))
    system = question_session(session, "0.5")
    once, often = (attack_answers(plan_groups(known, times), system, secrets) for times in (1, 5))
    assert once.right == often.right
    assert session.left() == Fraction(1, 2)


def test_what_does_not_fit_into_the_budget_is_refused_and_not_counted(make):
    known, secrets = invent_people(6, random_state=3)
    system = question_session(make("1")(open_people(known, secrets)), "0.4")
    found = attack_answers(plan_differences(known), system, secrets)
    assert (found.questions, found.refused) == (7, 5)
    assert found.promise.epsilon == Fraction(4, 5)


def test_a_session_answers_the_same_conditions_as_the_masks_say(make):
    """With next to no noise, SQL and masks agree, so that attacks ask what they mean to ask."""
    known, secrets = invent_people(12, random_state=4)
    system, exact = question_session(make("10000")(open_people(known, secrets)), "500"), answer_exactly(secrets)
    asked = plan_differences(known).questions
    assert [system.answer(each) for each in asked] == [exact.answer(each) for each in asked]
    assert list(system.answer_each(known)) == secrets.astype(float).tolist()


@pytest.mark.parametrize("kind", ["noise", "repeats"])
def test_a_session_that_breaks_its_promise_is_caught(make, kind):
    if kind == "noise":
        planted = attack_session(
            lambda table: TooLittleNoise(make("10")(table)), "1", kinds=["groups"], level=LEVEL, random_state=12
        )
    else:
        planted = attack_session(
            lambda table: DrawnAnew(make("1")(table) for _ in itertools.count()), "1",
            kinds=["averages"], times=12, level=LEVEL, random_state=12,
        )  # fmt: skip
    assert planted.broken
    assert planted.strongest.bound.lower > 1
    assert "The promise is false" in planted.sentence


def test_half_the_noise_is_caught_too(make):
    """The smallest fault that 1,024 people show at this level lies below twice the epsilon."""

    class Twice(TooLittleNoise):
        def ask(self, question, epsilon, delta=0, **terms):
            return self.session.ask(question, 2 * epsilon, delta, **terms)

    found = attack_session(lambda table: Twice(make("2")(table)), "1", kinds=["groups"], level=LEVEL, random_state=13)
    assert found.broken


def test_attacks_have_names(make):
    with pytest.raises(ParameterError, match="ranges, differences"):
        attack_session(make("1"), "1", kinds=["luck"])
