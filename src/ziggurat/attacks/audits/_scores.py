"""What outcomes of runs on two neighbours prove about epsilon, whatever the outcomes look like.

Exactness. `empirical_epsilon` chooses a set of outputs by the runs at even places, and bounds its probabilities by the
runs at odd places alone (Clopper and Pearson 1934, each of four ends at a fourth of the misses). All that is made here
before, the classifier that turns a row of numbers into one, which of the columns it sees, and the ends of the cells,
is learned from the runs at even places too, and applied to every run by itself. Given these runs, those at odd places
are independent draws of the same law as ever, so that the bound holds at its confidence, however well or badly the
classifier learned. Scores of runs that taught it are too good; that can only make the set worse, not the bound false.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.mechanisms import empirical_epsilon
from ziggurat.privacy import Amount

Floats = npt.NDArray[np.float64]

_CELLS = 60
_COLUMNS = 200  # of which the classifier sees those that differ most


def prove_epsilon(here: Floats, there: Floats, *, delta: Fraction, confidence: Amount) -> float:
    """Return the epsilon that is proven: outcomes are numbers, or rows of numbers that a classifier makes one of.

    Scores may be infinite (of outcomes that only one neighbour has), but must be there.
    """
    seen = [here, there]
    if here.shape[1:] != there.shape[1:] or any(np.isnan(each).any() for each in seen):
        raise ParameterError("The outcomes on the two neighbours must be of one shape, with no number missing.")
    scores = seen if here.ndim == 1 else _learn_scores(seen)
    return empirical_epsilon(*_cut_into_cells(scores), delta=delta, confidence=confidence)


def _learn_scores(seen: list[Floats]) -> list[Floats]:
    """One number for each run: how a classifier, trained on the runs at even places, tells the neighbours apart."""
    from sklearn.linear_model import LogisticRegression

    rows = _scale([np.clip(each.reshape(len(each), -1), -1e100, 1e100) for each in seen])
    teaching = np.concatenate([each[::2] for each in rows])
    worlds = np.repeat([0, 1], [len(each[::2]) for each in rows])
    learned = LogisticRegression(max_iter=1000).fit(teaching, worlds)
    return [np.asarray(learned.decision_function(each)) for each in rows]


def _scale(rows: list[Floats]) -> list[Floats]:
    """Columns at the middle and spread of the runs at even places; of very many those whose means are furthest apart.

    Values are cut at five spreads: of noise with heavy tails some few would otherwise teach everything.
    """
    both = np.concatenate([each[::2] for each in rows])
    middle, spread = np.median(both, axis=0), _spread(both)
    scaled = [np.clip((each - middle) / spread, -5, 5) for each in rows]
    apart = np.abs(scaled[0][::2].mean(axis=0) - scaled[1][::2].mean(axis=0))
    kept = np.sort(np.argsort(-apart, kind="stable")[:_COLUMNS])
    return [each[:, kept] for each in scaled]


def _spread(both: Floats) -> Floats:
    """Half the middle two thirds of every column; the standard deviation where these are all the same; never 0."""
    low, high = np.quantile(both, [1 / 6, 5 / 6], axis=0)
    spread = (high - low) / 2
    spread = np.where(spread > 0, spread, both.std(axis=0))
    return np.where(spread > 0, spread, 1.0)


def _cut_into_cells(scores: list[Floats]) -> list[npt.NDArray[np.int64]]:
    """Whole numbers that keep the order: scores in cells of equal size by the runs at even places.

    Cells end at scores that occur, so that equal scores share a cell; if all are equal there is one, which proves 0.
    """
    both = np.concatenate([each[::2] for each in scores])
    ends = np.unique(np.quantile(both, np.linspace(0, 1, _CELLS + 1)[1:-1], method="lower"))
    return [np.searchsorted(ends, each, side="left").astype(np.int64) for each in scores]
