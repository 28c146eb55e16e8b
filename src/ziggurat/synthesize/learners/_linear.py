"""Columns synthesised by regression: linear for numbers, multinomial logistic for categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn, Reals
from ziggurat.errors import ParameterError
from ziggurat.synthesize._method import Arrays
from ziggurat.synthesize.learners._design import Design, standard
from ziggurat.synthesize.learners._logistic import Logistic
from ziggurat.synthesize.learners._sampling import cells_of
from ziggurat.threads import one_thread

_NO_DIRECTION = 1e-10  # of the greatest eigenvalue: below, columns are collinear but for rounding


@dataclass(frozen=True)
class Linear:
    """Draws from the posterior predictive of a Bayesian regression on all that is given.

    Numbers follow a normal linear regression. With the prior that is flat in the coefficients and in log sigma, sigma²
    is a scaled inverse chi² and the coefficients are normal given it (Gelman et al., Bayesian Data Analysis, 14.2);
    a copy draws both. Categories follow a multinomial logistic regression with a normal prior, and a copy draws its
    coefficients from the Laplace approximation: normal around the mode, with the inverse Hessian there (see
    `Logistic`).

    Parameters
    ----------
    ridge
        What is added to the diagonal of the design's correlations for numbers, so that columns that nearly repeat
        others do no harm. Where the columns of the design are too many for the rows, more is added, until they
        count as no more than half as many as the rows.
    spread
        The standard deviation that the prior gives to the coefficients of categories, per indicator and per standard
        deviation of a number. It keeps them finite where a column separates the categories perfectly.
    normal_scores
        Whether numbers are replaced by the normal scores of their ranks before the regression (ties in random order)
        and drawn scores by the quantile of the column they stand for: draws are then values of the column, about as
        often as they occur in it, however skewed it is.
    """

    ridge: float = 1e-6
    spread: float = 1.0
    normal_scores: bool = False

    proper: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.ridge) and self.ridge >= 0):
            raise ParameterError("ridge must be a number that is not negative.")
        if not (math.isfinite(self.spread) and self.spread > 0):
            raise ParameterError("spread must be a positive number.")

    @one_thread()
    def fit(
        self, target: CodedColumn, given: Sequence[CodedColumn], draw: np.random.Generator
    ) -> Regression | Logistic:
        """Learn the target given the other columns."""
        if not target.numeric:
            return Logistic.fit(target, given, self.spread, draw)
        values = np.asarray(cells_of(target), dtype=np.float64)
        if self.normal_scores:
            return Regression.fit(_scores(values, draw), given, self.ridge, np.sort(values))
        return Regression.fit(values, given, self.ridge)

    def restored(self, state: Arrays) -> Regression | Logistic:
        """Return what `state` of a regression described."""
        return Regression.restored(state) if "root" in state else Logistic.restored(state)


@dataclass(frozen=True)
class Regression:
    """A normal linear regression of the standardised target on a centred design.

    Parameters
    ----------
    design
        How given columns become a matrix.
    means
        Of the columns of the matrix.
    weights
        The coefficients.
    root
        Times its transpose and sigma², the posterior covariance of the coefficients.
    level
        The mean of the standardised target where the design is at its means.
    sigma
        The standard deviation of the standardised target around its mean.
    freedom
        The degrees of freedom that sigma² was estimated with.
    rows
        How many rows were seen.
    centre, scale
        Of the target: what standardising took away.
    ladder
        The sorted target, where it was replaced by normal scores.
    """

    design: Design
    means: Reals
    weights: Reals
    root: Reals
    level: float
    sigma: float
    freedom: float
    rows: float
    centre: float
    scale: float
    ladder: Reals | None = None

    @classmethod
    def fit(cls, values: Reals, given: Sequence[CodedColumn], ridge: float, ladder: Reals | None = None) -> Regression:
        """Return the regression of these values on the given columns."""
        design = Design.learn(given)
        matrix = design.matrix(given, len(values))
        means = matrix.mean(axis=0)
        matrix -= means
        widths = matrix.std(axis=0)
        widths[widths == 0] = 1
        matrix /= widths
        centre, scale = standard(values)
        aim = (values / 2 - centre / 2) / (scale / 2)
        sizes, directions = _directions(matrix)
        firm, used = _add_ridge(sizes, len(values), ridge)
        weights = directions @ ((directions.T @ (matrix.T @ aim)) / firm)
        left = aim - matrix @ weights
        freedom = max(1.0, len(values) - 1 - used)
        sigma = math.sqrt(float(left @ left) / freedom)
        root = directions / np.sqrt(firm) / widths[:, None]
        return cls(design, means, weights / widths, root, 0.0, sigma, freedom, len(values), centre, scale, ladder)

    def posterior(self, draw: np.random.Generator) -> Regression:
        """Draw sigma² from its scaled inverse chi², and the coefficients given it."""
        sigma = self.sigma * math.sqrt(self.freedom / max(draw.chisquare(self.freedom), 1e-12))
        weights = self.weights + sigma * (self.root @ draw.standard_normal(self.root.shape[1]))
        level = self.level + sigma / math.sqrt(self.rows) * float(draw.standard_normal())
        return replace(self, sigma=sigma, weights=weights, level=level)

    @one_thread()
    def sample(self, given: Sequence[CodedColumn], rows: int, draw: np.random.Generator) -> Reals:
        """Return numbers drawn around the regression."""
        mean = self.level - self.means @ self.weights + self.design.matrix(given, rows) @ self.weights
        drawn = mean + self.sigma * draw.standard_normal(rows)
        if self.ladder is None:
            return self.centre + self.scale * drawn
        return self._quantiles(self.centre + self.scale * drawn, self.ladder)

    @staticmethod
    def _quantiles(scores: Reals, ladder: Reals) -> Reals:
        from scipy.special import ndtr

        places = np.minimum((ndtr(scores) * len(ladder)).astype(np.int64), len(ladder) - 1)
        drawn: Reals = ladder[places]
        return drawn

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return what was learned as arrays; with normal scores it holds every value of the target."""
        facts = [self.level, self.sigma, self.freedom, self.rows, self.centre, self.scale]
        out = {"means": self.means, "weights": self.weights, "root": self.root, "facts": np.array(facts)}
        if self.ladder is not None:
            out["ladder"] = self.ladder
        return {**out, **self.design.state()}

    @classmethod
    def restored(cls, state: Arrays) -> Regression:
        """Return what `state` described."""
        means, weights, root = (np.array(state[name], dtype=np.float64) for name in ("means", "weights", "root"))
        level, sigma, freedom, rows, centre, scale = np.asarray(state["facts"], dtype=np.float64).tolist()
        ladder = np.array(state["ladder"], dtype=np.float64) if "ladder" in state else None
        design = Design.restored(state)
        return cls(design, means, weights, root, level, sigma, freedom, rows, centre, scale, ladder)


