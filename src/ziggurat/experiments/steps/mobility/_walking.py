"""`walk-communities`, `classify-walks`, `compare-walks`: drawn trajectories, what they keep and whom they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.mobility._data import pack, unpack

if TYPE_CHECKING:
    from ziggurat.sequences.mobility import Trajectories

Records = Literal["people", "days"]


@step("walk-communities", outputs=("walks", "community", "in_none", "in_several", "smallest"))
def walk_communities(
    train: Mapping[str, Any],
    model: Mapping[str, Any],
    memberships: npt.NDArray[np.float64],
    *,
    rule: Literal["argmax", "threshold"] = "threshold",
    threshold: float = 0.4,
    count: int = 1000,
    length: int = 10,
    seed: int = 0,
) -> dict[str, Any]:
    """Draw trajectories of every community by algorithm 5.2, on the trips its members made within a day; no promise.

    Parameters
    ----------
    rule, threshold
        Who is in a community.
    count, length
        How many trajectories of each community, and how many visits each has.

    Returns
    -------
    dict
        The trajectories, the community of each, how many people are in none and in several, and the size of the
        smallest community.
    """
    from ziggurat.sequences.mobility import Trajectories
    from ziggurat.sequences.mobility.communities import Communities, TransportationGraph, walk

    trajectories = unpack(train)
    days = trajectories.by_day()
    assigned = Communities.assign(memberships, rule, threshold=threshold)
    domain = _walk_domain(trajectories, length, model["hours"] is not None)
    parts = [
        walk(
            TransportationGraph.of(days, assigned.members(community)),
            model["places"][community],
            domain,
            count=count,
            length=length,
            hours=None if model["hours"] is None else model["hours"][community],
            random_state=seed + community,
        )
        for community in range(assigned.count)
    ]
    return {
        "walks": pack(Trajectories.together(parts)),
        "community": np.repeat(np.arange(assigned.count), count),
        "in_none": assigned.in_none,
        "in_several": assigned.in_several,
        "smallest": int(assigned.sizes.min()),
    }


def _walk_domain(trajectories: Trajectories, length: int, timed: bool) -> Any:
    from ziggurat.data import Unit
    from ziggurat.sequences.mobility import TrajectoryDomain

    return TrajectoryDomain.on(trajectories.ground, length, unit=Unit.person("person"), timed=timed)


@step("classify-walks", outputs=("accuracy",))
def classify_walks(
    walks: Mapping[str, Any],
    community: npt.NDArray[np.int64],
    model: Mapping[str, Any],
    *,
    topic: int,
    classifier: Literal["likelihood", "inner-product"] = "likelihood",
) -> dict[str, Any]:
    """Say which share of a community's trajectories is classified as its own: figure 5.4.

    Parameters
    ----------
    topic
        Which community.
    classifier
        'likelihood' or, as the document prints it, 'inner-product'.
    """
    from ziggurat.sequences.mobility.communities import classify_trajectories

    own = unpack(walks).take(np.asarray(community) == topic)
    return {"accuracy": float((classify_trajectories(own, model["places"], classifier) == topic).mean())}


@step(
    "compare-walks",
    outputs=("below_fifth", "mean_jaccard", "largest_possible", "histogram", "nearest", "nearest_held_out",
             "closer", "one_person"),
)  # fmt: skip
def compare_walks(
    walks: Mapping[str, Any],
    community: npt.NDArray[np.int64],
    train: Mapping[str, Any],
    held_out: Mapping[str, Any],
    *,
    topic: int,
    records: Records = "people",
    bins: int = 20,
) -> dict[str, Any]:
    """Compare a community's trajectories with real records by Jaccard's similarity of the multisets of places.

    Not private: exact functions of the records, for the experimenter's eyes.

    Parameters
    ----------
    topic
        Which community.
    records
        What a record is: all visits of a person, as in the document, or those of one day.
    bins
        Into how many bins `histogram` divides similarities from 0 to 1.

    Returns
    -------
    dict
        As the document looks at it: the share of all pairs of a trajectory and a training record below 0.2, their mean
        and the shares in bins. `largest_possible` is the mean over training records of the largest similarity that
        their length allows: min(n, m) / max(n, m). What says more: the mean similarity to the nearest training record
        and to the nearest of as many held out, the share of trajectories that are nearer to the former (ties count
        half), and the share of steps along trips that one single person of the training data made.
    """
    own = unpack(walks).take(np.asarray(community) == topic)
    learned, control = _records(unpack(train), records), _records(unpack(held_out), records)
    fewest = min(len(learned), len(control))
    pairs = _similarities(own, learned)
    near, far = pairs[:, _spread(len(learned), fewest)].max(axis=1), _similarities(own, control)
    away = far[:, _spread(len(control), fewest)].max(axis=1)
    sizes = learned.lengths / own.lengths[0]
    return {
        "below_fifth": float((pairs < 0.2).mean()),
        "mean_jaccard": float(pairs.mean()),
        "largest_possible": float(np.minimum(sizes, 1 / sizes).mean()),
        "histogram": np.histogram(pairs, bins, (0, 1))[0] / pairs.size,
        "nearest": float(near.mean()),
        "nearest_held_out": float(away.mean()),
        "closer": float(((near > away) + 0.5 * (near == away)).mean()),
        "one_person": _share_of_lone_trips(own, unpack(train)),
    }


@step(
    "closest-walks",
    outputs=("closer", "chance", "median_learned", "median_control", "nearer", "copies", "alarm", "sentence"),
)
def closest_walks(
    walks: Mapping[str, Any],
    train: Mapping[str, Any],
    held_out: Mapping[str, Any],
    *,
    distance: Literal["jaccard", "edit", "warping"] = "edit",
    records: Records = "people",
    most: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Test whether walks follow the people they were made from more closely than people who were held out.

    Parameters
    ----------
    distance
        Of sets of places, edit distance, or dynamic time warping in kilometres, as the document asks for.
    records
        What a record is: all visits of a person, or those of one day.
    most
        How many walks, and people of each side, are measured at most.

    Returns
    -------
    dict
        Of `closest_trajectories`: the share of walks that are closest to somebody learned from and what chance alone
        moves it by, the median distances of walks to the closest, the share of pairs of people in which the one
        learned from is nearer to a walk, the share of walks that equal a record, and whether the test alarms (1).
    """
    from ziggurat.attacks.mobility import closest_trajectories

    released = unpack(walks)
    sides = (_records(unpack(part), records) for part in (train, held_out))
    found = closest_trajectories(released, *sides, distance=distance, at_most=most, random_state=seed)
    return {
        "closer": found.found.closer,
        "chance": found.found.chance,
        "median_learned": found.found.learned.median,
        "median_control": found.found.control.median,
        "nearer": found.nearer.rate,
        "copies": found.found.copies.rate,
        "alarm": int(found.verdict is True),
        "sentence": found.sentence,
    }


