"""Combining rules: one estimate and one honest interval from several synthetic copies of a table.

An analyst computes an estimate q_i and its usual variance u_i on each of m copies. With their means q and u, the
variance b of the q_i between the copies, and k rows drawn from what n rows taught:

- fully synthetic (Raghunathan, Reiter and Rubin 2003; Reiter 2002): T = (1 + 1/m) b - u, with (m - 1)(1 - u / ((1 +
  1/m) b))^2 degrees of freedom. T estimates a variance as a difference and can be negative; then (k/n) u, which is too
  large rather than too small, stands for it.
- partially synthetic (Reiter 2003): T = u + b/m, with (m - 1)(1 + u / (b/m))^2 degrees of freedom, if all k rows whose
  cells are drawn anew were learned from (n = k). If only n of them were, chosen at random, see below.
- simple (Raab, Nowok and Dibben 2016): T = u (k/n + 1/m) for k synthetic rows made from n, and u (k/n + (1 + k/n)/m)
  if the copies were drawn from the posterior. It needs one copy only, and a table all of whose rows are synthetic.

n is the number of rows that were *learned from*, not that of the table: rows that were left out told the model nothing,
and no number of synthetic rows brings back what they knew. An estimate from n rows has variance u k/n.

Partially synthetic copies learned from n of the k rows drawn anew: the copies vary about what the n rows say, and not
about what all k would have said. These two differ by p(1 - n/k), where p is the variance that an estimate owes to the
parameters learned from n rows (p n/k of it is shared with the k rows that hold the n). An estimate a'y, of which a'y
has variance d = s^2 a'a given the parameters, has p = s^2 a'X (X_n'X_n)^-1 X'a <= (k/n) d, because X_n'X_n is near
(n/k) X'X and a projection shortens; with equality where the model can express the estimate, as a tree's leaves can a
mean. With draws from the posterior b = d + p, so p <= b k/(k + n); without b = d, so p <= b k/n. Hence, with r = k/n,

    T = u + b (1/m + (r - 1)/(r + 1)) with, and T = u + b (1/m + r - 1) without draws from the posterior,

and the degrees of freedom are those of Reiter with the new factor of b in the place of 1/m (Satterthwaite).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Literal

from scipy import stats

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError

CombiningRule = Literal["fully", "partially", "simple"]
COMBINING_RULES: tuple[CombiningRule, ...] = ("fully", "partially", "simple")
"""The rules by which estimates from several copies become one."""


@dataclass(frozen=True)
class Combined(Shown):
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
    rule: CombiningRule
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


def combine_estimates(
    estimates: Sequence[float],
    variances: Sequence[float],
    rule: CombiningRule = "fully",
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
        How many rows were learned from, and how many rows of each copy were drawn from that: all of them, or of a
        partially synthetic copy those with cells drawn anew; by default as many.
    proper
        Whether the copies were drawn from the posterior; the rule "fully" takes it for granted.
    confidence
        Of the interval.
    """
    q, u = _check_copies(estimates, variances, rule, confidence)
    ratio = _ratio(rows, synthetic_rows)
    m, within, between = len(q), fmean(u), variance(q) if len(q) > 1 else 0.0
    if rule == "fully":
        total, degrees = _fully(m, within, between, ratio)
    elif rule == "partially":
        total, degrees = _partially(m, within, between, ratio, proper)
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


def _partially(m: int, within: float, between: float, ratio: float, proper: bool) -> tuple[float, float]:
    unlearned = max(ratio - 1, 0.0) / (ratio + 1 if proper else 1)
    added = between * (1 / m + unlearned)
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


def _check_copies(
    estimates: Sequence[float], variances: Sequence[float], rule: str, confidence: float
) -> tuple[list[float], list[float]]:
    q, u = [float(each) for each in estimates], [float(each) for each in variances]
    if rule not in COMBINING_RULES:
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
