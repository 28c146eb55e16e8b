"""What an intruder knows and whom the intruder looks for, written down as data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlglot import exp

from ziggurat.data import Condition
from ziggurat.errors import ParameterError

InSample = Literal["surely", "maybe"]

_FORMS = "write 'exact', {'within': 2}, {'within': '10%'}, 'same side' or {'same side': 70000}"
_FLIPPED = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE}


@dataclass(frozen=True)
class Exact:
    """The intruder knows the cell; a missing cell is like a missing cell only."""


@dataclass(frozen=True)
class Within:
    """The intruder knows a number up to a tolerance.

    Parameters
    ----------
    amount
        How far off a record may be.
    relative
        Whether the amount is a share of the target's number.
    """

    amount: float
    relative: bool = False

    def __post_init__(self) -> None:
        if not _is_number(self.amount) or self.amount < 0:
            raise ParameterError("A tolerance must be a number of at least 0.")


@dataclass(frozen=True)
class SameSide:
    """The intruder knows only on which side of a threshold a number lies.

    Parameters
    ----------
    of
        The threshold: above it, or not. By default that of the only comparison of the column with a number in the
        scenario's targets, where "same side" means that the comparison comes out alike.
    """

    of: float | None = None

    def __post_init__(self) -> None:
        if self.of is not None and not _is_number(self.of):
            raise ParameterError("A threshold must be a number.")


Knowledge = Exact | Within | SameSide


@dataclass(frozen=True)
class Scenario:
    """An intruder scenario, as it may stand in a file of settings.

    Parameters
    ----------
    known
        What the intruder knows of a target: for each column `Exact()`, `Within(2)` or `SameSide(70000)`, or the same in
        plain words (see `to_dict`). A list of names stands for columns that are known exactly.
    targets
        Whom the intruder looks for: a condition such as "income > 250000 AND birthplace = 'US'"; by default everybody.
    in_sample
        Whether the intruder knows that a target is in the table: "surely", or "maybe".
    population
        For "maybe": how many people the table was sampled from, unless the population itself is at hand.
    """

    known: Mapping[str, Knowledge]
    targets: str | None = None
    in_sample: InSample = "surely"
    population: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", _read_knowledge(self.known))
        if self.targets is not None and not isinstance(self.targets, str):
            raise ParameterError('The targets of a scenario are a condition such as "income > 70000".')
        if self.in_sample not in ("surely", "maybe"):
            raise ParameterError("in_sample must be 'surely' or 'maybe'.")
        people = self.population
        if people is not None and (isinstance(people, bool) or not isinstance(people, int) or people < 1):
            raise ParameterError("The population of a scenario is a whole number of people, at least 1.")

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario as plain values, as YAML and JSON can hold them."""
        plain: dict[str, Any] = {"known": {name: _plain(each) for name, each in self.known.items()}}
        plain |= {"targets": self.targets, "in_sample": self.in_sample, "population": self.population}
        return {key: value for key, value in plain.items() if value is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scenario:
        """Return the scenario that `to_dict` described; anything else raises ParameterError."""
        allowed = ("known", "targets", "in_sample", "population")
        if not isinstance(data, Mapping) or "known" not in data:
            raise ParameterError("A scenario is a mapping with 'known', and perhaps 'targets' and 'in_sample'.")
        for key in data:
            if key not in allowed:
                raise ParameterError(f"A scenario has no {key!r}; it may have {', '.join(map(repr, allowed))}.")
        return cls(**data)

    def condition(self, names: Iterable[str]) -> Condition | None:
        """Return the rule for targets, about columns of these names; None stands for everybody."""
        return None if self.targets is None else Condition.parse(self.targets, names)

    def side(self, name: str, names: Iterable[str]) -> tuple[float, bool]:
        """Return the threshold of a column known as `SameSide`, and whether it belongs to the upper side."""
        rule = self.known[name]
        if isinstance(rule, SameSide) and rule.of is not None:
            return float(rule.of), False
        condition = self.condition(names)
        found = set() if condition is None else _thresholds(condition, name)
        if len(found) != 1:
            raise ParameterError(
                f"Which side of what? The targets do not compare column {name!r} with one number; "
                f"write {{'same side': 70000}} for it."
            )
        return found.pop()


def _read_knowledge(given: object) -> dict[str, Knowledge]:
    if isinstance(given, str):
        given = [given]
    pairs = given.items() if isinstance(given, Mapping) else [(name, "exact") for name in _names(given)]
    found = {name: _rule(name, each) for name, each in pairs}
    if not found or not all(isinstance(name, str) for name in found):
        raise ParameterError("Name at least one column that the intruder knows.")
    return found


def _names(given: object) -> list[Any]:
    if not isinstance(given, Iterable):
        raise ParameterError("What the intruder knows is a mapping of columns, or a list of their names.")
    return list(given)


def _rule(name: object, given: object) -> Knowledge:
    if isinstance(given, Exact | Within | SameSide):
        return given
    if given == "exact":
        return Exact()
    if given == "same side":
        return SameSide()
    if isinstance(given, Mapping) and len(given) == 1:
        (word, value), *_ = given.items()
        if word == "within":
            return _within(name, value)
        if word == "same side" and _is_number(value):
            return SameSide(value)
    raise ParameterError(f"What the intruder knows of column {name!r} cannot be read; {_FORMS}.")


def _within(name: object, value: object) -> Within:
    try:
        if isinstance(value, str) and value.endswith("%"):
            return Within(float(value[:-1]) / 100, relative=True)
        if _is_number(value):
            return Within(value)  # type: ignore[arg-type]
    except ValueError:
        pass
    raise ParameterError(f"The tolerance for column {name!r} must be a number or a share such as '10%', at least 0.")


def _plain(rule: Knowledge) -> Any:
    if isinstance(rule, Within):
        return {"within": f"{rule.amount * 100:.12g}%" if rule.relative else rule.amount}
    if isinstance(rule, SameSide):
        return "same side" if rule.of is None else {"same side": rule.of}
    return "exact"


def _thresholds(condition: Condition, name: str) -> set[tuple[float, bool]]:
    """The numbers that a column is compared with, each with whether it belongs to the upper side."""
    found = set()
    for node in condition.expression.find_all(*_FLIPPED):
        kind, left, right = type(node), node.left, node.right
        if not isinstance(left, exp.Column):
            kind, left, right = _FLIPPED[kind], right, left
        value = _number(right)
        if isinstance(left, exp.Column) and left.name == name and value is not None:
            found.add((value, kind in (exp.GTE, exp.LT)))
    return found


def _number(node: exp.Expr) -> float | None:
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    return float(node.this) if isinstance(node, exp.Literal) and not node.is_string else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
