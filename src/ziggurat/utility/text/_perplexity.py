"""Perplexity, with its base said."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError


def perplexity_of(log_probabilities: npt.ArrayLike, base: float, *, printed: bool = False) -> float:
    """Return the perplexity of words that a model gave these logarithms of probabilities: base ** -(their mean).

    It is one over the geometric mean of the probabilities, whatever the base: e with natural logarithms and 2 with
    those to base 2 agree. Equation B.4 prints 2 ** -(mean of "log p"); with the natural logarithm that networks are
    trained with, that is the perplexity to the power of ln 2, a smaller number. What was computed there is not known.

    Parameters
    ----------
    log_probabilities
        One for each word; minus infinity for a word that the model takes to be impossible.
    base
        Of these logarithms: `math.e` or 2, most often.
    printed
        Whether to mix the bases as printed: 2 to the power of minus the mean natural logarithm.

    Examples
    --------
    >>> perplexity_of([-3, -3], 2), round(perplexity_of([-3, -3], 2, printed=True), 3)
    (8.0, 4.226)
    """
    logs = np.asarray(log_probabilities, dtype=np.float64).reshape(-1)
    if not logs.size or np.isnan(logs).any() or logs.max() > 0:
        raise ParameterError("Give the logarithm of the probability of each word: at least one, none above 0.")
    if not base > 1:
        raise ParameterError("State the base of the logarithms, above 1: math.e or 2.")
    mean = -float(logs.mean())
    with np.errstate(over="ignore"):
        return float(np.float64(2) ** (mean * math.log(base)) if printed else np.float64(base) ** mean)
