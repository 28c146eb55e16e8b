"""Combining rules: one estimate and one honest interval from several synthetic copies of a table.

An analyst computes an estimate q_i and its usual variance u_i on each of m copies. With their means q and u and the
variance b of the q_i between the copies:

- fully synthetic (Raghunathan, Reiter and Rubin 2003; Reiter 2002): T = (1 + 1/m) b - u, with (m - 1)(1 - u / ((1 +
  1/m) b))^2 degrees of freedom. T estimates a variance as a difference and can be negative; then (n_syn / n) u, which
  is too large rather than too small, stands for it.
- partially synthetic (Reiter 2003): T = u + b/m, with (m - 1)(1 + u / (b/m))^2 degrees of freedom.
- simple (Raab, Nowok and Dibben 2016): T = u (k/n + 1/m) for k synthetic rows made from n, and u (k/n + (1 + k/n)/m)
  if the copies were drawn from the posterior. It needs one copy only, and a table all of whose rows are synthetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Literal

from scipy import stats

from ziggurat.errors import ParameterError

Rule = Literal["fully", "partially", "simple"]
RULES: tuple[Rule, ...] = ("fully", "partially", "simple")


@dataclass(frozen=True)
class Combined:
    """An estimate from several copies, with its interval.

    Attributes
    ----------
    estimate
        The mean of the estimates.
    variance
        What the rule says its variance is.
    within, between
        The mean of the variances within the copies, and the variance of the estimates between them (0 with one copy).
    degrees
        Degrees of freedom of Student's t; infinite where the normal distribution is used.
    low, high
        The interval.
    rule, copies, confidence
        How it was made.
    """

    estimate: float
    variance: float
    within: float
    between: float
    degrees: float
    low: float
    high: float
    rule: Rule
    copies: int
    confidence: float

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    @property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)


def combine(
    estimates: Sequence[float],
    variances: Sequence[float],
    rule: Rule = "fully",
    *,
    rows: int | None = None,
    synthetic_rows: int | None = None,
    proper: bool = True,
    confidence: float = 0.95,
) -> Combined:
    """Combine the estimates of several synthetic copies.

    Parameters
    ----------
    estimates, variances
        What was computed on each copy as if it were real, and the square of its standard error there.
    rule
        "fully" or "partially" synthetic, or "simple".
    rows, synthetic_rows
        How many rows the table had from which the copies were made, and how many each copy has; by default as many.
    proper
        Whether the copies were drawn from the posterior; the rule "simple" alone asks.
    confidence
        Of the interval.
    """
    q, u = _checked(estimates, variances, rule, confidence)
    ratio = _ratio(rows, synthetic_rows)
    m, within, between = len(q), fmean(u), variance(q) if len(q) > 1 else 0.0
    if rule == "fully":
        total, degrees = _fully(m, within, between, ratio)
    elif rule == "partially":
        total, degrees = _partially(m, within, between)
    else:
        total, degrees = within * (ratio + (1 + ratio if proper else 1) / m), math.inf
    half = _quantile(degrees, confidence) * math.sqrt(total)
    middle = fmean(q)
    return Combined(middle, total, within, between, degrees, middle - half, middle + half, rule, m, confidence)


def _fully(m: int, within: float, between: float, ratio: float) -> tuple[float, float]:
    spread = (1 + 1 / m) * between
    if spread <= within:
        return ratio * within, math.inf
    # Just above that limit the formula goes to 0 degrees of freedom and the interval to the whole line.
    return spread - within, max((m - 1) * (1 - within / spread) ** 2, 1.0)


def _partially(m: int, within: float, between: float) -> tuple[float, float]:
    added = between / m
    degrees = math.inf if added == 0 else (m - 1) * (1 + within / added) ** 2
    return within + added, degrees


def _quantile(degrees: float, confidence: float) -> float:
    level = (1 + confidence) / 2
    return float(stats.norm.ppf(level) if math.isinf(degrees) else stats.t.ppf(level, degrees))


def _ratio(rows: int | None, synthetic_rows: int | None) -> float:
    if rows is None or synthetic_rows is None:
        return 1.0
    if rows < 1 or synthetic_rows < 1:
        raise ParameterError("The numbers of rows and of synthetic rows must be at least 1.")
    return synthetic_rows / rows


def _checked(
    estimates: Sequence[float], variances: Sequence[float], rule: str, confidence: float
) -> tuple[list[float], list[float]]:
    q, u = [float(each) for each in estimates], [float(each) for each in variances]
    if rule not in RULES:
        raise ParameterError("The rule must be 'fully', 'partially' or 'simple'.")
    if not 0 < confidence < 1:
        raise ParameterError("The confidence must lie between 0 and 1.")
    if len(q) != len(u) or not q:
        raise ParameterError("Give one variance for every estimate, and at least one of each.")
    if len(q) < 2 and rule != "simple":
        raise ParameterError(
            f"The rule {rule!r} compares copies and needs at least 2; make more copies, or use the rule 'simple' "
            "for a table all of whose rows are synthetic."
        )
    if not all(map(math.isfinite, (*q, *u))) or min(u) < 0:
        raise ParameterError("Estimates must be finite numbers, and variances finite and not negative.")
    return q, u
