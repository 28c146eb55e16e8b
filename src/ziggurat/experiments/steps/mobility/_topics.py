"""`top-place`, `topic-spread`, `hour-share` and `topic-hours`: what communities look like on a map and on a clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.mobility._data import unpack
from ziggurat.randomness import seeded

_HOURS, _TOP, _DRAWS, _NINE = 24, 10, 500, 9


@step("top-place", outputs=("longitude", "latitude", "probability"))
def top_place(train: Mapping[str, Any], model: Mapping[str, Any], *, topic: int, rank: int) -> dict[str, Any]:
    """Say where a community's place of some rank lies: rank 0 is the most likely one."""
    points, box = unpack(train).ground.require_points()
    place = _most_likely(model["places"][topic])[rank]
    latitude, longitude = box.to_degrees(points[place])
    return {
        "longitude": float(longitude),
        "latitude": float(latitude),
        "probability": float(model["places"][topic][place]),
    }


@step("topic-spread", outputs=("spread", "spread_by_chance", "probability"))
def topic_spread(train: Mapping[str, Any], model: Mapping[str, Any], *, topic: int, seed: int = 0) -> dict[str, Any]:
    """Say how far apart a community's ten most likely places lie: whether a topic is a part of the city.

    Returns
    -------
    dict
        Kilometres from the middle of the ten places, on average; the same of ten places drawn in proportion to
        everybody's visits; and how likely the ten are together.
    """
    trajectories = unpack(train)
    points = trajectories.ground.require_points()[0]
    draw = seeded(seed).simulation()
    shares = np.bincount(trajectories.codes, minlength=len(points)) / len(trajectories.codes)
    chance = [
        _spread(points[draw.choice(len(points), _TOP, replace=False, p=shares)])
        for _ in range(_DRAWS)
    ]  # fmt: skip
    top = _most_likely(model["places"][topic])
    return {
        "spread": _spread(points[top]),
        "spread_by_chance": float(np.mean(chance)),
        "probability": float(model["places"][topic][top].sum()),
    }


@step("hour-share", outputs=("share",))
def hour_share(train: Mapping[str, Any], model: Mapping[str, Any], *, topic: int | str, hour: int) -> dict[str, Any]:
    """The share of an hour in a community's visits, in percent to one decimal; those of topic 'all' are everybody's."""
    shares = _overall(train) if topic == "all" else model["hours"][topic]
    return {"share": round(100 * float(shares[hour]), 1)}


@step("topic-hours", outputs=("before_nine", "before_nine_overall", "morning", "evening", "unlike", "weight"))
def topic_hours(
    train: Mapping[str, Any], model: Mapping[str, Any], memberships: npt.NDArray[np.float64], *, topic: int
) -> dict[str, Any]:
    """Describe the hours of a community.

    Returns
    -------
    dict
        The share of its visits from 5 to 9 o'clock and that of all visits; the hour of most visits before and after
        13 o'clock; `unlike`, the share of visits that would have to be at another hour for it to be like everybody
        (total variation); and its `weight`, the mean share of the community in people's visits.
    """
    hours, overall = np.asarray(model["hours"][topic]), _overall(train)
    noon = 13
    return {
        "before_nine": float(hours[5:_NINE].sum()),
        "before_nine_overall": float(overall[5:_NINE].sum()),
        "morning": int(hours[4:noon].argmax()) + 4,
        "evening": int(hours[noon:].argmax()) + noon,
        "unlike": float(np.abs(hours - overall).sum() / 2),
        "weight": float(np.asarray(memberships)[:, topic].mean()),
    }


def _most_likely(places: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.argsort(-np.asarray(places), kind="stable")[:_TOP]


def _spread(points: npt.NDArray[np.float64]) -> float:
    return float(np.linalg.norm(points - points.mean(axis=0), axis=1).mean())


def _overall(train: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    hours = unpack(train).hours("day")
    return np.bincount(hours, minlength=_HOURS) / len(hours)
