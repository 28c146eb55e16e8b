"""What a table is: its schema, its privacy unit, and the engine that holds it."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data._conditions import Condition
    from ziggurat.data._preview import TablePreview, TableView
    from ziggurat.data._sampling import open_table, sample_rows
    from ziggurat.data._table import RawAccess, Table
    from ziggurat.data._validation import Problem
    from ziggurat.data.reading import CsvWriter, Suggestion, check_table, read, suggest_schema, unmark_table, write_csv
    from ziggurat.data.schema import (
        Bounds,
        Categories,
        Column,
        FileLayout,
        Hierarchy,
        Kind,
        Notation,
        Provenance,
        Role,
        Schema,
        Symbols,
        Unit,
        hierarchies_in,
        read_hierarchies,
        read_hierarchy,
        write_hierarchy,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_conditions": "Condition",
            "_preview": "TablePreview TableView",
            "_sampling": "open_table sample_rows",
            "_table": "RawAccess Table",
            "_validation": "Problem",
            "reading": "CsvWriter Suggestion check_table read suggest_schema unmark_table write_csv",
            "schema": """
                Bounds Categories Column FileLayout Hierarchy Kind Notation Provenance Role Schema Symbols Unit
                hierarchies_in read_hierarchies read_hierarchy write_hierarchy
            """,
        },
    )

__all__ = [
    "Bounds",
    "Categories",
    "Column",
    "Condition",
    "CsvWriter",
    "FileLayout",
    "Hierarchy",
    "Kind",
    "Notation",
    "Problem",
    "Provenance",
    "RawAccess",
    "Role",
    "Schema",
    "Suggestion",
    "Symbols",
    "Table",
    "TablePreview",
    "TableView",
    "Unit",
    "check_table",
    "hierarchies_in",
    "open_table",
    "read",
    "read_hierarchies",
    "read_hierarchy",
    "sample_rows",
    "suggest_schema",
    "unmark_table",
    "write_csv",
    "write_hierarchy",
]
