"""Invented commuters in hidden communities, each with its own order of favourite places and hours.

After the synthetic data of Dandekar's thesis, section A.2.1: ten communities of a thousand commuters, ten
thousand places, visits per commuter from a Gamma distribution of shape 6 and scale 1.2, places from a Zipf
distribution over an order of places that characterises the community. The hours are an addition.
"""

import numpy as np
import pyarrow as pa

from ziggurat.data.generators._common import Integers, check_count, draw_places
from ziggurat.data.schema import Schema
from ziggurat.errors import ParameterError
from ziggurat.randomness import seeded

_VISITS_SHAPE = 6.0
_VISITS_SCALE = 1.2


def commuters(
    *,
    communities: int = 10,
    members: int = 1_000,
    locations: int = 10_000,
    theta: float = 1.1,
    sharing: int = 1,
    seed: int = 0,
) -> pa.Table:
    """Invent the visits of commuters, one row per visit.

    Parameters
    ----------
    communities, members
        How many communities, and how many commuters in each.
    locations
        How many places there are; every community may visit all of them, in its own order of preference.
    theta
        The Zipf parameter: a community's k-th favourite place is visited in proportion to ``k ** -theta``.
        The larger, the more its members meet; at 0 there are no favourites.
    sharing
        How many communities, one after the other, share one order of places and work there in shifts that begin evenly
        spread over the day: these differ in their hours alone. With 1 every community has its own places.
    seed
        The same seed gives the same table.

    Returns
    -------
    pyarrow.Table
        `commuter`, `community` (the truth to be recovered), `visit` (0, 1, ... for each commuter),
        `location` and `hour` (0 to 23). A commuter makes as many visits as a draw from Gamma(6, 1.2) rounded
        to the nearest whole number, and at least one. A community's hours follow its own working day: a
        morning and an evening peak, and a few visits at any hour.

    Examples
    --------
    >>> commuters(communities=2, members=3, locations=10).column_names
    ['commuter', 'community', 'visit', 'location', 'hour']
    """
    communities = check_count("communities", communities)
    members = check_count("members", members)
    locations = check_count("locations", locations)
    sharing = check_count("sharing", sharing)
    if not (np.isfinite(theta) and theta >= 0):
        raise ParameterError("theta must be a finite number of at least 0.")
    random = seeded(seed).simulation()
    count = _visit_counts(random, communities * members)
    commuter = np.repeat(np.arange(communities * members), count)
    community = commuter // members
    return pa.table(
        {
            "commuter": commuter,
            "community": community,
            "visit": np.arange(len(commuter)) - np.repeat(np.cumsum(count) - count, count),
            "location": _places(random, community - community % sharing, communities, locations, theta),
            "hour": _hours(random, community, communities, sharing),
        }
    )


def commuters_schema(*, communities: int = 10, locations: int = 10_000) -> Schema:
    """The public schema of `commuters` made with these parameters; its privacy unit is the commuter."""
    columns = {
        "commuter": {"kind": "integer", "role": "identifier"},
        "community": _index_column(communities, "sensitive"),
        "visit": {"kind": "integer"},
        "location": _index_column(locations, "quasi-identifier"),
        "hour": _index_column(24, "quasi-identifier"),
    }
    return Schema.from_dict({"name": "commuters", "unit": {"person": "commuter"}, "columns": columns})


def _index_column(size: int, role: str) -> dict[str, object]:
    return {"kind": "integer", "role": role, "bounds": [0, size - 1]}


def _visit_counts(random: np.random.Generator, n: int) -> Integers:
    drawn_counts = np.round(random.gamma(_VISITS_SHAPE, _VISITS_SCALE, n))
    return np.maximum(drawn_counts, 1).astype(np.int64)


def _places(
    random: np.random.Generator, community: Integers, communities: int, locations: int, theta: float
) -> Integers:
    orders = np.stack([random.permutation(locations) for _ in range(communities)])
    rank = draw_places(random, np.arange(1.0, locations + 1.0) ** -theta, len(community))
    return np.asarray(orders[community, rank], dtype=np.int64)


def _hours(random: np.random.Generator, community: Integers, communities: int, sharing: int) -> Integers:
    """45% of visits around the community's start of work, 40% around its end, the others at any hour."""
    shift = np.arange(communities) % sharing
    start = random.uniform(5.0, 11.0, communities)[np.arange(communities) - shift] + 24.0 / sharing * shift
    end = start + random.uniform(7.0, 10.0, communities)
    moment = random.random(len(community))
    peak = np.where(moment < 0.45, start[community], end[community])
    near = peak + random.normal(0.0, 1.0, len(community))
    anywhere = random.uniform(0.0, 24.0, len(community))
    return np.floor(np.where(moment < 0.85, near, anywhere) % 24.0).astype(np.int64)
