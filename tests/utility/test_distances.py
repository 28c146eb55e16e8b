"""Overlaps of intervals and distances of distributions."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from ziggurat.errors import ParameterError
from ziggurat.utility import hellinger, interval_overlap, jensen_shannon, kl_divergence, normalized_kl, total_variation

ORACLES = Path(os.environ.get("ZIGGURAT_DATA", ".")).parent / "oracles" / "oracles.json"
GOLDEN = {
    "ci.overlap.partial": (lambda: interval_overlap((0, 10), (4, 12)), 0.675),
    "ci.overlap.disjoint": (lambda: interval_overlap((0, 10), (12, 22)), 0.0),
    "kl.nats": (lambda: kl_divergence([0.5, 0.3, 0.2], [0.4, 0.4, 0.2]), 0.025267153921570598),
}
WEIGHTS = st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_golden_values_come_out(name):
    found, wanted = GOLDEN[name]
    assert found() == pytest.approx(wanted, abs=1e-12)


def test_the_golden_values_are_those_of_the_oracle_file():
    if not ORACLES.exists():
        pytest.skip("there is no oracles/oracles.json beside the folder named by ZIGGURAT_DATA")
    held = {each["id"]: each["correct_value"] for each in json.loads(ORACLES.read_text())}
    assert {name: held[name] for name in GOLDEN} == {name: value for name, (_, value) in GOLDEN.items()}


def test_equal_intervals_overlap_wholly_and_one_inside_another_by_half_and_its_share():
    assert interval_overlap((1, 3), (1, 3)) == 1
    assert interval_overlap((0, 4), (1, 2)) == pytest.approx(0.5 + 0.125)


def test_a_point_is_covered_wholly_or_not_at_all():
    assert interval_overlap((1, 1), (1, 1)) == 1
    assert interval_overlap((0, 2), (1, 1)) == 0.5
    assert interval_overlap((0, 2), (3, 3)) == 0


@given(WEIGHTS)
def test_a_distribution_is_at_no_distance_from_itself(weights):
    doubled = [2 * each for each in weights]
    assert kl_divergence(weights, doubled) == pytest.approx(0, abs=1e-12)
    assert normalized_kl(weights, doubled) == pytest.approx(1, abs=1e-12)
    assert total_variation(weights, doubled) == pytest.approx(0, abs=1e-12)
    assert hellinger(weights, doubled) == pytest.approx(0, abs=1e-7)


def test_disjoint_distributions_are_as_far_apart_as_can_be():
    assert total_variation([1, 0], [0, 5]) == 1
    assert hellinger([1, 0], [0, 5]) == 1
    assert kl_divergence([1, 0], [0, 5]) == math.inf
    assert normalized_kl([1, 0], [0, 5]) == 0
    assert 0 < normalized_kl([1, 0], [0, 5], smoothing=0.5) < 1


@pytest.mark.parametrize("bad", [([1], [1, 2]), ([], []), ([-1, 2], [1, 1]), ([0, 0], [1, 1]), ([np.nan], [1])])
def test_what_is_no_distribution_is_refused(bad):
    with pytest.raises(ParameterError):
        total_variation(*bad)


@pytest.mark.parametrize("bad", [(1,), (2, 1), (0, math.inf), (0, 1, 2)])
def test_what_is_no_interval_is_refused(bad):
    with pytest.raises(ParameterError):
        interval_overlap(bad, (0, 1))


def test_a_negative_smoothing_is_refused():
    with pytest.raises(ParameterError):
        kl_divergence([1], [1], smoothing=-1)


@given(WEIGHTS, WEIGHTS)
def test_the_jensen_shannon_divergence_is_that_of_scipy(p, q):
    size = max(len(p), len(q))
    one, other = ([*each, *[0] * (size - len(each))] for each in (p, q))
    assert jensen_shannon(one, other) == pytest.approx(jensenshannon(one, other, base=2) ** 2, abs=1e-9)
    assert 0 <= jensen_shannon(one, other) <= 1 + 1e-12


def test_disjoint_distributions_are_one_bit_apart():
    assert jensen_shannon([1, 0], [0, 3]) == pytest.approx(1)
