import numpy as np
import pytest

from ziggurat.data import read
from ziggurat.data.datasets import content_digest
from ziggurat.data.generators import (
    city_places,
    city_places_schema,
    city_visits,
    city_visits_schema,
    invent,
)
from ziggurat.errors import ParameterError

PLACES = city_places()
VISITS = city_visits(1_000)


@pytest.fixture(scope="module")
def visits():
    return {name: VISITS[name].to_numpy() for name in VISITS.column_names}


def distances(first, second):
    """Kilometres between places by their degrees."""
    lat, lon = (PLACES[name].to_numpy() for name in ("latitude", "longitude"))
    north = (lat[first] - lat[second]) * 110.574
    return np.hypot(north, (lon[first] - lon[second]) * 111.32 * np.cos(np.radians(45.0)))


def test_the_same_seed_gives_the_same_city_and_visits():
    small = city_visits(50, days=3, places=40, seed=7)
    assert content_digest(small) == "a82d3bc8e391a2ec4610776991df9c72a4da0f7a256d191123624981287ea2cc"
    assert content_digest(city_places(40, seed=7)) == "9b33776c2a5dd1988eae9244dc496e09af60288a98b57d85e2052a10229ee2ff"
    assert not small.equals(city_visits(50, days=3, places=40, seed=8))


def test_other_people_live_in_the_same_city():
    counts = [
        np.bincount(city_visits(2_000, seed=seed, city=city)["place"].to_numpy(), minlength=400)
        for seed, city in ((1, 1), (2, 1), (2, 2))
    ]
    ours, neighbours, strangers = counts
    assert np.corrcoef(ours, neighbours)[0, 1] > 0.9
    assert np.corrcoef(ours, strangers)[0, 1] < 0.5
    assert city_visits(20, seed=3).equals(city_visits(20, seed=3, city=3))


def test_tables_fit_their_schemas():
    assert read(VISITS, schema=city_visits_schema()).validate() == []
    assert read(PLACES, schema=city_places_schema()).validate() == []
    assert city_visits_schema().unit.column == "person"


@pytest.mark.parametrize("days", [1, 3, 21])
def test_other_sizes_fit_theirs(days):
    table = city_visits(30, days=days, places=4, seed=2)
    assert read(table, schema=city_visits_schema(days=days, places=4)).validate() == []


def test_visits_are_in_order_of_person_and_time(visits):
    later = np.diff(visits["person"]) > 0
    assert (np.diff(visits["person"]) >= 0).all()
    assert (later | (np.diff(visits["minute"]) >= 0)).all()


def test_most_visits_of_somebody_are_at_few_places(visits):
    pairs, counts = np.unique(visits["person"] * 400 + visits["place"], return_counts=True)
    first, second = (np.sort(counts[pairs // 400 == who])[::-1][:2] for who in range(2))
    assert first.sum() >= 3
    assert second.sum() >= 3
    top = np.array([np.sort(counts[pairs // 400 == who])[-2:].sum() for who in np.unique(visits["person"])[:200]])
    assert top.sum() / np.isin(visits["person"], np.unique(visits["person"])[:200]).sum() > 0.5


def test_work_is_nearer_to_home_than_chance_would_have_it(visits):
    day = (visits["minute"] % 1440 // 60 >= 8) & (visits["minute"] % 1440 // 60 < 16)
    homes = {p: w for p, w in zip(visits["person"], visits["place"], strict=True) if w % 4 < 2}
    pairs = [
        (homes[p], w)
        for p, w in zip(visits["person"][day], visits["place"][day], strict=True)
        if w % 4 == 2 and p in homes
    ]
    home, work = np.array(pairs).T
    assert distances(home, work).mean() < 0.8 * distances(np.random.default_rng(0).permutation(home), work).mean()


def test_days_have_a_morning_and_an_evening(visits):
    counts = np.bincount(visits["minute"] // 60 % 24, minlength=24)
    assert counts[7:9].mean() > 5 * counts[2:5].mean()
    assert counts[17:20].mean() > 2 * counts[2:5].mean()


def test_people_are_not_equally_active(visits):
    counts = np.bincount(visits["person"], minlength=1_000)
    assert counts.var() > 1.5 * counts.mean()
    assert 10 < counts.mean() < 15


def test_they_are_invented_by_name():
    assert invent("city_visits", 20, 3)[0].equals(city_visits(20, seed=3))
    assert invent("city_places", 20, 3)[0].equals(city_places(seed=3))


@pytest.mark.parametrize("wrong", [{"people": 0}, {"days": 0}, {"places": 0}, {"days": 1.5}])
def test_counts_that_are_none_are_refused(wrong):
    with pytest.raises(ParameterError, match="must be a whole number of at least 1"):
        city_visits(**wrong)


def test_a_city_of_three_places_is_refused():
    with pytest.raises(ParameterError, match="at least 4"):
        city_places(3)
