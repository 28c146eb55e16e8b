"""Random walks on a transportation graph: algorithm 5.2 of Dandekar's thesis, with times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.privacy import whole_number
from ziggurat.randomness import choose_source
from ziggurat.sequences.mobility._trajectories import HOURS, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.communities._transport import TransportationGraph

Integers = npt.NDArray[np.int64]


def walk(
    graph: TransportationGraph,
    places: npt.ArrayLike,
    domain: TrajectoryDomain,
    *,
    count: int,
    length: int = 10,
    hours: npt.ArrayLike | None = None,
    random_state: int | None = None,
) -> Trajectories:
    """Draw trajectories of a community; **no promise is made**: they are copies of observed trips.

    A walk begins at a place drawn from phi. From a place with trips it goes on along one of them, in proportion to how
    often it was made; from one without it goes on at a place drawn from phi. Line 8 of algorithm 5.2 weighs the edge
    (l_i, l_{i-1}), the way back; here it is (l_{i-1}, l_i). Every step along an edge is a trip that a person of the
    community made: a trip that only one person ever made is walked as it was. For trajectories with a promise see
    `MarkovTrajectories`.

    Parameters
    ----------
    graph
        The trips of the community.
    places
        phi of the community: how likely each place is.
    domain
        Of what trajectories they are; if it is timed, give `hours` as well.
    count, length
        How many trajectories, and how many visits each has; at most as many as the domain's longest.
    hours
        psi of the community: how likely each of the 24 hours of a day or of the 168 of a week is. Each trajectory draws
        as many hours as it has visits, in order of time; the minute of the hour is uniform. Times are independent of
        places, as the model has them within a community.
    random_state
        Drawn anew each time or, with a whole number, the same ones again.

    Returns
    -------
    Trajectories
        Without times if no hours are given; each its own person if the domain's unit is one.
    """
    count, length = whole_number(count, "count"), whole_number(length, "length")
    if length > domain.longest:
        raise ParameterError(f"The domain's trajectories have at most {domain.longest} visits; lower 'length'.")
    if (hours is None) is domain.timed:
        raise ParameterError("Give the hours of a community exactly if the domain is timed.")
    phi = _cumulate(places, (domain.size,), "There must be one probability for every place.")
    draw = choose_source(random_state).simulation()
    codes = _walk_places(graph, phi, count, length, draw)
    minutes = None if hours is None else _draw_minutes(hours, count, length, draw)
    owners = None if domain.unit.is_row else np.arange(count)
    offsets = np.arange(count + 1) * length
    return Trajectories(domain, codes.ravel().astype(np.int32), offsets, None, owners, minutes)


def _walk_places(
    graph: TransportationGraph, phi: npt.NDArray[np.float64], count: int, length: int, draw: np.random.Generator
) -> Integers:
    """All walks at once, a step at a time: one row each."""
    starts = graph.trips.indptr.astype(np.int64)
    passed = np.concatenate([[0], np.cumsum(graph.trips.data, dtype=np.int64)])  # trips before each edge
    found = np.empty((count, length), dtype=np.int64)
    for step in range(length):
        here = np.searchsorted(phi, draw.random(count), side="right")
        if step:
            low, high = passed[starts[found[:, step - 1]]], passed[starts[found[:, step - 1] + 1]]
            leads = high > low
            trip = draw.integers(low[leads], high[leads])
            here[leads] = graph.trips.indices[np.searchsorted(passed, trip, side="right") - 1]
        found[:, step] = here
    return found


def _draw_minutes(hours: npt.ArrayLike, count: int, length: int, draw: np.random.Generator) -> Integers:
    psi = _cumulate(hours, tuple(HOURS.values()), "Hours are those of a day (24) or of a week (168).")
    drawn = np.searchsorted(psi, draw.random((count, length)), side="right")
    return np.sort(60 * drawn + draw.integers(60, size=drawn.shape), axis=1).ravel()


def _cumulate(given: npt.ArrayLike, sizes: tuple[int, ...], why: str) -> npt.NDArray[np.float64]:
    """Cumulated probabilities whose last one that is not zero is exactly 1, so that no draw lies beyond it."""
    shares = np.asarray(given, dtype=np.float64)
    if shares.ndim != 1 or len(shares) not in sizes:
        raise ParameterError(why)
    if not (np.isfinite(shares).all() and (shares >= 0).all() and shares.sum() > 0):
        raise ParameterError("Probabilities are finite, at least 0 and not all 0.")
    summed = np.cumsum(shares)
    return np.asarray(summed / summed[-1], dtype=np.float64)
