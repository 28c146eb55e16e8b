"""`ziggurat model`: private models that are paid for before they see a row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, GoOn, OutFile, TableArgument, with_records
from ziggurat.cli._outputs import ANSWERS, check_file, check_folder, print_json, write_table
from ziggurat.cli.model import _remote as _model_remote
from ziggurat.cli.model import _serve as _model_serve
from ziggurat.cli.model import _show as _model_show
from ziggurat.cli.model._folders import load_model
from ziggurat.cli.model._let_go import keeping_stopped, let_go
from ziggurat.cli.model._options import MODEL, PROMISE, FitOptions, count_needed, read_options
from ziggurat.cli.pate import TASK, read_features
from ziggurat.cli.server import OnServer
from ziggurat.files import filling

if TYPE_CHECKING:
    from ziggurat.learn import PrivateModel
    from ziggurat.release import FittedModel, Task

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Private models: fit or serve under a budget, predict, answer.",
    help="Private models: what fitting costs is on disk before the model sees a row. To publish, so that it leaves:\n\n"
    "  ziggurat model fit patients.csv --label cost --epsilon 1 --budget patients --analyst ada --out m\n\n"
    "  ziggurat model predict m new.csv --out predicted.csv\n\n"
    "To serve, so that the model stays with the steward and answers leave without limit:\n\n"
    "  ziggurat model serve patients.csv --kind kernel-density --column age --epsilon 1 --budget patients "
    "--analyst ada --out ages\n\n"
    "  ziggurat model answer ages questions.csv\n\n"
    "Columns become numbers by the public schema alone, so that nothing is learned for free.",
)

ModelFolder = Annotated[str, typer.Argument(metavar="MODEL", help="The folder that 'model fit' wrote.")]


@app.command()
@with_records
def fit(
    data: TableArgument,
    label: Annotated[str, typer.Option(help="The column to be predicted: a number, a category or a truth value.")],
    given: FitOptions,
    model: Annotated[
        str, typer.Option(help="linear, ridge, lasso, elastic-net; logistic, naive-bayes, tree, forest; or auto.")
    ] = "auto",
    option: Annotated[
        list[str] | None, typer.Option(help="alpha=0.1: a parameter of the model, once for each.")
    ] = None,
    holdout: Annotated[
        float, typer.Option(help="The share of people kept back as a control for attacks, such as 0.2.")
    ] = 0.0,
    go_on: GoOn = "",
    audit: Annotated[
        int,
        typer.Option(help="Audit the promise before anything is paid: so many fits on invented rows, such as 1000."),
    ] = 0,
    server: OnServer = "",
) -> None:
    """Fit a private model and pay for it out of a grant.

    The budget's relation decides how much noise there is; under add-or-remove-one the number of rows is private. These
    models protect rows: if the budget protects people, every person must have one row. With --holdout the model is
    fitted on the others, and attacked before it leaves: does it tell whom it was fitted on? Exit code 3 if it costs
    more than is left, and the model sees no row then; 5 if the gate stops it: what was paid for is kept in OUT.held,
    for its owner alone, and 'ziggurat model let-go' lets it go with a reason.

    On a server it is a job; the same folder is taken out of its signed bundle, which goes beside it.
    'ziggurat server publish' lets the model predict there.
    """
    if server:
        asked = {"label": label, "model": model, "options": read_options(option), "holdout": holdout, "audit": audit}
        _model_remote.fit_on(server, data, given, asked, go_on).say(given.out, as_json=given.as_json)
        return
    from ziggurat.cli._books import open_ledger
    from ziggurat.data.engines import DuckDBEngine
    from ziggurat.files import write_text
    from ziggurat.release import Task, fit_model
    from ziggurat.release.models import held_model_folder, make_model, model_name, require_same_unit, require_unheld

    found = given.find(data)
    task = Task(found.schema, label, given.columns)
    chosen = model_name(model, task)
    folder = check_folder(given.out)
    aside = held_model_folder(folder)
    require_unheld(aside)
    with open_ledger(given.ledger) as book:
        whom = book.budget(given.budget).neighbours
        options = read_options(option)
        estimator = make_model(chosen, task, given.epsilon, given.delta, options, given.seed, whom.relation)
        require_same_unit(found.schema.unit, whom.unit)
        paying: dict[str, Any] = {"ledger": book, "analyst": given.analyst, "budget": given.budget}
        paying |= {"holdout": holdout, "go_on": go_on, "audit": audit}
        least = count_needed(whom)
        if given.quote and not least:  # where the number of rows is private, the price is the same for any
            given.end_with_price(estimator, 1, task.width, book, holdout=holdout)
        rows = task.rows(found.open(DuckDBEngine()), units=True, least=least)
        if given.quote:
            given.end_with_price(estimator, len(rows), task.width, book, holdout=holdout)
        with filling(folder) as draft, keeping_stopped(aside, task):
            made = fit_model(estimator, rows.features, rows.labels, **paying, units=rows.units)
            made.model.save(draft / MODEL)
            task.save(draft / TASK)
            promise = {
                "model": chosen,
                "event": None if made.refuted else made.event.to_dict(),
                "entry": made.entry.to_dict(),
                "rehearsal": made.rehearsal,
            }
            promise |= {} if made.audited is None else {"audited": dict(made.audited)}
            write_text(draft / PROMISE, json.dumps(promise, indent=1))
    if given.as_json:
        print_json({"folder": given.out, **promise, **_attacked(made)})
        return
    _say(made, estimator, task, given.out)
    typer.echo(f"It was paid for by {made.entry}, where that stays for ever.")
    if made.audited is not None:
        typer.echo(made.audited["sentence"])


@app.command()
def predict(
    model: ModelFolder,
    data: TableArgument,
    out: OutFile = "",
    force: Force = False,
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Predict the label of every row of a table, printed or written; what the model promises holds for all it says.

    On a server MODEL is the name of a published one, and the rows are sent there.
    """
    import pyarrow as pa

    from ziggurat.wording import printable

    check_file(out, ANSWERS, force=force)
    label, cells = _model_remote.predict_on(server, model, data) if server else _predict_here(model, data)
    if out:
        write_table(pa.table({label: cells}), out)
    if as_json:
        print_json({label: cells})
    elif not out:
        typer.echo("\n".join(printable(str(cell)) for cell in cells))
    else:
        typer.echo(f"{len(cells):,} predictions are in {out!r}.")


