"""Whoever kills a release that keeps a journal, at whichever step, runs it again: paid once, nothing lost, one output.

Processes are killed by SIGKILL at a step that they reach; see `release_kills`.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
from release_kills import JOURNAL_STEPS
from release_kinds import BY_NAME, KINDS, ReleaseKind, entries, prepare, write_config

from ziggurat.errors import LedgerUseError, PendingError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.release import Artefact
from ziggurat.release._cited import unpack
from ziggurat.release.bundle import verify_bundle
from ziggurat.release.config import HeldBundle, ReleaseJournal, run_config

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kills")]

HERE = Path(__file__).parent
FILES = [kind for kind in KINDS if kind.said is not None]
ONLY_PAID = {
    "before it is reserved", "before its reservation is noted", "after its reservation is noted", "while it is run",
}  # fmt: skip
CHOSEN = ("question", "model of a table", "synthetic table with a guarantee", "anonymized table")
FEW = ("before its reservation is noted", "after it is kept", "after the ledger is told")
CASES = [
    (kind, step)
    for kind in FILES
    for step in (JOURNAL_STEPS if kind.name in CHOSEN else FEW)
    if kind.guaranteed or step not in ONLY_PAID
]
PAID = {"before its reservation is noted", "after its reservation is noted", "while it is run"}


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "place" / "settings"))
    monkeypatch.delenv("ZIGGURAT_KEY", raising=False)


@pytest.fixture(scope="module")
def killed() -> Iterator[Callable[..., int]]:
    """Runs the file of a folder in a process of its own that ends at a step; gives its exit code."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    server = subprocess.Popen([sys.executable, str(HERE / "release_kills.py")], **pipes)

    def run(kind: ReleaseKind, folder: Path, step: str, journal: str = "journal", go_on: str = "") -> int:
        place = str(folder / journal) if journal else ""
        asked = {"kind": kind.name, "folder": str(folder), "step": step, "by_file": True, "go_on": go_on}
        server.stdin.write(json.dumps({**asked, "journal": place}) + "\n")
        server.stdin.flush()
        return int(server.stdout.readline())

    yield run
    server.stdin.close()
    server.wait()


def described(kind: ReleaseKind, tmp_path: Path, **more: Any) -> Path:
    """A prepared folder with the file that describes a release."""
    folder = prepare(kind, tmp_path / "place")
    write_config(folder, kind, **more)
    return folder


def run(folder: Path, journal: str = "journal", **given: Any) -> Any:
    return run_config(folder / "release.yaml", journal=folder / journal, **given)[0]


def require_done(kind: ReleaseKind, folder: Path) -> dict[str, Any]:
    """One payment, or one entry without one; a ledger and a bundle that verify, and agree; gives the certificate."""
    assert verify_ledger(folder / "book.db").problems == []
    assert entries(folder) == (["reserve", "commit"] if kind.guaranteed else ["unbounded"])
    checked = verify_bundle(folder / "release.bundle")
    assert checked.sound, checked.problems
    facts = dict(checked.certificate)
    with Ledger.open(folder / "book.db", create=False, read_only=True) as book:
        entry = book.history()[-1]
    assert (facts["recorded"]["seq"], facts["recorded"]["hash"]) == (entry.seq, entry.hash)
    if not kind.guaranteed:
        assert facts["artefacts"][0]["sha256"] in entry.data["what"] or kind.name == "masked table"
    elif kind.replayed:
        _require_same_answer(kind, folder, unpack(entry.data["answer"]))
    else:
        listed = [Artefact(**each) for each in facts["artefacts"]]
        assert unpack(entry.data["answer"])["artefacts"] == Artefact.of_parts("", listed).sha256
    return facts


def _require_same_answer(kind: ReleaseKind, folder: Path, said: dict[str, Any]) -> None:
    file = folder / "release.bundle" / "public" / "answer.json"
    if file.exists():
        assert {**json.loads(file.read_text()), "replayed": None} == {**said, "replayed": None}


