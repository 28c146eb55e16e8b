"""`ziggurat model serve` and `answer`: a model that stays with the steward, and answers that leave without limit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._asked_tables import Unreadable
from ziggurat.cli._ledger import Where
from ziggurat.cli.model._options import (
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
from ziggurat.cli.pate import Out, empty_folder, require_file
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import filling

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.cli._asked_tables import Located
    from ziggurat.learn import Private
    from ziggurat.release import Points, Serving, TaskRows

_MOST_SHOWN = 20
_WIDTHS = {"kernel-density": 0.1}  # bandwidths unless stated, as shares of the public ranges
_WIDTH = 0.25

ServedFolder = Annotated[str, typer.Argument(metavar="FOLDER", help="The folder that 'model serve' wrote.")]


def serve(
    source: TableSource,
    kind: Annotated[str, typer.Option(help="kernel-density, histogram, svm, gaussian-process or cloaked.")],
    epsilon: Epsilon,
    budget: Budget,
    analyst: Analyst,
    out: Out,
    label: Annotated[str, typer.Option(help="The column to be predicted; none for a density.")] = "",
    delta: Delta = "1e-6",
    column: Columns = None,
    schema: SchemaFile = "",
    unreadable: Unreadable = "0",
    option: Annotated[
        list[str] | None, typer.Option(help="bandwidth=0.1, bins=20, C=0.01, noise_variance=50: once for each.")
    ] = None,
    questions: Annotated[str, typer.Option(help="Of 'cloaked': the table of all questions it will answer.")] = "",
    path: Annotated[
        bool, typer.Option("--path", help="Keep the rows and draw noise where it is asked, instead of features.")
    ] = False,
    quote: OnlyQuote = False,
    ledger: Where = "",
    rehearse: Rehearse = None,
) -> None:
    """Fit a model that stays, pay for it once, and let it answer without limit.

      ziggurat model serve clinic --kind kernel-density --column age --epsilon 1 --budget b --analyst ada --out ages

      ziggurat model answer ages questions.csv

    Columns are scaled to 0..1 by their public bounds, and a bandwidth is a share of them: bandwidth=0.1 is eleven years
    of ages from 0 to 110. The budget's relation decides how much noise there is. A Gaussian process (and 'cloaked')
    protects labels only, out of a budget of --unit label=COLUMN --relation replace-one; everything else in the table
    must be public. With --path the folder holds the rows: keep it secret, and keep one of it. Exit code 3 if it costs
    more than is left.
    """
    from ziggurat.cli._asked_tables import located
    from ziggurat.cli._ledger import open_ledger
    from ziggurat.data.engines import DuckDBEngine
    from ziggurat.release import ModelPlan, Purse, serve_model
    from ziggurat.release.models import require_same_unit

    found = located(source, schema, unreadable=unreadable)
    points = _points(kind, found, label, column or [])
    fixed = _asked(kind, questions, points)
    folder = empty_folder(out)
    given = {"epsilon": epsilon, "delta": delta, "random_state": rehearse, **fixed}
    with open_ledger(ledger) as book:
        whom = book.budget(budget).neighbours
        require_same_unit(found.schema.unit, whom.unit)
        rows = points.rows(found.open(DuckDBEngine()), units=True, least=fewest(whom))
        model = _made(kind, points, rows, given | {"relation": str(whom.relation)}, option)
        whose: dict[str, Any] = {"ledger": book, "analyst": analyst, "budget": budget}
        if quote:
            purse = Purse(book, budget, analyst)
            quoted = purse.quote(ModelPlan.by_shape(model, *rows.features.shape, purse=purse, label=label))
            typer.echo(quoted.sentence)
            raise typer.Exit(0 if quoted.fits else 3)
        whose |= {"units": _units(kind, rows), "points": points, "path": path}
        with filling(folder) as draft, _in_a_line():
            made = serve_model(model, rows.features, rows.labels, folder=draft, **whose)
    _say(made, out)


def answer(
    folder: ServedFolder,
    source: Annotated[str, typer.Argument(metavar="QUESTIONS", help="A table with the columns of the model.")],
    out: Annotated[str, typer.Option(help="The .csv or .parquet file to write all answers to.")] = "",
    plot: Annotated[str, typer.Option(help="A .png picture of the answers, of a model of one number.")] = "",
) -> None:
    """Answer every row of a table: free, without limit, and the same for the same question for ever.

      ziggurat model answer ages questions.csv --out answers.csv --plot ages.png

    Questions must be complete and within the public bounds; 'ziggurat model show' says what they are.
    """
    from ziggurat.cli._data import require_known_ending, write_table
    from ziggurat.data import read
    from ziggurat.release import Serving

    serving = Serving.open(folder)
    points = _described(serving, folder)
    if out:
        require_known_ending(out)
        require_file(out)
    if plot:
        _require_picture(serving, points, plot)
    if not Path(source).is_file():
        raise DataError(f"There is no file {source!r}; give a table of questions.")
    answers = serving.answer_table(read(source, points.asked_schema))
    if serving.rehearsal:
        answers = answers.append_column("rehearsal", [[True] * answers.num_rows])
    if out:
        write_table(answers, out)
    if plot:
        from ziggurat.cli.model._picture import save_picture

        save_picture(answers, serving, points, plot)
    _show_answers(answers, serving, out, plot)


def _points(kind: str, found: Located, label: str, columns: list[str]) -> Points:
    """The columns, if they suit what is asked for."""
    from ziggurat.release import Points
    from ziggurat.release.models import KINDS
    from ziggurat.wording import nearest

    if kind not in KINDS:
        raise ParameterError(f"There is no served model {kind!r}; {nearest(kind, KINDS)}")
    density = kind in ("kernel-density", "histogram")
    if density and label:
        raise ParameterError("A density has no label; name its columns with --column.")
    if not (density or label):
        raise ParameterError(f"Say with --label which column {kind!r} is to predict.")
    made = Points(found.schema, tuple(columns), label)
    if label and made.task.is_number == (kind == "svm"):
        what, other = ("a number", "gaussian-process") if kind == "svm" else ("a class", "svm")
        raise ParameterError(f"{label!r} is {what}; use --kind {other}.")
    return made


def _asked(kind: str, questions: str, points: Points) -> dict[str, Any]:
    """The questions that are fixed beforehand, where the model needs them."""
    from ziggurat.data import read

    if bool(questions) != (kind == "cloaked"):
        raise ParameterError("--kind cloaked answers the questions in --questions FILE; other kinds answer any.")
    if not questions:
        return {}
    if not Path(questions).is_file():
        raise DataError(f"There is no file {questions!r}; give a table of questions.")
    return {"questions": points.questions(read(questions, points.asked_schema))[1]}


def _made(kind: str, points: Points, rows: TaskRows, given: dict[str, Any], options: list[str] | None) -> Private:
    """The model, with parameters that suit columns scaled to 0..1.

    All of them are public. The number of rows is among them where inputs are, and where it is private no kind has a
    parameter that goes by it.
    """
    from ziggurat import learn
    from ziggurat.release.models import KINDS, with_options

    given = {**given, "bounds": (0.0, 1.0), "path": None}
    if kind == "svm":
        given["classes"] = list(range(len(points.task.classes)))
    elif points.label:
        given["y_bounds"] = points.task.label_bounds
    defaults = {"bandwidth": _WIDTHS.get(kind, _WIDTH), "noise_variance": max(0.1, len(rows) / 100)}
    made: Private = with_options(getattr(learn, KINDS[kind]), given, options_in(options), defaults)
    return made


def _units(kind: str, rows: TaskRows) -> Any:
    """Whose each row is; where labels are protected one by one nobody asks."""
    return None if kind in ("gaussian-process", "cloaked") else rows.units


@contextmanager
def _in_a_line() -> Iterator[None]:
    """Tell warnings, which are made of public facts alone, in a line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for each in caught:
        if issubclass(each.category, UserWarning):
            typer.echo(f"Note: {each.message}", err=True)


