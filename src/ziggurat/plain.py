"""Facts as JSON holds them, and exactly: amounts are text such as '1/3', days are ISO, what nests writes itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from typing import Any


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
