"""Whoever kills a release, at whichever step, leaves a ledger that has counted enough, and nothing half-written.

Processes are killed by SIGKILL at a step that they reach, not after a time; see `release_kills`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGKILL

import pytest
from release_kills import STEPS
from release_kinds import BY_NAME, KINDS, Bench, ReleaseKind, entries, prepare, write_config

from ziggurat.errors import DataError, GateError, PendingError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.release.bundle import verify_bundle
from ziggurat.release.config import run_config

# One worker: before the first kill, the process that is forked makes one release of every kind.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kills")]

HERE = Path(__file__).parent
HELD = "while a stopped release is put aside"
CLEARED = "before a release that was taken up is cleared away"
# What the ledger says afterwards, with a guarantee and without one; None: the step is not reached.
LEFT: dict[str, tuple[list[str], list[str] | None]] = {
    "after it is reserved": (["reserve"], None),
    "while it is made": (["reserve"], []),
    "before it is written down": (["reserve"], []),
    "after it is written down": (["reserve", "commit"], ["unbounded"]),
    "while the bundle is written": (["reserve", "commit"], ["unbounded"]),
    "before the bundle has its name": (["reserve", "commit"], ["unbounded"]),
    "after the bundle has its name": (["reserve", "commit"], ["unbounded"]),
}
CASES = [(kind, step) for kind in KINDS for step, left in LEFT.items() if left[not kind.guaranteed] is not None]


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_KEY", raising=False)


@pytest.fixture(scope="module")
def killed() -> Iterator[Callable[..., int]]:
    """Makes a release in a process of its own that ends at a step; gives its exit code."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    server = subprocess.Popen([sys.executable, str(HERE / "release_kills.py")], **pipes)

    def run(kind: ReleaseKind, folder: Path, step: str, by_file: bool = False, go_on: str = "") -> int:
        asked = {"kind": kind.name, "folder": str(folder), "step": step, "by_file": by_file, "go_on": go_on}
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        return int(server.stdout.readline())

    yield run
    server.stdin.close()
    server.wait()


def shown(folder: Path) -> list[str]:
    """What anybody finds in a folder besides what was there before."""
    before = ("book.db", "clinic.", "queries.", "teachers", "brought.", "others.", "settings", "release.yaml")
    return sorted(each.name for each in folder.iterdir() if not each.name.startswith((".", *before)))


@pytest.mark.parametrize(("kind", "step"), CASES, ids=lambda each: str(each))
def test_a_killed_release_has_counted_enough_and_left_nothing_half_done(
    kind: ReleaseKind, step: str, tmp_path: Path, killed: Callable[..., int]
) -> None:
    folder = prepare(kind, tmp_path / "place")
    assert killed(kind, folder, step) == -SIGKILL
    assert verify_ledger(folder / "book.db").problems == []
    said = LEFT[step][not kind.guaranteed]
    assert entries(folder) == said
    if step == "after the bundle has its name":
        assert shown(folder) == ["out"]
        assert verify_bundle(folder / "out").sound
    else:
        assert shown(folder) == []
    _require_a_second_run(kind, folder, said)


def _require_a_second_run(kind: ReleaseKind, folder: Path, said: list[str]) -> None:
    """What was answered is given again where the kind is; what was not is waited for, or given up by the steward."""
    with Bench(kind, folder) as bench:
        if said == ["reserve"] and kind.replayed:
            with pytest.raises(PendingError):
                bench.purse.release(bench.plan())
            bench.ledger.abandon(4)
        made = bench.purse.release(bench.plan())
        assert made.replayed is (kind.replayed and said == ["reserve", "commit"])
        bundle = made.bundle(folder / "second")
    assert verify_bundle(bundle).sound
    assert verify_ledger(folder / "book.db").problems == []
    paid = entries(folder).count("reserve")
    assert paid == kind.guaranteed * (1 if made.replayed else said.count("reserve") + 1)


def test_every_step_is_one_of_the_contract() -> None:
    assert set(STEPS) == {*LEFT, HELD, CLEARED}


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A file that describes a release with a guarantee, whose gate it cannot pass."""
    kind = BY_NAME["synthetic table with a guarantee"]
    folder = prepare(kind, tmp_path / "place")
    write_config(folder, kind, gate={"thresholds": {"exact copies": 0}})
    return folder


def test_a_stopped_release_is_put_aside_whole_or_not_at_all(stopped: Path, killed: Callable[..., int]) -> None:
    kind = BY_NAME["synthetic table with a guarantee"]
    assert killed(kind, stopped, HELD, by_file=True) == -SIGKILL
    assert shown(stopped) == []
    with pytest.raises(GateError, match="kept in"):  # it is paid for again: its noise is new
        run_config(stopped / "release.yaml")
    assert shown(stopped) == ["release.bundle.held"]
    assert entries(stopped) == ["reserve", "commit"] * 2


def test_a_release_that_was_taken_up_is_not_taken_up_twice(stopped: Path, killed: Callable[..., int]) -> None:
    kind = BY_NAME["synthetic table with a guarantee"]
    with pytest.raises(GateError):
        run_config(stopped / "release.yaml")
    assert killed(kind, stopped, CLEARED, by_file=True, go_on="It was seen.") == -SIGKILL
    assert verify_bundle(stopped / "release.bundle").sound
    with pytest.raises(DataError, match="exists already"):
        run_config(stopped / "release.yaml", go_on="It was seen.")
    with Ledger.open(stopped / "book.db", create=False) as book:
        assert [each.kind for each in book.history()][3:] == ["reserve", "commit", "decision"]
