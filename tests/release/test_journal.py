"""Runs with a journal: two at once, stopped ones, failing ones, the command, and journals that are none."""

import json
import stat
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ziggurat.attacks import EpsilonBound, Share
from ziggurat.data import write_csv
from ziggurat.errors import (
    BudgetExceededError,
    DataError,
    EngineError,
    GateError,
    LedgerUseError,
    ReleaseStoppedError,
    ZigguratError,
)
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.privacy import Neighbours
from ziggurat.release import Artefact, Evidence, Purse, Release
from ziggurat.release._cited import unpack
from ziggurat.release.bundle import verify_bundle
from ziggurat.release.config import HeldBundle, ReleaseJournal, journal_of, run_config
from ziggurat.release.durable import _making
from ziggurat.release.questions._asking import AskedQuestion

from .conftest import SCHEMA, patients

HEAD = "format: ziggurat/release/1\ntable: clinic.csv\nledger: book.db\npopulation: clinic\n"
KINDS = {
    "question": "analyst: ada\nrelease: {kind: question, sql: SELECT COUNT(*) AS n FROM clinic, epsilon: 0.5, "
    "rows_per_unit: 1}\n",
    "model": "analyst: ada\nrelease: {kind: model, label: ward, columns: [age], model: naive-bayes, epsilon: 1, "
    "delta: 0, expected_rows: 400}\n",
    "masked": "release: {kind: masked table, techniques: {patient: drop, town: drop}}\n",
}
STEPS: dict[str, list[tuple[Any, str]]] = {
    "question": [
        (ReleaseJournal, "begin"), (Purse, "hold"), (ReleaseJournal, "note_reserved"), (_making, "run_paid"),
        (ReleaseJournal, "keep"), (Purse, "settle"), (HeldBundle, "let_go"),
    ],
    "masked": [(ReleaseJournal, "begin"), (ReleaseJournal, "keep"), (Purse, "settle"), (HeldBundle, "let_go")],
}  # fmt: skip
STEPS["model"] = STEPS["question"]
RACES = [(kind, step) for kind, steps in STEPS.items() for step in range(len(steps))]


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_KEY", raising=False)


def describe(folder: Path, kind: str, epsilon: str = "2") -> Path:
    write_csv(patients(), folder / "clinic.csv")
    SCHEMA.to_yaml(folder / "clinic.yaml")
    with Ledger.open(folder / "book.db") as book:
        book.create_budget("clinic", "4", 0, Neighbours(SCHEMA.unit))
        book.grant("clinic", "ada", epsilon)
    (folder / "answer.yaml").write_text(HEAD + KINDS[kind])
    return folder / "answer.yaml"


@pytest.fixture
def kind() -> str:
    return "question"


@pytest.fixture
def file(kind: str, tmp_path: Path) -> Path:
    return describe(tmp_path, kind)


@pytest.fixture
def journal(file: Path) -> ReleaseJournal:
    return ReleaseJournal(journal_of(file))


def entries(file: Path) -> list[str]:
    with Ledger.open(file.parent / "book.db", create=False) as book:
        return [each.kind for each in book.history()][3:]


def run(file: Path, **given: Any) -> Any:
    return run_config(file, journal=journal_of(file), **given)


def require_done(file: Path) -> None:
    """One payment, or one entry; the bundle holds what the ledger says."""
    assert verify_ledger(file.parent / "book.db").problems == []
    checked = verify_bundle(file.with_name("answer.bundle"))
    assert checked.sound
    with Ledger.open(file.parent / "book.db", create=False) as book:
        last = book.history()[-1]
    assert checked.certificate["recorded"]["seq"] == last.seq
    if last.kind == "unbounded":
        assert entries(file) == ["unbounded"]
        return
    assert entries(file) == ["reserve", "commit"]
    listed = [Artefact(**each) for each in checked.certificate["artefacts"]]
    answer = unpack(last.data["answer"])
    if "artefacts" in answer:
        assert answer["artefacts"] == Artefact.of_parts("", listed).sha256
    else:
        held = json.loads((file.with_name("answer.bundle") / "public" / "answer.json").read_text())
        assert {**held, "replayed": None} == {**answer, "replayed": None}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("kind", "step"), RACES)
