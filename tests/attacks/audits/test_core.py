"""The parts of an audit: what is learned from which runs, ties and constants, the smallest fault, and the stop."""

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ziggurat.attacks.audits import FACTORS, AuditCase, AuditedPromise, audit_case, find_smallest_fault
from ziggurat.attacks.audits._scores import prove_epsilon
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.mechanisms import RandomizedResponse
from ziggurat.randomness import uniform_below


def _respond(epsilon):
    made = RandomizedResponse(epsilon)
    return lambda world, runs, source: made.release(np.full(runs, world), source).value


RESPONSE = AuditCase("response", "no and yes", _respond, runs=4000)


def _prove(here, there, **options):
    given = {"delta": Fraction(0), "confidence": "0.999999", **options}
    return prove_epsilon(np.asarray(here, float), np.asarray(there, float), **given)


def test_a_bound_above_the_claim_stops_everything_and_says_so():
    found = audit_case(RESPONSE, 1, spent=4, random_state=1)
    assert found.refuted
    with pytest.raises(PrivacyError, match="The promise is false: release nothing by it, and report this"):
        found.require()
    honest = audit_case(RESPONSE, 1, random_state=1)
    assert honest.require() is honest
    assert "does not prove it either" in honest.sentence
    assert json.loads(json.dumps(honest.to_dict()))["claimed"] == "1"


def test_a_seed_repeats_an_audit_and_progress_is_told():
    told = []
    first = audit_case(RESPONSE, 1, random_state=3, progress=told.append)
    assert first == audit_case(RESPONSE, 1, random_state=3)
    assert len(told) == 3


def test_the_smallest_fault_is_seen_and_the_next_smaller_one_is_not():
    found = find_smallest_fault(RESPONSE, 1, random_state=5)
    smaller = FACTORS[FACTORS.index(found) - 1]
    assert smaller < found < 2
    assert audit_case(RESPONSE, 1, spent=found, random_state=5).refuted
    assert not audit_case(RESPONSE, 1, spent=smaller, random_state=5).refuted
    assert find_smallest_fault(RESPONSE, 1, factors=("1.01", "1.02"), random_state=5) is None


def _whisper(epsilon):
    """Tells which neighbour it is by an event that becomes rare where much is spent."""

    def draw(world, runs, source):
        told = uniform_below(1000, size=runs, source=source) < 1000 / epsilon**3
        return told * (1 + world)

    return draw


def test_what_is_seen_of_a_small_fault_and_not_of_a_large_one_is_found():
    """A fault of 1.5 times shows and one of 32 times does not: the smallest is the first that is seen."""
    case = AuditCase("whisper", "two", _whisper, runs=1000)
    assert audit_case(case, 1, spent="1.5", random_state=1).refuted
    assert not audit_case(case, 1, spent=32, random_state=1).refuted
    assert find_smallest_fault(case, 1, factors=("1.5", 2, 32), random_state=1) == Fraction("1.5")


def test_a_fault_that_cannot_be_built_is_not_seen():
    """An audit that is blind stays so where the mechanism refuses what it is asked to spend."""

    def make(epsilon):
        if epsilon > 3:
            raise ParameterError("epsilon is too large.")
        return lambda _world, runs, _source: np.zeros(runs)

    tried = []
    assert find_smallest_fault(AuditCase("blind", "two", make), 1, runs=200, progress=tried.append) is None
    assert len(tried) == 3 * sum(factor <= 3 for factor in FACTORS)


def test_what_is_always_the_same_proves_nothing():
    assert _prove(np.zeros(500), np.zeros(500)) == 0
    assert _prove(np.zeros((500, 3)), np.zeros((500, 3))) == 0


def test_outcomes_that_only_one_neighbour_has_may_be_infinite():
    assert _prove(np.full(1000, np.inf), np.zeros(1000)) > 3


@pytest.mark.parametrize("wrong", [np.full(500, np.nan), np.zeros((500, 2))])
def test_outcomes_must_be_there_and_alike(wrong):
    with pytest.raises(ParameterError, match="of one shape"):
        _prove(np.zeros(500), wrong)


def test_an_audit_needs_the_outcome_of_every_run():
    lost = AuditCase("lost", "none", lambda _epsilon: lambda _world, _runs, _source: np.zeros(3))
    with pytest.raises(ParameterError, match="every run"):
        audit_case(lost)


def test_only_runs_at_even_places_teach():
    """Neighbours that differ at even places alone, which is all that a learner may see, prove nothing at odd ones."""
    draw = np.random.default_rng(1)
    here, there = draw.normal(size=(2, 2000, 30))
    here[::2] += 3
    assert _prove(here, there) == 0
    here[1::2] += 3
    assert _prove(here, there) > 2


@pytest.mark.statistical
def test_a_learner_that_memorises_does_not_make_false_alarms():
    """Twenty-five columns of noise for a hundred runs: what teaches looks told apart; the bound stays sound."""
    draw, false = np.random.default_rng(2), 0
    for _ in range(60):
        here, there = draw.normal(size=(2, 200, 25))
        false += _prove(here, there, confidence="0.95") > 0
    assert false <= stats.binom.isf(1e-6, 60, 0.05)


@pytest.mark.statistical
def test_a_promise_that_is_kept_exactly_is_refuted_as_rarely_as_said():
    """Randomised response reaches its epsilon; the control claims a little less, and is refuted often."""
    most = stats.binom.isf(1e-6, 300, 0.05)

    def count(claim):
        given = {"runs": 400, "confidence": "0.95"}
        return sum(audit_case(RESPONSE, claim, spent=1, random_state=at, **given).refuted for at in range(300))

    assert count(1) <= most
    assert count("0.5") > most


def test_draws_of_rows_are_told_apart_by_learning():
    def make(epsilon):
        def draw(world, runs, source):
            answers = RandomizedResponse(epsilon).release(np.full(runs, world), source).value
            noise = uniform_below(1000, size=4 * runs, source=source).reshape(runs, 4)
            return np.column_stack([noise, answers])

        return draw

    case = AuditCase("among others", "no and yes", make, runs=4000)
    assert not audit_case(case, 1, random_state=1).refuted
    assert audit_case(case, 1, spent=2, random_state=1).refuted


def test_what_was_found_is_told_in_a_table():
    found = AuditedPromise("x", "a pair", Fraction(1), Fraction(0), 0.5, 1000, Fraction(99, 100))
    assert found.table.to_pydict() == {"epsilon": ["promised", "proven"], "value": [1.0, 0.5]}
