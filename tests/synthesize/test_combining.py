"""Combining rules against golden values, their edges, and what they refuse."""

import math

import pytest

from ziggurat.errors import ParameterError
from ziggurat.synthesize import combine_estimates

Q, U = [10.2, 11.0, 9.4, 10.9, 10.0], [0.2, 0.22, 0.19, 0.21, 0.18]
CLOSE = [10, 10.1, 9.9, 10.05, 9.95]


def test_the_variance_of_fully_synthetic_copies_is_that_of_raghunathan_reiter_and_rubin() -> None:
    found = combine_estimates(Q, U, "fully")
    assert found.variance == pytest.approx(0.328, abs=1e-12)  # oracle mi.full.T
    assert found.degrees == pytest.approx(4 * (1 - 0.2 / 0.528) ** 2)
    assert (found.estimate, found.within) == (pytest.approx(10.3), pytest.approx(0.2))


def test_the_variance_of_partially_synthetic_copies_is_that_of_reiter() -> None:
    found = combine_estimates(Q, U, "partially")
    assert found.variance == pytest.approx(0.288, abs=1e-12)  # oracle mi.part.T
    assert found.degrees == pytest.approx(4 * (1 + 5 * 0.2 / 0.44) ** 2)


def test_a_negative_difference_is_replaced_by_a_variance_that_is_too_large() -> None:
    found = combine_estimates(CLOSE, U, "fully", rows=100, synthetic_rows=50)
    raw = 1.2 * found.between - found.within
    assert raw == pytest.approx(-0.1925, abs=1e-12)  # oracle mi.full.T.negative
    assert found.variance == pytest.approx(0.5 * 0.2)
    assert math.isinf(found.degrees)


def test_the_simple_rule_needs_one_copy_and_counts_the_posterior_where_it_was_drawn() -> None:
    assert combine_estimates([3], [0.5], "simple").variance == pytest.approx(0.5 * 3)
    assert combine_estimates([3], [0.5], "simple", proper=False).variance == pytest.approx(0.5 * 2)
    assert combine_estimates([3, 3], [0.5, 0.5], "simple", rows=100, synthetic_rows=200).variance == pytest.approx(
        0.5 * 3.5
    )


def test_rows_drawn_anew_that_were_not_learned_from_add_what_they_would_have_told() -> None:
    """With draws from the posterior (r - 1)/(r + 1) of b is added, without r - 1 times b; nothing where r = 1."""
    for ratio, proper, factor in [(1, True, 0), (10, True, 9 / 11), (10, False, 9), (0.5, True, 0)]:
        found = combine_estimates(Q, U, "partially", rows=100, synthetic_rows=int(100 * ratio), proper=proper)
        added = 0.44 * (1 / 5 + factor)
        assert found.variance == pytest.approx(0.2 + added)
        assert found.degrees == pytest.approx(4 * (1 + 0.2 / added) ** 2)


def test_copies_that_agree_leave_the_variance_within() -> None:
    found = combine_estimates([1, 1], [4, 4], "partially")
    assert (found.variance, found.degrees) == (4, math.inf)
    assert found.interval == (pytest.approx(1 - 1.959964 * 2), pytest.approx(1 + 1.959964 * 2))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1.0], [1.0], "fully"), "at least 2"),
        (([], [], "simple"), "one variance for every estimate"),
        (([1.0, 2.0], [1.0], "fully"), "one variance for every estimate"),
        (([1.0, math.nan], [1.0, 1.0], "fully"), "finite"),
        (([1.0, 2.0], [1.0, -1.0], "partially"), "not negative"),
        (([1.0, 2.0], [1.0, 1.0], "other"), "'fully', 'partially' or 'simple'"),
    ],
)
def test_what_cannot_be_combined_is_refused(given: tuple[list[float], list[float], str], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        combine_estimates(*given)  # type: ignore[arg-type]


def test_confidence_and_rows_are_checked() -> None:
    with pytest.raises(ParameterError, match="between 0 and 1"):
        combine_estimates(Q, U, confidence=1)
    with pytest.raises(ParameterError, match="at least 1"):
        combine_estimates(Q, U, rows=0, synthetic_rows=5)
