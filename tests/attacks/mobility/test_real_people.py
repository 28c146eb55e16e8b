"""How exposed the people of Foursquare in New York are: the figures that the guide prints."""

import os
from pathlib import Path

import numpy as np
import pytest

from ziggurat.attacks.mobility import (
    Resolution,
    compare_identifiability,
    cut_in_time,
    find_homes,
    link_traces,
    measure_uniqueness,
)
from ziggurat.data import Unit
from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain

_FOLDER = Path(os.environ.get("ZIGGURAT_DATA") or "none")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not (_FOLDER / "foursquare_nyc_visits.parquet").exists(), reason="needs foursquare_nyc"),
]


@pytest.fixture(scope="module")
def people() -> Trajectories:
    """Everybody's visits; the first minute is 14:00 of a Tuesday."""
    pandas = pytest.importorskip("pandas")
    visits, places = (pandas.read_parquet(_FOLDER / f"foursquare_nyc_{name}.parquet") for name in ("visits", "pois"))
    visits = visits.sort_values(["user", "minute"], kind="stable")
    counts = visits.groupby("user").size().to_numpy()
    ground = Ground.of(places.poi.tolist(), places.lat, places.lon)
    domain = TrajectoryDomain.on(ground, int(counts.max()), unit=Unit.person("user"))
    columns = visits.poi.to_numpy() - 1, np.r_[0, counts.cumsum()], None, np.arange(len(counts))
    return Trajectories(domain, *columns, visits.minute.to_numpy() + 38 * 60)


@pytest.mark.parametrize(
    ("resolution", "rates"),
    [
        (Resolution(), (0.961, 1.0, 1.0, 1.0, 1.0)),
        (Resolution(grid=32, hours=6), (0.358, 0.890, 0.978, 0.994, 0.998)),
        (Resolution(hours=None), (0.065, 0.637, 0.941, 0.992, 0.998)),
    ],
)
def test_four_points_single_out_nearly_everybody(people, resolution, rates):
    found = measure_uniqueness(people, 5, resolution=resolution, random_state=0)
    assert [each.rate for each in found.alone] == pytest.approx(rates, abs=0.001)


def test_places_link_two_halves_of_a_period(people):
    found = link_traces(*cut_in_time(people))
    assert (found.first.hits, found.first.trials, found.candidates) == (850, 966, 1045)
    assert found.chance < 1e-12


def test_home_and_work_are_shared_with_nobody(people):
    assert find_homes(people).last.alone.rate == pytest.approx(0.996, abs=0.001)
    assert find_homes(people, resolution=Resolution(grid=32, hours=None)).last.alone.rate == pytest.approx(
        0.589, abs=0.001
    )


def test_coarsening_leaves_people_in_the_data_findable(people):
    """Cells and days are no protection: whoever is in the file is told from whoever is not."""
    kept = np.random.default_rng(0).permutation(len(people)) < 541
    learned, control = people.take(kept), people.take(~kept)
    releases = {"raw": (learned, Resolution()), "cells": (learned, Resolution(grid=16, hours=24))}
    found = compare_identifiability(learned, control, releases, random_state=1).releases
    assert found["raw"].alone.rate > 0.99
    assert found["cells"].advantage.low > 0.8
