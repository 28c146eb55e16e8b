"""`ziggurat server`: people, keys, tables, rights and work of a server, from a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, out_option
from ziggurat.cli._outputs import print_json
from ziggurat.cli.server._reach import OnServer, open_server
from ziggurat.cli.server._working import COMMANDS

if TYPE_CHECKING:
    from ziggurat.client import ServedKey, ServedPerson, ServedTable

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="A server from a terminal: people, keys, tables, rights, jobs.",
    help="A server from a terminal: who is known to it, their keys, its tables and who may ask about them.\n\n"
    "  ziggurat login 'http://127.0.0.1:8470/#link=…'                        once\n\n"
    "  ziggurat server register clinic patients.csv --schema patients.yaml\n\n"
    "  ziggurat ledger budget clinic --epsilon 2 --delta 1e-6 --server URL\n\n"
    "  ziggurat server add-person ana analyst\n\n"
    "  ziggurat server give clinic ana\n\n"
    "  ziggurat ledger grant clinic ana --epsilon 1 --server URL\n\n"
    "  ziggurat server make-key ana 'her notebook'\n\n"
    "With one stored server --server can be left out.",
)

Person = Annotated[str, typer.Argument(metavar="PERSON", help="The name of somebody.")]
TableName = Annotated[str, typer.Argument(metavar="TABLE", help="What questions call the table.")]


@app.command()
def me(server: OnServer = "", as_json: AsJson = False) -> None:
    """Say who you are to the server, what your key is for, and which tables you may ask about."""
    with open_server(server) as opened:
        found = opened.me()
    if as_json:
        print_json(_person(found) | {"scopes": found.scopes, "tables": dict(found.tables)})
        return
    typer.echo(f"{_say_person(found)}; the key is for {', '.join(found.scopes)}.")
    for table, may in found.tables.items():
        typer.echo(f"{table}: {may}")


@app.command()
def people(server: OnServer = "", as_json: AsJson = False) -> None:
    """List everybody; for stewards."""
    with open_server(server) as opened:
        found = opened.people()
    _list([_person(each) for each in found], [_say_person(each) for each in found], as_json)


@app.command("add-person")
def add_person(
    name: Person,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="steward, analyst, student or auditor.")],
    chief: Annotated[bool, typer.Option("--chief", help="A steward of every table and person.")] = False,
    link: Annotated[bool, typer.Option("--link", help="Also print a link by which they come in, once.")] = False,
    server: OnServer = "",
) -> None:
    """Add somebody; for chief stewards. They come in by a link, by a key, or by their institution."""
    chosen: Any = role
    with open_server(server) as opened:
        added = opened.add_person(name, chosen, chief=chief)
        made = opened.make_link(name) if link else ""
    typer.echo(f"{_say_person(added)} is known to the server.")
    if made:
        typer.echo(f"It lets them in once, within a day: {made}")


@app.command()
def link(name: Person, server: OnServer = "") -> None:
    """Make a link that lets somebody in once, within a day; for chief stewards."""
    with open_server(server) as opened:
        typer.echo(opened.make_link(name))


@app.command("keep-out")
def keep_out(
    name: Person,
    again: Annotated[bool, typer.Option("--let-in", help="Let them in again.")] = False,
    server: OnServer = "",
) -> None:
    """Keep somebody out from now on, whatever keys they have; for chief stewards."""
    with open_server(server) as opened:
        changed = opened.change_person(name, active=again)
    typer.echo(f"{_say_person(changed)}.")


@app.command()
def keys(name: Person, server: OnServer = "", as_json: AsJson = False) -> None:
    """List somebody's keys: what they are for and until when, never the keys."""
    with open_server(server) as opened:
        found = opened.keys(name)
    _list([_key(each) for each in found], [_say_key(each) for each in found], as_json)


@app.command("make-key")
def make_key(
    name: Person,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What it is for, in a few words.")],
    scope: Annotated[
        list[str] | None, typer.Option(help="read, spend or manage, once for each; by default read and spend.")
    ] = None,
    days: Annotated[float, typer.Option(help="For how long.", min=0.01)] = 365,
    out: Annotated[str, out_option("the key, for its owner alone; by default it is printed.")] = "",
    force: Force = False,
    server: OnServer = "",
) -> None:
    """Make a key for a program, which is told this once; it can do no more than your own."""
    from ziggurat.files import check_output, write_text

    if out:
        check_output(out, force=force)
    scopes: Any = tuple(scope or ("read", "spend"))
    with open_server(server) as opened:
        made = opened.make_key(name, label, scopes, days)
    if out:
        write_text(out, made.secret + "\n", mode=0o600)
        typer.echo(f"{_say_key(made)}; the key is in {out!r}, for its owner alone.")
    else:
        typer.echo(f"{_say_key(made)}. It is not shown again:", err=True)
        typer.echo(made.secret)


@app.command("revoke-key")
def revoke_key(
    name: Person,
    key: Annotated[str, typer.Argument(metavar="ID", help="As 'ziggurat server keys' lists it.")],
    server: OnServer = "",
) -> None:
    """End a key, from the next request on."""
    with open_server(server) as opened:
        opened.revoke_key(name, key)
    typer.echo(f"The key {key} of {name} has ended.")


