"""How the cells of a column are written, where that is not the plain way: 86,8 or 31.12.1980, 12 € or 14:35."""

import re
from dataclasses import dataclass, fields
from typing import Any

from ziggurat.errors import SchemaError

DECIMALS = (".", ",")
"""What may stand before the fraction of a number."""
THOUSANDS = ("", ".", ",", " ", "'")
"""What may stand between groups of three digits; a blank stands for every blank, an apostrophe for every apostrophe."""
TIMES = ("", "clock", "duration")
"""What a number of seconds may be written as: a time of day such as 14:35, or a length of time such as 1:30:00."""
DIRECTIVES = "dmYybBHMSzp"
"""The directives of `strftime` that the form of a date may hold."""

_READABLE = (("YYYY", "%Y"), ("YY", "%y"), ("DD", "%d"), ("MMMM", "%B"), ("MMM", "%b"), ("MM", "%m"))
_LAST_CENTURY = 9900


@dataclass(frozen=True)
class Notation:
    """How the cells of a column of text are written.

    Parameters
    ----------
    decimal
        What stands before the fraction of a number: "." or ",".
    thousands
        What stands between groups of three digits: nothing, ".", ",", " " or "'".
    affixes
        What may stand before or after a number, such as "€" or "%"; the number is read as it is written, so that
        "12 %" is 12.
    dates
        The forms in which dates are written, such as "%d.%m.%Y" (or DD.MM.YYYY); a cell may have any of them.
    century
        The first of the hundred years to which a year of two digits belongs; needed for `%y`.
    true, false
        Words for truth values, beside those that are always understood.
    time
        "clock" for times of day and "duration" for lengths of time; both are read as seconds.
    """

    decimal: str = "."
    thousands: str = ""
    affixes: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    century: int | None = None
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    time: str = ""

    def __post_init__(self) -> None:
        for name in ("affixes", "dates", "true", "false"):
            object.__setattr__(self, name, _texts(getattr(self, name), name))
        object.__setattr__(self, "dates", tuple(_directives(form) for form in self.dates))
        if self.decimal not in DECIMALS:
            raise SchemaError("'decimal' must be '.' or ','.")
        if self.thousands not in THOUSANDS or self.thousands == self.decimal:
            raise SchemaError(
                "'thousands' must be nothing, '.', ',', a blank or an apostrophe, and not the decimal mark."
            )
        if any(re.search(r"[0-9.,+^\\\[\]-]", affix) for affix in self.affixes):
            raise SchemaError("What stands around a number ('affixes') must hold no digit, sign, point or comma.")
        if self.time not in TIMES:
            raise SchemaError("'time' must be 'clock' (14:35) or 'duration' (1:30:00).")
        self._check_dates()

    @property
    def is_plain(self) -> bool:
        """Whether it says nothing that is not understood without it."""
        return self == _PLAIN

    def to_dict(self) -> dict[str, Any]:
        """Return what is not plain, ready for JSON."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in told.items()
            if value != getattr(_PLAIN, name)
        }

    def _check_dates(self) -> None:
        for form in self.dates:
            _check_form(form)
        if any("%y" in form for form in self.dates) and self.century is None:
            raise SchemaError("Years of two digits need 'century', the first of the hundred years they are in: 1927.")
        whole = isinstance(self.century, int) and not isinstance(self.century, bool)
        if self.century is not None and not (whole and 1 <= self.century <= _LAST_CENTURY):
            raise SchemaError("'century' must be the first of a hundred years, such as 1927.")


def _directives(form: str) -> str:
    if "%" in form:
        return form
    for readable, directive in _READABLE:
        form = re.sub(readable, directive, form, flags=re.IGNORECASE if readable[0] in "YD" else 0)
    return form.replace("HH", "%H").replace("mm", "%M").replace("SS", "%S").replace("ss", "%S")


def _check_form(form: str) -> None:
    found = re.findall(r"%(.)", form)
    known = all(each in DIRECTIVES for each in found) and len(set(found)) == len(found)
    month, year = {"m", "b", "B"} & set(found), {"y", "Y"} & set(found)
    if not (known and "d" in found and len(month) == 1 and len(year) == 1):
        raise SchemaError(
            "The form of a date must have a day, a month and a year, such as '%d.%m.%Y' (DD.MM.YYYY) or '%d %B %Y', "
            "and may have a time, such as ' %H:%M:%S' and '%z'."
        )


def _texts(given: object, name: str) -> tuple[str, ...]:
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) and each.strip() for each in listed):
        raise SchemaError(f"'{name}' must be a list of texts.")
    return tuple(listed)


_PLAIN = Notation()
