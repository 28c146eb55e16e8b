"""Attacks have the secrets of exact answers, get round rules that look safe, and end where noise is large enough."""

import json

import numpy as np
import pytest

from ziggurat.attacks.questions import (
    KnownPeople,
    add_fresh_noise,
    answer_exactly,
    attack_answers,
    invent_people,
    plan_averages,
    plan_differences,
    plan_groups,
    plan_program,
    plan_ranges,
    plan_tracker,
    refuse_small,
    round_answers,
    solve_program,
)
from ziggurat.errors import DataError, ParameterError, QuestionError

PEOPLE = 96
SMALLEST = 20


@pytest.fixture(scope="module")
def invented():
    return invent_people(PEOPLE, random_state=5)


PLANS = {
    "range sums": plan_ranges,
    "longer range sums": lambda known: plan_ranges(known, SMALLEST),
    "differences": plan_differences,
    "a tracker": lambda known: plan_tracker(known, random_state=1),
    "averages": lambda known: plan_averages(known, 3, random_state=1),
    "a linear program": lambda known: plan_program(known, random_state=1),
    "one grouped question": plan_groups,
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_every_attack_has_almost_all_secrets_of_exact_answers(invented, plan):
    known, secrets = invented
    found = attack_answers(plan(known), answer_exactly(secrets), secrets)
    assert found.right.rate >= 0.95
    assert found.learned
    assert not found.broken
    assert found.promise is None
    assert "nothing bounds it" in found.sentence


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_attacks_learn_nothing_of_answers_about_other_people(invented, plan):
    """The control: the same answers, but the secrets are others' coins, so that being right is luck."""
    known, secrets = invented
    others = invent_people(PEOPLE, random_state=6)[1]
    found = attack_answers(plan(known), answer_exactly(secrets), others)
    assert found.chance > 1e-7


def test_a_smallest_set_stops_differences_and_single_people_and_no_tracker(invented):
    known, secrets = invented
    system = refuse_small(answer_exactly(secrets), SMALLEST, PEOPLE)
    for plan in (plan_differences, plan_ranges, plan_groups):
        found = attack_answers(plan(known), system, secrets)
        assert found.refused == found.questions
        assert found.unlearned == PEOPLE
    for name in ("longer range sums", "a tracker", "averages", "a linear program"):
        found = attack_answers(PLANS[name](known), system, secrets)
        assert found.refused == 0
        assert found.right.rate >= 0.95
    with pytest.raises(QuestionError, match="20 to 76 people"):
        system.answer(known.select_one(3))


def test_a_tracker_asks_about_no_set_that_is_too_small_or_too_large(invented):
    known, _ = invented
    sizes = [each.size for each in plan_tracker(known, random_state=2).questions]
    assert min(sizes) >= PEOPLE / 4
    assert max(sizes) <= PEOPLE * 3 / 4


def test_rounding_hides_no_secret_from_a_linear_program(invented):
    known, secrets = invented
    found = attack_answers(plan_program(known, random_state=3), round_answers(answer_exactly(secrets), 5), secrets)
    assert found.right.rate >= 0.95


def test_noise_that_is_drawn_anew_averages_out():
    known, secrets = invent_people(40, random_state=7)
    system = add_fresh_noise(answer_exactly(secrets), 1, random_state=8)
    often, once = (attack_answers(plan_averages(known, n, random_state=1), system, secrets) for n in (200, 1))
    assert often.right.rate >= 0.95
    assert once.right.rate < 0.95
    grouped = attack_answers(plan_groups(known, 200), system, secrets)
    assert grouped.right.rate >= 0.95


@pytest.mark.parametrize(("scale", "falls"), [("1", True), ("60", False)])
def test_a_linear_program_needs_errors_well_below_the_root_of_the_number_of_people(invented, scale, falls):
    """Noise of scale 1 is far below the root, 9.8; of scale 60 the mean of 384 answers does not make up for it."""
    known, secrets = invented
    system = add_fresh_noise(answer_exactly(secrets), scale, random_state=9)
    found = attack_answers(plan_program(known, random_state=4), system, secrets)
    assert (found.right.rate >= 0.95) is falls
    assert (found.right.rate <= 0.8) is not falls


def test_a_linear_program_stands_answers_that_are_wild(invented):
    """A tenth of the answers off by any amount changes nothing (Dwork, McSherry, Talwar 2007)."""
    known, secrets = invented
    attack = plan_program(known, 600, random_state=5)
    masks = np.array([each.members for each in attack.questions])
    answers = masks.astype(float) @ secrets
    answers[::10] = 1e3
    assert ((solve_program(masks, answers) > 0.5) == secrets).all()


def test_conditions_in_sql_mean_the_same_people(invented):
    import duckdb

    known, _ = invented
    draw = np.random.default_rng(3)
    asked = [known.select(draw.random(PEOPLE) < 0.5), known.select_one(7), known.select_span(5, 30)]
    asked += [known.select_half(draw) for _ in range(10)]
    asked += [known.select(np.zeros(PEOPLE, bool)), known.select(np.ones(PEOPLE, bool))]
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE known (place INT, postcode INT, born INT)")
        rows = [(place, *row) for place, row in enumerate(known.rows())]
        engine.executemany("INSERT INTO known VALUES (?, ?, ?)", rows)
        for each in asked:
            found = engine.execute(f"SELECT place FROM known WHERE {each.where}").fetchall()
            assert sorted(place for (place,) in found) == np.flatnonzero(each.members).tolist()


def test_halves_are_about_half_and_unlike_each_other(invented):
    known, _ = invented
    draw = np.random.default_rng(4)
    masks = np.array([known.select_half(draw).members for _ in range(400)], float)
    assert abs(masks.mean() - 0.5) < 0.02
    assert np.abs(np.corrcoef(masks.T) - np.eye(PEOPLE)).max() < 0.35  # 4560 pairs, standard deviation 0.05


def test_document_000_figure_2_2_health_of_one_person_from_two_range_sums():
    """Eight people by age, ranges of two or more: the sums over 30 to 39 and 31 to 39 tell about the one of 30."""
    known = KnownPeople({"age": np.array([30, 31, 35, 39, 44, 52, 60, 71])})
    secrets = np.array([1, 0, 0, 1, 1, 0, 1, 0], bool)
    system = refuse_small(answer_exactly(secrets), 2, 8)
    found = attack_answers(plan_ranges(known, 2), system, secrets)
    assert (found.right.hits, found.questions, found.refused) == (8, 13, 0)
    assert known.select_span(0, 2).where == '("age" BETWEEN 30 AND 31)'


def test_what_was_found_can_be_written_down(invented):
    known, secrets = invented
    found = attack_answers(plan_groups(known), answer_exactly(secrets), secrets)
    held = json.loads(json.dumps(found.to_dict()))
    assert held["right"]["rate"] == 1.0
    assert held["baseline"] == 0.5
    assert found.table.num_rows == 3


def test_what_cannot_be_attacked_is_refused(invented):
    known, secrets = invented
    with pytest.raises(DataError, match="cannot tell apart"):
        KnownPeople({"age": np.array([30, 30])})
    with pytest.raises(DataError, match="whole numbers"):
        KnownPeople({"age": np.array(["a", "b"])})
    with pytest.raises(ParameterError, match="leave somebody out"):
        plan_ranges(known, PEOPLE)
    with pytest.raises(ParameterError, match="half of the people"):
        refuse_small(answer_exactly(secrets), PEOPLE, PEOPLE)
    with pytest.raises(ParameterError, match="multiples"):
        round_answers(answer_exactly(secrets), 0)
    with pytest.raises(ParameterError, match="a secret for each person"):
        attack_answers(plan_groups(known), answer_exactly(secrets), secrets[1:])
