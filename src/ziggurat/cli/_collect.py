"""`ziggurat collect`: protect every row of a file on its own, and estimate from the reports alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._asked_tables import schema_beside
from ziggurat.cli._data import require_known_ending, write_table
from ziggurat.cli._ledger import Where, default_ledger
from ziggurat.errors import DataError, ParameterError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table as Grid

    from ziggurat.data import Schema, Table
    from ziggurat.local import Estimate, Frequencies, Record, Reports
    from ziggurat.privacy import Event
    from ziggurat.randomness import Source

_FORMAT = "ziggurat-collection-1"
_ROWS_AT_A_TIME = 100_000
_MOST_SHOWN = 20


def collect(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file with one row for each person.")] = "",
    schema: Annotated[
        str,
        typer.Option(help="The schema with public categories and bounds; by default the .yaml file beside the file."),
    ] = "",
    column: Annotated[
        list[str] | None, typer.Option(help="A column to collect, once for each; age=0.3 states its own epsilon.")
    ] = None,
    epsilon: Annotated[str, typer.Option(help="What a row may cost in all; exact, such as 0.5 or 1/3.")] = "",
    out: Annotated[str, typer.Option(help="The .csv or .parquet file to write the reports to.")] = "",
    method: Annotated[
        str, typer.Option(help="For categories: response, unary, hashing, choice, or auto for the most precise.")
    ] = "auto",
    missing: Annotated[bool, typer.Option("--missing", help="Let missing values be reported, too.")] = False,
    estimate: Annotated[str, typer.Option(help="Only estimate, from the reports in this file.")] = "",
    confidence: Annotated[str, typer.Option(help="With which each interval holds its truth.")] = "0.95",
    population: Annotated[
        bool, typer.Option("--population", help="Intervals about the population the people were drawn from.")
    ] = False,
    rehearse: Annotated[str, typer.Option(help="A seed: repeatable noise, marked as a rehearsal.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite reports that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    ledger: Where = "",
    table: Annotated[str, typer.Option(help="Pay from the budget of this table in the ledger.")] = "",
    analyst: Annotated[str, typer.Option(help="Who pays; goes with --table.")] = "",
) -> None:
    """Protect every row on its own (the local model), write the reports, and estimate from them.

    Categories are counted, numbers averaged. A public description beside the reports says how they were made, so that
    anybody can estimate from them: 'ziggurat collect --estimate reports.csv'. With --table and --analyst the cost is
    reserved in the ledger before the file is read.
    """
    from ziggurat.data import Schema
    from ziggurat.mechanisms._base import exact_confidence

    if estimate:
        record, reports = _read_reports(estimate)
        _show(record, reports, confidence, population, as_json, {"reports": estimate})
        return
    named = context.get_parameter_source("ledger")
    if named is not None and named.name == "COMMANDLINE" and not table:
        raise ParameterError("To pay from the ledger name --table and --analyst; nothing was collected.")
    _require_named(file, out, force)
    described = Schema.from_yaml(Path(schema) if schema else schema_beside(file))
    record = _record(described, column or [], epsilon, method, missing)
    exact_confidence(confidence)  # before anything is paid
    with _paid(record.event, ledger, table, analyst, bool(rehearse)) as commit:
        reports = _collected(record, file, described, _source(rehearse))
        estimates = record.estimate(reports, confidence, population=population)
        commit({"columns": list(record.parts), "people": reports.people, "reports": Path(out).name})
    _write_reports(record, reports, out)
    _show(record, reports, confidence, population, as_json, {"reports": out}, estimates)


def _require_named(file: str, out: str, force: bool) -> None:
    """Refuse what could only fail later, when it has been paid for."""
    if not (file and out):
        raise ParameterError("Name the file and the --out file; or --estimate reports alone.")
    require_known_ending(out)
    if not Path(out).absolute().parent.is_dir():
        raise DataError(f"The folder of {out!r} does not exist; create it first.")
    if Path(out).absolute() == Path(file).absolute():
        raise DataError("The reports must not take the place of the file they are about; name another --out.")
    for path in (Path(out), _description(out)):
        if path.exists() and not force:
            raise DataError(f"{str(path)!r} is there already; name another --out, or overwrite it with --force.")
    if not (Path(file).exists() or has_magic(file)):
        raise DataError(f"There is no file {file!r}.")


def _description(out: str) -> Path:
    return Path(f"{out}.collection.json")


def _record(schema: Schema, columns: list[str], epsilon: str, method: str, missing: bool) -> Record:
    from ziggurat.data import Role
    from ziggurat.local import Record, privatiser_for
    from ziggurat.privacy import Neighbours, Relation

    whom = Neighbours(schema.unit, Relation.REPLACE_ONE)
    parts = {}
    for name, amount in _shares(schema, columns, epsilon).items():
        column = schema[name]
        if column.role is Role.IDENTIFIER:
            raise SchemaError(f"Column {name!r} is an identifier; identifiers are not collected.")
        allowed = missing or bool(column.missing)
        parts[name] = privatiser_for(column, amount, method=method, missing=allowed, neighbours=whom)
    return Record(parts)


def _shares(schema: Schema, columns: list[str], epsilon: str) -> dict[str, Fraction]:
    """The epsilon of each column: its own, or an equal share of what the others leave of the total."""
    from ziggurat.privacy import exact_epsilon

    if not columns:
        raise ParameterError("Name at least one --column to collect.")
    stated: dict[str, Fraction | None] = {}
    for given in columns:
        name, equals, amount = given.rpartition("=")
        plain = given in schema or not equals
        key = given if plain else name
        if key in stated:
            raise ParameterError(f"The column {key!r} is named twice.")
        stated[key] = None if plain else exact_epsilon(amount, f"The epsilon of {name}")
    own = {name: amount for name, amount in stated.items() if amount is not None}
    if len(own) == len(stated):
        return own
    if not epsilon:
        raise ParameterError("State --epsilon, what a row may cost in all, or an epsilon for every column.")
    rest = exact_epsilon(epsilon) - sum(own.values())
    if rest <= 0:
        raise ParameterError("The columns that state their epsilon leave nothing of --epsilon for the others.")
    return {name: own.get(name, rest / (len(stated) - len(own))) for name in stated}


def _source(rehearse: str) -> Source:
    from ziggurat.randomness import secure, seeded

    return seeded(rehearse) if rehearse else secure()


@contextmanager
def _paid(event: Event, ledger: str, table: str, analyst: str, rehearsal: bool) -> Iterator[Callable[[Any], Any]]:
    """Reserve the cost in the ledger, if one is to pay, and give what commits the answer."""
    from ziggurat.ledger import Ledger

    if not (table or analyst):
        yield lambda _answer: None
        return
    if not (table and analyst):
        raise ParameterError("To pay from a ledger name both --table and --analyst.")
    with (
        Ledger.open(ledger or default_ledger(), create=False) as book,
        book.spend(table, analyst, event, rehearsal=rehearsal) as spend,
    ):
        yield spend.commit


def _collected(record: Record, file: str, schema: Schema, source: Source) -> Reports:
    """Read the columns and make the reports, some rows at a time."""
    import pyarrow as pa

    from ziggurat.data import read
    from ziggurat.local import Reports

    rows = _rows(read(file, schema.select(record.parts)), list(record.parts))
    if rows.num_rows == 0:
        raise DataError("The table has no rows; there is nothing to collect.")
    made = [record.privatise(part, source).value for part in _followed(rows)]
    return Reports(pa.concat_tables(made), record.event, source.origin)


def _rows(table: Table, names: list[str]) -> pa.Table:
    """The columns as they are, with NULL for what is missing, once it is clear that every unit has one row."""
    from sqlglot import exp

    from ziggurat.data import known, reference

    unit = table.unit.column
    if unit is not None:
        different = exp.Count(this=exp.Distinct(expressions=[reference(table.schema[unit])])).as_("units")
        seen = table.aggregate(different, exp.Count(this=exp.Star()).as_("rows")).to_pylist()[0]
        if seen["units"] != seen["rows"]:
            raise DataError(f"Some rows share their {table.unit.name}; collect one row for each, or the promise fails.")
    return table.query(table.select(*(known(table.schema[name]) for name in names))).combine_chunks()


def _followed(rows: pa.Table) -> Iterator[pa.Table]:
    """Give some rows at a time, with a bar on standard error if that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("Protecting rows", total=rows.num_rows)
        for start in range(0, rows.num_rows, _ROWS_AT_A_TIME):
            part = rows.slice(start, _ROWS_AT_A_TIME)
            yield part
            progress.advance(bar, part.num_rows)