def test_of_two_processes_on_one_journal_one_output_leaves(
    file: Path, kind: str, step: int, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run goes from end to end while the first stands before, or behind, a step."""
    owner, name = STEPS[kind][step]
    real, inside = getattr(owner, name), []

    def interrupted(*given: Any, **options: Any) -> Any:
        if inside:
            return real(*given, **options)
        inside.append(1)
        if when == "before":
            run(file)
            return real(*given, **options)
        made = real(*given, **options)
        run(file)
        return made

    monkeypatch.setattr(owner, name, interrupted)
    run(file)  # whoever is second finds the bundle of the first, and gives it
    assert inside
    require_done(file)


def test_a_loser_whose_journal_was_cleared_pays_and_lets_go_of_nothing(
    file: Path, journal: ReleaseJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, inside = _making.run_paid, []

    def slow(*given: Any) -> Any:
        if not inside:
            inside.append(1)
            run(file)
            journal.clear()
        return real(*given)

    monkeypatch.setattr(_making, "run_paid", slow)
    with pytest.raises(ZigguratError):
        run(file)
    require_done(file)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_gives_the_release_and_leaves_its_journal_to_its_owner(
    file: Path, kind: str, journal: ReleaseJournal
) -> None:
    steps: list[str] = []
    made, bundle = run(file, progress=steps.append)
    assert isinstance(made, Release)
    assert made.certificate.recorded is not None
    assert bundle == file.with_name("answer.bundle")
    require_done(file)
    told = ["planning", "making it", "keeping what was made", "writing it down in the ledger", "writing the bundle"]
    assert [each for each in steps if each in told] == told
    assert "done" in journal.sentence
    assert stat.S_IMODE(journal.folder.stat().st_mode) == 0o700
    for each in journal.folder.rglob("*"):
        assert stat.S_IMODE(each.stat().st_mode) == (0o700 if each.is_dir() else 0o600), each
    journal.clear()
    with pytest.raises(DataError, match="exists already"):
        run(file)


def cancel_at(step: int) -> Callable[[], bool]:
    asked = iter(range(100))
    return lambda: next(asked) == step


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_stopped_says_what_stays_spent_and_goes_on_another_time(file: Path, kind: str) -> None:
    for step in range(20):
        said = stop_at(file, step)
        if not said:
            break
        paid = "reserve" in entries(file)
        assert ("nothing was spent" in said) is not paid
        assert ("cost stays spent" in said) is paid
        if step < 2:
            assert entries(file) == []
            assert not journal_of(file).exists()
    assert 3 <= step < 19
    require_done(file)


def stop_at(file: Path, step: int) -> str:
    """Run until somebody stops it at a step; gives what is said then, and nothing if it is done before."""
    try:
        run(file, cancelled=cancel_at(step))
    except ReleaseStoppedError as stopped:
        return str(stopped)
    return ""


def test_a_run_without_a_journal_is_stopped_before_it_reserves(file: Path) -> None:
    with pytest.raises(ReleaseStoppedError, match="nothing was spent"):
        run_config(file, cancelled=cancel_at(1))
    assert entries(file) == []
    run_config(file, cancelled=lambda: False)
    assert entries(file) == ["reserve", "commit"]


@pytest.mark.parametrize("kind", ["question", "model"])
def test_what_fails_is_given_up_and_never_taken_up(
    file: Path, kind: str, journal: ReleaseJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To try again for nothing until it succeeds would tell more than one run does."""

    def fail(*_: Any) -> Any:
        raise EngineError("The engine is gone.")

    with monkeypatch.context() as failing:
        failing.setattr(_making, "run_paid", fail)
        with pytest.raises(EngineError):
            run(file)
    assert entries(file) == ["reserve", "abandon"]
    assert journal.given_up
    with pytest.raises(LedgerUseError, match=r"given up.*cost stays spent"):
        run(file)
    journal.clear()
    run(file)
    assert entries(file) == ["reserve", "abandon", "reserve", "commit"]


def test_an_interrupted_run_is_taken_up(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as failing:
        failing.setattr(_making, "run_paid", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(file)
    assert entries(file) == ["reserve"]
    run(file)
    require_done(file)


def test_what_is_refused_before_it_is_paid_leaves_no_journal(tmp_path: Path) -> None:
    file = describe(tmp_path, "model", epsilon="1/10")
    with pytest.raises(BudgetExceededError):
        run(file)
    assert entries(file) == []
    assert not journal_of(file).exists()


@pytest.mark.parametrize("kind", ["model"])
def test_other_words_are_refused_once_something_was_paid(
    file: Path, kind: str, journal: ReleaseJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ReleaseStoppedError):
        run(file, cancelled=lambda: "reserve" in entries(file))
    words = file.read_text()
    file.write_text(words.replace("epsilon: 1", "epsilon: 0.75"))
    with pytest.raises(DataError, match="other words"):
        run(file)
    assert entries(file) == ["reserve"]
    file.write_text(words)
    run(file)
    require_done(file)


def test_an_idle_journal_takes_other_words(file: Path, journal: ReleaseJournal) -> None:
    with Ledger.open(file.parent / "book.db") as book:
        assert journal.begin("0" * 64, book)
    run(file)
    require_done(file)


def test_another_ledger_is_refused(file: Path, journal: ReleaseJournal) -> None:
    with pytest.raises(ReleaseStoppedError):
        run(file, cancelled=lambda: "reserve" in entries(file))
    (file.parent / "book.db").rename(file.parent / "old.db")
    with Ledger.open(file.parent / "book.db") as book:
        book.create_budget("clinic", "4", 0, Neighbours(SCHEMA.unit))
        book.grant("clinic", "ada", "2")
    with pytest.raises(LedgerUseError, match="another ledger"):
        run(file)
    assert entries(file) == []


@pytest.mark.parametrize("name", ["begun.json", "reserved.json", "made/held.json"])
@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_a_damaged_journal_is_refused(file: Path, journal: ReleaseJournal, name: str, content: str) -> None:
    with pytest.raises(ReleaseStoppedError):
        run(file, cancelled=lambda: journal.has_made)
    (journal.folder / name).write_text(content)
    with pytest.raises((DataError, LedgerUseError), match="damaged"):
        run(file)
    assert entries(file) == ["reserve"]


def test_a_file_that_was_changed_in_the_journal_does_not_leave(file: Path, journal: ReleaseJournal) -> None:
    with pytest.raises(ReleaseStoppedError):
        run(file, cancelled=lambda: journal.has_made)
    (journal.folder / "made" / "answer.csv").write_text("n\n1\n")
    with pytest.raises(DataError, match="not the one that was certified"):
        run(file)
    assert not file.with_name("answer.bundle").exists()


def test_an_answer_that_was_changed_in_the_journal_does_not_leave(file: Path, journal: ReleaseJournal) -> None:
    run(file)
    file.with_name("answer.bundle").rename(file.with_name("gone"))
    held = journal.folder / "made" / "held.json"
    facts = json.loads(held.read_text())
    facts["pending"]["answer"]["kind"] = "another"
    held.write_text(json.dumps(facts))
    with pytest.raises(LedgerUseError, match="another answer"):
        run(file)
    assert not file.with_name("answer.bundle").exists()


def test_a_folder_of_other_things_is_no_journal(file: Path) -> None:
    (file.parent / "papers").mkdir()
    (file.parent / "papers" / "thesis.txt").write_text("mine")
    with pytest.raises(DataError, match="other things than a journal"):
        run_config(file, journal=file.parent / "papers")
    with pytest.raises(DataError, match="other things than a journal"):
        ReleaseJournal(file.parent / "papers").clear()
    with pytest.raises(DataError, match="cannot be written"):
        run_config(file, journal=file.parent / "nowhere" / "deep")
    assert (file.parent / "papers" / "thesis.txt").read_text() == "mine"
    assert entries(file) == []


def test_a_foreign_bundle_in_its_place_is_not_taken_for_ours(file: Path, journal: ReleaseJournal) -> None:
    with pytest.raises(ReleaseStoppedError):
        run(file, cancelled=lambda: journal.has_made)
    other = file.parent / "other"
    other.mkdir()
    run(describe(other, "question"))
    (other / "answer.bundle").rename(file.with_name("answer.bundle"))
    with pytest.raises(DataError, match="not what was made here"):
        run(file)


def test_a_full_disk_keeps_what_was_made(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as failing:
        failing.setattr("ziggurat.release.bundle._writing._put", full)
        with pytest.raises(DataError, match=r"kept in .*answer\.bundle\.journal.*costs nothing"):
            run(file)
    run(file)
    require_done(file)


def test_a_question_that_was_answered_before_is_given_again(file: Path) -> None:
    run_config(file)
    file.with_name("answer.bundle").rename(file.with_name("first"))
    made, _ = run(file)
    assert made.replayed
    require_done(file)


def test_the_command_takes_up_what_was_stopped_and_says_so(
    file: Path, journal: ReleaseJournal, command: Callable[..., Any]
) -> None:
    with pytest.raises(ReleaseStoppedError):
        run(file, cancelled=lambda: "reserve" in entries(file))
    made = command("release", "run", str(file))
    assert made.code == 0, made.err
    said = [line for line in made.err.splitlines() if "takes up" in line]
    assert said == [
        "This takes up a run before it. Reservation 4 has paid for it; it is made now, and not paid for again."
    ]
    require_done(file)
    assert not journal.folder.exists()


def test_the_command_gives_what_is_done_and_clears_the_journal(
    file: Path, journal: ReleaseJournal, command: Callable[..., Any]
) -> None:
    run(file)
    made = command("release", "run", str(file))
    assert made.code == 0, made.err
    assert "takes up a run before it. It is done" in made.err
    assert not journal.folder.exists()
    assert command("release", "run", str(file)).code == 6


def test_the_command_may_pay_again_for_what_failed(
    file: Path, journal: ReleaseJournal, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise EngineError("The engine is gone.")

    with monkeypatch.context() as failing:
        failing.setattr(_making, "run_paid", fail)
        assert command("release", "run", str(file)).code == 7
    assert not journal.folder.exists()
    assert command("release", "run", str(file)).code == 0
    assert entries(file) == ["reserve", "abandon", "reserve", "commit"]


def test_what_the_gate_stopped_waits_beside_the_bundle_and_goes_on_by_a_journal(
    file: Path, journal: ReleaseJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = EpsilonBound("linking", Share(90, 90), 90, 0.5, Fraction(1, 2), Fraction(0), 1e-20, 9.0, 0.05)
    real = AskedQuestion.judge
    monkeypatch.setattr(AskedQuestion, "judge", lambda *_: Evidence({"epsilon": bound}))
    with pytest.raises(GateError, match=r"kept in .*answer\.bundle\.held"):
        run(file)
    monkeypatch.setattr(AskedQuestion, "judge", real)
    held = file.with_name("answer.bundle.held")
    assert held.exists()
    assert not journal.folder.exists()
    with pytest.raises(GateError, match="give a reason"):
        run(file)
    assert not journal.folder.exists()
    made, bundle = run(file, go_on="The board has seen it.")
    assert isinstance(made, HeldBundle)
    assert not held.exists()
    assert entries(file) == ["reserve", "commit", "unbounded"]
    assert verify_bundle(bundle).certificate["promise"] is None
    again, _ = run(file, go_on="The board has seen it.")
    assert isinstance(again, HeldBundle)
    assert entries(file) == ["reserve", "commit", "unbounded"]


def test_a_decision_that_was_written_is_not_written_in_other_words(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = EpsilonBound("linking", Share(90, 90), 90, 0.5, Fraction(1, 2), Fraction(0), 1e-20, 9.0, 0.05)
    monkeypatch.setattr(AskedQuestion, "judge", lambda *_: Evidence({"epsilon": bound}))
    with monkeypatch.context() as failing:
        failing.setattr("ziggurat.release.bundle._writing._put", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(file, go_on="The board has seen it.")
    with pytest.raises(LedgerUseError, match="other words"):
        run(file, go_on="Nobody has.")
    run(file, go_on="The board has seen it.")
    assert entries(file) == ["reserve", "commit", "unbounded"]
