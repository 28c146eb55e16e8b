"""Students that leave: judged by attacks on their teachers' people, and inspected for rows that they hold.

A student that has seen nothing of its teachers' people but paid labels is post-processing of these labels: it promises
what they do, and nothing is paid again. One that was trained on original rows is bounded by nothing towards the people
in them, and leaves as such.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.files import filling
from ziggurat.privacy import Relation
from ziggurat.release._evidence import Evidence
from ziggurat.release._plan import Plan, Progress, ShownPlan
from ziggurat.release._purse import Purse
from ziggurat.release.labels._promised import UNPROTECTED

if TYPE_CHECKING:
    from ziggurat.attacks.models import AttackedModel
    from ziggurat.findings import Finding
    from ziggurat.ledger import Ledger
    from ziggurat.pate import Student
    from ziggurat.privacy import Event, Guarantee
    from ziggurat.randomness import Source
    from ziggurat.release._cited import Cited
    from ziggurat.release._gate import Gate
    from ziggurat.release._release import Release
    from ziggurat.release.labels._control import TeachersControl
    from ziggurat.release.labels._student_certificate import StudentCertificate
    from ziggurat.release.models import Task

CERTIFIED = "student-certificate.json"
"""What the certificate of a student is called in a bundle."""
NOT_PROMISED_BY_ORIGINAL_ROWS = (
    "The student was trained on the original rows: nothing bounds what it tells about the people in them."
)
"""What every student on original rows says of itself."""


@dataclass(frozen=True, eq=False)
class StudentPlan(ShownPlan, Plan["Student"]):
    """A student before it leaves; make one by its fields, or let it go with `release_student`.

    Attributes
    ----------
    student
        Trained already: nobody's rows are read any more.
    stated
        Its certificate, which says what it learned from.
    control
        People who trained the teachers and people who did not; None if the steward knows none.
    rows
        The rows that it learned from, to be looked for in it if they are original.
    task
        How cells become its features, to leave beside it.
    """

    student: Student = field(repr=False)
    stated: StudentCertificate
    control: TeachersControl | None = field(default=None, repr=False)
    rows: Any = field(default=None, repr=False)
    task: Task | None = field(default=None, repr=False)
    random_state: int | None = None
    kind = "student"

    @property
    def original(self) -> bool:
        """Whether it was trained on rows that nothing protects."""
        return self.stated.student.features == "original"

    @property
    def event(self) -> Event | None:
        """What its labels did to the teachers' people; None if it was trained on original rows."""
        return None if self.original else self.stated.teachers.event

    @property
    def follows(self) -> tuple[Cited, ...]:
        """The labels that it learned from."""
        return () if self.original else tuple(each.entry for each in self.stated.teachers.labellings)

    @property
    def text(self) -> str:
        """What it is, and what it learned from."""
        features = self.stated.student.features
        about = f" {self.stated.about}" if self.stated.about else ""
        return f"A student of teachers, trained on {features} rows.{about}"

    def guarantee(self) -> Guarantee | None:
        """What its labels promise to the teachers' people, at the delta that was paid."""
        return None if self.original else self.stated.teachers.promise

    @property
    def rehearsal(self) -> bool:
        """Whether its labels or queries were seeded."""
        return self.stated.rehearsal

    @property
    def reads(self) -> tuple[str, ...]:
        """The student itself, and people to attack it with."""
        return ("the student", *(("the control in the folder of the teachers",) if self.control else ()))

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Attacks on the teachers' people where a control is known, and a look at what it holds where rows are."""
        from ziggurat.release.models import INSPECTION, MEMBERSHIP

        known = self.control is not None
        return (*((MEMBERSHIP,) if known else ()), *((INSPECTION,) if known or self.original else ()))

    def run(self, source: Source, progress: Progress | None) -> Student:  # noqa: ARG002
        """It was trained before."""
        return self.student

    def judge(self, output: Student, progress: Progress | None) -> Evidence:
        """Attack it as whoever gets it will."""
        from ziggurat.release.models import INSPECTION, MEMBERSHIP

        told = progress or _say_nothing
        findings: dict[str, Finding] = {}
        if self.control is not None:
            told("asking the student about everybody")
            findings[MEMBERSHIP] = self._attack(output, self.control)
        if self.control is not None or self.original:
            told("looking through the student for rows of people")
            findings[INSPECTION] = self._inspect(output)
        facts = {} if self.control is None else {"kept_back": len(self.control.others)}
        return Evidence(findings, facts=facts)

    def _attack(self, student: Student, control: TeachersControl) -> Finding:
        """Only a promise about adding or removing somebody is one that membership can refute."""
        from ziggurat.attacks.models import attack_membership

        promised: dict[str, Any] = {}
        promise = self.guarantee()
        if promise is not None and promise.neighbours.relation is Relation.ADD_OR_REMOVE_ONE and not control.drawn:
            said: Any = promise
            promised = {"epsilon": said.epsilon, "delta": said.delta, "kept_back": control.share}
        classes = 1 + int(max(control.members.labels.max(), control.others.labels.max()))
        return attack_membership(
            _ask_about(student, classes), control.members, control.others, random_split=True, **promised, shadows=0,
            random_state=self.random_state,
        )  # fmt: skip

    def _inspect(self, student: Student) -> Finding:
        """On public or privatised rows, only rows of the teachers' people count: its own are told anyway."""
        from ziggurat.attacks.models.inspection import inspect_model

        people = None if self.control is None else self.control.members.features
        if self.original:
            own = None if self.rows is None else np.asarray(self.rows, np.float64)
            both = [each for each in (own, people) if each is not None]
            return inspect_model(student, np.vstack(both) if both else None)
        found = inspect_model(student, people, values=False)
        return replace(found, parts=tuple(each for each in found.parts if each.people))

    def describe(self, output: Student) -> str:  # noqa: ARG002
        """What it is, and which certificate says so."""
        about = UNPROTECTED if self.original else "A student that learned from paid labels"
        return f"{about}; certificate of {self.stated.made.isoformat()}, {self.stated.digest}"

    def artefacts(self, output: Student, folder: Path) -> list[Path]:
        """The student, its certificate, and how cells become its features."""
        before = set(folder.iterdir())
        output.save(folder)
        if self.task is not None:
            self.task.save(folder / "task.json")
        self.stated.save(folder / CERTIFIED)
        return sorted(set(folder.iterdir()) - before)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """Whom the promise does not cover."""
        if self.original:
            return (NOT_PROMISED_BY_ORIGINAL_ROWS,)
        whose = "" if self.stated.student.features == "public" else " and what it promises to its own"
        return (f"The promise is to the people whose data trained the teachers{whose}; {CERTIFIED} says it whole.",)

    def details(self, output: Student) -> dict[str, Any]:
        """What it learned from, and which attacks were tried on it."""
        told = {"features": self.stated.student.features, "model": type(output.model).__name__}
        return {**told, "tried": list(self.judged_by)}


