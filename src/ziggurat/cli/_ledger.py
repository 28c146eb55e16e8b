"""`ziggurat ledger`: budgets, grants, statements, verification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._books import default_ledger, open_ledger, open_to_read, read_text, sum_up
from ziggurat.cli._options import AsJson, Force, Where, out_option, picture_option
from ziggurat.cli._outputs import PICTURES, check_file, end_with_quote, print_json
from ziggurat.cli.server import OnServer, books
from ziggurat.errors import LedgerError, ParameterError
from ziggurat.files import check_output

if TYPE_CHECKING:
    from ziggurat.client import ServedEntry, ServedVerification
    from ziggurat.data import Unit
    from ziggurat.ledger import Entry, PopulationStatement, Verification
    from ziggurat.privacy import Event, Neighbours

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Budgets: create, register, grant, quote, show, witness, verify.",
    help="Budgets and what was spent of them: create, register, grant, quote, show, witness and verify.\n\n"
    "Amounts are exact: 0.1 means one tenth, and ten tenths make one. A typical start:\n\n"
    "  ziggurat ledger budget clinic --epsilon 2 --delta 1e-6 --person patient_id\n\n"
    "  ziggurat ledger grant clinic ana --epsilon 1\n\n"
    "  ziggurat ledger show clinic",
)

_PATIENCE = 2.0  # seconds

Table = Annotated[str, typer.Argument(help="The name of the table.")]
Analyst = Annotated[str, typer.Argument(help="The name of the analyst.")]
Epsilon = Annotated[str, typer.Option(help="Exact: a decimal or a fraction, such as 0.1 or 1/3.")]
Delta = Annotated[str, typer.Option(help="Exact; 0 for a pure promise.")]


@app.command()
def budget(
    table: Table,
    epsilon: Epsilon,
    delta: Delta = "0",
    person: Annotated[str, typer.Option(help="The column that tells people apart; without it the unit is a row.")] = "",
    unit: Annotated[str, typer.Option(help="organisation=hospital: another unit and its column; or row.")] = "",
    relation: Annotated[str, typer.Option(help="add-or-remove-one or replace-one.")] = "add-or-remove-one",
    population: Annotated[str, typer.Option(help="Whose account it belongs to; by default it is one of its own.")] = "",
    ledger: Where = "",
    server: OnServer = "",
) -> None:
    """Set what may be spent on a table, or on all tables of a population, in all; it cannot be changed later.

    Creates the ledger if there is none. One budget is enough for almost everything: the default relation pays for
    questions, models, labels and synthetic tables alike. What cannot be proven under it says so and names the budget
    that it needs; make that one with --population, and both promises are shown side by side. On a server the table's
    own schema says whom it protects.
    """
    if server:
        _say(books.make_budget(server, table, epsilon, delta, relation))
        return
    from ziggurat.ledger import Budget
    from ziggurat.privacy import exact_delta, exact_epsilon, in_words

    made = Budget(table, exact_epsilon(epsilon), exact_delta(delta), _read_neighbours(person, unit, relation))
    with open_ledger(ledger, create=True) as book:
        book.create_budget(made.table, made.epsilon, made.delta, made.neighbours, population=population or None)
        whole = book.account(table).sentences() if population else []
    amounts = f"epsilon {in_words(made.epsilon)} and delta {in_words(made.delta)}"
    typer.echo(f"The table {table} now has a budget of {amounts}.")
    typer.echo(f"It protects {made.neighbours}.")
    _say(whole)


@app.command()
def register(
    table: Table,
    population: Annotated[str, typer.Option(help="The name of the population: that of its first budget.")],
    column: Annotated[
        str, typer.Option(help="The column that tells people apart in this table, if its budgets have another.")
    ] = "",
    ledger: Where = "",
) -> None:
    """Declare that a table is about the people of a population, for ever: its budgets then pay for it, and no other.

    Two budgets that were made for the same people are told so as well; 'ziggurat ledger show' then adds them up:

    ziggurat ledger register visits --population clinic --column pid
    """
    with open_ledger(ledger) as book:
        book.register(table, population, column or None)
        _say(book.account(population).sentences())


def _read_neighbours(person: str, unit: str, relation: str) -> Neighbours:
    from ziggurat.privacy import Neighbours, Relation

    try:
        chosen = Relation(relation)
    except ValueError:
        raise ParameterError("The relation must be 'add-or-remove-one' or 'replace-one'.") from None
    return Neighbours(_read_unit(person, unit), chosen)


def _read_unit(person: str, unit: str) -> Unit:
    from ziggurat.data import Unit

    if person and unit:
        raise ParameterError("State the unit once: --person column, or --unit name=column.")
    if unit in ("", "row"):
        return Unit.person(person) if person else Unit.row()
    name, equals, column = unit.partition("=")
    if not (name and equals and column):
        raise ParameterError("A unit is row, or name=column, for instance --unit organisation=hospital.")
    return Unit.of(column, name)


@app.command()
def grant(
    table: Table,
    analyst: Analyst,
    epsilon: Epsilon,
    delta: Delta = "0",
    rule: Annotated[
        str, typer.Option(help="sum, zcdp or gaussian; by default sum without a delta, zcdp with one.")
    ] = "",
    ledger: Where = "",
    server: OnServer = "",
) -> None:
    """Give an analyst a piece of a table's budget."""
    if server:
        _say(books.grant(server, table, analyst, epsilon, delta, rule))
        return
    with open_ledger(ledger) as book:
        book.grant(table, analyst, epsilon, delta, rule or None)
        _say(book.statement(table).sentences())


