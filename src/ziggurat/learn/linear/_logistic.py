"""Logistic regression to publish: the weights leave, protected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ziggurat.errors import ParameterError
from ziggurat.learn._base import PrivateModel
from ziggurat.learn._bounds import histogram_noise, learn_bounds
from ziggurat.learn._budget import FitBudget, Kind, about_rows, deviation_of, exact_share, lesser_noise, warn_of_noise
from ziggurat.learn._choosing import Contested, each_of, is_private, public_grid
from ziggurat.learn._classes import Labels, code_labels, public_classes
from ziggurat.learn._clipping import (
    Floats,
    Integers,
    Scale,
    as_learned,
    check_pairs,
    check_rows,
    exact_norm,
    norm_squared,
    read_bounds,
    root_above,
    shorten,
)
from ziggurat.learn._storage import StoredModel
from ziggurat.learn.linear._methods import LinearFacts, is_soluble
from ziggurat.learn.linear._objective import Objective, Slopes, newton, precision
from ziggurat.mechanisms import AdditiveNoise
from ziggurat.privacy import Amount, Event, RepeatedEvent, compose_events, exact_positive, whole_number
from ziggurat.privacy.accounting import Size, fewest_rows
from ziggurat.randomness import Source

_METHODS = ("objective", "output")
_CURVATURE = 0.25  # of the loss, at most


def slopes_for(signs: Floats) -> Slopes:
    """The loss log(1 + e^(-s f)) of fitted values f; its slope is at most 1 and its curvature at most 1/4."""

    def slopes(fitted: Floats) -> tuple[Floats, Floats, Floats]:
        chance = expit(-signs * fitted)
        return np.logaddexp(0.0, -signs * fitted), -signs * chance, chance * (1 - chance)

    return slopes


@dataclass(frozen=True)
class LogisticRows:
    """What is private: scaled rows with their constant, and for every problem the side that each row is on."""

    rows: Floats
    signs: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, places: Integers) -> LogisticRows:
        """These rows alone."""
        return LogisticRows(self.rows[places], self.signs[:, places])


class LogisticWeights(NamedTuple):
    """Scaled weights, protected, and the place of the ridge that was chosen."""

    weights: Floats
    place: int = 0


class TiltedObjective:
    """Objective perturbation, one problem after the other, each with its part of epsilon and delta."""

    def __init__(self, facts: LinearFacts, problems: int) -> None:
        self.facts, budget = facts, facts.budget
        each = FitBudget(budget.epsilon / problems, budget.delta / problems, "laplace", budget.neighbours, budget.share)
        across = min(facts.columns, math.sqrt(facts.columns * facts.norm) * (1 + 1e-12)) + facts.intercept
        length = float(facts.length) * (1 + 1e-12)
        self.objective = Objective(facts.rows, facts.size, length, across, 1.0, _CURVATURE, facts.ridge, each)
        once = self.objective.event
        self.event: Event = once if problems == 1 else RepeatedEvent(once.neighbours, once, problems)
        self.doubt = facts.beside_rows(12 * self.objective.deviation * math.sqrt(facts.size))

    def learn(self, given: LogisticRows, source: Source) -> LogisticWeights:
        """Give a row of weights for every problem."""
        minimised = self.objective.minimize
        return LogisticWeights(np.stack([minimised(given.rows, slopes_for(signs), source) for signs in given.signs]))


class Added:
    """Output perturbation of all problems at once.

    A replaced row changes the gradient of each problem by at most 2R, and so its minimum by 2R/ridge in l2 (Chaudhuri,
    Monteleoni & Sarwate 2011, with R = 1 and ridge = n lambda), a row added or removed by R and R/ridge, as the sum of
    losses knows no number of rows: sqrt(k) times that for k problems together. The noise
    is Gaussian, or Laplace in every coordinate with k sqrt(p) times as much in l1: the published noise, whose norm is
    Gamma distributed, has no exact sampler here. A ridge beside which floats lose the rows is refused by public facts:
    a solver that gives up on some tables tells them apart.
    """

    def __init__(self, facts: LinearFacts, problems: int) -> None:
        if not is_soluble(facts.size, _CURVATURE * facts.rows * float(facts.length) ** 2 / facts.ridge + 1):
            raise ParameterError("C is too large to be solved surely in floats; lower C, or declare expected_rows.")
        self.facts, numbers = facts, problems * facts.size
        changed = 2 if facts.replaced else 1
        exactly = changed * facts.length / Fraction(facts.ridge) + 2 * Fraction(2 * self._tolerance / facts.ridge)
        several = problems**2 * facts.size if facts.budget.kind == "laplace" else problems
        self.noise: Any = facts.budget.noise(exactly * root_above(Fraction(several)), numbers)
        self.event: Event = self.noise.event
        self.doubt = deviation_of(self.noise) * math.sqrt(facts.size) / 4

    @property
    def _tolerance(self) -> float:
        return precision(self.facts.rows, float(self.facts.length))

    def learn(self, given: LogisticRows, source: Source) -> LogisticWeights:
        """Give a row of weights for every problem."""
        still, ridge = np.zeros(given.rows.shape[1]), self.facts.ridge
        found = [newton(given.rows, slopes_for(signs), ridge, still, self._tolerance) for signs in given.signs]
        return LogisticWeights(np.asarray(self.noise.release(np.stack(found), source).value))


def wrongly_named(model: LogisticWeights, given: LogisticRows) -> Floats:
    """1 for every row whose most likely class is another than its own, else 0."""
    values = np.stack([(given.rows * each).sum(axis=1) for each in model.weights])
    one = len(values) == 1
    named, truth = (each[0] > 0 if one else each.argmax(axis=0) for each in (values, given.signs))
    return np.asarray(named != truth, dtype=np.float64)


def _kind(method: str, problems: int, size: int, epsilon: Fraction, delta: Fraction) -> Kind:
    """Which noise a method uses; objective perturbation finds out itself."""
    if method == "objective":
        return "laplace"
    return lesser_noise(problems * math.sqrt(size), math.sqrt(problems), epsilon, delta)


def _way(method: str, facts: LinearFacts, problems: int) -> TiltedObjective | Added:
    return TiltedObjective(facts, problems) if method == "objective" else Added(facts, problems)


def _contest(method: str, facts: LinearFacts, problems: int, ridges: Sequence[float]) -> Contested:
    """One of several ridges, chosen by how many rows are named wrongly."""
    again = method == "objective"
    budget = each_of(1 + again, facts.budget, lambda *amounts: _kind(method, problems, facts.size, *amounts))

    def make(rows: int, likely: int | None, ridge: float) -> TiltedObjective | Added:
        return _way(method, replace(facts, rows=rows, likely=likely, ridge=ridge, budget=budget), problems)

    return Contested(make, wrongly_named, facts.rows, ridges, budget, again=again, likely=facts.likely)


@dataclass(frozen=True)
class LogisticPlan:
    """What a fit will do: noise for bounds that have to be paid for, and a way to the weights."""

    facts: LinearFacts
    bounds_noise: AdditiveNoise | None
    way: TiltedObjective | Added | Contested

    @property
    def event(self) -> Event:
        """What both cost."""
        return (
            self.way.event if self.bounds_noise is None else compose_events([self.bounds_noise.event, self.way.event])
        )


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(StoredModel, ClassifierMixin, PrivateModel):  # type: ignore[misc]  # scikit-learn has no types
    """Logistic regression, protected; more than two classes are told apart one against the rest.

    Formal guarantee: (epsilon, delta)-differential privacy for a row, add-or-remove-one by default (the number of rows
    is private) or replace-one; pure for delta 0. Features are moved into public bounds, scaled to [-1, 1] and joined by
    a constant 1; the model minimises the sum, not the mean, of losses plus |t|^2 / (2C), the intercept in t included.
    By `method`:

    - "objective" (default): a random linear term in the objective and at least the regularisation that the proof
      needs (Chaudhuri et al. 2011; Kifer, Smith & Thakurta 2012; conditions and proof in `_objective`). Several classes
      share epsilon and delta.
    - "output": noise on the weights of l2 sensitivity 2 C R, R the largest norm of a scaled row; for R = 1 and
      1/C = n lambda that is 2/(n lambda) (Chaudhuri et al. 2011). C R under add-or-remove-one.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth).
    C
        The inverse of the regularisation, as in scikit-learn but for scaled features: a public number, or "private" to
        choose one of `Cs` by a contest on disjoint parts (proof in `_choosing`): half of epsilon and delta goes to it,
        or all with "output", where the winner is the model.
    Cs
        The public list that C is chosen from where it is "private"; a part of the rows is dealt to each, so keep it
        short.
    method
        One of the above.
    classes
        The classes, which must be public: a list, or a number k for the labels 0 to k - 1.
    bounds, bounds_share, clip_norm, fit_intercept, relation, random_state
        As for `Ridge`; what is scaled is the same.
    expected_rows
        Under add-or-remove-one about how many rows there are: a public number, never counted for this, which nothing
        needs. With it a warning can tell of too much noise, and less hides the round-off of the solver, of which the
        promise covers up to twice as many rows (2**20 without it); more are refused.

    Attributes
    ----------
    classes_
        The labels in order.
    coef_, intercept_
        The model in the units of the data, for rows within the bounds and `clip_norm`: a row for two classes, else
        one for each.
    C_
        The inverse of the regularisation that was used, given or chosen.
    bounds_
        The lower and the upper bounds of the features, declared or bought.
    n_features_in_
        How many columns the rows have.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

    epsilon: Amount = 1
    delta: Amount = "1e-6"
    C: float | str = 1.0
    Cs: Any = (0.001, 0.01, 0.1, 1.0)
    method: str = "objective"
    classes: Any = None
    bounds: Any = None
    bounds_share: Amount = "0.1"
    clip_norm: Amount | None = None
    fit_intercept: bool = True
    relation: str = "add-or-remove-one"
    expected_rows: int | None = None
    random_state: int | None = None

    C_: float = field(init=False)
    bounds_: Floats = field(init=False)
    clip_norm_: Fraction | None = field(init=False)
    classes_: Labels = field(init=False)
    coef_: Floats = field(init=False)
    intercept_: Floats = field(init=False)
    n_features_in_: int = field(init=False)

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting a table of this shape will cost; nothing is read."""
        return self._plan(rows, whole_number(columns, "columns"), public_classes(self.classes).size).event

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from private rows.

        Parameters
        ----------
        X
            Features, a row for each record; values outside the bounds are moved to them.
        y
            A label for each row.

        Raises
        ------
        ParameterError
            If a parameter is wrong.
        DataError
            If the rows are not a table of finite numbers with a label each; no cell is shown.
        """
        features, codes = self._check_rows(X, y)
        classes = public_classes(self.classes)
        rows, columns = features.shape
        plan, source = self._plan(rows, columns, classes.size), self._source()
        warn_of_noise(self._epsilon, plan.facts.likely, columns, plan.way.doubt)
        scale = self._scale(features, plan.bounds_noise, source)
        scaled = shorten(scale.scale(features), exact_norm(self.clip_norm))
        against = [1] if classes.size == 2 else range(classes.size)
        signs = np.stack([np.where(codes == code, 1.0, -1.0) for code in against])
        weights, place = plan.way.learn(LogisticRows(plan.facts.with_constant(scaled), signs), source)
        self._map_back(weights, scale)
        self.classes_, self.C_ = classes, self._candidates()[place]
        self._note_release(plan.event, source)
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return the log odds of the second of two classes, or of every class against the rest.

        Rows are moved into the bounds and shortened to `clip_norm`, as those were that were learned from.
        """
        check_is_fitted(self)
        rows = as_learned(Scale(*self.bounds_), check_rows(self, X), self.clip_norm_)
        values = rows @ self.coef_.T + self.intercept_
        return np.asarray(values[:, 0] if len(self.classes_) == 2 else values)

    def predict(self, X: Any) -> Labels:  # noqa: N803
        """Return the most likely class of every row."""
        values = self.decision_function(X)
        named = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[named])

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of every class; of several, in proportion to their probabilities against the rest."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([expit(-values), expit(values)])
        return np.asarray(softmax(log_expit(values), axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_rows(self, X: Any, y: Any) -> tuple[Floats, Integers]:  # noqa: N803
        features, labels = check_pairs(self, X, y, numeric=False, least=fewest_rows(self.relation))
        Size.of(self.relation, len(features), self.expected_rows).require(len(features))
        return features, code_labels(labels, public_classes(self.classes))

    def _plan(self, rows: int, columns: int, classes: int) -> LogisticPlan:
        if self.method not in _METHODS:
            raise ParameterError("The method of LogisticRegression must be 'objective' or 'output'.")
        problems, size = 1 if classes == 2 else classes, columns + bool(self.fit_intercept)
        ridges = [1 / weight for weight in self._candidates()]
        # A contest uses delta up, so bounds beside it must be pure.
        contest = len(ridges) > 1
        kind = "laplace" if contest else _kind(self.method, problems, size, self._epsilon, self._delta)
        main = FitBudget(self._epsilon, self._delta, kind, about_rows(self.relation))
        likely, most = Size.of(self.relation, rows, self.expected_rows)
        bounds_noise = None
        if self.bounds is None:
            paid, main = main.split(exact_share(self.bounds_share))
            bounds_noise = histogram_noise(columns, paid)
        norm = norm_squared(exact_norm(self.clip_norm), columns)
        facts = LinearFacts(most, columns, norm, bool(self.fit_intercept), ridges[0], main, likely)
        if contest:
            return LogisticPlan(facts, bounds_noise, _contest(self.method, facts, problems, ridges))
        return LogisticPlan(facts, bounds_noise, _way(self.method, facts, problems))

    def _candidates(self) -> tuple[float, ...]:
        """C, or the values that it is chosen from."""
        if not is_private(self.C):
            return (float(exact_positive(self.C, "C")),)
        grid = public_grid(self.Cs, "Cs")
        if not grid[0]:
            raise ParameterError("Every one of Cs must be greater than 0.")
        return grid

    def _scale(self, features: Floats, noise: AdditiveNoise | None, source: Source) -> Scale:
        if noise is not None:
            found = learn_bounds(features, noise, source)
        else:
            found = read_bounds(self.bounds, features.shape[1], "bounds")
        return found if self.fit_intercept else found.around_zero()

    def _map_back(self, weights: Floats, scale: Scale) -> None:
        self.bounds_, self.clip_norm_ = np.stack([scale.lower, scale.upper]), exact_norm(self.clip_norm)
        self.coef_ = np.asarray(weights[:, : self.n_features_in_] / scale.half)
        moved = self.coef_ @ scale.centre
        self.intercept_ = weights[:, -1] - moved if self.fit_intercept else np.zeros(len(weights))
