"""The attack that never sees the model: a classifier that tells members from others by who they are.

Das, Zhang, Tramèr (2024), "Blind baselines beat membership inference attacks for foundation models". Where it succeeds,
members and others differ as people do, and no attack on the model can be told from it.

It learns on all parts of the people but one, and scores that one. If members were drawn at random from all, then given
who is a member elsewhere, the members of that part are drawn at random from it, as many as it has: Fisher's test of the
guesses about it is exact, whatever was learned. The smallest of all tests, times their number, is a p-value. (A test of
all parts at once would not be exact: what is learned in one part depends on the members of the others.)
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.attacks._guesses import FEWEST
from ziggurat.attacks.models._attacked import Floats, LabelledRows
from ziggurat.attacks.models._scored import name_people

REFUTED = 1e-6
"""How often a random split may be taken for none: at most."""

_MOST = 20_000  # people to learn from
_COLUMNS = 100  # looked at in every split of a tree


@dataclass(frozen=True)
class BlindScores:
    """What an attack that never sees the model says.

    Attributes
    ----------
    scores
        For each person, by what was learned from the other parts: the rank within their own.
    chance
        How likely it tells members from others so well, or better, if they were drawn at random; 1 where the parts are
        too small to tell.
    """

    scores: Floats
    chance: float


def attack_blindly(
    people: LabelledRows, member: npt.NDArray[np.bool_], parts: int, draw: np.random.Generator
) -> BlindScores:
    """Tell members from others by their rows and labels alone, each part of the people by all the others."""
    rows = np.column_stack([people.features, people.labels.astype(np.float64)])
    scores, chances = np.full(len(rows), 0.5), [1.0]
    for part in np.array_split(draw.permutation(len(rows)), parts):
        rest = np.setdiff1d(np.arange(len(rows)), part)
        learned = draw.permutation(rest)[:_MOST]
        if len(part) == 0 or len(np.unique(member[learned])) < 2:
            continue
        said = _learn(rows[learned], member[learned], rows[part])
        scores[part] = said / (len(part) + 1)
        chances += _test(said, member[part])
    return BlindScores(scores, min(1.0, 2 * parts * min(chances)))


def _learn(rows: Floats, member: npt.NDArray[np.bool_], asked: Floats) -> Floats:
    """Return the mean rank by a linear classifier, which finds small shifts of few people, and by boosted trees."""
    from scipy.stats import rankdata
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    share = min(1.0, _COLUMNS / rows.shape[1])
    trees = HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=15, early_stopping=False, random_state=0, max_features=share
    )
    line = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=50))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = [each.fit(rows, member).decision_function(asked) for each in (trees, line)]
    return np.asarray(sum(rankdata(each) for each in said) / len(said), np.float64)


def _test(said: Floats, member: npt.NDArray[np.bool_]) -> list[float]:
    inside, outside = said[member], said[~member]
    if min(len(inside), len(outside)) < FEWEST:
        return []
    return [each.chance for each in name_people(inside, outside, len(inside))]
