"""`find-communities`, `judge-communities`, `commuter-graph`: communities by models of document 002, and by Louvain."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.mobility._data import unpack

Reals = npt.NDArray[np.float64]
Method = Literal["slda", "tlda", "stlda", "louvain"]


@step(
    "find-communities",
    outputs=("model", "memberships", "found", "largest_ten", "in_none", "in_several", "seconds", "likelihood"),
)
def find_communities(
    train: Mapping[str, Any],
    method: Method = "slda",
    *,
    communities: int = 10,
    iterations: int = 2000,
    chains: int = 4,
    tolerance: float | None = 1e-3,
    threshold: float = 0.4,
    seed: int = 0,
) -> dict[str, Any]:
    """Find the communities of people, and how long that takes.

    Parameters
    ----------
    method
        'slda' (places), 'tlda' (hours of the day), 'stlda' (both), or 'louvain' on the graph of commuters.
    communities, iterations, chains, tolerance
        For the models; Louvain finds as many communities as it finds. Without a tolerance all iterations are made.
    threshold
        tau of section 5.2.4: how many people are then in no community, and in several.

    Returns
    -------
    dict
        `model` (places and hours of each community), `memberships` (people x communities), how many communities were
        `found` and the share of people in the ten largest, seconds of processor time, that of the graph included, and
        the log-likelihood per visit, 0 of Louvain.
    """
    from ziggurat.sequences.mobility.communities import Communities

    trajectories = unpack(train)
    settings: dict[str, Any] = {"communities": communities, "chains": chains, "tolerance": tolerance}
    _find(trajectories.take([0]), method, seed, **settings, iterations=1)  # compiles and imports, which is not counted
    started = time.process_time()
    model, shares, likelihood = _find(trajectories, method, seed, **settings, iterations=iterations)
    seconds = time.process_time() - started
    loose = Communities.assign(shares, "threshold", threshold=threshold)
    sizes = np.sort(Communities.assign(shares).sizes)[::-1]
    return {
        "model": model,
        "memberships": shares,
        "found": int((sizes > 0).sum()),
        "largest_ten": float(sizes[:10].sum() / sizes.sum()),
        "in_none": loose.in_none,
        "in_several": loose.in_several,
        "seconds": seconds,
        "likelihood": likelihood,
    }


def _find(trajectories: Any, method: str, seed: int, **settings: Any) -> tuple[dict[str, Any], Reals, float]:
    from ziggurat.sequences.mobility.communities import SLDA, STLDA, TLDA, find_by_louvain

    if method == "louvain":
        labels = find_by_louvain(trajectories, random_state=seed)
        return {"places": None, "hours": None}, np.eye(int(labels.max()) + 1)[labels], 0.0
    kinds: dict[str, Any] = {"slda": SLDA, "tlda": TLDA, "stlda": STLDA}
    if method not in kinds:
        raise ExperimentError(f"Communities are found by {', '.join(kinds)} or louvain.")
    model = kinds[method](**settings, workers=1, random_state=seed).fit(trajectories)
    places = None if method == "tlda" else model.components_
    hours = None if method == "slda" else model.hours_
    return {"places": places, "hours": hours}, model.memberships_, float(model.log_likelihood_[-1])


@step("commuter-graph", outputs=("density", "edges", "seconds"))
def commuter_graph(train: Mapping[str, Any]) -> dict[str, Any]:
    """Join commuters who share a visit, and say how many of all pairs do."""
    from ziggurat.sequences.mobility.communities import CommuterGraph

    trajectories = unpack(train)
    started = time.process_time()
    graph = CommuterGraph.of(trajectories)
    return {"density": graph.density, "edges": graph.edges, "seconds": time.process_time() - started}


@step("judge-communities", outputs=("accuracy", "worst_jaccard", "mean_jaccard", "mixing_error", "jaccards", "people"))
def judge_communities(mix: Reals, memberships: Reals, *, largest: int = 10) -> dict[str, Any]:
    """Compare found communities with planted ones, matched one to one so that most people agree.

    Parameters
    ----------
    mix
        The true share of each planted community in every person's visits.
    memberships
        The shares that were found; Louvain's are 1 and 0.
    largest
        Only so many of the largest found communities can match; others count as wrong.

    Returns
    -------
    dict
        The share of people whose largest community is the right one; the smallest and mean Jaccard similarity of a
        planted community and its match; `mixing_error`, the mean of half the absolute difference of true and found
        shares; and for each planted and each found community, matches on the diagonal, Jaccard's similarity and the
        number of people in both.
    """
    from scipy.optimize import linear_sum_assignment

    planted, shares = np.asarray(mix), np.asarray(memberships)
    truth, labels = planted.argmax(axis=1), shares.argmax(axis=1)
    kept = np.argsort(-np.bincount(labels, minlength=shares.shape[1]), kind="stable")[:largest]
    both = (planted.argmax(axis=1)[:, None] == np.arange(planted.shape[1])).T.astype(float)
    held = (labels[:, None] == kept).astype(float)
    people = both @ held
    jaccards = people / np.maximum(both.sum(axis=1)[:, None] + held.sum(axis=0) - people, 1)
    rows, columns = linear_sum_assignment(-people)
    matched = np.zeros(len(planted[0]))
    matched[rows] = jaccards[rows, columns]
    order = np.concatenate([columns, np.setdiff1d(np.arange(len(kept)), columns)])
    found = np.zeros_like(planted)
    found[:, rows] = shares[:, kept[columns]]
    return {
        "accuracy": float(people[rows, columns].sum() / len(truth)),
        "worst_jaccard": float(matched.min()),
        "mean_jaccard": float(matched.mean()),
        "mixing_error": float((np.abs(planted - found).sum(axis=1) + 1 - found.sum(axis=1)).mean() / 2),
        "jaccards": jaccards[:, order],
        "people": people[:, order],
    }


@step("confusion-cell", outputs=("jaccard", "people"))
def confusion_cell(jaccards: Reals, people: Reals, *, planted: int, found: int) -> dict[str, Any]:
    """One cell of figure A.8; where fewer communities were found there is nobody."""
    inside = found < jaccards.shape[1]
    cells = {"jaccard": jaccards, "people": people}
    return {name: round(float(each[planted, found]), 3) if inside else 0.0 for name, each in cells.items()}