@app.command()
def close(table: Table, analyst: Analyst, ledger: Where = "", server: OnServer = "") -> None:
    """End a grant; under the sum rule what was not spent returns to the budget."""
    if server:
        _say(books.close(server, table, analyst))
        return
    with open_ledger(ledger) as book:
        book.close_grant(table, analyst)
        _say(book.statement(table).sentences())


@app.command()
def quote(
    table: Table,
    analyst: Analyst,
    epsilon: Annotated[str, typer.Option(help="Price a question that promises this epsilon.")] = "",
    rho: Annotated[str, typer.Option(help="Or one that promises this rho (zero-concentrated).")] = "",
    event: Annotated[str, typer.Option(help="Or the event in this JSON file.")] = "",
    ledger: Where = "",
    as_json: AsJson = False,
) -> None:
    """Say what a question would cost before anything is read; exit code 3 if it does not fit."""
    with open_to_read(ledger) as book:
        priced = book.quote(table, analyst, _read_event(epsilon, rho, event, book.budget(table).neighbours))
    end_with_quote(priced.sentence, asdict(priced), fits=priced.fits, as_json=as_json)


def _read_event(epsilon: str, rho: str, file: str, neighbours: Neighbours) -> Event:
    from ziggurat.privacy import PureEvent, ZeroConcentratedEvent, event_from_json, exact_epsilon, exact_positive

    if sum(map(bool, (epsilon, rho, file))) != 1:
        raise ParameterError("Give exactly one of --epsilon, --rho and --event.")
    if epsilon:
        return PureEvent(neighbours, exact_epsilon(epsilon))
    if rho:
        return ZeroConcentratedEvent(neighbours, exact_positive(rho, "rho"))
    return event_from_json(read_text(file))


@app.command()
def show(
    table: Annotated[str, typer.Argument(help="The table; without it all of them.")] = "",
    ledger: Where = "",
    as_json: AsJson = False,
    picture: Annotated[str, picture_option("how much of every grant is used.")] = "",
    by: Annotated[str, typer.Option(help="What is drawn: analyst (a bar for each grant) or time.")] = "analyst",
    force: Force = False,
    server: OnServer = "",
) -> None:
    """State what was granted, spent and left about each population, in plain words.

    On a server stewards see the populations that they look after, and auditors all of them; 'ziggurat server grants'
    shows one's own.
    """
    from ziggurat.cli.terminal import save_plot

    check_file(picture, PICTURES, force=force)
    if by not in ("analyst", "time"):
        raise ParameterError("--by is analyst or time.")
    if server:
        _show_accounts(*books.read_accounts(server, table), as_json)
        return
    with open_to_read(ledger) as book:
        names = [table] if table else book.populations()
        if picture:
            save_plot(picture, lambda: book.plot(table, "time" if by == "time" else "analyst"))
        _show_accounts([book.account(name) for name in names], book.witness().sentences(), as_json)