def _write_reports(record: Record, reports: Reports, out: str) -> None:
    """Write the reports, then what is public about them; reports without a description are never estimated from."""
    from ziggurat.data import write_text

    _description(out).unlink(missing_ok=True)
    write_table(reports.value, out)
    described = {"format": _FORMAT, "people": reports.people, "origin": reports.origin, **record.to_dict()}
    write_text(_description(out), json.dumps(described, indent=2, ensure_ascii=False) + "\n")


def _read_reports(file: str) -> tuple[Record, Reports]:
    from ziggurat.local import Record, Reports

    described = _described(file)
    record = Record.from_dict(described)
    value = _report_table(file, record)
    if value.num_rows != described.get("people") or described.get("origin") not in ("secure", "seeded"):
        raise DataError(f"The reports in {file!r} do not fit their description; collect them again.")
    return record, Reports(value, record.event, described["origin"])


def _described(file: str) -> Mapping[str, Any]:
    path = _description(file)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise DataError(f"The description {str(path)!r} cannot be read; keep it beside the reports.") from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise DataError(f"{str(path)!r} is no description of a collection.")
    return found


def _report_table(file: str, record: Record) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    from ziggurat.data import unmarked_table

    require_known_ending(file)
    types = {name: part.arrow_type for name, part in record.parts.items()}
    try:
        if Path(file).suffix.lower() == ".parquet":
            return parquet.read_table(file, columns=list(types))
        known = csv.ConvertOptions(
            column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
        )
        lines = csv.ParseOptions(newlines_in_values=True)
        return unmarked_table(csv.read_csv(file, parse_options=lines, convert_options=known))
    except (OSError, pa.ArrowException):
        pass
    raise DataError(f"The reports in {file!r} cannot be read; check the name of the file and its ending.")


