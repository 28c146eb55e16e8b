"""Linear models to publish: the weights leave, protected."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ziggurat.errors import ParameterError
from ziggurat.learn._base import PrivateModel
from ziggurat.learn._bounds import histogram_noise, learn_bounds
from ziggurat.learn._budget import FitBudget, about_rows, exact_share, warn_of_noise
from ziggurat.learn._choosing import Contested, is_private, public_grid, weight_of
from ziggurat.learn._clipping import (
    Floats,
    Scale,
    as_learned,
    check_pairs,
    check_rows,
    exact_norm,
    norm_squared,
    read_bounds,
    shorten,
)
from ziggurat.learn._storage import StoredModel
from ziggurat.learn.linear._methods import METHODS, RELEASED, LinearFacts, LinearRows, Route, noise_kind, route
from ziggurat.learn.linear._quadratic import Penalty
from ziggurat.mechanisms import AdditiveNoise
from ziggurat.privacy import Amount, Event, compose_events, whole_number
from ziggurat.privacy.accounting import Size, fewest_rows, require_declared
from ziggurat.randomness import Source

_UP_TO_SOME_ROWS = ("objective", "output")


@dataclass(frozen=True)
class LinearPlan:
    """What a fit will do: noise for the bounds that have to be paid for, and a route to the weights."""

    bounds_noise: AdditiveNoise | None
    route: Route | Contested

    @property
    def event(self) -> Event:
        """What both cost."""
        paid = [] if self.bounds_noise is None else [self.bounds_noise.event]
        return compose_events([*paid, self.route.event]) if paid else self.route.event


@dataclass(eq=False, repr=False, kw_only=True)
class _LinearModel(StoredModel, RegressorMixin, PrivateModel):  # type: ignore[misc]  # scikit-learn has no types
    """What linear models share."""

    epsilon: Amount = 1
    delta: Amount = "1e-6"
    method: str = "adassp"
    bounds: Any = None
    y_bounds: Any = None
    bounds_share: Amount = "0.1"
    clip_norm: Amount | None = None
    fit_intercept: bool = True
    relation: str = "add-or-remove-one"
    expected_rows: int | None = None
    random_state: int | None = None

    _methods: ClassVar[tuple[str, ...]] = METHODS
    bounds_: Floats = field(init=False)
    clip_norm_: Fraction | None = field(init=False)
    coef_: Floats = field(init=False)
    intercept_: float = field(init=False)
    n_features_in_: int = field(init=False)

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting a table of this shape will cost; nothing is read."""
        return self._plan(rows, whole_number(columns, "columns")).event

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - as in scikit-learn
        """Learn from private rows.

        Parameters
        ----------
        X
            Features, a row for each record; values outside the bounds are moved to them.
        y
            A number for each row.

        Raises
        ------
        ParameterError
            If a parameter is wrong, or the method cannot keep a promise with these.
        DataError
            If the rows are not a table of finite numbers; no cell is shown.
        """
        candidates = self._candidates()
        features, target = self._check_rows(X, y)
        plan, source = self._plan(*features.shape), self._source()
        warn_of_noise(self._epsilon, self._size(len(features)).likely, features.shape[1], plan.route.doubt)
        scale, aim = self._scales(features, target, plan.bounds_noise, source)
        scaled = shorten(scale.scale(features), exact_norm(self.clip_norm))
        ready = aim.scale(target[:, None])[:, 0]
        penalties = tuple(self._penalty(weight, scale, aim) for weight in candidates)
        weights, constant, place = plan.route.learn(LinearRows(scaled, ready, penalties), source)
        self._map_back(weights, constant, scale, aim)
        self._note(candidates[place])
        self._note_release(plan.event, source)
        return self

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """Return the fitted value of every row, moved and shortened as the rows were that were learned from."""
        check_is_fitted(self)
        inside = as_learned(Scale(*self.bounds_), check_rows(self, X), self.clip_norm_)
        return np.asarray(inside @ self.coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _check_rows(self, X: Any, y: Any) -> tuple[Floats, Floats]:  # noqa: N803
        features, target = check_pairs(self, X, y, numeric=True, least=fewest_rows(self.relation))
        if self.method in _UP_TO_SOME_ROWS:
            self._size(len(features)).require(len(features))
        return features, target

    def _size(self, rows: int) -> Size:
        return Size.of(self.relation, rows, self.expected_rows)

    def _candidates(self) -> tuple[float, ...]:
        """The weight of the penalty, or those that one is chosen from."""
        return (0.0,)

    def _weigh_penalty(self, weight: float) -> tuple[float, float]:
        """The weights of squares and of absolute values, as scikit-learn counts them for squared residuals."""
        return weight, 0.0

    def _note(self, weight: float) -> None:
        """Keep the weight that was used."""

    def _per_row(self) -> bool:
        """Whether these weights are for the mean of squared residuals rather than their sum."""
        return False

    def _penalty(self, weight: float, scale: Scale, aim: Scale) -> Penalty:
        """The penalty on scaled weights that is the one asked for on the published ones."""
        square, absolute = self._weigh_penalty(weight)
        return Penalty(square / scale.half**2, absolute / (scale.half * aim.half[0]), self._per_row())

    def _plan(self, rows: int, columns: int) -> LinearPlan:
        if self.method not in self._methods:
            raise ParameterError(f"The method of {type(self).__name__} must be one of {', '.join(self._methods)}.")
        size = columns + bool(self.fit_intercept)
        ridges = [self._weigh_penalty(weight)[0] for weight in self._candidates()]
        # A contest uses delta up, so bounds beside it must be pure.
        contest = len(ridges) > 1 and self.method not in RELEASED
        kind = "laplace" if contest else noise_kind(self.method, size, self._epsilon, self._delta)
        main = FitBudget(self._epsilon, self._delta, kind, about_rows(self.relation))
        likely, most = self._size(rows)
        unknown = (columns if self.bounds is None else 0) + (self.y_bounds is None)
        bounds_noise = None
        if unknown:
            paid, main = main.split(exact_share(self.bounds_share))
            bounds_noise = histogram_noise(unknown, paid)
        if self._per_row() and not self.fit_intercept:
            require_declared(self.relation, likely, "A penalty beside the mean, without an intercept,")
        norm = norm_squared(exact_norm(self.clip_norm), columns)
        facts = LinearFacts(most, columns, norm, bool(self.fit_intercept), ridges[0], main, likely)
        return LinearPlan(bounds_noise, route(self.method, facts, ridges))

    def _scales(
        self, features: Floats, target: Floats, noise: AdditiveNoise | None, source: Source
    ) -> tuple[Scale, Scale]:
        """Give the bounds of the features and of the target; those that were not declared are bought together."""
        columns = features.shape[1]
        scale = None if self.bounds is None else read_bounds(self.bounds, columns, "bounds")
        aim = None if self.y_bounds is None else read_bounds(self.y_bounds, 1, "y_bounds")
        if noise is not None:
            parts = ([] if scale else [features]) + ([] if aim else [target[:, None]])
            bought = learn_bounds(np.hstack(parts), noise, source)
            scale = scale or Scale(bought.lower[:columns], bought.upper[:columns])
            aim = aim or Scale(bought.lower[-1:], bought.upper[-1:])
        if scale is None or aim is None:
            raise ParameterError("Bounds that are not declared have to be paid for.")
        return (scale, aim) if self.fit_intercept else (scale.around_zero(), aim.around_zero())

    def _map_back(self, weights: Floats, constant: float, scale: Scale, aim: Scale) -> None:
        self.bounds_, self.clip_norm_ = np.stack([scale.lower, scale.upper]), exact_norm(self.clip_norm)
        self.coef_ = np.asarray(weights * aim.half[0] / scale.half)
        level = aim.centre[0] + aim.half[0] * constant - self.coef_ @ scale.centre
        self.intercept_ = float(level) if self.fit_intercept else 0.0


_SHARED = """
    Formal guarantee: (epsilon, delta)-differential privacy for a row, add-or-remove-one by default (the number of rows
    is private, and counted among the noisy sums where it is needed), or replace-one. Features and target are moved into
    public bounds and scaled to [-1, 1], and a constant is added for the intercept. Then, by `method`:

    - "adassp" (default; delta > 0): Gaussian noise on the sums of products, exactly calibrated, constant and target
      weighing u^2 = w^2 = d/2: of l2 sensitivity d + u^2 + w^2 = 2d under replace-one, sqrt(2 d^2 + d/2) under
      add-or-remove-one. Proof in `_moments`; Wang (2018).
    - "functional": Laplace noise of l1 sensitivity D(D+1)/2 (1 less under add-or-remove-one), D = d + 2 with an
      intercept, or Gaussian noise of l2 sensitivity D, whichever is less (Zhang et al. 2012, exact sensitivities).
    - "functional-as-published": noise of the printed sensitivity 2 D^2 and no repair of convexity, for comparison;
      where noise leaves no minimum, a warning says so, and scaled weights stop at a million.
    - "input": Laplace noise on a histogram of all columns, few as they must be, of l1 sensitivity 2, or 1 under
      add-or-remove-one, where the width of its cells needs `expected_rows` (Lei 2011).{more}

    Whatever happens to noisy sums (symmetry, convexity, the minimum) is post-processing.

    Parameters
    ----------{weights}
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth).
    method
        One of the above.
    bounds, y_bounds
        Public (lower, upper): numbers, or one for every column. None buys them with `bounds_share` of the budget.
    bounds_share
        The part of the budget that bounds cost where they are not declared.
    clip_norm
        The largest l2 norm of a row after scaling to [-1, 1]; longer rows are shortened, in `fit` and in `predict`.
        Less than sqrt(d) means less noise.
    fit_intercept
        Whether there is an intercept; without, bounds are widened to lie around 0.
    relation
        "add-or-remove-one", or "replace-one" (the number of rows is public).
    expected_rows
        Under add-or-remove-one about how many rows there are: a public number, never counted for this. With it a
        warning can tell of too much noise. "output" and "input" need it, and so does a mean of residuals without an
        intercept; "objective" and "output" are proven up to twice as many rows (2**20 without it) and refuse more.
    random_state
        None for secure randomness; a whole number makes a rehearsal, which must not be published.

    Attributes
    ----------
    coef_, intercept_
        The model, in the units of the data, for rows within the bounds and `clip_norm`.{chosen}
    bounds_
        The lower and the upper bounds of the features, declared or bought.
    n_features_in_
        How many columns the rows have.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

PRIVATELY = """
    alphas
        The public weights that one is chosen from, where alpha is "private"; None for {grid}.
        The methods that release sums choose by them, at no further cost. "objective" holds a contest on disjoint parts
        for half of epsilon and delta; with "output" the winner of one is the model. Proofs in `_choosing`."""

CHOSEN = """
    alpha_
        The weight that was used, given or chosen."""

_ROUGHER = """
    - "objective": a random linear term in the objective (Kifer, Smith & Thakurta 2012; proof in `_objective`), squared
      residuals counting linearly beyond half the target's range. There {what}."""

_OUTPUT = """
    - "output": noise on the weights, of l2 sensitivity 2 R (1 + R sqrt(n/alpha)/2) / alpha, R the largest norm of a
      scaled row; half of the usual bound for large n/alpha, by a sharper bound on the weights. Half of that under
      add-or-remove-one, with twice `expected_rows` for n."""


class LinearRegression(_LinearModel):
    __doc__ = "Least squares, protected.\n" + _SHARED.format(
        weights="", more=_ROUGHER.format(what="a ridge is added, as small as the proof allows"), chosen=""
    )
    _methods = tuple(name for name in METHODS if name != "output")


@dataclass(eq=False, repr=False, kw_only=True)
class Weighted(_LinearModel):
    """A linear model whose penalty has a weight `alpha`, public or chosen privately."""

    _grid: ClassVar[tuple[float, ...]] = (1.0, 10.0, 100.0, 1000.0, 10000.0)
    alpha: float | str = field(default=1.0, kw_only=False)
    alphas: Any = None

    alpha_: float = field(init=False)

    def _candidates(self) -> tuple[float, ...]:
        if not is_private(self.alpha):
            return (weight_of(self.alpha),)
        return self._grid if self.alphas is None else public_grid(self.alphas, "alphas")

    def _note(self, weight: float) -> None:
        self.alpha_ = weight


class Ridge(Weighted):
    __doc__ = "Least squares with a penalty alpha |coef|^2, protected.\n" + _SHARED.format(
        weights="\n    alpha\n        The weight of squared `coef_`, beside the sum of squared residuals: a number,"
        '\n        public, or "private" to choose one of `alphas`.'
        + PRIVATELY.format(grid="1, 10, 100, 1000 and 10000"),
        more=_ROUGHER.format(what="as in output perturbation alpha weighs the scaled weights, intercept included")
        + _OUTPUT,
        chosen=CHOSEN,
    )
