"""How linear models are protected: routes from scaled rows to scaled weights, each with its event."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.learn._budget import FitBudget, Kind, deviation_of, lesser_noise
from ziggurat.learn._choosing import Contested, each_of, judge_by_copies
from ziggurat.learn._clipping import STEPS, Floats, Integers, in_steps, root_above
from ziggurat.learn._moments import Moments, Quadratic
from ziggurat.learn.linear._histogram_rows import CellGrid
from ziggurat.learn.linear._objective import Objective
from ziggurat.learn.linear._quadratic import Penalty, solve
from ziggurat.privacy import Event, Relation
from ziggurat.privacy.accounting import require_declared
from ziggurat.randomness import Source

METHODS = ("adassp", "functional", "functional-as-published", "objective", "output", "input")
RELEASED = ("adassp", "functional", "input")
"""Methods that release sums, by which a weight can be chosen."""

# Beyond this residual, in half ranges of the target, objective perturbation counts it only linearly.
_RESIDUAL = 1.0
# Cholesky succeeds while this much of the condition is left (Higham 2002, Theorem 10.7).
_SOLUBLE = 0.1


@dataclass(frozen=True)
class LinearFacts:
    """What is public: the shape, the largest squared norm of the scaled features, an intercept or none, a ridge.

    `rows` is how many rows proofs allow for: their number where it is public. `likely` is about how many there are.
    """

    rows: int
    columns: int
    norm: Fraction
    intercept: bool
    ridge: float
    budget: FitBudget
    likely: int | None = None

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.columns + self.intercept

    @property
    def length(self) -> Fraction:
        """The largest norm of a row, the constant 1 included."""
        return root_above(self.norm + self.intercept)

    @property
    def replaced(self) -> bool:
        """Whether a neighbour has another row in the place of one, and not one more or less."""
        return self.budget.neighbours.relation is Relation.REPLACE_ONE

    def beside_rows(self, noise: float) -> float:
        """Noise beside what the rows can tell, where it is known about how many there are."""
        return 0.0 if self.likely is None else noise / self.likely

    def with_constant(self, features: Floats) -> Floats:
        """Add the constant column."""
        return np.hstack([features, np.ones((len(features), 1))]) if self.intercept else features

    def split(self, weights: Floats) -> tuple[Floats, float]:
        """Take the intercept off."""
        return (weights[:-1], float(weights[-1])) if self.intercept else (weights, 0.0)


@dataclass(frozen=True)
class LinearRows:
    """What is private, scaled to [-1, 1], and penalties on scaled weights: one, or those to choose from."""

    features: Floats
    target: Floats
    penalties: tuple[Penalty, ...]

    def __len__(self) -> int:
        return len(self.features)

    def only(self, places: Integers) -> LinearRows:
        """These rows alone."""
        return LinearRows(self.features[places], self.target[places], self.penalties)


class LinearWeights(NamedTuple):
    """Scaled weights and intercept, protected, and the place of the penalty that was chosen."""

    weights: Floats
    constant: float
    place: int = 0


class Route(ABC):
    """One way to protect a linear model; `event` is known before a row is read.

    `doubt` is about how large the noise is beside what rows spread evenly over the bounds could tell: above 1, the
    answer is noise.
    """

    event: Event
    doubt: float

    @abstractmethod
    def learn(self, given: LinearRows, source: Source) -> LinearWeights:
        """Give the scaled weights and intercept, protected."""


class Sums(Route):
    """A route that releases noisy sums; the minimum, and the choice of a penalty, are post-processing."""

    noise: Any
    repair = True

    @abstractmethod
    def release(self, given: LinearRows, source: Source) -> Floats:
        """Release a vector."""

    @abstractmethod
    def read_sums(self, noisy: Floats) -> Quadratic:
        """Give the sums that a released vector tells, linearly."""

    def minimize(self, noisy: Floats, penalty: Penalty, times: float = 1.0) -> tuple[Floats, float]:
        """Give the scaled weights and intercept for a vector with so many times the noise."""
        told = self.read_sums(noisy)
        return solve(replace(told, spread=told.spread * times), penalty, repair=self.repair)

    def learn(self, given: LinearRows, source: Source) -> LinearWeights:
        """Release, choose a penalty where there are several, and minimise."""
        noisy, penalties, place = self.release(given, source), given.penalties, 0
        if len(penalties) > 1:

            def fitted(copy: Floats) -> list[tuple[Floats, float]]:
                return [self.minimize(copy, penalty, math.sqrt(2)) for penalty in penalties]

            place = judge_by_copies(noisy, deviation_of(self.noise), fitted, self.read_sums, source)
        return LinearWeights(*self.minimize(noisy, penalties[place]), place)


class Statistics(Sums):
    """Noise on the sufficient statistics; the minimum is post-processing (Zhang et al. 2012; Wang 2018).

    "adassp": Gaussian noise on all moments at once, the constant and the target each weighing half as much as all
    features together: weights chosen on wine quality, which favour a small epsilon. With the same noise on every entry,
    X'X and X'y released apart cost mu^2 of P^2 + 4 P w^2 (P = d + u^2) where the joint release costs (P + w^2)^2, which
    is less for w^2 < 2P; and no third is spent on the smallest eigenvalue, which is that of the noisy matrix.
    """

    def __init__(self, facts: LinearFacts, method: str) -> None:
        self.facts, self.repair = facts, method != "functional-as-published"
        weight = max(math.isqrt(math.ceil(facts.norm * STEPS**2 / 2)), 1) if method == "adassp" else STEPS
        budget = facts.budget
        relation = budget.neighbours.relation
        self.moments = Moments(facts.columns, facts.norm, weight if facts.intercept else 0, weight, relation)
        size = len(self.moments.places[0])
        if not self.repair:
            full = 2 * (facts.size + 1) ** 2 * STEPS**2
            self.noise = budget.noise(Fraction(full), size)
        else:
            self.noise = budget.noise(self.moments.l1 if budget.kind == "laplace" else self.moments.l2, size)
        self.event = self.noise.event
        self.spread = deviation_of(self.noise) / STEPS**2
        self.doubt = facts.beside_rows(6 * self.spread * math.sqrt(facts.columns))

    def release(self, given: LinearRows, source: Source) -> Floats:
        """Release the moments."""
        moments = self.moments
        steps = np.trunc(given.target * moments.target).astype(np.int64)
        sums = moments.sum_up(in_steps(given.features), steps)
        twice = 1 if self.repair else np.where(moments.places[0] == moments.places[1], 1, 2)
        return np.asarray(np.asarray(self.noise.release(sums * twice, source).value) / twice)

    def read_sums(self, noisy: Floats) -> Quadratic:
        """Put the moments in their places."""
        return self.moments.place(noisy, self.facts.likely or self.facts.rows, self.spread)


class Output(Route):
    """Noise on the weights of a ridge regression of (1/2) sum r^2 + (a/2) |t|^2 (Chaudhuri et al. 2011).

    The minimum is t = (V'V + a)^-1 V'y, and s/(s^2 + a) <= 1/(2 sqrt(a)) for every singular value s of V, so |t| <=
    sqrt(n/a)/2 and a row's gradient there is at most R (1 + R |t|). Replacing a row moves the minimum of an a-strongly
    convex function by at most 2 R (1 + R sqrt(n/a)/2) / a in l2, sqrt(p) times that in l1; adding or removing one,
    whose gradient is all that changes, by half of it. The printed bound has |t| <= sqrt(n/a), from a/2 |t|^2 <= n/2. It
    grows with n without end, so where n is private it is taken for the most rows that were declared. Round-off:
    Cholesky solves a system within 4 p (3p + 1) u of this one (Higham 2002, Theorem 10.4).
    """

    def __init__(self, facts: LinearFacts) -> None:
        if facts.ridge <= 0:
            raise ParameterError("Output perturbation needs a ridge: use Ridge with alpha above 0, or another method.")
        _require_declared(facts, "output")
        self.facts = facts
        kind, size = facts.budget.kind, facts.size
        if not is_soluble(size, self._condition()):
            raise ParameterError("alpha is too small for so many rows to be solved surely in floats; raise alpha.")
        exactly = ridge_sensitivity(facts.rows, facts.ridge, facts.length) / (1 if facts.replaced else 2)
        sensitivity = exactly + 2 * self._round_off()
        if kind == "laplace":
            sensitivity *= root_above(Fraction(size))
        self.noise: Any = facts.budget.noise(sensitivity, size)
        self.event = self.noise.event
        self.doubt = deviation_of(self.noise) * math.sqrt(size)

    def _round_off(self) -> Fraction:
        size, ridge = self.facts.size, self.facts.ridge
        return Fraction(2.0**-50 * size * (3 * size + 2) * self._condition() * math.sqrt(self.facts.rows / ridge))

    def _condition(self) -> float:
        """The largest condition number of any table of this shape."""
        ridge = self.facts.ridge
        return (self.facts.rows * float(self.facts.length) ** 2 + ridge) / ridge

    def learn(self, given: LinearRows, source: Source) -> LinearWeights:
        """Solve exactly summed normal equations, and add noise; the penalty is the ridge on the scaled weights."""
        from scipy.linalg import cho_factor, cho_solve

        facts = self.facts
        moments = Moments(facts.columns, facts.norm, STEPS * facts.intercept, STEPS, Relation.ADD_OR_REMOVE_ONE)
        sums = moments.sum_up(in_steps(given.features), in_steps(given.target)) / STEPS**2
        matrix = np.zeros((facts.size + 1, facts.size + 1))
        matrix[moments.places] = sums
        gram = (matrix + matrix.T - np.diag(np.diag(matrix)))[: facts.size, : facts.size]
        found = cho_solve(cho_factor(gram + facts.ridge * np.eye(facts.size)), matrix[: facts.size, -1])
        return LinearWeights(*facts.split(np.asarray(self.noise.release(found, source).value)))


class Perturbed(Route):
    """Objective perturbation of squared residuals, continued linearly beyond half the target's range (Huber)."""

    def __init__(self, facts: LinearFacts) -> None:
        self.facts = facts
        length = float(facts.length) * (1 + 1e-12)
        across = min(facts.columns, math.sqrt(facts.columns * facts.norm) * (1 + 1e-12)) + facts.intercept
        self.objective = Objective(facts.rows, facts.size, length, across, _RESIDUAL, 1.0, facts.ridge, facts.budget)
        self.event = self.objective.event
        self.doubt = facts.beside_rows(3 * self.objective.deviation * math.sqrt(facts.size))

    def learn(self, given: LinearRows, source: Source) -> LinearWeights:
        """Minimise the tilted objective."""

        def slopes(fitted: Floats) -> tuple[Floats, Floats, Floats]:
            residual = fitted - given.target
            first = np.clip(residual, -_RESIDUAL, _RESIDUAL)
            return first * (residual - first / 2), first, (np.abs(residual) <= _RESIDUAL).astype(float)

        rows = self.facts.with_constant(given.features)
        return LinearWeights(*self.facts.split(self.objective.minimize(rows, slopes, source)))


class NoisyCells(Sums):
    """Noise on a histogram of features and target; the model is that of the noisy cells (Lei 2011)."""

    def __init__(self, facts: LinearFacts) -> None:
        _require_declared(facts, "input")
        self.facts = facts
        self.grid = CellGrid.fitting(facts.likely or facts.rows, facts.columns + 1)
        self.noise = self.grid.noise(facts.budget)
        self.event = self.noise.event
        self.doubt = facts.beside_rows(deviation_of(self.noise) * math.sqrt(self.grid.cells))

    def release(self, given: LinearRows, source: Source) -> Floats:
        """Release the histogram."""
        counts = self.grid.counts(np.column_stack([given.features, given.target]))
        return np.asarray(self.noise.release(counts, source).value, dtype=float)

    def read_sums(self, noisy: Floats) -> Quadratic:
        """Sum over the middles of cells, however many rows each is said to have."""
        rows = self.grid.centres()
        sums, middle = (rows * noisy[:, None]).T @ rows, rows.T @ noisy
        along = middle[:-1] if self.facts.intercept else None
        return Quadratic(sums[:-1, :-1], sums[:-1, -1], along, float(middle[-1]), max(float(noisy.sum()), 1.0), 0.0)

    def minimize(self, noisy: Floats, penalty: Penalty, times: float = 1.0) -> tuple[Floats, float]:
        """Fit the cells that are not said to have less than no row."""
        return super().minimize(np.maximum(noisy, 0.0), penalty, times)


def is_soluble(size: int, condition: float) -> bool:
    """Whether floats surely solve every system of so many unknowns and at most this condition number."""
    return 2.0**-50 * size * (3 * size + 2) * condition <= _SOLUBLE


def ridge_sensitivity(rows: int, ridge: float, length: Fraction = Fraction(1), *, as_printed: bool = False) -> Fraction:
    """How far one replaced row moves the weights in l2: 2 R (1 + R sqrt(n/a)/2) / a; printed without the half."""
    weight = Fraction(ridge)
    longest = root_above(rows / weight) / (1 if as_printed else 2)
    return 2 * length * (1 + length * longest) / weight


def noise_kind(method: str, size: int, epsilon: Fraction, delta: Fraction) -> Kind:
    """Which noise a method uses with so many weights: the one of less deviation where there is a choice."""
    if method == "adassp":
        if not delta:
            raise ParameterError(
                "'adassp' adds Gaussian noise, which needs a delta above 0; or say method='functional'."
            )
        return "gaussian"
    if method == "functional":
        return lesser_noise((size + 1) * (size + 2) / 2, size + 1, epsilon, delta)
    return lesser_noise(math.sqrt(size), 1, epsilon, delta) if method == "output" else "laplace"


def route(method: str, facts: LinearFacts, ridges: Sequence[float] = ()) -> Route | Contested:
    """Make the route of this name, with a contest if there are several ridges and no sums to choose by."""
    if len(ridges) > 1 and method not in RELEASED:
        return _contest(method, facts, ridges)
    made: dict[str, Callable[[LinearFacts], Route]] = {"objective": Perturbed, "output": Output, "input": NoisyCells}
    return made[method](facts) if method in made else Statistics(facts, method)


def _contest(method: str, facts: LinearFacts, ridges: Sequence[float]) -> Contested:
    if method == "functional-as-published":
        raise ParameterError("'functional-as-published' has a public alpha; give a number, or use 'functional'.")
    again = method == "objective"
    budget = each_of(1 + again, facts.budget, lambda *amounts: noise_kind(method, facts.size, *amounts))

    def make(rows: int, likely: int | None, ridge: float) -> Any:
        return route(method, replace(facts, rows=rows, likely=likely, ridge=ridge, budget=budget))

    return Contested(make, squared_residuals, facts.rows, ridges, budget, again=again, likely=facts.likely)


def squared_residuals(model: LinearWeights, given: LinearRows) -> Floats:
    """The squared residual of every row over 4, the fitted value moved into [-1, 1]: between 0 and 1."""
    fitted = np.clip((given.features * model.weights).sum(axis=1) + model.constant, -1.0, 1.0)
    return np.asarray((fitted - given.target) ** 2 / 4)


def _require_declared(facts: LinearFacts, method: str) -> None:
    require_declared(facts.budget.neighbours.relation, facts.likely, f"The method {method!r}")
