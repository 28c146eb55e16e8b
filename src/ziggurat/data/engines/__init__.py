"""Engines: databases that answer relational queries with Arrow tables."""

from ziggurat.data.engines._base import WIDE, Engine, is_finite, scrambled
from ziggurat.data.engines._duckdb import DuckDBEngine, DuckDBRelationEngine
from ziggurat.data.engines._file_names import files_named
from ziggurat.data.engines._postgres import PostgresEngine
from ziggurat.data.engines._spark import SparkEngine

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
