"""How many people are unique in the population that a table is a sample of.

Three published estimators and a published rule to choose among them. Each sees only how many classes of the sample have
which size, and the sampling fraction; all assume that every person was equally likely to be sampled.

References
----------
Zayatz (1991), "Estimation of the percent of unique population elements on a microdata file using the sample", US
Bureau of the Census, Statistical Research Division report 91/08.
Chen, Keller-McNulty (1998), "Estimation of identification disclosure risk in microdata", J. Official Statistics 14(1).
Hoshino (2001), "Applying Pitman's sampling formula to microdata disclosure risk assessment", J. Official Statistics
17(4).
Pitman (1995), "Exchangeable and partially exchangeable random partitions", Probability Theory and Related Fields 102.
Dankar, El Emam, Neisa, Roffey (2012), "Estimating the re-identification risk of clinical data sets", BMC Medical
Informatics and Decision Making 12:66.
Franconi, Polettini (2004), "Individual risk estimation in mu-Argus: a review", Privacy in Statistical Databases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq, minimize
from scipy.special import expit, gammaln, hyp2f1

from ziggurat.attacks._finding import fraction
from ziggurat.errors import ParameterError

Floats = npt.NDArray[np.float64]

_SMALL_SAMPLE = 0.1  # Dankar et al.: up to here Pitman's formula
_LARGE, _TERMS = 50, 200
_LEAST_ALPHA, _LARGEST_ALPHA = 1e-5, 1 - 1e-6
_SHAPES = np.geomspace(1e-4, 1e3, 60)


@dataclass(frozen=True)
class PopulationUniques:
    """The estimated number of people who are unique in the population.

    Attributes
    ----------
    sampling_fraction
        The share of the population that is in the table.
    population
        How many people the population holds: rows / sampling fraction.
    pitman, zayatz, snb
        The estimates by Pitman's sampling formula, by Zayatz and by the slide negative binomial model; None where the
        model does not fit the sample.
    model
        Which of them the rule of Dankar et al. takes: up to a sampling fraction of 0.1 Pitman, above it the smaller of
        Zayatz and the slide negative binomial; Zayatz where the others do not fit.
    """

    sampling_fraction: float
    population: float
    pitman: float | None
    zayatz: float
    snb: float | None
    model: str

    @property
    def expected(self) -> float:
        """The estimate that the rule takes."""
        taken = {"pitman": self.pitman, "zayatz": self.zayatz, "snb": self.snb}[self.model]
        return self.zayatz if taken is None else taken

    @property
    def share(self) -> float:
        """The estimated share of the population that is unique."""
        return self.expected / self.population


def population_uniques(sizes: Mapping[int, int], sampling_fraction: float) -> PopulationUniques:
    """Estimate how many people are unique in the population.

    Parameters
    ----------
    sizes
        How many classes of the sample have which size.
    sampling_fraction
        The share of the population that was sampled, above 0 and at most 1.
    """
    share = fraction(sampling_fraction, "The sampling fraction")
    size, number = _check_sizes(sizes)
    rows, uniques = float(size @ number), float(number[size == 1].sum())
    population = rows / share
    if uniques == 0 or share == 1:
        return PopulationUniques(share, population, uniques, uniques, uniques, "zayatz")
    zayatz = _zayatz(size, number, population, share)
    pitman, snb = _pitman(size, number, population), _slide_negative_binomial(size, number, share)
    return PopulationUniques(share, population, pitman, zayatz, snb, _rule(share, pitman, zayatz, snb))


def expected_inverse_sizes(sizes: Mapping[int, int], sampling_fraction: float) -> Floats:
    """Return E[1/F | f] for each class size f of the sample, where F people of the population share the class.

    By Pitman's sampling formula a class of f people grows like a Polya urn: F - f is (to a vanishing error)
    negative binomial of shape f - alpha and success probability p = (n + theta) / (N + theta), hence E[1/F | f] =
    (p / f) 2F1(1, 1 + alpha; f + 1; 1 - p). Where the formula does not fit, alpha = theta = 0, which is the individual
    risk of mu-Argus (Franconi and Polettini 2004) and is too low where many combinations are rare.
    """
    size, number = _check_sizes(sizes)
    rows = float(size @ number)
    alpha, theta = _pitman_fit(size, number) or (0.0, 0.0)
    seen = (rows + theta) / (rows / sampling_fraction + theta)
    inverse = seen / size * hypergeometric(1 + alpha, size + 1, 1 - seen)
    return np.asarray(np.minimum(inverse, 1 / size), dtype=float)


def hypergeometric(b: float, c: Floats, z: float) -> Floats:
    """2F1(1, b; c; z); for large c by its series, whose terms fall at once and where SciPy has no answer."""
    steps = np.arange(_TERMS)
    large = c > _LARGE
    terms = np.cumprod(z * (b + steps) / (c[large, None] + steps), axis=1)
    found = np.empty_like(c)
    found[large] = 1 + terms.sum(axis=1)
    found[~large] = hyp2f1(1.0, b, c[~large], z)
    return found


def _check_sizes(sizes: Mapping[int, int]) -> tuple[Floats, Floats]:
    pairs = sorted(sizes.items())
    if not pairs or any(size < 1 or number < 0 for size, number in pairs):
        raise ParameterError("The sizes must map class sizes of at least 1 to numbers of classes.")
    return np.array([size for size, _ in pairs], float), np.array([number for _, number in pairs], float)


def _rule(share: float, pitman: float | None, zayatz: float, snb: float | None) -> str:
    if share <= _SMALL_SAMPLE:
        return "zayatz" if pitman is None else "pitman"
    return "zayatz" if snb is None or zayatz < snb else "snb"


def _zayatz(size: Floats, number: Floats, population: float, share: float) -> float:
    """The sample's class sizes stand for the population's; Bayes' rule inverts hypergeometric sampling."""
    rows = float(size @ number)
    ways = _log_choose(population, rows)
    possible = population - size >= rows - 1
    left = np.where(possible, population - size, rows)
    alone = np.where(possible, np.exp(np.log(size) + _log_choose(left, rows - 1) - ways), 0.0)
    unique = number[0] * alone[0] / float(number @ alone)
    return float(number[0] * unique / share)


