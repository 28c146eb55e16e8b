"""The surface is pinned: what the package exports, that it stays light, and that every public name is explained."""

import importlib
import inspect
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ziggurat

HEAVY = (
    "cryptography",
    "dp_accounting",
    "duckdb",
    "fastapi",
    "matplotlib",
    "mpmath",
    "narwhals",
    "numba",
    "numpy",
    "pandas",
    "pyarrow",
    "pyarrow.compute",
    "pyspark",
    "rich",
    "scipy",
    "sklearn",
    "sqlglot",
    "torch",
    "uvicorn",
    "yaml",
)
# A question reads a table in DuckDB and draws a little noise; the rest of the list it does without.
NEEDED_TO_ASK = {"cryptography", "duckdb", "numpy", "pyarrow", "sqlglot", "yaml"}
PACKAGES = [
    "ziggurat",
    "ziggurat.anonymize",
    "ziggurat.attacks",
    "ziggurat.client",
    "ziggurat.data",
    "ziggurat.data.engines",
    "ziggurat.learn",
    "ziggurat.ledger",
    "ziggurat.ledger.witness",
    "ziggurat.local",
    "ziggurat.mechanisms",
    "ziggurat.pate",
    "ziggurat.privacy",
    "ziggurat.queries",
    "ziggurat.randomness",
    "ziggurat.release",
    "ziggurat.release.bundle",
    "ziggurat.release.config",
    "ziggurat.service.witness",
    "ziggurat.synthesize",
    "ziggurat.utility",
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
        "connect",
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


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_lists_its_names_before_they_are_loaded(package):
    code = f"import {package} as package; print(set(package.__all__) <= set(dir(package)), hasattr(package, 'nothing'))"
    assert run_python(code, ".").split() == ["True", "False"]


def run_python(code, folder):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    return done.stdout


def loaded_by(statement, folder="."):
    """Which of the heavy modules a process has loaded at its end."""
    last = run_python(f"{statement}\nimport sys; print(*[m for m in {HEAVY!r} if m in sys.modules])", folder)
    return set(last.splitlines()[-1].split())


def calling(*arguments):
    return (
        f"import sys; sys.argv = {['ziggurat', *arguments]!r}\n"
        "from ziggurat.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code"
    )


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A folder with a table, its schema, and a ledger out of which one question was paid."""
    folder = tmp_path_factory.mktemp("asked")
    table = pa.table({"person": range(50), "income": [1000 * i for i in range(50)]})
    pq.write_table(table, folder / "people.parquet")
    (folder / "people.yaml").write_text(
        "unit: {person: person}\ncolumns:\n  person: {kind: integer, role: identifier}\n"
        "  income: {kind: integer, role: sensitive, bounds: [0, 50000]}\n"
    )
    with ziggurat.Ledger.open(folder / "book.db") as ledger:
        ledger.create_budget("people", 10, neighbours=ziggurat.Neighbours(ziggurat.Unit.person("person")))
        ledger.grant("people", "ana", 10)
    question = "SELECT AVG(income) FROM people", "--epsilon", "0.2", "--rows-per-unit", "1"
    loaded = loaded_by(calling("ask", "people.parquet", *question, "--analyst", "ana", "--ledger", "book.db"), folder)
    return folder, loaded


@pytest.mark.parametrize(
    "statement",
    [
        "import ziggurat",
        "import ziggurat.cli",
        calling("--help"),
        calling("ask", "--help"),
        calling("pate", "--help"),
        calling("witness", "serve", "--help"),
    ],
    ids=["import", "import the command line", "help", "help of a command", "help of a group", "help of a server"],
)
def test_starting_loads_nothing_heavy(statement):
    assert loaded_by(statement) == set()


def test_showing_a_ledger_loads_nothing_heavy_but_what_draws_its_bars(asked):
    assert loaded_by(calling("ledger", "show", "people", "--ledger", "book.db"), asked[0]) == {"rich"}


def test_asking_loads_only_what_it_needs(asked):
    assert asked[1] == NEEDED_TO_ASK


def test_a_command_loads_no_other_one(asked):
    code = calling("ledger", "show", "--ledger", "book.db")
    names = run_python(
        f"{code}\nimport sys; print(*sorted(m for m in sys.modules if m.startswith('ziggurat.cli.')))", asked[0]
    )
    assert "ziggurat.cli._ledger" in names.splitlines()[-1]
    assert "ziggurat.cli.ask._command" not in names.splitlines()[-1]


def test_looking_at_a_deferred_module_does_not_load_it():
    code = (
        "import sys; from ziggurat._lazy import deferred; later = deferred('colorsys')\n"
        "print(hasattr(later, '__wrapped__'), 'colorsys' in sys.modules)\n"
        "print(later.rgb_to_hsv(0, 0, 0), 'colorsys' in sys.modules)"
    )
    assert run_python(code, ".").splitlines() == ["False False", "(0.0, 0.0, 0) True"]


def test_an_unknown_name_raises_as_python_does():
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = ziggurat.nothing_here
