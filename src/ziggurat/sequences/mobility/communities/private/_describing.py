"""Communities in a small table and a picture that may leave: post-processing of a private topic model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.drawing import COLOURS, DULL, SOFT, encode, sheet, shorten
from ziggurat.privacy import whole_number
from ziggurat.sequences.mobility.communities.private._stlda import PrivateSTLDA

if TYPE_CHECKING:
    import pyarrow as pa

_HEIGHT = 1.5  # inches of a community


def describe_communities(model: PrivateSTLDA, most: int = 10) -> pa.Table:
    """Say what communities do, one row for each thing: where they go, and at which hours.

    Places, or regions, are named only where they stand out of the noise, so that noise alone makes one in a hundred
    descriptions name something; hours are told in full. All of it follows from the fitted model: nothing is read, and
    the promise of the model holds for it.

    Parameters
    ----------
    model
        Fitted.
    most
        How many places of a community are named at most.

    Returns
    -------
    pyarrow.Table
        `community` from 1, the largest first; `share` of all pairs of visits that it explains; `what` is a "place", a
        "region" or an "hour"; its `name`; its `chance` in the community, and how many `times` that is the chance in all
        communities together; `latitude` and `longitude` of places, and of the middle of the places of a region.

    Examples
    --------
    >>> from ziggurat.data import Unit
    >>> from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain
    >>> domain = TrajectoryDomain.on(Ground(("home", "work", "bar", "park")), longest=9, unit=Unit.person("card"))
    >>> early, late = [("home", 420), ("work", 540)], [("park", 1200), ("bar", 1320)]
    >>> people = Trajectories.of_visits(domain, [early] * 500 + [late] * 400, owners=range(900))
    >>> fitted = PrivateSTLDA(epsilon=2, communities=2, sees="places", random_state=1).fit(people)
    >>> sorted(describe_communities(fitted).to_pydict()["name"])
    ['bar', 'home', 'park', 'work']
    """
    import pyarrow as pa

    columns = ("community", "share", "what", "name", "chance", "times", "latitude", "longitude")
    rows = list(_rows(model, whole_number(most, "most")))
    kinds = (pa.int64(), pa.float64(), pa.string(), pa.string(), *[pa.float64()] * 4)
    schema = pa.schema(list(zip(columns, kinds, strict=True)))
    return pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema)


def _rows(model: PrivateSTLDA, most: int) -> Iterator[tuple[Any, ...]]:
    topics, names, where = model.topics_, model.features_, _locate(model)
    chances = _sum_by_group(topics.places, topics.groups, len(names))
    what = "place" if model.regions is None else "region"
    for k, share in enumerate(model.shares_.tolist()):
        for at in _name(chances[k], topics.clear[k], most):
            mine, all_of_them = chances[k, at], float(model.shares_ @ chances[:, at])
            yield k + 1, share, what, str(names[at]), float(mine), float(mine / all_of_them), *where[at]
        for hour in range(topics.hours.shape[1]):
            mine, all_of_them = topics.hours[k, hour], float(model.shares_ @ topics.hours[:, hour])
            yield k + 1, share, "hour", str(hour), float(mine), float(mine / all_of_them), None, None


def _sum_by_group(values: Any, groups: Any, count: int) -> Any:
    """Sum rows of values of places by the group of the place."""
    inside = groups >= 0
    return np.stack([np.bincount(groups[inside], row[inside], count) for row in values])


def _name(chances: Any, clear: Any, most: int) -> list[int]:
    likely = np.argsort(-chances, kind="stable")
    return [int(at) for at in likely if clear[at]][:most]


def _locate(model: PrivateSTLDA) -> list[tuple[float | None, float | None]]:
    """Latitude and longitude of what was learned of, where its places have coordinates."""
    ground, groups = model.domain_.ground, model.topics_.groups
    count = len(model.features_)
    if ground.points is None or ground.box is None:
        return [(None, None)] * count
    east, north, sizes = _sum_by_group(np.stack([*ground.points.T, np.ones(len(groups))]), groups, count)
    latitude, longitude = ground.box.to_degrees(np.stack([east, north], axis=1) / sizes[:, None])
    return list(zip(latitude.tolist(), longitude.tolist(), strict=True))


def draw_communities(model: PrivateSTLDA, most: int = 6) -> str:
    """Draw where communities go and when, as SVG: what `describe_communities` says, a line for each community.

    Grey is what all communities do together.
    """
    told = describe_communities(model, most).to_pandas()
    hours = model.sees != "places"
    with sheet(9.0, _HEIGHT * model.communities + 0.4) as page:
        panels: Any = page.subplots(model.communities, 1 + hours, squeeze=False)
        for k, row in enumerate(panels):
            mine = told[told.community == k + 1]
            _draw_places(row[0], mine[mine.what != "hour"], COLOURS[k % len(COLOURS)])
            row[0].set_title(f"community {k + 1}, share {model.shares_[k]:.2f}")
            if hours:
                _draw_hours(row[1], mine[mine.what == "hour"], COLOURS[k % len(COLOURS)])
        return encode(page, "svg").decode()


def _draw_places(axes: Any, told: Any, colour: str) -> None:
    if told.empty:
        axes.text(0.5, 0.5, "nothing above the noise", ha="center", va="center", color=SOFT, transform=axes.transAxes)
        axes.set_axis_off()
        return
    places = range(len(told))
    axes.barh(places, told.chance, 0.7, color=colour)
    axes.plot(told.chance / told.times, places, "|", color=DULL, markersize=8, markeredgewidth=2)
    axes.set_yticks(places, [shorten(each, 24) for each in told.name])
    axes.invert_yaxis()


def _draw_hours(axes: Any, told: Any, colour: str) -> None:
    at = told.name.astype(int)
    axes.plot(at, told.chance / told.times, color=DULL)
    axes.plot(at, told.chance, color=colour)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("hour")
