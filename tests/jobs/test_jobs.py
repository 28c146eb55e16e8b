"""One contract for every executor: each job ends once, with its result or with its error, and can be called off."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "sample"))  # workers find it there, too

import sample_jobs

from ziggurat.errors import MissingExtraError, ParameterError
from ziggurat.jobs import EXECUTORS, Executor, LostWorkerError, UnsendableJobError, open_executor, run_jobs

HERE = ("inline", "threads", "processes")
ELSEWHERE = ("processes",)


def drain(pool: Executor) -> dict[Any, Any]:
    ended = {}
    while pool.busy:
        for each in pool.wait():
            assert each.job not in ended
            ended[each.job] = each.error or each.result
    return ended


@pytest.mark.parametrize("name", HERE)
def test_every_task_has_one_result_under_its_place(name: str) -> None:
    tasks = [(number,) for number in range(12)]
    assert dict(run_jobs(sample_jobs.half, tasks, executor=name, workers=3)) == {
        number: number / 2 for number in range(12)
    }
    assert list(run_jobs(sample_jobs.half, [], executor=name)) == []


@pytest.mark.parametrize("name", HERE)
def test_an_error_is_that_of_the_job_and_names_it(name: str) -> None:
    tasks = [(number,) for number in (1, 13, 2)]
    with pytest.raises(ValueError, match="thirteen") as raised:
        list(run_jobs(sample_jobs.half, tasks, executor=name, workers=1, called="trial"))
    assert "This happened in trial 2 of 3." in raised.value.__notes__


@pytest.mark.parametrize("name", HERE)
def test_an_error_of_one_job_leaves_the_others(name: str) -> None:
    with open_executor(name, 2) as pool:
        for number in (12, 13, 14):
            pool.submit(f"job {number}", sample_jobs.half, number)
        ended = drain(pool)
    assert (ended["job 12"], ended["job 14"], str(ended["job 13"])) == (6.0, 7.0, "thirteen")


def test_jobs_run_where_they_are_said_to_run() -> None:
    (_, inline), (_, thread), (_, process) = (
        next(run_jobs(sample_jobs.who, [()], executor=name, workers=1)) for name in HERE
    )
    assert inline == sample_jobs.who()
    assert thread[0] == os.getpid()
    assert thread[1] != sample_jobs.who()[1]
    assert process[0] != os.getpid()


def is_alive(process: int) -> bool:
    """Whether a process runs; one that nobody has asked about yet has ended all the same."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_whoever_stops_asking_ends_the_workers(tmp_path: Path) -> None:
    tasks = [(str(tmp_path), 0, 0.0), *((str(tmp_path), number, 600.0) for number in range(1, 5))]
    results = run_jobs(sample_jobs.mark_and_sleep, tasks, executor="processes", workers=2)
    assert next(results) == (0, 0)
    results.close()
    workers = {int(file.name.partition("-")[2]) for file in tmp_path.iterdir()}
    assert workers
    assert not any(map(is_alive, workers))
    assert len(list(tmp_path.iterdir())) <= 3  # what had not begun never does


def test_threads_that_are_called_off_begin_nothing_more(tmp_path: Path) -> None:
    def interrupt() -> None:
        with open_executor("threads", 1) as pool:
            for number in range(3):
                pool.submit(number, sample_jobs.mark_and_sleep, str(tmp_path), number, 3.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert len(list(tmp_path.iterdir())) <= 1


def test_a_killed_worker_takes_only_its_own_job_with_it() -> None:
    with open_executor("processes", 2) as pool:
        for job, function, argument in (
            ("good", sample_jobs.half, 4),
            ("bad", os._exit, 3),
            ("also good", sample_jobs.half, 6),
        ):
            pool.submit(job, function, argument)
        ended = drain(pool)
        pool.submit("later", sample_jobs.half, 8)  # the executor is as good as before
        assert drain(pool) == {"later": 4.0}
    assert isinstance(ended.pop("bad"), LostWorkerError)
    assert ended == {"good": 2.0, "also good": 3.0}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_cannot_be_sent_is_said(name: str) -> None:
    with pytest.raises(UnsendableJobError, match="a module that workers can import") as raised:
        list(run_jobs(lambda: 0, [()], executor=name, workers=1))
    assert raised.value.job == "job 1 of 1"
    with pytest.raises(UnsendableJobError):
        list(run_jobs(sample_jobs.give_a_function, [()], executor=name, workers=1))


def test_ray_does_the_same(ray_pool: Executor) -> None:
    ray_pool.submit("good", sample_jobs.half, 4)
    ray_pool.submit("bad", sample_jobs.half, 13)
    ray_pool.submit("by value", lambda: 5)  # what only this process knows travels with the job
    ray_pool.submit("function", sample_jobs.give_a_function)
    ray_pool.submit("killed", os._exit, 3)
    ended = drain(ray_pool)
    assert (ended["good"], str(ended["bad"]), ended["by value"]) == (2.0, "thirteen", 5)
    assert isinstance(ended["function"], UnsendableJobError)
    assert isinstance(ended["killed"], LostWorkerError)


def test_a_missing_ray_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"ziggurat\[ray\]"):
        open_executor("ray")


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_the_number_of_workers_must_be_positive(workers: Any) -> None:
    with pytest.raises(ParameterError, match="positive"):
        open_executor("threads", workers)


def test_an_unknown_executor_is_refused() -> None:
    assert EXECUTORS == ("inline", "threads", "processes", "ray")
    with pytest.raises(ParameterError, match="'inline', 'threads', 'processes' or 'ray'"):
        list(run_jobs(sample_jobs.half, [(1,)], executor="dask"))