def _predict_here(model: str, data: str) -> tuple[str, list[Any]]:
    task, estimator = load_model(model)
    named = estimator.predict(read_features(data, task))
    return task.label, named.tolist() if task.is_number else [task.classes[int(place)] for place in named]


@app.command()
def evaluate(
    model: ModelFolder,
    data: Annotated[str, typer.Argument(metavar="TABLE", help="A table with the columns and the true label.")],
    by: Annotated[str, typer.Option(help="A column of the schema: errors are told for each of its groups, too.")] = "",
    as_json: AsJson = False,
) -> None:
    """Compare predictions with the truth; exact functions of the table, so no release unless it is public."""
    from ziggurat.cli._tables import open_as
    from ziggurat.cli.model._groups import name_groups, tell_groups, with_column

    task, estimator = load_model(model)
    table = open_as(data, with_column(task, by))
    rows = task.rows(table)
    named = estimator.predict(rows.features)
    found = _judge(task, named, rows.labels)
    if by:
        found |= tell_groups(rows.labels, name_groups(table, task, by), named, by, numbers=task.is_number)
    print_json(found) if as_json else typer.echo("\n".join(f"{name}: {value}" for name, value in found.items()))


app.command("let-go")(let_go)
app.command()(_model_serve.serve)
app.command()(_model_serve.answer)
app.command()(_model_show.show)


def _judge(task: Task, named: Any, truth: Any) -> dict[str, Any]:
    import numpy as np

    if task.is_number:
        return {
            "rows": len(truth),
            "root mean squared error": float(np.sqrt(np.mean((named - truth) ** 2))),
            "of always naming the mean": float(np.std(truth)),
        }
    return {
        "rows": len(truth),
        "accuracy": float(np.mean(named == truth)),
        "of always naming the most frequent class": float(np.bincount(truth).max() / len(truth)),
    }


def _attacked(made: FittedModel) -> dict[str, Any]:
    """What attacks found, for the steward who reads the screen; nothing of it is in the folder."""
    release = made.release
    if release is None or not release.plan.judged_by:
        return {}
    return {"attacks": release.evidence.to_dict(), "verdict": release.verdict.to_dict()}


def _say(made: FittedModel, estimator: PrivateModel, task: Task, out: str) -> None:
    from ziggurat.privacy import compose
    from ziggurat.release import NOT_PROTECTED_BY_GATE

    account = compose(made.event)
    promise = account.approximate(estimator.delta) if float(str(estimator.delta)) else account.pure()
    opening = f"{type(estimator).__name__} of {task.label!r} by {', '.join(task.encoding.names)}"
    if made.refuted:
        typer.echo(f"{opening}: an attack refuted its promise, so that it left without one.")
    else:
        typer.echo(f"{opening}: {promise}.")
        typer.echo(promise.sentence())
    if made.release is not None and made.release.plan.judged_by:
        typer.echo(" ".join([*made.release.evidence.sentences, made.release.verdict.sentence]))
        typer.echo(NOT_PROTECTED_BY_GATE)
    if estimator.rehearsal_:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    typer.echo(f"The model is in {out!r}.")
