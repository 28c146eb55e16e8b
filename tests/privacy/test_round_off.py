"""Closed forms and conversions are upper bounds with their round-off, at every size; not merely to nine digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from ziggurat.privacy import (
    GaussianEvent,
    Neighbours,
    RenyiEvent,
    RepeatedEvent,
    SampledGaussianEvent,
    ZeroConcentratedEvent,
    compose,
    gaussian_delta,
    profile,
)
from ziggurat.privacy.accounting import _curves as curves

ONE = Neighbours()


def true_gaussian_delta(epsilon: mpmath.mpf, mu: mpmath.mpf) -> mpmath.mpf:
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def test_gaussian_delta_is_a_bound_from_tiny_to_huge_noise_and_down_to_1e_300():
    """Negative control: floats alone understate delta by up to a part in a billion once mu is large."""
    random, understated = np.random.default_rng(2), 0.0
    with mpmath.workdps(450):
        for _ in range(300):
            mu, a = float(10 ** random.uniform(-6, 7)), float(random.uniform(-36.8, 3))
            epsilon = mu * (mu / 2 - a)
            true = true_gaussian_delta(mpmath.mpf(epsilon), mpmath.mpf(mu)) if epsilon > 0 else mpmath.mpf(0)
            if true < mpmath.mpf(10) ** -299:
                continue
            assert true <= gaussian_delta(epsilon, mu) <= true * (1 + mpmath.mpf(2e-10))
            naive = float(mpmath.ncdf(mpmath.mpf(mu / 2 - epsilon / mu)))
            exact = float(mpmath.ncdf(mpmath.mpf(mu) / 2 - mpmath.mpf(epsilon) / mpmath.mpf(mu)))
            understated = max(understated, 1 - naive / exact if exact > 1e-290 else 0.0)
    assert understated > 1e-9


@pytest.mark.parametrize("mu_squared", ["1/3", "7", "123456789/1000", "1e10", "1e-9"])
@pytest.mark.parametrize("delta", ["0.3", "1e-6", "1e-100", "1e-299"])
def test_the_gaussian_route_keeps_exactly_what_it_promises(mu_squared, delta):
    account = compose(GaussianEvent(ONE, Fraction(mu_squared), 1))
    epsilon = account.routes(delta)["gaussian"]
    with mpmath.workdps(450):
        mu = mpmath.mpf(Fraction(mu_squared).numerator) / Fraction(mu_squared).denominator
        true = true_gaussian_delta(mpmath.mpf(epsilon.numerator) / epsilon.denominator, mu)
        assert 0 <= true * mpmath.mpf(Fraction(delta).denominator) <= Fraction(delta).numerator


def true_zcdp_delta(epsilon: float, rho: float) -> mpmath.mpf:
    """The infimum over all orders, by a scan and a fine search in arbitrary precision."""
    r, e = mpmath.mpf(rho), mpmath.mpf(epsilon)

    def log_delta(gap: mpmath.mpf) -> mpmath.mpf:
        return gap * ((1 + gap) * r - e) + gap * mpmath.log(gap) - (1 + gap) * mpmath.log1p(gap)

    low = max((e - r) / (2 * r), mpmath.mpf(1e-6)) / 300
    best = min((low * mpmath.mpf(2) ** (mpmath.mpf(j) / 8) for j in range(120)), key=log_delta)
    low, high = best / mpmath.mpf(1.2), best * mpmath.mpf(1.2)
    for _ in range(90):
        third = (high - low) / 3
        low, high = (low, high - third) if log_delta(low + third) < log_delta(high - third) else (low + third, high)
    return min(mpmath.exp(log_delta((low + high) / 2)), mpmath.mpf(1))


def test_the_zcdp_conversion_is_a_bound_at_every_size():
    random = np.random.default_rng(3)
    with mpmath.workdps(60):
        for _ in range(120):
            rho = float(10 ** random.uniform(-10, 12))
            epsilon = rho + 2 * math.sqrt(rho) * float(random.uniform(0.01, 36))
            ours = curves.zcdp_delta(epsilon, rho)
            assert ours >= true_zcdp_delta(epsilon, rho)
            if rho < 1e6 and ours > 1e-299:
                assert ours <= true_zcdp_delta(epsilon, rho) * (1 + mpmath.mpf(1e-6))


def test_a_renyi_conversion_is_a_bound_at_every_size():
    with mpmath.workdps(60):
        for order, value, delta in [("1.000001", "1e-9", 1e-5), ("3", "1e9", 1e-300), ("1001", "1e12", 0.5)]:
            known = RenyiEvent(ONE, (order,), (value,))
            a, r = mpmath.mpf(order), mpmath.mpf(value)
            true = r + mpmath.log1p(-1 / a) - (mpmath.log(mpmath.mpf(delta)) + mpmath.log(a)) / (a - 1)
            ours = compose(known).routes(delta)["renyi"]
            assert mpmath.mpf(ours.numerator) / ours.denominator >= true


def test_an_order_that_is_no_float_is_never_taken_for_a_larger_one():
    """Divergences grow with the order, by nothing that is known: the next float above 4/3 + tiny is another promise."""
    order = Fraction(2**60 * 4 // 3 + 1, 2**60)
    above = math.nextafter(float(order), 2) if float(order) <= order else float(order)
    curve = profile(RenyiEvent(ONE, (order,), (1,))).renyi
    assert np.isinf(curve(np.array([above]))[0])
    assert compose(RenyiEvent(ONE, (order,), (1,))).approximate("1e-5").epsilon > 1


def sampled_divergence(q: str, sigma: str, order: float) -> mpmath.mpf:
    p, s, a = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(order)

    def excess(z: mpmath.mpf) -> mpmath.mpf:
        power = mpmath.expm1(a * mpmath.log1p(p * mpmath.expm1(z / s - 1 / (2 * s * s))))
        return mpmath.npdf(z) * power

    moment = mpmath.quad(excess, [-30, -10, -3, 0, 3, 6, 10, 16, 30, 60])
    return mpmath.log1p(moment) / (a - 1)


def test_the_renyi_curve_of_sampled_noise_is_a_bound_also_where_it_is_tiny():
    """Negative control: the logarithms of dp_accounting alone fall below the true divergence for rare samples."""
    from dp_accounting.rdp.rdp_privacy_accountant import _compute_rdp_poisson_subsampled_gaussian as theirs

    below = 0
    for q, sigma in [("1e-6", "1"), ("1e-5", "2"), ("0.001", "0.8"), ("0.01", "1")]:
        orders = np.array([1.05, 1.5, 2.5, 4.0, 7.5])
        ours = profile(SampledGaussianEvent(ONE, q, sigma)).renyi(orders)
        plain = theirs(float(q), float(sigma), list(orders))
        with mpmath.workdps(40):
            for order, bound, raw in zip(orders, ours, plain, strict=True):
                true = sampled_divergence(q, sigma, float(order))
                assert bound >= true, (q, sigma, order)
                below += raw < true
    assert below > 0


@pytest.mark.parametrize(("shift", "scale"), [(1, 1), (7, 10), (40, 10), (10**6, 10**5)])
def test_the_delta_of_lattice_noise_is_a_bound_up_to_its_edge(shift, scale):
    with mpmath.workdps(60):
        rate, top = 1 / mpmath.mpf(scale), mpmath.mpf(shift) / scale
        for below in ("1e-13", "1e-9", "1e-4", "0.3", "0.99"):
            epsilon = float(top * (1 - mpmath.mpf(below)))
            m = mpmath.ceil((shift - mpmath.mpf(epsilon) * scale) / 2) - 1
            a = mpmath.exp(-rate)
            true = 1 - a ** (m + 1) / (1 + a) - mpmath.exp(epsilon) * a ** (shift - m) / (1 + a)
            ours = curves.discrete_laplace_delta(np.array([epsilon]), Fraction(shift), Fraction(scale))[0]
            assert true <= ours <= true * (1 + mpmath.mpf(1e-6)) + mpmath.mpf(1e-14)


def test_totals_of_many_events_keep_their_digits():
    """A billion zCDP events: the total is an exact rational, and its conversion is a bound for it."""
    account = compose(RepeatedEvent(ONE, ZeroConcentratedEvent(ONE, "1/3000000000"), 10**9))
    epsilon = account.approximate("1e-9").epsilon
    with mpmath.workdps(60):
        assert true_zcdp_delta(float(epsilon) * (1 - 1e-8), 1 / 3) >= mpmath.mpf(1e-9) * (1 - 1e-6)
        assert true_zcdp_delta(float(epsilon), 1 / 3) <= mpmath.mpf(1e-9)
