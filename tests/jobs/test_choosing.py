"""Which executor the work gets: told by sizes and an injected clock, never by how long a test takes."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "sample"))

import sample_jobs

from ziggurat.jobs import ExecutorChoice, RunningRay, _opening, choose_executor, run_jobs

NEAR, FAR = RunningRay(2, connected=True), RunningRay(40, connected=False)


@pytest.mark.parametrize(
    ("jobs", "seconds", "ray", "name"),
    [
        (100, 10.0, None, "threads"),  # nothing is started for the sake of speed
        (100, 0.01, NEAR, "threads"),  # small teachers: sending takes longer than training
        (100, 10.0, NEAR, "threads"),  # as many processors there as here
        (100, 10.0, FAR, "ray"),
        (2, 1.0, FAR, "threads"),  # over before Ray is reached
    ],
)
def test_ray_is_chosen_if_it_runs_and_the_work_is_worth_the_way(
    jobs: int, seconds: float, ray: RunningRay | None, name: str
) -> None:
    assert choose_executor(jobs, seconds, 2, ray).name == name


def choices_of(monkeypatch: pytest.MonkeyPatch, ray: RunningRay | None, took: float, **options: Any) -> Any:
    """The choice for six jobs, of which the first took so long by the clock; Ray is stood in for by threads."""
    opened, told, times = [], [], iter((0.0, took))
    real = _opening.open_executor

    def open_executor(name: str, workers: int, *, gpus: int) -> Any:
        opened.append(name)
        return real("threads" if name == "ray" else name, workers, gpus=gpus)

    monkeypatch.setattr(_opening, "find_ray", lambda: ray)
    monkeypatch.setattr(_opening, "open_executor", open_executor)
    tasks = [(number,) for number in range(6)]
    results = dict(run_jobs(sample_jobs.half, tasks, told=told.append, clock=lambda: next(times), **options))
    assert results == {number: number / 2 for number in range(6)}
    (choice,) = told
    return opened, choice


def test_without_ray_nothing_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, choice = choices_of(monkeypatch, None, 0.0, executor="auto")
    assert (opened, choice.name) == (["threads"], "threads")
    assert "Ray does not run" in str(choice)


def test_the_first_job_says_what_the_others_take(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, choice = choices_of(monkeypatch, FAR, 60.0, executor="auto", workers=2)
    assert (opened, choice.name) == (["inline", "ray"], "ray")
    assert "5 jobs of about 60 s take about 1.5e+02 s here and 65 s on Ray" in choice.reason
    opened, choice = choices_of(monkeypatch, FAR, 0.01, executor="auto", workers=2)
    assert (opened, choice.name) == (["inline", "threads"], "threads")


def test_what_the_user_says_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, ray in (("ray", None), ("inline", FAR), ("threads", FAR)):
        opened, choice = choices_of(monkeypatch, ray, 60.0, executor=name)
        assert (opened, choice) == ([name], ExecutorChoice(name, "as you said"))


def test_jobs_that_cannot_be_sent_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_opening, "find_ray", lambda: FAR)
    told: list[ExecutorChoice] = []
    assert dict(run_jobs(lambda n: n, [(1,), (2,)], executor="auto", told=told.append)) == {0: 1, 1: 2}
    assert (told[0].name, "cannot be sent" in told[0].reason) == ("threads", True)


def test_an_error_names_its_job_also_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_opening, "find_ray", lambda: NEAR)
    with pytest.raises(ValueError, match="thirteen") as raised:
        list(run_jobs(sample_jobs.half, [(1,), (2,), (13,)], executor="auto", workers=1))
    assert "This happened in job 3 of 3." in raised.value.__notes__
