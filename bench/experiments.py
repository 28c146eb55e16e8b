"""A thousand trivial trials through the experiment runner against a bare joblib loop over the same function.

Each side runs in a process of its own, in turn, and pays for starting its workers. The runner also names, hashes,
stores and records every trial; joblib returns a list. Run it with `python bench/experiments.py [rounds] [trials]`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORKERS = 2


def trivial(index: int, seed: int) -> dict[str, float]:
    """Do about nothing."""
    return {"value": index * 2.0 + seed % 2}


def main(rounds: int = 5, trials: int = 1000) -> None:
    sides = ("joblib", "processes", "inline", "rerun", "warm joblib", "joblib memory")
    for side in sides:
        once(side, 10)  # the first import of anything reads the disk
    turns = [{side: once(side, trials) for side in sides} for _ in range(rounds)]
    seconds = {side: [turn[side] for turn in turns] for side in sides}
    middle = {side: statistics.median(each) for side, each in seconds.items()}
    ratio = statistics.median(ours / bare for ours, bare in zip(seconds["processes"], seconds["joblib"], strict=True))
    print(f"{trials:,} trivial trials, medians of {rounds} rounds, {WORKERS} workers:")
    print(f"  joblib.Parallel, from a cold start {middle['joblib']:.3f} s")
    print(f"  runner, processes                  {middle['processes']:.3f} s, ratio {ratio:.2f} (aim: at most 2)")
    print(f"  runner, inline                     {middle['inline']:.3f} s")
    print(f"  runner, again, all cached          {middle['rerun']:.3f} s (aim: below 2)")
    print(f"  joblib.Parallel, workers warm      {middle['warm joblib']:.3f} s")
    print(f"  joblib.Memory, one process         {middle['joblib memory']:.3f} s")


def once(side: str, trials: int) -> float:
    command = [sys.executable, __file__, "--side", side, str(trials)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measured(side: str, trials: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        if side.endswith(("joblib", "memory")):
            return joblib_side(side, trials, folder)
        return runner_side(side, trials, folder)


def runner_side(side: str, trials: int, folder: str) -> float:
    from ziggurat.experiments._types import Experiment, Module
    from ziggurat.experiments.file._plan import expand
    from ziggurat.experiments.running._cache import Cache
    from ziggurat.experiments.running._run import run_plan

    sets = tuple({"index": index} for index in range(trials))
    module = Module("trial", "experiments:trivial", trials=sets, metrics=("value",))
    plan = expand(Experiment("bench", (module,), seed=7))
    cache = Cache(Path(folder))
    executor = "processes" if side == "processes" else "inline"

    def run() -> None:
        records = run_plan(plan, cache, executor=executor, workers=WORKERS, progress=False)
        assert len(records) == trials
        assert all(record.status == "done" for record in records)

    if side == "rerun":
        run()
    return timed(run)


def joblib_side(side: str, trials: int, folder: str) -> float:
    from joblib import Memory, Parallel, delayed

    from experiments import trivial as function

    def parallel() -> None:
        Parallel(n_jobs=WORKERS)(delayed(function)(index, 7) for index in range(trials))

    def remembered() -> None:
        called: Any = Memory(folder, verbose=0).cache(function)
        for index in range(trials):
            called(index, 7)

    if side == "warm joblib":
        parallel()
    return timed(remembered if side == "joblib memory" else parallel)


def timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        print(measured(sys.argv[2], int(sys.argv[3])))
    else:
        main(*map(int, sys.argv[1:3]))
