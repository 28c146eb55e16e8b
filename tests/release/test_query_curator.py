"""Curator B: every row that leaves has paid 2 rho, and nothing of the row is kept."""

import json
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from ziggurat.data import Unit
from ziggurat.errors import BudgetExceededError, DataError, LedgerUseError, MixedNeighboursError, ParameterError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, Relation
from ziggurat.randomness import seeded
from ziggurat.release import PrivatizedQueries, QueryCurator
from ziggurat.release.labels import features_digest

ROWS = np.random.default_rng(3).normal(size=(50, 4))


def made(ledger=None, rho="0.5", **options):
    paying = {} if ledger is None else {"ledger": ledger, "analyst": "curie", "budget": "own"}
    return QueryCurator(rho, 4, **paying, **{"source": seeded("queries"), **options})


@pytest.mark.parametrize(("rho", "norm"), [("0.05", 1), ("0.5", 1), ("1/3", 7), (2, "0.01")])
def test_a_row_pays_exactly_two_rho_whatever_its_norm(rho, norm):
    curator = made(rho=rho, norm=norm)
    curator.privatize(ROWS)
    assert curator.sent.promise.epsilon == 2 * Fraction(rho)
    assert curator.sent.noise.event.scale == pytest.approx(float(Fraction(norm) / Fraction(rho)), rel=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize(("rho", "norm"), [("0.5", 1), ("2", 3)])
def test_the_noise_has_scale_norm_over_rho(rho, norm):
    """The mean magnitude of 200,000 deviates: 0.22% standard error, so 1.5% is beyond six of them; 5% is rejected."""
    noise = QueryCurator(rho, 100, norm=norm, source=seeded("scale")).privatize(np.zeros((2000, 100))).value
    ratio = np.abs(noise).mean() / float(Fraction(norm) / Fraction(rho))
    assert abs(ratio - 1) < 0.015
    assert abs(1.05 * ratio - 1) > 0.015
    assert abs(2 * ratio - 1) > 0.015


@pytest.mark.statistical
def test_opposite_corners_of_the_ball_are_told_apart_by_two_rho_and_not_by_rho():
    """Lap(1/rho) in one dimension: P[x > 1] is half from row 1, and half of e^(-2 rho) from row -1.

    200,000 draws each: the logarithm of the ratio has a standard error of 0.5%; 0.05 is beyond six of them.
    """
    rho = 0.5
    curator = QueryCurator("0.5", 1, source=seeded("corners"))
    here, there = (np.mean(curator.privatize(np.full((200_000, 1), value)).value > 1 - 1e-9) for value in (5.0, -1.0))
    assert abs(np.log(here / there) - 2 * rho) < 0.05
    assert abs(here - 0.5) < 0.01
    assert abs(there - 0.5 * exp(-2 * rho)) < 0.01


def test_long_rows_are_shrunk_into_the_ball_before_the_noise():
    quiet = QueryCurator(10**6, 4, source=seeded(1)).privatize(1000 * ROWS).value
    assert np.abs(quiet).sum(axis=1) == pytest.approx(np.ones(50), abs=1e-4)


def test_a_call_is_paid_for_and_noted_without_a_trace_of_the_rows(students_ledger):
    curator = made(students_ledger)
    reports = curator.privatize(ROWS)
    assert students_ledger.left("own", "curie") == 3
    (commit,) = [entry for entry in students_ledger.history("own") if entry.kind == "commit"]
    assert commit.data["answer"]["rows"] == 50
    assert commit.data["answer"]["digest"] == features_digest(reports.value)
    text = str(students_ledger.history())
    assert features_digest(ROWS) not in text
    assert str(ROWS[0, 0]) not in text


def test_calls_add_up_and_the_same_rows_are_never_recognised(students_ledger):
    curator = made(students_ledger)
    first, second = curator.privatize(ROWS), curator.privatize(ROWS)
    assert (first.value != second.value).all()
    assert curator.sent.promise.epsilon == 2
    assert students_ledger.left("own", "curie") == 2


def test_what_exceeds_the_grant_is_refused_and_makes_no_report(students_ledger):
    curator = made(students_ledger, rho="1.5")
    curator.privatize(ROWS)
    with pytest.raises(BudgetExceededError):
        curator.privatize(ROWS)
    assert len(curator.sent.calls) == 1


@pytest.mark.parametrize("bad", [np.full((2, 4), np.nan), np.ones((2, 5)), np.ones(4), [["a"] * 4], np.ones((0, 4))])
def test_wrong_rows_are_found_before_anything_is_spent(students_ledger, bad):
    with pytest.raises(DataError):
        made(students_ledger).privatize(bad)
    assert students_ledger.left("own", "curie") == 4


def test_without_a_ledger_nothing_is_recorded_and_the_facts_say_so():
    curator = made(source=None)
    assert curator.privatize(ROWS).origin == "secure"
    (call,) = curator.sent.calls
    assert (call.entry, call.rows, curator.sent.rehearsal) == (None, 50, False)


def test_a_unit_with_several_rows_pays_for_all_of_them(tmp_path):
    people, names = Unit.person("patient"), np.repeat(np.arange(25), 2)
    with Ledger.open(tmp_path / "people.db") as ledger:
        ledger.create_budget("own", 4, 0, Neighbours(people, Relation.REPLACE_ONE))
        ledger.grant("own", "curie", 4)
        curator = made(ledger, rows_per_unit=2)
        curator.privatize(ROWS, names)
        assert (ledger.left("own", "curie"), curator.sent.promise.epsilon) == (2, 2)
        assert curator.sent.neighbours.unit == people


@pytest.mark.parametrize("names", [None, np.arange(50), np.zeros(50, dtype=int), np.repeat(np.arange(24), 2)])
def test_everybody_has_as_many_rows_as_stated_or_the_number_of_reports_would_tell(names):
    curator = made(unit=Unit.person("patient"), rows_per_unit=2)
    with pytest.raises(DataError):
        curator.privatize(ROWS, names)
    assert curator.sent.calls == ()


def test_a_budget_about_adding_and_removing_or_another_unit_is_refused(students_ledger):
    students_ledger.create_budget("whole", 4)
    with pytest.raises(MixedNeighboursError, match="replace-one"):
        QueryCurator(1, 4, students_ledger, "curie", budget="whole")
    with pytest.raises(MixedNeighboursError, match="patient"):
        made(students_ledger, unit=Unit.person("patient"))
    with pytest.raises(LedgerUseError):
        QueryCurator(1, 4, students_ledger, "eve", budget="own")


@pytest.mark.parametrize("options", [{"analyst": "a"}, {"budget": "b"}, {"rows_per_unit": 2}, {"rho": 0}, {"norm": -1}])
def test_parameters_that_make_no_promise_are_refused(options):
    with pytest.raises(ParameterError):
        made(**options)


def test_units_of_rows_are_refused_where_the_unit_is_a_row():
    with pytest.raises(ParameterError, match="leave"):
        made().privatize(ROWS, np.arange(50))


def test_the_facts_survive_json_and_refuse_what_was_edited(students_ledger):
    curator = made(students_ledger)
    curator.privatize(ROWS)
    data = json.loads(json.dumps(curator.sent.to_dict()))
    assert PrivatizedQueries.from_dict(data) == curator.sent
    for broken in ({**data, "rho": "x"}, {**data, "calls": [{}]}, {**data, "more": 1}, [], None):
        with pytest.raises(DataError):
            PrivatizedQueries.from_dict(broken)
    curator.sent.require_recorded(students_ledger)
    with pytest.raises(DataError, match="something else"):
        PrivatizedQueries.from_dict({**data, "rho": "1/100"}).require_recorded(students_ledger)
