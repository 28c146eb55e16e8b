"""Every way in: files, folders, frames and databases become tables."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.reading._checking import check_table
    from ziggurat.data.reading._csv_file import CsvWriter, unmark_table, write_csv
    from ziggurat.data.reading._frames import arrow_table, check_names
    from ziggurat.data.reading._read import read
    from ziggurat.data.reading.suggesting import Suggestion, suggest_schema
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_checking": "check_table",
            "_csv_file": "CsvWriter unmark_table write_csv",
            "_frames": "arrow_table check_names",
            "_read": "read",
            "suggesting": "Suggestion suggest_schema",
        },
    )

__all__ = [
    "CsvWriter",
    "Suggestion",
    "arrow_table",
    "check_names",
    "check_table",
    "read",
    "suggest_schema",
    "unmark_table",
    "write_csv",
]
