"""A run that was killed, interrupted or stopped by a full disk goes on where it was; nothing stored is lost."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ziggurat.experiments import Cache, Experiment, ExperimentPlan, Module, expand, run_plan

pytestmark = pytest.mark.usefixtures("sample_steps")
Ran = Callable[[], list[str]]

SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_resume import big_plan, slow_plan
from ziggurat.errors import ArtefactError
from ziggurat.experiments import take_steps
from ziggurat.experiments.running._cache import Cache
from ziggurat.experiments.running._run import run_plan

take_steps([sys.argv[2]])
if __name__ == "__main__":
    kind, folder, journal, executor = sys.argv[3:]
    plan = slow_plan(Path(journal)) if kind == "slow" else big_plan()
    try:
        run_plan(plan, Cache(folder), executor=executor, workers=2)
    except ArtefactError as error:
        print(error)
        sys.exit(7)
    except KeyboardInterrupt:
        sys.exit(130)
"""


def slow_plan(journal: Path) -> ExperimentPlan:
    where = {"journal": str(journal)}
    trials = tuple({"factor": float(number)} for number in range(20))
    scale = Module("scale", "sample-scale", {**where, "wait": 0.3}, {"array": "source.array"}, trials)
    return expand(Experiment("slow", (Module("source", "sample-source", {**where, "value": 12}), scale)))


def big_plan() -> ExperimentPlan:
    trials = tuple({"index": index, "size": 20_000 if index < 5 else 400_000} for index in range(8))
    return expand(Experiment("big", (Module("big", "sample-big", trials=trials),)))


def started(kind: str, tmp_path: Path, executor: str, limit: int | None = None) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    here = str(Path(__file__).parent)

    def prepare() -> None:
        # Whoever runs the tests in the background has them, and all they start, ignore Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, str(script), here, f"{here}/sample/sample_steps.py", kind]
    return subprocess.Popen(
        [*command, str(tmp_path / "cache"), str(tmp_path / "journal.txt"), executor],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    )


def wait_for_lines(journal: Path, count: int) -> None:
    for _ in range(2400):
        if journal.exists() and len(journal.read_text().splitlines()) >= count:
            return
        time.sleep(0.05)
    pytest.fail("the run did not get going")


@pytest.mark.parametrize(("executor", "under_way"), [("inline", 1), ("processes", 2)])
def test_after_sigkill_only_the_rest_runs(
    tmp_path: Path, journal: Path, ran: Ran, executor: str, under_way: int
) -> None:
    process = started("slow", tmp_path, executor)
    wait_for_lines(journal, 8)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert left_over(process.pid) == ""
    before = ran()
    plan = slow_plan(journal)
    records = run_plan(plan, Cache(tmp_path / "cache"), progress=False)
    again = ran()
    assert 8 <= len(before) < 21
    assert len(before) + len(again) <= 21 + under_way
    assert {*before, *again} == {"source 12", *(f"scale {float(number)}" for number in range(20))}
    assert sum(record.cached for record in records) == 21 - len(again)
    assert all(record.status == "done" for record in records)


def left_over(session: int) -> str:
    """What still runs of a process and its children, after a moment in which those that end may end."""
    listed = ""
    for _ in range(600):
        listed = subprocess.run(["ps", "-o", "args=", "-s", str(session)], capture_output=True, text=True).stdout
        if not listed:
            break
        time.sleep(0.05)
    return listed


@pytest.mark.parametrize("executor", ["inline", "processes"])
def test_after_ctrl_c_it_tells_what_is_kept_and_leaves_no_process(
    tmp_path: Path, journal: Path, ran: Ran, executor: str
) -> None:
    process = started("slow", tmp_path, executor)
    wait_for_lines(journal, 6)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "of 21 runs are kept; run again to go on with the rest." in errors
    assert "Traceback" not in errors
    assert left_over(process.pid) == ""
    kept = int(errors.split("Interrupted: ")[1].split()[0])
    ran()
    run_plan(slow_plan(journal), Cache(tmp_path / "cache"), progress=False)
    assert len(ran()) == 21 - kept


@pytest.mark.parametrize(("executor", "least"), [("inline", 5), ("processes", 1)])
def test_a_full_disk_stops_the_run_in_a_sentence_and_what_was_stored_stays(
    tmp_path: Path, executor: str, least: int
) -> None:
    process = started("big", tmp_path, executor, limit=200_000)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 7, errors
    assert output.startswith("The disk is full, so ")
    assert output.endswith("of 8 runs are kept).\n")
    cache = Cache(tmp_path / "cache")
    assert not list((cache.objects.folder / "tmp").iterdir())
    records = run_plan(big_plan(), cache, progress=False)
    assert all(record.status == "done" for record in records)
    assert sum(record.cached for record in records) == int(output.split("(")[1].split()[0]) >= least
    assert all(cache.load(record.outputs["data"]) for record in records)