def _show(
    record: Record,
    reports: Reports,
    confidence: str,
    population: bool,
    as_json: bool,
    named: Mapping[str, str],
    estimates: Mapping[str, Estimate] | None = None,
) -> None:
    from rich.console import Console

    found = record.estimate(reports, confidence, population=population) if estimates is None else estimates
    promise = record.guarantee()
    if as_json:
        shown = {
            **named,
            "people": reports.people,
            "promise": str(promise),
            "epsilon": str(record.epsilon),
            "rehearsal": reports.rehearsal,
            "columns": {name: each.to_dict() for name, each in found.items()},
        }
        typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    for name, each in found.items():
        Console().print(_grid(name, each))
    typer.echo(f"{reports.people:,} reports are in {named['reports']}. {promise.sentence()}")
    if reports.rehearsal:
        typer.echo("This was a rehearsal with seeded randomness: publish nothing of it.")


def _grid(name: str, estimate: Estimate) -> Grid:
    from rich.table import Table

    from ziggurat.cli._printed import Printed as Text
    from ziggurat.local import Frequencies

    level = f"{float(100 * estimate.confidence):g}% interval"
    grid = Table(title=Text(name, style="bold"), header_style="dim")
    for heading in ("value", "people", level) if isinstance(estimate, Frequencies) else ("mean", level):
        grid.add_column(heading, justify="left" if heading == "value" else "right")
    if isinstance(estimate, Frequencies):
        _add_counts(grid, estimate)
    else:
        made = estimate.to_dict()
        grid.add_row(f"{made['mean']:.6g}", f"{made['low']:.6g} to {made['high']:.6g}")
    return grid


def _add_counts(grid: Grid, estimate: Frequencies) -> None:
    """The largest counts first; those that are not shown are counted."""
    from ziggurat.cli._printed import Printed as Text

    order = sorted(range(len(estimate.categories)), key=lambda at: -estimate.counts[at])
    for at in order[:_MOST_SHOWN]:
        label = "(missing)" if estimate.categories[at] is None else str(estimate.categories[at])
        span = f"{estimate.low[at]:,.0f} to {estimate.high[at]:,.0f}"
        grid.add_row(Text(label), f"{estimate.counts[at]:,.0f}", span)
    if len(order) > _MOST_SHOWN:
        grid.add_row(f"… and {len(order) - _MOST_SHOWN:,} more (--json shows all)", "", "")
