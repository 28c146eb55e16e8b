"""Curator B: protects the student's own rows before they leave as queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from ziggurat.cards import Shown
from ziggurat.data import Unit, write_csv
from ziggurat.errors import DataError, MixedNeighboursError, ParameterError
from ziggurat.ledger import Ledger
from ziggurat.local import Reports, VectorNoise
from ziggurat.pate.teachers import check_units
from ziggurat.plain import fields_to_plain
from ziggurat.privacy import (
    Amount,
    Event,
    Neighbours,
    PureDP,
    Relation,
    RepeatedEvent,
    compose,
    exact_positive,
    in_words,
    whole_number,
)
from ziggurat.randomness import Source
from ziggurat.release._cited import Cited, look_up
from ziggurat.release._plan import Plan, Progress, ShownPlan
from ziggurat.release._purse import Purse
from ziggurat.release.labels._described import features_digest
from ziggurat.release.labels._labelled import reading

KIND = "privatised queries"


@dataclass(frozen=True)
class Sent:
    """One call of `privatize`: how many rows, the SHA-256 of what was sent, and where that is written."""

    rows: int
    digest: str
    entry: Cited | None

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return fields_to_plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the JSON form, which whoever reads the calls compares with what was read."""
        entry = None if data["entry"] is None else Cited.from_dict(data["entry"])
        return cls(whole_number(data["rows"], "rows"), str(data["digest"]), entry)


@dataclass(frozen=True)
class PrivatizedQueries(Shown):
    """What a `QueryCurator` has sent so far: public, and enough to compute what it promised.

    Attributes
    ----------
    rho, dimension, norm
        The parameters of the noise.
    neighbours, rows_per_unit
        Whom it protects, and how many rows each of them has in every call.
    calls
        What was sent. Nobody knows whether two calls were about the same rows, so their costs add up.
    rehearsal
        Whether the noise was seeded.
    """

    rho: Fraction
    dimension: int
    norm: Fraction
    neighbours: Neighbours
    rows_per_unit: int
    calls: tuple[Sent, ...]
    rehearsal: bool

    @property
    def noise(self) -> VectorNoise:
        """The mechanism that made every report."""
        return VectorNoise(2 * self.rho, self.dimension, norm=self.norm, neighbours=self.neighbours)

    @property
    def call_event(self) -> Event:
        """What one call costs one unit."""
        return _times(self.noise.event, self.rows_per_unit)

    @property
    def event(self) -> Event:
        """What all calls cost one unit."""
        return _times(self.call_event, len(self.calls))

    @property
    def promise(self) -> PureDP:
        """The promise to one unit for everything sent: 2 rho for every row of it in every call."""
        return compose(self.event).pure()

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return fields_to_plain(self)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read the JSON form; anything else raises `DataError`."""
        return reading(lambda: cls._read(data), "privatised queries")

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Self:
        made = cls(
            exact_positive(data["rho"], "rho"),
            whole_number(data["dimension"], "dimension"),
            exact_positive(data["norm"], "norm"),
            Neighbours.from_dict(data["neighbours"]),
            whole_number(data["rows_per_unit"], "rows_per_unit"),
            tuple(Sent.from_dict(call) for call in data["calls"]),
            data["rehearsal"],
        )
        if made.to_dict() != data or type(made.rehearsal) is not bool:
            raise ValueError("other facts than those of privatised queries")
        return made

    def require_recorded(self, ledger: Ledger) -> None:
        """Raise `DataError` unless the ledger says exactly this of every call."""
        for call in self.calls:
            if call.entry is None:
                raise DataError("Some queries are recorded in no ledger; leave the student's ledger out.")
            there = look_up(ledger, call.entry)
            said = (there.event, there.answer, there.rehearsal)
            if said != (self.call_event, _answer(self.noise, call.rows, call.digest), self.rehearsal):
                raise DataError(f"The file says something else than entry {call.entry.seq} of the student's ledger.")


@dataclass(frozen=True, eq=False)
class PrivatizedPlan(ShownPlan, Plan[Reports]):
    """Noisy rows of the student's, before noise is drawn.

    It has no identity: nothing may tell whether the rows are the same, so that they are never given again.
    """

    noise: VectorNoise
    rows: Any = field(repr=False)
    event: Event
    kind = KIND

    @property
    def text(self) -> str:
        """How many rows of how many features."""
        return f"{len(self.rows):,} privatised rows of {self.noise.dimension} features"

    @property
    def reads(self) -> tuple[str, ...]:
        """The student's rows."""
        return ("the rows that were handed over",)

    def run(self, source: Source, progress: Progress | None) -> Reports:  # noqa: ARG002
        """Protect every row on its own."""
        return self.noise.privatize(self.rows, source)

    def to_ledger(self, output: Reports) -> dict[str, Any]:
        """The number of rows and the digest of the reports; none of the rows, by which a guess could be checked."""
        return _answer(self.noise, len(self.rows), features_digest(output.value))

    def artefacts(self, output: Reports, folder: Path) -> list[Path]:
        """The reports as a table."""
        file = folder / "queries.csv"
        columns = {f"feature_{place}": output.value[:, place] for place in range(self.noise.dimension)}
        write_csv(pa.table(columns), file)
        return [file]

    @property
    def not_protected(self) -> tuple[str, ...]:
        """How many rows there are is public."""
        return ("The number of rows is public, and so are the bound of their norm and the kind of noise.",)

    def details(self, output: Reports) -> dict[str, Any]:
        """The noise, and how many rows."""
        return {"privatiser": self.noise.to_dict(), "rows": len(output.value)}


