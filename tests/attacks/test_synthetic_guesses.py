"""Singling out, linking and inferring from synthetic tables, against a control and naive guesses."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.attacks import Difference, Share, inference, linkability, synthetic_singling_out
from ziggurat.attacks._guesses import excess
from ziggurat.errors import DataError, ParameterError

SECRET = "Xanadu"
KNOWN = (["age", "place"], ["income", "height"])


def people(seed, rows=800):
    draw = np.random.default_rng(seed)
    age = draw.normal(45, 15, rows)
    return pa.table(
        {
            "age": age,
            "place": draw.choice(["a", "b", "c", "d"], rows),
            "income": np.exp(draw.normal(10, 0.6, rows)) + 50 * age,
            "height": draw.normal(170, 10, rows),
            "ill": draw.choice(["no", "yes"], rows, p=[0.6, 0.4]),
        }
    )


ATTACKS = {
    "singling out by one": lambda *t, **s: synthetic_singling_out(*t, **s).univariate,
    "singling out by several": lambda *t, **s: synthetic_singling_out(*t, **s).multivariate,
    "linking": lambda *t, **s: linkability(*t, known=KNOWN, **s).guesses,
    "inferring a number": lambda *t, **s: inference(*t, known=["age", "height"], secret="income", **s).guesses,
    "inferring a category": lambda *t, **s: inference(*t, known=["age", "height"], secret="ill", **s).guesses,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_table_that_repeats_the_original_is_found_out(name):
    original, control = people(1), people(2)
    found = ATTACKS[name](original, original, control, random_state=3)
    assert found.attack.rate > 0.98
    assert found.control.rate < 0.7
    assert found.risk.low > 0.9
    assert "more than chance, and a risk" in found.sentence


@pytest.mark.parametrize("name", ATTACKS)
def test_a_table_that_knows_nothing_of_the_original_is_cleared(name):
    # Each verdict is false at most once in 40 times; with these seeds none is.
    found = ATTACKS[name](people(1), people(4), people(2), random_state=6)
    assert found.risk.verdict is False
    assert "no more than chance explains" in found.sentence


@pytest.mark.parametrize("name", ATTACKS)
def test_a_third_of_copied_rows_is_found_among_several_copies(name):
    original, control = people(1, 2000), people(2, 2000)
    mixed = [pa.concat_tables([original.slice(700 * k, 700), people(7 + k, 1300)]) for k in range(2)]
    found = ATTACKS[name](original, mixed, control, random_state=8)
    assert found.risk.low > 0
    assert found.risk.rate < 0.9


def test_naive_guesses_are_right_as_often_as_their_rule_says():
    original, synthetic, control = people(1), people(4), people(2)
    found = inference(original, synthetic, control, known=["age"], secret="ill").guesses
    assert found.naive == Share(original["ill"].to_pylist().count("no"), 800)
    linked = linkability(original, synthetic, control, known=KNOWN, neighbours=30, random_state=1).guesses
    assert linked.naive.rate == pytest.approx(1 - (1 - 30 / 800) ** 30, abs=0.08)  # 5 standard deviations


def test_the_constant_guess_is_the_one_that_is_right_most_often():
    cells = [100.0, 101.0, 102.0, 500.0, None, None]
    table = pa.table({"k": range(6), "x": cells})
    assert inference(table, table, table, known=["k"], secret="x").guesses.naive == Share(3, 6)
    assert inference(table, table, table, known=["k"], secret="x", tolerance=0).guesses.naive == Share(2, 6)


def test_more_neighbours_link_more():
    tables = people(1, 150), people(4, 150), people(2, 150)
    rates = [linkability(*tables, known=KNOWN, neighbours=k, random_state=1).guesses.attack.rate for k in (1, 20, 999)]
    assert rates[0] < rates[1] < rates[2] == 1


def test_a_seed_repeats_the_choices():
    tables = people(1, 300), people(4, 300), people(2, 200)
    first, second = (synthetic_singling_out(*tables, guesses=100, random_state=9) for _ in range(2))
    assert first == second
    assert first.rows == 200
    assert first.univariate.attack.trials == 100
    assert first.univariate_whole.trials == 100


@pytest.mark.parametrize("shares", [((30, 100), (10, 100)), ((12, 100), (10, 100)), ((500, 500), (3, 50))])
def test_the_risk_leaves_out_0_where_the_difference_does(shares):
    attack, control = Share(*shares[0]), Share(*shares[1])
    risk = excess(attack, control)
    assert risk.rate == pytest.approx((attack.rate - control.rate) / (1 - control.rate))
    assert risk.low <= risk.rate <= risk.high
    assert (risk.low > 0) == (Difference(attack, control).low > 0)


@given(st.tuples(st.integers(0, 40), st.integers(0, 40)), st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_the_risk_has_an_interval_whatever_the_shares(one, two):
    attack, control = (Share(hits, hits + misses) for hits, misses in (one, two))
    risk = excess(attack, control)
    assert -1 <= risk.low <= risk.rate + 1e-9
    assert risk.rate <= risk.high + 1e-9 <= 1 + 2e-9


@pytest.mark.statistical
def test_the_interval_of_the_risk_covers_it():
    # 2,000 intervals at 95 %: fewer than 92.5 % cover with a chance below 1e-6; half as wide ones cover about 67 %.
    draw = np.random.default_rng(1)
    hits, misses = draw.binomial(300, 0.4, 2000), draw.binomial(200, 0.25, 2000)
    found = [excess(Share(int(a), 300), Share(int(b), 200)) for a, b in zip(hits, misses, strict=True)]
    truth = (0.4 - 0.25) / 0.75
    assert np.mean([each.low <= truth <= each.high for each in found]) > 0.925
    halves = [(each.rate - truth, (each.high - each.low) / 4) for each in found]
    assert np.mean([abs(off) <= half for off, half in halves]) < 0.8


def test_missing_cells_and_constant_columns_do_no_harm():
    draw = np.random.default_rng(2)
    cells = [None if draw.random() < 0.3 else float(draw.integers(9)) for _ in range(60)]
    none, text = pa.nulls(60, pa.float64()), pa.array(["x", None] * 30)
    table = pa.table({"a": pa.array(cells), "n": none, "c": [1] * 60, "t": text})
    other = table.set_column(1, "n", pa.nulls(60)).take(draw.permutation(60))
    assert synthetic_singling_out(table, other, table, guesses=50).multivariate.attack.trials <= 50
    assert linkability(table, other, table, known=(["a", "c"], ["n", "t"])).guesses.attack.trials == 60
    assert inference(table, other, table, known=["a", "c"], secret="n").guesses.attack == Share(60, 60)
    constant = table.select(["c", "n"])
    assert synthetic_singling_out(constant, constant, constant).univariate.attack == Share(0, 0)


def test_bad_questions_are_refused_without_a_cell():
    table = pa.table({"place": [SECRET, "b"], "age": [31, 40]})
    known = (["place"], ["age"])
    bad = [
        lambda: synthetic_singling_out(table, table.select(["age"]), table),
        lambda: synthetic_singling_out(table, table.append_column("more", [[1, 2]]), table),
        lambda: synthetic_singling_out(table, table, table.slice(2)),
        lambda: synthetic_singling_out(table, [], table),
        lambda: synthetic_singling_out(table, table, table, guesses=0),
        lambda: linkability(table, table, table, known=["place"]),
        lambda: linkability(table, table, table, known=(["age"], ["age"])),
        lambda: linkability(table, table, table, known=known, neighbours=0),
        lambda: inference(table, table, table, known=["age"], secret="age"),
        lambda: inference(table, table, table, known=[], secret="age"),
        lambda: inference(table, table, table, known=["place"], secret="age", tolerance=1),
        lambda: inference(table, table, table.set_column(1, "age", [["x", "y"]]), known=["place"], secret="age"),
        lambda: inference(table, table, table, known=["place"], secret="age", random_state="", guesses=1),
    ]
    for question in bad:
        with pytest.raises((DataError, ParameterError)) as raised:
            question()
        assert SECRET not in str(raised.value)
        assert str(raised.value).endswith(".")


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_few_rows_do_not_break_an_attack(ours, theirs, made, seed):
    first, second, third = people(seed, ours), people(seed + 1, theirs), people(seed + 2, made)
    for found in (
        synthetic_singling_out(first, [third, third], second, guesses=5, random_state=1),
        linkability(first, third, second, known=KNOWN, neighbours=3, random_state=1),
        inference(first, third, second, known=["age"], secret="ill", random_state=1),
    ):
        facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert facts["sentence"].endswith(".")
        assert found.table.num_rows >= 4
