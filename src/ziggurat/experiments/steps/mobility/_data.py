"""`mobility-data` and `commuter-data`: visits of people, and of invented commuters whose communities are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import INVENTED, load_dataset, permute

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.sequences.mobility import Ground, Trajectories

Integers = npt.NDArray[np.int64]
Days = Literal["all", "weekdays", "weekends"]

_DAY = 24 * 60
_FIRST_MINUTE = _DAY + 14 * 60  # of the Foursquare visits, after midnight of a Monday in New York
_SIDE = 48
_DATASETS = ("foursquare_nyc", "commuters", INVENTED)


@step("mobility-data", outputs=("train", "held_out", "people", "places", "visits", "behind"))
def mobility_data(
    dataset: str = "foursquare_nyc",
    *,
    days: Days = "all",
    people: int | None = None,
    held_out: float = 0.0,
    seed: int = 0,
) -> dict[str, Any]:
    """Visits of people, some of whom are kept back: the fare cards of document 002 are not public.

    Parameters
    ----------
    dataset
        'foursquare_nyc'; 'commuters', invented as in section A.2.1 and put in order of the hour; or 'invented', people
        of an invented city.
    days
        Which visits: of all days, from Monday to Friday, or of Saturday and Sunday.
    people
        At most how many, drawn at random; all by default.
    held_out
        The share of them who are kept back.

    Returns
    -------
    dict
        `train` and `held_out`, everybody's visits in order of time; how many people, places and visits there are in
        both; and `behind`, how densely the places lie, for maps.
    """
    whole = _choose_days(_read(dataset, people, seed), days)
    order = permute(len(whole), seed)[: len(whole) if people is None else people]
    kept_back = round(held_out * len(order))
    parts = {"train": order[kept_back:], "held_out": order[:kept_back]}
    return {
        **{name: pack(whole.take(np.sort(rows))) for name, rows in parts.items()},
        "people": len(order),
        "places": whole.domain.size,
        "visits": int(whole.lengths[order].sum()),
        "behind": _lay_out_density(whole.ground),
    }


@step("commuter-data", outputs=("train", "mix", "people", "visits"))
def commuter_data(
    theta: float = 1.1,
    *,
    communities: int = 10,
    members: int = 1000,
    locations: int = 10_000,
    visits: int | None = None,
    overlap: float = 0.0,
    twins: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """One of the synthetic sets of section A.2.1, and what makes it harder.

    Parameters
    ----------
    theta, communities, members, locations
        As for `commuters`.
    visits
        At most how many visits of each commuter count; all by default.
    overlap
        The share of commuters who make every other visit as another community does.
    twins
        Whether communities 0 and 1, 2 and 3, ... visit the same places equally often; the second of the two twelve
        hours later.

    Returns
    -------
    dict
        The visits in order of the hour; and `mix`, the share of each planted community in every commuter's visits.
    """
    if twins and (overlap or communities % 2):
        raise ExperimentError("Twins come in pairs, and do not mix: leave 'overlap' out and make 'communities' even.")
    size = {"communities": communities // 2 if twins else communities, "members": members, "locations": locations}
    planted = _Planted.invent(2 if twins or overlap else 1, theta=theta, seed=seed, **size)
    if twins:
        planted.pair()
    elif overlap:
        planted.mix(overlap, seed)
    if visits is not None:
        planted.keep(planted.turn < visits)
    found = planted.as_trajectories(locations)
    return {"train": pack(found), "mix": planted.shares(communities), "people": len(found), "visits": len(found.codes)}


class _Planted:
    """Visits of invented commuters, one array a column; the number of a commuter tells the community."""

    def __init__(self, table: pa.Table, members: int) -> None:
        names = ("commuter", "community", "visit", "location", "hour")
        self.who, self.community, self.turn, self.place, self.hour = (table[name].to_numpy().copy() for name in names)
        self.members = members

    @classmethod
    def invent(cls, times: int, *, members: int, **options: Any) -> _Planted:
        """So many times as many commuters as are wanted: others of the same habits, who have visits of their own."""
        from ziggurat.data.generators import commuters

        return cls(commuters(members=times * members, **options), members)

    def pair(self) -> None:
        """The second half of each community becomes another one, twelve hours later."""
        second = self.who // self.members % 2
        self.community = 2 * self.community + second
        self.hour = (self.hour + 12 * second) % 24

    def mix(self, share: float, seed: int) -> None:
        """Every other visit of some commuters becomes one that somebody else, of another community, made."""
        count, members = int(self.community.max()) + 1, self.members
        lenders = self.who // members % 2 == 1
        mixed = ~lenders & (self.who % members < round(share * members)) & (self.turn % 2 == 1)
        other = (self.community + 1 + self.who % (count - 1)) % count
        for code in range(count):
            wanted, lent = mixed & (other == code), np.flatnonzero(lenders & (self.community == code))
            self.place[wanted] = self.place[np.resize(lent[permute(len(lent), seed + code)], int(wanted.sum()))]
        self.community = np.where(mixed, other, self.community)
        self.who = self.who // (2 * members) * members + self.who % members
        self.keep(~lenders)

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        for name in ("who", "community", "place", "hour", "turn"):
            setattr(self, name, getattr(self, name)[kept])

    def as_trajectories(self, locations: int) -> Trajectories:
        return _in_order(_ground_of(locations), self.who, self.place, 60 * self.hour)

    def shares(self, communities: int) -> npt.NDArray[np.float64]:
        counts = np.zeros((int(self.who.max()) + 1, communities))
        np.add.at(counts, (self.who, self.community), 1)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True), dtype=np.float64)


def pack(trajectories: Trajectories) -> dict[str, Any]:
    """Trajectories as plain facts and arrays, as they pass from step to step."""
    ground, domain = trajectories.ground, trajectories.domain
    box = None if ground.box is None else [ground.box.west, ground.box.south, ground.box.east, ground.box.north]
    facts = {"names": list(ground.names), "box": box, "longest": domain.longest, "timed": domain.timed}
    arrays = {name: getattr(trajectories, name) for name in ("codes", "offsets", "owners", "minutes")}
    return {"facts": facts, "points": ground.points, **arrays}


def unpack(held: Mapping[str, Any]) -> Trajectories:
    """Read what `pack` gave."""
    from ziggurat.data import Unit
    from ziggurat.sequences.mobility import Box, Ground, Trajectories, TrajectoryDomain

    facts = held["facts"]
    ground = Ground(tuple(facts["names"]), held["points"], None if facts["box"] is None else Box(*facts["box"]))
    domain = TrajectoryDomain.on(ground, facts["longest"], unit=Unit.person("person"), timed=facts["timed"])
    return Trajectories(domain, held["codes"], held["offsets"], None, held["owners"], held["minutes"])


def _read(dataset: str, people: int | None, seed: int) -> Trajectories:
    from ziggurat.sequences.mobility import Ground

    if dataset == "foursquare_nyc":
        visits, places = load_dataset("foursquare_nyc_visits"), load_dataset("foursquare_nyc_pois")
        ground = Ground.of(places["poi"].to_pylist(), places["lat"].to_numpy(), places["lon"].to_numpy())
        minutes = visits["minute"].to_numpy().astype(np.int64) + _FIRST_MINUTE
        return _in_order(ground, visits["user"].to_numpy(), visits["poi"].to_numpy() - 1, minutes)
    if dataset == "commuters":
        return _Planted.invent(1, members=1000 if people is None else -(-people // 10), seed=seed).as_trajectories(
            10_000
        )
    if dataset == INVENTED:
        from ziggurat.data.generators import city_places, city_visits

        places, visits = city_places(seed=seed), city_visits(people or 1000, seed=seed)
        ground = Ground.of(places["place"].to_pylist(), places["latitude"].to_numpy(), places["longitude"].to_numpy())
        return _in_order(ground, *(visits[name].to_numpy() for name in ("person", "place", "minute")))
    raise ExperimentError(f"There is no dataset {dataset!r} of visits; use one of {', '.join(_DATASETS)}.")


def _in_order(ground: Ground, who: Integers, place: Integers, minute: Integers) -> Trajectories:
    """Everybody's visits, one trajectory each, in order of time."""
    from ziggurat.data import Unit
    from ziggurat.sequences.mobility import Trajectories, TrajectoryDomain

    order = np.lexsort((minute, who))
    owners, counts = np.unique(who, return_counts=True)
    domain = TrajectoryDomain.on(ground, int(counts.max()), unit=Unit.person("person"))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return Trajectories(domain, place[order].astype(np.int32), offsets, None, owners, minute[order])