def _log_choose(whole: Floats | float, part: float) -> Floats:
    return np.asarray(gammaln(whole + 1) - gammaln(part + 1) - gammaln(whole - part + 1))


def _pitman(size: Floats, number: Floats, population: float) -> float | None:
    """The expected uniques of a sample as large as the population, by Pitman's formula with fitted parameters."""
    fit = _pitman_fit(size, number)
    if fit is None:
        return None
    alpha, theta = fit
    grown = gammaln(population + theta + alpha - 1) - gammaln(population + theta)
    return float(min(population, np.exp(np.log(population) + gammaln(theta + 1) - gammaln(theta + alpha) + grown)))


def _pitman_fit(size: Floats, number: Floats) -> tuple[float, float] | None:
    """Alpha and theta of the greatest likelihood; None where the sample cannot tell, or alpha comes to 1."""
    rows, classes = float(size @ number), float(number.sum())

    def loss(point: Floats) -> float:
        alpha, theta = _pitman_parameters(point)
        grown = (classes - 1) * np.log(alpha) + gammaln(theta / alpha + classes) - gammaln(theta / alpha + 1)
        shared = float(number @ (gammaln(size - alpha) - gammaln(1 - alpha)))
        return float(gammaln(theta + rows) - gammaln(theta + 1) - grown - shared)

    if classes in (1, rows):
        return None
    start = np.array([0.0, np.log(classes)])
    best = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-7, "maxiter": 2000})
    alpha, theta = _pitman_parameters(best.x)
    return (alpha, theta) if np.isfinite(best.fun) and alpha < _LARGEST_ALPHA else None


def _pitman_parameters(point: Floats) -> tuple[float, float]:
    # Below the least alpha the formula is Ewens', to more digits than its large terms cancel to.
    alpha = float(np.clip(expit(point[0]), _LEAST_ALPHA, _LARGEST_ALPHA))
    return alpha, float(np.exp(np.clip(point[1], -30, 60))) - alpha


def _slide_negative_binomial(size: Floats, number: Floats, share: float) -> float | None:
    """Match rows, classes and uniques to their expectations when F - 1 is negative binomial (shape, mean)."""
    rows, classes, uniques = float(size @ number), float(number.sum()), float(number[size == 1].sum())
    if classes == rows:
        return None

    def gap(shape: float) -> float:
        mean = _snb_mean(shape, rows / classes, share)
        empty = (1 + share * mean / shape) ** -shape
        alone = share * empty + (1 - share) * share * mean * empty / (1 + share * mean / shape)
        return float(alone / (1 - (1 - share) * empty) - uniques / classes)

    gaps = [gap(shape) for shape in _SHAPES]
    crossings = [i for i in range(len(gaps) - 1) if gaps[i] * gaps[i + 1] <= 0]
    if not crossings:
        return None
    shape = float(brentq(gap, _SHAPES[crossings[0]], _SHAPES[crossings[0] + 1]))
    mean = _snb_mean(shape, rows / classes, share)
    cells = rows / share / (1 + mean)
    return float(cells * (1 + mean / shape) ** -shape)


def _snb_mean(shape: float, per_class: float, share: float) -> float:
    """The mean of F - 1 with which a class that is seen holds `per_class` people of the sample on average."""

    def gap(mean: float) -> float:
        return float(share * (1 + mean) / (1 - (1 - share) * (1 + share * mean / shape) ** -shape) - per_class)

    return float(brentq(gap, 0.0, per_class / share + 1))
