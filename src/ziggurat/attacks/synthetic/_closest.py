"""How close synthetic rows come to the rows they were made from, and to rows kept back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.attacks._guesses import FEWEST, whole
from ziggurat.attacks._swaps import bound_luck
from ziggurat.attacks.synthetic._alike import (
    ComparedRows,
    Floats,
    make_generator,
    name_copies,
    number_alike,
    read_alike,
    scale_rows,
)
from ziggurat.attacks.synthetic._closest_kernels import nearest
from ziggurat.data import Table
from ziggurat.data.coded import Codes
from ziggurat.findings import CONFIDENCE, Finding, Share
from ziggurat.wording import count_noun

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_LOW = 0.05


@dataclass(frozen=True)
class Closeness:
    """How close synthetic rows come to some real ones, in Gower's distance (0 to 1).

    Attributes
    ----------
    distance, distance_median
        The 5th percentile and the median of the distances to the closest row.
    ratio, ratio_median
        The same of the distance to the closest row as a share of that to the second closest; 1 where both are 0, and
        None if there is no second row.
    """

    distance: float
    distance_median: float
    ratio: float | None
    ratio_median: float | None


@dataclass(frozen=True)
class ClosestRecords(Finding):
    """Whether synthetic rows come closer to the rows they were made from than to others.

    Attributes
    ----------
    synthetic_rows, rows
        How many synthetic rows were measured, and against how many rows of the original and of the hold-out each.
    closer
        The synthetic rows whose closest real row is one of the original's; a half is expected of a synthetic table that
        follows no single row. Where both are equally close, a coin decides.
    chance
        By how much chance alone moves that share either way (at 95 %): synthetic rows that have a real row in common
        move together, so this may be more than the interval of the share says.
    luck
        A bound on how likely as many, or more, are closer to the original if it and the hold-out change places.
    training, holdout
        How close they come to the original's rows, and to the hold-out's.
    copies
        The synthetic rows that equal a row of the original.
    copies_drawn, copies_holdout
        For scale: those that equal one of the drawn rows of the original, and one of as many of the hold-out.
    uniques_copied
        The rows that are unique in the original and occur in the synthetic table.
    """

    synthetic_rows: int
    rows: int
    closer: Share
    chance: float
    luck: float
    training: Closeness
    holdout: Closeness
    copies: Share
    copies_drawn: Share
    copies_holdout: Share
    uniques_copied: Share

    @property
    def verdict(self) -> bool | None:
        """Whether synthetic rows are closer to the original more often than chance explains; None if that is not told.

        Where rows, or the real rows that synthetic ones are closest to, are fewer than 30 or so, what chance does is
        not normally distributed; then nothing is said. Otherwise it is said by chance about once in forty times.
        """
        few = min(self.rows, self.synthetic_rows) < FEWEST or self.chance > _Z / 2 / FEWEST**0.5
        return None if few else self.closer.rate - 0.5 > self.chance

    @property
    def overfit(self) -> bool:
        """Whether synthetic rows are closer to the original more often than chance explains, as far as that is told."""
        return self.verdict is True

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        text = (
            f"{self.closer.rate:.1%} of {count_noun(self.synthetic_rows, 'synthetic row')} are closer to the original "
            f"than to the hold-out (50% expected, give or take {self.chance:.1%}); {self.copies} equal a row of the "
            f"original, which copies {self.uniques_copied.hits:,} of {self.uniques_copied.trials:,} unique rows"
        )
        if self.overfit:
            return f"{text}. Warning: the model has overfitted, its rows follow people of the original."
        if self.verdict is None:
            return f"{text}. These are too few rows for a verdict."
        return f"{text}. That they are closer is no more than chance explains."

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        return {**super().to_dict(), "overfit": self.overfit, "verdict": self.verdict}

    @property
    def table(self) -> pa.Table:
        """The original beside the hold-out."""
        sides, copied = (self.training, self.holdout), (self.copies_drawn, self.copies_holdout)
        return pa.table(
            {
                "real rows": ["original", "hold-out"],
                "closest": [self.closer.rate, 1 - self.closer.rate],
                "distance, 5th percentile": [each.distance for each in sides],
                "distance, median": [each.distance_median for each in sides],
                "distance ratio, 5th percentile": [each.ratio for each in sides],
                "distance ratio, median": [each.ratio_median for each in sides],
                "synthetic rows equal to one": [each.rate for each in copied],
            }
        )


def closest_records(
    original: Table | pa.Table,
    synthetic: object,
    holdout: Table | pa.Table,
    *,
    columns: Iterable[str] | None = None,
    at_most: int = 30_000,
    random_state: int | None = None,
) -> ClosestRecords:
    """Measure how close synthetic rows come to the original, and to rows that were kept back.

    The distance is Gower's: numbers by their range in original and hold-out, categories alike or not, and a missing
    cell like nothing but a missing cell.

    Parameters
    ----------
    original, holdout
        The rows that the synthetic table was made from, and rows of the same kind that it was not made from. As many
        of each are drawn, so that a synthetic row finds both equally near unless it follows the original.
    synthetic
        The synthetic table, or several copies, whose rows are then taken together.
    columns
        Which columns to compare; by default all.
    at_most
        How many rows of each table are measured at most, drawn at random. Copies are looked for among all.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    most = whole(at_most, "The largest number of rows")
    first, outside, *copies = read_alike(original, [("the hold-out", holdout), *name_copies(synthetic)], columns)
    made = ComparedRows(first.names, first.numeric, np.concatenate([copy.cells for copy in copies]))
    draw = make_generator(random_state)
    size = min(len(first), len(outside), most)
    ours, theirs = (draw.permutation(len(each))[:size] for each in (first, outside))
    asked = made.take(draw.permutation(len(made))[:most])
    mine, other, queries = scale_rows([first.take(ours), outside.take(theirs), asked], [first, outside])
    near, far = (nearest(each, queries, 2, draw.permutation(size)) for each in (mine, other))
    closer, chance, luck = _closer(near, far, 2 * size, draw)
    kinds = number_alike([first.cells, outside.cells, made.cells])
    return ClosestRecords(
        synthetic_rows=len(asked),
        rows=size,
        closer=closer,
        chance=chance,
        luck=luck,
        training=_closeness(near[1]),
        holdout=_closeness(far[1]),
        copies=_count_copies(kinds[2], kinds[0]),
        copies_drawn=_count_copies(kinds[2], kinds[0][ours]),
        copies_holdout=_count_copies(kinds[2], kinds[1][theirs]),
        uniques_copied=_uniques(kinds[0], kinds[2]),
    )


