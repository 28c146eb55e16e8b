"""The scoreboard on sparse ratings."""

import math

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.attacks import invented_ratings, ratings_curve, scoreboard
from ziggurat.errors import ParameterError
from ziggurat.randomness import seeded

NONE = math.nan
NETFLIX = np.array([[5, 3, 3, 3], [3, 2, 2, 3], [2, 1, 3, 3], [5, 3, 2, 1]], dtype=float)
IMDB = np.array([[3, 2, 2, 3], [5, 3, 2, NONE], [5, NONE, 3, 3], [2, 1, 3, 3]])  # figure 2.3 of document 000
TRUTH = [1, 3, 0, 2]


@pytest.fixture(scope="module")
def ratings():
    return invented_ratings(1500, 400, source=seeded(1))


def test_the_movie_example_is_traced_back_row_by_row():
    found = scoreboard(NETFLIX, IMDB, truth=TRUTH)
    assert found.best == (1, 3, 0, 2)
    assert found.best_right.hits == 4
    assert found.right.hits == found.claimed.hits > 0  # four records are few to stand out from, but no claim is wrong


def test_scores_are_those_of_the_paper():
    found = scoreboard(NETFLIX, IMDB[:1])
    weight = 1 / math.log(4)
    distances = np.abs(NETFLIX - IMDB[0])
    scores = weight * np.exp(-distances / 1.5).sum(axis=1)
    first, second = sorted(scores)[::-1][:2]
    assert found.eccentricities[0] == pytest.approx((first - second) / scores.std())


def test_a_table_with_missing_cells_is_an_array_with_nan():
    names = ["m0", "m1", "m2", "m3"]
    released = pa.table(dict(zip(names, NETFLIX.T, strict=True)))
    known = pa.table({name: pa.array(column, from_pandas=True) for name, column in zip(names, IMDB.T, strict=True)})
    assert scoreboard(released, known, truth=TRUTH) == scoreboard(NETFLIX, IMDB, truth=TRUTH)


def test_eight_exact_ratings_identify_nearly_everybody_and_two_do_not(ratings):
    points = {
        point.known: point for point in ratings_curve(ratings, known=(2, 8), errors=(0,), source=seeded(2)).points
    }
    assert points[8].right.low > 0.85
    assert points[2].right.high < 0.7
    assert points[8].right.low > points[8].control.high


def test_errors_make_it_harder(ratings):
    exact, off = ratings_curve(ratings, known=(6,), errors=(0, 2), source=seeded(3)).points
    assert off.right.high < exact.right.low


def test_shuffled_ratings_identify_nobody(ratings):
    dense = np.where(ratings.toarray() > 0, ratings.toarray(), np.nan)
    shuffled = seeded(4).simulation().permuted(dense, axis=0)  # each item's ratings go to other people
    found = scoreboard(shuffled, dense[:200], truth=list(range(200)))
    assert found.best_right.hits <= 10  # by chance below 1 in expectation


def test_the_same_seed_gives_the_same_curve(ratings):
    first, second = (ratings_curve(ratings, known=(3,), people=20, source=seeded(5)) for _ in range(2))
    assert first == second
    assert first.table.num_rows == 2
    assert "1,500 records" in first.sentence


def test_nobody_stands_out_among_equals_or_alone():
    assert scoreboard(np.ones((5, 3)), np.ones((1, 3))).claims == (None,)
    assert scoreboard(np.ones((1, 3)), np.ones((1, 3))).claims == (None,)


@pytest.mark.parametrize(
    "attack",
    [
        lambda: scoreboard(NETFLIX, IMDB[:, :3]),
        lambda: scoreboard(NETFLIX, IMDB, truth=[1]),
        lambda: scoreboard(NETFLIX, IMDB, scale=0),
        lambda: scoreboard(NETFLIX, IMDB, eccentricity=-1),
        lambda: scoreboard(np.ones(3), np.ones(3)),
        lambda: scoreboard(pa.table({"m": ["a"]}), NETFLIX),
        lambda: ratings_curve(NETFLIX, known=(5,)),
        lambda: ratings_curve(NETFLIX, known=(0,)),
        lambda: invented_ratings(0, 5, source=seeded(1)),
    ],
)
def test_bad_input_is_refused(attack):
    with pytest.raises(ParameterError):
        attack()
