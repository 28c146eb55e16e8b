"""What a table is: its schema, its privacy unit, and the engine that holds it."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data._atomic import write_text
    from ziggurat.data._column import Bounds, Categories, Column, Hierarchy, Kind, Provenance, Role
    from ziggurat.data._conditions import Condition
    from ziggurat.data._csv_file import CsvWriter, unmarked_table, write_csv
    from ziggurat.data._expressions import (
        clamped,
        count_where,
        exact_sum,
        known,
        present,
        quantised,
        quantised_bounds,
        ratio,
        reference,
    )
    from ziggurat.data._hierarchy_files import hierarchies_in, read_hierarchies, read_hierarchy, write_hierarchy
    from ziggurat.data._printed import printable
    from ziggurat.data._read import read
    from ziggurat.data._schema import Schema
    from ziggurat.data._suggest import Suggestion, suggest_schema
    from ziggurat.data._table import RawAccess, Table
    from ziggurat.data._unit import Unit
    from ziggurat.data._validation import Problem
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_atomic": "write_text",
            "_column": "Bounds Categories Column Hierarchy Kind Provenance Role",
            "_conditions": "Condition",
            "_csv_file": "CsvWriter unmarked_table write_csv",
            "_expressions": "clamped count_where exact_sum known present quantised quantised_bounds ratio reference",
            "_hierarchy_files": "hierarchies_in read_hierarchies read_hierarchy write_hierarchy",
            "_printed": "printable",
            "_read": "read",
            "_schema": "Schema",
            "_suggest": "Suggestion suggest_schema",
            "_table": "RawAccess Table",
            "_unit": "Unit",
            "_validation": "Problem",
        },
    )

__all__ = [
    "Bounds",
    "Categories",
    "Column",
    "Condition",
    "CsvWriter",
    "Hierarchy",
    "Kind",
    "Problem",
    "Provenance",
    "RawAccess",
    "Role",
    "Schema",
    "Suggestion",
    "Table",
    "Unit",
    "clamped",
    "count_where",
    "exact_sum",
    "hierarchies_in",
    "known",
    "present",
    "printable",
    "quantised",
    "quantised_bounds",
    "ratio",
    "read",
    "read_hierarchies",
    "read_hierarchy",
    "reference",
    "suggest_schema",
    "unmarked_table",
    "write_csv",
    "write_hierarchy",
    "write_text",
]