@pytest.mark.parametrize(("kind", "step"), CASES, ids=lambda each: str(each))
def test_a_killed_run_is_taken_up_and_paid_for_once(
    kind: ReleaseKind, step: str, tmp_path: Path, killed: Callable[..., int]
) -> None:
    folder = described(kind, tmp_path)
    assert killed(kind, folder, step) == -SIGKILL
    assert verify_ledger(folder / "book.db").problems == []
    if step in PAID:
        assert entries(folder) == ["reserve"]
    journal = ReleaseJournal(folder / "journal")
    kept = journal.made.certificate["artefacts"] if journal.begun and journal.has_made else None
    said: list[str] = []
    made = run(folder, told=said.append)
    assert any("takes up a run before it" in each for each in said) is (step != "before it is begun")
    facts = require_done(kind, folder)
    if kept is not None:  # what was made before the kill is what leaves
        assert isinstance(made, HeldBundle)
        assert facts["artefacts"] == kept
    again = run(folder)  # what is done is given again
    assert isinstance(again, HeldBundle)
    assert require_done(kind, folder) == facts
    journal.clear()
    assert sorted(each.name for each in folder.glob("*journal*")) == []


@pytest.mark.parametrize("kind", [BY_NAME[name] for name in CHOSEN[:3]], ids=repr)
def test_a_run_that_is_killed_again_and_again_is_paid_for_once(
    kind: ReleaseKind, tmp_path: Path, killed: Callable[..., int]
) -> None:
    folder = described(kind, tmp_path)
    for step in JOURNAL_STEPS:
        assert killed(kind, folder, step) in (-SIGKILL, 0)  # some are behind it by then
    run(folder)
    require_done(kind, folder)


@pytest.mark.parametrize("name", CHOSEN[:3])
def test_without_a_journal_a_killed_run_is_refused_or_paid_for_again(
    name: str, tmp_path: Path, killed: Callable[..., int]
) -> None:
    """The negative control."""
    kind = BY_NAME[name]
    folder = described(kind, tmp_path)
    assert killed(kind, folder, "after it is reserved", journal="") == -SIGKILL
    if kind.replayed:
        with pytest.raises(PendingError):
            run_config(folder / "release.yaml")
        return
    run_config(folder / "release.yaml")
    assert entries(folder) == ["reserve", "reserve", "commit"]


@pytest.mark.parametrize("name", CHOSEN[1:3])
def test_without_a_journal_what_was_committed_is_lost(name: str, tmp_path: Path, killed: Callable[..., int]) -> None:
    """The negative control of what is kept before the commit."""
    kind = BY_NAME[name]
    folder = described(kind, tmp_path)
    assert killed(kind, folder, "after it is written down", journal="") == -SIGKILL
    run_config(folder / "release.yaml")
    assert entries(folder) == ["reserve", "commit"] * 2


@pytest.mark.parametrize("name", CHOSEN[:3])
def test_of_two_outputs_of_one_payment_one_leaves(name: str, tmp_path: Path, killed: Callable[..., int]) -> None:
    """A journal that was copied makes a second output; the ledger holds the digest of the one that may leave."""
    kind = BY_NAME[name]
    folder = described(kind, tmp_path)
    assert killed(kind, folder, "after it is kept") == -SIGKILL
    shutil.copytree(folder / "journal", folder / "copy")
    shutil.rmtree(folder / "copy" / "made")
    run(folder, "copy")
    facts = require_done(kind, folder)
    other = ReleaseJournal(folder / "journal").made.certificate["artefacts"]
    assert facts["artefacts"] != other
    (folder / "release.bundle").rename(folder / "gone")
    with pytest.raises(LedgerUseError, match="another answer"):
        run(folder)
    assert not (folder / "release.bundle").exists()
    assert entries(folder) == ["reserve", "commit"]


@pytest.mark.parametrize("name", ["synthetic table with a guarantee", "anonymized table"])
@pytest.mark.parametrize("step", ["after it is kept", "after the ledger is told", "before its bundle has its name"])
def test_a_stopped_run_that_goes_on_is_decided_once(
    name: str, step: str, tmp_path: Path, killed: Callable[..., int]
) -> None:
    kind, reason = BY_NAME[name], "The board has seen it."
    thresholds = {each: float(amount) for each, amount in kind.strict.items()}
    folder = described(kind, tmp_path, gate={"thresholds": thresholds})
    assert killed(kind, folder, step, go_on=reason) == -SIGKILL
    run(folder, go_on=reason)
    assert entries(folder) == (["reserve", "commit", "decision"] if kind.guaranteed else ["unbounded"])
    checked = verify_bundle(folder / "release.bundle")
    assert checked.sound
    assert checked.certificate["decision"]["reason"] == reason
