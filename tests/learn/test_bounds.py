from fractions import Fraction

import numpy as np
import pytest

from ziggurat.errors import ParameterError
from ziggurat.learn import LinearRegression, LogisticRegression
from ziggurat.learn._bounds import bucket_counts, changed_counts, histogram_noise, learn_bounds
from ziggurat.learn._budget import FitBudget, about_rows
from ziggurat.learn._clipping import read_bounds
from ziggurat.randomness import seeded

EXTREMES = [0.0, -0.0, 1e-300, 0.5, 1.0, -1.0, 2.0**40, 2.0**41, -(2.0**41), 1e300, -1e300, 3.7]


def _budget(relation="replace-one", kind="laplace"):
    return FitBudget(Fraction(1), Fraction(1, 10**6), kind, about_rows(relation))


def _counts(table):
    return np.stack([bucket_counts(column) for column in table.T])


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_a_replaced_row_changes_two_counts_a_column_and_no_less_would_do(columns):
    draw, most = np.random.default_rng(columns), 0
    for _ in range(300):
        table = draw.choice(EXTREMES, (4, columns))
        other = table.copy()
        other[0] = draw.choice(EXTREMES, columns)
        moved = np.abs(_counts(table) - _counts(other))
        assert moved.max() <= 1
        most = max(most, moved.sum())
    assert most == changed_counts(columns, _budget())
    assert most > changed_counts(columns, _budget()) / 2


def test_an_added_row_changes_one_count_a_column():
    table = np.array([[1.0, 5.0], [2.0, -3.0]])
    moved = np.abs(_counts(table) - _counts(table[:1])).sum()
    assert moved == changed_counts(2, _budget("add-or-remove-one")) == 2


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_bought_bounds_hold_the_bulk_of_the_rows(kind):
    draw = np.random.default_rng(1)
    table = np.column_stack([draw.normal(100, 10, 5000), draw.uniform(-3, -2.1, 5000), np.full(5000, 7.0)])
    scale = learn_bounds(table, histogram_noise(3, _budget(kind=kind)), seeded("bounds"))
    assert scale.lower.tolist() == [64, -4, 4]
    assert scale.upper.tolist() == [128, -2, 8]


def test_values_beyond_every_bucket_and_empty_evidence_still_give_bounds():
    noise = histogram_noise(2, _budget())
    for value in (1e300, -1e300, 0.0):
        scale = learn_bounds(np.full((3, 2), value), noise, seeded("far"))
        assert np.all(scale.lower < scale.upper)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("delta", ["1e-6", 0])
@pytest.mark.parametrize(
    "given", [{}, {"bounds": (0, 1)}, {"y_bounds": (0, 1)}, {"bounds": (0, 1), "y_bounds": (0, 1)}]
)
def test_the_price_of_bounds_is_part_of_the_plan_and_of_the_budget(delta, given):
    draw = np.random.default_rng(2)
    features, target = draw.random((50, 3)), draw.random(50)
    model = LinearRegression(method="functional", epsilon="0.7", delta=delta, random_state=1, **given)
    made = model.fit(features, target)
    assert made.event_ == model.planned(50, 3)
    assert Fraction("0.69") < made.guarantee_.epsilon <= Fraction("0.7")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_outside_declared_bounds_count_as_rows_at_them():
    draw = np.random.default_rng(2)
    features, labels = draw.normal(size=(80, 2)), draw.random(80) < 0.5
    model = LogisticRegression(classes=2, bounds=([-1, -0.5], [1, 0.5]), random_state=3)
    clipped = np.clip(features, [-1, -0.5], [1, 0.5])
    assert np.array_equal(model.fit(features, labels).coef_, model.fit(clipped, labels).coef_)


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, np.inf), (np.nan, 1), 3, (0, 1, 2), ([0, 0], 1), ("a", "b")])
def test_bounds_that_bound_nothing_are_refused(bounds):
    with pytest.raises(ParameterError):
        read_bounds(bounds, 3, "bounds")


def test_bounds_near_the_largest_float_still_scale():
    scale = read_bounds((-1.7e308, 1.7e308), 1, "bounds")
    assert scale.scale(np.array([[1.7e308], [0.0], [-1.7e308]]))[:, 0].tolist() == [1, 0, -1]


@pytest.mark.parametrize("share", [0, 1, -1, 2])
def test_a_share_outside_0_to_1_is_refused(share):
    with pytest.raises(ParameterError, match="bounds_share"):
        LinearRegression(bounds_share=share).planned(10, 2)


@pytest.mark.parametrize("value", [-(2.0**41), -1e300, 1e300, 0.0])
def test_bounds_are_in_order_wherever_all_values_lie(value):
    noise = histogram_noise(1, _budget())
    bought = learn_bounds(np.full((500, 1), value), noise, seeded("ends"))
    assert bought.lower[0] < bought.upper[0]
