"""The one seam by which a command does its work on a server: the same verbs, chosen by `--server`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated

import typer

from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.client import Server

_command: ContextVar[typer.Context] = ContextVar("command")


def _note_command(context: typer.Context, url: str) -> str:
    """Remember which command is being done, so that its options can be looked at."""
    _command.set(context)
    return url


_HELP = "Do it on this server, https://…, as whom 'ziggurat login' signed in; TABLE is then its name there."
OnServer = Annotated[
    str, typer.Option("--server", envvar="ZIGGURAT_SERVER", callback=_note_command, help=_HELP)
]  # fmt: skip
OnServerIfSaid = Annotated[str, typer.Option("--server", callback=_note_command, help=_HELP)]
"""Of what is done to trust nobody: the environment never sends it elsewhere."""
_ALWAYS = ("server", "as_json", "force", "quiet")


@contextmanager
def open_server(url: str) -> Iterator[Server]:
    """Connect to a server by the key that was stored for it, or that the environment says."""
    from ziggurat.client import connect

    with connect(url) as server:
        yield server


def refuse_local(*allowed: str) -> None:
    """Refuse options that were given and mean something on this machine alone.

    Parameters
    ----------
    *allowed
        The parameters of the command that a server takes, too.
    """
    context = _command.get()
    for each in context.command.params:
        given = context.get_parameter_source(each.name or "")
        if given is not None and given.name == "COMMANDLINE" and each.name not in (*allowed, *_ALWAYS):
            named = each.opts[0] if each.opts[0].startswith("-") else (each.name or "").upper()
            raise ParameterError(f"{named} is for tables and ledgers of this machine; leave it out with --server.")
