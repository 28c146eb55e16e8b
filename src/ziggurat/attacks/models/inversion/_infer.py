"""A sensitive attribute of people from the rest of their rows, their labels and a model.

Every candidate value is put into the row, and the model asked: the value whose answer fits the known label best, times
what the population tells of the value, is named (Fredrikson, Lantz, Jha, Lin, Page, Ristenpart 2014, "Privacy in
pharmacogenetics", USENIX Security; Fredrikson, Jha, Ristenpart 2015, CCS; Yeom, Giacomelli, Fredrikson, Jha 2018,
"Privacy risk in machine learning", CSF). How much weight the fit deserves depends on how closely the model follows its
members; where its recipe is known the attacker trains one model of their own on people whose attribute they know, and
learns both weights there.

An attribute that can be told from the rest of the row is told about anybody: that is what models are for, and no leak
(Jayaraman, Evans 2022, "Are attribute inference attacks just imputation?", CCS; Mehnaz et al. 2022, USENIX Security).
So the baseline decides, not the share that is right: a learner that never sees the model, on people who are neither
members nor asked about. And a model that knows the population better than the baseline does knows it about others, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import judge
from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows
from ziggurat.attacks.models._recipes import EstimatorRecipe, read_recipe
from ziggurat.attacks.models.inversion._attribute import CandidateHits, InferredAttribute
from ziggurat.attacks.models.inversion._baseline import LearnedBaseline, learn_baseline
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import choose_source

Integers = npt.NDArray[np.int64]
Progress = Callable[[str, int, int], None]

FEWEST_PEOPLE = 30
"""Of how many people at least the baseline is learned."""

_FEWEST_OF_SHADOW = 100
_FLOOR = 1e-3
_SCALES = 2.0 ** -np.arange(11)  # of errors: from those of the population down to those of rows learned by heart


@dataclass(frozen=True)
class HiddenColumns:
    """Where the attribute stands in a row, and what it may be.

    Attributes
    ----------
    places
        Its columns: one, or those of a one-hot group.
    values
        A row for each candidate.
    """

    places: tuple[int, ...]
    values: Floats

    @classmethod
    def of(cls, column: int | Sequence[int], candidates: npt.ArrayLike, columns: int) -> HiddenColumns:
        """Check both against rows of so many columns."""
        places = tuple(int(each) for each in np.atleast_1d(np.asarray(column)))
        values = np.asarray(candidates, np.float64)
        values = values[:, None] if values.ndim == 1 else values
        if not places or len(set(places)) < len(places) or not all(0 <= each < columns for each in places):
            raise ParameterError("The attribute is a column of the rows by its place from 0, or several of a group.")
        if values.ndim != 2 or values.shape[1] != len(places) or len(np.unique(values, axis=0)) < max(2, len(values)):
            raise ParameterError("Candidates are at least 2 different values, each with a number for every column.")
        if len(places) == columns:
            raise ParameterError("Some column must be left that the attacker knows.")
        return cls(places, values)

    def code(self, rows: LabelledRows) -> Integers:
        """The place of everybody's value among the candidates."""
        held = rows.features[:, self.places]
        same = (held[:, None, :] == self.values[None]).all(axis=2)
        if not same.any(axis=1).all():
            raise DataError("Somebody has a value that is no candidate; name every value that the attribute takes.")
        return np.asarray(same.argmax(axis=1), np.int64)

    def put(self, rows: LabelledRows) -> LabelledRows:
        """Everybody with every candidate: all people with the first, then with the second, and so on."""
        many = len(self.values)
        features = np.tile(rows.features, (many, 1))
        features[:, self.places] = np.repeat(self.values, len(rows), axis=0)
        return LabelledRows(features, np.tile(rows.labels, many))

    def hide(self, rows: LabelledRows) -> LabelledRows:
        """What the attacker knows: rows without it."""
        return LabelledRows(np.delete(rows.features, self.places, axis=1), rows.labels)


