"""Values made coarser: ends coded together, numbers rounded, dates cut to their year, postcodes to their beginning."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.anonymize.masking._technique import CellTechnique, Tally, as_column, check_number, is_number
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source

End = int | float | date

SPARSE_ZIP3 = (
    "036", "059", "063", "102", "203", "556", "692", "790", "821",
    "823", "830", "831", "878", "879", "884", "890", "893",
)  # fmt: skip
"""The 17 three-digit ZIP areas of at most 20,000 people by the census of 2000.

Office for Civil Rights, Guidance Regarding Methods for De-identification of Protected Health Information (2012). The
rule asks for the currently available figures of the Bureau of the Census: pass your own list where they differ.
"""


@dataclass(frozen=True)
class _EndCode(CellTechnique):
    """What `TopCode` and `BottomCode` share."""

    upper: ClassVar[bool]
    bound: End | None = None
    quantile: float | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        if (self.bound is None) == (self.quantile is None):
            raise ParameterError("Give either the bound or the quantile to read it off at.")
        if self.bound is not None and not is_end(self.bound):
            raise ParameterError("The bound must be a finite number or a date.")
        if self.quantile is not None and not (_is_number(self.quantile) and 0 < self.quantile < 1):
            raise ParameterError("The quantile must lie strictly between 0 and 1.")
        if self.label is not None and not isinstance(self.label, str):
            raise ParameterError("The label must be text.")

    @property
    def row_wise(self) -> bool:
        """Whether the bound was given, so that no other row matters."""
        return self.bound is not None

    def parameters(self) -> dict[str, Any]:
        """Return bound or quantile, and the label."""
        given = {"bound": plain_end(self.bound), "quantile": self.quantile, "label": self.label}
        return {name: value for name, value in given.items() if value is not None}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Move what lies beyond the bound to it, or to the label."""
        ordered = orderable(cells, name)
        bound = self._bound(ordered, name)
        if bound is None:
            return (cells if self.label is None else ordered.cast(pa.string())), Tally()
        learned = {} if self.bound is not None else {"bound": plain_end(bound.as_py())}
        beyond = pc.greater(ordered, bound) if self.upper else pc.less(ordered, bound)
        if self.label is None:
            coded = pc.if_else(pc.fill_null(beyond, False), bound.cast(ordered.type), ordered)
        else:
            coded = pc.if_else(pc.fill_null(beyond, False), pa.scalar(self.label), ordered.cast(pa.string()))
        return as_column(coded), Tally(learned=learned)

    def _bound(self, cells: pa.ChunkedArray, name: str) -> pa.Scalar | None:
        """The bound in the column's own type, or for whole numbers the last that does not pass it."""
        if self.bound is None:
            return self._quantile(cells)
        if isinstance(self.bound, date) != kinds.is_temporal(cells.type) and not kinds.is_null(cells.type):
            raise DataError(f"The bound for column {name!r} must be {_name_kind(cells.type)}.")
        if kinds.is_null(cells.type):
            return None
        if kinds.is_integer(cells.type):
            whole = math.floor(self.bound) if self.upper else math.ceil(self.bound)  # type: ignore[arg-type]
            return _scalar_within(whole, cells.type)
        return pa.scalar(self.bound, pa.date32() if kinds.is_date(cells.type) else None).cast(cells.type)

    def _quantile(self, cells: pa.ChunkedArray) -> pa.Scalar | None:
        present = cells.drop_null()
        if kinds.is_floating(cells.type):
            present = present.filter(pc.is_finite(present))
        if len(present) == 0:
            return None
        share = Fraction(str(self.quantile)) * (len(present) - 1)
        place = math.floor(share) if self.upper else math.ceil(share)
        return present.take(pc.sort_indices(present).slice(place, 1))[0]


