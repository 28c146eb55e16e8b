"""The published numbers come out, each with a warning that says how far it is from the truth."""

import math

import pytest

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy import (
    CostModel,
    Money,
    NotAGuaranteeWarning,
    Stakeholders,
    probabilistic_tolerance,
    published_cheapest,
    published_combined_confidence,
    published_confidence,
    published_confidence_by_series,
    published_epsilon,
    published_level,
    published_overlap,
    published_sampled_confidence,
    samples_for,
)

pytestmark = pytest.mark.filterwarnings("ignore::ziggurat.privacy.NotAGuaranteeWarning")

THEOREM_3 = [
    ("1", "0.5", 1, 0.6224593312018546),
    ("1", "0.25", 1, 0.3499320087587727),
    ("1", "0.9", 1, 0.9387929754399109),
    ("0.8", "0.4", 1, 0.598687660112452),
    ("2", "1", 1, 0.7310585786300049),
    ("0.5", "0.274", 1, 0.609114612498343),
    ("1", "0.5", 2, 0.5395961958288242),
    ("1", "0.5", 3, 0.5192833389798713),
    ("1", "0.5", 5, 0.5088104474381262),
]


@pytest.mark.parametrize(("level", "epsilon", "dimensions", "expected"), THEOREM_3)
def test_theorem_3_and_corollary_1_give_the_oracle(level, epsilon, dimensions, expected):
    assert published_confidence(level, epsilon, dimensions) == pytest.approx(expected, abs=1e-12)
    assert published_confidence_by_series(level, epsilon, dimensions) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("dimensions", "expected"),
    [(1, 0.7973230425095963), (2, 0.6915255791058064), (5, 0.6712444422300015), (6, 0.6702201843397793)],
)
def test_the_level_for_epsilon_0_4_at_confidence_0_6_is_as_printed(dimensions, expected):
    assert published_level("0.4", "0.6", dimensions) == pytest.approx(expected, abs=1e-8)


def test_equation_8_8_inverts_theorem_3_in_any_dimension():
    assert published_epsilon(1, "0.6") == pytest.approx(0.47686283638841453, abs=1e-12)
    assert published_confidence(1, published_epsilon(1, "0.6", 4), 4) == pytest.approx(0.6, abs=1e-10)


def test_lemma_3_and_the_sampling_formulas_give_the_oracle():
    assert published_overlap(1, "0.6") == pytest.approx(0.8140967993820439, abs=1e-12)
    assert published_overlap(1, 1) == 1.0
    assert published_sampled_confidence("0.85", "0.01", 15_000) == pytest.approx(0.7653619837746313, abs=1e-12)
    assert probabilistic_tolerance("0.01", 15_000) == pytest.approx(0.9004258632642721, abs=1e-12)
    assert probabilistic_tolerance("0.01", 10_000) == pytest.approx(0.7293294335267746, abs=1e-12)
    assert samples_for("0.9", "0.01") == math.ceil(14978.661367769955)


def test_equation_8_17_multiplies_theorem_3_by_the_sampled_confidence():
    expected = 0.9 * published_confidence("0.88", "0.4")
    assert published_combined_confidence("0.8", "0.4", "0.9", "1.1") == pytest.approx(expected, rel=1e-12)


def test_every_published_formula_warns_and_says_how_far_it_is_off():
    with pytest.warns(NotAGuaranteeWarning, match=r"0\.6225 where 0\.1532 can be proven"):
        published_confidence(1, "0.5")
    with pytest.warns(NotAGuaranteeWarning, match=r"0\.7973 where 0\.4000 can be proven"):
        published_level("0.4", "0.6")
    with pytest.warns(NotAGuaranteeWarning, match="no statement about privacy"):
        published_overlap(1, "0.6")
    with pytest.warns(NotAGuaranteeWarning, match=r"37,805\.86 USD where 67,978\.96 USD"):
        published_cheapest(CostModel(Stakeholders(100, Money(5500, "USD"))), "0.5")


def test_bad_input_is_refused():
    for call in (
        lambda: published_confidence(0, "0.5"),
        lambda: published_epsilon(1, 1),
        lambda: published_confidence(1, "0.5", 0),
        lambda: published_confidence_by_series(1, 2),
        lambda: published_sampled_confidence("0.85", 0, 10),
    ):
        with pytest.raises(ParameterError):
            call()
    with pytest.raises(PrivacyError, match="any level"):
        published_level(3, "0.1")
