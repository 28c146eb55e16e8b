"""Every way in: files, folders, frames and databases become tables."""

from ziggurat.data.reading._csv_file import CsvWriter, unmark_table, write_csv
from ziggurat.data.reading._frames import arrow_table, check_names
from ziggurat.data.reading._read import read
from ziggurat.data.reading._suggest import Suggestion, suggest_schema

__all__ = [
    "CsvWriter",
    "Suggestion",
    "arrow_table",
    "check_names",
    "read",
    "suggest_schema",
    "unmark_table",
    "write_csv",
]
