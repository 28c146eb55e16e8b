"""Engines: databases that answer relational queries with Arrow tables."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.engines._base import WIDE, Engine, is_finite, scrambled
    from ziggurat.data.engines._duckdb import DuckDBEngine, DuckDBRelationEngine
    from ziggurat.data.engines._file_names import files_named
    from ziggurat.data.engines._postgres import PostgresEngine
    from ziggurat.data.engines._spark import SparkEngine
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_base": "WIDE Engine is_finite scrambled",
            "_duckdb": "DuckDBEngine DuckDBRelationEngine",
            "_file_names": "files_named",
            "_postgres": "PostgresEngine",
            "_spark": "SparkEngine",
        },
    )

__all__ = [
    "WIDE",
    "DuckDBEngine",
    "DuckDBRelationEngine",
    "Engine",
    "PostgresEngine",
    "SparkEngine",
    "files_named",
    "is_finite",
    "scrambled",
]
