"""Numbers within public bounds: whole ones with truncated geometric noise, real ones with Laplace noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ParameterError
from ziggurat.local._base import Floats, Integers, Privatizer
from ziggurat.local._columns import as_numbers, fill_missing
from ziggurat.local._estimates import Frequencies, Mean
from ziggurat.local._intervals import inverted_interval, inwards, normal_reach, student_reach
from ziggurat.mechanisms import Laplace, TruncatedGeometric
from ziggurat.privacy import Amount, Event, Neighbours, exact, exact_confidence
from ziggurat.randomness import Source

if TYPE_CHECKING:
    import pyarrow as pa

_LARGEST_COUNT = 1 << 53
_MOST_BARS = 1_000


class LaplaceMoments:
    """The moments of discrete Laplace noise of a scale in steps, which is the difference of two geometric variates."""

    def __init__(self, scale: Fraction) -> None:
        self.falling = math.exp(-1 / float(scale))
        self.beyond = 1 / math.expm1(1 / float(scale)) if scale > Fraction(1, 700) else 0.0
        """By how much the noise passes a bound on average, given that it reaches it: a / (1 - a), by memorylessness."""
        self.any = 2 * self.falling / (1 + self.falling)
        """The probability that the noise is not 0."""
        self.variance = 2 * self.beyond * (1 + self.beyond)
        self.kurtosis = (1 + 4 * self.falling + self.falling**2) / (2 * self.falling) if self.falling else 0.0


def mean_interval(spread: Any, noise: LaplaceMoments, people: int, confidence: Fraction, rounding: float) -> Any:
    """Half the width of the interval around a mean of `people` reports, whose noises' variances add up to `spread`."""
    reach = normal_reach(confidence, noise.kurtosis / people)
    return reach * np.sqrt(spread) / people + rounding


def sample_half_width(values: npt.NDArray[Any], confidence: Fraction) -> Any:
    """Half the width of Student's interval for the mean of what the values were drawn from."""
    people = len(values)
    if people < 2:
        raise DataError("One report says nothing about a population; collect more.")
    return student_reach(confidence, people) * values.std(axis=0, ddof=1) / math.sqrt(people)


