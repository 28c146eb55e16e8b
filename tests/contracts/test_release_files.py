"""What a file describes keeps the same contract: planned from public facts, run into a signed bundle, verified."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from release_kinds import KINDS, ReleaseKind, entries, people, prepare, write_config

from ziggurat.data.engines import DuckDBEngine
from ziggurat.pate import Teachers
from ziggurat.release.bundle import verify_bundle

FILES = [each for each in KINDS if each.said is not None]
GUARANTEED = [each for each in FILES if each.guaranteed]
each_kind = pytest.mark.parametrize("kind", FILES, ids=repr)
each_guaranteed = pytest.mark.parametrize("kind", GUARANTEED, ids=repr)


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_KEY", raising=False)


@pytest.fixture
def file(kind: ReleaseKind, tmp_path: Path) -> Path:
    return write_config(prepare(kind, tmp_path / "place"), kind)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that engines open, and the teachers that vote."""
    seen: list[str] = []
    real, votes = DuckDBEngine.attach, Teachers.votes
    monkeypatch.setattr(
        DuckDBEngine,
        "attach",
        lambda engine, *given: seen.append(Path(str(given[0])[:99]).name) or real(engine, *given),
    )
    monkeypatch.setattr(Teachers, "votes", lambda *given: seen.append("votes") or votes(*given))
    return seen


@each_kind
def test_a_file_is_planned_run_and_verified(kind: ReleaseKind, file: Path, command: Callable[..., Any]) -> None:
    planned = command("release", "plan", str(file))
    assert planned.code == 0, planned.err
    assert ("No row was read." in planned.out) is kind.guaranteed
    assert entries(file.parent) == []
    assert not (file.parent / "release.bundle").exists()
    made = command("release", "run", str(file))
    assert made.code == 0, made.err
    assert "This will write" in made.err
    assert entries(file.parent) == (["reserve", "commit"] if kind.guaranteed else ["unbounded"])
    checked = command("release", "verify", str(file))
    assert checked.code == 0, checked.out
    facts = verify_bundle(file.parent / "release.bundle").certificate
    assert facts["config"]["release"]["kind"] == kind.said["kind"]
    assert not {"ledger", "rehearse", "bundle"} & set(facts["config"])
    again = command("release", "run", str(file))
    assert again.code == 6
    assert "exists already" in again.err
    assert len(entries(file.parent)) == (2 if kind.guaranteed else 1)


@each_guaranteed
def test_a_plan_opens_no_table_and_says_the_same_of_an_empty_one(
    kind: ReleaseKind, file: Path, tmp_path: Path, command: Callable[..., Any], opened: list[str]
) -> None:
    rows = None if kind.name == "labels" else people().slice(0, 0)  # nobody teaches without rows
    other = write_config(prepare(kind, tmp_path / "other", rows), kind)
    said = [json.loads(command("release", "plan", str(each), "--json").out) for each in (file, other)]
    assert {each.pop("bundle") for each in said} == {str(each.parent / "release.bundle") for each in (file, other)}
    assert said[0] == said[1]
    assert set(opened) <= {"queries.parquet"}  # which are public


@each_guaranteed
def test_what_does_not_fit_opens_no_table(
    kind: ReleaseKind, tmp_path: Path, command: Callable[..., Any], opened: list[str]
) -> None:
    file = write_config(prepare(kind, tmp_path / "place", epsilon="1/1000"), kind)
    for step in ("plan", "run"):
        assert command("release", step, str(file)).code == 3
    assert set(opened) <= {"queries.parquet"}
    assert entries(file.parent) == []
    assert [each.name for each in file.parent.glob("release.*")] == ["release.yaml"]


@each_kind
def test_a_rehearsal_by_a_file_is_no_release(kind: ReleaseKind, tmp_path: Path, command: Callable[..., Any]) -> None:
    file = write_config(prepare(kind, tmp_path / "place"), kind, rehearse=5)
    made = command("release", "run", str(file))
    assert made.code == 0, made.err
    assert "it is a rehearsal and not signed" in made.out
    checked = command("release", "verify", str(file))
    assert checked.code == 1
    assert "NOT A RELEASE" in checked.out
    assert "rehearse" not in (file.parent / "release.bundle" / "public" / "certificate.json").read_text()


@pytest.mark.parametrize("kind", [each for each in FILES if each.judged], ids=repr)
def test_a_stopped_file_exits_5_and_goes_on_with_a_reason(
    kind: ReleaseKind, tmp_path: Path, command: Callable[..., Any]
) -> None:
    thresholds = {name: float(each) for name, each in kind.strict.items()}
    file = write_config(prepare(kind, tmp_path / "place"), kind, gate={"thresholds": thresholds})
    bundle, held = file.parent / "release.bundle", file.parent / "release.bundle.held"
    assert command("release", "plan", str(file)).code == (0 if kind.guaranteed else 5)
    stopped = command("release", "run", str(file))
    assert stopped.code == 5
    assert not bundle.exists()
    assert held.exists() is kind.guaranteed  # what was paid for waits; what is free is made anew
    assert entries(file.parent) == (["reserve", "commit"] if kind.guaranteed else [])
    assert command("release", "run", str(file)).code == 5
    went_on = command("release", "run", str(file), "--go-on", "The board has seen it.")
    assert went_on.code == 0, went_on.err
    assert entries(file.parent) == (["reserve", "commit", "decision"] if kind.guaranteed else ["unbounded"])
    assert verify_bundle(bundle).certificate["decision"]["reason"] == "The board has seen it."
    assert not held.exists()


@pytest.mark.parametrize("kind", [FILES[0], next(each for each in FILES if not each.guaranteed)], ids=repr)
def test_the_program_itself_plans_runs_and_verifies(kind: ReleaseKind, file: Path) -> None:
    for step in ("plan", "run", "verify"):
        asked = [sys.executable, "-c", "from ziggurat.cli import main; main()", "release", step, file.name]
        done = subprocess.run(asked, cwd=file.parent, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert "SOUND." in done.stdout
