"""The last stage of `ziggurat pate`: students, how good they are, and what they promise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, GoOn, OutFolder, SchemaFile, Where, with_records
from ziggurat.cli._outputs import check_folder, print_json
from ziggurat.cli.pate._folders import CERTIFICATE, TASK, read_queries, read_task, require_same
from ziggurat.cli.pate._options import Batch, Delta, Epochs, Model, Organisation
from ziggurat.errors import ParameterError
from ziggurat.files import filling

if TYPE_CHECKING:
    from ziggurat.pate import Student
    from ziggurat.release import Labelled, Release, Task, TeachersControl
    from ziggurat.release.models import Floats


@dataclass(frozen=True)
class LearningOptions:
    """How a student learns."""

    model: Model = "logistic-regression"
    threshold_rows: Annotated[
        int, typer.Option(help="Two classes: keep so many of the last rows for choosing the threshold.", min=0)
    ] = 0
    unlabelled: Annotated[str, typer.Option(help="Rows without an answer: drop, or spread labels to them.")] = "drop"
    epochs: Epochs = 40
    batch: Batch = 64
    seed: Annotated[int | None, typer.Option(help="A whole number makes the same student again.")] = None


@with_records
def student(
    teachers: Annotated[str, typer.Argument(metavar="TASK", help="Of the teachers: their folder, or its task.json.")],
    rows: Annotated[str, typer.Argument(metavar="ROWS", help="What it learns from, in the order of the labels.")],
    labels: Annotated[str, typer.Argument(metavar="LABELS", help="The file that 'pate label' wrote.")],
    out: OutFolder,
    features: Annotated[
        str, typer.Option(help="What ROWS are: public; privatised; or original, of which the queries were protected.")
    ],
    learning: LearningOptions,
    queries: Annotated[str, typer.Option(help="With original rows: the folder of 'pate privatize' sent.")] = "",
    delta: Delta = "",
    organisation: Organisation = "",
    ledger: Where = "",
    check: Annotated[bool, typer.Option("--check", help="Compare the labels with the teachers' ledger.")] = False,
    student_ledger: Annotated[str, typer.Option(help="The student's own ledger, to compare with and note in.")] = "",
    student_budget: Annotated[str, typer.Option(help="Its budget: where a release without promise is noted.")] = "",
    go_on: GoOn = "",
    as_json: AsJson = False,
) -> None:
    """Train a student on labelled rows, and write its certificate.

    The certificate says what the student promises to the teachers' people, at the delta that was paid for its labels,
    and to those in its own rows. It is printed, and kept beside the student.

    Before it leaves it is attacked with the people whom 'pate teach --holdout' kept back, where TASK is that folder:
    does it tell whom its teachers learned from? One that was trained on original rows is looked through for them, and
    leaves without a promise. Exit code 5 if the gate stops it: the labels stay paid for, so train another, or say with
    --go-on why it shall leave, which the ledger keeps for ever.
    """
    from contextlib import ExitStack

    from ziggurat.cli._books import open_ledger, open_to_read
    from ziggurat.cli.pate._options import read_unit
    from ziggurat.cli.terminal import show_steps
    from ziggurat.ledger import Ledger
    from ziggurat.release import NOT_PROTECTED_BY_GATE, Labelled, Purse, certify
    from ziggurat.release.labels import StudentPlan, note_release

    if features not in ("public", "privatised", "original"):
        raise ParameterError("--features must be public, privatised or original.")
    task, folder, labelled = read_task(teachers), check_folder(out), Labelled.load(labels)
    matrix, sent = read_queries(rows, task)
    if features == "original" and queries:
        sent = read_queries(queries, task)[1]
    require_same(matrix, labelled, features, sent)
    unit, owned = read_unit(organisation)
    control, original = _find_control(teachers), features == "original"
    if go_on.strip() and original and not (student_ledger and student_budget):
        raise ParameterError(
            "A reason is kept in the student's own ledger; give --student-ledger and --student-budget."
        )
    with ExitStack() as stack:
        deciding = bool(go_on.strip()) and not original
        opening = open_ledger if deciding else open_to_read
        book = stack.enter_context(opening(ledger)) if check or deciding else None
        own = stack.enter_context(Ledger.open(student_ledger, create=False)) if student_ledger else None
        if own is not None and student_budget:
            own.budget(student_budget)
        learner = _teach(task, matrix, labelled, learning)
        draft = stack.enter_context(filling(folder))
        learner.save(draft)
        task.save(draft / TASK)
        certificate = certify(
            labelled,
            delta=delta or None,
            features=features,  # type: ignore[arg-type]
            queries=sent,
            ledger=book,
            students_ledger=own if sent is not None else None,
            organisation=unit,
            teachers_owned=owned,
            files=draft,
            about=f"It names {task.label!r} ({len(task.classes)} classes) by {', '.join(task.encoding.names)}.",
        )
        plan = StudentPlan(learner, certificate, control, matrix if original else None, task, learning.seed)
        purse = Purse(own if student_budget else None, student_budget) if original else Purse(book, _paid_by(labelled))
        with show_steps() as told:
            made = purse.release(plan, go_on=go_on, progress=told)
        certificate = note_release(certificate, made)
        certificate.save(draft / CERTIFICATE)
    if as_json:
        print_json({"folder": out, "certificate": certificate.to_dict(), **_tell_attacks(made)})
        return
    typer.echo(certificate.text())
    if made.plan.judged_by:
        typer.echo(" ".join([*made.evidence.sentences, made.verdict.sentence]))
    if made.event is not None and made.plan.judged_by:
        typer.echo(NOT_PROTECTED_BY_GATE)
    typer.echo(f"The student and its certificate are in {out!r}.")


def evaluate(
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="The folder that 'pate student' wrote.")],
    data: Annotated[str, typer.Argument(metavar="TABLE", help="A table with the columns and the true label.")],
    schema: SchemaFile = "",
    as_json: AsJson = False,
) -> None:
    """Compare a student's labels with the truth: confusion matrix, accuracy, true positive and negative rates.

    The numbers are exact functions of the table: no release, unless the table is public.
    """
    from ziggurat.cli._tables import open_as
    from ziggurat.data import Schema
    from ziggurat.pate import Student

    task = read_task(student)
    rows = task.rows(open_as(data, Schema.from_yaml(Path(schema)) if schema else task.labelled_schema))
    found = Student.load(student).evaluate(rows.features, rows.labels)
    if as_json:
        print_json({"names": task.classes, **found.to_dict()})
        return
    typer.echo(f"{task.label}: " + ", ".join(f"{place} is {name}" for place, name in enumerate(task.classes)))
    typer.echo(found)


def certificate(
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="The student's folder, or its certificate.json.")],
    ledger: Where = "",
    check: Annotated[bool, typer.Option("--check", help="Compare it with the teachers' ledger.")] = False,
    student_ledger: Annotated[str, typer.Option(help="Also compare it with the student's own ledger.")] = "",
    as_json: AsJson = False,
) -> None:
    """Read a certificate: what a student promises to whom, and where to check it.

    One that claims less than its own facts prove, or that disagrees with a ledger, is refused.
    """
    from contextlib import ExitStack

    from ziggurat.cli._books import open_to_read
    from ziggurat.release import StudentCertificate

    path = Path(student)
    found = StudentCertificate.load(path / CERTIFICATE if path.is_dir() else path)
    if path.is_dir():
        found.require_files(path)
    with ExitStack() as stack:
        books = [
            stack.enter_context(open_to_read(where)) if wanted else None
            for where, wanted in ((ledger, check), (student_ledger, bool(student_ledger)))
        ]
        found = found.verify(*books)
    print_json(found.to_dict()) if as_json else typer.echo(found.text())


def _find_control(teachers: str) -> TeachersControl | None:
    """Whom the teachers learned from and whom not, if their folder says so."""
    from ziggurat.release.labels import CONTROL, TeachersControl

    path = Path(teachers) / CONTROL
    return TeachersControl.load(path) if path.is_file() else None


def _paid_by(labelled: Labelled) -> str:
    return str(labelled.facts.grant.table)


def _tell_attacks(made: Release[Student]) -> dict[str, Any]:
    """What attacks found, for the steward who reads the screen; nothing of it is in the folder."""
    if not made.plan.judged_by:
        return {}
    return {"attacks": made.evidence.to_dict(), "verdict": made.verdict.to_dict()}


def _teach(task: Task, matrix: Floats, labelled: Labelled, given: LearningOptions) -> Student:
    """Train a student; the last rows, if so many are kept for it, choose the threshold alone."""
    from ziggurat.cli.pate._options import follow, make_model
    from ziggurat.pate import Student, Training

    threshold_rows = given.threshold_rows
    if threshold_rows >= len(matrix) or (threshold_rows and len(task.classes) > 2):
        raise ParameterError("--threshold-rows must leave rows to learn from, and needs two classes.")
    learner = Student(
        make_model(given.model, task.width, len(task.classes)),
        training=Training(epochs=given.epochs, batch=given.batch),
        unlabelled=given.unlabelled,
        random_state=given.seed,
    )
    kept = slice(0, len(matrix) - threshold_rows)
    aside = slice(len(matrix) - threshold_rows, len(matrix))
    sample: dict[str, Any] = {}
    if threshold_rows:
        answered = labelled.labels.answered[aside]
        truth = labelled.labels.labels[aside][answered]
        sample = {"threshold_X": matrix[aside][answered], "threshold_y": truth}
    with follow("Training the student") as progress:
        return learner.fit(matrix[kept], labelled.labels.take(kept), **sample, progress=progress)