class CountNoise(Privatizer):
    """Truncated geometric noise on a whole number within public bounds.

    Promise: epsilon-differential privacy of one report, replace-one. Proof: a record moves by at most upper - lower, so
    discrete Laplace noise of scale (upper - lower)/epsilon gives epsilon (Ghosh, Roughgarden & Sundararajan 2009);
    cutting the result to the bounds is post-processing.

    Estimates are without bias although reports are cut. Given that the noisy number z reached a bound, it passed it by
    a/(1 - a) on average, a = e^(-1/scale), wherever it started (the noise has no memory). So E[z | report] is the
    report itself inside, lower - a/(1 - a) and upper + a/(1 - a) at the bounds; its expectation is that of z, the
    record. It is also what undoing the transition matrix gives: the inverse of (a^|i-j|) is tridiagonal.

    Parameters
    ----------
    epsilon
        What one report may cost.
    lower, upper
        Public bounds; what lies outside is moved to them.
    missing
        Whether to send the middle of the bounds for a missing value, which is refused otherwise. The mean is then that
        of the values with the middle in place of missing ones; the middle is never far from any value. To learn how
        many are missing, ask that as a question of its own.
    neighbours
        The unit, under replace-one.
    """

    kind: ClassVar[str] = "count-noise"

    def __init__(
        self,
        epsilon: Amount,
        lower: int,
        upper: int,
        *,
        missing: bool = False,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(epsilon, neighbours)
        self.missing = _truth(missing)
        self._noisy = TruncatedGeometric.within(
            lower, upper, self._asked, _width(lower, upper), coordinates=1, neighbours=self.neighbours
        )
        self.lower, self.upper = self._noisy.lower, self._noisy.upper
        self.event: Event = self._noisy.event
        self._moments = LaplaceMoments(self._noisy.scale)

    def estimate(self, reports: Any, confidence: Amount = "0.95", *, population: bool = False) -> Mean:
        """Estimate the mean without bias; see the class.

        The variance over the noise is that of z less what is lost by cutting, a/(1 - a)^2 for each report at a bound.
        """
        level = exact_confidence(confidence)
        sent = self._some(reports)
        unbiased = self._restore(sent)
        value = float(unbiased.mean())
        if population:
            half = float(sample_half_width(unbiased, level))
            return Mean(sent.size, level, population, value, value - half, value + half)
        low, high = self._interval(sent, float(unbiased.sum()), level)
        return Mean(sent.size, level, population, value, low / sent.size, high / sent.size)

    def histogram(self, reports: Any, confidence: Amount = "0.95", *, population: bool = False) -> Frequencies:
        """Estimate without bias how many people hold each number, by undoing the transition matrix.

        For ranges of up to 1,000 numbers. The noise is made for the whole range, so the bars are wide; where only
        frequencies are wanted, `best_for_frequencies` does far better.
        """
        level = exact_confidence(confidence)
        sent = self._some(reports)
        bars = self.upper - self.lower + 1
        if bars > _MOST_BARS:
            raise ParameterError("A histogram is estimated for at most 1,000 numbers; narrow the bounds.")
        seen = np.bincount(sent - self.lower, minlength=bars).astype(np.float64)
        undoing = self._undoing(bars)
        counts, low, high = inverted_interval(np.asarray(np.linalg.inv(undoing.T)), undoing, seen, level, population)
        numbers = tuple(range(self.lower, self.upper + 1))
        return Frequencies(sent.size, level, population, numbers, counts, low, high)

    def _restore(self, sent: Integers) -> Floats:
        ends = (sent == self.upper).astype(np.float64) - (sent == self.lower)
        return np.asarray(sent + self._moments.beyond * ends)

    def _interval(self, sent: Integers, total: float, level: Fraction) -> tuple[float, float]:
        """The interval around the sum, which is whole, as the noise is: half a step is conceded."""
        cut = self._moments.beyond * (1 + self._moments.beyond)
        at_ends = int(((sent == self.lower) | (sent == self.upper)).sum())
        spread = sent.size * self._moments.variance - cut * at_ends
        half = normal_reach(level, self._moments.kurtosis / sent.size) * math.sqrt(spread) + 0.5
        if sent.size * self._moments.any <= 1 - level:
            half = 0.5  # with this confidence no report was changed at all
        low, high = inwards(total - half, total + half)
        return float(low), float(high)

    def _undoing(self, bars: int) -> Floats:
        """The inverse of the transposed transition matrix, whose entry is a^|i-j| times the share kept at j."""
        a = self._moments.falling
        inverse = np.diag(np.full(bars, 1 + a * a)) - a * (np.eye(bars, k=1) + np.eye(bars, k=-1))
        inverse[0, 0] = inverse[-1, -1] = 1.0
        kept = np.full(bars, (1 - a) / (1 + a))
        kept[[0, -1]] = 1 / (1 + a)
        return np.asarray(inverse / (1 - a * a) / kept)

    @property
    def arrow_type(self) -> pa.DataType:
        """Whole numbers."""
        import pyarrow as pa

        return pa.int64()

    def _parameters(self) -> dict[str, Any]:
        return {"lower": self.lower, "upper": self.upper, "missing": self.missing}

    def _read(self, values: Any) -> Integers:
        middle = self.lower + (self.upper - self.lower) // 2
        inside = np.clip(fill_missing(as_numbers(values), self.missing, middle), self.lower, self.upper)
        if not bool(np.all(inside == np.floor(inside))):
            raise DataError("Some values are not whole; round them, or use RecordLaplace for real numbers.")
        return inside.astype(np.int64)

    def _randomize(self, values: Integers, source: Source) -> Integers:
        return np.asarray(self._noisy.release(values, source).value)

    def _check(self, sent: Any) -> Integers:
        numbers = as_numbers(sent)
        within = (numbers >= self.lower) & (numbers <= self.upper) & (numbers == np.floor(numbers))
        if not bool(np.all(within)):
            raise DataError("The reports must be whole numbers within the bounds; these belong to another collection.")
        return numbers.astype(np.int64)


class RecordLaplace(Privatizer):
    """Laplace noise on a real number within public bounds.

    Promise: epsilon-differential privacy of one report, replace-one. Proof: a record moves by at most upper - lower;
    `mechanisms.Laplace` rounds it to a fine grid, counts the rounding in its sensitivity and draws the noise exactly.

    Parameters
    ----------
    epsilon
        What one report may cost.
    lower, upper
        Public bounds; what lies outside is moved to them.
    missing
        Whether to send the middle of the bounds for a missing value; see `CountNoise`.
    neighbours
        The unit, under replace-one.
    """

    kind: ClassVar[str] = "record-laplace"

    def __init__(
        self,
        epsilon: Amount,
        lower: Amount,
        upper: Amount,
        *,
        missing: bool = False,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(epsilon, neighbours)
        self.missing = _truth(missing)
        self.lower, self.upper = exact(lower, "lower"), exact(upper, "upper")
        if self.lower >= self.upper:
            raise ParameterError("lower must be less than upper.")
        self._noisy = Laplace.calibrated(
            self._asked, self.upper - self.lower, coordinates=1, neighbours=self.neighbours
        )
        if max(abs(self.lower), abs(self.upper)) > self._noisy.limit:
            raise ParameterError("The bounds lie too far from 0 for their width; subtract a public number first.")
        self.event: Event = self._noisy.event
        self._moments = LaplaceMoments(self._noisy.scale / self._noisy.grid)

    def estimate(self, reports: Any, confidence: Amount = "0.95", *, population: bool = False) -> Mean:
        """Estimate the mean; the bias is at most half a step of the grid, which the interval includes."""
        level, step = exact_confidence(confidence), float(self._noisy.grid)
        sent = self._some(reports)
        value = float(sent.mean())
        if population:
            half = sample_half_width(sent, level) + step / 2
        else:
            spread = sent.size * self._moments.variance * step**2
            half = mean_interval(spread, self._moments, sent.size, level, step / 2)
        return Mean(sent.size, level, population, value, value - float(half), value + float(half))

    @property
    def arrow_type(self) -> pa.DataType:
        """Real numbers."""
        import pyarrow as pa

        return pa.float64()

    def _parameters(self) -> dict[str, Any]:
        return {"lower": str(self.lower), "upper": str(self.upper), "missing": self.missing}

    def _read(self, values: Any) -> Floats:
        low, high = _float_inside(self.lower, 1), _float_inside(self.upper, -1)
        numbers = fill_missing(as_numbers(values), self.missing, float((self.lower + self.upper) / 2))
        return np.clip(numbers, low, high)

    def _randomize(self, values: Floats, source: Source) -> Floats:
        return np.asarray(self._noisy.release(values, source).value)

    def _check(self, sent: Any) -> Floats:
        numbers = as_numbers(sent)
        if not bool(np.all(np.isfinite(numbers))):
            raise DataError("The reports must be finite numbers; these belong to another collection.")
        return numbers


def _truth(missing: object) -> bool:
    if not isinstance(missing, bool):
        raise ParameterError("missing must be True or False.")
    return missing


def _width(lower: object, upper: object) -> int:
    for end in (lower, upper):
        if isinstance(end, bool) or not isinstance(end, (int, np.integer)) or abs(int(end)) > _LARGEST_COUNT:
            raise ParameterError("lower and upper must be public whole numbers from -2**53 to 2**53.")
    if lower >= upper:  # type: ignore[operator]
        raise ParameterError("lower must be less than upper.")
    return int(upper) - int(lower)  # type: ignore[call-overload, no-any-return]


def _float_inside(bound: Fraction, direction: int) -> float:
    """The float nearest to a bound that is not outside of it."""
    near = float(bound)
    outside = near < bound if direction > 0 else near > bound
    return math.nextafter(near, math.copysign(math.inf, direction)) if outside else near
