"""What synthetic trajectories kept, beside the judge's program: the same figures in one run, with the ratio.

Run `ZIGGURAT_DATA=... python bench/mobility_utility.py`; the judge's program lies beside that folder, in
judges/mobility.py, and compares person-days of Foursquare with others of whose visits a third were moved.
Times are of the processor, after the first call, which compiles.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ziggurat.data import Schema, read
from ziggurat.sequences.mobility import (
    Calendar,
    Trajectories,
    VisitLayout,
    read_ground,
    read_trajectories,
)
from ziggurat.utility.mobility import ComparedTrajectories, compare_trajectories, render_before_and_after

FOLDER = Path(os.environ.get("ZIGGURAT_DATA") or "none").resolve()
_COLUMNS = {"user": {"kind": "integer"}, "poi": {"kind": "integer"}, "minute": {"kind": "integer"}}


def _read_days() -> Trajectories:
    ground = read_ground(FOLDER / "foursquare_nyc_pois.parquet", "poi", "lat", "lon")
    schema = Schema.from_dict({"unit": {"person": "user"}, "columns": _COLUMNS})
    visits = read(FOLDER / "foursquare_nyc_visits.parquet", schema)
    layout = VisitLayout("user", "minute", "poi", least=2, calendar=Calendar("2012-04-03 14:00"))
    return read_trajectories(visits, layout, ground)


def _spoil(days: Trajectories) -> Trajectories:
    draw = np.random.default_rng(1)
    codes = np.where(
        draw.random(len(days.codes)) < 1 / 3, draw.integers(0, days.ground.size, len(days.codes)), days.codes
    )
    return Trajectories(days.domain, codes, days.offsets, None, days.owners, days.minutes)


def _judge(original: Trajectories, synthetic: Trajectories) -> list[float]:
    spec: Any = importlib.util.spec_from_file_location("judge", FOLDER.parent / "judges" / "mobility.py")
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    lists = [np.split(each.points(), each.offsets[1:-1]) for each in (original, synthetic)]
    return list(judge.Judge(lists[0]).score(lists[1]).values())


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _in_order(found: ComparedTrajectories) -> list[float]:
    plane = [*found.query_error.values(), found.hotspots, found.ranks, found.patterns, found.support_error]
    return [*plane, *found.trips.values(), found.diameter, found.length]


def main() -> None:
    days = _read_days()
    other = _spoil(days)
    compare_trajectories(days, other)
    found, ours = min(
        (_timed(lambda: compare_trajectories(days, other, box="visited")) for _ in range(3)), key=lambda each: each[1]
    )
    told, theirs = _timed(lambda: _judge(days, other))
    apart = np.abs(np.array(told) - _in_order(found)).max()
    page = _timed(lambda: render_before_and_after(days, other))[1]
    print(f"{len(days):,} trajectories, {len(days.codes):,} visits; {len(told)} figures differ by at most {apart:.1e}")
    print(
        f"judge {theirs:.2f} s, ours {ours:.2f} s for {len(found.measures)} figures: {theirs / ours:.0f} times as fast"
    )
    print(f"the page before and after: {page:.1f} s")


if __name__ == "__main__":
    main()