@dataclass(frozen=True)
class TopCode(_EndCode):
    """Move values above a bound to it, or show a label such as "90+" in their place (the column becomes text).

    It does not hide who is at the top if only one value was: look how many cells the record says were changed.

    Parameters
    ----------
    bound
        The largest value that stays: a number or a date.
    quantile
        Instead of a bound: the share of the present values that may stay, such as 0.99. The bound is then one of the
        column's own values, recorded as learned, and the output shows it.
    label
        What to show instead of the bound.
    """

    name: ClassVar[str] = "top-code"
    upper: ClassVar[bool] = True


@dataclass(frozen=True)
class BottomCode(_EndCode):
    """Move values below a bound to it, or show a label in their place; the mirror image of `TopCode`.

    Parameters
    ----------
    bound
        The smallest value that stays: a number or a date.
    quantile
        Instead of a bound: the share of the present values to code together, such as 0.01, read off the column.
    label
        What to show instead of the bound.
    """

    name: ClassVar[str] = "bottom-code"
    upper: ClassVar[bool] = False


@dataclass(frozen=True)
class Round(CellTechnique):
    """Round numbers to the nearest multiple of a base, halves upwards.

    It does not hide a value that is unusual even when rounded, and a sum of rounded cells beside an exact total can
    give a cell away.

    Parameters
    ----------
    base
        A positive number; a whole one for columns of whole numbers.
    """

    name: ClassVar[str] = "round"
    base: int | float

    def __post_init__(self) -> None:
        if not _is_number(self.base) or not 0 < self.base < 2**53:
            raise ParameterError("The base to round to must be a positive number below 2**53.")

    def parameters(self) -> dict[str, Any]:
        """Return the base."""
        return {"base": self.base}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Round every number."""
        check_number(cells, name, "rounding")
        if kinds.is_integer(cells.type) and self.base != int(self.base):
            raise DataError(f"Column {name!r} holds whole numbers; round them to a whole base.")
        if kinds.is_integer(cells.type):
            return as_column(_round_whole(cells, int(self.base), name)), Tally()
        cells = cells.cast(pa.float64())
        multiple = pc.round_to_multiple(cells, float(self.base), round_mode="half_towards_infinity")
        return as_column(pc.round(multiple, ndigits=_places(self.base))), Tally()


def _round_whole(cells: pa.ChunkedArray, base: int, name: str) -> pa.ChunkedArray:
    try:
        wide = cells.cast(pa.int64())
        return pc.round_to_multiple(wide, pa.scalar(base), round_mode="half_towards_infinity").cast(cells.type)
    except pa.ArrowInvalid:  # its message quotes the cell
        reason = f"A number of column {name!r} leaves its type when rounded; top-code it first."
    raise DataError(reason)


@dataclass(frozen=True)
class YearOnly(CellTechnique):
    """Cut dates to their year, and years before the earliest one to "... or earlier".

    It does not hide a year that is rare in the table.

    Parameters
    ----------
    earliest
        The last year that is coded together with all before it, for birth dates of the very old; the column is then
        text. By default every year is shown, as a whole number.
    """

    name: ClassVar[str] = "year-only"
    earliest: int | None = None

    def __post_init__(self) -> None:
        if self.earliest is not None and not (isinstance(self.earliest, int) and 0 < self.earliest < 10_000):
            raise ParameterError("The earliest year must be a whole number from 1 to 9999.")

    def parameters(self) -> dict[str, Any]:
        """Return the earliest year."""
        return {} if self.earliest is None else {"earliest": self.earliest}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Cut every date."""
        if not (kinds.is_date(cells.type) or kinds.is_timestamp(cells.type) or kinds.is_null(cells.type)):
            raise DataError(f"Column {name!r} does not hold dates; read it as dates first, or drop it.")
        years = cells.cast(pa.int64()) if kinds.is_null(cells.type) else pc.year(cells)
        if self.earliest is None:
            return as_column(years), Tally()
        early = pc.fill_null(pc.less_equal(years, self.earliest), False)
        label = pa.scalar(f"{self.earliest} or earlier")
        return as_column(pc.if_else(early, label, years.cast(pa.string()))), Tally()


