"""Telling synthetic rows from real ones."""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import seeded
from ziggurat.utility import propensity
from ziggurat.utility._fits import penalized_chances
from ziggurat.utility._propensity import propensity_of
from ziggurat.utility._sheets import Sheets, open_sheets


def _normal(draw, rows):
    return pa.table({"a": draw.normal(size=rows), "b": draw.normal(size=rows), "c": draw.choice(list("xyz"), rows)})


# The statistic is a chi-squared variable with 4 degrees of freedom over 4, times 1 for resampled copies and 2 for
# independent ones; the mean of 200 has a standard deviation of 0.05 times that. The limit is 5 of them.
@pytest.mark.statistical
@pytest.mark.parametrize(("resampled", "wanted"), [(True, 1.0), (False, 2.0)])
def test_the_logistic_ratio_has_its_expectation(resampled, wanted):
    draw = np.random.default_rng(5)
    population = open_sheets(_normal(draw, 160_000), _normal(draw, 2), rows=200_000)
    rows, ratios = draw.permutation(160_000).reshape(200, 2, 400), []
    for first, second in rows:
        copy = draw.choice(first, 400) if resampled else second
        both = [population.original.take(places) for places in (first, copy)]
        sheets = Sheets(population.fields, both[0], (both[1],))
        ratios.append(propensity_of(sheets, "logistic", None, 2, draw).ratio.mean)
    assert abs(np.mean(ratios) - wanted) < 0.25 * wanted


def test_the_logistic_model_counts_its_parameters():
    table = _normal(np.random.default_rng(1), 500)
    doubled = table.append_column("d", table.column("a"))
    found = propensity(table, table, model="logistic")
    assert (found.parameters, found.pmse.mean) == (5, pytest.approx(0, abs=1e-12))
    assert propensity(doubled, doubled, model="logistic").parameters == 5
    assert found.expected == pytest.approx(4 * 0.125 / 1000)
    assert found.deviation == pytest.approx(np.sqrt(8) * 0.125 / 1000)


@pytest.mark.parametrize("model", ["cart", "logistic"])
def test_a_table_that_moved_is_caught(original, copies, shifted, model):
    good = propensity(original, copies, model=model, source=seeded(1))
    bad = propensity(original, shifted, model=model, source=seeded(1))
    assert 0.5 < good.ratio.mean < 3.5
    assert bad.ratio.mean > 2 * good.ratio.mean
    assert bad.standardised.mean > 5


def test_a_tree_sees_independent_samples_as_permuted_labels(original, copies):
    found = propensity(original, copies, source=seeded(2))
    assert found.null == "permutation"
    assert abs(found.ratio.mean - 1) < 0.2
    pairs = propensity(original, copies, null="pairs", source=seeded(2))
    assert abs(pairs.ratio.mean - 1) < 0.2


@pytest.mark.parametrize("model", ["cart", "logistic"])
def test_tables_that_do_not_overlap_have_the_largest_error(model):
    first, second = pa.table({"a": np.arange(500.0)}), pa.table({"a": np.arange(500.0) + 1000})
    assert propensity(first, second, model=model).pmse.mean == pytest.approx(0.25, abs=0.02)


def test_nothing_that_varies_has_no_ratio():
    table = pa.table({"a": ["x"] * 50, "b": pa.array([None] * 50, pa.float64())})
    for model in ("cart", "logistic"):
        found = propensity(table, table, model=model)
        assert np.isnan(found.ratio.mean)
        assert "nothing to tell" in found.sentence


def test_chances_are_those_of_counts():
    marks = np.repeat([0.0, 1.0], [100, 200])
    target = np.concatenate([np.repeat([0.0, 1.0], [70, 30]), np.repeat([0.0, 1.0], [50, 150])])
    found = penalized_chances(np.stack([np.ones(300), marks], axis=1), target)
    assert (found[0], found[-1]) == pytest.approx((0.3, 0.75), abs=1e-4)


@pytest.mark.parametrize(
    "bad",
    [
        {"model": "svm"},
        {"null": "formula"},
        {"model": "logistic", "null": "pairs"},
        {"null": "pairs"},
        {"permutations": 1},
    ],
)
def test_bad_settings_are_refused(original, bad):
    with pytest.raises(ParameterError):
        propensity(original, original, **bad)


def test_a_logistic_model_of_too_many_parameters_is_refused():
    draw = np.random.default_rng(1)
    table = pa.table({f"c{place}": draw.normal(size=30) for place in range(20)})
    with pytest.raises(DataError, match="name fewer columns"):
        propensity(table, table, model="logistic")
