"""Intruders who match what they know against partially synthetic copies."""

import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.attacks import Exact, MatchRisk, SameSide, Scenario, Share, Within, match_risk
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.synthesize import Synthetic

GOLDEN = {"match.prob": 0.75, "match.unique.LR": 1 / 3, "match.unique.RF": 0.7}
SECRET = "Xanadu"


def brute(original, copies, known, targets, population=None):
    """Equation 4.2 as it is written, in exact fractions: expected risk, claims, right claims, own probability."""

    def matches(row, target):
        return all(_fits(rule, row[name], target[name]) for name, rule in known.items())

    expected, claims, right, own = Fraction(0), 0, 0, Fraction(0)
    for t in targets:
        chances = [Fraction(0)] * len(original)
        for copy in copies:
            fitting = [j for j, row in enumerate(copy) if matches(row, original[t])]
            people = len(fitting)
            if population is not None:
                people = max(people, sum(matches(row, original[t]) for row in population))
            for j in fitting:
                chances[j] += Fraction(1, people * len(copies))
        best = max(chances)
        own += chances[t]
        if best == 0 or (population is not None and best < 1 - sum(chances)):
            continue
        likeliest = [j for j, chance in enumerate(chances) if chance == best]
        expected += Fraction(t in likeliest, len(likeliest))
        claims += len(likeliest) == 1
        right += likeliest == [t]
    return float(expected), claims, right, float(own / len(targets))


def _fits(rule, cell, known):
    if cell is None or known is None:
        return cell is known
    if isinstance(rule, Within):
        return abs(cell - known) <= (rule.amount * abs(known) if rule.relative else rule.amount)
    return (cell > rule.of) == (known > rule.of) if isinstance(rule, SameSide) else cell == known


def found(result):
    return result.expected, result.unique.hits, result.right.hits, result.probability


def small(draw, rows):
    cells = {
        "place": draw.choice(np.array(["a", "b", None], dtype=object), rows).tolist(),
        "age": [None if draw.random() < 0.1 else int(draw.integers(20, 28)) for _ in range(rows)],
        "income": draw.integers(0, 6, rows).tolist(),
    }
    kinds = {"place": pa.string(), "age": pa.int64(), "income": pa.int64()}
    return pa.table({name: pa.array(cells[name], kind) for name, kind in kinds.items()})


RULES = {
    "exact": {"place": Exact(), "age": Exact()},
    "near": {"place": Exact(), "age": Within(1)},
    "nearer": {"age": Within(2), "income": Within(0.5, relative=True)},
    "side": {"age": Within(1), "income": SameSide(2)},
}


@pytest.mark.parametrize("known", RULES)
@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_the_equation_as_it_is_written(known, seed):
    draw = np.random.default_rng(seed)
    original, copies = small(draw, 17), [small(draw, 17) for _ in range(1 + seed % 3)]
    targets = [j for j, row in enumerate(original.to_pylist()) if row["income"] > 2]
    result = match_risk(original, copies, Scenario(RULES[known], targets="income > 2"))
    wanted = brute(original.to_pylist(), [copy.to_pylist() for copy in copies], RULES[known], targets)
    assert found(result) == pytest.approx(wanted)


@pytest.mark.parametrize("known", RULES)
def test_with_a_population_it_agrees_with_the_equation_as_it_is_written(known):
    draw = np.random.default_rng(7)
    original, copies, others = small(draw, 15), [small(draw, 15) for _ in range(2)], small(draw, 20)
    people = pa.concat_tables([original, others])
    result = match_risk(original, copies, Scenario(RULES[known], in_sample="maybe"), population=people)
    plain = [table.to_pylist() for table in (original, *copies, people)]
    assert found(result) == pytest.approx(brute(plain[0], plain[1:3], RULES[known], range(15), plain[3]))


def test_the_probability_is_that_of_the_oracle():
    original = pa.table({"x": [1, 2, 3]})
    copies = [pa.table({"x": [1, 1, 3]}), pa.table({"x": [1, 2, 3]})]
    result = match_risk(original, copies, Scenario(["x"], targets="x = 1"))
    assert result.probability == pytest.approx(GOLDEN["match.prob"], abs=1e-12)  # match.prob
    assert (result.right, result.expected) == (Share(1, 1), 1.0)


