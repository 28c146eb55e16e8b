"""Which raw values a released label may stand for: an interval, a mask, a set, a period, or a label of a hierarchy."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.data import Hierarchy

Truths = npt.NDArray[np.bool_]

_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.|to)\s*({_NUMBER})")
_BRACKETS = re.compile(rf"([\[\](])\s*({_NUMBER}|-inf)?\s*[,;]\s*({_NUMBER}|inf)?\s*([\[\])])")
_BEYOND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_UPWARDS = re.compile(rf"({_NUMBER})\s*\+")
_MONTH, _QUARTER, _DECADE = (
    re.compile(r"\d{4}(-\d{2})?"),
    re.compile(r"(\d{4})-?\s?Q([1-4])"),
    re.compile(r"(\d{3})0(?:s|-\d{3}9)"),
)


def write_cell(value: object) -> str | None:
    """A cell as text, in one form for numbers, truth values and dates; None for a missing one."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def says_nothing(label: str | None) -> bool:
    """Whether a label may stand for every value: a missing cell, or nothing but asterisks."""
    return label is None or (bool(label) and not label.strip("*"))


def fitting(values: pa.Array, labels: pa.Array, used: npt.NDArray[np.int64], hierarchy: Hierarchy | None) -> Truths:
    """Return which value (row) each of the `used` labels (column) may stand for.

    With a hierarchy a label stands for itself and for the values under it; without one it is read as an interval
    ("20-24", "[20, 25)", "90+"), a mask ("CV1*"), a set ("{a, b}") or a period ("2020-03"). A missing value of the
    attacker, whatever it may be, fits every label.
    """
    cells, texts = values.to_pylist(), labels.to_pylist()
    names = [write_cell(cell) for cell in cells]
    above = [_above(hierarchy, cell) for cell in cells]
    fits = np.zeros((len(cells), used.size), dtype=np.bool_)
    places = {name: place for place, name in enumerate(names) if name is not None}
    under, shown = _under(above), _AttackerValues.of(cells, names)
    for column, code in enumerate(used):
        label = write_cell(texts[code])
        if label is None or says_nothing(label):
            fits[:, column] = True
            continue
        fits[under.get(label, []), column] = True
        if label in places:
            fits[places[label], column] = True
        elif hierarchy is None:
            fits[:, column] |= _read_as_pattern(label, shown)
    fits[[place for place, name in enumerate(names) if name is None]] = True
    return fits


def _above(hierarchy: Hierarchy | None, cell: Any) -> tuple[str, ...]:
    if hierarchy is None or cell is None:
        return ()
    levels: Mapping[Any, tuple[str, ...]] = hierarchy.levels
    return levels.get(cell, ()) or levels.get(write_cell(cell), ())


def _under(above: Iterable[tuple[str, ...]]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, labels in enumerate(above):
        for label in set(labels):
            places.setdefault(label, []).append(place)
    return places


@dataclass(frozen=True)
class _AttackerValues:
    """The attacker's values as labels are tried on them: as text, and as numbers where they are (else None)."""

    names: pa.Array
    numbers: npt.NDArray[np.float64] | None
    dates: bool

    @classmethod
    def of(cls, cells: list[Any], names: list[str | None]) -> _AttackerValues:
        present = [cell for cell in cells if cell is not None]
        numeric = all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in present)
        numbers = [float("nan") if cell is None else float(cell) for cell in cells] if numeric else None
        dates = bool(present) and isinstance(present[0], date)
        return cls(pa.array(names, pa.string()), None if numbers is None else np.array(numbers), dates)

    def starting(self, text: str) -> Truths:
        return _truths(pc.starts_with(self.names, text))


def _truths(found: pa.Array) -> Truths:
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _read_as_pattern(label: str, values: _AttackerValues) -> Truths:
    found = _interval(label.strip(), values.numbers) if values.numbers is not None else None
    if found is None and values.dates:
        found = _period(label, values)
    if found is not None:
        return found
    if label.startswith("{") and label.endswith("}"):
        members = pa.array([each.strip() for each in label[1:-1].split(",")], pa.string())
        return _truths(pc.is_in(values.names, members))
    if label.endswith("*"):
        return values.starting(label.rstrip("*"))
    if label.startswith("*"):
        return _truths(pc.ends_with(values.names, label.lstrip("*")))
    return np.zeros(len(values.names), dtype=np.bool_)


def _period(label: str, values: _AttackerValues) -> Truths | None:
    if _MONTH.fullmatch(label):
        return values.starting(f"{label}-")
    quarter, decade = _QUARTER.fullmatch(label), _DECADE.fullmatch(label)
    if quarter:
        last = 3 * int(quarter[2])
        months = [values.starting(f"{quarter[1]}-{month:02d}-") for month in range(last - 2, last + 1)]
        return np.asarray(np.logical_or.reduce(months))
    return values.starting(decade[1]) if decade else None


def _interval(text: str, numbers: npt.NDArray[np.float64]) -> Truths | None:
    ends = _ends(text)
    if ends is None:
        return None
    with_low, low, high, with_high = ends
    above = numbers >= low if with_low else numbers > low
    return np.asarray(above & (numbers <= high if with_high else numbers < high))


def _ends(text: str) -> tuple[bool, float, float, bool] | None:
    """The ends of an interval, and whether each belongs to it."""
    if found := _RANGE.fullmatch(text):
        return True, float(found[1]), float(found[2]), True
    if found := _BRACKETS.fullmatch(text):
        return found[1] == "[", float(found[2] or "-inf"), float(found[3] or "inf"), found[4] == "]"
    if found := _UPWARDS.fullmatch(text):
        return True, float(found[1]), math.inf, True
    if found := _BEYOND.fullmatch(text):
        end, equal = float(found[2]), found[1] in ("<=", ">=", "≤", "≥")
        return (equal, -math.inf, end, equal) if found[1][0] in "<≤" else (equal, end, math.inf, equal)
    return None