class QueryCurator:
    """Adds noise to the student's rows, so that they may be sent to the holder of the teachers as queries.

    Formal guarantee: epsilon = 2 rho for every row in every call, under replace-one neighbours. Each row is shrunk into
    the l1 ball of radius `norm`, a public bound, and Laplace noise of scale norm/rho is added to every entry. Proof:
    two rows of the ball differ by at most 2 norm in l1, so no report becomes more than e^(2 norm/(norm/rho)) =
    e^(2 rho) times as likely by replacing the row. With rows of norm 1 this is Lap(1/rho), which promises 2 rho and not
    rho, because the ball has diameter 2 (`VectorNoise` also counts the rounding to its grid, in less than a millionth).
    What is done with the reports, teaching a student included, keeps the promise. The number of rows is public.

    Calls add up, because rows of two calls are not known to be different: privatise training and threshold samples in
    one call and divide the reports.

    Parameters
    ----------
    rho
        Half the epsilon of one row.
    dimension
        How many features a row has.
    ledger, analyst, budget
        The student's own ledger, which pays for every call before a row is read: its budget states replace-one
        neighbours. Without one nothing is recorded, and certificates say so.
    unit, rows_per_unit
        Whom the promise protects: a row by default, or with a ledger the unit of the budget. Any other unit must have
        exactly so many rows in each call, and pays for all of them.
    norm
        The public bound of the l1 norm of a row.
    source
        Where noise comes from: secure unless a rehearsal passes a seeded one.
    """

    def __init__(
        self,
        rho: Amount,
        dimension: int,
        ledger: Ledger | None = None,
        analyst: str | None = None,
        *,
        budget: str | None = None,
        unit: Unit | None = None,
        rows_per_unit: int = 1,
        norm: Amount = 1,
        source: Source | None = None,
    ) -> None:
        if (ledger is None) != (analyst is None) or (ledger is None) != (budget is None):
            raise ParameterError("Give ledger, analyst and budget together, or none of them.")
        self._ledger, self._budget = ledger, budget or ""
        self._purse = Purse(ledger, self._budget, analyst or "", source)
        self._rho = exact_positive(rho, "rho")
        self._neighbours = self._protect(unit)
        self._rows = whole_number(rows_per_unit, "rows_per_unit")
        if self._neighbours.unit.is_row and self._rows > 1:
            raise ParameterError("A row has one row; name the unit that has several, such as Unit.person('patient').")
        self._noise = VectorNoise(2 * self._rho, dimension, norm=norm, neighbours=self._neighbours)
        self._calls: list[Sent] = []

    @property
    def sent(self) -> PrivatizedQueries:
        """What has been sent so far, for a certificate."""
        noise = self._noise
        return PrivatizedQueries(
            self._rho, noise.dimension, noise.norm, self._neighbours, self._rows, tuple(self._calls),
            self._purse.rehearsal,
        )  # fmt: skip

    def privatize(self, X: Any, units: Any = None) -> Reports:  # noqa: N803 - as in scikit-learn
        """Pay for one report of every row and make it.

        The ledger keeps the number of rows and the SHA-256 of the reports, so that it can be seen later what was sent.
        It keeps no digest of the rows: whoever guesses a row could check the guess by it, without any noise. For the
        same reason the same rows are never recognised, and cost again.

        Parameters
        ----------
        X
            The rows, as a matrix of numbers.
        units
            The unit of every row, where the unit is not a row.

        Raises
        ------
        DataError
            A row has an entry that is no finite number or another length, or a unit another number of rows than
            stated; nothing was spent.
        BudgetExceededError
            It costs more than is left; nothing was spent.
        """
        rows = self._noise._read(X)
        if not len(rows):
            raise DataError("There are no rows to privatise.")
        self._require_units(units, len(rows))
        made = self._purse.release(PrivatizedPlan(self._noise, rows, _times(self._noise.event, self._rows)))
        self._calls.append(Sent(len(rows), features_digest(made.output.value), made.entry))
        return made.output

    def __repr__(self) -> str:
        where = "no ledger" if self._ledger is None else f"the budget {self._budget!r}"
        return f"QueryCurator(rho {in_words(self._rho)}, {self._noise.dimension} features, paid by {where})"

    def _protect(self, unit: Unit | None) -> Neighbours:
        if self._ledger is None:
            return Neighbours(unit or Unit(), Relation.REPLACE_ONE)
        own = self._ledger.budget(self._budget).neighbours.unit
        wanted = Neighbours(unit or own, Relation.REPLACE_ONE)
        budgeted = self._purse.protects(wanted)
        if budgeted != wanted:
            raise MixedNeighboursError(
                f"The budget {self._budget!r} protects {budgeted}, but privatised rows protect {wanted}; create one "
                "with Neighbours(unit, 'replace-one')."
            )
        self._purse.grant(wanted)
        return wanted

    def _require_units(self, units: Any, rows: int) -> None:
        """Everybody has the same number of rows: otherwise that number would show in how many reports there are."""
        if self._neighbours.unit.is_row:
            if units is not None:
                raise ParameterError("The unit is a row; leave `units` out, or name another unit.")
            return
        if units is None or len(units) != rows:
            raise DataError(f"Give the unit ({self._neighbours.unit.name}) of every row.")
        _, counts = np.unique(check_units(units), return_counts=True)
        if counts.min() != self._rows or counts.max() != self._rows:
            raise DataError(f"Every {self._neighbours.unit.name} must have exactly {self._rows} of the rows.")


def _times(event: Event, count: int) -> Event:
    return event if count == 1 else RepeatedEvent(event.neighbours, event, count)


def _answer(noise: VectorNoise, rows: int, digest: str) -> dict[str, Any]:
    return {"kind": KIND, "privatiser": noise.to_dict(), "rows": rows, "digest": digest}
