"""`ziggurat model let-go`: a model that was paid for and that the gate stopped leaves with a written reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Where, out_option
from ziggurat.cli._outputs import check_folder, print_json
from ziggurat.cli.model._options import PROMISE
from ziggurat.cli.pate import TASK
from ziggurat.cli.server import OnServer
from ziggurat.errors import DataError, GateError, ParameterError
from ziggurat.files import filling, write_text

if TYPE_CHECKING:
    from ziggurat.release import Task
    from ziggurat.release.bundle import HeldBundle

_ENDING = ".held"


@contextmanager
def keeping_stopped(aside: Path, task: Task) -> Iterator[None]:
    """Keep a model that the gate stops, and how cells become its features; the error says where it is."""
    from ziggurat.release.models import put_aside

    try:
        yield
    except GateError as error:
        stopped = put_aside(error, aside, {TASK: json.dumps(task.to_dict(), indent=1)})
    else:
        return
    raise stopped


def let_go(
    held: Annotated[
        str,
        typer.Argument(
            metavar="HELD", help="The folder in which 'model fit' keeps a stopped model; on a server the job."
        ),
    ],
    go_on: Annotated[str, typer.Option(help="Why it shall leave although the gate stopped it; kept for ever.")],
    out: Annotated[str, out_option("a new folder; by default HELD without its ending.")] = "",
    ledger: Where = "",
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Let a model go that was paid for and that the gate stopped, with a reason; nothing is paid again.

    ziggurat model let-go m.held --go-on "Everybody in it agreed in writing."

    It is judged by the evidence that stopped it. The reason is written into the ledger before the model leaves, and
    stays there for ever; a model whose promise was refuted leaves without one.
    """
    from ziggurat.cli._books import open_ledger
    from ziggurat.release import Purse

    if not go_on.strip():
        raise ParameterError("Say why it shall leave although the gate stopped it, with --go-on.")
    if server:
        from ziggurat.cli.model._remote import let_go_on

        let_go_on(server, held, go_on, out).say(out, as_json=as_json)
        return
    waiting = _open(held)
    named = out or held.rstrip("/").removesuffix(_ENDING)
    if named == held.rstrip("/"):
        raise ParameterError("Name the folder that the model shall leave to with --out.")
    folder = check_folder(named)
    with open_ledger(ledger) as book, filling(folder) as draft:
        for name in (*waiting.files, TASK):
            shutil.copyfile(waiting.folder / name, draft / name)
        certificate = waiting.decide(Purse(book, waiting.certificate["budget"]), go_on)
        promise = tell_certified(certificate)
        write_text(draft / PROMISE, json.dumps(promise, indent=1))
    shutil.rmtree(waiting.folder)
    if as_json:
        print_json({"folder": named, **promise})
        return
    typer.echo(f"{certificate['what']}: {certificate['sentence']}")
    if certificate["rehearsal"]:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    typer.echo(f"The ledger keeps the reason for ever. The model is in {named!r}.")


def _open(held: str) -> HeldBundle:
    from ziggurat.release.bundle import HELD, HeldBundle

    folder = Path(held)
    if not (folder / HELD).is_file():
        raise DataError(f"No model waits in {held!r}; name the folder that 'model fit' said it keeps one in.")
    found = HeldBundle.open(folder)
    if found.certificate.get("kind") != "model" or not (folder / TASK).is_file():
        raise DataError(f"What waits in {held!r} is no model of 'model fit'; let it go by the file that describes it.")
    return found


def tell_certified(certificate: dict[str, Any]) -> dict[str, Any]:
    """What stands beside the model, as 'model fit' writes it."""
    from ziggurat.release.models import CLASSES, NUMBERS

    names = {each: name for name, each in (NUMBERS | CLASSES).items()}
    promised = certificate["promise"]
    told = {
        "model": names[certificate["details"]["class"]],
        "event": None if promised is None else promised["event"],
        "entry": certificate["recorded"],
        "rehearsal": certificate["rehearsal"],
    }
    return told | ({"audited": certificate["audited"]} if "audited" in certificate else {})