def release_student(
    student: Student,
    folder: str | Path,
    certificate: StudentCertificate,
    *,
    control: TeachersControl | None = None,
    rows: Any = None,
    task: Task | None = None,
    ledger: Ledger | None = None,
    budget: str = "",
    gate: Gate | None = None,
    go_on: str = "",
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Release[Student]:
    """Attack a student, have the gate judge it, and only then write it to a folder, with its certificate.

    Promise: of a student on public or privatised rows that of its labels, to the teachers' people; nothing is paid
    again, and the ledger must hold those labels. A student on original rows promises nothing to the people in them: it
    leaves as unbounded, and one that holds rows, such as nearest neighbours or a tree, only with a written reason.

    Parameters
    ----------
    student
        A fitted student.
    folder
        A new folder; only its owner may enter it.
    certificate
        What `certify` gave for its labels and its features.
    control
        Who trained the teachers and who was kept back, by `TeachersControl`; without it nobody can tell whether the
        student knows them.
    rows
        What it learned from, if these are original: they are looked for in it.
    task
        How cells become its features, to leave with it.
    ledger, budget
        Where it is remembered: of a student on original rows the ledger of the people in them, otherwise that of the
        teachers' people. Without one the labels are as their file states, and a reason to go on cannot be given.
    gate, go_on
        What stops it, and why it shall leave all the same (see `Purse.release`).
    random_state
        A seed of the attackers' draws.
    progress
        Called with a few words before every step that may take long.

    Raises
    ------
    GateError
        The gate stopped it; nothing has left. What was paid for, its labels, is still there: train another.
    """
    if go_on.strip() and ledger is None:
        raise ParameterError("A reason to go on is kept in a ledger for ever; give the ledger and its budget.")
    plan = StudentPlan(student, certificate, control, rows, task, random_state)
    named = budget or certificate.teachers.labellings[0].grant.table
    made = Purse(ledger, named).release(plan, gate=gate, go_on=go_on, progress=progress)
    with filling(folder) as draft:
        student.save(draft)
        if task is not None:
            task.save(draft / "task.json")
        note_release(certificate, made).save(draft / "certificate.json")
    return made


def note_release(certificate: StudentCertificate, made: Release[Student]) -> StudentCertificate:
    """The certificate that cites where a release without a promise is written down."""
    if certificate.student.features != "original" or made.entry is None:
        return certificate
    return replace(certificate, student=replace(certificate.student, recorded=made.entry))


def _ask_about(student: Student, classes: int) -> AttackedModel:
    """The student with an answer for every class that people have, also those that it never names."""
    from ziggurat.attacks.models import meet_student

    met = meet_student(student)

    def answer(features: Any) -> Any:
        said = np.asarray(met.answers(features), np.float64)
        wide = np.zeros((len(said), max(classes, said.shape[1])))
        wide[:, : said.shape[1]] = said
        return wide

    return replace(met, answers=answer)


def _say_nothing(what: str) -> None:
    """Report nothing."""
