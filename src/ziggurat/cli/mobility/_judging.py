"""`ziggurat mobility risk` and `compare`: what visits, and trajectories drawn from them, tell; for the steward."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, Rehearse, Report, TableArgument, rehearsal_seed, with_records
from ziggurat.cli._outputs import PAGES, check_file, print_json, write_page
from ziggurat.cli.mobility._options import VisitOptions
from ziggurat.cli.terminal import show_status
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.data import Schema
    from ziggurat.findings import Finding
    from ziggurat.sequences.mobility import Trajectories

_FOR_STEWARD = "These figures are exact and unprotected: they are for the steward."
_NO_OTHERS = (
    "Nobody else was named with --others, so attacks have no control and were not made: how near synthetic "
    "trajectories come to people says nothing without people that they were not learned from."
)


@with_records
def risk(
    data: TableArgument,
    visits: VisitOptions,
    points: Annotated[int, typer.Option(help="How many points of somebody an attacker knows at most.", min=1)] = 4,
    coarsen: Annotated[
        bool, typer.Option("--coarsen", help="Also for grids of 64, 32 and 16 cells and for wider windows of time.")
    ] = False,
    rehearse: Rehearse = "",
    as_json: AsJson = False,
) -> None:
    """Measure how few visits single people out.

    Whoever knows a few places and hours of somebody, and has the table, finds all other visits of that person if
    nobody else was there, too. Also: with how many others people share their most visited places, the home and the
    place of work that the hours tell, and all places together:

      ziggurat mobility risk visits.csv --time minute --place place --places places.csv

      ziggurat mobility risk gps.csv --time at --latitude lat --longitude lon --box -74.3,40.5,-73.6,41.0 --grid 64

    Names do not matter for this: a table without them is as risky. The figures are exact and unprotected.
    """
    with show_status("Looking for people who stand out …"):
        found = _attack_visits(visits.read(data), points, coarsen, rehearsal_seed(rehearse))
    if as_json:
        print_json({name: each.to_dict() for name, each in found.items()})
        return
    _print_tables([found["points"].table, *([found["coarser"].table] if coarsen else [])])
    for line in (*(each.sentence for each in found.values()), _FOR_STEWARD):
        typer.echo(line)


def _attack_visits(trajectories: Trajectories, points: int, coarsen: bool, seed: int | None) -> dict[str, Finding]:
    from ziggurat.attacks.mobility import (
        coarsen_uniqueness,
        count_anonymity,
        find_homes,
        measure_uniqueness,
        rank_top_places,
    )

    found: dict[str, Finding] = {"points": measure_uniqueness(trajectories, points, random_state=seed)}
    if coarsen:
        trajectories.ground.require_points()
        found["coarser"] = coarsen_uniqueness(trajectories, points, random_state=seed)
    found["top places"] = rank_top_places(trajectories)
    found["homes"] = find_homes(trajectories)
    return {**found, "whole traces": count_anonymity(trajectories)}


@with_records
def compare(
    data: TableArgument,
    synthetic: Annotated[str, typer.Argument(help="The file of trajectories that 'mobility synthesize' wrote.")],
    visits: VisitOptions,
    others: Annotated[str, typer.Option(help="Visits of people that it was not learned from: a control.")] = "",
    report: Report = "",
    force: Force = False,
    rehearse: Rehearse = "",
    as_json: AsJson = False,
) -> None:
    """Compare drawn trajectories with the visits that they were learned from, on maps, and attack them.

    Where people are and go, how far and when: each figure says which way is better. With --others, also whether the
    trajectories come closer to people in the table than to others, and hold four points of them more often:

      ziggurat mobility compare visits.csv trajectories.parquet --time minute --place place --places places.csv
      --others others.csv --report maps.html

    The figures and the maps of the original are exact and unprotected: they are for the steward.
    """
    check_file(report, PAGES, force=force)
    seed = rehearsal_seed(rehearse)
    with show_status("Comparing trajectories …"):
        table = visits.open(data)
        learned = visits.read(data)
        drawn = _read_drawn(synthetic, visits, table.declared)
        found = _compare_both(learned, drawn)
        attacks = _attack_drawn(drawn, learned, visits.read(others), seed) if others else {}
        if report:
            write_page(_page(learned, drawn, Path(data).name), report)
    if as_json:
        print_json({"use": found.to_dict(), "attacks": {name: each.to_dict() for name, each in attacks.items()}})
        return
    _print_tables([found.table])
    _print_attacks(attacks)
    for line in (found.sentence, *found.notes, *([] if others else [_NO_OTHERS]), _FOR_STEWARD):
        typer.echo(line)
    if report:
        typer.echo(f"The maps are in {report!r}.")


def _read_drawn(file: str, visits: VisitOptions, schema: Schema) -> Trajectories:
    """Read a file that left, on the public places of the visits."""
    from ziggurat.data.engines import DuckDBEngine
    from ziggurat.errors import DataError, SchemaError
    from ziggurat.release.trajectories import TrajectoryFile
    from ziggurat.sequences.mobility import domain_of_visits

    layout, ground = visits.find(schema)
    known = TrajectoryFile(layout, domain_of_visits(schema, layout, ground))
    try:
        return known.read_back(known.read(Path(file), DuckDBEngine()))
    except SchemaError:
        raise DataError(f"{file!r} is no file of trajectories on these places: it has other columns.") from None


def _compare_both(learned: Trajectories, drawn: Trajectories) -> Any:
    from ziggurat.utility.mobility import MobilityTerms, compare_trajectories

    return compare_trajectories(learned, drawn, terms=MobilityTerms(scaled=True))


def _page(learned: Trajectories, drawn: Trajectories, name: str) -> str:
    from ziggurat.utility.mobility import MobilityTerms, render_before_and_after

    return render_before_and_after(learned, drawn, name=name, terms=MobilityTerms(scaled=True))


def _attack_drawn(
    drawn: Trajectories, learned: Trajectories, others: Trajectories, seed: int | None
) -> dict[str, Finding]:
    from ziggurat.release.trajectories import attack_trajectories

    if others.domain != learned.domain:
        raise ParameterError("The table of others must have the same places and unit.")
    return attack_trajectories(drawn, learned, others, seed)


def _print_tables(tables: list[pa.Table]) -> None:
    from rich.console import Console
    from rich.table import Table as Shown

    from ziggurat.cli.terminal import Printed as Text

    for table in tables:
        shown = Shown(header_style="dim", box=None, padding=(0, 1))
        for column in table.schema:
            shown.add_column(column.name, justify="left" if str(column.type) == "string" else "right")
        for row in table.to_pylist():
            shown.add_row(*(Text(_cell(value)) for value in row.values()))
        Console().print(shown)


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def _print_attacks(attacks: dict[str, Finding]) -> None:
    if not attacks:
        return
    from rich.console import Console

    from ziggurat.cli.compare import attack_table

    Console().print(attack_table(attacks))
