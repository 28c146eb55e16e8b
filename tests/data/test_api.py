"""The public names of the package, and what importing it costs."""

import subprocess
import sys

import ziggurat.data

PUBLIC = [
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
    "hierarchies_in",
    "open_table",
    "read",
    "read_hierarchies",
    "read_hierarchy",
    "sample_rows",
    "suggest_schema",
    "unmark_table",
    "write_hierarchy",
    "write_csv",
]


def test_the_public_names_are_these() -> None:
    assert sorted(ziggurat.data.__all__) == sorted(PUBLIC)
    assert all(getattr(ziggurat.data, name).__doc__ for name in PUBLIC)


def test_importing_the_package_imports_no_optional_dependency() -> None:
    code = "import sys, ziggurat.data; print(*({'pandas', 'polars', 'pyspark', 'psycopg', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ""
