"""`ziggurat anonymize`: generalise and suppress until rows look alike, attack the result, and release it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._asked_tables import Unreadable
from ziggurat.cli._ledger import Where
from ziggurat.cli._release import GoOn
from ziggurat.cli.anonymize._options import Wanted, kept_in, metric_of
from ziggurat.errors import DataError

if TYPE_CHECKING:
    from ziggurat.anonymize import Anonymized
    from ziggurat.data import Hierarchy, Table
    from ziggurat.release import AnonymizedRelease

_COMPILING_AFTER = 1.0  # seconds without a decision
_INTERRUPTED = 130


def anonymize(
    table: Annotated[
        str, typer.Argument(help="A file, clinic, a public dataset such as arx_adult, or postgresql://… with --table.")
    ],
    out: Annotated[str, typer.Option(help="The .parquet or .csv file to write; a certificate is written beside it.")],
    k: Annotated[int | None, typer.Option("--k", help="Every row looks like at least k - 1 others.")] = None,
    l_diversity: Annotated[
        list[str] | None,
        typer.Option("--l", help="diagnosis=3: so many different values in every class; 3:entropy, 3:recursive:2."),
    ] = None,
    t_closeness: Annotated[
        list[str] | None,
        typer.Option("--t", help="diagnosis=0.2: every class is so close to the table; :ordered, :hierarchical."),
    ] = None,
    missing_counts: Annotated[
        list[str] | None,
        typer.Option(help="A column of --l or --t whose missing cells count as a value; by default they are none."),
    ] = None,
    k_map: Annotated[int | None, typer.Option(help="Every row looks like so many people of --population.")] = None,
    presence: Annotated[str, typer.Option(help="0.1:0.5: the share of --population's classes in the table.")] = "",
    population: Annotated[str, typer.Option(help="A table of the population with the same columns.")] = "",
    highest_risk: Annotated[float | None, typer.Option(help="Nobody's risk is higher, for instance 0.2.")] = None,
    average_risk: Annotated[float | None, typer.Option(help="The average risk is not higher.")] = None,
    qi: Annotated[
        list[str] | None,
        typer.Option(help="A column that others know, once for each or with commas; by default by the schema."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="cost, or cost=why: it leaves as it is although it undoes something; the reason is recorded."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column that does not leave, once for each or with commas.")
    ] = None,
    suppress: Annotated[str, typer.Option(help="The share of rows that may be left out, exact: 0.02.")] = "0",
    metric: Annotated[
        str, typer.Option(help="What to lose least of: loss, entropy, precision, discernibility or class-size.")
    ] = "loss",
    weight: Annotated[list[str] | None, typer.Option(help="age=2: this column matters twice as much.")] = None,
    hierarchies: Annotated[
        list[str] | None, typer.Option(help="A CSV file of hierarchies, or a folder of them, once for each.")
    ] = None,
    recoding: Annotated[str, typer.Option(help="global: one level a column; local or mondrian: by row.")] = "global",
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which the best so far will do.")] = None,
    schema: Annotated[str, typer.Option(help="The schema of the table; by default the one beside it.")] = "",
    name: Annotated[str, typer.Option("--table", help="The table, when the source is a database.")] = "",
    unreadable: Unreadable = "0",
    ledger: Where = "",
    budget: Annotated[str, typer.Option(help="What the ledger calls the table; by default the file's name.")] = "",
    note: Annotated[str, typer.Option(help="What the release is for, in a sentence; it stays in the ledger.")] = "",
    go_on: GoOn = "",
    frontier: Annotated[str, typer.Option(help="Also draw every generalisation in this .png or .svg file.")] = "",
    solutions: Annotated[str, typer.Option(help="Also list every generalisation in this .csv or .parquet file.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Anonymise a table: generalise, suppress, verify, attack, release.

    Cells become more general and rows are left out until every class of rows that look alike satisfies what you ask,
    at the least loss. The file is read back: every model is verified on it, it is attacked, and nothing leaves while a
    column that stays as it is (a code beside its text, an exact cost) undoes it and you have not decided about that
    column by name. Only then it is written down in the ledger as unbounded, and gets its name:

      ziggurat anonymize clinic --k 5 --suppress 0.02 --drop cost,bmi,systolic_bp,length_of_stay
      --keep "visits_last_year=known to the clinic only" --keep smoker --out anonymous.parquet

      ziggurat anonymize patients.csv --qi age,sex,postcode --k 5 --l diagnosis=3 --hierarchies trees --out safe.csv

      ziggurat anonymize patients.csv --k 5 --recoding local --budget patients --ledger book.db --out safe.parquet

    Ctrl-C ends the search with the best found so far. This is not differential privacy: who knows more than the
    quasi-identifiers, or has a second release of the same table, may still find people.
    """
    from ziggurat.data import hierarchies_in

    for file, endings in ((out, (".parquet", ".csv")), (solutions, (".parquet", ".csv")), (frontier, (".png", ".svg"))):
        _require_file(file, endings)
    measured = metric_of(metric, weight or ())
    wanted = Wanted(
        k, l_diversity or (), t_closeness or (), missing_counts or (), k_map, presence, highest_risk, average_risk
    )
    opened = _opened(table, schema, name, unreadable)
    known = _known(opened, qi)
    decided = {"keep": kept_in(keep or (), opened), "drop": _known(opened, drop) or ()}
    trees = hierarchies_in(hierarchies or (), opened.schema)
    models = wanted.models(_opened(population, unreadable=unreadable) if population else None, trees)
    options: dict[str, Any] = {"suppression": suppress, "metric": measured, "recoding": recoding}
    with _watched(quiet or as_json) as progress:
        made = _made(opened, models, known, trees, options | {"time_limit": time_limit, "progress": progress})
    with _busy(quiet or as_json):
        if frontier or solutions:
            _require_listable(made)
        release = _released(
            made, out, ledger, budget or (_stem(table) if ledger else ""), {"note": note, "go_on": go_on, **decided}
        )
        _more(made, frontier, solutions)
    if not quiet:
        _say(release, as_json)


