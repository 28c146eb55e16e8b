"""Files of drawn trajectories: one row for each visit, and read back as an outsider would.

Trajectories and visits are numbered from 1; a trajectory without a visit is one row without a place. Minutes count from
midnight of the first day: dates do not leave, and neither does whose a trajectory might be.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.cards import Shown
from ziggurat.data import Column, Kind, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError
from ziggurat.release._drawn import DrawnFile, label_column, number_symbols, split_pieces, token_values
from ziggurat.sequences import Sequences
from ziggurat.sequences.mobility import (
    Trajectories,
    TrajectoryDomain,
    VisitLayout,
    domain_of_visits,
    read_trajectories,
)

TRAJECTORY, VISIT, PLACE, LATITUDE, LONGITUDE, MINUTE = (
    "trajectory",
    "visit",
    "place",
    "latitude",
    "longitude",
    "minute",
)
CLASS = "class"
_DIGITS = 6  # of a degree: a tenth of a metre
_PUBLIC = (
    "The places, where they lie and the box around them, the classes, how many visits of a trajectory count, how "
    "visits are cut into trajectories and from which Monday minutes are counted are public, and so are the model and "
    "its parameters."
)
_LEFT_OUT = (
    "Trajectories and visits are numbered from 1; people, dates, places that are not on the public list and other "
    "columns of the table did not leave."
)
_ALONE = (
    "The promise hides one {unit}, not a person: whoever has several is protected less, by the sum of their costs, and "
    "with many of them hardly at all."
)


@dataclass(frozen=True)
class TrajectoryFile(Shown, DrawnFile):
    """How drawn trajectories are laid out in a file.

    Attributes
    ----------
    layout, domain
        Where visits stand in the table, and what is publicly known of them.
    """

    layout: VisitLayout
    domain: TrajectoryDomain
    kind: ClassVar[str] = "trajectories"

    @property
    def columns(self) -> tuple[str, ...]:
        """The number of the trajectory and of the visit, the place, and where and when it was, if that is known."""
        where = () if self.domain.ground.points is None else (LATITUDE, LONGITUDE)
        when = (MINUTE,) if self.domain.timed else ()
        return (TRAJECTORY, VISIT, PLACE, *where, *when, *((CLASS,) if self.domain.classes else ()))

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that say who was where and when."""
        at = self.layout
        named = (at.person, at.time, at.place, at.latitude, at.longitude, at.trip, at.label)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def told(self) -> str:
        """What is drawn."""
        return f"Trajectories over {self.domain.size:,} public places"

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is public, what did not leave, and that a promise about trajectories is none about people."""
        return (_PUBLIC, _LEFT_OUT, *hides_no_person(self.domain.unit))

    def facts(self) -> dict[str, Any]:
        """How many places there are and the hash of their list, their box, how visits are cut, and how many count."""
        known, at, ground = self.domain, self.layout, self.domain.ground.to_plain()
        listed = json.dumps(ground, sort_keys=True, separators=(",", ":")).encode()
        public = {"places": known.size, "places_sha256": hashlib.sha256(listed).hexdigest(), "box": ground["box"]}
        cut = {"cut": at.cut, "gap": at.gap, "starts": at.starts, "least": at.least, "longest": known.longest}
        calendar = {"monday": at.calendar.monday.date().isoformat(), "zone": at.calendar.zone}
        return {**public, "classes": list(known.classes), **cut, "calendar": calendar}

    def require_like(self, table: Table) -> None:
        """Refuse a table of others whose visits stand elsewhere or have another unit."""
        if domain_of_visits(table.declared, self.layout, self.domain.ground) != self.domain:
            raise ParameterError("The table of others must have the same classes and unit.")

    def learn_from(self, table: Table) -> Trajectories:
        """Read the trajectories of the private table."""
        return read_trajectories(table, self.layout, self.domain.ground)

    def pieces(self, drawn: Sequences) -> Iterator[pa.Table]:
        """Trajectories as rows, some at a time."""
        for start, piece in split_pieces(drawn):
            yield self._rows(piece, start)

    def read(self, file: Path, engine: DuckDBEngine) -> Table:
        """Open a file as any outsider would who is told its schema."""
        return read(file, self.schema(), engine=engine, on_bad_cell="missing")

    def read_back(self, table: Table) -> Trajectories:
        """The trajectories of such a file."""
        rows = table.raw.rows().sort_by([(TRAJECTORY, "ascending"), (VISIT, "ascending")])
        number, first = _numbers(rows, TRAJECTORY), _numbers(rows, VISIT) == 1
        known = rows[PLACE].is_valid().to_numpy()
        codes = pc.index_in(rows[PLACE], value_set=token_values(self.domain.tokens)).filter(pa.array(known)).to_numpy()
        lengths = np.bincount(number[known] - 1, minlength=int(first.sum()))
        classes = pc.index_in(rows[CLASS], value_set=token_values(self.domain.classes)) if self.domain.classes else None
        return Trajectories(
            self.domain,
            codes,
            np.concatenate([[0], np.cumsum(lengths)]),
            None if classes is None else classes.to_numpy()[first],
            None if self.domain.unit.is_row else np.arange(len(lengths)),
            _numbers(rows, MINUTE)[known] if self.domain.timed else None,
        )

    def schema(self) -> Schema:
        """The schema of the file: one trajectory is its unit, for whose it is nobody knows."""
        whole = all(isinstance(each, int) for each in self.domain.tokens)
        kinds = dict.fromkeys((TRAJECTORY, VISIT, MINUTE), Kind.INTEGER)
        kinds |= {LATITUDE: Kind.REAL, LONGITUDE: Kind.REAL, PLACE: Kind.INTEGER if whole else Kind.TEXT}
        columns = [Column(name, kinds[name]) for name in self.columns if name != CLASS]
        labelled = [label_column(CLASS, self.domain.classes)] if self.domain.classes else []
        return Schema((*columns, *labelled), Unit.of(TRAJECTORY, "trajectory"))

    def _rows(self, drawn: Any, start: int) -> pa.Table:
        at = number_symbols(drawn)
        codes = pa.array(at.codes, mask=~at.filled)
        made = {TRAJECTORY: pa.array(at.whose + start + 1), VISIT: pa.array(at.place + 1)}
        made[PLACE] = token_values(self.domain.tokens).take(codes)
        for name, degrees in zip((LATITUDE, LONGITUDE), self._degrees(), strict=False):
            made[name] = degrees.take(codes)
        if drawn.minutes is not None:
            when = np.zeros(len(at.whose), np.int64)
            when[at.filled] = drawn.minutes
            made[MINUTE] = pa.array(when, mask=~at.filled)
        if drawn.labels is not None:
            made[CLASS] = token_values(self.domain.classes).take(pa.array(drawn.labels[at.whose]))
        return pa.table(made)

    def _degrees(self) -> tuple[pa.Array, ...]:
        ground = self.domain.ground
        if ground.points is None or ground.box is None:
            return ()
        return tuple(pa.array(np.round(each, _DIGITS)) for each in ground.box.to_degrees(ground.points))


def hides_no_person(unit: Unit) -> tuple[str, ...]:
    """What a certificate says if its promise is about something else than people."""
    return () if unit.name == "person" else (_ALONE.format(unit=unit.name),)


def _numbers(rows: pa.Table, name: str) -> np.ndarray:
    return np.asarray(rows[name].fill_null(0).to_numpy())
