"""The same plan gives the same numbers wherever it runs; a worker that dies takes only its own trial with it."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import ExperimentError, MissingExtraError
from ziggurat.experiments import Cache, Experiment, ExperimentPlan, Module, NodeRecord, expand, run_plan, take_steps
from ziggurat.experiments.running._executors import open_task_pool

pytestmark = pytest.mark.usefixtures("sample_steps")
Ran = Callable[[], list[str]]


def noisy(journal: Path) -> ExperimentPlan:
    """Nested trials and repeats whose numbers come from seeds."""
    where = {"journal": str(journal)}
    inner = Module("inner", "sample-scale", where, {"array": "outer.array"}, metrics=("total",), repeats=2)
    trials = ({"factor": 0.5}, {"factor": 2.0})
    outer = Module("outer", "sample-scale", where, {"array": "source.array"}, trials, modules=(inner,))
    source = Module("source", "sample-source", {**where, "value": 12})
    last = Module("last", "sample-gather", where, {"runs": "inner.total"}, metrics=("sum",))
    return expand(Experiment("noisy", (source, outer, last), seed=11))


def facts(records: list[NodeRecord]) -> list[Any]:
    return [(r.node, r.status, r.metrics, r.key, {n: s.digest for n, s in r.outputs.items()}) for r in records]


def run(plan: ExperimentPlan, cache: Cache, name: str) -> list[NodeRecord]:
    return run_plan(plan, cache, executor=name, workers=2, progress=False)


def test_numbers_are_the_same_as_in_process(tmp_path: Path, journal: Path, ran: Ran) -> None:
    compare_with_inline("processes", tmp_path, journal, ran)


@pytest.mark.usefixtures("ray_pool")
def test_numbers_on_ray_are_the_same_as_in_process(tmp_path: Path, journal: Path, ran: Ran) -> None:
    compare_with_inline("ray", tmp_path, journal, ran)


def compare_with_inline(name: str, tmp_path: Path, journal: Path, ran: Ran) -> None:
    plan = noisy(journal)
    inline = run(plan, Cache(tmp_path / "inline"), "inline")
    executions = ran()
    other = run(plan, Cache(tmp_path / name), name)
    assert facts(other) == facts(inline)
    assert ran() == executions
    assert all(record.status == "done" for record in other)
    assert all(record.cached for record in run(plan, Cache(tmp_path / name), "inline"))


def test_seeds_do_change_the_numbers(tmp_path: Path, journal: Path) -> None:
    records = run(noisy(journal), Cache(tmp_path / "cache"), "inline")
    totals = [record.metrics["total"] for record in records if record.module == "inner"]
    assert len(set(totals)) == len(totals)


def test_a_killed_worker_is_a_failed_trial_and_the_rest_goes_on(cache: Cache, journal: Path) -> None:
    ways = ("fine", "kill", *(f"fine{number}" for number in range(30)), "raise")
    trials = tuple({"how": how} for how in ways)
    module = Module("m", "sample-misbehave", {"journal": str(journal)}, trials=trials, metrics=("value",))
    records = run(expand(Experiment("kill", (module,))), cache, "processes")
    failed = {record.varied["m.how"]: str(record.error) for record in records if record.status == "failed"}
    assert set(failed) == {"kill", "raise"}
    assert failed["kill"].startswith("The worker process was killed")


def test_a_step_that_workers_cannot_import_fails_in_a_sentence(cache: Cache, tmp_path: Path) -> None:
    text = "from ziggurat.experiments import step\n@step('vanishing')\ndef f():\n    return {'a': 1}\n"
    (tmp_path / "vanishing.py").write_text(text)
    take_steps([tmp_path / "vanishing.py"])
    (tmp_path / "vanishing.py").unlink()
    plan = expand(Experiment("gone", (Module("m", "vanishing", repeats=3),)))
    records = run(plan, cache, "processes")
    assert all("cannot be sent to another process" in str(record.error) for record in records)


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_the_number_of_workers_must_be_positive(workers: Any) -> None:
    with pytest.raises(ExperimentError, match="positive"):
        open_task_pool("processes", workers)


def test_an_unknown_executor_is_refused() -> None:
    with pytest.raises(ExperimentError, match="'inline', 'processes' or 'ray'"):
        open_task_pool("dask")


def test_a_missing_ray_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"ziggurat\[ray\]"):
        open_task_pool("ray")


def test_small_tasks_travel_together_and_none_is_lost(cache: Cache, journal: Path, ran: Ran) -> None:
    trials = tuple({"value": value} for value in range(300))
    module = Module("m", "sample-source", {"journal": str(journal), "size": 1}, trials=trials)
    records = run(expand(Experiment("many", (module,))), cache, "processes")
    assert all(record.status == "done" for record in records)
    assert ran() == sorted(f"source {value}" for value in range(300))
    assert len({record.key for record in records}) == 300