def _show_accounts(accounts: Sequence[PopulationStatement], witness: list[str], as_json: bool) -> None:
    if as_json:
        print_json({"populations": [_state(each) for each in accounts], "witness": witness})
        return
    from rich.console import Console

    from ziggurat.cli.terminal import budget_bars

    if not accounts:
        typer.echo("The ledger has no budgets yet; create one with 'ziggurat ledger budget'.")
    for account in accounts:
        _say(account.sentences())
        for statement in account.budgets:
            if statement.grants:
                Console().print(budget_bars(statement))
    _say(witness)


def _state(account: PopulationStatement) -> dict[str, Any]:
    """An account as JSON: exact amounts are text."""
    return {
        "population": account.population,
        "tables": account.tables,
        "budgets": [
            {
                "budget": each.table,
                "epsilon": None if each.budget is None else each.budget.epsilon,
                "delta": None if each.budget is None else each.budget.delta,
                "protects": None if each.budget is None else str(each.budget.neighbours),
                "ungranted": {"epsilon": each.ungranted_epsilon, "delta": each.ungranted_delta},
                "grants": [
                    {
                        "analyst": item.grant.analyst,
                        "share": item.share,
                        "left": item.remainder.amount,
                        "questions": item.questions,
                        "pending": item.pending,
                        "rehearsals": item.rehearsals,
                        "closed": item.closed,
                    }
                    for item in each.grants
                ],
            }
            for each in account.budgets
        ],
        "unbounded": account.unbounded,
        "sentences": account.sentences(),
    }


