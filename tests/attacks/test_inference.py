"""Homogeneity and skewness."""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.attacks import homogeneity, skewness
from ziggurat.errors import ParameterError, SchemaError

WARD = pa.table(
    {
        "age": ["20-29"] * 4 + ["30-39"] * 4 + ["40-49"] * 2,
        "illness": ["flu", "flu", "flu", "flu", "flu", "gout", "cold", "cold", "gout", "flu"],
    }
)


def crowd(seed, planted=0):
    generator = np.random.default_rng(seed)
    group, secret = generator.integers(0, 40, 4000), generator.integers(0, 4, 4000)
    secret[group < planted] = 3
    return pa.table({"group": group, "secret": secret})


def test_a_homogeneous_class_is_found_by_hand():
    found = homogeneity(WARD, "illness", ["age"])
    assert (found.learned.hits, found.homogeneous, found.classes) == (4, 1, 3)
    assert found.accuracy.hits == 4 + 2 + 1
    assert found.baseline.hits == 6
    assert "4 of 10 people (40.0%)" in found.sentence


def test_near_certainty_counts_when_it_is_asked_for():
    assert homogeneity(WARD, "illness", ["age"], certainty=0.5).learned.hits == 10
    assert homogeneity(WARD, "illness", ["age"], certainty=0.51).learned.hits == 4


def test_a_planted_class_is_found_and_a_shuffled_table_gives_nothing():
    assert homogeneity(crowd(1), "secret", ["group"]).learned.hits == 0
    planted = crowd(1, planted=4)
    expected = int((planted["group"].to_numpy() < 4).sum())
    found = homogeneity(planted, "secret", ["group"])
    assert found.learned.hits == found.learned_in_groups.hits == expected
    assert found.accuracy.rate > found.shuffled + 0.02


def test_beyond_the_size_of_its_classes_a_shuffled_table_gives_nothing_away():
    found = homogeneity(crowd(2), "secret", ["group"])
    assert found.accuracy.rate > found.baseline.rate  # small classes have a most common value by chance
    assert found.accuracy.rate == pytest.approx(found.shuffled, abs=0.02)


def test_classes_of_one_are_told_apart_from_groups():
    found = homogeneity(pa.table({"age": [1, 2, 3, 3], "ill": ["a", "b", "c", "c"]}), "ill", ["age"])
    assert (found.learned.hits, found.learned_in_groups.hits) == (4, 2)


def test_the_largest_gain_in_belief_is_found_by_hand():
    found = skewness(WARD, "illness", ["age"])
    worst = found.worst[0]
    assert (worst.rows, worst.before, worst.after) == (4, pytest.approx(0.6), pytest.approx(1.0))
    assert found.worst[1].gain == pytest.approx(0.3)  # colds: 2 of 4 against 2 of 10; gout 1 of 4; in the last 1 of 2
    assert found.largest_distance == pytest.approx(0.4)
    assert found.average == pytest.approx((4 * 0.4 + 4 * 0.3 + 2 * 0.3) / 10)
    assert skewness(WARD, "illness", ["age"], threshold=0.35).above.hits == 4


def test_distances_agree_with_pandas():
    table = crowd(3, planted=1)
    frame = table.to_pandas()
    overall = frame["secret"].value_counts(normalize=True)
    inside = frame.groupby("group")["secret"].value_counts(normalize=True).unstack(fill_value=0)
    wanted = inside.sub(overall).abs().sum(axis=1).max() / 2
    found = skewness(table, "secret", ["group"])
    assert found.largest_distance == pytest.approx(wanted)
    assert found.worst[0].gain == pytest.approx(inside.sub(overall).max(axis=1).max())


def test_no_cell_stands_in_a_report():
    for found in (homogeneity(WARD, "illness", ["age"]), skewness(WARD, "illness", ["age"])):
        shown = f"{found.sentence} {found.to_dict()} {found.table.to_pylist()}"
        assert not any(cell in shown for cell in ("flu", "gout", "20-29"))


@pytest.mark.parametrize("attack", [homogeneity, skewness])
def test_bad_input_is_refused(attack):
    with pytest.raises(ParameterError):
        attack(WARD, "age", ["age"])
    with pytest.raises(SchemaError):
        attack(WARD, "ilness", ["age"])
    with pytest.raises(ParameterError):
        attack(WARD, "illness", ["age"], **{"certainty" if attack is homogeneity else "threshold": 2})


def test_a_missing_cell_is_no_value_and_hides_nobody():
    table = pa.table({"g": list("xxxxyyzz"), "s": ["hiv", "hiv", None, None, None, None, "hiv", "flu"]})
    found = homogeneity(table, "s", ["g"])
    assert (found.learned.hits, found.learned.trials, found.homogeneous) == (2, 8, 1)
    assert found.accuracy.hits == 3
    nothing = homogeneity(pa.table({"g": list("xx"), "s": pa.array([None, None], pa.string())}), "s", ["g"])
    assert (nothing.learned.hits, nothing.shuffled) == (0, 0.0)
