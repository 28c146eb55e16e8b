"""From Rényi curves to epsilon, over real-valued orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from ziggurat.errors import ParameterError
from ziggurat.mechanisms import require_one_of
from ziggurat.pate.voting import Floats
from ziggurat.privacy import Amount, exact_delta
from ziggurat.privacy.accounting import renyi_to_epsilon

Curve = Callable[[Floats], Floats]
Conversion = Literal["improved", "classic"]

ORDERS: Floats = 1 + np.geomspace(1e-3, 1e4, 50)


class Least(NamedTuple):
    """The least epsilon that a Rényi curve proves, and the order that proves it."""

    epsilon: float
    order: float


def least_epsilon(
    curve: Curve, delta: Amount, *, conversion: Conversion = "improved", orders: npt.ArrayLike | None = None
) -> Least:
    """Minimise the conversion of a Rényi curve over all real orders above 1, or over `orders` alone.

    `classic` is r(a) + ln(1/delta)/(a - 1), in moments l = a - 1 the (alpha(l) + ln(1/delta))/l of the PATE papers;
    `improved` is Canonne, Kamath & Steinke (2020), Proposition 12. Every order gives a valid bound, so an imperfect
    search is only loose. A short grid of whole orders is looser than it looks: with 2 gamma^2 l (l+1) for each of
    1,200 queries at gamma 0.05 and delta 1e-5, whole l give 23.51 (at l = 1) where real l give 22.62, and for 900
    queries at delta 1e-6 they give 20.41 (at l = 2) instead of 20.27: the plateaus of the printed tables.
    """
    require_one_of(conversion, ("improved", "classic"), "conversion")
    allowed = float(exact_delta(delta))
    if allowed <= 0:
        raise ParameterError("A Rényi curve gives an epsilon only at a delta greater than 0, such as 1e-5.")
    if orders is not None:
        return _least_of(_check_orders(orders), curve, allowed, conversion)
    start = _least_of(ORDERS, curve, allowed, conversion)
    if not math.isfinite(start.epsilon):
        return start
    at = int(np.searchsorted(ORDERS, start.order))
    low, high = ORDERS[max(at - 1, 0)], ORDERS[min(at + 1, ORDERS.size - 1)]
    return min(start, _refine(float(low), float(high), curve, allowed, conversion))


def _check_orders(orders: npt.ArrayLike) -> Floats:
    array = np.asarray(orders, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not bool(np.all((array > 1) & np.isfinite(array))):
        raise ParameterError("Rényi orders must be a list of finite numbers greater than 1.")
    return array


def _refine(low: float, high: float, curve: Curve, delta: float, conversion: Conversion) -> Least:
    """Search between two orders, in the logarithm of the moment, where conversions are smooth."""

    def value(log_moment: float) -> float:
        return _least_of(np.array([1 + math.exp(log_moment)]), curve, delta, conversion).epsilon

    bounds = (math.log(low - 1), math.log(high - 1))
    found = minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": 1e-8})
    return Least(float(found.fun), 1 + math.exp(float(found.x)))


def _least_of(orders: Floats, curve: Curve, delta: float, conversion: Conversion) -> Least:
    values = curve(orders)
    if conversion == "classic":
        epsilons = values - math.log(delta) / (orders - 1)
    else:
        epsilons = np.array([renyi_to_epsilon(orders[i : i + 1], values[i : i + 1], delta) for i in range(orders.size)])
    best = int(np.argmin(epsilons))
    return Least(float(epsilons[best]), float(orders[best]))
