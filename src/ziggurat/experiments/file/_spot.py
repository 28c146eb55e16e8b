"""A value of an experiment file together with its line, so that every complaint says where."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ziggurat.errors import ExperimentError
from ziggurat.located_yaml import Locate, Path
from ziggurat.wording import nearest


@dataclass(frozen=True)
class Spot:
    """What was written at one place of the file; `what` names it in a sentence."""

    value: Any
    what: str
    path: Path
    locate: Locate

    def refuse(self, sentence: str) -> NoReturn:
        """Raise ExperimentError with the file, the line and the sentence."""
        raise ExperimentError(f"{self.locate(self.path)}{sentence}") from None

    def at(self, key: str | int, value: object, what: str) -> Spot:
        """Return the spot of a value inside this one."""
        return Spot(value, what, (*self.path, str(key)), self.locate)

    def entries(self) -> dict[str, Spot]:
        """Return the values of a mapping by name."""
        if not isinstance(self.value, dict):
            self.refuse(f"{self.what} must be an object that maps names to values.")
        for key in self.value:
            if not isinstance(key, str):
                self.at(key, key, "").refuse("A name must be text; put quotes around it.")
        return {key: self.at(key, value, f"{key!r}") for key, value in self.value.items()}

    def fields(self, known: Sequence[str], required: Sequence[str] = ()) -> dict[str, Spot]:
        """Return the values of a mapping all of whose names are known, and which has the required ones."""
        found = self.entries()
        for key, spot in found.items():
            if key not in known:
                spot.refuse(f"Unknown key {key!r}; {nearest(key, known)}")
        for key in required:
            if key not in found:
                self.refuse(f"{self.what} needs {key!r}.")
        return found

    def items(self) -> list[Spot]:
        """Return the values of a list."""
        if not isinstance(self.value, list):
            self.refuse(f"{self.what} must be a list.")
        return [self.at(index, value, f"Entry {index + 1} of {self.what}") for index, value in enumerate(self.value)]

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            self.refuse(f"{self.what} must be text; put quotes around it.")
        return self.value

    def names(self) -> tuple[str, ...]:
        """Return a list of different, non-empty texts."""
        found: list[str] = []
        for spot in self.items():
            name = spot.text()
            if not name or name in found:
                spot.refuse(f"{self.what} must be a list of different names; drop {name!r}.")
            found.append(name)
        return tuple(found)

    def one_of(self, known: Sequence[str]) -> str:
        """Return one of the known words."""
        if self.value not in known:
            self.refuse(f"{self.what} cannot be {self._show()}; {nearest(self.value, known)}")
        return str(self.value)

    def whole(self, least: int, most: int) -> int:
        """Return an integer within limits."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not least <= self.value <= most:
            self.refuse(f"{self.what} must be a whole number from {least:,} to {most:,}.")
        return self.value

    def number(self, least: float = -math.inf) -> float:
        """Return a finite number."""
        if not _is_finite(self.value) or abs(self.value) > sys.float_info.max:
            self.refuse(f"{self.what} must be a finite number.")
        if self.value < least:
            self.refuse(f"{self.what} must be at least {least:g}.")
        return float(self.value)

    def truth(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.refuse(f"{self.what} must be true or false.")
        return self.value

    def scalar(self) -> str | int | float | bool | None:
        """Return a JSON value that is neither a list nor an object."""
        if self.value is not None and not isinstance(self.value, str | bool) and not _is_finite(self.value):
            self.refuse(f"{self.what} must be text, a finite number, true, false or null.")
        return self.value  # type: ignore[no-any-return]

    def json(self) -> Any:
        """Return any JSON value; YAML's dates and infinities are not."""
        if isinstance(self.value, dict):
            return {key: spot.json() for key, spot in self.entries().items()}
        if isinstance(self.value, list):
            return [spot.json() for spot in self.items()]
        return self.scalar()

    def _show(self) -> str:
        text = repr(self.value)
        return text if len(text) <= 60 else f"{text[:57]}..."


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)
