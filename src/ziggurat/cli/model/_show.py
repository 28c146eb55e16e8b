"""`ziggurat model show`: what a model is, what it promises and what not, and how many answers it gave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Where
from ziggurat.cli._outputs import print_json
from ziggurat.cli.model._folders import read_promise
from ziggurat.cli.model._options import MODEL
from ziggurat.cli.pate import read_task
from ziggurat.cli.server import OnServer
from ziggurat.errors import ArtefactError

if TYPE_CHECKING:
    from ziggurat.privacy import Guarantee
    from ziggurat.release import Serving


def show(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="What 'model fit' or 'model serve' wrote.")],
    check: Annotated[bool, typer.Option("--check", help="Compare with the ledger that paid.")] = False,
    ledger: Where = "",
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Say what a model is, what it promises, what it does not, and how many answers it gave.

    ziggurat model show ages

    ziggurat model show ages --check

    On a server FOLDER is the name of a model there.
    """
    if server:
        from ziggurat.cli.model._remote import show_on

        show_on(server, folder, as_json=as_json)
        return
    from ziggurat.release.models import is_served

    found, lines = _describe_served(folder) if is_served(folder) else _describe_published(folder)
    if check:
        _compare(folder, found, ledger)
        found["checked"] = True
        lines.append("The ledger that paid says the same.")
    print_json(found) if as_json else typer.echo("\n".join(lines))


def tell_promise(promise: Guarantee, without: list[str]) -> list[str]:
    """A promise in words, and what it does not cover."""
    sentence = getattr(promise, "sentence", None)
    return [*([sentence()] if sentence else []), *(f"Not covered: {each}" for each in without)]


def _describe_served(folder: str) -> tuple[dict[str, Any], list[str]]:
    from ziggurat.release import Serving

    serving = Serving.open(folder)
    lines = [
        f"{_what(serving)}, which stays here and answers without limit.",
        f"All answers together: {serving.guarantee}.",
        *tell_promise(serving.guarantee, serving.not_protected),
        f"It has given {serving.answered:,} answers. It was paid for by {serving.entry}.",
    ]
    return {**serving.to_dict(), "served": True}, lines + _bounds(serving) + _mark(serving.rehearsal)


def _what(serving: Serving) -> str:
    points, name = serving.points, type(serving.model).__name__
    if points is None:
        return f"{name} of {serving.model.n_features_in_} columns"
    names = ", ".join(points.encoding.names)
    return f"{name} of {points.label!r} by {names}" if points.label else f"{name} of {names}"


def _bounds(serving: Serving) -> list[str]:
    """Where it can be asked."""
    if serving.points is None:
        return []
    return [f"Questions: {_describe_question(field)}." for field in serving.points.encoding.fields]


def _describe_question(field: Any) -> str:
    column = field.column
    if not field.listed:
        bounds = column.public_bounds()
        return f"{column.name} from {bounds.lower} to {bounds.upper}"
    if column.kind == "boolean":
        return f"{column.name} true or false"
    return f"{column.name} one of {', '.join(str(each) for each in column.public_categories().values)}"


def _describe_published(folder: str) -> tuple[dict[str, Any], list[str]]:
    from ziggurat import learn
    from ziggurat.privacy import event_from_dict
    from ziggurat.release import Cited
    from ziggurat.release.models import CLASSES, NUMBERS, not_protected, promise_at

    held, task = read_promise(folder), read_task(folder)
    try:
        model = getattr(learn, (NUMBERS | CLASSES)[held["model"]]).load(Path(folder) / MODEL)
        event = None if held["event"] is None else event_from_dict(held["event"])
        entry = Cited.from_dict(held["entry"])
    except (KeyError, TypeError, ValueError):
        raise ArtefactError(f"There is no readable model in {folder!r}.") from None
    names = list(task.encoding.names)
    if event is None:
        raise ArtefactError(
            f"The model in {folder!r} left without a promise, because an attack refuted it; see {entry} of the ledger."
        )
    promise, without = promise_at(event, model.delta), not_protected(model, event)
    lines = [
        f"{type(model).__name__} of {task.label!r} by {', '.join(names)}, which may be published.",
        f"The model and all it says: {promise}.",
        *tell_promise(promise, without),
        f"Its predictions are not counted: they cost nothing. It was paid for by {entry}.",
        *_mark(model.rehearsal_),
    ]
    found = {"model": held["model"], "class": type(model).__name__, "columns": names, "label": task.label}
    found |= {"promise": str(promise), "not protected": without, "answers": None, "entry": entry.to_dict()}
    return {**found, "rehearsal": model.rehearsal_, "served": False}, lines


def _mark(rehearsal: bool) -> list[str]:
    return ["REHEARSAL: seeded randomness, not to be published."] if rehearsal else []


def _compare(folder: str, found: dict[str, Any], ledger: str) -> None:
    """Compare with the ledger: of a model to publish its cost, of a served one its files, too."""
    from ziggurat.cli._books import open_ledger
    from ziggurat.privacy import event_from_dict
    from ziggurat.release import Cited, Serving, look_up

    with open_ledger(ledger) as book:
        if found["served"]:
            Serving.open(folder).check(book)
            return
        held = look_up(book, Cited.from_dict(found["entry"]))
    if held.event != event_from_dict(read_promise(folder)["event"]) or held.answer.get("class") != found["class"]:
        raise ArtefactError("The ledger says something else of this model; do not trust its promise.")