@app.command()
def history(
    table: Annotated[str, typer.Argument(help="The table; without it all of them.")] = "",
    analyst: Annotated[str, typer.Option(help="Only this analyst's entries.")] = "",
    last: Annotated[int, typer.Option(help="Only so many of the newest; 0 means all.", min=0)] = 0,
    ledger: Where = "",
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """List the entries: number, time, kind, table, analyst, hash, and what a steward decided; answers are not shown."""
    entries, about = _read_entries(table, analyst, last, ledger, server)
    if as_json:
        print_json([_describe(entry, *names) for entry, names in zip(entries, about, strict=True)])
        return
    widths = [max((len(names[i]) for names in about), default=0) for i in (0, 1)]
    for entry, names in zip(entries, about, strict=True):
        typer.echo(_write_line(entry, [name.ljust(width) for name, width in zip(names, widths, strict=True)]))


def _read_entries(
    table: str, analyst: str, last: int, ledger: str, server: str
) -> tuple[Sequence[Entry | ServedEntry], list[tuple[str, str]]]:
    if server:
        return books.read_history(server, table, analyst, last)
    with open_to_read(ledger) as book:
        entries = book.history(table or None, analyst or None, limit=last or None)
        return entries, [book.about(entry) for entry in entries]


def _describe(entry: Entry | ServedEntry, table: str, analyst: str) -> dict[str, Any]:
    decided = entry.data["what"] if entry.kind == "decision" else None
    kept = {"seq": entry.seq, "time": entry.time, "kind": entry.kind, "hash": entry.hash}
    return {**kept, "table": table, "analyst": analyst, "decided": decided}


def _write_line(entry: Entry | ServedEntry, names: list[str]) -> str:
    decided = f"  went on although {entry.data['what']}" if entry.kind == "decision" else ""
    return f"{entry.seq:>6}  {entry.time}  {entry.kind:<9}  {'  '.join(names)}  {entry.hash[:16]}{decided}"


@app.command()
def abandon(
    reservation: Annotated[int, typer.Argument(help="Its number, as the refusal names it.", min=1)],
    ledger: Where = "",
) -> None:
    """Give up a reservation whose answer will not come: its cost stays spent, and the question can be asked again."""
    with open_ledger(ledger) as book:
        book.abandon(reservation)
    typer.echo(f"Reservation {reservation} is given up; what it cost stays spent.")


@app.command()
def unbounded(
    table: Table,
    what: Annotated[str, typer.Argument(help="What was released, in a few words.")],
    ledger: Where = "",
) -> None:
    """Write down a release that carries no differential-privacy promise, so that nobody forgets it."""
    with open_ledger(ledger) as book:
        book.record_unbounded(table, what)
        _say(book.account(table).sentences())


@app.command()
def keygen(
    path: Annotated[str, typer.Argument(help="Where to put the private key; the public one gets '.pub'.")],
) -> None:
    """Make an Ed25519 key for signing receipts; nothing is ever overwritten."""
    from ziggurat.ledger import generate_key

    public = generate_key(path)
    typer.echo(f"The private key is in {path} (for your eyes only) and the public key in {public}.")


@app.command()
def sign(
    key: Annotated[str, typer.Option(help="The private key made by 'ziggurat ledger keygen'.")],
    out: Annotated[str, out_option("the receipt in this file; by default it is printed.")] = "",
    force: Force = False,
    ledger: Where = "",
) -> None:
    """Sign the newest entry. Keep the receipt elsewhere: it shows later whether the end was cut off."""
    from ziggurat.files import write_text

    if out:
        check_output(out, force=force)
    with open_to_read(ledger) as book:
        receipt = book.sign_head(key)
    if not out:
        typer.echo(receipt.to_json())
        return
    write_text(Path(out), receipt.to_json() + "\n")
    typer.echo(f"Entry {receipt.seq} is signed; the receipt is in {out}.")


@app.command()
def witness(
    where: Annotated[
        str,
        typer.Argument(
            envvar="ZIGGURAT_WITNESS", help="A folder on another disk, postgresql://… or https://…; none with --server."
        ),
    ] = "",
    lost: Annotated[
        bool, typer.Option("--lost", help="Give up the witness before it, which is gone for good.")
    ] = False,
    token_file: Annotated[
        str, typer.Option(help="The token of an https:// witness is in this file, and is kept in your settings.")
    ] = "",
    ca_file: Annotated[
        str, typer.Option(help="Take an https:// witness only for what this PEM file certifies; kept as well.")
    ] = "",
    ledger: Where = "",
    server: OnServer = "",
) -> None:
    """Name who watches the ledger: it keeps a signed receipt of every entry, and without it nothing is spent.

    A folder, a PostgreSQL table, or a server of 'ziggurat witness serve'. For that one, give its token by --token-file
    or in ZIGGURAT_WITNESS_TOKEN; it is kept in your settings folder, and never in the ledger.

    With --server, who watches the ledger of the server, which whoever runs it names: 'ziggurat serve --witness'.
    """
    if server:
        _say(books.read_witness(server))
        return
    if not where:
        raise ParameterError("Name who watches the ledger: a folder on another disk, postgresql://… or https://….")
    if token_file or ca_file:
        from ziggurat.ledger.witness import keep_access, read_certificate

        certificate = read_certificate(ca_file) if ca_file else ""
        keep_access(where, read_text(token_file).strip() if token_file else "", certificate)
    with open_ledger(ledger) as book:
        named = book.name_witness(where, lost=lost)
    _say(named.sentences())
    typer.echo(
        f"From now on nothing is spent without it. Its signing key is in {named.key_file}; keep a copy elsewhere."
    )


@app.command()
def verify(
    receipt: Annotated[str, typer.Option(help="A receipt that was kept elsewhere.")] = "",
    public_key: Annotated[str, typer.Option(help="Whose signature the receipts must carry.")] = "",
    whole: Annotated[
        bool, typer.Option("--whole", help="Read again what this machine has verified before, from the first entry on.")
    ] = False,
    ledger: Where = "",
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Recompute every hash, replay every rule, ask the witness; says what was changed. Exit code 4 if anything was.

    With --server the server does it, and says what it found: whoever trusts it less verifies the ledger itself.
    """
    from ziggurat.ledger import Receipt, verify_ledger

    result: Verification | ServedVerification
    if server:
        result = books.verify(server, whole)
    else:
        kept = Receipt.from_json(read_text(receipt)) if receipt else None
        where, key = ledger or default_ledger(), public_key or None
        result = verify_ledger(where, key, kept, whole=whole, progress=_say_progress())
    problems = [str(each) for each in result.problems]
    if as_json:
        print_json({"sound": result.ok, "entries": result.entries, "problems": problems, "notes": result.notes})
    elif result.ok:
        typer.echo(sum_up(result))
    else:
        typer.echo("\n".join(problems), err=True)
    raise typer.Exit(0 if result.ok else LedgerError.exit_code)


def _say_progress() -> Callable[[int], None]:
    """Tell on stderr how far it is, once it takes more than two seconds, and every two seconds from then on."""
    told = monotonic()

    def tell(count: int) -> None:
        nonlocal told
        if monotonic() - told > _PATIENCE:
            told = monotonic()
            typer.echo(f"{count:,} entries verified so far …", err=True)

    return tell


def _say(sentences: list[str]) -> None:
    for sentence in sentences:
        typer.echo(sentence)
