"""What is drawn into a panel: values with intervals, and how their groups are told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from typing import Any

from ziggurat.drawing import shorten

MOST_UPRIGHT = 8
_FIRST_DAY = date(1970, 1, 1)  # as matplotlib counts days
_MOST_COLOURS, _LONGEST_LABEL = 6, 34
_MOMENT = re.compile(r"\d{4}(-\d{2}){0,2}|\d{4}-?Q[1-4]")
_CALENDAR = ("year", "month", "quarter", "week", "day", "hour", "date", "jahr", "monat", "quartal", "woche", "tag")


@dataclass(frozen=True)
class PlottedColumn:
    """What is drawn into one panel: values with intervals, one for each group.

    Attributes
    ----------
    name
        What was measured.
    keys, groups
        The names of what tells groups apart, and for each group its values of these.
    values, lows, highs
        For each group its number or day, and the ends of the interval; None where there is none.
    """

    name: str
    keys: tuple[str, ...]
    groups: Sequence[tuple[Any, ...]]
    values: Sequence[Any]
    lows: Sequence[Any]
    highs: Sequence[Any]

    @property
    def drawable(self) -> bool:
        """Whether there is a number or a day to draw, and nothing else."""
        held = [each for each in self.values if each is not None]
        return bool(held) and all(isinstance(each, int | float | date) for each in held)


def is_in_time(name: str, values: Sequence[Any]) -> bool:
    """Tell whether the values of a key are moments in order: days, months as text, or years and the like by name.

    Parameters
    ----------
    name
        Of the key.
    values
        Its values.
    """
    held = {each for each in values if each is not None}
    if len(held) < 3:
        return False
    if all(isinstance(each, date) for each in held):
        return True
    if all(isinstance(each, str) for each in held):
        return all(_MOMENT.fullmatch(each) for each in held)
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in held)
    return whole and any(word in re.split(r"[^a-z]+", name.lower()) for word in _CALENDAR)


def list_drawn(column: PlottedColumn) -> list[int]:
    return [place for place, value in enumerate(column.values) if value is not None]


def runs_along_numbers(column: PlottedColumn) -> bool:
    if len(column.keys) != 1:
        return False
    held = [group[0] for group in column.groups]
    return len(held) > 2 * MOST_UPRIGHT and all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in held
    )


def split_keys(column: PlottedColumn) -> tuple[int | None, int | None]:
    """Which key runs along the axis and which one has the colours; None and None where groups are named in full."""
    if len(column.keys) == 1:
        return 0, None
    if len(column.keys) != 2:
        return None, None
    sizes = [len({group[place] for group in column.groups}) for place in (0, 1)]
    ordered = [place for place in (1, 0) if sizes[place] <= _MOST_COLOURS]
    timed = [
        place for place in ordered if is_in_time(column.keys[1 - place], [each[1 - place] for each in column.groups])
    ]
    for place in (*timed, *ordered):
        return 1 - place, place
    return None, None


def name_groups(column: PlottedColumn) -> tuple[list[str], list[str]]:
    """The names along the axis, and those of the colours."""
    along, coloured = split_keys(column)
    if along is None:
        return [write_group(*group) for group in column.groups], [""]
    names = list(dict.fromkeys(write_group(group[along]) for group in column.groups))
    return names, [""] if coloured is None else list(
        dict.fromkeys(write_group(each[coloured]) for each in column.groups)
    )


def write_group(*group: Any) -> str:
    return shorten(" · ".join(_name_value(each) for each in group), _LONGEST_LABEL)


def _name_value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "(missing)" if value is None else str(value).lower()
    return str(value)


def _number(value: Any) -> float:
    return float((value - _FIRST_DAY).days) if isinstance(value, date) else float(value)


def find_reach(column: PlottedColumn, places: Sequence[int]) -> tuple[list[float], list[list[float]]]:
    values = [_number(column.values[place]) for place in places]
    ends = [(column.lows[place], column.highs[place]) for place in places]
    below = [0.0 if low is None else value - _number(low) for value, (low, _) in zip(values, ends, strict=True)]
    above = [0.0 if high is None else _number(high) - value for value, (_, high) in zip(values, ends, strict=True)]
    return values, [below, above]


def cross_groups(labels: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Give every combination of labels, the last one fastest.

    Parameters
    ----------
    labels
        For each key its labels.
    """
    return list(product(*labels))
