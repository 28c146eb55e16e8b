"""An attack on models that tell labels alone: how often the true label survives when a row is shaken.

Choquette-Choo, Tramèr, Carlini, Papernot (2021), "Label-only membership inference attacks", ICML: a model is surer of
the rows it was trained on, so that it names their label further around them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows

QUESTIONS = 32
"""How often a model is asked about each person, shaken each time anew."""

_NOISE = (0.05, 0.1, 0.2, 0.4)  # in deviations of a column, and the share of columns of zeros and ones that flip
_ROWS = 100_000  # asked at a time


def score_by_survival(
    model: AttackedModel, rows: LabelledRows, draw: np.random.Generator, questions: int = QUESTIONS
) -> Floats:
    """Return how often the model names the true label of a person, as they are and shaken.

    Normal noise of four sizes is added to numbers; columns of zeros and ones are flipped. A right answer about the row
    as it is counts as all the shaken ones together.
    """
    spread, flat = rows.features.std(axis=0), _find_flags(rows.features)
    right = _is_right(model, rows.features, rows.labels).astype(np.float64) * questions
    per_part = max(1, _ROWS // len(rows))
    for at in range(0, questions, per_part):
        sizes = [_NOISE[each % len(_NOISE)] for each in range(at, min(at + per_part, questions))]
        shaken = np.vstack([_shake(rows.features, spread, flat, size, draw) for size in sizes])
        named = _is_right(model, shaken, np.tile(rows.labels, len(sizes)))
        right += named.reshape(len(sizes), len(rows)).sum(axis=0)
    return np.asarray(right / (2 * questions))


def _shake(
    features: Floats, spread: Floats, flags: npt.NDArray[np.bool_], size: float, draw: np.random.Generator
) -> Floats:
    noise = draw.standard_normal(features.shape, dtype=np.float32) * (size * spread * ~flags)
    shaken = features + noise
    if flags.any():
        flipped = draw.random((len(features), int(flags.sum())), dtype=np.float32) < size / 4
        shaken[:, flags] = np.where(flipped, 1 - features[:, flags], features[:, flags])
    return np.asarray(shaken)


def _find_flags(features: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray(((features == 0) | (features == 1)).all(axis=0))


def _is_right(model: AttackedModel, features: Floats, labels: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    return np.asarray(model.ask(features).argmax(axis=1) == labels)