def _records(trajectories: Trajectories, records: str) -> Trajectories:
    return trajectories.by_day(least=2) if records == "days" else trajectories.by_owner()


def _spread(size: int, wanted: int) -> npt.NDArray[np.int64]:
    """So many places among all, evenly spread."""
    return np.linspace(0, size - 1, wanted).round().astype(np.int64)


def _similarities(one: Trajectories, other: Trajectories) -> npt.NDArray[np.float64]:
    """Jaccard's similarity of every pair: visits in common over visits of either, as multisets."""
    from ziggurat.sequences.mobility.communities import count_common_visits

    common = count_common_visits(one, other).toarray()
    return np.asarray(common / (one.lengths[:, None] + other.lengths[None, :] - common), dtype=np.float64)


def _share_of_lone_trips(walks: Trajectories, train: Trajectories) -> float:
    """Of the trips that were walked and that somebody made, the share that one single person did."""
    from ziggurat.sequences.mobility.communities import TransportationGraph

    makers = TransportationGraph.of(train.by_day()).count_makers(walks)
    return float((makers[makers > 0] == 1).mean()) if makers.any() else 0.0


@step("similarity-bin", outputs=("share",))
def similarity_bin(histogram: npt.NDArray[np.float64], *, below: float) -> dict[str, Any]:
    """The share of pairs in the bin that ends at `below`: a bar of figure 5.3."""
    return {"share": float(histogram[round(below * len(histogram)) - 1])}
