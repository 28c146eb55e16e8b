"""Which values a released label may stand for."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.attacks.tables._labels import fitting
from ziggurat.data import Hierarchy


def values_under(label, values, hierarchy=None):
    fits = fitting(pa.array(values), pa.array([label], pa.string()), np.array([0]), hierarchy)
    return [value for value, fit in zip(values, fits[:, 0], strict=True) if fit]


@pytest.mark.parametrize(
    ("label", "values", "under"),
    [
        ("20-24", [19, 20, 24, 25], [20, 24]),
        ("-5 to -1", [-6, -5, -1, 0], [-5, -1]),
        ("[20, 25)", [19.9, 20.0, 24.9, 25.0], [20.0, 24.9]),
        ("(20; 25]", [20, 21, 25], [21, 25]),
        ("90+", [89, 90, 120], [90, 120]),
        (">=90", [89, 90], [90]),
        ("<18", [17, 18], [17]),
        ("≤ 18", [17, 18, 19], [17, 18]),
        ("20", [20, 200], [20]),
        ("20", [20.0, 20.5], [20.0]),
        ("CV1*", ["CV1", "CV12", "CV2"], ["CV1", "CV12"]),
        ("**12", ["CV12", "CV13"], ["CV12"]),
        ("94***", [94110, 95110], [94110]),
        ("{flu, cold}", ["flu", "gout", "cold"], ["flu", "cold"]),
        ("2020-03", [date(2020, 3, 1), date(2020, 4, 1)], [date(2020, 3, 1)]),
        ("2020-Q2", [date(2020, 3, 1), date(2020, 4, 1)], [date(2020, 4, 1)]),
        ("2020", [date(2020, 3, 1), date(2021, 4, 1)], [date(2020, 3, 1)]),
        ("2020-2029", [date(2019, 3, 1), date(2021, 4, 1)], [date(2021, 4, 1)]),
        ("*", ["a", "b"], ["a", "b"]),
        (None, [1, 2], [1, 2]),
        ("a", ["a", "b"], ["a"]),
        ("20-24", ["20-24", "22"], ["20-24"]),
        ("", ["", "b"], [""]),
    ],
)
def test_a_label_stands_for_the_values_that_it_says(label, values, under):
    assert values_under(label, values) == under


def test_a_hierarchy_says_what_is_under_a_label():
    tree = Hierarchy({"flu": ("lungs", "*"), "cold": ("lungs", "*"), "gout": ("joints", "*")})
    assert values_under("lungs", ["flu", "gout", "cold"], tree) == ["flu", "cold"]
    assert values_under("gout", ["flu", "gout"], tree) == ["gout"]
    assert values_under("g*", ["gout"], tree) == []


def test_what_the_attacker_does_not_know_fits_every_label():
    assert values_under("20-24", [None, 30]) == [None]


@given(st.text(max_size=12), st.lists(st.one_of(st.integers(-99, 99), st.none()), min_size=1, max_size=5))
def test_any_label_is_read_without_an_error(label, values):
    fits = fitting(pa.array(values, pa.int64()), pa.array([label]), np.array([0]), None)
    assert fits.shape == (len(values), 1)
