"""Who a synthetic table was made from, by density ratios.

A claim counts as refuted if guesses as good have a chance below 1e-6 where it holds; draws are seeded.
"""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.attacks import attack_synthetic_membership
from ziggurat.attacks.synthetic._alike import read_alike
from ziggurat.attacks.synthetic._density_ratio import _by_neighbours, _by_pairs
from ziggurat.data import Bounds, Categories, Column, Kind, Schema, read
from ziggurat.errors import DataError, ParameterError
from ziggurat.synthesize import AIM, MST, Cart, synthesize

pytestmark = pytest.mark.statistical

ROWS = 400
DELTA = "1e-12"
PLACES, JOBS = (Categories(tuple(letters)) for letters in ("abcdef", "uvwxyz"))
SCHEMA = Schema(
    (
        Column("age", Kind.INTEGER, bounds=Bounds(18, 90)),
        Column("income", Kind.REAL, bounds=Bounds(0, 200_000)),
        Column("place", Kind.CATEGORY, categories=PLACES),
        Column("job", Kind.CATEGORY, categories=JOBS),
    )
)
DENSITIES = pytest.mark.parametrize("density", ["neighbours", "pairs"])


def invent(rows, seed):
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, rows)
    income = np.minimum(draw.lognormal(10, 0.6, rows) * (1 + age / 90), 200_000).round()
    return pa.table(
        {
            "age": age,
            "income": income,
            "place": draw.choice(list("abcdef"), rows),
            "job": draw.choice(list("uvwxyz"), rows, p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05]),
        }
    )


PEOPLE = invent(3 * ROWS, 1)
MEMBERS, OTHERS, REFERENCE = (PEOPLE.slice(start * ROWS, ROWS) for start in range(3))


def attack(synthetic, density="neighbours", members=MEMBERS, others=OTHERS, **terms):
    options = {"random_split": True, "density": density, "epsilon": 1, "delta": DELTA, "random_state": 1, **terms}
    return attack_synthetic_membership(synthetic, members, others, REFERENCE, **options)


def is_refuted(found):
    return found.bound.chance < 1e-6


def is_told_apart(found):
    return min(found.even.chance, found.surest.chance) < 1e-6


def test_copies_of_the_original_are_caught():
    found = attack(MEMBERS)
    assert is_refuted(found)
    assert found.area.rate > 0.98
    assert found.readings[0].ends[0] > 0.5


def test_a_bootstrap_of_the_original_is_caught_though_a_third_of_its_people_is_missing():
    drawn = MEMBERS.take(np.random.default_rng(2).integers(0, ROWS, ROWS))
    assert is_told_apart(attack(drawn))


def test_copies_with_noise_in_every_number_are_caught():
    noisy = np.clip(MEMBERS["income"].to_numpy() + np.random.default_rng(2).normal(0, 200, ROWS), 0, 200_000)
    assert is_refuted(attack(MEMBERS.set_column(1, "income", pa.array(noisy))))


def test_trees_that_end_in_single_people_are_caught():
    made = synthesize(read(MEMBERS, SCHEMA), Cart(smallest_leaf=1, caution=0), smoothing=False, random_state=1)
    assert attack(made).surest.chance < 1e-2
    many = synthesize(
        read(MEMBERS, SCHEMA), Cart(smallest_leaf=1, caution=0), copies=8, smoothing=False, random_state=1
    )
    assert is_told_apart(attack(many))


@DENSITIES
def test_other_people_of_the_same_kind_give_nobody_away(density):
    assert not is_told_apart(attack(invent(ROWS, 9), density))


@DENSITIES
@pytest.mark.parametrize("method", [MST, AIM])
def test_a_promise_is_kept(method, density):
    model = method(1, DELTA, bins=8, missing=[], random_state=1).fit(read(MEMBERS, SCHEMA))
    found = attack(model.sample(ROWS), density)
    assert not is_refuted(found)
    assert not is_told_apart(found)


def test_counts_that_were_fitted_without_noise_are_caught_by_pairs():
    model = MST(100_000, DELTA, bins=32, missing=[], random_state=1).fit(read(MEMBERS, SCHEMA))
    assert is_told_apart(attack(model.sample(20 * ROWS), "pairs"))


def test_the_reference_decides_and_not_where_most_people_are():
    """Members stand in dense places: without a reference they look like members of any table."""
    found = attack(invent(20 * ROWS, 9), members=MEMBERS.sort_by("income").slice(0, 200), others=OTHERS)
    assert abs(found.area.rate - 0.5) < 0.1


@pytest.mark.parametrize("rule", [_by_neighbours, _by_pairs])
def test_a_score_does_not_depend_on_who_is_a_member(rule):
    """Otherwise members and others could not change places, and the test would not be exact."""
    asked, made, known = read_alike(PEOPLE.slice(0, 200), [("it", invent(150, 3)), ("ref", REFERENCE)])
    order = np.random.default_rng(1).permutation(len(asked))
    there, here = (
        rule(asked.take(places), made, known, np.random.default_rng(1)) for places in (order, np.arange(len(asked)))
    )
    assert there == pytest.approx(here[order])


def test_missing_cells_are_compared_too():
    holes = [
        table.set_column(0, "age", pa.array([None if place % 3 == 0 else place % 60 + 18 for place in range(ROWS)]))
        for table in (MEMBERS, OTHERS)
    ]
    for density in ("neighbours", "pairs"):
        assert attack(holes[0], density, members=holes[0], others=holes[1]).verdict is True


def test_given_groups_get_no_verdict():
    found = attack(MEMBERS, random_split=False)
    assert found.verdict is None
    assert found.bound is None


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ParameterError, match="one of neighbours, pairs"):
        attack(MEMBERS, "triples")
    with pytest.raises(ParameterError, match="largest number of rows"):
        attack(MEMBERS, at_most=0)
    with pytest.raises(DataError, match="not in the synthetic table"):
        attack(MEMBERS.drop_columns(["age"]))
