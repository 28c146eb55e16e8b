"""Engines: databases that answer relational queries with Arrow tables."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.engines._base import (
        WIDE,
        Engine,
        captured,
        exact_total,
        finite_cell,
        in_byte_order,
        is_finite,
        scramble,
        table_named,
    )
    from ziggurat.data.engines._canonical import canonical_column
    from ziggurat.data.engines._column_names import name_columns
    from ziggurat.data.engines._database_file import DatabaseTable, tables_in
    from ziggurat.data.engines._duckdb import DuckDBEngine, DuckDBRelationEngine, is_dataset
    from ziggurat.data.engines._file_names import files_named
    from ziggurat.data.engines._postgres import PostgresEngine
    from ziggurat.data.engines._spark import SparkEngine
    from ziggurat.data.engines._spreadsheet_cells import mark_column, mark_text, unmark_column, unmark_text
    from ziggurat.data.engines.spark import SparkPlace, plan_spark
    from ziggurat.data.engines.texts import DELIMITERS, is_text_file
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_base": "Engine WIDE captured exact_total finite_cell in_byte_order is_finite scramble table_named",
            "_canonical": "canonical_column",
            "_column_names": "name_columns",
            "_database_file": "DatabaseTable tables_in",
            "_duckdb": "DuckDBEngine DuckDBRelationEngine is_dataset",
            "_file_names": "files_named",
            "_postgres": "PostgresEngine",
            "_spark": "SparkEngine",
            "_spreadsheet_cells": "mark_column mark_text unmark_column unmark_text",
            "spark": "SparkPlace plan_spark",
            "texts": "DELIMITERS is_text_file",
        },
    )

__all__ = [
    "DELIMITERS",
    "WIDE",
    "DatabaseTable",
    "DuckDBEngine",
    "DuckDBRelationEngine",
    "Engine",
    "PostgresEngine",
    "SparkEngine",
    "SparkPlace",
    "canonical_column",
    "captured",
    "exact_total",
    "files_named",
    "finite_cell",
    "in_byte_order",
    "is_dataset",
    "is_finite",
    "is_text_file",
    "mark_column",
    "mark_text",
    "name_columns",
    "plan_spark",
    "scramble",
    "table_named",
    "tables_in",
    "unmark_column",
    "unmark_text",
]
