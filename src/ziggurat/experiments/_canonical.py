"""The one way an experiment's values are written before they are hashed or compared."""

import json
from collections.abc import Mapping

from ziggurat.errors import ExperimentError


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
