"""The commands, and how an error leaves the program: one sentence and a non-zero exit code."""

from __future__ import annotations

import gc
import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from ziggurat import __version__
from ziggurat.cli._late import LateGroup
from ziggurat.errors import ZigguratError

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
    picture: Annotated[str, typer.Option(help="Also save what you see as an SVG picture in this file.")] = "",
    rehearse: Annotated[str, typer.Option(help="A seed: repeatable noise, marked as a rehearsal.")] = "",
    keep: Annotated[str, typer.Option(help="Keep the ledger in this new file instead of throwing it away.")] = "",
) -> None:
    """Take a tour of one minute, on invented patients.

    On 10,000 invented clinic patients you see the table and its schema, a grant of budget, noisy answers with their
    error bars, a question that is answered again for free, one that is refused because the budget is spent, and a
    forged ledger being found out.
    """
    from ziggurat.cli._tour import run_tour

    run_tour(rows, picture=picture, rehearse=rehearse, keep=keep)


@app.command()
def doctor(
    ledger: Annotated[str, typer.Option(envvar="ZIGGURAT_LEDGER", help="A ledger whose integrity to check too.")] = "",
) -> None:
    """Check versions, extras, the noise and the ledger.

    The noise is drawn from the operating system's randomness, its spread is compared with the exact one, and the
    mechanisms are audited from outside. Exit code 1 if anything is wrong.
    """
    from ziggurat.cli._doctor import run_doctor

    raise typer.Exit(0 if run_doctor(ledger) else 1)


def main() -> None:
    """Run the command line; the way `ziggurat` starts."""
    # Nearly all that a command makes while it loads stays: looking through it for garbage often finds none.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        # A terminal or log that cannot show a letter gets a question mark, not a crash half-way.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
        sys.stdout.flush()
    except ZigguratError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has left; keep the interpreter from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        typer.echo(f"Error: a file or the output could not be read or written ({reason}).", err=True)
        sys.stdout = None  # what could not be written is not tried again at exit
        sys.exit(2)
    except MemoryError:
        typer.echo("Error: this does not fit into the memory of this machine; ask for less at a time.", err=True)
        sys.exit(2)
    except Exception as error:
        if os.environ.get("ZIGGURAT_DEBUG"):
            raise
        # The text of a foreign error may quote cells, so only its type is shown.
        typer.echo(
            f"Error: something unexpected happened ({type(error).__name__}); nothing was released. "
            "Set ZIGGURAT_DEBUG=1 to see the details, which may contain raw values.",
            err=True,
        )
        sys.exit(70)