def _say(made: Serving, out: str) -> None:
    from ziggurat.cli.model._show import told

    names = ", ".join(made.points.encoding.names) if made.points is not None else ""
    what = f"{made.points.label!r} by {names}" if made.points is not None and made.points.label else names
    typer.echo(f"{type(made.model).__name__} of {what}: {made.guarantee}.")
    for line in told(made.guarantee, made.not_protected):
        typer.echo(line)
    if made.rehearsal:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    typer.echo(f"The model is in {out!r}; ask it with 'ziggurat model answer {out} questions.csv'.")
    typer.echo(f"It was paid for by {made.entry}, where that stays for ever.")


def _described(serving: Serving, folder: str) -> Points:
    if serving.points is None:
        raise DataError(f"The model in {folder!r} was made without a schema; ask it from Python.")
    return serving.points


def _require_picture(serving: Serving, points: Points, plot: str) -> None:
    if Path(plot).suffix.lower() != ".png":
        raise DataError("The picture must be a .png file.")
    require_file(plot)
    fields = points.encoding.fields
    if serving.kind == "svm" or len(fields) != 1 or fields[0].listed:
        raise ParameterError("Only a density or a number by one column of numbers can be drawn; leave --plot out.")


def _show_answers(answers: pa.Table, serving: Serving, out: str, plot: str) -> None:
    from rich.console import Console
    from rich.table import Table

    from ziggurat.cli.terminal import Printed

    shown = Table(box=None, padding=(0, 1), header_style="dim")
    for name in answers.column_names:
        shown.add_column(Printed(name), justify="right", overflow="fold")
    for row in answers.slice(0, _MOST_SHOWN).to_pylist():
        shown.add_row(*(f"{cell:.6g}" if isinstance(cell, float) else Printed(str(cell)) for cell in row.values()))
    Console().print(shown)
    more = answers.num_rows - _MOST_SHOWN
    if more > 0 and not out:
        typer.echo(f"… and {more:,} more; --out answers.csv writes all of them.")
    typer.echo(f"All answers together: {serving.guarantee}.")
    if serving.rehearsal:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    for what, file in ((f"{answers.num_rows:,} answers are", out), ("The picture is", plot)):
        if file:
            typer.echo(f"{what} in {file!r}.")
