"""A promise to one trajectory hides no person: attacks on real days tell the two units apart."""

import numpy as np
import pytest

from ziggurat.attacks.mobility import closest_trajectories
from ziggurat.data import datasets, read
from ziggurat.sequences.mobility import Calendar, MarkovTrajectories, VisitLayout, read_ground, read_trajectories


def _days():
    ground = read_ground(read(datasets.load("foursquare_nyc_pois", offline=True)), "poi", "lat", "lon")
    name = "foursquare_nyc_visits"
    table = read(datasets.load(name, offline=True), schema=datasets.schema(name))
    layout = VisitLayout("user", "minute", "poi", least=2, longest=25, calendar=Calendar("2012-04-03 14:00"))
    return read_trajectories(table, layout, ground)


@pytest.mark.data
@pytest.mark.slow
def test_people_are_seen_through_a_promise_to_trajectories_and_not_through_one_to_people() -> None:
    """The same epsilon of 1; about thirty days of a person, each protected alone, give the person away."""
    days = _days()
    learned = np.random.default_rng(1).random(int(days.owners.max()) + 1) < 0.5
    mine, others = (days.take(kept[days.owners]) for kept in (learned, ~learned))
    found = {}
    for unit, kept in (("person", mine), ("trajectory", mine.each_alone())):
        drawn = MarkovTrajectories(1, random_state=1).fit(kept).sample(len(kept), random_state=1)
        found[unit] = closest_trajectories(drawn, mine, others, distance="edit", random_state=1)
    assert found["trajectory"].verdict
    # How close draws come to people learned from, whose share by chance is a half; at 1 all of them do.
    assert found["person"].closeness.rate < 0.1 < found["trajectory"].closeness.rate
