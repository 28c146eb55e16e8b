"""`ziggurat server`: jobs, releases and models of a server, from a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, out_option
from ziggurat.cli._outputs import print_json
from ziggurat.cli.server import jobs as fetching
from ziggurat.cli.server._reach import OnServer, open_server

if TYPE_CHECKING:
    from ziggurat.client import ServedJob

JobId = Annotated[str, typer.Argument(metavar="JOB", help="As 'ziggurat server jobs' lists it.")]


def jobs(server: OnServer = "", as_json: AsJson = False) -> None:
    """List your newest jobs, and those about tables that you look after."""
    with open_server(server) as opened:
        found = opened.jobs()
    _list(found, [_say(each) for each in found], as_json)


def job(name: JobId, server: OnServer = "", as_json: AsJson = False) -> None:
    """Say how far a job is, and what came of it."""
    with open_server(server) as opened:
        found = opened.job(name)
    result = found.result or {}
    told = [*result.get("sentences", ()), *([result["sentence"]] if "sentence" in result else [])]
    failed = [str(found.error["message"])] if found.error else []
    _list(found, [_say(found), *map(str, told), *failed], as_json)


def cancel(name: JobId, server: OnServer = "") -> None:
    """End a job; what was reserved for it stays spent."""
    with open_server(server) as opened:
        typer.echo(_say(opened.cancel(name)))


def go_on(
    name: JobId,
    reason: Annotated[str, typer.Option(help="Why it shall leave although the gate stopped it; kept for ever.")],
    out: Annotated[str, out_option("the bundle in this .zip file.")],
    force: Force = False,
    server: OnServer = "",
    as_json: AsJson = False,
) -> None:
    """Let a release go on that the gate stopped, with a reason, and fetch its bundle; for the table's stewards."""
    fetching.let_go_on(server, name, reason, out, force=force).say(as_json=as_json)


def releases(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Of this table alone.")] = "",
    server: OnServer = "",
    as_json: AsJson = False,
) -> None:
    """List what has left and you may have; 'ziggurat release hand-out ID' fetches the public part of one."""
    with open_server(server) as opened:
        found = opened.releases(table)
    lines = [f"{each.id}: {each.kind} of {each.table}, {each.made[:10]}: {each.what}" for each in found]
    _list(found, lines, as_json)


def models(server: OnServer = "", as_json: AsJson = False) -> None:
    """List the models about tables that you may see; 'ziggurat model show' says what one is asked."""
    with open_server(server) as opened:
        found = opened.models()
    _list(found, [f"{each.name}: {each.kind}, of {each.table}" for each in found], as_json)


def publish(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is asked by, for ever.")],
    release: Annotated[str, typer.Argument(metavar="ID", help="As 'ziggurat server releases' lists it.")],
    server: OnServer = "",
) -> None:
    """Let the model of a release predict under a name; for the table's stewards."""
    with open_server(server) as opened:
        made = opened.publish_model(name, release)
    typer.echo(f"{made.name}: {made.kind}, of {made.table}; 'ziggurat model predict {made.name} TABLE' asks it.")


def bring(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is asked by, for ever.")],
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table that it is about.")],
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Its bare name in the server's folder 'models'.")],
    kind: Annotated[
        str, typer.Option(help="served for what 'model serve' wrote; teachers for 'pate teach'.")
    ] = "served",
    server: OnServer = "",
) -> None:
    """Register a folder that whoever runs the server put into its folder 'models'; for chief stewards."""
    chosen: Any = kind
    with open_server(server) as opened:
        made = opened.register_model(name, table, folder, chosen)
    typer.echo(f"{made.name}: {made.kind}, of {made.table}.")


COMMANDS: dict[str, Callable[..., None]] = {
    "jobs": jobs,
    "job": job,
    "cancel": cancel,
    "go-on": go_on,
    "releases": releases,
    "models": models,
    "publish": publish,
    "bring": bring,
}
"""What `ziggurat server` does with them, by the name of the command."""


def _list(found: Any, lines: Sequence[str], as_json: bool) -> None:
    from ziggurat.plain import to_plain

    if as_json:
        print_json(to_plain(found))
        return
    for line in lines:
        typer.echo(line)


def _say(job: ServedJob) -> str:
    step, about = f", {job.step}" if job.step else "", f" of {job.table}" if job.table else ""
    return f"{job.id}: {job.kind}{about}, {job.state}{step}"
