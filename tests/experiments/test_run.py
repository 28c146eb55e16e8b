"""A run does what must be done, once; failures stay alone; damage is made good."""

import io
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ziggurat.errors import ExperimentError
from ziggurat.experiments import Cache, Experiment, ExperimentPlan, Module, NodeRecord, expand, preview, run_plan
from ziggurat.experiments.running._progress import Progress
from ziggurat.experiments.running._task import PRINTED_HEAD, PRINTED_TAIL

pytestmark = pytest.mark.usefixtures("sample_steps")
Ran = Callable[[], list[str]]


def planned(*modules: Module) -> ExperimentPlan:
    return expand(Experiment("test", modules, seed=3))


def chain(journal: Path, value: int = 12, factors: tuple[float, ...] = (1.0, 2.0), **scale: Any) -> ExperimentPlan:
    """A source, one run of scale per factor, and the sum over those."""
    where = {"journal": str(journal)}
    trials = tuple({"factor": factor} for factor in factors)
    return planned(
        Module("source", "sample-source", {**where, "value": value}),
        Module("scale", "sample-scale", where, {"array": "source.array"}, trials, metrics=("total",), **scale),
        Module("gather", "sample-gather", where, {"runs": "scale.total"}, metrics=("sum",)),
    )


def misbehaving(journal: Path, *ways: str) -> ExperimentPlan:
    trials = tuple({"how": how} for how in ways)
    where = {"journal": str(journal)}
    return planned(
        Module("bad", "sample-misbehave", where, trials=trials, metrics=("value",)),
        Module("good", "sample-source", {**where, "value": 1}),
        Module("after", "sample-gather", where, {"runs": "bad.value"}),
    )


def run(plan: ExperimentPlan, cache: Cache, **options: Any) -> list[NodeRecord]:
    return run_plan(plan, cache, progress=False, **options)


def by_module(records: list[NodeRecord], module: str) -> list[NodeRecord]:
    return [record for record in records if record.module == module]


def test_every_node_has_one_record_in_plan_order(cache: Cache, journal: Path, ran: Ran) -> None:
    plan, told = chain(journal), []
    records = run(plan, cache, on_record=told.append)
    assert [record.node for record in records] == [node.id for node in plan.nodes]
    assert sorted(record.node for record in told) == sorted(node.id for node in plan.nodes)
    assert all(record.status == "done" and not record.cached for record in records)
    assert ran() == ["gather", "scale 1.0", "scale 2.0", "source 12"]
    total = sum(record.metrics["total"] for record in by_module(records, "scale"))
    assert records[-1].metrics["sum"] == pytest.approx(total)


def test_a_gathered_input_tells_parameters_and_repeats(cache: Cache, journal: Path) -> None:
    records = run(chain(journal, repeats=2), cache)
    assert cache.load(records[-1].outputs["told"]) == [
        ({"scale.factor": factor}, {"scale": repeat}) for factor in (1.0, 2.0) for repeat in (0, 1)
    ]


def test_a_second_run_runs_nothing_and_tells_the_same(cache: Cache, journal: Path, ran: Ran) -> None:
    first = run(chain(journal), cache)
    ran()
    told: list[NodeRecord] = []
    second = run(chain(journal), cache, on_record=told.append)
    assert ran() == []
    assert all(record.cached for record in second)
    assert len(told) == len(second)
    assert [(r.metrics, r.outputs, r.key, r.seconds) for r in first] == [
        (r.metrics, r.outputs, r.key, r.seconds) for r in second
    ]


def test_another_parameter_reruns_only_what_depends_on_it(cache: Cache, journal: Path, ran: Ran) -> None:
    run(chain(journal), cache)
    ran()
    records = run(chain(journal, factors=(1.0, 3.0)), cache)
    assert ran() == ["gather", "scale 3.0"]
    assert [record.cached for record in records] == [True, True, False, False]


def test_an_upstream_change_with_the_same_output_leaves_the_rest_cached(cache: Cache, journal: Path, ran: Ran) -> None:
    def plan(value: int) -> ExperimentPlan:
        whole = chain(journal, value)
        source, scale, gather = whole.experiment.modules
        return planned(source, replace(scale, inputs={"array": "source.tens"}), gather)

    run(plan(12), cache)
    ran()
    records = run(plan(13), cache)
    assert ran() == ["source 13"]
    assert [record.cached for record in records] == [False, True, True, True]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("raise", "ValueError: no such luck"),
        ("exit", "SystemExit: 3"),
        ("list", "type 'list'; return a mapping"),
        ("keys", "names must be text"),
        ("object", "cannot be stored; return JSON values"),
        ("nan", "'value' is not finite"),
        ("huge", "'value' is not finite"),
        ("text", "'value' is not a number"),
        ("true", "'value' is not a number"),
    ],
)
def test_a_failed_trial_is_recorded_and_the_rest_goes_on(cache: Cache, journal: Path, how: str, words: str) -> None:
    bad, fine, good, after = run(misbehaving(journal, how, "fine"), cache)
    assert bad.status == "failed"
    assert words in str(bad.error).splitlines()[0]
    assert len(str(bad.error).splitlines()[0]) < 2_100
    assert (fine.status, good.status, after.status) == ("done", "done", "skipped")
    assert after.error == f"Skipped because {bad.node!r} failed."