@dataclass(frozen=True)
class ZipPrefix(CellTechnique):
    """Cut US ZIP codes to their first three digits, and those of sparse areas, or no ZIP codes at all, to 000.

    Five digits, nine digits, and five and four with a hyphen count as ZIP codes; whole numbers that lost their leading
    zeros get them back. It does not hide that an area has few people *of a kind*.

    Parameters
    ----------
    sparse
        The beginnings of areas with too few people; by default those of the census of 2000 (`SPARSE_ZIP3`).
    """

    name: ClassVar[str] = "zip-prefix"
    sparse: tuple[str, ...] = SPARSE_ZIP3

    def __post_init__(self) -> None:
        object.__setattr__(self, "sparse", tuple(self.sparse))
        if not all(isinstance(each, str) and len(each) == 3 and each.isdigit() for each in self.sparse):
            raise ParameterError("The sparse areas must be given as text of three digits each.")

    def parameters(self) -> dict[str, Any]:
        """Return the sparse areas."""
        return {"sparse": list(self.sparse)}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Cut every code."""
        text = _zip_text(cells, name)
        code = pc.match_substring_regex(text, "^[0-9]{5}(-?[0-9]{4})?$")
        first = pc.utf8_slice_codeunits(text, 0, 3)
        shown = pc.and_(code, pc.invert(pc.is_in(first, value_set=pa.array(self.sparse, pa.string()))))
        return as_column(pc.if_else(shown, first, pa.scalar("000"))), Tally()


def _zip_text(cells: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if kinds.is_integer(cells.type):
        text = cells.cast(pa.string())
        wide = pc.greater(pc.utf8_length(text), 5)
        return pc.if_else(wide, pc.utf8_lpad(text, 9, "0"), pc.utf8_lpad(text, 5, "0"))
    if not (kinds.is_string(cells.type) or kinds.is_large_string(cells.type) or kinds.is_null(cells.type)):
        raise DataError(f"Column {name!r} holds neither text nor whole numbers, as ZIP codes are; drop it.")
    return pc.utf8_trim_whitespace(cells.cast(pa.string()))


def orderable(cells: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return cells that can lie above a bound; NaN, which cannot, as missing."""
    if kinds.is_floating(cells.type) or kinds.is_decimal(cells.type):
        reals = cells.cast(pa.float64())
        return as_column(pc.if_else(pc.is_nan(reals), pa.scalar(None, pa.float64()), reals))
    if (
        is_number(cells.type)
        or kinds.is_date(cells.type)
        or kinds.is_timestamp(cells.type)
        or kinds.is_null(cells.type)
    ):
        return cells
    raise DataError(f"Column {name!r} holds neither numbers nor dates, so nothing in it lies beyond a bound.")


def _scalar_within(whole: int, like: pa.DataType) -> pa.Scalar:
    width = like.bit_width
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if kinds.is_signed_integer(like) else (0, 2**width - 1)
    return pa.scalar(min(max(whole, low), high), like)


def _name_kind(given: pa.DataType) -> str:
    return "a date" if kinds.is_temporal(given) else "a number"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_end(value: object) -> bool:
    """Return whether a value can be an end: a finite number or a date."""
    return (isinstance(value, date) and not isinstance(value, datetime)) or _is_number(value)


def plain_end(value: Any) -> Any:
    """Return an end as JSON carries it."""
    return value.isoformat() if isinstance(value, date) else value


def _places(base: float) -> int:
    """Return how many decimal places a multiple of the base has, so that rounding leaves no 0.30000000000000004."""
    exponent = Decimal(str(base)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def as_tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as a tuple; a single text is one value and not its letters."""
    return (values,) if isinstance(values, str) else tuple(values)
