"""Visits of invented people to the places of an invented city, which lies where there is nothing but the Atlantic.

Everybody has a home, a place of work that is more likely near than far, three favourite places near one of the two, and
hours of their own. What a day leaves behind are visits as of a fare card or an app: at home, at work, at lunch, in the
evening, at home again, each only sometimes recorded,
more often of some people than of others.
"""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ziggurat.data.generators._common import Flags, Integers, Reals, check_count, draw_places, labels
from ziggurat.data.schema import Schema
from ziggurat.errors import ParameterError
from ziggurat.randomness import seeded

_SOUTH, _WEST = 44.95, -30.08
_LATITUDE, _LONGITUDE = 110.574, 78.7  # kilometres in a degree there
_SIZE = 12.0  # kilometres that the city is wide and high
_DISTRICTS: dict[str, tuple[float, float, float]] = {  # kilometres east and north, and the share of the places
    "Centre": (6.0, 6.0, 0.26),
    "Harbour": (3.2, 3.4, 0.12),
    "Hill": (3.0, 8.9, 0.11),
    "Mill": (9.3, 3.2, 0.10),
    "Orchard": (9.6, 8.6, 0.12),
    "Station": (6.6, 3.9, 0.11),
    "University": (7.2, 8.3, 0.11),
    "West": (1.4, 6.1, 0.07),
}
_SPREAD = 0.8  # kilometres around the middle of a district

# Of every four places two are homes, one is a place of work and one of leisure.
_FOURS = 4
_HOME, _WORK, _LEISURE = (0, 1), (2,), (3,)
_FAVOURITES = 3
_NEAR = 2.5  # kilometres at which a place is chosen 1/e times as often as next door

_DAY = 24 * 60
_SLOTS = 5
_LIKELY = np.array([[0.55, 0.80, 0.30, 0.45, 0.55], [0.40, 0.10, 0.45, 0.50, 0.45]])  # workdays, weekends


class _Map(NamedTuple):
    points: Reals  # kilometres east and north of the corner
    district: Integers
    liked: Reals  # how often a place is chosen, all else equal


def city_places(places: int = 400, *, seed: int = 0) -> pa.Table:
    """Invent the public places of a city, 12 kilometres wide.

    Parameters
    ----------
    places
        How many, at least 4.
    seed
        The same seed gives the same city; `city_visits` of that seed, or city, and number of places are visits to it.

    Returns
    -------
    pyarrow.Table
        `place` (0, 1, ...), `latitude`, `longitude` (degrees) and `district` (one of eight).

    Examples
    --------
    >>> city_places(20).column_names
    ['place', 'latitude', 'longitude', 'district']
    """
    city = _lay_out(places, seed)
    return pa.table(
        {
            "place": np.arange(len(city.points)),
            "latitude": np.round(_SOUTH + city.points[:, 1] / _LATITUDE, 6),
            "longitude": np.round(_WEST + city.points[:, 0] / _LONGITUDE, 6),
            "district": labels(city.district, tuple(_DISTRICTS)),
        }
    )


def city_places_schema(*, places: int = 400) -> Schema:
    """The schema of `city_places`, a table of public facts about nobody."""
    columns: dict[str, dict[str, Any]] = {
        "place": {"kind": "integer", "bounds": [0, _check_places(places) - 1]},
        "latitude": {"kind": "real", "bounds": [_SOUTH, round(_SOUTH + _SIZE / _LATITUDE, 6)]},
        "longitude": {"kind": "real", "bounds": [_WEST, round(_WEST + _SIZE / _LONGITUDE, 6)]},
        "district": {"kind": "category", "categories": list(_DISTRICTS)},
    }
    return Schema.from_dict({"name": "city_places", "columns": columns})


def city_visits(
    people: int = 1_000, *, days: int = 7, places: int = 400, seed: int = 0, city: int | None = None
) -> pa.Table:
    """Invent the visits of people to the places of `city_places`, one row per visit.

    Parameters
    ----------
    people
        How many people, at least 1.
    days
        For how many days, from a Monday on.
    places
        How many places the city has, at least 4.
    seed
        The same seed gives the same table.
    city
        The seed of the city, as for `city_places`, by default that of the people: other people in the same city have
        another seed, and it the same.

    Returns
    -------
    pyarrow.Table
        `person` (0, 1, ...), `minute` (since midnight of that Monday, local time) and `place`, in order of the person
        and the time. Someone makes about 1.8 visits a day; a day, or a person, may be left without any.

    Examples
    --------
    >>> city_visits(3, days=2).column_names
    ['person', 'minute', 'place']
    """
    people, days = check_count("people", people), check_count("days", days)
    ground = _lay_out(places, seed if city is None else city)
    random = seeded(seed).child("visits").simulation()
    where = _choose_places(random, ground, people, days)
    when = _choose_minutes(random, people, days)
    weekend = np.arange(days) % 7 >= 5
    active = random.uniform(0.3, 1.2, (people, 1, 1))
    seen = random.random((people, days, _SLOTS)) < active * _LIKELY[weekend.astype(np.int64)]
    return _list_visits(where, when, seen & (when < days * _DAY))