def test_a_failure_keeps_its_traceback_and_is_tried_again(cache: Cache, journal: Path, ran: Ran) -> None:
    (bad, *_) = run(misbehaving(journal, "raise"), cache)
    assert "sample_steps.py" in str(bad.error)
    assert "_task.py" not in str(bad.error)
    assert "Traceback" in cache.log(bad.key)
    ran()
    run(misbehaving(journal, "raise"), cache)
    assert ran() == ["misbehave raise"]


def test_sub_modules_of_a_failed_run_are_skipped(cache: Cache, journal: Path) -> None:
    where = {"journal": str(journal)}
    inner = Module(
        "inner",
        "sample-source",
        {**where, "value": 1},
        modules=(Module("deep", "sample-chatter", {"lines": 1}),),
    )
    outer = Module("outer", "sample-misbehave", where, trials=({"how": "raise"}, {"how": "fine"}), modules=(inner,))
    statuses = [(record.module, record.status) for record in run(planned(outer), cache)]
    assert statuses[:3] == [("outer", "failed"), ("inner", "skipped"), ("deep", "skipped")]
    assert statuses[3:] == [("outer", "done"), ("inner", "done"), ("deep", "done")]


def test_an_output_that_a_step_did_not_return_fails_what_wants_it(cache: Cache, journal: Path) -> None:
    source, scale, _ = chain(journal).experiment.modules
    records = run(planned(source, replace(scale, inputs={"array": "source.arrays"})), cache)
    assert records[1].status == "failed"
    assert "did not return 'arrays'; it returned 'array', 'tens'" in str(records[1].error)


def test_a_step_that_prints_200_megabytes_keeps_the_ends(cache: Cache, capfd: pytest.CaptureFixture[str]) -> None:
    (record,) = run(planned(Module("chatter", "sample-chatter", {"lines": 200_000})), cache)
    assert record.status == "done"
    log = cache.log(record.key)
    assert log.startswith("the beginning\nxxx")
    assert log.endswith("the end\n")
    assert "bytes are left out" in log
    assert PRINTED_HEAD + PRINTED_TAIL <= len(log) < PRINTED_HEAD + PRINTED_TAIL + 100
    assert cache.size() < 1_000_000
    assert capfd.readouterr() == ("", "")


def test_a_step_cannot_change_the_plan(cache: Cache) -> None:
    plan = planned(Module("spoil", "sample-spoil", {"numbers": [1, 2]}, repeats=3, metrics=("count",)))
    assert [record.metrics["count"] for record in run(plan, cache)] == [3.0, 3.0, 3.0]
    assert plan.nodes[0].parameters == {"numbers": [1, 2]}


def largest_file(cache: Cache) -> Path:
    return max(
        (each for each in cache.objects.folder.glob("*/*") if each.is_file()), key=lambda path: path.stat().st_size
    )


@pytest.mark.parametrize("executor", ["inline", "processes"])
def test_a_corrupted_entry_is_reported_and_recomputed(
    cache: Cache, journal: Path, ran: Ran, executor: str, caplog: pytest.LogCaptureFixture
) -> None:
    run(chain(journal, factors=(1.0,), keep=("total",)), cache)
    ran()
    path = largest_file(cache)
    path.write_bytes(path.read_bytes()[:-8] + b"damaged!")
    with caplog.at_level(logging.WARNING):
        records = run(chain(journal, factors=(1.0, 5.0), keep=("total",)), cache, executor=executor, workers=1)
    assert ran() == ["gather", "scale 5.0", "source 12"]
    assert all(record.status == "done" for record in records)
    assert [record.cached for record in records] == [False, True, False, False]
    assert [entry.getMessage() for entry in caplog.records] == [
        "A stored array value did not match its hash and was removed. Its run ('source#0') is made again."
    ]
    assert cache.load(records[0].outputs["array"])[0] == 12.0


def test_a_truncated_entry_that_nothing_reads_is_recomputed(cache: Cache, journal: Path, ran: Ran) -> None:
    run(chain(journal, factors=(2.0, 3.0)), cache)
    ran()
    for path in cache.objects.folder.glob("*/*"):
        path.write_bytes(path.read_bytes()[:100])
    records = run(chain(journal, factors=(2.0, 3.0)), cache)
    assert ran() == ["scale 2.0", "scale 3.0", "source 12"]
    assert [record.cached for record in records] == [False, False, False, True]