def _scores(values: Reals, draw: np.random.Generator) -> Reals:
    """Return the normal scores of the ranks; ties are ranked in random order, so that together they are normal."""
    from scipy.special import ndtri

    order = np.lexsort((draw.random(len(values)), values))
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values)) + 0.5
    return np.asarray(ndtri(ranks / len(values)), dtype=np.float64)


def _directions(matrix: Reals) -> tuple[Reals, Reals]:
    """Return the eigenvalues above zero of a design's cross products, and their eigenvectors as columns.

    A direction along which the design never varied is left out: it gets no coefficient and no spread.
    """
    wide = matrix.shape[1] > matrix.shape[0]
    sizes, vectors = np.linalg.eigh(matrix @ matrix.T if wide else matrix.T @ matrix)
    kept = sizes > _NO_DIRECTION * max(float(sizes[-1]), 1e-300)
    sizes, vectors = sizes[kept], vectors[:, kept]
    return sizes, matrix.T @ vectors / np.sqrt(sizes) if wide else vectors


def _add_ridge(sizes: Reals, rows: int, ridge: float) -> tuple[Reals, float]:
    """Return the eigenvalues with the ridge added, and as how many columns the design then counts."""
    added = ridge * rows
    while float((sizes / (sizes + added)).sum()) > rows / 2:
        added = max(4 * added, 1e-6 * rows)
    return sizes + added, float((sizes / (sizes + added)).sum())
