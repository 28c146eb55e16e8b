"""What is publicly known of a table: its columns, their roles and bounds, and its privacy unit."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.schema._column import Column, Role
    from ziggurat.data.schema._file_layout import FileLayout
    from ziggurat.data.schema._hierarchy_files import hierarchies_in, read_hierarchies, read_hierarchy, write_hierarchy
    from ziggurat.data.schema._hints import (
        NUMBER_CODES,
        TEXT_CODES,
        is_bare_name,
        names_a_counter,
        names_a_number,
        names_a_person,
        names_a_unit,
        names_one_person,
        roles_in_name,
    )
    from ziggurat.data.schema._kind_texts import GRAMMAR, LONGEST, PLAIN_TRUTH, TYPICAL, kind_reader, looks_like
    from ziggurat.data.schema._known import (
        INT64_LOWER,
        INT64_UPPER,
        Bounds,
        BoundValue,
        Categories,
        Hierarchy,
        Kind,
        MissingCode,
        Provenance,
        Symbols,
        Value,
        kind_of_values,
        write_value,
    )
    from ziggurat.data.schema._notation import DECIMALS, THOUSANDS, Notation
    from ziggurat.data.schema._schema import Schema
    from ziggurat.data.schema._unit import Unit
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_column": "Column Role",
            "_file_layout": "FileLayout",
            "_hierarchy_files": "hierarchies_in read_hierarchies read_hierarchy write_hierarchy",
            "_hints": """
                NUMBER_CODES TEXT_CODES is_bare_name names_a_counter names_a_number names_a_person
                names_a_unit names_one_person roles_in_name
            """,
            "_kind_texts": "GRAMMAR LONGEST PLAIN_TRUTH TYPICAL kind_reader looks_like",
            "_known": """
                BoundValue Bounds Categories Hierarchy INT64_LOWER INT64_UPPER Kind MissingCode Provenance Symbols
                Value kind_of_values write_value
            """,
            "_notation": "DECIMALS Notation THOUSANDS",
            "_schema": "Schema",
            "_unit": "Unit",
        },
    )

__all__ = [
    "DECIMALS",
    "GRAMMAR",
    "INT64_LOWER",
    "INT64_UPPER",
    "LONGEST",
    "NUMBER_CODES",
    "PLAIN_TRUTH",
    "TEXT_CODES",
    "THOUSANDS",
    "TYPICAL",
    "BoundValue",
    "Bounds",
    "Categories",
    "Column",
    "FileLayout",
    "Hierarchy",
    "Kind",
    "MissingCode",
    "Notation",
    "Provenance",
    "Role",
    "Schema",
    "Symbols",
    "Unit",
    "Value",
    "hierarchies_in",
    "is_bare_name",
    "kind_of_values",
    "kind_reader",
    "looks_like",
    "names_a_counter",
    "names_a_number",
    "names_a_person",
    "names_a_unit",
    "names_one_person",
    "read_hierarchies",
    "read_hierarchy",
    "roles_in_name",
    "write_hierarchy",
    "write_value",
]
