"""`ziggurat model`: private models that are paid for before they see a row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._asked_tables import Unreadable
from ziggurat.cli._ledger import Where
from ziggurat.cli.model import _serve as _model_serve
from ziggurat.cli.model import _show as _model_show
from ziggurat.cli.model._options import (
    MODEL,
    PROMISE,
    Analyst,
    Budget,
    Columns,
    Delta,
    Epsilon,
    OnlyQuote,
    Rehearse,
    SchemaFile,
    TableSource,
    fewest,
    options_in,
)
from ziggurat.cli.pate import TASK, AsJson, Out, empty_folder, features_of, task_in
from ziggurat.errors import ArtefactError

if TYPE_CHECKING:
    from ziggurat.learn import Private
    from ziggurat.release import Task

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
def fit(
    source: TableSource,
    label: Annotated[str, typer.Option(help="The column to be predicted: a number, a category or a truth value.")],
    epsilon: Epsilon,
    budget: Budget,
    analyst: Analyst,
    out: Out,
    model: Annotated[
        str, typer.Option(help="linear, ridge, lasso, elastic-net; logistic, naive-bayes, tree, forest; or auto.")
    ] = "auto",
    delta: Delta = "1e-6",
    column: Columns = None,
    schema: SchemaFile = "",
    unreadable: Unreadable = "0",
    option: Annotated[
        list[str] | None, typer.Option(help="alpha=0.1: a parameter of the model, once for each.")
    ] = None,
    quote: OnlyQuote = False,
    ledger: Where = "",
    rehearse: Rehearse = None,
) -> None:
    """Fit a private model and pay for it out of a grant.

    The budget's relation decides how much noise there is; under add-or-remove-one the number of rows is private. These
    models protect rows: if the budget protects people, every person must have one row. Exit code 3 if it costs more
    than is left; the model sees no row then.
    """
    from ziggurat.cli._asked_tables import located
    from ziggurat.cli._ledger import open_ledger
    from ziggurat.data.engines import DuckDBEngine
    from ziggurat.files import filling, write_text
    from ziggurat.release import ModelPlan, Purse, Task, fit_model
    from ziggurat.release.models import model_name, named_model, require_same_unit

    found = located(source, schema, unreadable=unreadable)
    task = Task(found.schema, label, tuple(column or ()))
    chosen = model_name(model, task)
    folder = empty_folder(out)
    with open_ledger(ledger) as book:
        whom = book.budget(budget).neighbours
        estimator = named_model(chosen, task, epsilon, delta, options_in(option), rehearse, whom.relation)
        require_same_unit(found.schema.unit, whom.unit)
        rows = task.rows(found.open(DuckDBEngine()), units=True, least=fewest(whom))
        if quote:
            purse = Purse(book, budget, analyst)
            quoted = purse.quote(ModelPlan.by_shape(estimator, *rows.features.shape, purse=purse))
            typer.echo(quoted.sentence)
            raise typer.Exit(0 if quoted.fits else 3)
        with filling(folder) as draft:
            made = fit_model(
                estimator, rows.features, rows.labels, ledger=book, analyst=analyst, budget=budget, units=rows.units
            )
            made.model.save(draft / MODEL)
            task.save(draft / TASK)
            promise = {
                "model": chosen,
                "event": made.event.to_dict(),
                "entry": made.entry.to_dict(),
                "rehearsal": made.rehearsal,
            }
            write_text(draft / PROMISE, json.dumps(promise, indent=1))
    _say(made.event, estimator, task, out)
    typer.echo(f"It was paid for by {made.entry}, where that stays for ever.")


@app.command()
def predict(
    model: ModelFolder,
    source: TableSource,
    out: Annotated[str, typer.Option(help="The .csv or .parquet file to write to; else they are printed.")] = "",
) -> None:
    """Predict the label of every row of a table; what the model promises holds for all it says."""
    import pyarrow as pa

    from ziggurat.cli._data import require_known_ending, write_table
    from ziggurat.wording import printable

    if out:
        require_known_ending(out)
    task, estimator = _loaded(model)
    named = estimator.predict(features_of(source, task))
    cells = named.tolist() if task.is_number else [task.classes[int(place)] for place in named]
    if not out:
        typer.echo("\n".join(printable(str(cell)) for cell in cells))
        return
    write_table(pa.table({task.label: cells}), out)
    typer.echo(f"{len(cells):,} predictions are in {out!r}.")


@app.command()
def evaluate(
    model: ModelFolder,
    source: Annotated[str, typer.Argument(metavar="TABLE", help="A table with the columns and the true label.")],
    as_json: AsJson = False,
) -> None:
    """Compare predictions with the truth; exact functions of the table, so no release unless it is public."""
    from ziggurat.cli._asked_tables import located
    from ziggurat.data import read
    from ziggurat.data.engines import DuckDBEngine

    task, estimator = _loaded(model)
    is_file = Path(source).is_file()
    rows = task.rows(read(source, task.labelled_schema) if is_file else located(source).open(DuckDBEngine()))
    found = _judged(task, estimator.predict(rows.features), rows.labels)
    typer.echo(
        json.dumps(found, indent=1) if as_json else "\n".join(f"{name}: {value}" for name, value in found.items())
    )


app.command()(_model_serve.serve)
app.command()(_model_serve.answer)
app.command()(_model_show.show)


def _loaded(folder: str) -> tuple[Task, Any]:
    from ziggurat import learn
    from ziggurat.release.models import CLASSES, NUMBERS, is_served

    if is_served(folder):
        raise ArtefactError(f"The model in {folder!r} is served; ask it with 'ziggurat model answer {folder} TABLE'.")
    task = task_in(folder)
    try:
        name = json.loads((Path(folder) / PROMISE).read_text(encoding="utf-8"))["model"]
        kind = getattr(learn, (NUMBERS | CLASSES)[name])
    except (OSError, ValueError, KeyError, TypeError):
        raise ArtefactError(f"There is no readable model in {folder!r}.") from None
    return task, kind.load(Path(folder) / MODEL)


def _judged(task: Task, named: Any, truth: Any) -> dict[str, Any]:
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


def _say(event: Any, estimator: Private, task: Task, out: str) -> None:
    from ziggurat.privacy import compose

    account = compose(event)
    promise = account.approximate(estimator.delta) if float(str(estimator.delta)) else account.pure()
    typer.echo(f"{type(estimator).__name__} of {task.label!r} by {', '.join(task.encoding.names)}: {promise}.")
    typer.echo(promise.sentence())
    if estimator.rehearsal_:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    typer.echo(f"The model is in {out!r}.")
