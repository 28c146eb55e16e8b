"""Objective perturbation, judged exactly: the law of the minimiser has a density in closed form."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit

from ziggurat.learn._budget import FitBudget, about_rows
from ziggurat.learn.linear._logistic import slopes_for
from ziggurat.learn.linear._objective import Objective, newton
from ziggurat.privacy import ApproximateEvent, PureEvent
from ziggurat.randomness import seeded

ADD = "add-or-remove-one"
RELATIONS = pytest.mark.parametrize("relation", ["replace-one", ADD])
WIDE = np.linspace(-3, 3, 120_001)
CROWD = 200  # rows that hold the minimum near 0, where two rows pull apart hardest


def _budget(epsilon=1, delta="1e-2", relation="replace-one"):
    return FitBudget(Fraction(epsilon), Fraction(delta), "laplace", about_rows(relation))


def _objective(loss, budget, rows=1, ridge=0.1):
    slope, curvature = (1.0, 1.0) if loss == "huber" else (1.0, 0.25)
    return Objective(rows, 1, 1.0, 1.0, slope, curvature, ridge, budget)


def _derivatives(loss, row, label, at):
    if loss == "huber":
        residual = row * at - label
        return row * np.clip(residual, -1, 1), row**2 * (np.abs(residual) <= 1)
    _, first, second = slopes_for(np.full(at.shape, float(label)))(row * at)
    return row * first, row**2 * second


def _log_density(objective, loss, row, label, shrink=1.0):
    first, second = _derivatives(loss, row, label, WIDE)
    for other in (0.0,) if loss == "huber" else (-1.0, 1.0):
        pull, stiff = _derivatives(loss, 1.0, other, WIDE)
        share = CROWD if loss == "huber" else CROWD / 2
        first, second = first + share * pull, second + share * stiff
    tilt, spread = first + objective.strength * WIDE, objective.spread * shrink
    if objective.kind == "gaussian":
        log = -(tilt**2) / (2 * spread**2) - math.log(spread * math.sqrt(2 * math.pi))
    else:
        log = -np.abs(tilt) / spread - math.log(2 * spread)
    return log + np.log(second + objective.strength)


def _delta(objective, loss, epsilon, shrink=1.0):
    """The largest P(S) - e^eps Q(S) over sets S, by integration, over pairs of extreme rows, or of one and none."""
    rows = [(x, y) for x in (-1.0, 0.5, 1.0) for y in (-1.0, 1.0)]
    logs = [_log_density(objective, loss, *row, shrink) for row in rows]
    pairs = list(itertools.product(logs, logs))
    if objective.budget.neighbours.relation == ADD:
        without = _log_density(objective, loss, 0.0, 1.0, shrink)  # at 0 a loss is constant, as if there were no row
        pairs = [pair for log in logs for pair in ((log, without), (without, log))]
    step = WIDE[1] - WIDE[0]
    return max(float(np.maximum(np.exp(p) - np.exp(epsilon + q), 0).sum() * step) for p, q in pairs)


# A weak ridge leaves much of epsilon to the Jacobians, a strong one all of it to the tilt.
@pytest.mark.parametrize("ridge", [0.1, 100.0])
@pytest.mark.parametrize("loss", ["huber", "logistic"])
@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
@RELATIONS
def test_gaussian_tilt_keeps_epsilon_and_delta(loss, epsilon, ridge, relation):
    objective = _objective(loss, _budget(epsilon, relation=relation), ridge=ridge)
    object.__setattr__(objective, "kind", "gaussian")
    assert _delta(objective, loss, epsilon) <= 1e-2


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
@RELATIONS
def test_half_the_gaussian_tilt_would_not_do_for_squares(epsilon, relation):
    objective = _objective("huber", _budget(epsilon, relation=relation), ridge=100.0)
    object.__setattr__(objective, "kind", "gaussian")
    assert _delta(objective, "huber", epsilon, shrink=0.5) > 1e-2


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
@RELATIONS
def test_laplace_tilt_is_pure_and_half_of_it_would_not_be(epsilon, relation):
    objective = _objective("huber", _budget(epsilon, 0, relation))
    assert objective.event == PureEvent(objective.budget.neighbours, epsilon)
    assert _delta(objective, "huber", epsilon) < 1e-12
    assert _delta(objective, "huber", epsilon, shrink=0.5) > 1e-3


FAR, LEAN = 16.0, 0.4


def _across_a_crowd(objective, way, shrink):
    """The log density of (a, b) for a row (+-LEAN, .) that pulls b one way, and a crowd (1, 0) that holds a near FAR.

    In one dimension two rows pull apart with half the force that the proof allows for, wherever the minimum is. Here
    both lie on the wrong side of the crowd's minimum by LEAN FAR, and their pulls across it add up to nearly all.
    """
    strength, spread = objective.strength, objective.spread * shrink
    crowd = strength * FAR / expit(-FAR)
    row = (way * LEAN, math.sqrt(1 - LEAN**2)) if way else (0.0, 0.0)
    reach = 20 * spread / strength
    a, b = FAR + np.linspace(-reach, reach, 401)[:, None] / FAR, np.linspace(-reach, reach, 801)[None]
    _, first, second = slopes_for(np.float64(-way))(row[0] * a + row[1] * b)
    _, pull, stiff = slopes_for(np.float64(1.0))(a)
    along, across = row[0] * first + crowd * pull + strength * a, row[1] * first + strength * b
    corner = (row[0] ** 2 * second + crowd * stiff + strength) * (row[1] ** 2 * second + strength)
    log = np.log(corner - (row[0] * row[1] * second) ** 2) + np.log((a[1] - a[0]) * (b[0, 1] - b[0, 0]))
    if objective.kind == "gaussian":
        return log - (along**2 + across**2) / (2 * spread**2) - 2 * math.log(spread * math.sqrt(2 * math.pi))
    # Coordinates at 45 degrees to the crowd, where the pull across it is longest in l1.
    turned = np.abs(along + across) + np.abs(along - across)
    return log - turned / (spread * math.sqrt(2)) - 2 * math.log(2 * spread)


@pytest.mark.parametrize(("kind", "delta"), [("gaussian", "1e-2"), ("laplace", 0)])
@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
@RELATIONS
def test_the_tilt_keeps_its_promise_for_logistic_losses_and_half_of_it_would_not(kind, delta, epsilon, relation):
    objective = Objective(1, 2, 1.0, math.sqrt(2), 1.0, 0.25, 200 / epsilon, _budget(epsilon, delta, relation))
    object.__setattr__(objective, "kind", kind)

    def spent(shrink):
        ways = (1.0, 0.0) if relation == ADD else (1.0, -1.0)
        logs = [_across_a_crowd(objective, way, shrink) for way in ways]
        assert [float(np.exp(log).sum()) for log in logs] == pytest.approx([1, 1], abs=1e-3)
        return max(float(np.maximum(np.exp(p) - np.exp(epsilon + q), 0).sum()) for p, q in (logs, logs[::-1]))

    assert spent(1.0) <= float(delta) + 1e-12
    assert spent(0.5) > float(delta) + 1e-3  # by more than the integral may be off


def test_the_noise_of_less_deviation_is_used_and_its_event_says_so():
    many = Objective(100, 400, 20.0, 400.0, 1.0, 0.25, 1.0, _budget(1, "1e-6"))
    assert isinstance(many.event, ApproximateEvent)
    assert isinstance(_objective("huber", _budget(1, "1e-6")).event, PureEvent)


def test_the_regularisation_is_what_was_asked_or_what_the_proof_needs():
    small = _objective("huber", _budget(1))
    assert math.log1p(1 / small.strength) <= 0.25
    large = Objective(100, 1, 1.0, 1.0, 1.0, 1.0, 1000.0, _budget(1))
    assert large.strength == pytest.approx(1000, rel=1e-9)
    assert large.spread < small.spread


@pytest.mark.parametrize("rows", [1, 3000])
def test_what_is_computed_lies_within_tau_of_the_minimum(rows):
    draw = np.random.default_rng(1)
    table, signs = draw.uniform(-1, 1, (rows, 3)), draw.choice([-1.0, 1.0], rows)
    objective = Objective(rows, 3, 3**0.5, 3.0, 1.0, 0.25, 0.01, _budget(1))
    tilt = objective._tilt(seeded("tau"))
    found = newton(table, slopes_for(signs), objective.strength, tilt, objective._tolerance)
    closer = newton(table, slopes_for(signs), objective.strength, tilt, objective._tolerance / 50)
    assert np.linalg.norm(found - closer) < objective.tau


def test_the_last_noise_hides_tau_and_is_negligible():
    objective = Objective(5000, 12, 12**0.5, 12.0, 1.0, 1.0, 1.0, _budget(1, "1e-6"))
    hidden = objective._last_noise()
    assert objective.tau < 1e-6
    assert float(hidden.scale if objective.kind == "laplace" else hidden.sigma) < 0.01 * objective.spread / 5000 * 12


@pytest.mark.parametrize("epsilon", ["1", "1e-6", "1e-8"])
def test_the_exact_gradient_is_as_small_as_was_allowed_however_large_the_tilt(epsilon):
    draw = np.random.default_rng(2)
    table, target = draw.uniform(-1, 1, (10, 4)), draw.uniform(-1, 1, 10)
    objective = Objective(10, 4, 2.0, 4.0, 1.0, 1.0, 0.0, _budget(epsilon, "1e-6"))

    def slopes(fitted):
        residual = fitted - target
        inner = np.clip(residual, -1, 1)
        return inner * (residual - inner / 2), inner, (np.abs(residual) <= 1).astype(float)

    tilt = objective._tilt(seeded("tilt"))
    found = newton(table, slopes, objective.strength, tilt, objective._tolerance)
    exact = [Fraction(objective.strength) * Fraction(at) + Fraction(by) for at, by in zip(found, tilt, strict=True)]
    for row, goal in zip(table, target, strict=True):
        residual = sum(Fraction(x) * Fraction(at) for x, at in zip(row, found, strict=True)) - Fraction(goal)
        pull = max(Fraction(-1), min(Fraction(1), residual))
        exact = [part + pull * Fraction(x) for part, x in zip(exact, row, strict=True)]
    assert math.sqrt(float(sum(part**2 for part in exact))) <= 2 * objective._tolerance


def test_a_direction_that_rows_do_not_tell_is_solved_however_large_epsilon_is():
    """There the tilt alone decides, divided by a regularisation that falls with epsilon."""
    along, target = np.random.default_rng(2).uniform(-1, 1, (2, 50, 1))
    objective = Objective(50, 2, 2**0.5, 2.0, 1.0, 0.25, 0.0, _budget(10**6, "1e-6"))
    found = objective.minimize(np.hstack([along, -along]), slopes_for(np.sign(target[:, 0])), seeded("large"))
    assert np.isfinite(found).all()
