"""Facts as JSON holds them, and exactly: amounts are text such as '1/3', days are ISO, what nests writes itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints


def to_plain(value: Any) -> Any:
    """Give a value as JSON can hold it.

    Parameters
    ----------
    value
        Text, numbers, amounts, days, members of an Enum, arrays, dataclasses, whatever has a `to_dict`, and lists and
        mappings of these.
    """
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): to_plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):  # of NumPy
        return value.tolist()
    return fields_to_plain(value) if is_dataclass(value) else value


def fields_to_plain(facts: Any) -> dict[str, Any]:
    """Give the fields of a dataclass as JSON can hold them; those that its `repr` leaves out are left out.

    Parameters
    ----------
    facts
        A dataclass.
    """
    return {each.name: to_plain(getattr(facts, each.name)) for each in fields(facts) if each.repr}


def from_plain(kind: Any, value: Any) -> Any:
    """Make a value of a kind again from what `to_plain` gave of it.

    Parameters
    ----------
    kind
        A dataclass whose fields are of such kinds, an Enum, what has a `from_dict`, Fraction, date, tuples, lists and
        mappings of these, one of them or None; anything else is given as it is.
    value
        What JSON held.
    """
    inner = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        return None if value is None else from_plain(next(each for each in inner if each is not NoneType), value)
    if get_origin(kind) is tuple:
        several = [inner[0]] * len(value) if inner[-1] is ... else inner
        return tuple(from_plain(each, one) for each, one in zip(several, value, strict=True))
    if get_origin(kind) is list:
        return [from_plain(inner[0], each) for each in value]
    if not isinstance(kind, type):
        return value
    return _make_again(kind, value)


def _make_again(kind: Any, value: Any) -> Any:
    if kind is date:
        return date.fromisoformat(value)
    if kind is Fraction or issubclass(kind, Enum):
        return kind(value)
    if hasattr(kind, "from_dict"):
        return kind.from_dict(value)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*value)
    if not is_dataclass(kind):
        return value
    hints, make = get_type_hints(kind), cast("Any", kind)
    named = {each.name: value[each.name] for each in fields(kind) if each.name in value}
    return make(**{name: from_plain(hints[name], each) for name, each in named.items()})
