"""`ziggurat collect`: protect every row of a file on its own, and estimate from the reports alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._books import Payer
from ziggurat.cli._options import AsJson, Force, OnlyQuote, OutFile, Rehearse, SchemaFile, Where, rehearsal_source
from ziggurat.cli._outputs import check_file, end_with_quote, print_json, write_table
from ziggurat.cli._tables import Located, find_table
from ziggurat.cli.server import OnServer
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.files import check_output

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table as Grid

    from ziggurat.data import Schema, Table
    from ziggurat.ledger import Ledger
    from ziggurat.local import Frequencies, LocalEstimate, Reports, WholeRecord
    from ziggurat.randomness import Source

_FORMAT = "ziggurat-collection-1"
_REPORTS = (".parquet", ".csv")
_ROWS_AT_A_TIME = 100_000
_MOST_SHOWN = 20


def collect(
    file: Annotated[
        str,
        typer.Argument(
            help="A CSV, Parquet or Arrow file with one row for each person, clinic (invented), or answer with a LINK."
        ),
    ] = "",
    link: Annotated[
        str, typer.Argument(help="After the word answer: the link of an invitation to a survey, in quotes.")
    ] = "",
    schema: SchemaFile = "",
    column: Annotated[
        list[str] | None, typer.Option(help="A column to collect, once for each; age=0.3 states its own epsilon.")
    ] = None,
    epsilon: Annotated[str, typer.Option(help="What a row may cost in all; exact, such as 0.5 or 1/3.")] = "",
    out: OutFile = "",
    method: Annotated[
        str, typer.Option(help="For categories: response, unary, hashing, choice, or auto for the most precise.")
    ] = "auto",
    missing: Annotated[bool, typer.Option("--missing", help="Let missing values be reported, too.")] = False,
    estimate: Annotated[str, typer.Option(help="Only estimate, from the reports in this file.")] = "",
    confidence: Annotated[str, typer.Option(help="With which each interval holds its truth.")] = "0.95",
    population: Annotated[
        bool, typer.Option("--population", help="Intervals about the population the people were drawn from.")
    ] = False,
    value: Annotated[
        list[str] | None, typer.Option(help="With answer: column=answer, once for each; what is left out is asked for.")
    ] = None,
    rehearse: Rehearse = "",
    force: Force = False,
    quote: OnlyQuote = False,
    as_json: AsJson = False,
    ledger: Where = "",
    budget: Annotated[str, typer.Option(help="The budget that pays; by default the one named as the table.")] = "",
    analyst: Annotated[str, typer.Option(help="Who pays.")] = "",
    server: OnServer = "",
) -> None:
    """Protect every row on its own (the local model), write the reports, and estimate from them.

    Categories are counted, numbers averaged. A public description beside the reports says how they were made, so that
    anybody can estimate from them: 'ziggurat collect --estimate reports.csv'. What a row costs is reserved in the
    ledger before a report is made. How many people report is public, so that the budget must be about replacing one:

    ziggurat ledger budget patients --epsilon 2 --person patient_id --relation replace-one

    ziggurat ledger grant patients ana --epsilon 1

    ziggurat collect patients.csv --column age --epsilon 1 --analyst ana --out reports.csv

    Whoever was invited to a survey of a service answers it from here; the report is drawn on this computer, and nothing
    else leaves it:

    ziggurat collect answer 'https://server/survey/habits#INVITATION'

    On a server FILE is a table there, whose rows it protects one by one as a job; the reports are taken out of its
    signed bundle, which goes beside --out.
    """
    from ziggurat.cli.collect._answering import ANSWER, answer_survey
    from ziggurat.privacy import exact_confidence

    if file == ANSWER:
        answer_survey(link, value or [], as_json)
        return
    if link or value:
        raise ParameterError(f"A link and --value go with the word {ANSWER!r} in the place of the file.")
    if estimate:
        record, reports = _read_reports(estimate)
        show_estimates(record, reports, confidence, population, as_json, {"reports": estimate})
        return
    _require_named(file, out, force=force, quote=quote)
    if server:
        from ziggurat.cli.collect._remote import RemoteCollection

        asked = RemoteCollection(server, file, out, analyst, rehearse, quote, force, as_json)
        asked.collect(column or [], epsilon, method, missing, (confidence, population))
        return
    found = find_table(file, schema)
    record = _record(found.schema, column or [], epsilon, method, missing)
    exact_confidence(confidence)
    free = bool(rehearse) and not found.secret
    payer = Payer(analyst, budget or found.name, ledger, record.neighbours, free)
    with payer.book() as book:
        if quote:
            quoted = payer.quote(book, record.event)
            end_with_quote(quoted.sentence, asdict(quoted), fits=quoted.fits, as_json=as_json)
        payer.require_room(book, record.event)
        table = _open(found, file, record)
        reports, entry = _collect(record, table, rehearsal_source(rehearse), payer, book, out)
    write_reports(record, reports, out)
    show_estimates(record, reports, confidence, population, as_json, {"reports": out}, (payer, entry))


def _require_named(file: str, out: str, *, force: bool, quote: bool) -> None:
    """Refuse what could only fail later, when it has been paid for."""
    if quote and file:
        return
    if not (file and out):
        raise ParameterError("Name the file and the --out file; or --estimate reports alone.")
    check_file(out, _REPORTS, force=True)
    if Path(out).absolute() == Path(file).absolute():
        raise DataError("The reports must not take the place of the file they are about; name another --out.")
    for path in (Path(out), _description(out)):
        check_output(path, force=force)


def _description(out: str) -> Path:
    return Path(f"{out}.collection.json")


def _record(schema: Schema, columns: list[str], epsilon: str, method: str, missing: bool) -> WholeRecord:
    from ziggurat.data import Role
    from ziggurat.local import WholeRecord, privatizer_for
    from ziggurat.privacy import Neighbours, Relation

    whom = Neighbours(schema.unit, Relation.REPLACE_ONE)
    parts = {}
    for name, amount in read_shares(schema, columns, epsilon).items():
        column = schema[name]
        if column.role is Role.IDENTIFIER:
            raise SchemaError(f"Column {name!r} is an identifier; identifiers are not collected.")
        allowed = missing or bool(column.missing)
        parts[name] = privatizer_for(column, amount, method=method, missing=allowed, neighbours=whom)
    return WholeRecord(parts)


def read_shares(schema: Schema, columns: list[str], epsilon: str) -> dict[str, Fraction]:
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


def _open(found: Located, file: str, record: WholeRecord) -> Table:
    """The columns to be collected; cells of a file about people that cannot be read are refused to its holder."""
    from ziggurat.cli._tables import open_as

    return open_as(file, found.schema.select(record.parts))


def _collect(
    record: WholeRecord, table: Table, source: Source, payer: Payer, book: Ledger | None, out: str
) -> tuple[Reports, int | None]:
    """Make the reports once they are paid for; gives them and the entry that says so."""
    from ziggurat.release import CollectionPlan, Purse, read_rows

    plan = CollectionPlan(record, lambda: read_rows(table, list(record.parts)), _follow, Path(out).name)
    made = Purse(book, payer.budget, payer.analyst, source).release(plan)
    return made.output, None if made.entry is None else made.entry.seq


def _follow(rows: pa.Table) -> Iterator[pa.Table]:
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


def write_reports(record: WholeRecord, reports: Reports, out: str) -> None:
    """Write the reports, then what is public about them; reports without a description are never estimated from."""
    from ziggurat.files import write_text

    _description(out).unlink(missing_ok=True)
    write_table(reports.value, out)
    described = {"format": _FORMAT, "people": reports.people, "origin": reports.origin, **record.to_dict()}
    write_text(_description(out), json.dumps(described, indent=2, ensure_ascii=False) + "\n")


def _read_reports(file: str) -> tuple[WholeRecord, Reports]:
    from ziggurat.local import Reports, WholeRecord

    described = _read_description(file)
    record = WholeRecord.from_dict(described)
    value = read_reports_table(file, record)
    if value.num_rows != described.get("people") or described.get("origin") not in ("secure", "seeded"):
        raise DataError(f"The reports in {file!r} do not fit their description; collect them again.")
    return record, Reports(value, record.event, described["origin"])


def _read_description(file: str) -> Mapping[str, Any]:
    path = _description(file)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise DataError(f"The description {str(path)!r} cannot be read; keep it beside the reports.") from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise DataError(f"{str(path)!r} is no description of a collection.")
    return found


def read_reports_table(file: str, record: WholeRecord) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    from ziggurat.data import unmark_table

    if Path(file).suffix.lower() not in _REPORTS:
        raise DataError("Reports are in a .parquet or a .csv file.")
    types = {name: part.arrow_type for name, part in record.parts.items()}
    try:
        if Path(file).suffix.lower() == ".parquet":
            return parquet.read_table(file, columns=list(types))
        known = csv.ConvertOptions(
            column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
        )
        lines = csv.ParseOptions(newlines_in_values=True)
        return unmark_table(csv.read_csv(file, parse_options=lines, convert_options=known))
    except (OSError, pa.ArrowException):
        pass
    raise DataError(f"The reports in {file!r} cannot be read; check the name of the file and its ending.")


def show_estimates(
    record: WholeRecord,
    reports: Reports,
    confidence: str,
    population: bool,
    as_json: bool,
    named: Mapping[str, str],
    paid: tuple[Payer, int | None] | None = None,
) -> None:
    from rich.console import Console

    found = record.estimate(reports, confidence, population=population)
    promise = record.guarantee()
    if as_json:
        shown = {
            **named,
            **({"paid": paid[0].to_dict(paid[1])} if paid else {}),
            "people": reports.people,
            "promise": str(promise),
            "epsilon": str(record.epsilon),
            "rehearsal": reports.rehearsal,
            "columns": {name: each.to_dict() for name, each in found.items()},
        }
        print_json(shown)
        return
    for name, each in found.items():
        Console().print(_grid(name, each))
    typer.echo(f"{reports.people:,} reports are in {named['reports']}. {promise.sentence()}")
    if paid:
        typer.echo(paid[0].tell(paid[1]))
    if reports.rehearsal:
        typer.echo("This was a rehearsal with seeded randomness: publish nothing of it.")


def _grid(name: str, estimate: LocalEstimate) -> Grid:
    from rich.table import Table

    from ziggurat.cli.terminal import Printed as Text
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
    from ziggurat.cli.terminal import Printed as Text

    order = sorted(range(len(estimate.categories)), key=lambda at: -estimate.counts[at])
    for at in order[:_MOST_SHOWN]:
        label = "(missing)" if estimate.categories[at] is None else str(estimate.categories[at])
        span = f"{estimate.low[at]:,.0f} to {estimate.high[at]:,.0f}"
        grid.add_row(Text(label), f"{estimate.counts[at]:,.0f}", span)
    if len(order) > _MOST_SHOWN:
        grid.add_row(f"… and {len(order) - _MOST_SHOWN:,} more (--json shows all)", "", "")
