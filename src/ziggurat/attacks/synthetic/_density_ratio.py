"""Who is a synthetic table made from? People where it is denser than people like them are in the world.

Van Breugel, Sun, Qian, van der Schaar (2023), "Membership inference attacks against synthetic data through overfitting
detection", AISTATS (DOMIAS): a person's score is log p_synthetic(x) - log p_reference(x). Without the second term, rows
in the middle of the population look like members whoever was learned from; with it, only what the generator puts there
*beyond* the population counts.

Two densities that bear mixed tables are offered. By *neighbours*: p(x) = (1/n) sum 1 / (d(x, x_i) + h) over the nearest
rows by Gower's distance d, where h is a hundredth of the mean distance of x to its nearest reference rows, the same for
both tables. So heavy a tail compares distances by their ratio, as estimates by the nearest row do, and lets a copy
stand out in dense and in sparse places alike: it finds generators that follow single rows. By *pairs*: of all pairs of
columns the counts, with half a row added to each cell (Krichevsky and Trofimov 1981), numbers cut at the reference's
quantiles; the score is the mean over the pairs of log ratios. It finds generators that fit noise in counts, where no
row is near to any other.

Which rows are members plays no part in a score: ranges of numbers are those of all rows together, and cuts are the
reference's. So members and others can change places, and the test of `judge_scores` is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np

from ziggurat.attacks._guesses import whole
from ziggurat.attacks.models import MembershipAttack, judge_scores
from ziggurat.attacks.synthetic._alike import (
    ComparedRows,
    Floats,
    make_generator,
    name_copies,
    read_alike,
    scale_rows,
)
from ziggurat.attacks.synthetic._closest_kernels import nearest
from ziggurat.data import Table
from ziggurat.data.coded import Codes
from ziggurat.errors import ParameterError

Density = Literal["neighbours", "pairs"]
"""Which densities are compared."""

DENSITY_ROWS = 100_000
"""At most how many synthetic and how many reference rows make a density, unless told otherwise."""

_NEIGHBOURS = 5
_NEARLY_EQUAL = 0.01  # of the distance to reference rows
_LEAST_GAP = 1e-4  # where reference rows equal a row, there is a width all the same
_CUTS = 16  # parts of a number's range, equally full in the reference
_PRIOR = 0.5
_NAMES = {
    "neighbours": "the density of synthetic rows around a person",
    "pairs": "how often a person's pairs of values occur in the synthetic rows",
}


def attack_synthetic_membership(
    synthetic: object,
    members: Table | object,
    others: object,
    reference: object,
    *,
    random_split: bool,
    density: Density = "neighbours",
    columns: Iterable[str] | None = None,
    epsilon: Fraction | str | int | None = None,
    delta: Fraction | str | int = 0,
    kept_back: float | None = None,
    tried: int = 1,
    at_most: int = DENSITY_ROWS,
    random_state: int | None = None,
) -> MembershipAttack:
    """Attack a synthetic table by density ratios: who of these people was it made from?

    For the steward: the figures are exact functions of private rows. The unit is a row.

    Parameters
    ----------
    synthetic
        The synthetic table, or several copies, whose rows are then taken together.
    members, others
        Rows that it was made from, and rows that it was not made from. The members' schema says what columns are.
    reference
        Further rows of the same kind, neither members nor others: what an attacker knows of the population.
    random_split
        Whether members and others were drawn at random from the same people: only then is there a verdict.
    density
        "neighbours" finds followed rows, "pairs" finds counts that were fitted too well.
    columns
        Which columns to compare; by default all.
    epsilon, delta
        What is promised about adding or removing one of these rows, if anything.
    kept_back
        The probability with which a coin kept each of them back; None if as many were drawn as there are members.
    tried
        How many attacks are tried on the same people, such as both densities: verdict and bound are corrected for it.
    at_most
        How many synthetic and how many reference rows make a density at most, drawn at random.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    if density not in _NAMES:
        raise ParameterError(f"The density is one of {', '.join(_NAMES)}.")
    most, draw = whole(at_most, "The largest number of rows"), make_generator(random_state)
    given = [("the table of others", others), ("the reference", reference), *name_copies(synthetic)]
    inside, outside, known, *copies = read_alike(members, given, columns)
    made = ComparedRows(inside.names, inside.numeric, np.concatenate([copy.cells for copy in copies]))
    asked = ComparedRows(inside.names, inside.numeric, np.concatenate([inside.cells, outside.cells]))
    fewer = [each.take(draw.permutation(len(each))[:most]) for each in (made, known)]
    scores = _RULES[density](asked, fewer[0], fewer[1], draw)
    parts = np.split(scores, [len(inside)])
    said: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "kept_back": kept_back, "tried": tried}
    return judge_scores(_NAMES[density], *parts, random_split=random_split, **said)


def _by_neighbours(asked: ComparedRows, made: ComparedRows, known: ComparedRows, draw: np.random.Generator) -> Floats:
    people, synthetic, reference = scale_rows([asked, made, known], [asked, known])
    wide = min(_NEIGHBOURS, len(reference))
    # As much of either table is looked at, whatever their sizes are.
    many = min(len(synthetic), max(1, round(wide * len(synthetic) / len(reference))), 10 * wide)
    far = nearest(reference, people, wide, draw.permutation(len(reference)))[1]
    near = nearest(synthetic, people, many, draw.permutation(len(synthetic)))[1]
    width = np.maximum(_NEARLY_EQUAL * far.mean(axis=1), _LEAST_GAP)[:, None]
    masses = [(1 / (each + width)).sum(axis=1) / rows for each, rows in ((near, len(synthetic)), (far, len(reference)))]
    return np.asarray(np.log(masses[0]) - np.log(masses[1]))


def _by_pairs(asked: ComparedRows, made: ComparedRows, known: ComparedRows, draw: np.random.Generator) -> Floats:  # noqa: ARG001
    coded = [_cut_column(place, asked, made, known) for place in range(len(asked.names))]
    chosen = list(combinations(coded, 2)) or [(each, each) for each in coded]
    total = np.zeros(len(asked))
    for one, two in chosen:
        size = int(max(each.max() for each in two)) + 1
        cells = [first * size + second for first, second in zip(one, two, strict=True)]
        total += _log_share(cells[0], cells[1]) - _log_share(cells[0], cells[2])
    return total / len(chosen)


def _cut_column(place: int, *tables: ComparedRows) -> list[Codes]:
    """The codes of one column in each table; numbers are cut at quantiles of the last one, what is missing is apart."""
    cells = [each.cells[:, place] for each in tables]
    if not tables[0].numeric[place]:
        return [each.astype(np.int64) for each in cells]
    present = cells[-1][~np.isnan(cells[-1])]
    ends = np.unique(np.quantile(present, np.linspace(0, 1, _CUTS + 1)[1:-1])) if present.size else np.empty(0)
    return [np.where(np.isnan(each), 0, 1 + np.searchsorted(ends, each)).astype(np.int64) for each in cells]


def _log_share(asked: Codes, held: Codes) -> Floats:
    """The logarithm of the share of each asked cell among those held, half a row added to each cell that occurs."""
    kinds, numbers = np.unique(np.concatenate([asked, held]), return_inverse=True)
    counts = np.bincount(numbers[len(asked) :], minlength=len(kinds)) + _PRIOR
    return np.asarray(np.log(counts[numbers[: len(asked)]]) - np.log(counts.sum()))


_RULES: dict[str, Callable[[ComparedRows, ComparedRows, ComparedRows, np.random.Generator], Floats]] = {
    "neighbours": _by_neighbours,
    "pairs": _by_pairs,
}