@pytest.mark.parametrize(
    ("golden", "right", "claims"),
    [("match.unique.LR", 18, 100), ("match.unique.RF", 105, 210)],  # true and false match rates of table 4.4
)
def test_claims_follow_from_both_match_rates(golden, right, claims):
    shares = Share(claims, 300), Share(right, 300), Share(claims - right, claims), Share(0, 300)
    result = MatchRisk(300, 3000, 5, "surely", 120.0, 0.1, *shares)
    assert result.right.rate / (1 - result.wrong.rate) == pytest.approx(GOLDEN[golden], abs=1e-12)
    assert result.unique.rate == pytest.approx(GOLDEN[golden], abs=1e-12)


def test_the_values_here_are_those_of_the_oracle_file():
    file = Path(os.environ.get("ZIGGURAT_DATA", ".")).parent / "oracles" / "oracles.json"
    if not file.is_file():
        pytest.skip("there is no oracles/oracles.json beside the folder named by ZIGGURAT_DATA")
    values = {each["id"]: each["correct_value"] for each in json.loads(file.read_text())}
    assert {key: values[key] for key in GOLDEN} == GOLDEN


def test_a_copy_without_a_match_adds_nothing():
    original = pa.table({"x": [1, 2]})
    result = match_risk(original, [pa.table({"x": [7, 8]}), original], Scenario(["x"], targets="x = 1"))
    assert result.probability == 0.5
    nobody = match_risk(original, pa.table({"x": [7, 8]}), Scenario(["x"]))
    assert (nobody.probability, nobody.expected, nobody.silent, nobody.wrong) == (0, 0, Share(2, 2), Share(0, 0))


