"""`ziggurat ask` and `ziggurat quote`: questions that are paid for before anything is read."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from ziggurat.cli._options import (
    AsJson,
    Force,
    OnlyQuote,
    TableArgument,
    Unreadable,
    out_option,
    picture_option,
    with_records,
)
from ziggurat.cli.ask._options import QuestionOptions

_GROUP_SIZE = 1_000

Sql = Annotated[str, typer.Argument(metavar="SQL", help="SELECT … FROM the file's name without its ending.")]
Sqls = Annotated[list[str], typer.Argument(metavar="SQL...", help="One question, or several asked one after another.")]
GroupSize = Annotated[
    int, typer.Option(help="For how many people in a group to say how far off means and spreads will be.")
]


@with_records
def ask(
    data: TableArgument,
    sql: Sql,
    asked: QuestionOptions,
    unreadable: Unreadable = "0",
    as_json: AsJson = False,
    out: Annotated[str, out_option("the answer also in this .csv, .xlsx, .parquet or .json file.")] = "",
    picture: Annotated[str, picture_option("the answer with its intervals; with --sweep values against epsilon.")] = "",
    force: Force = False,
    truth: Annotated[
        bool, typer.Option("--truth", help="Draw the value without noise too: rehearsals on open data only.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Also print the SQL that ran.")] = False,
    quote_only: OnlyQuote = False,
) -> None:
    """Ask a question about a table, and pay for it out of a grant.

    The file is checked whole first: lines and cells that do not fit its schema are refused, with line and column, and
    cost nothing. Then the cost is on disk before the question reads a row. The same question again is answered from
    the ledger, for nothing. Exit code 3 if it costs more than is left; nothing is read then.

    On invented patients no ledger is needed:

    ziggurat ask clinic "SELECT COUNT(DISTINCT patient_id) FROM clinic" --epsilon 0.5 --rehearse 1

    On data about people a grant pays ('ziggurat ledger grant'):

    ziggurat ask patients.csv "SELECT AVG(age) FROM patients" --epsilon 0.2 --rows-per-unit 1 --analyst ada

    On a server ('ziggurat login') the table is called by its name there, and whoever's key it is pays:

    ziggurat ask clinic "SELECT AVG(age) FROM clinic" --epsilon 0.2 --rows-per-unit 1 --server https://…
    """
    from ziggurat.cli.ask._answers import check_outputs, show_answer, show_sweep

    if quote_only:
        _price(data, [sql], asked, as_json, _GROUP_SIZE)
    amounts, terms = asked.amounts, asked.terms
    check_outputs(out, picture, truth=truth, sweep=bool(asked.sweep), force=force)
    if asked.server:
        from ziggurat.cli.ask._remote import ask_server

        given, remainder = ask_server(asked, data, sql)
        show_answer(given, given.guarantee(), remainder, as_json=as_json, out=out, picture=picture, explain=explain)
        return
    asker = asked.asker(data, unreadable)
    with asker.book(write=True) as book:
        if asked.sweep:
            made, left = asker.sweep(book, sql, amounts, asked.delta, terms, truth)
            show_sweep(made, left, as_json=as_json, out=out, picture=picture)
            if truth and asked.analyst:
                typer.echo("The ledger says for ever that the value without noise was shown (unbounded).", err=True)
            return
        release, left = asker.answer(book, sql, amounts[0], asked.delta, terms, drawn=bool(picture))
        show_answer(release.output, release.cost, left, as_json=as_json, out=out, picture=picture, explain=explain)


@with_records
def quote(
    data: TableArgument,
    sql: Sqls,
    asked: QuestionOptions,
    as_json: AsJson = False,
    group_size: GroupSize = _GROUP_SIZE,
) -> None:
    """Price a question before anything is read: its cost, its precision, and whether it fits what is left.

    Takes what 'ziggurat ask' takes, and several questions: they are priced together. The table is not opened; its
    schema is enough. Exit code 3 if it does not fit.
    """
    _price(data, sql, asked, as_json, group_size)


def _price(data: str, sql: list[str], asked: QuestionOptions, as_json: bool, group_size: int) -> NoReturn:
    from ziggurat.cli.ask._answers import show_quotation

    questions = [(each, amount) for each in sql for amount in asked.amounts]
    if asked.server:
        from ziggurat.cli.ask._remote import price_on_server

        priced = price_on_server(asked, data, questions, group_size)
        show_quotation(priced, as_json)
        raise typer.Exit(0 if priced.fits else 3)
    terms, asker = asked.terms, asked.asker(data)
    with asker.book(write=False) as book:
        quoted = asker.session(book).quote(
            [each for each, _ in questions],
            [amount for _, amount in questions],
            asked.delta,
            group_size=group_size,
            **terms,
        )
    show_quotation(quoted, as_json)
    raise typer.Exit(0 if quoted.fits else 3)
