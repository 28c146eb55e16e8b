"""Numbers that other people computed by other routes; where the shared oracle file is there, ours must equal it."""

import json
import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ziggurat.mechanisms import Gaussian, Laplace, RandomizedResponse, Selection
from ziggurat.privacy import (
    GaussianEvent,
    Neighbours,
    ParallelEvent,
    PureEvent,
    Relation,
    compose,
    gaussian_delta,
    gaussian_mu,
)
from ziggurat.randomness import seeded

SHARES = [0.244160, 0.205170, 0.196178, 0.169985, 0.084515, 0.041652, 0.033478, 0.024861]

GOLDEN = {
    "gauss.analytic.1.1e-5": (3.730631634815942, 1e-9),
    "gauss.analytic.0.4.1e-3": (5.5593906894376435, 1e-9),
    "gauss.break.2.1e-3": (8.5124412495231, 1e-8),
    "gauss.break.2.1e-5": (9.39132146219354, 1e-8),
    "gauss.break.2.1e-6": (9.732750717274303, 1e-8),
    "par.gauss.adp": (0.002708880218318193, 1e-12),
    "def.gauss.pdp": (0.3085375387259869, 1e-12),
    "def.rr.pdp": (0.7310585786300049, 1e-12),
    "comp.parallel.bounded": (2.0, 0.0),
    "em.code.C": (0.13256042591339773, 1e-12),
    "em.correct.C.n1000": (0.9999999965466055, 1e-12),
    "student.eps.rho0.1": (0.2, 1e-12),
    "prop.sens.replace": (0.001, 1e-15),
}


def near(key: str):
    value, tolerance = GOLDEN[key]
    return pytest.approx(value, abs=max(tolerance, 1e-13), rel=0)


@pytest.mark.data
def test_the_values_here_are_those_of_the_oracle_file():
    folder = os.environ.get("ZIGGURAT_DATA")
    file = Path(folder or ".").parent / "oracles" / "oracles.json"
    if not folder or not file.is_file():
        pytest.skip("set ZIGGURAT_DATA to a folder with oracles/oracles.json beside it")
    oracle = {item["id"]: item["correct_value"] for item in json.loads(file.read_text())}
    assert {key: value for key, (value, _) in GOLDEN.items()} == {key: oracle[key] for key in GOLDEN}


def test_analytic_gaussian_sigma():
    assert 1 / gaussian_mu(1.0, 1e-5) == near("gauss.analytic.1.1e-5")
    assert 1 / gaussian_mu(0.4, 1e-3) == near("gauss.analytic.0.4.1e-3")


@pytest.mark.parametrize("delta", ["1e-3", "1e-5", "1e-6"])
def test_the_textbook_gaussian_formula_breaks_where_it_should(delta):
    """sigma = sqrt(2 ln(2/delta))/eps keeps (eps, delta) up to a certain epsilon and no further."""
    constant = math.sqrt(2 * math.log(2 / float(delta)))
    low, high = 1.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        holds = gaussian_delta(middle, middle / constant) <= float(delta)
        low, high = (middle, high) if holds else (low, middle)
    assert low == near(f"gauss.break.2.{delta}")


def test_the_loss_exceeding_epsilon_is_not_delta():
    """formulas.md 9: P[loss > eps] is .3085 where delta is .1269."""
    from scipy.special import ndtr

    assert float(ndtr(0.5 - 1.0)) == near("def.gauss.pdp")
    assert gaussian_delta(1.0, 1.0) == pytest.approx(0.12693674, abs=1e-8)
    assert gaussian_delta(0.5, 0.25) == near("par.gauss.adp")
    assert compose(GaussianEvent(Neighbours(), 1, 4)).delta("0.5").delta >= Fraction(GOLDEN["par.gauss.adp"][0])


def test_randomised_response_meets_its_bound_with_probability_above_one_half():
    assert RandomizedResponse(1).truth == near("def.rr.pdp")


def test_parallel_composition_under_replace_one():
    whom = Neighbours(relation=Relation.REPLACE_ONE)
    parts = tuple(PureEvent(Neighbours(), 1) for _ in range(3))
    assert float(compose(ParallelEvent(whom, parts)).pure().epsilon) == near("comp.parallel.bounded")


def test_a_proportion_has_sensitivity_one_over_n():
    """The most frequent category: with sensitivity 1 nearly uniform, with 1/n nearly certain."""
    for n, key in ((1, "em.code.C"), (1000, "em.correct.C.n1000")):
        weights = np.exp((np.array(SHARES) - max(SHARES)) * n / 2)
        assert float(weights[0] / weights.sum()) == near(key)
    assert float(Fraction(1, 1000)) == near("prop.sens.replace")
    chooser = Selection(1, Fraction(1, 1000), method="gumbel")
    assert {chooser.release(SHARES, seeded(i)).value for i in range(300)} == {0}


def test_laplace_noise_on_unit_vectors_costs_twice_its_inverse_scale():
    """formulas.md 2: Lap(1/rho) on vectors of l1 diameter 2 is 2 rho-DP."""
    made = Laplace(2, 10, values="integers", coordinates=500)
    assert float(made.epsilon) == near("student.eps.rho0.1")


def test_the_classic_formula_is_never_used():
    assert float(Gaussian.calibrated(1, "1e-5").sigma) < 4.844805262605389 * 0.8
