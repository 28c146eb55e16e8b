"""Conventions that a steward tells of a whole table, instead of having them found out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ziggurat.data.schema import DECIMALS, THOUSANDS, Column, Kind, Notation, Schema
from ziggurat.data.written import read_date, read_number
from ziggurat.errors import ParameterError, SchemaError

_USUAL_FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%d-%m-%Y")


@dataclass(frozen=True)
class Conventions:
    """How the cells of a table are written, as far as it was told.

    Parameters
    ----------
    decimal
        "." or ",".
    thousands
        What groups digits, such as "." or " "; None if nobody said.
    date_format
        Such as "%d.%m.%Y" or DD.MM.YYYY.
    missing
        Texts that stand for a missing value in every column.
    """

    decimal: str = ""
    thousands: str | None = None
    date_format: str = ""
    missing: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.decimal and self.decimal not in DECIMALS:
            raise ParameterError("The decimal mark must be '.' or ','.")
        if self.thousands is not None and self.thousands not in THOUSANDS:
            raise ParameterError("What groups thousands must be nothing, '.', ',', a blank or an apostrophe.")
        if self.thousands and self.thousands == self.decimal:
            raise ParameterError("The decimal mark and what groups thousands must differ.")
        if isinstance(self.missing, str) or not all(isinstance(each, str) for each in self.missing):
            raise ParameterError("The marks for missing values must be a list of texts.")
        object.__setattr__(self, "missing", tuple(self.missing))
        if self.date_format:
            object.__setattr__(self, "date_format", date_notation(self.date_format, 1900).dates[0])

    @property
    def is_told(self) -> bool:
        """Whether anything was told."""
        return self != Conventions()

    def apply(self, schema: Schema) -> Schema:
        """Return a schema whose columns are read so, unless it says otherwise of one."""
        return replace(schema, columns=tuple(map(self._apply, schema.columns))) if self.is_told else schema

    def _apply(self, column: Column) -> Column:
        missing = tuple(dict.fromkeys((*column.missing, *self.missing)))
        written = column.written
        if written is None and column.kind in (Kind.INTEGER, Kind.REAL):
            written = Notation(decimal=self.decimal or ".", thousands=self.thousands or "")
        if written is None and column.kind is Kind.DATE and self.date_format:
            written = date_notation(self.date_format, this_century())
        return replace(column, missing=missing, written=written)


def date_notation(form: str, century: int) -> Notation:
    """Return the notation of dates in one form; the century is only kept if the form needs it."""
    try:
        whole = Notation(dates=(form,), century=century)
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    return whole if "%y" in whole.dates[0] else replace(whole, century=None)


def this_century() -> int:
    """Return the first of the hundred years that end with this one: nobody was born, or came, in the future."""
    from datetime import date

    return date.today().year - 99


def looks_like_data(names: Iterable[str]) -> bool:
    """Return whether what should be names of columns holds a number or a date, so that a header is missing."""
    return any(_is_value(name.strip()) for name in names)


def _is_value(name: str) -> bool:
    numbers = (Notation(), Notation(decimal=","), Notation(decimal=",", thousands="."))
    if any(read_number(name, each) is not None for each in numbers):
        return True
    return any(read_date(name, form, 1900) is not None for form in _USUAL_FORMS)