def test_outputs_that_are_not_kept_go_and_their_successors_stay_cached(cache: Cache, journal: Path, ran: Ran) -> None:
    def plan(factors: tuple[float, ...]) -> ExperimentPlan:
        source, scale, gather = chain(journal, factors=factors, keep=("total",)).experiment.modules
        return planned(replace(source, keep=()), scale, gather)

    records = run(plan((1.0, 2.0)), cache)
    assert not [each for each in cache.objects.folder.glob("*/*") if each.is_file()]
    assert records[0].outputs["array"].digest
    ran()
    assert all(record.cached for record in run(plan((1.0, 2.0)), cache))
    assert ran() == []
    run(plan((1.0, 4.0)), cache)
    assert ran() == ["gather", "scale 4.0", "source 12"]
    assert not [each for each in cache.objects.folder.glob("*/*") if each.is_file()]


def test_what_one_experiment_keeps_another_does_not_remove(cache: Cache, journal: Path) -> None:
    (kept, *_) = run(chain(journal), cache)
    source, scale, _ = chain(journal, factors=(7.0,)).experiment.modules
    run(planned(replace(source, keep=()), scale), cache)
    np.testing.assert_array_equal(cache.load(kept.outputs["array"]), np.full(2000, 12.0))


def test_many_missing_inputs_of_one_node_are_all_made_again(cache: Cache, journal: Path, ran: Ran) -> None:
    source, scale, gather = chain(journal, factors=tuple(map(float, range(2, 10))), keep=()).experiment.modules

    def plan(told: str) -> ExperimentPlan:
        last = replace(gather, inputs={"runs": "scale.array"}, parameters={"journal": told}, metrics=())
        return planned(source, scale, last)

    run(plan(str(journal)), cache)
    ran()
    records = run(plan(str(journal) + ".other"), cache)
    assert len(ran()) == 8
    assert all(record.status == "done" for record in records)


def test_a_long_chain_of_cached_files_is_settled(cache: Cache, journal: Path, ran: Ran) -> None:
    where = {"journal": str(journal)}
    links = (Module(f"m{n}", "sample-scale", where, {"array": f"m{n - 1}.array"}) for n in range(1, 400))
    modules = [Module("m0", "sample-source", {**where, "value": 1}), *links]
    run(planned(*modules), cache)
    ran()
    records = run(planned(*modules), cache)
    assert ran() == []
    assert len(records) == 400


def test_a_preview_tells_what_is_cached_due_and_unknown(cache: Cache, journal: Path, ran: Ran) -> None:
    before = preview(chain(journal), cache)
    assert (before.total, before.cached, before.due, before.unknown) == (4, 0, 1, 3)
    run(chain(journal), cache)
    ran()
    after = preview(chain(journal, factors=(1.0, 9.0)), cache)
    assert (after.cached, after.due, after.unknown) == (2, 1, 1)
    assert (after.modules["scale"].total, after.modules["scale"].cached) == (2, 1)
    assert ran() == []


def test_an_empty_plan_gives_no_records(cache: Cache) -> None:
    assert run(ExperimentPlan(Experiment("none", ()), ()), cache) == []


def test_an_unknown_step_is_refused_before_anything_runs(cache: Cache, journal: Path, ran: Ran) -> None:
    plan = chain(journal)
    broken = replace(plan.nodes[-1], module=replace(plan.nodes[-1].module, step="sample-gone"))
    with pytest.raises(ExperimentError, match="gone"):
        run(replace(plan, nodes=(*plan.nodes[:-1], broken)), cache)
    assert ran() == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_live_tree_shows_modules_counts_and_time_left(cache: Cache, journal: Path) -> None:
    plan = chain(journal)
    records = [replace(record, seconds=30.0) for record in run(plan, cache)]
    with Progress(plan, 2, stream=(screen := Terminal())) as progress:
        for record in records[:2]:
            progress.show(record)
        assert progress.seconds_left() == pytest.approx(30.0)
        progress.show(replace(records[2], status="failed"))
    assert "scale  2/2, 1 failed" in screen.getvalue()
    assert "3 of 4 runs" in screen.getvalue()
    assert "about 15 s left" in screen.getvalue()


def test_away_from_a_terminal_a_long_run_writes_a_line_per_tenth(
    cache: Cache, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = chain(journal, factors=tuple(map(float, range(38))))
    records = run(plan, cache)
    now = time.monotonic()
    with Progress(plan, 1, stream=(log := io.StringIO())) as progress:
        progress.show(records[0])
        assert log.getvalue() == ""
        monkeypatch.setattr(time, "monotonic", lambda: now + 60)
        for record in records:
            progress.show(record)
    assert len(log.getvalue().splitlines()) == 10
