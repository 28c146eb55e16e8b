"""Counts of categories: which method, what the intervals are, and what becomes of unlisted and missing values."""

import math
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from ziggurat.data import Bounds, Categories, Column
from ziggurat.errors import DataError, NotPublicError, ParameterError, ZigguratError
from ziggurat.local import (
    LocalHashing,
    RecordChoice,
    Response,
    Support,
    UnaryEncoding,
    _kernels,
    best_for_frequencies,
    privatizer_for,
)
from ziggurat.randomness import seeded

GRADES = ["none", "mild", "severe"]


@pytest.mark.parametrize(
    "people",
    [
        ["none", "mild", "none"],
        np.array(["none", "mild", "none"]),
        pa.chunked_array([["none"], ["mild", "none"]]),
        pa.array(["none", "mild", "none"]).dictionary_encode(),
        pd.Series(["none", "mild", "none"]),
        pd.Series(["none", "mild", "none"], dtype="category"),
        pl.Series(["none", "mild", "none"]),
    ],
    ids=lambda people: type(people).__module__,
)
def test_values_come_in_any_form_and_answers_are_categories(people):
    assert list(Response(60, GRADES).privatize(people).value) == ["none", "mild", "none"]


@pytest.mark.parametrize(
    "people", [[True, False], np.array([1.0, 0.0]), pa.array([1, 0], pa.uint64()), pd.Series([1, 0])]
)
def test_truth_values_and_whole_floats_are_the_categories_0_and_1(people):
    assert list(Response(60, [0, 1]).privatize(people).value) == [1, 0]


def test_values_that_are_not_listed_are_refused_unseen_or_stand_under_other():
    with pytest.raises(DataError, match="other=") as caught:
        Response(1, GRADES).privatize(["none", "canary"])
    assert "canary" not in str(caught.value)
    assert list(Response(60, GRADES, other="severe").privatize(["canary"]).value) == ["severe"]


def test_a_missing_value_is_an_answer_of_its_own():
    made = Response(60, GRADES, missing=True)
    reports = made.privatize(["none", None, None])
    assert list(reports.value) == ["none", None, None]
    assert made.estimate(reports).categories == (*GRADES, None)
    assert made.estimate(reports).interval(None) == (2.0, 2.0)


@given(st.lists(st.one_of(st.text(), st.integers(), st.none(), st.floats(), st.booleans(), st.binary()), max_size=5))
def test_whatever_the_values_are_they_are_reported_or_refused_by_our_own_errors(values):
    made = Response(1, GRADES, missing=True, other="none")
    with suppress(ZigguratError):
        assert made.privatize(values, seeded(1)).people == len(values)


@pytest.mark.parametrize(
    "bad", [[], ["a"], ["a", "a"], "ab", [1, "a"], [1.5, 2.5], None, 1, 0, -3, True, 10**9, {"a": 1}]
)
def test_a_list_that_is_no_public_list_is_refused(bad):
    for made in (Response, UnaryEncoding, LocalHashing, RecordChoice):
        with pytest.raises(ZigguratError):
            made(1, bad)


def test_categories_that_were_learned_from_the_data_are_refused():
    with pytest.raises(NotPublicError):
        Response(1, Categories(("a", "b"), "learned"))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_best_method_changes_where_the_variances_cross(epsilon):
    """Wang et al. 2017: response up to about 3 e^epsilon + 2 categories, with f = 0; ours is close to it."""
    crossing = 3 * math.exp(epsilon) + 2
    assert best_for_frequencies(epsilon, max(int(crossing / 2), 2)).privatizer.kind == "response"
    assert best_for_frequencies(epsilon, int(2 * crossing)).privatizer.kind == "unary-encoding"
    long = best_for_frequencies(epsilon, 2000)
    assert long.privatizer.kind == "local-hashing"
    assert "2000 categories" in long.reason


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_for_long_lists_both_encodings_have_the_variance_of_the_literature(epsilon):
    optimal = 4 * math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2
    assert UnaryEncoding(epsilon, 10_000).support.spread(0) == pytest.approx(optimal, rel=0.01)
    assert LocalHashing(epsilon, 100_000).support.spread(0) == pytest.approx(optimal, rel=0.02)
    assert UnaryEncoding(epsilon, 100, share=0).support.spread(0) == pytest.approx(optimal, rel=1e-9)


def test_two_bits_of_a_unary_report_carry_exactly_epsilon():
    law = UnaryEncoding("1.5", 20).support
    odds = law.hit / (1 - law.hit) * (1 - law.stray) / law.stray
    assert math.log(odds) == pytest.approx(1.5, rel=1e-9)


def mixed(word):
    """SplitMix64's finaliser in Python's integers."""
    most = 2**64 - 1
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & most
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & most
    return word ^ (word >> 31)


def test_the_hash_is_the_documented_one():
    seeds, items = np.arange(50, dtype=np.uint64) * 77_777, np.arange(50, dtype=np.uint64) % 7
    out = np.empty(50, dtype=np.int64)
    _kernels.hash_each(out, seeds, items, np.uint64(12))
    keys = [(mixed(int(s)) + (int(i) + 1) * 0x9E3779B97F4A7C15) % 2**64 for s, i in zip(seeds, items, strict=True)]
    assert out.tolist() == [((mixed(key) >> 32) * 12) >> 32 for key in keys]