def _require_file(file: str, endings: tuple[str, ...]) -> None:
    if not file:
        return
    if Path(file).suffix.lower() not in endings:
        raise DataError(f"The name of {file!r} must end in {' or '.join(endings)}.")
    if not Path(file).absolute().parent.is_dir():
        raise DataError(f"The folder of {file!r} does not exist; create it first.")


def _opened(source: str, schema: str = "", name: str = "", unreadable: str = "0") -> Table:
    from ziggurat.cli.risk import _command as _risk

    return _risk._opened(source, schema, name, unreadable)


def _known(table: Table, given: list[str] | None) -> tuple[str, ...] | None:
    from ziggurat.cli.risk import _command as _risk

    return _risk._columns(table, given)


def _stem(source: str) -> str:
    return Path(source).name.split(".")[0]


def _made(
    table: Table,
    models: list[Any],
    known: tuple[str, ...] | None,
    trees: dict[str, Hierarchy],
    options: dict[str, Any],
) -> Anonymized:
    from ziggurat.anonymize import anonymize as made_anonymous
    from ziggurat.data import Role

    secret = {getattr(model, "column", "") for model in models}
    roles = [column.name for column in table.schema.with_role(Role.QUASI_IDENTIFIER) if column.name not in secret]
    used = {name: tree for name, tree in trees.items() if name in (known or roles)}
    try:
        return made_anonymous(table, models, quasi_identifiers=known, hierarchies=used, **options)
    except KeyboardInterrupt:
        typer.echo("Stopped before anything was found; nothing was written.", err=True)
        raise typer.Exit(_INTERRUPTED) from None


@contextmanager
def _watched(silent: bool) -> Iterator[Callable[[float, float], object] | None]:
    """A bar on standard error with the best so far; nothing where nobody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if silent or not console.is_terminal:
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Counting the table …", total=None)
        started: list[float] = []

        def told(share: float, best: float) -> None:
            started[:] = started or [time.monotonic()]
            bar.update(task, total=1.0 if share else None, completed=share)
            bar.update(task, description=_progress(share, best, time.monotonic() - started[0]))

        yield told


def _busy(silent: bool) -> AbstractContextManager[object]:
    from rich.console import Console

    return nullcontext() if silent else Console(stderr=True).status("Writing the table, and attacking it …")


def _progress(share: float, best: float, seconds: float) -> str:
    """What the search is doing; numba compiles it when it runs on a machine for the first time."""
    if share == 0 and math.isinf(best):
        return "Compiling the search (once) …" if seconds > _COMPILING_AFTER else "Searching …"
    return "Searching …" if math.isinf(best) else f"Searching, best so far {best:.5g} (Ctrl-C takes it)"


def _require_listable(made: Anonymized) -> None:
    """Too many generalisations to look at is said before anything is released."""
    from ziggurat.errors import ParameterError

    try:
        made.solutions  # noqa: B018
    except ParameterError as error:
        raise ParameterError(f"{str(error)[:-1]}: leave out --frontier and --solutions.") from None


def _released(made: Anonymized, out: str, ledger: str, budget: str, options: dict[str, Any]) -> AnonymizedRelease:
    from ziggurat.cli._ledger import open_ledger
    from ziggurat.release import release_anonymized

    if not budget:
        return release_anonymized(made, out, **options)
    with open_ledger(ledger, create=True) as book:
        return release_anonymized(made, out, ledger=book, table=budget, **options)


def _more(made: Anonymized, frontier: str, solutions: str) -> None:
    from ziggurat.cli._data import write_table

    if solutions:
        write_table(made.solutions.table(), solutions)
    if frontier:
        from ziggurat.cli.anonymize._picture import save_frontier

        save_frontier(made, frontier)


def _say(release: AnonymizedRelease, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(release.to_dict(), indent=1))
        return
    from rich.console import Console

    from ziggurat.cli.anonymize._page import show

    show(Console(), release)
    typer.echo(f"The table is in {str(release.path)!r}, its certificate in {str(release.certificate)!r}.")
    if release.recorded is None:
        typer.echo("No ledger remembers this release; name one with --ledger or --budget, so that nobody forgets it.")
    else:
        typer.echo(f"The ledger remembers it: {release.recorded}.")
