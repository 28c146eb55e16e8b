"""People who were kept back from teachers, as a control for attacks on their students.

Under add-or-remove-one each unit is kept back by a coin of its own, whoever else is there; under replace-one a fixed
number of units is drawn by their places. Teachers learn from the others. So neighbouring tables leave parts that are
neighbours or equal, for every outcome of the coins or the draw, and what the labels promise about the part they promise
about the table (the proof is in `release.models._attacking`; here units take the place of rows).
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ArtefactError, DataError
from ziggurat.files import write_bytes
from ziggurat.privacy import Relation
from ziggurat.release._drafts import check_share

if TYPE_CHECKING:
    from ziggurat.attacks.models import LabelledRows
    from ziggurat.randomness import Source
    from ziggurat.release.models import TaskRows

CONTROL = "control.npz"
"""The file of a control in the folder of the teachers; it holds rows of people, and stays there."""
_OWNER_ONLY = 0o600


@dataclass(frozen=True, eq=False)
class TeachersControl:
    """People whose rows trained teachers, and people who were kept back, each with one row.

    Attributes
    ----------
    members, others
        Who was learned from, and who was not: features, and the code of each label.
    share
        With which probability a coin kept each back, or which share was drawn.
    drawn
        Whether a fixed number was drawn, and no coins were tossed.
    back
        Of every row of the table, whether it was kept back.
    """

    members: LabelledRows = field(repr=False)
    others: LabelledRows = field(repr=False)
    share: float
    drawn: bool
    back: npt.NDArray[np.bool_] = field(repr=False)

    @classmethod
    def toss(cls, rows: TaskRows, share: float, relation: Relation, source: Source) -> Self:
        """Keep back a share of the people of a table, with all their rows; DataError if nobody is left on a side."""
        from ziggurat.release.models import count_fitted

        names = np.arange(len(rows)) if rows.units is None else np.asarray(rows.units).astype(str)
        units, code = np.unique(names, return_inverse=True)
        drawn, coins = relation is Relation.REPLACE_ONE, source.simulation()
        kept = np.zeros(len(units), bool)
        if drawn:
            kept[coins.permutation(len(units))[: len(units) - count_fitted(len(units), share, relation)]] = True
        else:
            kept = coins.random(len(units)) < share
        return cls.of(rows, kept[code.ravel()], check_share(share), drawn=drawn)

    @classmethod
    def of(cls, rows: TaskRows, back: npt.NDArray[np.bool_], share: float, *, drawn: bool) -> Self:
        """Take the first row of everybody on either side."""
        from ziggurat.attacks.models import LabelledRows

        names = np.arange(len(rows)) if rows.units is None else np.asarray(rows.units).astype(str)
        first = np.zeros(len(rows), bool)
        first[np.unique(names, return_index=True)[1]] = True
        labels = np.asarray(rows.labels)
        inside, outside = (LabelledRows(rows.features[pick], labels[pick]) for pick in (first & ~back, first & back))
        if not len(inside) or not len(outside):
            raise DataError("There is nobody to learn from, or nobody was kept back; keep another share back.")
        return cls(inside, outside, share, drawn, back)

    def save(self, path: str | Path) -> None:
        """Write it for its owner's eyes only; it holds rows of people."""
        content = io.BytesIO()
        np.savez(
            content, member_rows=self.members.features, member_labels=self.members.labels,
            other_rows=self.others.features, other_labels=self.others.labels,
            share=self.share, drawn=self.drawn, back=self.back,
        )  # fmt: skip
        write_bytes(path, content.getvalue(), mode=_OWNER_ONLY)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        from ziggurat.attacks.models import LabelledRows

        try:
            with np.load(Path(path), allow_pickle=False) as held:
                sides = [LabelledRows(held[f"{side}_rows"], held[f"{side}_labels"]) for side in ("member", "other")]
                return cls(sides[0], sides[1], float(held["share"]), bool(held["drawn"]), held["back"].astype(bool))
        except Exception:  # noqa: BLE001 - a damaged archive fails in many ways
            raise ArtefactError(f"The control in {str(path)!r} is damaged; restore a copy, or teach again.") from None

    def require_same(self, rows: TaskRows, share: float) -> None:
        """Refuse to go on with a run of other rows, or another share."""
        if len(self.back) != len(rows) or self.share != share:
            raise DataError("An unfinished run kept other people back; name another --out.")


def take_rows(rows: TaskRows, pick: Any) -> TaskRows:
    """Some rows of a table."""
    from ziggurat.release.models import TaskRows

    return TaskRows(
        rows.features[pick],
        None if rows.labels is None else rows.labels[pick],
        None if rows.units is None else rows.units[pick],
    )
