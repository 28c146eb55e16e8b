"""`ziggurat pate`: teachers, labels and students, three stages that are run and replaced one by one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import (
    AsJson,
    Force,
    OnlyQuote,
    OutFolder,
    Rehearse,
    SchemaFile,
    TableArgument,
    Unreadable,
    Where,
    out_option,
    rehearsal_source,
    require_payer,
)
from ziggurat.cli._outputs import check_folder, end_with_quote, print_json, write_table
from ziggurat.cli.pate import _remote as _pate_remote
from ziggurat.cli.pate import _student as _pate_student
from ziggurat.cli.pate._folders import (
    CHECKPOINTS,
    PARTITION,
    QUERIES,
    SENT,
    TASK,
    read_features,
    read_queries,
    read_task,
)
from ziggurat.cli.pate._options import Aggregation, Batch, Delta, Epochs, Model, MostAnswers, Organisation, Split
from ziggurat.cli.server import OnServer
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import check_output, filling

if TYPE_CHECKING:
    from ziggurat.data import Unit
    from ziggurat.pate import Partition, PateAccount, Teachers
    from ziggurat.randomness import Source
    from ziggurat.release import Labelled, Task
    from ziggurat.release.models import TaskRows as TaskRows

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Teachers label queries under a budget; a student learns from the labels.",
    help="Private aggregation of teacher ensembles: teachers on disjoint data vote, noise hides every single one, and\n"
    "a student learns from the labels. Three stages, each with a result that is kept and can be replaced:\n\n"
    "  ziggurat pate teach patients.csv --label smoker --teachers 100 --out teachers\n\n"
    "  ziggurat pate label teachers public.csv --budget patients --analyst student --out labels.json\n\n"
    "  ziggurat pate student teachers public.csv labels.json --features public --out student\n\n"
    "A student with private data of its own protects them first with 'ziggurat pate privatize'.",
)

Rows = Annotated[
    str,
    typer.Argument(metavar="QUERIES", help="A table with the teachers' columns, or a folder of 'pate privatize'."),
]
TeachersFolder = Annotated[str, typer.Argument(metavar="TEACHERS", help="The folder that 'pate teach' wrote.")]


@app.command()
def teach(
    data: TableArgument,
    label: Annotated[str, typer.Option(help="The column to be named: a category or a truth value.")],
    teachers: Annotated[int, typer.Option(help="Over how many teachers the people are dealt out.", min=2)],
    out: OutFolder,
    schema: SchemaFile = "",
    unreadable: Unreadable = "0",
    column: Annotated[list[str] | None, typer.Option(help="A column to learn from, once for each; else all.")] = None,
    model: Model = "logistic-regression",
    l1: Annotated[bool, typer.Option("--l1", help="Divide every row by its l1 norm, for 'pate privatize'.")] = False,
    split: Split = "hashed",
    epochs: Epochs = 20,
    batch: Batch = 64,
    balanced: Annotated[bool, typer.Option(help="Let rare classes count more in networks.")] = False,
    holdout: Annotated[
        float, typer.Option(help="The share of people kept back as a control for attacks on students, such as 0.2.")
    ] = 0.0,
    device: Annotated[list[str] | None, typer.Option(help="cpu, or cuda:0 and so on, once for each GPU.")] = None,
    rehearse: Rehearse = "",
    as_json: AsJson = False,
) -> None:
    """Train teachers on disjoint data; nothing leaves, so nothing is spent.

    All rows of one unit of the schema go to one teacher, by a keyed hash of its name: adding or removing a person
    changes one teacher and so one vote, which the usual budgets pay for (add-or-remove-one). The folder holds private
    models, the split with its secret key, the manifest that proves it, and the task: the columns and how they become
    numbers, by the public schema alone. A run that was killed goes on where it was if it is started again. With
    --holdout that share of people is kept back, each by a coin: who they are stays in the folder, with one row of
    everybody, and 'pate student' attacks students with them before they leave.
    """
    from ziggurat.cli._tables import find_table
    from ziggurat.cli.pate._options import follow, make_model
    from ziggurat.data.engines import DuckDBEngine
    from ziggurat.pate import Placement, Teachers, Training
    from ziggurat.release import Task

    if split not in ("hashed", "balanced"):
        raise ParameterError("--split must be hashed or balanced.")
    found = find_table(data, schema, unreadable=unreadable)
    task = Task(found.schema, label, tuple(column or ()), l1)
    learner = make_model(model, task.width, len(task.classes))
    training = Training(epochs=epochs, batch=batch, class_weights="balanced" if balanced else None)
    ensemble = Teachers(
        learner,
        classes=len(task.classes),
        training=training,
        placement=Placement(devices=tuple(device or ("cpu",))),
    )
    if Path(out).is_file() or not (Path(out) / PARTITION).exists() or (Path(out) / "teachers.json").exists():
        check_folder(out)
    _require_devices(ensemble)
    rows = task.rows(found.open(DuckDBEngine()), units=True)
    drawn = rehearsal_source(rehearse)
    rows = _hold_back(Path(out), rows, holdout, split == "balanced", drawn)
    partition = _split(Path(out), rows, teachers, found.schema.unit, split == "balanced", drawn)
    unfinished = Path(out) / CHECKPOINTS
    with follow("Training teachers") as progress:
        ensemble.fit(rows.features, rows.labels, partition, source=drawn, checkpoints=unfinished, progress=progress)
    ensemble.save(out)
    task.save(Path(out) / TASK)
    shutil.rmtree(unfinished, ignore_errors=True)
    if as_json:
        print_json({"teachers": teachers, "label": label, "classes": len(task.classes), "folder": out})
        return
    typer.echo(
        f"{teachers} teachers learned {label!r} ({len(task.classes)} classes) from {len(task.encoding.names)} columns; "
        f"{partition.neighbours}. They are private; keep {out!r} to yourself."
    )
    typer.echo(f"Trained by {ensemble.executor_}.")


@app.command()
def quote(
    queries: Annotated[int, typer.Option(help="How many queries would be asked.", min=1)],
    aggregator: Aggregation = "gumbel:0.05",
    classes: Annotated[int, typer.Option(help="How many classes there are.", min=2)] = 2,
    answers: Annotated[int | None, typer.Option(help="With 'confident': how many are answered at most.")] = None,
    delta: Annotated[str, typer.Option(help="The failure probability at which to state them.")] = "1e-5",
    organisation: Organisation = "",
    as_json: AsJson = False,
) -> None:
    """Price labels before there are any: what they would promise, as published and as proven tightly.

    One vote moves: somebody is added or removed. (In a balanced split somebody is replaced, at the same price; out of a
    replace-one budget a hashed split costs two votes.) Nothing is read. The last column says what the papers' formula
    would say of the same labels.
    """
    from rich.console import Console
    from rich.table import Table as Grid

    from ziggurat.cli.pate._options import read_unit
    from ziggurat.pate import Ballot, account, aggregator_named
    from ziggurat.privacy import in_words

    chosen, (unit, owned) = aggregator_named(aggregator), read_unit(organisation)
    counts = sorted({max(1, queries // 10), max(1, queries // 3), queries})

    def price(count: int) -> PateAccount:
        given = None if chosen.test is None else min(count, answers or count)
        about = {"organisation": unit, "teachers_owned": owned} if unit else {}
        return account(chosen, Ballot(classes), delta=delta, queries=count, answered=given, **about)  # type: ignore[arg-type]

    made = {count: price(count) for count in counts}
    if as_json:
        print_json([_describe(each) for each in made.values()])
        return
    grid = Grid(header_style="dim", box=None, padding=(0, 1))
    for heading in ("queries", "answers", "epsilon", *(["of one " + unit.name] if unit else []), "as published"):
        grid.add_column(heading, justify="right")
    for each in made.values():
        promises = [each.record, *([each.organisation] if each.organisation else [])]
        cells = [in_words(promise.epsilon) for promise in promises]
        old = "-" if each.published is None else in_words(each.published)
        grid.add_row(f"{each.queries:,}", f"{each.answers:,}", *cells, old)
    typer.echo(f"{chosen!r}, {classes} classes, delta {delta}, add-or-remove-one:")
    Console().print(grid)


@app.command()
def privatize(
    teachers: Annotated[str, typer.Argument(metavar="TASK", help="Of the teachers: their folder, or its task.json.")],
    data: TableArgument,
    rho: Annotated[str, typer.Option(help="Half the epsilon of each row, exact: noise Lap(1/rho) on every number.")],
    out: OutFolder,
    ledger: Where = "",
    budget: Annotated[str, typer.Option(help="The student's own budget; by default named as the table.")] = "",
    analyst: Annotated[str, typer.Option(help="Who pays out of it.")] = "",
    rehearse: Rehearse = "",
    as_json: AsJson = False,
) -> None:
    """Protect a student's own rows before they leave as queries (document 001's curator B).

    Every row is clipped to the l1 ball of radius 1 and gets Laplace noise of scale 1/rho on every number: 2 rho for
    each row. This is promised to the people in the student's own table, out of its own budget, and not to the
    teachers': the cost is reserved in the student's ledger before a report is made. All of them send a row, so that
    the budget must be about replacing one:

    ziggurat ledger budget mine --epsilon 8 --relation replace-one --ledger own.db
    """
    import pyarrow as pa

    from ziggurat.cli._books import Payer
    from ziggurat.cli._tables import table_name
    from ziggurat.files import write_text
    from ziggurat.privacy import Neighbours, Relation
    from ziggurat.release import QueryCurator

    task = read_task(teachers)
    folder = check_folder(out)
    rows = read_features(data, task)
    named, free = budget or table_name(data), bool(rehearse) and not Path(data).exists()
    payer = Payer(analyst, named, ledger, Neighbours(relation=Relation.REPLACE_ONE), free)
    with filling(folder) as draft, payer.book() as book:
        paying: dict[str, Any] = {} if book is None else {"ledger": book, "analyst": analyst, "budget": named}
        curator = QueryCurator(rho, task.width, **paying, source=rehearsal_source(rehearse))
        reports = curator.privatize(rows)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(reports.value.ravel()), task.width)
        write_table(pa.table({"features": lists}), str(draft / QUERIES))
        write_text(draft / SENT, json.dumps(curator.sent.to_dict(), indent=1))
    if as_json:
        print_json({"rows": len(rows), "folder": out, **curator.sent.to_dict()})
        return
    if not task.l1:
        typer.echo("Note: these teachers were taught without --l1, so clipped rows may look strange to them.", err=True)
    typer.echo(
        f"{len(rows):,} rows of the student's own people, each {curator.sent.promise}; this promises nothing to the "
        f"teachers' people. They may leave in {out!r}."
    )
    entry = curator.sent.calls[-1].entry
    typer.echo(payer.tell(None if entry is None else entry.seq))


@app.command()
def label(
    teachers: TeachersFolder,
    queries: Rows,
    out: Annotated[str, out_option("the labels in this .json file.")],
    budget: Annotated[
        str, typer.Option(help="The budget in the ledger that protects the teachers' people; on a server the table's.")
    ] = "",
    analyst: Annotated[str, typer.Option(help="Who asks and pays; on a server whose key it is.")] = "",
    aggregator: Aggregation = "gumbel:0.05",
    delta: Delta = "",
    most_answers: MostAnswers = None,
    organisation: Organisation = "",
    ledger: Where = "",
    rehearse: Rehearse = "",
    quote_only: OnlyQuote = False,
    force: Force = False,
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Let the teachers label queries, and pay for it before they are asked.

    The same queries again are labelled from the ledger, for nothing. Exit code 3 if it costs more than is left; no
    teacher is asked then. The epsilon shown depends on no vote, and is stated at the delta of the grant. The budget
    must protect the unit of the split, which 'pate teach' prints, for instance:

    ziggurat ledger budget patients --epsilon 8 --delta 1e-5 --person patient_id

    On a server TEACHERS is the name of teachers there, and the queries, a table of this machine, are sent to them.
    """
    from ziggurat.cli._books import open_ledger
    from ziggurat.cli.pate._options import read_unit
    from ziggurat.cli.terminal import show_steps
    from ziggurat.pate import Partition, Teachers, aggregator_named
    from ziggurat.release import Labelling

    check_output(out, force=force or quote_only)
    if server:
        asked = {"aggregator": aggregator, "most_answers": most_answers}
        _pate_remote.label_on(server, teachers, queries, asked, out, quote=quote_only, as_json=as_json)
        return
    require_payer(budget, analyst)
    task = read_task(teachers)
    features = read_queries(queries, task)[0]
    unit, owned = read_unit(organisation)
    ensemble = Teachers.load(teachers)
    if (Path(teachers) / PARTITION).exists():
        Partition.load(Path(teachers) / PARTITION).verify(ensemble.manifest_)
    with open_ledger(ledger) as book:
        labelling = Labelling(
            ensemble,
            aggregator_named(aggregator),
            book,
            analyst,
            budget=budget,
            organisation=unit,
            teachers_owned=owned,
            source=rehearsal_source(rehearse),
        )
        costs = labelling.account(len(features), delta=delta or None, most_answers=most_answers)
        if quote_only:
            quoted = labelling.quote(features, most_answers=most_answers)
            facts = {**_describe(costs), **quoted.to_dict()}
            end_with_quote(f"At most {costs}\n{quoted.sentence}", facts, fits=quoted.fits, as_json=as_json)
        with show_steps() as tell:
            made = labelling.label(features, most_answers=most_answers, progress=tell)
        made.save(out)
    if as_json:
        print_json({"out": out, "replayed": made.replayed, **_count_labels(made, task), **_describe(costs)})
    else:
        _say_labelled(made, costs, task, out)


