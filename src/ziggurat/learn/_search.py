"""A search that pays for all of its fits and for its choice.

Every candidate is fitted on all rows, each for its part of epsilon and delta, and one is chosen by errors between 0 and
1 a row. Given the fitted models, which are protected, a row moves each candidate's sum of errors by at most 1, so the
choice by permute-and-flip (McKenna & Sheldon 2020) is a release of its own; candidates and choice compose adaptively
(Dwork & Roth 2014, Theorem 3.16), for the unit and the relation of the candidates. All of it is released, so that
`best_estimator_`, which was fitted on all rows already, is post-processing. There is no refit.

How much each candidate may cost: with delta/k each, epsilon is raised in steps until all events together would cost
more than was given, so that Gaussian noise, whose cost grows with the root of k, is used up; the sum rule is where that
starts. Nothing but public facts decides.

Rounding: whether a row is named wrongly may hinge on a float's last bit, which a matrix product may compute otherwise
in a table of another length. Models are therefore asked in blocks of one length. That the place in a block then makes
no difference is an assumption on the kernels.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, is_classifier, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ziggurat.errors import NotPublicError, ParameterError, PrivacyError
from ziggurat.learn._base import PrivateModel
from ziggurat.learn._budget import FitBudget, exact_share
from ziggurat.learn._choosing import covering, scores
from ziggurat.learn._clipping import STEPS, Floats, check_pairs, check_rows, read_bounds
from ziggurat.mechanisms import Selection
from ziggurat.privacy import Amount, Event, Relation, compose, compose_events, whole_number
from ziggurat.privacy.accounting import fewest_rows
from ziggurat.randomness import Source

_OWN = ("epsilon", "delta", "random_state")
_BLOCK = 1024
_STEPS_UP = 32


@dataclass(frozen=True)
class SearchPlan:
    """What a search will do: candidates with their parts of epsilon and delta, and a choice among them."""

    candidates: tuple[Any, ...]
    fits: tuple[Event, ...]
    choice: Selection
    event: Event


def _best_has(name: str) -> Callable[[Any], bool]:
    return lambda search: hasattr(getattr(search, "best_estimator_", search.estimator), name)


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateSearch(MetaEstimatorMixin, PrivateModel):  # type: ignore[misc]  # scikit-learn has no types
    """Choose the parameters of a private model out of a grid, within one epsilon and delta.

    In place of `GridSearchCV`, which fits many times for nothing and chooses by exact scores of private rows.

    Formal guarantee: (epsilon, delta)-differential privacy for the unit and the relation of `estimator`, pure for delta
    0, for all fitted candidates and the choice together. Candidates have `1 - choice_share` of epsilon together and
    delta/k each, or more where their noise composes better; the choice has `choice_share` of epsilon, with scores that
    one row moves by at most 1. Proof: `_search`. Keep the grid short: what k candidates may cost is shared by all.

    Parameters
    ----------
    estimator
        A classifier or a regression of this package with public classes or `y_bounds`; its own epsilon, delta and
        random state are not used.
    param_grid
        Public lists of values by parameter, or a list of such grids, as in `GridSearchCV`; at least two candidates.
    epsilon, delta
        What the whole search may cost; exact ("0.1" is one tenth).
    scoring
        What is counted on every row: None for a wrong class, or of a regression the squared error over that of the
        whole width of `y_bounds`; "brier" for half the squared distance between probabilities and the truth, which
        sees more where a class is rare.
    choice_share
        The part of epsilon for the choice.
    random_state
        None for secure randomness; a whole number makes a rehearsal, which must not be published.

    Attributes
    ----------
    best_estimator_
        The model that was chosen, fitted on all rows; its `guarantee_` is that of the whole search.
    best_params_, best_index_
        Its parameters and its place among `candidates_`.
    candidates_
        The parameters of all candidates, in order.
    n_features_in_
        How many columns the rows have.
    event_, origin_
        What the search did and with which randomness, for the ledger.
    """

    estimator: Any = field(default=None, kw_only=False)
    param_grid: Any = field(default=None, kw_only=False)
    epsilon: Amount = 1
    delta: Amount = "1e-6"
    scoring: str | None = None
    choice_share: Amount = "0.2"
    random_state: int | None = None

    best_estimator_: Any = field(init=False)
    best_index_: int = field(init=False)
    best_params_: dict[str, Any] = field(init=False)
    candidates_: list[dict[str, Any]] = field(init=False)
    n_features_in_: int = field(init=False)

    def planned(self, rows: int, columns: int) -> Event:
        """Say what a search of a table of this public shape will cost; nothing is read."""
        return self._plan(whole_number(rows, "rows", 0), whole_number(columns, "columns")).event

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - as in scikit-learn
        """Fit every candidate on private rows, and choose one.

        Raises
        ------
        ParameterError
            If a parameter is wrong.
        DataError
            If the rows are not a table of finite numbers with a target each; no cell is shown.
        """
        table, target = self._check_rows(X, y)
        plan, source = self._plan(*table.shape), self._source()
        models = [self._seed(one, at, source).fit(table, target) for at, one in enumerate(plan.candidates)]
        if [model.event_ for model in models] != list(plan.fits):
            raise PrivacyError("A candidate did something else than was planned; do not release it.")
        errors = [self._errors(model, table, target) for model in models]
        self.best_index_ = int(plan.choice.release(scores(errors), source).value)
        self.best_estimator_, self.candidates_ = models[self.best_index_], self._grid()
        self.best_params_ = self.candidates_[self.best_index_]
        self._note_release(plan.event, source)
        self.best_estimator_._family = self.kin
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return what the chosen model says of every row."""
        return self._choose().predict(check_rows(self, X))

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """Return the probability of every class, by the chosen model."""
        return self._choose().predict_proba(check_rows(self, X))

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:  # noqa: N803
        """Return the decision values of the chosen model."""
        return self._choose().decision_function(check_rows(self, X))

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the exact score of the chosen model: not to be released unless these rows are public."""
        return float(self._choose().score(check_rows(self, X), y))

    @property
    def classes_(self) -> Any:
        """The labels in order, of a classifier."""
        return self.best_estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator) if self.estimator is not None else None
        tags.target_tags.required = True
        if inner is not None:
            tags.estimator_type = inner.estimator_type
            tags.classifier_tags = copy.deepcopy(inner.classifier_tags)
            tags.regressor_tags = copy.deepcopy(inner.regressor_tags)
        return tags

    def _check_rows(self, X: Any, y: Any) -> tuple[Floats, Any]:  # noqa: N803
        """Read the rows, and let every candidate look at them as it would before it learns."""
        self._require_settings()
        least = fewest_rows(getattr(self.estimator, "relation", Relation.REPLACE_ONE))
        table, target = check_pairs(self, X, y, numeric=is_regressor(self.estimator), least=least)
        for parameters in self._grid():
            self.estimator.fresh().set_params(**parameters).check(table, target)
        return table, target

    def _choose(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def _require_settings(self) -> None:
        given = self.estimator
        if not isinstance(given, PrivateModel) or not (is_classifier(given) or is_regressor(given)):
            raise ParameterError("Give a private classifier or regression of ziggurat.learn as the estimator.")
        if is_regressor(self.estimator) and getattr(self.estimator, "y_bounds", None) is None:
            raise NotPublicError("Declare the estimator's y_bounds, which the data may not tell for free.")
        known = (None, "brier") if hasattr(self.estimator, "predict_proba") else (None,)
        if self.scoring not in known:
            raise ParameterError('scoring must be None, or "brier" for a classifier that gives probabilities.')

    def _grid(self) -> list[dict[str, Any]]:
        from sklearn.model_selection import ParameterGrid

        try:
            found = list(ParameterGrid(self.param_grid))
        except (TypeError, ValueError):
            found = []
        if len(found) < 2 or any(name in _OWN for one in found for name in one):
            raise ParameterError(
                "param_grid must be public lists of values by parameter, with at least two candidates; epsilon, delta "
                "and random_state are those of the search."
            )
        return found

    def _plan(self, rows: int, columns: int) -> SearchPlan:
        """Share epsilon by the sum rule, and then more of it as long as all events together are affordable."""
        self._require_settings()
        share, count = exact_share(self.choice_share, "choice_share"), len(self._grid())
        together, each = self._epsilon * (1 - share), self._epsilon * (1 - share) / count
        candidates, fits = self._price(each, rows, columns)
        whom = fits[0].neighbours
        rising = whom.relation is Relation.ADD_OR_REMOVE_ONE  # another row adds errors to all
        choice = Selection(self._epsilon * share, STEPS, monotone=rising, neighbours=whom)
        stated = covering(fits, FitBudget(each, self._delta / count, "laplace", whom))
        plan = SearchPlan(candidates, fits, choice, compose_events([*[stated] * count, choice.event]))
        low, high = 0, _STEPS_UP
        while high - low > 1:
            middle = (low + high) // 2
            candidates, fits = self._price(each + (together - each) * Fraction(middle, _STEPS_UP), rows, columns)
            more = SearchPlan(candidates, fits, choice, compose_events([*fits, choice.event]))
            low, high, plan = (middle, high, more) if self._affords(more.event) else (low, middle, plan)
        return plan

    def _price(self, epsilon: Fraction, rows: int, columns: int) -> tuple[tuple[Any, ...], tuple[Event, ...]]:
        """The candidates at this epsilon each, and what each will cost."""
        grid = self._grid()
        given: dict[str, Any] = {"epsilon": epsilon}
        if "delta" in self.estimator.get_params(deep=False):
            given["delta"] = self._delta / len(grid)
        made = tuple(self.estimator.fresh().set_params(**parameters, **given) for parameters in grid)
        return made, tuple(one.planned(rows, columns) for one in made)

    def _affords(self, event: Event) -> bool:
        try:
            account = compose(event)
            found = account.approximate(self._delta) if self._delta else account.pure()
        except PrivacyError:
            return False
        return found.epsilon <= self._epsilon

    def _seed(self, candidate: Any, at: int, source: Source) -> Any:
        """Its own noise: secure, or of a seed of its own in a rehearsal."""
        own = None if self.random_state is None else int(source.child(f"candidate {at}").words(1)[0] >> np.uint64(1))
        return candidate.set_params(random_state=own)

    def _errors(self, model: Any, table: Floats, target: Any) -> Floats:
        """The error of every row, between 0 and 1: of that row and the model alone."""
        if is_regressor(self.estimator):
            span = read_bounds(self.estimator.y_bounds, 1, "y_bounds")
            said, truth = (span.scale(each) for each in (_in_blocks(model.predict, table), target))
            return np.asarray((said - truth) ** 2 / 4)
        if self.scoring is None:
            return np.asarray(_in_blocks(model.predict, table) != target, dtype=np.float64)
        truth = np.asarray(target)[:, None] == model.classes_[None, :]
        return np.asarray(((_in_blocks(model.predict_proba, table) - truth) ** 2).sum(axis=1) / 2)


def _in_blocks(asked: Callable[[Floats], Any], table: Floats) -> Any:
    """Ask about rows in blocks of one length, the last filled up."""
    missing = -len(table) % _BLOCK if len(table) else _BLOCK
    filled = np.vstack([table, np.zeros((missing, table.shape[1]))])
    said = [asked(filled[start : start + _BLOCK]) for start in range(0, len(filled), _BLOCK)]
    return np.concatenate(said)[: len(table)]