def city_visits_schema(*, days: int = 7, places: int = 400) -> Schema:
    """The public schema of `city_visits` made with these parameters; its privacy unit is the person."""
    last = check_count("days", days) * _DAY - 1
    columns: dict[str, dict[str, Any]] = {
        "person": {"kind": "integer", "role": "identifier"},
        "minute": {"kind": "integer", "role": "quasi-identifier", "bounds": [0, last]},
        "place": {"kind": "integer", "role": "quasi-identifier", "bounds": [0, _check_places(places) - 1]},
    }
    return Schema.from_dict({"name": "city_visits", "unit": {"person": "person"}, "columns": columns})


def _check_places(places: int) -> int:
    if check_count("places", places) < _FOURS:
        raise ParameterError("A city needs at least 4 places.")
    return int(places)


def _lay_out(places: int, seed: int) -> _Map:
    """Places around the middle of their district; a few are liked much more than the others."""
    n = _check_places(places)
    random = seeded(seed).child("city").simulation()
    middles = np.array([each[:2] for each in _DISTRICTS.values()])
    district = draw_places(random, np.array([each[2] for each in _DISTRICTS.values()]), n)
    points = middles[district] + random.normal(0.0, _SPREAD, (n, 2))
    return _Map(points.clip(0.0, _SIZE), district, random.lognormal(0.0, 0.9, n))


def _choose_places(random: np.random.Generator, city: _Map, people: int, days: int) -> Integers:
    """Where everybody is in each slot of each day: home, work, lunch, evening, home."""
    home = _some(city, _HOME)[draw_places(random, np.ones(len(_some(city, _HOME))), people)]
    work = _choose_near(random, city, home, _WORK)
    around = np.where(random.random((people, _FAVOURITES)) < 0.5, home[:, None], work[:, None])
    liked = _choose_near(random, city, around.ravel(), _LEISURE).reshape(around.shape)
    chosen = draw_places(random, np.array([0.6, 0.3, 0.1]), people * days * 2).reshape(people, days, 2)
    leisure = liked[np.arange(people)[:, None, None], chosen]
    anywhere = _some(city, _LEISURE)[random.integers(0, len(_some(city, _LEISURE)), leisure.shape)]
    leisure = np.where(random.random(leisure.shape) < 0.1, anywhere, leisure)
    homes, works = (np.broadcast_to(each[:, None], (people, days)) for each in (home, work))
    return np.stack([homes, works, leisure[..., 0], leisure[..., 1], homes], axis=2)


def _some(city: _Map, kinds: tuple[int, ...]) -> Integers:
    return np.flatnonzero(np.isin(np.arange(len(city.points)) % _FOURS, kinds))


def _choose_near(random: np.random.Generator, city: _Map, start: Integers, kinds: tuple[int, ...]) -> Integers:
    """One place of these kinds for each start: by how much it is liked, and the less the farther it is."""
    goals = _some(city, kinds)
    apart = np.linalg.norm(city.points[:, None] - city.points[None, goals], axis=2)
    ladders = np.cumsum(city.liked[goals] * np.exp(-apart / _NEAR), axis=1)
    # All ladders one above the other: row i of the chances fills the numbers from i to i + 1.
    steps = (ladders / ladders[:, -1:] + np.arange(len(ladders))[:, None]).ravel()
    found = np.searchsorted(steps, start + random.random(len(start)), side="right") - start * len(goals)
    return np.asarray(goals[found.clip(0, len(goals) - 1)], dtype=np.int64)


def _choose_minutes(random: np.random.Generator, people: int, days: int) -> Integers:
    """When, in minutes since the first midnight; 15% of the people begin six hours later than the others."""
    begins = random.normal(8.4, 0.8, people) + 6.0 * (random.random(people) < 0.15)
    after = np.array([-1.2, 0.0, 3.8, 9.0, 11.5])  # hours after the person's day begins
    clock = begins[:, None, None] + after + random.normal(0.0, 0.5, (people, days, _SLOTS))
    minutes: Integers = np.floor(np.maximum(clock, 0.0) * 60).astype(np.int64)
    return minutes + (np.arange(days) * _DAY)[:, None]


def _list_visits(where: Integers, when: Integers, seen: Flags) -> pa.Table:
    people, days, slots = where.shape
    person = np.repeat(np.arange(people), days * slots)[seen.ravel()]
    minute, place = when[seen], where[seen]
    order = np.lexsort((minute, person))
    return pa.table({"person": person[order], "minute": minute[order], "place": place[order]})