for each in (_pate_student.student, _pate_student.evaluate, _pate_student.certificate):
    app.command()(each)


def _require_devices(ensemble: Teachers) -> None:
    """Refuse a device that is not there, or that classifiers cannot use, before anything is read."""
    from ziggurat.pate import Network

    place = ensemble.placement
    if isinstance(ensemble.teacher, Network):
        from ziggurat.pate.training import require_devices

        require_devices(place)
    elif not place.on_cpu:
        raise ParameterError("Only networks use a --device; scikit-learn's classifiers run on the processor.")


def _hold_back(folder: Path, rows: TaskRows, share: float, balanced: bool, source: Source) -> TaskRows:
    """Keep people back as a control, or those whom a run that was killed kept back; gives the rows to learn from."""
    from ziggurat.privacy import Relation
    from ziggurat.release.labels import CONTROL, TeachersControl, take_rows

    path = folder / CONTROL
    if path.exists() and (folder / CHECKPOINTS).exists():
        control = TeachersControl.load(path)
        control.require_same(rows, share)
    elif share:
        relation = Relation.REPLACE_ONE if balanced else Relation.ADD_OR_REMOVE_ONE
        control = TeachersControl.toss(rows, share, relation, source.child("holdout"))
        (folder / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
        control.save(path)
    else:
        return rows
    return take_rows(rows, ~control.back)


def _split(folder: Path, rows: TaskRows, teachers: int, unit: Unit, balanced: bool, source: Source) -> Partition:
    """Deal the rows out, or take up the split of a run that was killed."""
    import numpy as np

    from ziggurat.pate import Partition
    from ziggurat.privacy import Relation

    path = folder / PARTITION
    relation = Relation.REPLACE_ONE if balanced else Relation.ADD_OR_REMOVE_ONE
    if path.exists() and (folder / CHECKPOINTS).exists():
        split = Partition.load(path)
        same_people = (split.units is None) == (rows.units is None) and np.array_equal(
            np.asarray(split.units), np.asarray(rows.units)
        )
        facts = (split.teachers, split.total, split.unit, split.relation)
        if facts != (teachers, len(rows), unit, relation) or not same_people:
            raise DataError(f"An unfinished run of other rows or teachers is in {str(folder)!r}; name another --out.")
        return split
    drawn = source.child("partition") if not source.secure else source
    if rows.units is None:
        split = Partition.by_record(len(rows), teachers, balanced=balanced, source=drawn)
    else:
        split = Partition.by_unit(rows.units, teachers, unit=unit, balanced=balanced, source=drawn)
    (folder / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
    split.save(path)
    return split


def _say_labelled(made: Labelled, account: PateAccount, task: Task, out: str) -> None:

    found = _count_labels(made, task)
    again = "They were labelled before: nothing was spent. " if made.replayed else ""
    typer.echo(f"{again}{found['answered']:,} of {len(made.labels.labels):,} queries answered:")
    for name, count in found["labels"].items():
        typer.echo(f"  {task.label} = {name}: {count:,}")
    typer.echo("\n".join(str(account).splitlines()[1:]))
    if made.labels.rehearsal:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    typer.echo(f"The labels are in {out!r}; they were paid for by {made.facts.entry}, where that stays for ever.")


def _count_labels(made: Labelled, task: Task) -> dict[str, Any]:
    import numpy as np

    counts = np.bincount(made.labels.labels[made.labels.answered], minlength=len(task.classes))
    return {
        "answered": int(made.labels.answered.sum()),
        "labels": dict(zip(map(str, task.classes), counts.tolist(), strict=True)),
        "rehearsal": made.labels.rehearsal,
        "entry": made.facts.entry.to_dict(),
    }


def _describe(made: PateAccount) -> dict[str, Any]:
    promises = {"epsilon": made.record, "organisation": made.organisation}
    return {
        "queries": made.queries,
        "answers": made.answers,
        **{name: None if each is None else str(each.epsilon) for name, each in promises.items()},
        "delta": str(made.record.delta),
        "published": None if made.published is None else str(made.published),
    }
