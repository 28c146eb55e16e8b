"""Invented titles: the same again by their seed, of four topics, and nothing left to fill in."""

import pytest

from ziggurat.data import read
from ziggurat.data.generators import headlines, headlines_schema, invent
from ziggurat.errors import ParameterError


def test_titles_are_the_same_again_and_of_every_topic():
    made = headlines(300, seed=4)
    assert made.equals(headlines(300, seed=4))
    assert not made.equals(headlines(300, seed=5))
    assert set(made["category"].to_pylist()) == set("btem")
    titles = made["title"].to_pylist()
    assert not any(mark in title for title in titles for mark in "{}|")
    assert all(len(title.split()) > 3 for title in titles)
    assert len(set(titles)) > 250


def test_titles_fit_their_schema():
    table, schema = invent("headlines", 50, 1)
    assert schema == headlines_schema()
    assert not read(table, schema).validate()
    with pytest.raises(ParameterError):
        headlines(0)
