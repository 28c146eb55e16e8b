"""How parameter values are compared and told, and how numbers are summed up."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ziggurat.errors import ExperimentError

ABSENT: Final = object()
STATISTICS = ("n", "median", "q1", "q3", "mean", "min", "max")


def describe(values: Sequence[float]) -> dict[str, float]:
    """Count, median, quartiles, mean and range of at least one number.

    Parameters
    ----------
    values
        The numbers.
    """
    q1, median, q3 = np.quantile(np.asarray(values, dtype=float), (0.25, 0.5, 0.75)).tolist()
    mean = math.fsum(values) / len(values)
    return dict(zip(STATISTICS, (len(values), median, q1, q3, mean, min(values), max(values)), strict=True))


def same(left: Any, right: Any) -> bool:
    """Whether two parameter values are the same: numbers by value up to rounding, all else exactly.

    Parameters
    ----------
    left, right
        Values as they stand in an experiment file.
    """
    if left is ABSENT or right is ABSENT:
        return False
    if is_number(left) and is_number(right):
        return bool(left == right) or _close(left, right)
    return token(left) == token(right)


def token(value: Any) -> Hashable:
    """Stand in for a parameter value as a key: 1 and 1.0 are one key, 1, '1' and true are three.

    Parameters
    ----------
    value
        A value as it stands in an experiment file.
    """
    return value if is_number(value) else (type(value).__name__, canonical(value))


def conditions(where: Mapping[str, Any]) -> str:
    """Parameter values in words: 'a.x = 1 and b.y = two'.

    Parameters
    ----------
    where
        Values by 'module.parameter'.
    """
    return " and ".join(f"{name} = {in_words(value)}" for name, value in where.items())


def in_words(value: Any) -> str:
    """A parameter value as a reader writes it: text bare, all else as JSON.

    Parameters
    ----------
    value
        A value as it stands in an experiment file.
    """
    return well_formed(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def well_formed(text: str) -> str:
    """Write halves of characters, which no file can hold, as escapes; inside JSON that changes nothing.

    Parameters
    ----------
    text
        Any text.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_number(value: Any) -> bool:
    """Whether a parameter value is a number; true and false are not.

    Parameters
    ----------
    value
        A value as it stands in an experiment file.
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def _close(left: float, right: float) -> bool:
    try:
        return math.isclose(left, right, rel_tol=1e-12)
    except OverflowError:
        return False


def canonical(value: object) -> str:
    """Write a JSON value with sorted keys, no spaces, in ASCII.

    Raises
    ------
    ExperimentError
        If it is not a JSON value.
    """
    try:
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=_plain
        )
    except (TypeError, ValueError, RecursionError):
        raise ExperimentError(
            "Parameters must be JSON values: text, finite numbers, true, false, null, lists, objects with text keys."
        ) from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
