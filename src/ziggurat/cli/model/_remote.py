"""Models of a server: fitted there as releases, shown, asked, and let go of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ziggurat.cli._outputs import ANSWERS, check_file, check_folder, print_json, write_table
from ziggurat.cli.model._let_go import tell_certified
from ziggurat.cli.model._options import MODEL, PROMISE
from ziggurat.cli.model._serve import show_answers
from ziggurat.cli.pate import TASK
from ziggurat.cli.server import descriptions, jobs, open_server, refuse_local
from ziggurat.errors import ParameterError
from ziggurat.files import filling, write_text

if TYPE_CHECKING:
    from ziggurat.cli.model._options import FitOptions

_SAID = (
    "data", "label", "model", "option", "holdout", "go_on", "audit", "epsilon", "analyst", "out", "delta", "column",
    "quote", "rehearse",
)  # fmt: skip


def fit_on(url: str, data: str, given: FitOptions, asked: Mapping[str, Any], go_on: str) -> jobs.LeftServer:
    """Fit a model on a server, fetch the bundle, and make of it the folder that a fit on this machine writes."""
    refuse_local(*_SAID)
    options = dict(asked["options"])
    release = {**asked, "kind": "model", "epsilon": given.epsilon, "delta": given.delta, "columns": given.columns}
    release |= {"expected_rows": options.pop("expected_rows", None), "options": options}
    said = descriptions.make_description(data, release, analyst=given.analyst, rehearse=given.rehearse)
    with open_server(url) as server:
        descriptions.find_declared(server, data)
        if given.quote:
            jobs.price_described(server, said, as_json=given.as_json)
        check_folder(given.out)
        left = jobs.run_described(server, said, jobs.bundle_beside(given.out), go_on)
    return _lay_out(left, given.out)


def let_go_on(url: str, job: str, go_on: str, out: str) -> jobs.LeftServer:
    """Let a model go that the gate of a server stopped, with a reason, and lay out its folder."""
    refuse_local("held", "go_on", "out")
    if not out:
        raise ParameterError("Name the folder that the model shall leave to with --out.")
    check_folder(out)
    return _lay_out(jobs.let_go_on(url, job, go_on, out, kind="model"), out)


def _lay_out(left: jobs.LeftServer, out: str) -> jobs.LeftServer:
    if left.bundle is not None:
        with filling(Path(out)) as draft:
            left.take({name: str(draft / name) for name in (MODEL, TASK)})
            write_text(draft / PROMISE, json.dumps(tell_certified(left.certificate), indent=1))
    return left


def predict_on(url: str, model: str, data: str) -> tuple[str, list[Any]]:
    """Predict by a published model of a server."""
    refuse_local("model", "data", "out")
    with open_server(url) as server:
        asked = server.model(model)["facts"]["columns"]
        return "prediction", server.predict(model, descriptions.read_rows(data, asked))


def answer_on(url: str, model: str, data: str, out: str, *, force: bool, as_json: bool) -> None:
    """Have a served model of a server answer the rows of a table of this machine."""
    import pyarrow as pa

    refuse_local("folder", "data", "out")
    check_file(out, ANSWERS, force=force)
    with open_server(url) as server:
        facts = server.model(model)["facts"]
        answers = server.answer(model, descriptions.read_rows(data, facts["columns"]))
    if facts["rehearsal"]:
        answers = [{**each, "rehearsal": True} for each in answers]
    if out:
        write_table(pa.Table.from_pylist(answers), out)
    if as_json:
        print_json({"promise": facts["promise"], "answers": answers})
        return
    show_answers(pa.Table.from_pylist(answers), out)
    typer.echo(f"All answers together: {facts['promise']}.")
    if facts["rehearsal"]:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    if out:
        typer.echo(f"{len(answers):,} answers are in {out!r}.")


def show_on(url: str, model: str, *, as_json: bool) -> None:
    """Say what is publicly known of a model of a server."""
    refuse_local("folder")
    with open_server(url) as server:
        found = server.model(model)
    if as_json:
        print_json(found)
        return
    facts = found["facts"]
    typer.echo(f"{found['name']}: {found['kind']}, of the table {found['table']}, since {found['made'][:10]}.")
    typer.echo(f"It is asked by {', '.join(facts['columns'])}.")
    for line in (facts.get("sentence"), facts.get("promise"), *facts.get("not_protected", ())):
        if line:
            typer.echo(line)
    if facts.get("rehearsal"):
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
