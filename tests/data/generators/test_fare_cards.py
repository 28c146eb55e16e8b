"""Invented fare cards: the columns of the thesis, the same again from the same seed, and rides that make sense."""

import numpy as np
import pyarrow.compute as pc
import pytest

from ziggurat.data import read
from ziggurat.data.datasets import content_digest
from ziggurat.data.generators import fare_card_stops, fare_cards, fare_cards_schema
from ziggurat.errors import ParameterError

TABLE = fare_cards(200, seed=3)


def test_the_same_seed_gives_the_same_table() -> None:
    assert content_digest(TABLE) == "28b288a79fb3f783fdd129e30e340f850d1df237d75da48eb2eef026afb9c274"
    assert TABLE.equals(fare_cards(200, seed=3))
    assert not TABLE.equals(fare_cards(200, seed=4))


def test_the_columns_are_those_of_the_thesis_and_fit_the_schema() -> None:
    assert TABLE.column_names == list(fare_cards_schema().names)
    assert read(TABLE, schema=fare_cards_schema()).validate() == []
    assert str(fare_cards_schema().unit) == "one person (column Card_Number_E)"


def test_some_forget_to_tap_out_and_then_nothing_of_the_exit_is_known() -> None:
    missing = [pc.is_null(TABLE.column(name)) for name in ("Exit_Date", "Exit_Time", "Destination_Location_ID")]
    assert 0 < pc.sum(missing[0]).as_py() < TABLE.num_rows / 20
    assert missing[0] == missing[1] == missing[2]


def test_nobody_leaves_before_entering() -> None:
    held = TABLE.drop_null()
    entered, left = (
        [
            f"{day} {clock}"[:16]
            for day, clock in zip(
                *(held.column(f"{each}_{what}").to_pylist() for what in ("Date", "Time")), strict=True
            )
        ]
        for each in ("Entry", "Exit")
    )
    assert all(np.array(entered) < np.array(left))


def test_stops_are_different_places() -> None:
    stops = fare_card_stops()
    assert len(set(stops.column("Location_ID").to_pylist())) == stops.num_rows
    points = np.stack([stops.column(name).to_numpy() for name in ("Latitude", "Longitude")], axis=1)
    assert len(np.unique(points.round(5), axis=0)) == stops.num_rows


def test_a_card_has_at_least_one_day() -> None:
    with pytest.raises(ParameterError, match="days"):
        fare_cards(3, days=0)
