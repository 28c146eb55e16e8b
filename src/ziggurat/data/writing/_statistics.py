"""Tables as files of Stata and SPSS, with labels of values, missing codes and descriptions from the schema."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import pyarrow as pa

from ziggurat.data.schema import Schema
from ziggurat.data.writing._statistics_columns import StatisticsColumn, column_for
from ziggurat.data.writing._statistics_rules import SPSS, STATA, StatisticsRules, check_name, missing_ranges
from ziggurat.errors import DataError, MissingExtraError, ZigguratError


def check_names(names: Sequence[str], rules: StatisticsRules) -> None:
    """Raise DataError unless a program allows all names, and MissingExtraError if its files cannot be written here."""
    for name in names:
        check_name(name, rules)
    _import_pandas()


class StatisticsWriter:
    """Collects a table and writes it to a file of a statistics program at the end.

    Parameters
    ----------
    path
        The file.
    shape
        The Arrow schema of every piece.
    schema
        Whose labels, missing codes and descriptions go into the file.
    """

    rules: ClassVar[StatisticsRules]

    def __init__(self, path: Path, shape: pa.Schema, schema: Schema | None = None) -> None:
        check_names(shape.names, self.rules)
        self._path, self._shape, self._schema = path, shape, schema
        self._pieces: list[pa.Table] = []

    def write_table(self, table: pa.Table) -> None:
        """Keep the rows of a table until the end."""
        self._pieces.append(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            table = pa.concat_tables(self._pieces) if self._pieces else self._shape.empty_table()
            columns = [self._column(name, table) for name in table.column_names]
            self._write(columns)

    def _column(self, name: str, table: pa.Table) -> StatisticsColumn:
        known = self._schema[name] if self._schema is not None and name in self._schema else None
        return column_for(name, table.column(name), known, self.rules)

    def _write(self, columns: list[StatisticsColumn]) -> None:
        frame = _frame(columns)
        options: dict[str, Any] = {
            "variable_format": {each.name: each.form for each in columns if each.form},
            "column_labels": {each.name: each.description or None for each in columns},
            "variable_value_labels": {each.name: each.labels for each in columns if each.labels},
        }
        try:
            self._save(frame, options, columns)
            return
        except ZigguratError:
            raise
        except Exception:  # noqa: BLE001, S110  (whose words may quote cells)
            pass
        raise DataError(f"The columns do not fit into a file of {self.rules.program}; write .parquet instead.")

    def _save(self, frame: Any, options: dict[str, Any], columns: list[StatisticsColumn]) -> None:
        raise NotImplementedError


class StataWriter(StatisticsWriter):
    """Writes a file of Stata 14 and later; codes for missing values become .a to .z, with their labels."""

    rules = STATA

    def _save(self, frame: Any, options: dict[str, Any], columns: list[StatisticsColumn]) -> None:
        import pyreadstat

        letters = {each.name: list(each.letters) for each in columns if each.letters}
        pyreadstat.write_dta(frame, str(self._path), missing_user_values=letters, **options)


class SpssWriter(StatisticsWriter):
    """Writes a file of SPSS; codes for missing values become its user-missing values."""

    rules = SPSS

    def _save(self, frame: Any, options: dict[str, Any], columns: list[StatisticsColumn]) -> None:
        import pyreadstat

        ranges = {each.name: missing_ranges(each) for each in columns if each.missing}
        options["variable_format"] |= {each.name: "F8.0" for each in columns if each.is_whole}
        pyreadstat.write_sav(frame, str(self._path), missing_ranges=ranges, **options)


def _frame(columns: list[StatisticsColumn]) -> Any:
    pandas = _import_pandas()
    return pandas.DataFrame({each.name: pandas.Series(list(each.cells), dtype=_dtype(each)) for each in columns})


def _dtype(column: StatisticsColumn) -> Any:
    if any(cell is not None for cell in column.cells):
        return object
    return "str" if column.is_text else "float64"  # an empty column shows no type of its own


def _import_pandas() -> Any:
    try:
        import pandas  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("Stata and SPSS files are written with pandas; add it: pip install pandas.") from None
    return pandas