def _closer(
    near: tuple[Codes, Floats], far: tuple[Codes, Floats], real: int, draw: np.random.Generator
) -> tuple[Share, float, float]:
    """The share closer to the original, how far chance moves it, and how likely chance alone takes it so far.

    If the synthetic rows do not know which of the `real` rows are the original's, the names "original" and "hold-out"
    could be dealt anew, half of the rows each. The count is then the sum of w over a random half of the real rows,
    where each is the closest of w synthetic rows; its variance is that of a sample without replacement.

    The i-th drawn rows of both are a pair, drawn before anybody looks. Whether the two change places is a fair coin, so
    that twice what the count exceeds its mean by is a sum of the pairs' differences of w with random signs. Whatever
    these are, `bound_luck` bounds how likely so large a sum is, however few the rows are, if no two real rows are
    equally close. If some are, a coin for each synthetic row decides, which moves the sum less than the differences
    say.
    """
    gap = near[1][:, 0] - far[1][:, 0]
    wins = (gap < 0) | ((gap == 0) & (draw.random(gap.size) < 0.5))
    mine, theirs = (np.bincount(part, minlength=real // 2) for part in (near[0][wins, 0], far[0][~wins, 0]))
    squares = float((mine.astype(np.float64) ** 2).sum() + (theirs.astype(np.float64) ** 2).sum())
    spread = (squares - wins.size**2 / real) * real / (real - 1) / 4
    return (
        Share(int(wins.sum()), wins.size),
        float(_Z * np.sqrt(max(0.0, spread)) / wins.size),
        bound_luck(mine - theirs),
    )


def _closeness(distances: Floats) -> Closeness:
    first, second = distances[:, 0], distances[:, 1]
    low, middle = (float(value) for value in np.quantile(first, [_LOW, 0.5]))
    if np.isinf(second).any():
        return Closeness(low, middle, None, None)
    ratios = np.where(second > 0, first / np.where(second > 0, second, 1), 1.0)
    return Closeness(low, middle, *(float(value) for value in np.quantile(ratios, [_LOW, 0.5])))


def _count_copies(made: Codes, real: Codes) -> Share:
    return Share(int(np.isin(made, real).sum()), made.size)


def _uniques(real: Codes, made: Codes) -> Share:
    kinds, times = np.unique(real, return_counts=True)
    once = kinds[times == 1]
    return Share(int(np.isin(once, made).sum()), once.size)