@pytest.mark.statistical
@pytest.mark.parametrize("buckets", [2, 3, 10])
def test_two_categories_share_a_bucket_as_often_as_assumed(buckets):
    n, seeds = 300_000, np.arange(300_000, dtype=np.uint64)
    rows = []
    for item in (0, 1, 977):
        out = np.empty(n, dtype=np.int64)
        _kernels.hash_each(out, seeds, np.full(n, item, dtype=np.uint64), np.uint64(buckets))
        rows.append(out)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        shared = int((rows[i] == rows[j]).sum())
        assert binomtest(shared, n, 1 / buckets).pvalue > 1e-6
        assert binomtest(shared, n, 1.05 / buckets).pvalue < 1e-6


def test_local_hashing_estimates_only_what_is_asked_for():
    made = LocalHashing(2, 5000)
    reports = made.privatize(np.arange(3000) % 10, seeded("asked"))
    some, everything = made.estimate(reports, values=[3, 4000]), made.estimate(reports)
    assert some.categories == (3, 4000)
    assert some.counts == pytest.approx(everything.counts[[3, 4000]])
    with pytest.raises(ParameterError, match="public"):
        made.estimate(reports, values=[5000])


def law_of_support(law, count, people):
    """How likely each number of reports is if `count` people hold the category, by summing both binomials."""
    first = binom.pmf(np.arange(count + 1), count, law.hit)
    return np.convolve(first, binom.pmf(np.arange(people - count + 1), people - count, law.stray))


@pytest.mark.parametrize("epsilon", [0.5, 2, 4, 8])
@pytest.mark.parametrize("made", [Response, UnaryEncoding, LocalHashing])
def test_intervals_hold_every_possible_count_with_94_percent_exactly(made, epsilon):
    people, law = 100, made(epsilon, 4).support
    low, high = law.interval(np.arange(people + 1.0), people, Fraction(19, 20), False)
    held = [law_of_support(law, count, people)[(low <= count) & (count <= high)].sum() for count in range(people + 1)]
    assert min(held) >= 0.94


def exact_interval(law, seen, people):
    """All counts under which neither tail of the number seen is rarer than 2.5%."""
    held = []
    for count in range(people + 1):
        total = law_of_support(law, count, people)
        if total[: seen + 1].sum() > 0.025 and total[seen:].sum() > 0.025:
            held.append(count)
    return min(held), max(held)


@pytest.mark.parametrize("law", [Support(0.73, 0.27), Support(0.5, 0.12), Support(0.98, 0.005)])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_intervals_agree_with_those_of_the_exact_law(law, share):
    people, held = 150, int(150 * share)
    seen = round(held * law.hit + (people - held) * law.stray)
    low, high = law.interval(np.array([float(seen)]), people, Fraction(19, 20), False)
    exact_low, exact_high = exact_interval(law, seen, people)
    assert abs(low[0] - exact_low) <= 1
    assert abs(high[0] - exact_high) <= 1
    assert high[0] - low[0] <= 1.2 * (exact_high - exact_low)


def test_scores_may_be_a_matrix_a_function_or_distances():
    by_distance = RecordChoice(1, GRADES)
    matrix = [[0, -1, -2], [-1, 0, -1], [-2, -1, 0]]
    by_function = RecordChoice(1, GRADES, lambda held, said: -abs(GRADES.index(held) - GRADES.index(said)))
    for made in (RecordChoice(1, GRADES, matrix), RecordChoice(1, GRADES, np.array(matrix)), by_function):
        assert made.law == pytest.approx(by_distance.law)
    halves = RecordChoice(1, GRADES, [[str(score) + "/2" for score in row] for row in matrix])
    assert halves.law == pytest.approx(by_distance.law)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_rate_of_a_choice_is_tight_and_never_more(epsilon):
    law = RecordChoice(epsilon, list("abcdef")).law
    largest = max(np.log(law[i] / law[j]).max() for i in range(6) for j in range(6))
    assert epsilon * (1 - 1e-6) < largest <= epsilon


@pytest.mark.parametrize(
    "bad", [[[0, 0], [0, 0]], [[0, 1]], [[1, 0], [1, 0]], 3, [["x", 0], [0, 1]], [[1e60, 0], [0, 1e-60]]]
)
def test_scores_that_tell_nothing_apart_are_refused(bad):
    with pytest.raises((ParameterError, TypeError)):
        RecordChoice(1, ["a", "b"], bad)


def test_a_rate_above_the_promise_is_refused():
    stated = RecordChoice(1, GRADES).to_dict()
    with pytest.raises(ParameterError, match="rate"):
        RecordChoice.from_dict({**stated, "rate": "5"})


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (Column("a", "category", categories=Categories(("x", "y"))), "response"),
        (Column("a", "boolean"), "response"),
        (Column("a", "integer", bounds=Bounds(0, 9)), "count-noise"),
        (Column("a", "real", bounds=Bounds(0, 9)), "record-laplace"),
    ],
)
def test_a_column_of_a_schema_has_its_privatiser(column, kind):
    assert privatizer_for(column, 1).kind == kind


@pytest.mark.parametrize("epsilon", ["1e-7", "1e-5", "0.01", "1"])
def test_a_choice_keeps_its_epsilon_in_arbitrary_precision_however_small(epsilon):
    import mpmath

    made = RecordChoice(epsilon, [0, 1, 2])
    with mpmath.workdps(60):
        rate = mpmath.mpf(made.rate.numerator) / made.rate.denominator
        weights = [[mpmath.exp(-rate * abs(x - y)) for y in range(3)] for x in range(3)]
        laws = [[weight / sum(row) for weight in row] for row in weights]
        loss = max(mpmath.log(p / q) for one in laws for other in laws for p, q in zip(one, other, strict=True))
        assert mpmath.mpf(epsilon) * 0.4 < loss <= mpmath.mpf(epsilon)
