"""`ziggurat model serve` and `answer`: a model that stays with the steward, and answers that leave without limit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, OutFile, TableArgument, picture_option, with_records
from ziggurat.cli._outputs import ANSWERS, PICTURES, check_file, check_folder, print_json, write_table
from ziggurat.cli.model._options import FitOptions, count_needed, read_options
from ziggurat.cli.server import OnServer
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import filling

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.cli._tables import Located
    from ziggurat.learn import PrivateModel
    from ziggurat.release import Points, Serving, TaskRows

_MOST_SHOWN = 20
_WIDTHS = {"kernel-density": 0.1}  # bandwidths unless stated, as shares of the public ranges
_WIDTH = 0.25

ServedFolder = Annotated[str, typer.Argument(metavar="FOLDER", help="The folder that 'model serve' wrote.")]


@with_records
def serve(
    data: TableArgument,
    kind: Annotated[str, typer.Option(help="kernel-density, histogram, svm, gaussian-process or cloaked.")],
    fitting: FitOptions,
    label: Annotated[str, typer.Option(help="The column to be predicted; none for a density.")] = "",
    option: Annotated[
        list[str] | None, typer.Option(help="bandwidth=0.1, bins=20, C=0.01, noise_variance=50: once for each.")
    ] = None,
    questions: Annotated[str, typer.Option(help="Of 'cloaked': the table of all questions it will answer.")] = "",
    path: Annotated[
        bool, typer.Option("--path", help="Keep the rows and draw noise where it is asked, instead of features.")
    ] = False,
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
    from ziggurat.cli._books import open_ledger
    from ziggurat.data.engines import DuckDBEngine
    from ziggurat.release import serve_model
    from ziggurat.release.models import require_same_unit

    found = fitting.find(data)
    points = _find_points(kind, found, label, fitting.columns)
    fixed = _read_questions(kind, questions, points)
    folder = check_folder(fitting.out)
    given = {"epsilon": fitting.epsilon, "delta": fitting.delta, "random_state": fitting.seed, **fixed}
    with open_ledger(fitting.ledger) as book:
        whom = book.budget(fitting.budget).neighbours
        require_same_unit(found.schema.unit, whom.unit)
        given["relation"] = str(whom.relation)
        whose: dict[str, Any] = {"ledger": book, "analyst": fitting.analyst, "budget": fitting.budget}
        count = count_needed(whom)
        if fitting.quote and not count:  # where the number of rows is private, the price is the same for any
            fitting.end_with_price(_make_model(kind, points, 1, given, option), 1, points.encoding.width, book, label)
        rows = points.rows(found.open(DuckDBEngine()), units=True, least=count)
        model = _make_model(kind, points, len(rows), given, option)
        if fitting.quote:
            fitting.end_with_price(model, len(rows), points.encoding.width, book, label)
        whose |= {"units": _units(kind, rows), "points": points, "path": path}
        with filling(folder) as draft, _tell_warnings():
            made = serve_model(model, rows.features, rows.labels, folder=draft, **whose)
    print_json({"folder": fitting.out, **made.to_dict()}) if fitting.as_json else _say(made, fitting.out)


def answer(
    folder: ServedFolder,
    data: Annotated[str, typer.Argument(metavar="QUESTIONS", help="A table with the columns of the model.")],
    out: OutFile = "",
    picture: Annotated[str, picture_option("the answers of a model of one number.")] = "",
    force: Force = False,
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Answer every row of a table: free, without limit, and the same for the same question for ever.

      ziggurat model answer ages questions.csv --out answers.csv --picture ages.png

    Questions must be complete and within the public bounds; 'ziggurat model show' says what they are. On a server
    FOLDER is the name of a served model, and the questions are sent there.
    """
    if server:
        from ziggurat.cli.model._remote import answer_on

        answer_on(server, folder, data, out, force=force, as_json=as_json)
        return
    from ziggurat.data import read
    from ziggurat.release import Serving

    serving = Serving.open(folder)
    points = _find_description(serving, folder)
    check_file(out, ANSWERS, force=force)
    check_file(picture, PICTURES, force=force)
    if picture:
        _require_picture(serving, points)
    if not Path(data).is_file():
        raise DataError(f"There is no file {data!r}; give a table of questions.")
    answers = serving.answer_table(read(data, points.asked_schema))
    if serving.rehearsal:
        answers = answers.append_column("rehearsal", [[True] * answers.num_rows])
    if out:
        write_table(answers, out)
    if picture:
        from ziggurat.cli.model._picture import save_picture

        save_picture(answers, serving, points, picture)
    if as_json:
        print_json({"promise": str(serving.guarantee), "answers": answers.to_pylist()})
    else:
        _show_answers(answers, serving, out, picture)


