"""Students are attacked before they leave: they promise what their labels do, and those that know people are caught."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from ziggurat.attacks.models import LabelledRows
from ziggurat.errors import ArtefactError, DataError, GateError, ParameterError, PrivacyError
from ziggurat.ledger import Ledger
from ziggurat.pate import GumbelNoisyMax, Partition, Student, Teachers
from ziggurat.privacy import Neighbours, Relation, compose_events
from ziggurat.randomness import seeded
from ziggurat.release import (
    NOT_PROTECTED_BY_GATE,
    Labelled,
    Labelling,
    Purse,
    StudentPlan,
    TaskRows,
    TeachersControl,
    certify,
    release_student,
)
from ziggurat.release.bundle import verify_bundle
from ziggurat.release.labels import NOT_PROMISED_BY_ORIGINAL_ROWS

ADD, REPLACE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE


def people(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    rows = draw.uniform(-1, 1, (count, 4))
    return rows, (rows[:, 0] + draw.normal(0, 0.6, count) > 0).astype(int)


ROWS, LABELS = people(800, 1)
PUBLIC = people(150, 2)[0]
HELD = TeachersControl.toss(TaskRows(ROWS, LABELS), 0.4, ADD, seeded("control"))


@pytest.fixture
def book(tmp_path: Path) -> Any:
    with Ledger.open(tmp_path / "ledger.db") as opened:
        opened.create_budget("clinic", 20, "1e-5", Neighbours())
        opened.grant("clinic", "ada", 20, "1e-5")
        yield opened


@pytest.fixture
def labelled(book: Ledger) -> Labelled:
    """Labels of public rows, by teachers who never saw those kept back."""
    rows, labels = ROWS[~HELD.back], LABELS[~HELD.back]
    partition = Partition.by_record(len(rows), 20, source=seeded("split"))
    taught = Teachers(DecisionTreeClassifier(max_depth=2), classes=2).fit(rows, labels, partition, source=seeded("t"))
    return Labelling(taught, GumbelNoisyMax("0.1"), book, "ada", budget="clinic", source=seeded("noise")).label(PUBLIC)


def leave(student: Student, labelled: Labelled, where: Path, features: Any = "public", **given: Any) -> Any:
    given = {"control": HELD, "random_state": 1, **given}
    return release_student(student, where, certify(labelled, features=features), **given)


def test_a_student_of_paid_labels_leaves_with_their_promise_and_pays_nothing_again(
    book: Ledger, labelled: Labelled, tmp_path: Path
) -> None:
    student = Student(LogisticRegression(), random_state=0).fit(PUBLIC, labelled.labels)
    before = [each.kind for each in book.history()]
    made = leave(student, labelled, tmp_path / "student", ledger=book)
    assert [each.kind for each in book.history()] == before
    assert not made.verdict.stopped
    judged = {each.attack: each for each in made.verdict.passed}
    assert judged["membership, epsilon"].figure <= float(labelled.account().record.epsilon)
    assert judged["inspection"].figure == 0
    assert made.event == labelled.planned
    assert made.entry == labelled.facts.entry
    assert made.certificate.guarantee == certify(labelled, features="public").teachers.promise
    assert NOT_PROTECTED_BY_GATE in made.certificate.not_protected
    assert made.certificate.details["tried"] == ["membership", "inspection"]
    assert "kept_back" not in json.dumps(made.certificate.to_dict())
    assert (Student.load(tmp_path / "student").predict(ROWS) == student.predict(ROWS)).all()
    bundle = made.bundle(tmp_path / "bundle")
    assert verify_bundle(bundle).rehearsal
    assert {"student.json", "student-certificate.json"} <= {each.name for each in (bundle / "public").iterdir()}
    assert "membership" in json.loads((bundle / "steward" / "evidence.json").read_text())["evidence"]["made"]


@pytest.mark.parametrize("model", [DecisionTreeClassifier(random_state=1), KNeighborsClassifier(1)])
def test_a_student_that_was_trained_on_the_teachers_rows_is_caught_whatever_it_says(
    book: Ledger, labelled: Labelled, tmp_path: Path, model: Any
) -> None:
    student = Student(model, random_state=0).fit(HELD.members.features, HELD.members.labels)
    with pytest.raises(GateError) as raised:
        leave(student, labelled, tmp_path / "student", ledger=book)
    stopped = {each.attack for each in raised.value.held.verdict.stopped}
    assert "membership by loss" in stopped
    assert ("inspection" in stopped) == isinstance(model, KNeighborsClassifier)
    assert not (tmp_path / "student").exists()
    assert not any(each.kind in ("decision", "unbounded") for each in book.history())
    made = leave(student, labelled, tmp_path / "student", ledger=book, go_on="It stays in this house.")
    assert made.decision is not None
    assert "It stays in this house." in str(book.history()[-1])


def test_a_student_may_hold_the_public_rows_that_it_learned_from(labelled: Labelled, tmp_path: Path) -> None:
    student = Student(KNeighborsClassifier(5)).fit(PUBLIC, labelled.labels)
    made = leave(student, labelled, tmp_path / "student")
    assert {each.attack: each.figure for each in made.verdict.passed}["inspection"] == 0


@pytest.mark.parametrize("control", [HELD, None])
def test_original_rows_that_a_student_holds_leave_only_with_a_waiver_and_as_unbounded(
    book: Ledger, labelled: Labelled, tmp_path: Path, control: Any
) -> None:
    book.create_budget("own", 1, 0, Neighbours(relation=REPLACE))
    student = Student(KNeighborsClassifier(5)).fit(PUBLIC, labelled.labels)
    given: Any = {"features": "original", "rows": PUBLIC, "control": control, "ledger": book, "budget": "own"}
    with pytest.raises(GateError) as raised:
        leave(student, labelled, tmp_path / "student", **given)
    assert [each.attack for each in raised.value.held.verdict.stopped] == ["inspection"]
    made = leave(student, labelled, tmp_path / "student", **given, go_on="All of them agreed in writing.")
    assert made.event is None
    assert made.certificate.guarantee is None
    assert NOT_PROMISED_BY_ORIGINAL_ROWS in made.certificate.not_protected
    entry = book.history()[-1]
    assert entry.kind == "unbounded"
    assert "All of them agreed in writing." in str(entry)
    held = json.loads((tmp_path / "student" / "certificate.json").read_text())
    assert held["student"]["recorded"]["seq"] == entry.seq


def test_a_smooth_student_of_original_rows_goes_as_unbounded(book: Ledger, labelled: Labelled, tmp_path: Path) -> None:
    student = Student(LogisticRegression()).fit(PUBLIC, labelled.labels)
    made = leave(student, labelled, tmp_path / "s", features="original", rows=PUBLIC, ledger=book, budget="clinic")
    assert made.event is None
    assert book.history()[-1].kind == "unbounded"


def test_without_a_control_nothing_is_tried_and_nothing_is_said_of_it(labelled: Labelled, tmp_path: Path) -> None:
    student = Student(LogisticRegression()).fit(PUBLIC, labelled.labels)
    made = leave(student, labelled, tmp_path / "student", control=None)
    assert made.evidence.findings == {}
    assert NOT_PROTECTED_BY_GATE not in made.certificate.not_protected


def test_what_was_not_paid_for_is_no_post_processing(book: Ledger, labelled: Labelled, tmp_path: Path) -> None:
    """The negative control of paying nothing: a plan that follows from an entry must do what the entry paid for."""

    class Doubled(StudentPlan):
        @property
        def event(self) -> Any:
            return compose_events([labelled.planned, labelled.planned])

    student = Student(LogisticRegression()).fit(PUBLIC, labelled.labels)
    with pytest.raises(PrivacyError, match="something else"):
        Purse(book, "clinic").release(Doubled(student, certify(labelled, features="public")))
    with Ledger.open(tmp_path / "other.db") as other, pytest.raises(DataError, match="another ledger"):
        Purse(other, "clinic").release(StudentPlan(student, certify(labelled, features="public")))


def test_a_reason_without_a_ledger_that_keeps_it_is_refused(labelled: Labelled, tmp_path: Path) -> None:
    student = Student(LogisticRegression()).fit(PUBLIC, labelled.labels)
    with pytest.raises(ParameterError, match="kept in a ledger"):
        leave(student, labelled, tmp_path / "student", go_on="Why not.")


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_people_are_kept_back_with_all_their_rows_and_nobody_else_moves(relation: Relation) -> None:
    units = np.array([f"p{i // 3}" for i in range(300)])
    rows = TaskRows(np.arange(300.0)[:, None], np.zeros(300, np.int64), units)
    control = TeachersControl.toss(rows, 0.3, relation, seeded(1))
    assert all(len(set(control.back[units == name])) == 1 for name in set(units))
    assert len(control.members) + len(control.others) == 100  # a row for everybody
    assert len(control.others) == 30 or relation is ADD
    changed = rows.features.copy()
    changed[12:15] += 1_000  # another person in the same place
    again = TeachersControl.toss(TaskRows(changed, rows.labels, units), 0.3, relation, seeded(1))
    assert (again.back == control.back).all()


def test_a_control_is_kept_for_its_owner_and_read_as_it_was(tmp_path: Path) -> None:
    HELD.save(tmp_path / "control.npz")
    assert (tmp_path / "control.npz").stat().st_mode & 0o077 == 0
    again = TeachersControl.load(tmp_path / "control.npz")
    assert isinstance(again.members, LabelledRows)
    assert (again.members.features == HELD.members.features).all()
    assert (again.share, again.drawn) == (0.4, False)
    again.require_same(TaskRows(ROWS, LABELS), 0.4)
    with pytest.raises(DataError, match="other people back"):
        again.require_same(TaskRows(ROWS[1:], LABELS[1:]), 0.4)
    (tmp_path / "control.npz").write_bytes(b"nothing")
    with pytest.raises(ArtefactError, match="damaged"):
        TeachersControl.load(tmp_path / "control.npz")
    with pytest.raises(DataError, match="nobody"):
        TeachersControl.toss(TaskRows(ROWS, LABELS), 0, ADD, seeded(1))
