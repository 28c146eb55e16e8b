"""A column of a table as a statistics program holds it: cells, labels, codes for missing values."""

import string
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import isfinite, isnan
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

from ziggurat.data.schema import Column, Kind, MissingCode
from ziggurat.data.writing._statistics_rules import STATA, StatisticsRules
from ziggurat.errors import DataError

_NUMBERS = (Kind.INTEGER, Kind.REAL)
_LEAST_LONG, _MOST_LONG = -2_147_483_647, 2_147_483_620
_MOST_EXACT = 2**53
_MOST_OF_A_CODE = 8


@dataclass(frozen=True)
class StatisticsColumn:
    """A column as it is written.

    Parameters
    ----------
    name, description
        Of the column.
    cells
        Numbers, texts, dates, moments; a letter where Stata has a missing value of that letter; None where missing.
    labels
        What values stand for.
    missing
        Values that count as missing in SPSS.
    letters
        Those of Stata's missing values that it uses.
    is_text
        Whether its cells are texts, also if there are none.
    form
        How a column of dates or moments is shown, where no cell says that it is one.
    """

    name: str
    cells: Sequence[Any]
    description: str = ""
    labels: dict[Any, str] = field(default_factory=dict)
    missing: tuple[MissingCode, ...] = ()
    letters: tuple[str, ...] = ()
    is_text: bool = False
    form: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it has numbers, and all are whole."""
        numbers = [cell for cell in self.cells if cell is not None]
        return bool(numbers) and all(isinstance(cell, int) for cell in numbers)


def column_for(name: str, column: pa.ChunkedArray, known: Column | None, rules: StatisticsRules) -> StatisticsColumn:
    """Return a column as a statistics program holds it; DataError if it cannot.

    Parameters
    ----------
    name
        Of the column.
    column
        Its cells.
    known
        What the schema says; where its kind does not fit the cells, it is left aside.
    rules
        Of the program.
    """
    cells = _cells(name, column)
    fitting = known if known is not None and _fits(known, column.type) else None
    description = (known.description if known is not None else "")[: rules.longest_description]
    numeric = _is_number(column.type) or (fitting is not None and fitting.storage in _NUMBERS)
    if fitting is not None and _is_text(column.type) and fitting.storage is not Kind.TEXT:
        cells = [_parse(name, cell, fitting) for cell in cells]
    if not numeric:
        made = _describe_other(name, cells, fitting, description, rules)
        return replace(
            made, is_text=_is_text(column.type) and not _is_date(fitting), form=_form(made, column.type, rules)
        )
    if rules is STATA:
        return _describe_stata(name, cells, fitting, description)
    return _describe_spss(name, cells, fitting, description)


def _cells(name: str, column: pa.ChunkedArray) -> list[Any]:
    given = column.type.value_type if kinds.is_dictionary(column.type) else column.type
    if kinds.is_timestamp(given):
        column = column.cast(pa.timestamp("us"))
    elif kinds.is_decimal(given):
        column = column.cast(pa.float64())
    elif kinds.is_boolean(given):
        column = column.cast(pa.int64())
    elif not (_is_number(given) or _is_text(given) or kinds.is_date(given) or kinds.is_null(given)):
        raise DataError(f"Column {name!r} is of a type that statistics programs do not hold; write .parquet instead.")
    return [_finite(name, cell) for cell in column.to_pylist()]


def _finite(name: str, cell: Any) -> Any:
    if not isinstance(cell, float) or isfinite(cell):
        return cell
    if isnan(cell):
        return None
    raise DataError(
        f"Column {name!r} holds infinite numbers, which statistics programs do not; write .parquet instead."
    )


def _is_number(given: pa.DataType) -> bool:
    return bool(
        kinds.is_integer(given) or kinds.is_floating(given) or kinds.is_decimal(given) or kinds.is_boolean(given)
    )


def _is_text(given: pa.DataType) -> bool:
    given = given.value_type if kinds.is_dictionary(given) else given
    return bool(kinds.is_string(given) or kinds.is_large_string(given) or kinds.is_string_view(given))


def _is_date(known: Column | None) -> bool:
    return known is not None and known.storage is Kind.DATE


def _form(made: StatisticsColumn, given: pa.DataType, rules: StatisticsRules) -> str:
    if any(cell is not None for cell in made.cells):
        return ""
    if kinds.is_timestamp(given):
        return rules.moments
    return rules.dates if kinds.is_date(given) else ""


def _fits(known: Column, given: pa.DataType) -> bool:
    """Whether cells of a type are those that the schema speaks of, and not others under the same name."""
    if kinds.is_null(given):
        return True
    if _is_text(given):
        return known.storage is Kind.TEXT or any(isinstance(code, str) for code in known.missing)
    if kinds.is_boolean(given):
        return known.storage is Kind.BOOLEAN
    return known.storage in _NUMBERS if _is_number(given) else known.storage is Kind.DATE


def _parse(name: str, cell: str | None, known: Column) -> Any:
    """A number or a date that is held as text beside codes that are text; a code stays as it is."""
    if cell is None or not cell.strip() or cell in known.missing:
        return cell if cell in known.missing else None
    try:
        if known.storage is Kind.DATE:
            return date.fromisoformat(cell)
        return int(cell) if known.storage is Kind.INTEGER else float(cell)
    except ValueError:
        pass
    raise DataError(f"Column {name!r} holds text that is not {known.kind}, as the schema says; read it by its schema.")


def _describe_other(
    name: str, cells: list[Any], known: Column | None, description: str, rules: StatisticsRules
) -> StatisticsColumn:
    """Text, whose missing cells are empty, dates and moments."""
    if known is not None and known.storage is Kind.DATE:
        return _describe_dates(name, cells, known, description, rules)
    if known is None:
        return StatisticsColumn(name, _fill_texts(cells, ()), description)
    codes = tuple(code for code in known.missing if isinstance(code, str))
    short = () if rules is STATA else tuple(code for code in codes if len(code.encode()) <= _MOST_OF_A_CODE)
    labels = {} if rules is STATA else {code: text for code, text in known.labels if isinstance(code, str)}
    kept = _fill_texts(cells, tuple(code for code in codes if code not in short))
    return StatisticsColumn(name, kept, description, labels, short)


def _fill_texts(cells: list[Any], codes: tuple[str, ...]) -> list[Any]:
    """Texts, empty where they are missing or a code that the program does not know: so it counts them as missing."""
    if not any(isinstance(cell, str) for cell in cells):
        return cells
    return ["" if cell is None or cell in codes else cell for cell in cells]


def _describe_dates(
    name: str, cells: list[Any], known: Column, description: str, rules: StatisticsRules
) -> StatisticsColumn:
    texts = {cell for cell in cells if isinstance(cell, str)}
    if not texts:
        return StatisticsColumn(name, cells, description)
    _require_stata(name, rules)
    letters = _letters(name, known.missing)
    kept = [letters[cell] if isinstance(cell, str) else cell for cell in cells]
    return StatisticsColumn(name, kept, description, letters=tuple(letters.values()))


def _describe_stata(name: str, cells: list[Any], known: Column | None, description: str) -> StatisticsColumn:
    letters = _letters(name, known.missing if known is not None else ())
    labels = dict(known.labels) if known is not None else {}
    shown = {letters.get(code, code): text for code, text in labels.items()}
    shown |= {letter: str(code) for code, letter in letters.items() if code != f".{letter}" and code not in labels}
    kept = [letters.get(cell, cell) for cell in cells]
    if any(not isinstance(code, str) and code != int(code) for code in shown):
        raise DataError(f"Stata labels whole numbers only; column {name!r} has labels of others; write .sav instead.")
    return StatisticsColumn(name, _narrow(name, kept), description, _whole(shown), (), tuple(letters.values()))


def _describe_spss(name: str, cells: list[Any], known: Column | None, description: str) -> StatisticsColumn:
    if any(isinstance(cell, str) for cell in cells):
        raise DataError(
            f"Column {name!r} has missing codes that are text, which numbers of SPSS do not; write .dta or .csv."
        )
    missing = tuple(code for code in known.missing if not isinstance(code, str)) if known is not None else ()
    labels = {code: text for code, text in known.labels if not isinstance(code, str)} if known is not None else {}
    return StatisticsColumn(name, _narrow(name, cells), description, _whole(labels), missing)


def _letters(name: str, codes: Sequence[MissingCode]) -> dict[MissingCode, str]:
    """The letter of Stata for every code: its own for .a to .z, and for the others the first that are free."""
    own: dict[MissingCode, str] = {code: code[1] for code in codes if _is_letter(code)}  # type: ignore[index]
    free = [letter for letter in string.ascii_lowercase if letter not in own.values()]
    others = [code for code in codes if code not in own]
    if len(others) > len(free):
        raise DataError(f"Stata has 26 codes for missing values; column {name!r} has more; fold some together.")
    return own | dict(zip(others, free, strict=False))


def _is_letter(code: MissingCode) -> bool:
    return isinstance(code, str) and len(code) == 2 and code[0] == "." and code[1] in string.ascii_lowercase


def _narrow(name: str, cells: list[Any]) -> list[Any]:
    """Whole numbers as such if they have 32 bits, and otherwise as reals, which hold 53."""
    whole = [cell for cell in cells if isinstance(cell, int)]
    if any(abs(cell) > _MOST_EXACT for cell in whole):
        raise DataError(f"Column {name!r} holds whole numbers of more than 15 digits; make text of them first.")
    mixed = len(whole) != sum(1 for cell in cells if cell is not None and not isinstance(cell, str))
    if mixed or any(not _LEAST_LONG <= cell <= _MOST_LONG for cell in whole):
        return [float(cell) if isinstance(cell, int) else cell for cell in cells]
    return cells


def _whole(labels: dict[Any, str]) -> dict[Any, str]:
    return {int(code) if isinstance(code, float) and code.is_integer() else code: text for code, text in labels.items()}


def _require_stata(name: str, rules: StatisticsRules) -> None:
    if rules is not STATA:
        raise DataError(f"Column {name!r} has missing codes that are text, which dates of SPSS do not; write .dta.")