def test_the_same_table_gives_away_every_unique_target():
    table = pa.table({"x": np.arange(50), "y": np.arange(50) // 2})
    assert match_risk(table, table, Scenario(["x"])).right == Share(50, 50)
    pairs = match_risk(table, [table, table], Scenario(["y"]))
    assert (pairs.expected, pairs.unique.hits, pairs.rate) == (25, 0, 0.5)


@pytest.mark.parametrize("known", RULES)
def test_who_is_maybe_in_the_table_is_at_less_risk(known):
    draw = np.random.default_rng(3)
    original = small(draw, 60)
    copies = [original, original]
    surely = match_risk(original, copies, Scenario(RULES[known]))
    people = pa.concat_tables([original, *(small(draw, 60) for _ in range(5))])
    maybe = match_risk(original, copies, Scenario(RULES[known], in_sample="maybe"), population=people)
    guessed = match_risk(original, copies, Scenario(RULES[known], in_sample="maybe", population=360))
    for result in (maybe, guessed):
        assert result.probability < surely.probability
        assert result.expected < surely.expected
    everybody = match_risk(original, copies, Scenario(RULES[known], in_sample="maybe", population=60))
    assert found(everybody) == pytest.approx(found(surely))


def test_the_same_side_is_that_of_the_comparison_for_targets():
    original = pa.table({"x": [1, 5, 5, 9], "k": [1, 2, 3, 4]})
    for condition, alike in (("x > 5", 1), ("x >= 5", 3), ("5 <= x", 3), ("x < 5", 1), ("x <= 5", 3)):
        result = match_risk(original, original, Scenario({"x": "same side"}, targets=condition))
        assert result.probability == pytest.approx(1 / alike)


def test_dates_can_be_known_up_to_days():
    days = pa.array([0, 10, 12, 30], pa.int32()).cast(pa.date32())
    result = match_risk(pa.table({"born": days}), pa.table({"born": days}), Scenario({"born": Within(2)}))
    assert result.probability == pytest.approx((1 + 1 / 2 + 1 / 2 + 1) / 4)


def test_copies_with_other_rows_are_refused_with_advice():
    table = pa.table({"x": [1, 2, 3]})
    with pytest.raises(DataError, match=r"3 rows and the synthetic table has 2.*closest_records"):
        match_risk(table, table.slice(1), Scenario(["x"]))
    with pytest.raises(DataError, match="copy 2 has 1"):
        match_risk(table, [table, table.slice(2)], Scenario(["x"]))


def test_fully_synthetic_copies_are_refused_with_advice():
    draw = np.random.default_rng(5)
    one, two = ({"x": draw.normal(size=200), "y": draw.integers(0, 3, 200), "c": [1] * 200} for _ in range(2))
    with pytest.raises(DataError, match=r"paired at random.*linkability"):
        match_risk(pa.table(one), pa.table(two), Scenario(["y"]))
    half = pa.table({name: np.where(np.arange(200) < 100, one[name], two[name]) for name in one})
    assert match_risk(pa.table(one), half, Scenario(["y"])).targets == 200
    fully = Synthetic((pa.table(one),), "fully", 200, proper=True, rehearsal=True, methods={})
    with pytest.raises(ParameterError, match="fully synthetic; attack"):
        match_risk(pa.table(one), fully, Scenario(["y"]))


def test_bad_questions_are_refused_without_a_cell():
    table = pa.table({"place": [SECRET, "b"], "age": [31, 40]})
    bad = [
        (Scenario({"place": Within(1)}), ParameterError),
        (Scenario(["nowhere"]), SchemaError),
        (Scenario(["age"], targets="nowhere > 3"), ParameterError),
        (Scenario(["age"], targets="age > 300"), ParameterError),
        (Scenario(["age"], targets="place > 7"), DataError),
        (Scenario({"age": "same side"}), ParameterError),
        (Scenario(["age"], in_sample="maybe"), ParameterError),
        ({"known": ["age"]}, ParameterError),
    ]
    for scenario, error in bad:
        with pytest.raises(error) as raised:
            match_risk(table, table, scenario)
        assert SECRET not in str(raised.value)
        assert str(raised.value).endswith(".")
    with pytest.raises(ParameterError, match="maybe"):
        match_risk(table, table, Scenario(["age"]), population=table)
    with pytest.raises(DataError, match="another kind"):
        match_risk(table, table.set_column(1, "age", pa.array(["x", "y"])), Scenario(["age"]))
    with pytest.raises(DataError, match="none of the columns"):
        match_risk(table, pa.table({"z": [1, 2]}), Scenario(["age"]))


def test_a_scenario_survives_the_way_through_a_file():
    known = {"a": Exact(), "b": Within(2), "c": Within(0.1, relative=True), "d": SameSide(), "e": SameSide(7.5)}
    scenario = Scenario(known, "d > 3", "maybe", 1000)
    plain = json.loads(json.dumps(scenario.to_dict()))
    assert plain["known"] == {
        "a": "exact",
        "b": {"within": 2},
        "c": {"within": "10%"},
        "d": "same side",
        "e": {"same side": 7.5},
    }
    assert Scenario.from_dict(plain) == scenario
    assert Scenario(["a", "b"]) == Scenario({"a": "exact", "b": Exact()}) == Scenario.from_dict({"known": ["a", "b"]})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"known": {}},
        {"known": 3},
        {"known": {"a": "nearly"}},
        {"known": {"a": {"within": -1}}},
        {"known": {"a": {"within": "x%"}}},
        {"known": {"a": {"same side": "x"}}},
        {"known": ["a"], "targets": 3},
        {"known": ["a"], "in_sample": "never"},
        {"known": ["a"], "population": 0},
        {"known": ["a"], "nonsense": 1},
        None,
    ],
)
def test_a_bad_scenario_is_refused_in_a_sentence(given):
    with pytest.raises(ParameterError) as raised:
        Scenario.from_dict(given)
    assert str(raised.value).endswith(".")


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from(sorted(RULES)), st.booleans())
def test_small_tables_are_judged_or_refused(rows, seed, known, maybe):
    draw = np.random.default_rng(seed)
    original, copy = small(draw, rows), small(draw, rows)
    scenario = Scenario(RULES[known], "income > 1", "maybe" if maybe else "surely", 50 if maybe else None)
    if max(original["income"].to_pylist()) <= 1:
        with pytest.raises(ParameterError, match="nobody"):
            match_risk(original, copy, scenario)
        return
    result = match_risk(original, [copy, original], scenario)
    assert 0 <= result.right.hits <= result.expected <= result.targets
    json.dumps(result.to_dict(), allow_nan=False)
    assert result.table.num_rows == 4
