"""A few rows drawn by lot: every pair is equally likely."""

from itertools import combinations

import numpy as np
import pyarrow as pa
from scipy.stats import chisquare

from ziggurat.data.engines._drawing import draw_by_lot
from ziggurat.randomness import seeded

ROWS, LIMIT, DRAWS = 60, 2, 30_000
FALSE_ALARM = 1e-7


def _lots(seed: int, share: float) -> pa.Table:
    return pa.table({"row": np.flatnonzero(np.random.default_rng(seed).random(ROWS) < share)})


def _count_sets(drawn: list[tuple[int, ...]]) -> np.ndarray:
    """How often each set of two out of the first and last rows was drawn."""
    seen = [row for row in range(ROWS) if row < 5 or row >= ROWS - 5]
    return np.array([drawn.count(pair) for pair in combinations(seen, 2)])


def test_every_pair_of_rows_is_equally_likely() -> None:
    source = seeded("pairs")
    drawn = [tuple(draw_by_lot(_lots, ROWS, LIMIT, source).column("row").to_pylist()) for _ in range(DRAWS)]
    assert chisquare(np.bincount(np.ravel(drawn), minlength=ROWS)).pvalue > FALSE_ALARM
    assert chisquare(_count_sets(drawn)).pvalue > FALSE_ALARM


def test_to_keep_the_first_rows_of_a_draw_would_not_be_uniform() -> None:
    """Negative control: what is wrong with `WHERE random() < share LIMIT n`."""
    source, share = seeded("first"), (LIMIT + 6 * np.sqrt(LIMIT) + 18) / ROWS
    drawn = [tuple(_lots(int(source.words(1)[0]) >> 1, share).column("row").to_pylist()[:LIMIT]) for _ in range(3_000)]
    assert chisquare(np.bincount(np.ravel(drawn), minlength=ROWS)).pvalue < FALSE_ALARM


def test_a_draw_that_falls_short_is_made_anew() -> None:
    asked: list[float] = []

    def draw(seed: int, share: float) -> pa.Table:
        asked.append(share)
        return _lots(seed, share) if len(asked) > 1 else _lots(seed, 0.0)

    assert draw_by_lot(draw, ROWS, LIMIT, seeded(1)).num_rows == LIMIT
    assert len(asked) == 2
