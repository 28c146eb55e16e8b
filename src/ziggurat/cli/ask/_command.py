"""`ziggurat ask` and `ziggurat quote`: questions that are paid for before anything is read."""

from __future__ import annotations

from typing import Annotated

import typer

from ziggurat.cli._asked_tables import Unreadable
from ziggurat.cli._ledger import Where

Source = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A CSV, Parquet or Arrow file, postgresql://… with --table, a name from 'ziggurat data list', or an "
        "invented table: clinic, logs, commuters.",
    ),
]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="SELECT … FROM the file's name without its ending.")]
Sqls = Annotated[list[str], typer.Argument(metavar="SQL...", help="One question, or several asked one after another.")]
Analyst = Annotated[str, typer.Option(help="Who asks and pays.")]
Epsilon = Annotated[str, typer.Option(help="What the question may cost, exact: 0.2 or 1/3.")]
Delta = Annotated[str, typer.Option(help="Needed for Gaussian noise and for groups whose names are not public.")]
Budget = Annotated[str, typer.Option(help="The budget that pays; by default the one named as the table.")]
SchemaFile = Annotated[str, typer.Option("--schema", help="The schema; by default the .yaml file beside the table.")]
InDatabase = Annotated[str, typer.Option("--table", help="The table, when TABLE is the address of a database.")]
Name = Annotated[str, typer.Option(help="What the question calls the table.")]
RowsPerUnit = Annotated[int | None, typer.Option(help="How many rows of one person count, in each group.")]
GroupsPerUnit = Annotated[int | None, typer.Option(help="In how many groups one person counts.")]
Share = Annotated[list[str] | None, typer.Option(help="name=0.3: which part of the cost a column of the answer gets.")]
Learn = Annotated[list[str] | None, typer.Option(help="A column whose bounds are learned, out of the same epsilon.")]
Bounds = Annotated[list[str] | None, typer.Option(help="column=0:100000: cells outside count as the bound.")]
Bounding = Annotated[str, typer.Option(help="Rows beyond the limit: weigh (each in part) or lot (some by lot).")]
Noise = Annotated[str, typer.Option(help="laplace, or gaussian for people in many groups.")]
Effects = Annotated[str, typer.Option(help="Which part of the cost estimates errors that are not noise; 0 for none.")]
Confidence = Annotated[str, typer.Option(help="How sure the intervals are.")]
Public = Annotated[list[str] | None, typer.Option(help="name=file: a table that is no secret, for joins.")]
Private = Annotated[list[str] | None, typer.Option(help="name=file[:schema]: a second private table.")]
Rehearse = Annotated[
    str,
    typer.Option(help="A seed: repeatable noise, marked. On invented and public data no ledger is needed."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Epsilons = Annotated[str, typer.Option("--sweep", help="Ask at each of these epsilons, and pay for each: 0.01,0.1,1.")]

GroupSize = Annotated[
    int, typer.Option(help="For how many people in a group to say how far off means and spreads will be.")
]


def ask(
    source: Source,
    sql: Sql,
    analyst: Analyst = "",
    epsilon: Epsilon = "",
    delta: Delta = "0",
    ledger: Where = "",
    budget: Budget = "",
    schema: SchemaFile = "",
    table: InDatabase = "",
    name: Name = "",
    rows_per_unit: RowsPerUnit = None,
    groups_per_unit: GroupsPerUnit = None,
    share: Share = None,
    learn: Learn = None,
    bounds: Bounds = None,
    bounding: Bounding = "weigh",
    noise: Noise = "laplace",
    effects: Effects = "0.1",
    confidence: Confidence = "0.95",
    public: Public = None,
    private: Private = None,
    unreadable: Unreadable = "0",
    rehearse: Rehearse = "",
    as_json: AsJson = False,
    out: Annotated[str, typer.Option(help="Also write the answer to this .csv, .parquet or .json file.")] = "",
    sweep: Epsilons = "",
    picture: Annotated[str, typer.Option(help="With --sweep: draw values against epsilon, .svg or .png.")] = "",
    truth: Annotated[
        bool, typer.Option("--truth", help="Draw the value without noise too: rehearsals on open data only.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Also print the SQL that ran.")] = False,
) -> None:
    """Ask a question about a table, and pay for it out of a grant.

    The file is checked whole first: lines and cells that do not fit its schema are refused, with line and column, and
    cost nothing. Then the cost is on disk before the question reads a row. The same question again is answered from
    the ledger, for nothing. Exit code 3 if it costs more than is left; nothing is read then.

    On invented patients no ledger is needed:

    ziggurat ask clinic "SELECT COUNT(DISTINCT patient_id) FROM clinic" --epsilon 0.5 --rehearse 1

    On data about people a grant pays ('ziggurat ledger grant'):

    ziggurat ask patients.csv "SELECT AVG(age) FROM patients" --epsilon 0.2 --rows-per-unit 1 --analyst ada
    """
    from ziggurat.cli._asked_tables import located
    from ziggurat.cli.ask._answers import check_outputs, show_answer, show_sweep
    from ziggurat.cli.ask._asking import Asker, amounts_of, terms_of

    amounts = amounts_of(epsilon, sweep)
    check_outputs(out, picture, truth, bool(sweep))
    terms = terms_of(rows_per_unit, groups_per_unit, share, learn, bounds, bounding, noise, effects, confidence)
    found = located(source, schema, table, name, unreadable)
    asker = Asker.of(found, private, public, analyst, ledger, budget, rehearse, unreadable)
    with asker.book(write=True) as book:
        if sweep:
            made, left = asker.sweep(book, sql, amounts, delta, terms, truth)
            show_sweep(made, left, as_json=as_json, out=out, picture=picture)
            if truth and analyst:
                typer.echo("The ledger says for ever that the value without noise was shown (unbounded).", err=True)
            return
        release, left = asker.answer(book, sql, amounts[0], delta, terms)
        show_answer(release.output, release.cost, left, as_json=as_json, out=out, explain=explain)


def quote(
    source: Source,
    sql: Sqls,
    analyst: Analyst = "",
    epsilon: Epsilon = "",
    delta: Delta = "0",
    ledger: Where = "",
    budget: Budget = "",
    schema: SchemaFile = "",
    table: InDatabase = "",
    name: Name = "",
    rows_per_unit: RowsPerUnit = None,
    groups_per_unit: GroupsPerUnit = None,
    share: Share = None,
    learn: Learn = None,
    bounds: Bounds = None,
    bounding: Bounding = "weigh",
    noise: Noise = "laplace",
    effects: Effects = "0.1",
    confidence: Confidence = "0.95",
    public: Public = None,
    private: Private = None,
    rehearse: Rehearse = "",
    as_json: AsJson = False,
    sweep: Epsilons = "",
    group_size: GroupSize = 1_000,
) -> None:
    """Price a question before anything is read: its cost, its precision, and whether it fits what is left.

    Takes what 'ziggurat ask' takes, and several questions: they are priced together. The table is not opened; its
    schema is enough. Exit code 3 if it does not fit.
    """
    from ziggurat.cli._asked_tables import located
    from ziggurat.cli.ask._answers import show_quotation
    from ziggurat.cli.ask._asking import Asker, amounts_of, terms_of

    amounts = amounts_of(epsilon, sweep)
    terms = terms_of(rows_per_unit, groups_per_unit, share, learn, bounds, bounding, noise, effects, confidence)
    asker = Asker.of(located(source, schema, table, name), private, public, analyst, ledger, budget, rehearse)
    with asker.book(write=False) as book:
        questions = [(each, amount) for each in sql for amount in amounts]
        session = asker.session(book)
        quoted = session.quote(
            [each for each, _ in questions], [amount for _, amount in questions], delta, group_size=group_size, **terms
        )
    show_quotation(quoted, as_json)
    raise typer.Exit(0 if quoted.fits else 3)
