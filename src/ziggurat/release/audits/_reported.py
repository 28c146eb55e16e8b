"""Audits of errors that are counted privately, and of queries that leave with noise; many runs in one call.

Nobody is in two groups, and every row has noise of its own: each group, or row, is a run.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits import AuditCase, Draw
from ziggurat.randomness import Source
from ziggurat.release.labels import QueryCurator
from ziggurat.utility import count_errors_privately

_CORNERS = ((1.0, 0.0), (0.0, -1.0))


def _count_errors(relation: str) -> Callable[[Fraction], Draw]:
    """Nobody in a group, or one whom the model got wrong; or one whom it got right, in whose place comes the other."""
    there = relation == "replace-one"

    def make(epsilon: Fraction) -> Draw:
        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            names = [f"g{at}" for at in range(runs)]
            whose = names if there or world else []
            said = np.full(len(whose), 1 - world)
            found = count_errors_privately(
                np.ones(len(whose), np.int64), whose, said, names, epsilon=epsilon, relation=relation, source=source
            )
            return np.clip(found.wrong, 0, 1) - there * np.clip(found.right, 0, 1)

        return draw

    return make


def _send_queries(epsilon: Fraction) -> Draw:
    """Rows at two corners of the ball, which are as far apart as any; the score is the log ratio of likelihoods."""

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        curator = QueryCurator(epsilon / 2, 2, source=source)
        sent = np.asarray(curator.privatize(np.tile(_CORNERS[world], (runs, 1))).value, np.float64)
        near = [np.abs(sent - np.array(corner)).sum(axis=1) for corner in _CORNERS]
        return np.asarray(near[0] - near[1])

    return draw


CASES = (
    AuditCase(
        "utility.count_errors_privately",
        "nobody in a group and one whose label is named wrongly, one row more",
        _count_errors("add-or-remove-one"),
        runs=3000,
        fault=2,
    ),
    AuditCase(
        "utility.count_errors_privately (replace-one)",
        "one whose label is named rightly and one whose label is not, one row replaced",
        _count_errors("replace-one"),
        runs=3000,
        fault=3,
    ),
    AuditCase(
        "release.QueryCurator",
        "two corners of the l1 ball, one row replaced",
        _send_queries,
        runs=40_000,
        fault=2,
    ),
)
