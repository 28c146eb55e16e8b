"""An audit of a whole session: a ledger, a grant, several questions of which each depends on the answers before.

The promise is that of the grant, for all questions together. The attacker asks whether the row is there; asks the same
again and again, which the ledger answers from its book without noise of its own; asks once more where the answer was
yes; spends all that is left on a third question; and goes on asking for as much again, which the ledger refuses. What
it answers beyond the grant is seen too.

Every question has groups, and every group is a run of its own: nobody is in two groups, noise is drawn for each on its
own, and what is asked about a group next depends on the answers about that group alone.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks.audits import AuditCase, Draw
from ziggurat.data import Bounds, Column, Kind, Schema, Table, read
from ziggurat.errors import BudgetExceededError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours
from ziggurat.randomness import Source
from ziggurat.release.questions import Session

Floats = npt.NDArray[np.float64]
_TABLE, _GROUPS = "people", 500
_AGAIN, _BEYOND = 6, 4


def _open(groups: int, rows: int) -> Table:
    """A table with so many rows in each group; which groups there may be is public."""
    columns = (Column("place", Kind.INTEGER, bounds=Bounds(0, groups - 1)), Column("x", Kind.INTEGER))
    places = np.repeat(np.arange(groups), rows)
    return read(pa.table({"place": places, "x": np.ones_like(places)}), Schema(columns, name=_TABLE))


def _count(session: Session, groups: int, epsilon: Fraction, where: str = "TRUE") -> Floats:
    """Which of the groups are said to have a row: 1 if so, and -1 if not."""
    asked = f"SELECT place, COUNT(*) AS n FROM {_TABLE} WHERE {where} GROUP BY place"  # noqa: S608 - ours
    answer = session.ask(asked, epsilon)
    told = np.zeros(groups)
    for (place,), each in zip(answer.groups, answer.estimates["n"], strict=True):
        told[int(str(place))] = 1 if float(str(each.value)) >= 1 else -1
    return told


def _question(session: Session, groups: int) -> Floats:
    """All that one analyst hears, a row for each group."""
    granted = session.left()
    first = _count(session, groups, granted / 2)
    again = [_count(session, groups, granted / 2) for _ in range(_AGAIN)]
    named = ", ".join(map(str, np.flatnonzero(first > 0).tolist())) or "-1"
    doubted = np.where(first > 0, _count(session, groups, granted / 4, f"place IN ({named})"), 0)
    heard = [first, *again, doubted, _count(session, groups, session.left(), "x = 1")]
    return np.column_stack([*heard, *(_count_beyond(session, groups, granted, at) for at in range(_BEYOND))])


def _count_beyond(session: Session, groups: int, granted: Fraction, at: int) -> Floats:
    """Ask for as much again as was granted; nothing is heard if that is refused, as it should be."""
    try:
        return _count(session, groups, granted, f"x < {at + 2}")
    except BudgetExceededError:
        return np.zeros(groups)


def _converse(epsilon: Fraction) -> Draw:
    """Sessions about some hundred groups each, with ledgers of their own that grant epsilon."""

    def hold(world: Literal[0, 1], groups: int, source: Source) -> Floats:
        with TemporaryDirectory() as folder, Ledger.open(Path(folder) / "ledger.db", throwaway=True) as ledger:
            table = _open(groups, world)
            ledger.create_budget(_TABLE, epsilon, neighbours=Neighbours(table.unit))
            ledger.grant(_TABLE, "ada", epsilon)
            return _question(Session(ledger, "ada", table, source=source), groups)

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        sizes = [min(_GROUPS, runs - begun) for begun in range(0, runs, _GROUPS)]
        held = [hold(world, size, source.child("session", world, at)) for at, size in enumerate(sizes)]
        return np.concatenate(held)

    return draw


CASES = (
    AuditCase(
        "release.Session",
        "no row and one, one row more (all questions of a session that its grant pays for)",
        _converse,
        runs=3000,
        fault=3,
    ),
)
