"""The commands, each of which is loaded when it is called or when the help lists it."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from ziggurat import __version__
from ziggurat.cli._endings import EXIT_CODES
from ziggurat.cli._options import AsJson, Force, Rehearse, picture_option

# Where each command stands, in the order of the help; a group is the `app` of its module.
_COMMANDS = {
    "ask": "ask",
    "quote": "ask",
    "collect": "collect",
    "anonymize": "anonymize",
    "mask": "mask",
    "synthesize": "synthesize",
    "write": "write",
    "risk": "risk",
    "attack": "attack",
    "compare": "compare",
    "decide": "decide",
    "audit": "audit",
    "verify": "_verify",
    "reproduce": "experiments",
    "serve": "server",
    "login": "server",
    "logout": "server",
}
_GROUPS = {
    "release": "_release",
    "ledger": "_ledger",
    "witness": "witness",
    "schema": "_schema",
    "table": "table",
    "data": "_data",
    "hierarchy": "hierarchy",
    "mobility": "mobility",
    "model": "model",
    "pate": "pate",
    "experiment": "experiments",
    "server": "server",
}


class LateGroup(typer.core.TyperGroup):
    """The root of all commands."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands = _Commands(dict(self.commands) | dict.fromkeys((*_COMMANDS, *_GROUPS)))


class _Commands(UserDict[str, Any]):
    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = _build(name)
        return self.data[name]


def _build(name: str) -> Any:
    module = import_module(f"ziggurat.cli.{_COMMANDS.get(name) or _GROUPS[name]}")
    alone = typer.Typer(rich_markup_mode=None)
    if name in _GROUPS:
        alone.add_typer(module.app, name=name)
    else:
        alone.command(name)(getattr(module, name))
    return typer.main.get_group(alone).commands[name]


app = typer.Typer(
    name="ziggurat",
    cls=LateGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Release answers, tables and models about people with a stated promise and an exact account of its cost.\n\n"
    "New here? Run 'ziggurat tour': one minute, nothing to prepare.",
    epilog="Exit codes: " + ", ".join(f"{code} {words}" for code, words in EXIT_CODES.items()) + ".",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ziggurat {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command()
def tour(
    rows: Annotated[int, typer.Option(help="How many patients to invent.", min=100)] = 10_000,
    picture: Annotated[str, picture_option("what you see (.svg only).")] = "",
    force: Force = False,
    rehearse: Rehearse = "",
    keep: Annotated[str, typer.Option(help="Keep the ledger in this new file instead of throwing it away.")] = "",
) -> None:
    """Take a tour of one minute, on invented patients.

    On 10,000 invented clinic patients you see the table and its schema, a grant of budget, noisy answers with their
    error bars, a question that is answered again for free, one that is refused because the budget is spent, and a
    forged ledger being found out.
    """
    from ziggurat.cli._tour import run_tour

    run_tour(rows, picture=picture, force=force, rehearse=rehearse, keep=keep)


@app.command()
def doctor(
    ledger: Annotated[str, typer.Option(envvar="ZIGGURAT_LEDGER", help="A ledger whose integrity to check too.")] = "",
    as_json: AsJson = False,
) -> None:
    """Check versions, extras, the noise and the ledger.

    The noise is drawn from the operating system's randomness, its spread is compared with the exact one, and the
    mechanisms are audited from outside. Exit code 1 if anything is wrong.
    """
    from ziggurat.cli._doctor import run_doctor

    raise typer.Exit(0 if run_doctor(ledger, as_json) else 1)


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; gives its exit code, and leaves errors to whoever called."""
    group = typer.main.get_command(app)
    try:
        with group.make_context("ziggurat", list(arguments)) as context:
            group.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0
