"""`ziggurat table`: make one row of several, and one table of two, about the same people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, TableArgument, TableOptions, out_option, with_records
from ziggurat.cli._outputs import TABLES, check_file, print_json
from ziggurat.cli._tables import in_database, open_table, table_name
from ziggurat.cli.table._options import ReshapeOptions
from ziggurat.cli.terminal import show_status
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import check_output
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.data import Table
    from ziggurat.data.people import PeopleTable

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="One row for each person, one table of two.",
    help="Tables about people before anything leaves: one row for each person, one table of two.\n\n"
    "What is written is as private as what was read: only its owner can read it, and the schema beside it knows no "
    "more than was declared.",
)

Out = Annotated[str, out_option("a .parquet or .csv file that only its owner can read.")]
SchemaOut = Annotated[str, typer.Option(help="Where the new schema goes; by default the .yaml file beside --out.")]
_TRUTHS = "exact, for the steward only"


@app.command()
@with_records
def reshape(
    data: TableArgument,
    out: Out,
    asked: ReshapeOptions,
    opening: TableOptions,
    person: Annotated[str, typer.Option(help="The column of people, where the schema's unit is something else.")] = "",
    schema_out: SchemaOut = "",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make one row of all rows of each person.

    Keep the latest or the first row, whole:

      ziggurat table reshape visits.csv --latest visit_date --out patients.parquet

    and add what is computed of all rows, or compute only that:

      ziggurat table reshape visits.csv --latest visit_date --count visits --sum total=cost --most 20 --out p.parquet

      ziggurat table reshape visits.csv --mean bmi --count-where diagnosis=flu --most 20 --out patients.parquet

    Numbers are cut to the public bounds of the schema before they are computed with, and --most says how many rows of
    one person count; so the new schema has public bounds too, and learns nothing. A person's row depends on the rows of
    that person alone: afterwards a promise about a row is a promise about a person.
    """
    from ziggurat.data.people import reshape_people

    table_out = _Places.of(out, schema_out, (data, opening.schema), force=force)
    with show_status("Making one row for each person …"):
        table = open_table(data, opening.schema, opening.table, opening.unreadable, unit=person)
        made = reshape_people(table, **asked.request(table.declared))
        counts = _write(made, table_out)
    read = f"{count_noun(counts['rows'], 'row')} of {count_noun(counts['people'], 'person', 'people')} became "
    _tell(made, table_out, counts, f"{read}{count_noun(counts['written'], 'row')}", as_json=as_json)


@app.command()
@with_records
def join(
    data: TableArgument,
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Another one, with one row for each person.")],
    out: Out,
    opening: TableOptions,
    on: Annotated[
        str, typer.Option(help="The column of people, FIRST=SECOND if it has two names; by default the schemas' units.")
    ] = "",
    how: Annotated[str, typer.Option(help="Whose rows: left (all of TABLE), inner (in both) or outer (all).")] = "left",
    second_schema: Annotated[str, typer.Option(help="The schema of SECOND; by default the .yaml file beside it.")] = "",
    second_table: Annotated[str, typer.Option(help="The table, when SECOND is the address of a database.")] = "",
    schema_out: SchemaOut = "",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Lay two tables about the same people side by side.

    Rows meet on the person and on nothing else, and SECOND has one row for each person ('ziggurat table reshape' makes
    such a table). A name that both have gets that of SECOND behind it.

      ziggurat table join patients.csv labs.csv --on patient_id --out both.parquet
    """
    from ziggurat.data.people import join_people

    table_out = _Places.of(out, schema_out, (data, opening.schema), (second, second_schema), force=force)
    with show_status("Joining two tables …"):
        mine, _, theirs = on.partition("=")
        left = open_table(data, opening.schema, opening.table, opening.unreadable, unit=mine.strip())
        given = (second, second_schema, second_table, opening.unreadable, (theirs or mine).strip())
        right = _open_second(left, data, *given)
        made = join_people(left, right, how, name=table_name(second_table or second))  # type: ignore[arg-type]
        counts = _write(made, table_out)
    read = f"{count_noun(counts['rows'], 'row')} and {count_noun(counts['rows_of_second'], 'row')} became "
    became = f"{count_noun(counts['written'], 'row')} of {count_noun(counts['people'], 'person', 'people')}"
    _tell(made, table_out, counts, read + became, as_json=as_json)


class _Places:
    """Where a table and its schema go."""

    def __init__(self, out: str, schema: str) -> None:
        self.out, self.schema = out, schema

    @classmethod
    def of(cls, out: str, schema: str, *read: tuple[str, str], force: bool) -> _Places:
        """Refuse what cannot be written, or is about to be read, before anything is read."""
        check_file(out, TABLES, force=force)
        beside = schema or str(Path(out).with_name(f"{table_name(out)}.yaml"))
        for data, declared in read:
            known = declared or ("" if in_database(data) else str(Path(data).with_name(f"{table_name(data)}.yaml")))
            if _is_same(out, data) or _is_same(beside, known):
                raise DataError(
                    f"{out if _is_same(out, data) else beside!r} is what is read; name another --out, or --schema-out."
                )
        check_output(beside, force=force)
        return cls(out, beside)


def _is_same(one: str, other: str) -> bool:
    return bool(other) and Path(one).exists() and Path(other).exists() and Path(one).samefile(other)


def _open_second(left: Table, first: str, data: str, schema: str, table: str, unreadable: str, unit: str) -> Table:
    """Open the second table, of one database in the engine of the first."""
    from ziggurat.data import read

    if not (in_database(data) and data == first):
        return open_table(data, schema, table, unreadable, unit=unit)
    if not table:
        raise ParameterError("Name the second table of the database with --second-table.")
    return read(left.engine, schema or None, table=table, unreadable=unreadable, unit=unit or None)


def _write(made: PeopleTable, places: _Places) -> dict[str, int]:
    counts = made.count_exactly()
    return {**counts, "written": made.write(places.out, places.schema)}


def _tell(made: PeopleTable, places: _Places, counts: dict[str, int], became: str, *, as_json: bool) -> None:
    if as_json:
        told: dict[str, Any] = {"out": places.out, "schema": places.schema, "said": list(made.said), "private": counts}
        print_json(told)
        return
    for sentence in made.said:
        typer.echo(sentence)
    nobody = counts["rows_of_nobody"]
    without = f"; {count_noun(nobody, 'row')} of nobody left out" if nobody else ""
    typer.echo(f"{became}{without} ({_TRUTHS}).")
    typer.echo(f"The table is in {places.out} and its schema in {places.schema}; only their owner can read them.")
    name, unit = table_name(places.out), made.schema.unit.column
    typer.echo(f"Next, for instance: ziggurat anonymize {places.out} --k 5 --out anonymous.parquet")
    typer.echo(
        "It is about the same people: where a budget protects them already, tell the ledger so with "
        f"'ziggurat ledger register {name} --population NAME --column {unit}'."
    )
