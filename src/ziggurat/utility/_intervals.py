"""One interval from several copies, and its overlap with the original's.

References
----------
Karr, Kohnen, Oganian, Reiter, Sanil (2006), "A framework for evaluating the utility of data altered to protect
confidentiality", The American Statistician 60(3): the overlap of intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Literal

from ziggurat.errors import ParameterError
from ziggurat.synthesize import COMBINING_RULES, Origin, combine_estimates
from ziggurat.utility._sheets import Sheets

Combining = Literal["fully", "partially", "simple", "as real"]
"""The combining rules of `ziggurat.synthesize`; or "as real": means of estimates and variances, nothing added for the
synthesis, as somebody would state them who takes the copies for the original."""

_COMBININGS = (*COMBINING_RULES, "as real")


@dataclass(frozen=True)
class Interval:
    """An estimate, its standard error, and both ends of its interval."""

    estimate: float
    error: float
    low: float
    high: float


@dataclass(frozen=True)
class Combiner:
    """How the estimates of copies become one interval.

    `made` says what the copies were learned from, `looked_at` how many rows of the original are looked at; where
    nothing is known of the copies, it is taken for granted that they were learned from these.
    """

    rule: Combining
    confidence: float
    looked_at: int
    made: Origin | None = None

    def combine(
        self, estimates: Sequence[float], errors: Sequence[float], rows: int, synthetic_rows: Sequence[int]
    ) -> Interval:
        """Combine the estimates of the copies, made from so many rows of the original and so many of each copy."""
        variances = [each**2 for each in errors]
        if self.rule == "as real":
            return around(fmean(estimates), math.sqrt(fmean(variances)), normal_quantile(self.confidence))
        learned, drawn = self._sizes(rows, max(1, round(fmean(synthetic_rows))))
        found = combine_estimates(
            estimates,
            variances,
            self.rule,
            rows=learned,
            synthetic_rows=drawn,
            proper=self.made is None or self.made.proper,
            confidence=self.confidence,
        )
        return Interval(found.estimate, found.error, found.low, found.high)

    def _sizes(self, rows: int, size: int) -> tuple[int, int]:
        """Return from how many rows it was learned, and how many of a copy were drawn from that.

        Of rows with missing cells as large a share is not used of those learned from as of those looked at.
        """
        if self.made is None:
            return max(1, rows), size
        if self.made.kind == "partially":
            return self.made.rows, self.made.count_drawn(size)
        return max(1, round(self.made.rows * rows / self.looked_at)), size


def combiner(sheets: Sheets, rule: Combining | None, confidence: float) -> Combiner:
    """Return how the copies of these tables are combined; raise ParameterError if they cannot be so.

    Without a rule copies that `synthesize` returned or wrote are combined by the rule that fits them, anything else by
    the rule "simple": the variance of the rule "fully" is a difference with few degrees of freedom, and with a handful
    of copies its interval is so wide that overlaps are near one half whatever the copies are like.
    """
    made, copies = sheets.made, len(sheets.copies)
    if rule is None:
        fitting = "simple" if made is None else made.rule
        rule = "as real" if copies < 2 and fitting != "simple" else fitting
    if rule not in _COMBININGS:
        raise ParameterError("The combining must be 'fully', 'partially', 'simple' or 'as real'.")
    if not 0 < confidence < 1:
        raise ParameterError("The confidence must lie between 0 and 1.")
    if copies < 2 and rule in ("fully", "partially"):
        raise ParameterError(
            f"Combining as {rule!r} compares copies and needs at least 2; make more copies, or use 'simple'."
        )
    return Combiner(rule, confidence, sheets.original.rows, made)


def around(estimate: float, error: float, quantile: float) -> Interval:
    """Return the interval of so many standard errors to both sides."""
    return Interval(estimate, error, estimate - quantile * error, estimate + quantile * error)


def normal_quantile(confidence: float) -> float:
    """Return how many standard errors of a normal distribution the interval reaches to both sides."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def interval_overlap(original: Sequence[float], synthetic: Sequence[float]) -> float:
    """Return the mean of the shares that two intervals have of each other: 1 if they are equal, 0 if they are apart.

    The printed formula is negative for intervals that are apart; here that is 0. An interval of no width counts as
    wholly covered if the other holds it.

    Parameters
    ----------
    original, synthetic
        Both ends of each interval.
    """
    (low, high), (other_low, other_high) = _ends(original), _ends(synthetic)
    inside = min(high, other_high) - max(low, other_low)
    if inside < 0:
        return 0.0
    shares = [inside / width if width > 0 else 1.0 for width in (high - low, other_high - other_low)]
    return sum(shares) / 2


def overlap(original: Interval, synthetic: Interval) -> float:
    """Return the overlap of two intervals; NaN if one has no ends."""
    ends = (original.low, original.high, synthetic.low, synthetic.high)
    return interval_overlap(ends[:2], ends[2:]) if all(map(math.isfinite, ends)) else math.nan


def _ends(interval: Sequence[float]) -> tuple[float, float]:
    ends = [float(each) for each in interval]
    if len(ends) != 2 or not all(map(math.isfinite, ends)) or ends[0] > ends[1]:
        raise ParameterError("An interval has two finite ends, the lower one first.")
    return ends[0], ends[1]
