"""The doctor: is this installation fit to protect anybody?"""

from __future__ import annotations

import importlib.util
import os
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
from ziggurat.cli._books import default_ledger
from ziggurat.cli._outputs import print_json
from ziggurat.errors import ZigguratError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.mechanisms import SelfCheck, self_test
from ziggurat.privacy import Neighbours, PureEvent
from ziggurat.wording import count_noun

_CORE = ("numpy", "scipy", "numba", "pyarrow", "duckdb", "sqlglot", "narwhals", "dp-accounting", "cryptography")
_EXTRAS = {
    "torch": ("torch", "keras"),
    "spark": ("pyspark",),
    "connect": ("grpc", "zstandard"),
    "postgres": ("psycopg",),
    "ray": ("ray",),
    "tracking": ("mlflow", "wandb"),
    "marginals": ("mbi",),
}


def run_doctor(ledger: str, as_json: bool) -> bool:
    """Examine everything, print the findings, and tell whether all is well."""
    console = Console(highlight=False, quiet=as_json)
    console.print(_show_pairs("Versions", _find_versions()))
    console.print(_show_extras())
    console.print(_show_pairs("Run with", _find_runners()))
    with console.status("Drawing and auditing noise …"):
        checks = [*self_test(), _try_a_ledger()]
    known = ledger or (str(default_ledger()) if default_ledger().exists() else "")
    checks += [_check_ledger(known)] if known else []
    console.print(_show_checks(checks))
    well = all(check.passed for check in checks)
    if as_json:
        found = [{"name": each.name, "passed": bool(each.passed), "detail": each.detail} for each in checks]
        print_json(
            {
                "well": well,
                "versions": _find_versions(),
                "missing": _find_missing(),
                "run_with": _find_runners(),
                "checks": found,
            }
        )
    console.print("[green]All is well.[/]" if well else "[bold red]Something is wrong; do not release anything.[/]")
    return well


def _find_versions() -> dict[str, str]:
    machine = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return {"ziggurat": __version__, "Python": machine, **{name: metadata.version(name) for name in _CORE}}


def _find_missing() -> list[str]:
    """The extras of which a module is not installed."""
    found = importlib.util.find_spec
    return [extra for extra, modules in _EXTRAS.items() if any(found(name) is None for name in modules)]


def _find_runners() -> dict[str, str]:
    """What Spark, PostgreSQL and Ray would be run with here; nothing is started, and no password is shown."""
    from ziggurat.data.engines import plan_spark
    from ziggurat.jobs import count_processors

    try:
        spark = plan_spark().describe()
    except ZigguratError as error:
        spark = str(error)
    address = os.environ.get("RAY_ADDRESS", "")
    here = f"not running; threads on {count_noun(count_processors(), 'core')} instead, unless you say ray"
    return {
        "Spark": spark,
        "PostgreSQL": "the server of each postgresql:// address, read only, with its own memory",
        "Ray": f"the cluster at {address.rpartition('@')[2]} (by RAY_ADDRESS)" if address else here,
    }


def _show_pairs(title: str, pairs: dict[str, str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, show_header=False, padding=(0, 2))
    for name, value in pairs.items():
        table.add_row(name, value)
    return table


def _show_extras() -> Table:
    table, missing = _show_pairs("Extras", {}), _find_missing()
    for extra, modules in _EXTRAS.items():
        if extra in missing:
            table.add_row(extra, "[yellow]missing[/]", f"pip install -c constraints.txt 'ziggurat\\[{extra}]'")
        elif extra == "spark" and shutil.which("java") is None:
            table.add_row(extra, "[yellow]no Java[/]", "apt-get install default-jre-headless")
        else:
            table.add_row(extra, "[green]present[/]", ", ".join(modules))
    return table


def _try_a_ledger() -> SelfCheck:
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


def _check_ledger(where: str) -> SelfCheck:
    try:
        result = verify_ledger(where)
    except ZigguratError as error:
        return SelfCheck("your ledger", False, str(error))
    detail = f"{result.entries} entries verified" if result.ok else str(result.problems[0])
    return SelfCheck("your ledger", result.ok, detail)


def _show_checks(checks: list[SelfCheck]) -> Table:
    table = _show_pairs("Self-test", {})
    for check in checks:
        table.add_row("[green]✓[/]" if check.passed else "[red]✗[/]", Text(check.name), Text(check.detail))
    return table
