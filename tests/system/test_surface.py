"""The surface is pinned: what the package exports, that it stays light, and that every public name is explained."""

import importlib
import inspect
import subprocess
import sys

import pytest

import ziggurat

HEAVY = (
    "numpy",
    "pyarrow",
    "duckdb",
    "numba",
    "scipy",
    "pandas",
    "torch",
    "pyspark",
    "dp_accounting",
    "rich",
    "sqlglot",
)
PACKAGES = [
    "ziggurat",
    "ziggurat.anonymize",
    "ziggurat.attacks",
    "ziggurat.data",
    "ziggurat.learn",
    "ziggurat.ledger",
    "ziggurat.local",
    "ziggurat.mechanisms",
    "ziggurat.pate",
    "ziggurat.privacy",
    "ziggurat.queries",
    "ziggurat.randomness",
    "ziggurat.release",
    "ziggurat.release.bundle",
]


def test_the_package_exports_exactly_these_names():
    assert ziggurat.__all__ == [
        "Column",
        "Ledger",
        "Neighbours",
        "Query",
        "Relation",
        "Schema",
        "Session",
        "Table",
        "Unit",
        "Workload",
        "ZigguratError",
        "__version__",
        "column",
        "compose",
        "read",
        "suggest_schema",
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_exists_and_is_documented(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert (inspect.getdoc(thing) or "").strip(), f"{package}.{name} has no docstring"


@pytest.mark.parametrize("statement", ["import ziggurat", "import ziggurat.cli"])
def test_starting_loads_nothing_heavy(statement):
    code = f"{statement}; import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


def test_an_unknown_name_raises_as_python_does():
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = ziggurat.nothing_here