@dataclass(frozen=True)
class WeighedAttack:
    """The attack: what the population tells and how well the label fits, each with its weight."""

    model: AttackedModel
    hidden: HiddenColumns
    spread: float
    weights: tuple[float, float] = (1.0, 1.0)

    def fit_labels(self, rows: LabelledRows) -> Floats:
        """How well every candidate fits the label: log likelihoods (rows, candidates)."""
        put = self.hidden.put(rows)
        said = self.model.ask(put.features)
        if self.model.kind == "classes":
            told = np.log(np.maximum(said[np.arange(len(said)), put.labels.astype(np.intp)], self.spread))
        else:
            told = _weigh_errors(said - put.labels, self.spread)
        return np.asarray(told.reshape(len(self.hidden.values), len(rows)).T)

    def name(self, rows: LabelledRows, prior: Floats) -> Integers:
        """The candidate for everybody."""
        of_prior, of_fit = self.weights
        return np.asarray((of_prior * prior + of_fit * self.fit_labels(rows)).argmax(axis=1), np.int64)


def infer_attribute(
    model: AttackedModel,
    members: LabelledRows,
    others: LabelledRows,
    column: int | Sequence[int],
    candidates: npt.ArrayLike,
    *,
    random_split: bool,
    population: LabelledRows | None = None,
    baseline: Any = None,
    attribute: str = "the attribute",
    random_state: int | None = None,
    progress: Progress | None = None,
) -> InferredAttribute:
    """Name an attribute of people from the rest of their rows, their labels and the model.

    Parameters
    ----------
    model
        The model as attackers meet it. With a recipe they train one of their own, too.
    members, others
        People it was trained on, and people it was not, with the attribute.
    column
        The place of the attribute in a row, or the places of a one-hot group.
    candidates
        Every value that it may have, public: numbers, or a row of numbers for each where it is a group.
    random_split
        Whether members and others were drawn at random from the same people: only then is there a verdict.
    population
        People who are neither, from whom the baseline learns. By default a half of the others, drawn at random, who are
        then not asked about.
    baseline
        A classifier in the manner of scikit-learn that predicts the attribute from the rest and the label. By default
        the best by cross-validation of the most common value, a logistic regression and a forest.
    attribute
        What it is called.
    random_state
        A seed; None draws anew.
    progress
        Called with what is being done, how many steps of it are, and of how many.

    Raises
    ------
    DataError
        If somebody has a value that is no candidate, or the population is too small for a baseline.
    """
    hidden = HiddenColumns.of(column, candidates, members.features.shape[1])
    draw, told = choose_source(random_state).simulation(), progress or _say_nothing
    if population is None:
        order = draw.permutation(len(others))
        population, others = others.take(order[: len(others) // 2]), others.take(order[len(others) // 2 :])
    if len(population) < FEWEST_PEOPLE:
        raise DataError(f"The baseline needs at least {FEWEST_PEOPLE} people who are neither members nor asked about.")
    told("baseline", 0, 1)
    known = _learn(hidden, population, model, baseline, draw)
    told("shadow", 0, 1)
    attack = WeighedAttack(model, hidden, _measure_spread(model, population))
    trained = _train_shadow(attack, population, baseline, draw)
    told("asking", 0, 1)
    return _count(trained or attack, known, (members, others), random_split, attribute, len(population), bool(trained))


def _learn(hidden: HiddenColumns, people: LabelledRows, model: AttackedModel, given: Any, draw: Any) -> LearnedBaseline:
    seed = int(draw.integers(2**31))
    return learn_baseline(
        hidden.hide(people), hidden.code(people), len(hidden.values), model.kind == "classes", given, seed
    )


def _measure_spread(model: AttackedModel, people: LabelledRows) -> float:
    """Of numbers the root of the mean square error on the population; of classes the least likelihood that counts."""
    said = model.ask(people.features)
    if model.kind == "numbers":
        return float(np.sqrt(np.mean((said - people.labels) ** 2))) + 1e-12
    if not model.labels_only:
        return _FLOOR
    wrong = int((said.argmax(axis=1) != people.labels).sum())
    return (wrong + 1) / (len(people) + 2)


def _weigh_errors(errors: Floats, spread: float) -> Floats:
    """The log density of errors under normal ones of many scales: a row learned by heart is hit far more closely."""
    from scipy.special import logsumexp

    scales = spread * _SCALES[:, None]
    return np.asarray(logsumexp(-((errors / scales) ** 2) / 2 - np.log(scales), axis=0))


def _train_shadow(
    attack: WeighedAttack, people: LabelledRows, given: Any, draw: np.random.Generator
) -> WeighedAttack | None:
    """Learn both weights on a model of the attacker's own; None without a recipe, or with too few people."""
    if attack.model.recipe is None or len(people) < _FEWEST_OF_SHADOW:
        return None
    order = draw.permutation(len(people))
    own, rest = people.take(order[: len(people) // 2]), people.take(order[len(people) // 2 :])
    shadow = _fit_recipe(attack.model, own, int(draw.integers(2**31)))
    if shadow is None:
        return None
    prior = _learn(attack.hidden, rest, attack.model, given, draw).tell(attack.hidden.hide(own))
    # The attacker knows how far it is off on people that it did not see, as of the model itself.
    tried = WeighedAttack(shadow, attack.hidden, _measure_spread(shadow, rest))
    weights = _learn_weights(prior, tried.fit_labels(own), attack.hidden.code(own))
    return WeighedAttack(attack.model, attack.hidden, attack.spread, weights)


def _fit_recipe(model: AttackedModel, people: LabelledRows, seed: int) -> AttackedModel | None:
    """Train as the model was; None if that fails, or the answers are about other classes."""
    recipe = read_recipe(model)
    try:
        if isinstance(recipe, EstimatorRecipe):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they may quote cells
                made = AttackedModel.of(recipe.fresh(seed).fit(people.features, people.labels))
        elif recipe is not None:
            made = recipe.train(people, random_state=seed)
        else:
            return None
        alike = made.kind == model.kind and _width(made, people) == _width(model, people)
    except Exception:  # noqa: BLE001 - whatever a foreign estimator raises; it may quote cells
        return None
    return made if alike else None


def _width(model: AttackedModel, people: LabelledRows) -> tuple[int, ...]:
    return model.ask(people.features[:1]).shape


def _learn_weights(prior: Floats, fit: Floats, truth: Integers) -> tuple[float, float]:
    """The weights of a conditional logit, drawn a little towards the population alone."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    def loss(weights: Floats) -> float:
        scores = weights[0] * prior + weights[1] * fit
        right = scores[np.arange(len(truth)), truth]
        return float((logsumexp(scores, axis=1) - right).sum() + (weights[0] - 1) ** 2 + weights[1] ** 2 / 100)

    found = minimize(loss, np.array([1.0, 0.5]), method="L-BFGS-B", bounds=[(0.0, 50.0), (0.0, 50.0)])
    return float(found.x[0]), float(found.x[1])


def _count(
    attack: WeighedAttack, known: LearnedBaseline, groups: tuple[LabelledRows, LabelledRows],
    random_split: bool, attribute: str, population: int, shadow: bool,
) -> InferredAttribute:  # fmt: skip
    hidden = attack.hidden
    truth = [hidden.code(rows) for rows in groups]
    prior = [known.tell(hidden.hide(rows)) for rows in groups]
    right = [attack.name(rows, told) == codes for rows, told, codes in zip(groups, prior, truth, strict=True)]
    naive = [told.argmax(axis=1) == codes for told, codes in zip(prior, truth, strict=True)]
    only_attack, only_naive = int((right[0] & ~naive[0]).sum()), int((naive[0] & ~right[0]).sum())
    return InferredAttribute(
        attack.model.name,
        attribute,
        judge(_share(right[0]), _share(right[1]), _share(naive[0])),
        _share(naive[1]),
        only_attack,
        only_naive,
        _pair(only_attack, only_naive),
        tuple(
            CandidateHits(
                each,
                _share(right[0][truth[0] == each]),
                _share(right[1][truth[1] == each]),
                _share(naive[0][truth[0] == each]),
            )
            for each in range(len(hidden.values))
        ),
        random_split,
        population,
        known.name,
        shadow,
    )


def _share(right: npt.NDArray[np.bool_]) -> Share:
    return Share(int(right.sum()), len(right))


def _pair(better: int, worse: int) -> float:
    from scipy.stats import binom

    return float(binom.sf(better - 1, better + worse, 0.5)) if better + worse else 1.0


def _say_nothing(_what: str, _done: int, _of: int) -> None:
    return None
