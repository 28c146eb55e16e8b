"""The doctor: is this installation fit to protect anybody?"""

from __future__ import annotations

import importlib.util
import platform
import shutil
import tempfile
from fractions import Fraction
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ziggurat import __version__
from ziggurat.cli._ledger import default_ledger
from ziggurat.errors import ZigguratError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.mechanisms import SelfCheck, self_test
from ziggurat.privacy import Neighbours, PureEvent

_CORE = ("numpy", "scipy", "numba", "pyarrow", "duckdb", "sqlglot", "narwhals", "dp-accounting", "cryptography")
_EXTRAS = {
    "torch": ("torch", "keras"),
    "spark": ("pyspark",),
    "postgres": ("psycopg",),
    "ray": ("ray",),
    "tracking": ("mlflow", "wandb"),
    "marginals": ("mbi",),
}


def run_doctor(ledger: str) -> bool:
    """Examine everything, print the findings, and tell whether all is well."""
    console = Console(highlight=False)
    console.print(_versions())
    console.print(_extras())
    with console.status("Drawing and auditing noise …"):
        checks = [*self_test(), _ledger_works()]
    known = ledger or (str(default_ledger()) if default_ledger().exists() else "")
    checks += [_ledger_intact(known)] if known else []
    console.print(_findings(checks))
    well = all(check.passed for check in checks)
    console.print("[green]All is well.[/]" if well else "[bold red]Something is wrong; do not release anything.[/]")
    return well


def _versions() -> Table:
    table = Table(title="Versions", title_justify="left", box=None, show_header=False, padding=(0, 2))
    table.add_row("ziggurat", __version__)
    table.add_row("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    for name in _CORE:
        table.add_row(name, metadata.version(name))
    return table


def _extras() -> Table:
    table = Table(title="Extras", title_justify="left", box=None, show_header=False, padding=(0, 2))
    for extra, modules in _EXTRAS.items():
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            table.add_row(extra, "[yellow]missing[/]", f"pip install -c constraints.txt 'ziggurat\\[{extra}]'")
        elif extra == "spark" and shutil.which("java") is None:
            table.add_row(extra, "[yellow]no Java[/]", "apt-get install default-jre-headless")
        else:
            table.add_row(extra, "[green]present[/]", ", ".join(modules))
    return table


def _ledger_works() -> SelfCheck:
    """Write a small ledger on this disk, spend from it and verify it."""
    with tempfile.TemporaryDirectory(prefix="ziggurat-doctor-") as folder:
        try:
            with Ledger.open(Path(folder) / "ledger.db", throwaway=True) as ledger:
                ledger.create_budget("check", 1)
                ledger.grant("check", "doctor", 1)
                with ledger.spend("check", "doctor", PureEvent(Neighbours(), Fraction(1, 2))) as spend:
                    spend.commit(0)
                result = ledger.verify()
        except ZigguratError as error:
            return SelfCheck("a new ledger", False, str(error))
    return SelfCheck("a new ledger", result.ok, f"{result.entries} entries written durably and verified")


def _ledger_intact(where: str) -> SelfCheck:
    try:
        result = verify_ledger(where)
    except ZigguratError as error:
        return SelfCheck("your ledger", False, str(error))
    detail = f"{result.entries} entries verified" if result.ok else str(result.problems[0])
    return SelfCheck("your ledger", result.ok, detail)


def _findings(checks: list[SelfCheck]) -> Table:
    table = Table(title="Self-test", title_justify="left", box=None, show_header=False, padding=(0, 2))
    for check in checks:
        table.add_row("[green]✓[/]" if check.passed else "[red]✗[/]", Text(check.name), Text(check.detail))
    return table