@app.command()
def grants(server: OnServer = "", as_json: AsJson = False) -> None:
    """State what you were granted of every budget, and what is left of it."""
    from ziggurat.plain import to_plain

    with open_server(server) as opened:
        found = opened.grants()
    _list([to_plain(each) for each in found], [line for each in found for line in each.sentences()], as_json)


@app.command()
def tables(server: OnServer = "", as_json: AsJson = False) -> None:
    """List the tables that you may ask about, or look after."""
    with open_server(server) as opened:
        found = opened.tables()
    _list([_table(each) for each in found], [_say_table(each) for each in found], as_json)


@app.command()
def register(
    name: TableName,
    data: Annotated[str, typer.Argument(help="A file, or upload:…, invented:…, open:…, postgresql://…, spark:….")],
    schema: Annotated[str, typer.Option(help="The file that says what is publicly known of it.")],
    inside: Annotated[str, typer.Option(help="The table of a database.")] = "",
    population: Annotated[str, typer.Option(help="Whose account pays; by default one of the table's name.")] = "",
    public: Annotated[bool, typer.Option("--public", help="It is no secret, and can be joined for nothing.")] = False,
    slot: Annotated[float | None, typer.Option(help="After how many seconds answers about it leave.")] = None,
    server: OnServer = "",
) -> None:
    """Send a table to the server, where every cell is checked against its schema; its name stands for it for ever."""
    from ziggurat.cli.terminal import show_status

    with open_server(server) as opened, show_status("Sending and checking the table …"):
        made = opened.register(
            name, data, schema, inside=inside, population=population, public=public, slot=slot
        )  # fmt: skip
    typer.echo(f"{_say_table(made)}.")
    for problem in made.problems:
        typer.echo(problem, err=True)
    if made.population == name and not public:
        typer.echo(f"Next: 'ziggurat ledger budget {name} --epsilon 1 --server URL' says what may be spent on it.")


@app.command()
def preview(name: TableName, server: OnServer = "") -> None:
    """Show a steward what the columns of a table hold: exact counts, which are private."""
    with open_server(server) as opened:
        typer.echo(str(opened.preview(name)))


@app.command()
def show(name: TableName, server: OnServer = "") -> None:
    """Show what is publicly known of a table: columns, kinds, roles, bounds and categories."""
    from rich.console import Console

    from ziggurat.cli.terminal import schema_table

    with open_server(server) as opened:
        Console().print(schema_table(opened.declared(name)))


@app.command()
def forget(name: TableName, server: OnServer = "") -> None:
    """Let the server forget a table; its account in the ledger stays."""
    with open_server(server) as opened:
        opened.remove_table(name)
    typer.echo(f"The table {name} is forgotten; what was spent on it stays in the ledger.")


@app.command()
def rights(name: TableName, server: OnServer = "", as_json: AsJson = False) -> None:
    """List who may do what with a table; for its stewards."""
    with open_server(server) as opened:
        found = opened.rights(name)
    if as_json:
        print_json({"rights": found})
        return
    for person, may in found.items():
        typer.echo(f"{person}: {may}")


@app.command()
def give(
    name: TableName,
    person: Person,
    may: Annotated[str, typer.Option(help="ask, or steward to look after it.")] = "ask",
    server: OnServer = "",
) -> None:
    """Let somebody ask about a table, or look after it; for its stewards. What it may cost says a grant."""
    chosen: Any = may
    with open_server(server) as opened:
        opened.give_right(name, person, chosen)
    typer.echo(f"{person} may {'look after' if may == 'steward' else 'ask about'} the table {name}.")


@app.command()
def take(name: TableName, person: Person, server: OnServer = "") -> None:
    """Take away whatever somebody may do with a table; for its stewards."""
    with open_server(server) as opened:
        opened.take_right(name, person)
    typer.echo(f"{person} may do nothing with the table {name} any more.")


for each, command in COMMANDS.items():
    app.command(each)(command)


def _list(facts: list[dict[str, Any]], lines: list[str], as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    for line in lines:
        typer.echo(line)
    if not lines:
        typer.echo("There is none.", err=True)


def _person(each: ServedPerson) -> dict[str, Any]:
    return {"name": each.name, "role": each.role, "chief": each.chief, "active": each.active}


def _say_person(each: ServedPerson) -> str:
    return f"{each.name}: {'chief ' if each.chief else ''}{each.role}{'' if each.active else ', kept out'}"


def _key(each: ServedKey) -> dict[str, Any]:
    names = ("id", "label", "scopes", "made", "expires", "revoked")
    return {name: getattr(each, name) for name in names}


def _say_key(each: ServedKey) -> str:
    until = f"until {each.expires[:10]}" if each.expires else "until it is revoked"
    return f"{each.id}: {each.label}, for {', '.join(each.scopes)}, {'revoked' if each.revoked else until}"


def _table(each: ServedTable) -> dict[str, Any]:
    names = ("name", "unit", "population", "public", "slot", "made", "may")
    return {name: getattr(each, name) for name in names}


def _say_table(each: ServedTable) -> str:
    paid = "public" if each.public else f"paid by the budgets of {each.population}"
    return f"{each.name}: unit: {each.unit}, {paid}, you may {each.may or 'ask'}"