def _find_points(kind: str, found: Located, label: str, columns: tuple[str, ...]) -> Points:
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
    made = Points(found.schema, columns, label)
    if label and made.task.is_number == (kind == "svm"):
        what, other = ("a number", "gaussian-process") if kind == "svm" else ("a class", "svm")
        raise ParameterError(f"{label!r} is {what}; use --kind {other}.")
    return made


def _read_questions(kind: str, questions: str, points: Points) -> dict[str, Any]:
    """The questions that are fixed beforehand, where the model needs them."""
    from ziggurat.data import read

    if bool(questions) != (kind == "cloaked"):
        raise ParameterError("--kind cloaked answers the questions in --questions FILE; other kinds answer any.")
    if not questions:
        return {}
    if not Path(questions).is_file():
        raise DataError(f"There is no file {questions!r}; give a table of questions.")
    return {"questions": points.questions(read(questions, points.asked_schema))[1]}


def _make_model(kind: str, points: Points, rows: int, given: dict[str, Any], options: list[str] | None) -> PrivateModel:
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
    defaults = {"bandwidth": _WIDTHS.get(kind, _WIDTH), "noise_variance": max(0.1, rows / 100)}
    made: PrivateModel = with_options(getattr(learn, KINDS[kind]), given, read_options(options), defaults)
    return made


def _units(kind: str, rows: TaskRows) -> Any:
    """Whose each row is; where labels are protected one by one nobody asks."""
    return None if kind in ("gaussian-process", "cloaked") else rows.units


@contextmanager
def _tell_warnings() -> Iterator[None]:
    """Tell warnings, which are made of public facts alone, in a line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for each in caught:
        if issubclass(each.category, UserWarning):
            typer.echo(f"Note: {each.message}", err=True)


def _say(made: Serving, out: str) -> None:
    from ziggurat.cli.model._show import tell_promise

    names = ", ".join(made.points.encoding.names) if made.points is not None else ""
    what = f"{made.points.label!r} by {names}" if made.points is not None and made.points.label else names
    typer.echo(f"{type(made.model).__name__} of {what}: {made.guarantee}.")
    for line in tell_promise(made.guarantee, made.not_protected):
        typer.echo(line)
    if made.rehearsal:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    typer.echo(f"The model is in {out!r}; ask it with 'ziggurat model answer {out} questions.csv'.")
    typer.echo(f"It was paid for by {made.entry}, where that stays for ever.")


def _find_description(serving: Serving, folder: str) -> Points:
    if serving.points is None:
        raise DataError(f"The model in {folder!r} was made without a schema; ask it from Python.")
    return serving.points


def _require_picture(serving: Serving, points: Points) -> None:
    fields = points.encoding.fields
    if serving.kind == "svm" or len(fields) != 1 or fields[0].listed:
        raise ParameterError("Only a density or a number by one column of numbers can be drawn; leave --picture out.")


def _show_answers(answers: pa.Table, serving: Serving, out: str, picture: str) -> None:
    show_answers(answers, out)
    typer.echo(f"All answers together: {serving.guarantee}.")
    if serving.rehearsal:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    for what, file in ((f"{answers.num_rows:,} answers are", out), ("The picture is", picture)):
        if file:
            typer.echo(f"{what} in {file!r}.")


def show_answers(answers: pa.Table, out: str) -> None:
    """Print the first answers."""
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
