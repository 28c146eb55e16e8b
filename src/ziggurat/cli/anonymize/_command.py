"""`ziggurat anonymize`: generalise and suppress until rows look alike, attack the result, and release it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import (
    AsJson,
    Force,
    Quiet,
    TableArgument,
    TableOptions,
    out_option,
    picture_option,
    with_records,
)
from ziggurat.cli._outputs import PICTURES, TABLES, check_file, check_table, print_json, write_table
from ziggurat.cli._tables import open_table, table_name
from ziggurat.cli.anonymize._options import LeavingOptions, ModelOptions, SearchOptions
from ziggurat.cli.server import OnServer
from ziggurat.cli.terminal import show_bar, show_status

if TYPE_CHECKING:
    from ziggurat.anonymize import Anonymized
    from ziggurat.release import AnonymizedRelease

_COMPILING_AFTER = 1.0  # seconds without a decision


@with_records
def anonymize(
    data: TableArgument,
    out: Annotated[
        str,
        out_option("a .parquet, .csv, .xlsx, .dta or .sav file, or NAME.parquet/ for parts; a certificate beside it."),
    ],
    wanted: ModelOptions,
    searching: SearchOptions,
    leaving: LeavingOptions,
    opening: TableOptions,
    picture: Annotated[str, picture_option("every generalisation, by loss and risk.")] = "",
    solutions: Annotated[str, typer.Option(help="Also list every generalisation in this .csv or .parquet file.")] = "",
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    server: OnServer = "",
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

    On a server it is a job; its signed bundle goes beside --out.
    """
    from ziggurat.data import hierarchies_in

    check_table(out, force=force)
    for file, endings in ((solutions, TABLES), (picture, PICTURES)):
        check_file(file, endings, force=force)
    searching.measure()
    if server:
        from ziggurat.cli.anonymize._remote import anonymize_on

        left = anonymize_on(server, data, out, wanted, searching, leaving, force=force)
        if not quiet:
            left.say(out, as_json=as_json)
        return
    table = opening.open(data)
    settings = leaving.settings(table.schema)
    trees = hierarchies_in(searching.hierarchies or (), table.schema)
    population = open_table(wanted.population, unreadable=opening.unreadable) if wanted.population else None
    models = wanted.models(population, trees)
    silent = quiet or as_json
    with _show_progress(silent) as progress:
        made = _stop_with_a_sentence(lambda: searching.search(table, models, trees, progress))
    with show_status("Writing the table, and attacking it …", silent=silent):
        if picture or solutions:
            _require_listable(made)
        budget = leaving.budget or (table_name(data) if leaving.ledger else "")
        release = _release(made, out, leaving.ledger, budget, settings)
        _write_more(made, picture, solutions)
    if not quiet:
        _say(release, as_json)


def _stop_with_a_sentence(search: Callable[[], Anonymized]) -> Anonymized:
    try:
        return search()
    except KeyboardInterrupt:
        raise KeyboardInterrupt("Stopped before anything was found; nothing was written.") from None


@contextmanager
def _show_progress(silent: bool) -> Iterator[Callable[[float, float], object] | None]:
    """A bar with the best so far."""
    with show_bar("Counting the table …", silent=silent) as update:
        if update is None:
            yield None
            return
        started: list[float] = []

        def tell(share: float, best: float) -> None:
            started[:] = started or [time.monotonic()]
            update(_describe_search(share, best, time.monotonic() - started[0]), share, 1.0 if share else None)

        yield tell


def _describe_search(share: float, best: float, seconds: float) -> str:
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
        raise ParameterError(f"{str(error)[:-1]}: leave out --picture and --solutions.") from None


def _release(made: Anonymized, out: str, ledger: str, budget: str, settings: dict[str, Any]) -> AnonymizedRelease:
    from ziggurat.cli._books import open_ledger
    from ziggurat.release import release_anonymized

    if not budget:
        return release_anonymized(made, out, **settings)
    with open_ledger(ledger, create=True) as book:
        return release_anonymized(made, out, ledger=book, budget=budget, **settings)


def _write_more(made: Anonymized, picture: str, solutions: str) -> None:
    if solutions:
        write_table(made.solutions.table(), solutions)
    if picture:
        from ziggurat.cli.anonymize._picture import save_frontier

        save_frontier(made, picture)


def _say(release: AnonymizedRelease, as_json: bool) -> None:
    if as_json:
        print_json(release.to_dict())
        return
    from rich.console import Console

    from ziggurat.cli.anonymize._page import show

    show(Console(), release)
    typer.echo(f"The table is in {str(release.path)!r}, its certificate in {str(release.certificate)!r}.")
    if release.recorded is None:
        typer.echo("No ledger remembers this release; name one with --ledger or --budget, so that nobody forgets it.")
    else:
        typer.echo(f"The ledger remembers it: {release.recorded}.")
