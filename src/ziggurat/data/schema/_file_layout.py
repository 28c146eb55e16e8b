"""How a file holds its table, where that cannot be seen from the file alone or was told."""

from dataclasses import dataclass, fields, replace
from typing import Any

from ziggurat.errors import SchemaError

QUOTES = ('"', '\\"', "'", "")
"""What may stand around cells: quotation marks, doubled inside or after a backslash, single ones, or nothing."""


@dataclass(frozen=True)
class FileLayout:
    """How a file holds its table; what is left out is seen from the file.

    Parameters
    ----------
    encoding
        Of a text file, such as "utf-8" or "cp1252".
    delimiter
        What separates the cells of a text file.
    quote
        What stands around cells that hold the delimiter: a quotation mark, doubled inside; a backslash and a quotation
        mark, if it stands after a backslash inside; an apostrophe; or nothing.
    header
        False if the first line is data.
    names
        Of the columns, in the order of the file; needed if there is no header, and otherwise in its place.
    skip
        How many lines, or rows of a sheet, stand above the header.
    skip_last
        How many lines, or rows of a sheet, stand below the data, such as totals.
    sheet
        Of a workbook.
    table
        In a file that holds several, such as SQLite, DuckDB or R.
    """

    encoding: str = ""
    delimiter: str = ""
    quote: str | None = None
    header: bool | None = None
    names: tuple[str, ...] = ()
    skip: int | None = None
    skip_last: int = 0
    sheet: str = ""
    table: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names) if isinstance(self.names, list | tuple) else self.names)
        if not all(isinstance(each, str) for each in (self.encoding, self.delimiter, self.sheet, self.table)):
            raise SchemaError("The encoding, delimiter, sheet and table of a file must be text.")
        if len(self.delimiter) > 1 or (self.delimiter and not self.delimiter.isascii()):
            raise SchemaError("The delimiter of a file must be one character, such as ';' or a tab.")
        if self.quote is not None and self.quote not in QUOTES:
            raise SchemaError("The quote of a file must be '\"', '\\\\\"', \"'\" or nothing.")
        if self.header is not None and not isinstance(self.header, bool):
            raise SchemaError("'header' must be true or false.")
        if not isinstance(self.names, tuple) or not all(isinstance(name, str) and name for name in self.names):
            raise SchemaError("The names of a file's columns must be a list of texts.")
        for count in (self.skip or 0, self.skip_last):
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                raise SchemaError("How many lines to skip must be a whole number, 0 or more.")

    @property
    def is_told(self) -> bool:
        """Whether it says anything."""
        return self != FileLayout()

    def settle(self) -> "FileLayout":
        """Return the layout with the usual way wherever nothing was told, so that nothing is found out from rows.

        A file is read by a schema in this way: how the rows of others are read must not depend on somebody's row.
        """
        quote = '"' if self.quote is None else self.quote
        header = self.header is not False
        return replace(self, encoding=self.encoding or "utf-8", quote=quote, header=header, skip=self.skip or 0)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to be found out but the delimiter, which the header shows."""
        return bool(self.encoding) and self.quote is not None and self.skip is not None

    @property
    def is_usual(self) -> bool:
        """Whether it says no more than what holds of the files that we write."""
        return self.is_settled and replace(self, delimiter="") == FileLayout().settle()

    def to_dict(self) -> dict[str, Any]:
        """Return what it says, ready for JSON."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in told.items()
            if value != getattr(_UNTOLD, name)
        }


_UNTOLD = FileLayout()
