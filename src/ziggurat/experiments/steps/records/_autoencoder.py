"""The network of `train-generator`, computed from its weights alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ziggurat.data.encoding import Matrix

_CODE_LAYER = 2


def encode(weights: Mapping[str, Any], rows: Matrix) -> Matrix:
    """The code of each row, in [-1, 1] in every coordinate whatever the weights and the row are.

    tanh gives that already; it is clipped all the same, because the sensitivity of the noise rests on it (and a weight
    that is not a number must not pass).
    """
    code = _through(weights, rows, range(_CODE_LAYER))
    return np.clip(np.nan_to_num(code, nan=0.0), -1.0, 1.0)


def decode(weights: Mapping[str, Any], codes: Matrix) -> Matrix:
    """The row that each code stands for; any real code has one."""
    depth = sum(name.startswith("weight_") for name in weights)
    return np.nan_to_num(_through(weights, np.clip(codes, -1.0, 1.0), range(_CODE_LAYER, depth), last=depth - 1))


def _through(weights: Mapping[str, Any], values: Matrix, layers: range, last: int = -1) -> Matrix:
    for place in layers:
        values = values @ weights[f"weight_{place}"] + weights[f"bias_{place}"]
        if place != last:
            values = np.tanh(values)
    return np.asarray(values, dtype=np.float64)
