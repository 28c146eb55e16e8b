"""Files of Stata, SPSS and SAS, with what they say of their variables."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from ziggurat.data.engines import name_columns
from ziggurat.data.reading.formats._cells import write_number
from ziggurat.data.reading.formats._codebook import Variable, describe, missing_codes
from ziggurat.data.reading.formats._loaded import LoadedFile, withhold_reason
from ziggurat.data.reading.formats._statistics_times import Meaning, column_of_times, meaning_of
from ziggurat.data.schema import Column, FileLayout, Kind
from ziggurat.errors import DataError
from ziggurat.wording import count_noun, list_names

_READERS = {
    ".dta": ("read_dta", "Stata"),
    ".sav": ("read_sav", "SPSS"),
    ".zsav": ("read_sav", "SPSS"),
    ".por": ("read_por", "SPSS"),
    ".sas7bdat": ("read_sas7bdat", "SAS"),
    ".xpt": ("read_xport", "SAS"),
}
_KEEP_CODES = ("read_dta", "read_sav", "read_sas7bdat")
STATISTICS = tuple(_READERS)
"""The endings of files of statistics programs."""


def load_statistics(path: str, layout: FileLayout) -> LoadedFile:
    """Return the table of a file of Stata, SPSS or SAS, and what it says of its columns.

    Labels of values, codes for missing ones and descriptions go to the columns. A column of numbers whose values all
    have labels is a category of these codes, learned from the file. Dates and moments keep their type, and times of day
    become text such as 14:35:00. Stata's missing values .a to .z, and those of SAS, stay apart: such a column is held
    as text, from which its kind is read, with the codes as missing ones.

    Parameters
    ----------
    path
        Of the file.
    layout
        Only its encoding counts.
    """
    held, told, program = _read(path, layout.encoding)
    if not held:
        raise DataError(f"The file {path!r} has no variables.")
    names, notes = name_columns(list(held))
    variables = [_variable(told, was, name, program) for was, name in zip(held, names, strict=True)]
    made = [_column(variable, cells) for variable, cells in zip(variables, held.values(), strict=True)]
    table = pa.table({column.name: array for array, column in made})
    labelled = sum(1 for _, column in made if column.labels)
    said = [f"{count_noun(labelled, 'column')} with labels of values."] if labelled else []
    counted = [each.name for each in variables if each.meaning is Meaning.PERIOD]
    if counted:
        said.append(f"Periods are kept as numbers counted from 1960 in {list_names(counted)}.")
    return LoadedFile(table, tuple(column for _, column in made), notes=(*notes, *said))


def _read(path: str, encoding: str) -> tuple[dict[str, list[Any]], Any, str]:
    import pyreadstat

    reader, program = _READERS[Path(path).suffix.lower()]
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if reader in _KEEP_CODES:
        options["user_missing"] = True
    if encoding and reader != "read_por":
        options["encoding"] = encoding
    broken = (
        f"The file {path!r} is damaged, protected by a password or no {program} file; save it again, or name its "
        "encoding with encoding= (--encoding)."
    )
    held, told = withhold_reason(lambda: getattr(pyreadstat, reader)(path, **options), broken)
    return dict(held), told, program


def _variable(told: Any, was: str, name: str, program: str) -> Variable:
    return Variable(
        name,
        description=(told.column_names_to_labels.get(was) or "").strip(),
        labels=dict(told.variable_value_labels.get(was) or {}),
        ranges=list(told.missing_ranges.get(was) or ()),
        meaning=meaning_of(program, told.original_variable_types.get(was) or ""),
        program=program,
        is_text=told.readstat_variable_types.get(was) == "string",
    )


def _column(variable: Variable, cells: list[Any]) -> tuple[pa.Array, Column]:
    if variable.is_text:
        texts = [cell or None for cell in cells]
        return pa.array(texts, pa.string()), describe(variable, Kind.TEXT, missing_codes(variable, texts))
    tagged = any(isinstance(cell, str) for cell in cells)
    if variable.meaning not in (Meaning.NUMBER, Meaning.PERIOD):
        return _times(variable, cells, tagged)
    numbers = [cell for cell in cells if cell is not None and not isinstance(cell, str)]
    whole = all(float(cell).is_integer() and abs(cell) < 2**62 for cell in numbers)
    missing = missing_codes(variable, cells)
    column = describe(variable, Kind.INTEGER if whole else Kind.REAL, missing, numbers)
    if tagged:
        return pa.array([_write(cell) for cell in cells], pa.string()), column
    kept = [int(cell) if whole and cell is not None else cell for cell in cells]
    return pa.array(kept, pa.int64() if whole else pa.float64()), column


def _times(variable: Variable, cells: list[Any], tagged: bool) -> tuple[pa.Array, Column]:
    """Dates, moments and times; codes for missing ones that are numbers leave no cell, the others a text."""
    codes = {code for code in missing_codes(variable, cells) if not isinstance(code, str)}
    kept = [None if cell in codes else cell for cell in cells]
    plain = [None if isinstance(cell, str) else cell for cell in kept]
    array = column_of_times(variable.meaning, variable.program, plain)
    kind = Kind.TEXT if variable.meaning is Meaning.TIME else Kind.DATE
    if tagged:
        days = array.cast(pa.string()) if kind is Kind.TEXT else array.cast(pa.date32()).cast(pa.string())
        array = pa.array(
            [_write(cell) if isinstance(cell, str) else day.as_py() for cell, day in zip(kept, days, strict=True)]
        )
    texts = tuple(code for code in missing_codes(variable, cells) if isinstance(code, str))
    return array, describe(variable, kind, texts)


def _write(cell: object) -> str | None:
    """A number, or the letter of a missing value, as Stata and SAS write it: 12, .a."""
    if cell is None:
        return None
    return f".{cell}" if isinstance(cell, str) else write_number(float(cell))  # type: ignore[arg-type]