def _ground_of(locations: int) -> Ground:
    from ziggurat.sequences.mobility import Ground

    return Ground(tuple(range(locations)))


def _choose_days(whole: Trajectories, days: str) -> Trajectories:
    if days not in ("all", "weekdays", "weekends"):
        raise ExperimentError("Days are 'all', 'weekdays' or 'weekends'.")
    if days == "all" or whole.minutes is None:
        return whole
    free = whole.minutes // _DAY % 7 >= 5
    kept = free if days == "weekends" else ~free
    if not kept.any():
        raise DataError(f"There are no visits on {days}.")
    who = np.repeat(np.arange(len(whole)), whole.lengths)[kept]
    return _in_order(whole.ground, who, whole.codes[kept].astype(np.int64), whole.minutes[kept])


def _lay_out_density(ground: Ground) -> dict[str, Any] | None:
    """How many places lie in each cell of a grid, as digits from 0 to 9, by the logarithm: rows from south to north."""
    if ground.box is None:
        return None
    counts = np.bincount(ground.cells(_SIDE), minlength=_SIDE * _SIDE).reshape(_SIDE, _SIDE).T
    digits = np.ceil(9 * np.log1p(counts) / np.log1p(counts.max())).astype(np.int64)
    box = [ground.box.west, ground.box.south, ground.box.east, ground.box.north]
    return {"box": box, "rows": ["".join(map(str, row)) for row in digits.tolist()]}
