"""Reading public places, and trajectories on them, from tables of any engine."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ziggurat.data import Kind, Table, open_table
from ziggurat.data.expressions import null_if_missing
from ziggurat.errors import DataError
from ziggurat.privacy import whole_number
from ziggurat.sequences._domain import Token
from ziggurat.sequences._relational import Numbers, numbers_of
from ziggurat.sequences.mobility._ground import Box, Ground
from ziggurat.sequences.mobility._layout import VisitLayout, require_kind, require_place
from ziggurat.sequences.mobility._trajectories import Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility._visits import VisitRelation

_PIECE = 1 << 20


def read_ground(
    table: object,
    name: str,
    latitude: str | None = None,
    longitude: str | None = None,
    *,
    regions: Iterable[str] = (),
    box: Box | None = None,
) -> Ground:
    """Read a table of places, one row each, that is public: whoever calls this declares so.

    A list of the stops of a city is public; one put together from the visits of people is not, and a promise about
    them would not hold.

    Parameters
    ----------
    table
        A table, or anything that `ziggurat.data.read` opens.
    name
        The column with the name of each place, a text or a whole number; places come in its order.
    latitude, longitude
        The columns with their degrees; None if that is not known.
    regions
        Columns of a hierarchy (district, line), finest first.
    box
        The public rectangle; by default the smallest that holds the places.
    """
    held, levels, degrees = (
        open_table(table),
        list(regions),
        [each for each in (latitude, longitude) if each is not None],
    )
    require_place(held.declared[name])
    for each in degrees:
        require_kind(held.declared[each], (Kind.INTEGER, Kind.REAL), "degrees are numbers")
    for each in levels:
        require_place(held.declared[each])
    given = _read_places(held, list(dict.fromkeys([name, *degrees, *levels])))
    names: tuple[Token, ...] = tuple(given.column(name).to_pylist())
    if len(set(names)) != len(names):
        raise DataError(f"A place stands twice in column {name!r}; give every place one row.")
    known = {level: tuple(given.column(level).to_pylist()) for level in levels} or None
    if latitude is None or longitude is None:
        return Ground(names, regions=known)
    return Ground.of(names, given.column(latitude), given.column(longitude), box=box, regions=known)


def _read_places(table: Table, names: list[str]) -> pa.Table:
    asked = exp.select(*(null_if_missing(table.declared[each]) for each in names)).from_(table.relation([], names))
    found = table.engine.query(asked.order_by(exp.column(names[0], quoted=True)))
    if not found.num_rows or any(column.null_count for column in found.columns):
        raise DataError("Every public place needs a name, and whatever else is read of it; complete the table.")
    return found


def read_trajectories(table: object, layout: VisitLayout, ground: Ground) -> Trajectories:
    """Read trajectories; raw until a mechanism has protected them.

    The engine finds the places, puts visits in order and cuts trajectories, and answers piece by piece, so that memory
    holds little more than codes and minutes. People come in the order of their names, and their trajectories in the
    order of time or trip.

    Parameters
    ----------
    table
        A table, or anything that `ziggurat.data.read` opens.
    layout
        Where person, time and place stand in it.
    ground
        The public places; visits elsewhere do not count.
    """
    return read_relation(VisitRelation.of(open_table(table), layout, ground))


def stream_trajectories(
    table: object, layout: VisitLayout, ground: Ground, *, visits: int = _PIECE, parts: int = 1
) -> Iterator[Trajectories]:
    """Read trajectories part by part, each with whole people, so that memory need not hold them all.

    As `read_trajectories`; what is counted in the parts adds up to what is counted in the whole, for every person is
    in one part. Owners are numbered from 0 in each.

    Parameters
    ----------
    table, layout, ground
        As for `read_trajectories`.
    visits
        How many visits are given at a time, at least; a few pieces of the engine's answer more.
    parts
        In how many parts of people the engine is asked: the more, the less memory it needs itself, for it must put the
        visits of a part in order; each part reads the table once.
    """
    relation = VisitRelation.of(open_table(table), layout, ground)
    whole_number(visits, "visits")
    asked = range(whole_number(parts, "parts"))
    return itertools.chain.from_iterable(stream_visits(relation, visits, part, parts) for part in asked)


def stream_visits(relation: VisitRelation, size: int, part: int = 0, parts: int = 1) -> Iterator[Trajectories]:
    """Ask for visits person by person, and give trajectories of whole people, about `size` visits at a time."""
    with relation.asked((), part, parts) as kept:
        in_order = kept.order_by("owner", "number", "place")
        held: list[pa.RecordBatch] = []
        for batch in relation.engine.batches(in_order):
            held.append(batch)
            if sum(each.num_rows for each in held) >= size:
                whole, held = _split_people(held)
                yield from _made(relation.domain, whole)
        yield from _made(relation.domain, held)


def read_relation(relation: VisitRelation) -> Trajectories:
    """All trajectories of a relation of visits."""
    domain = relation.domain
    codes, places = np.zeros(0, np.int32), np.zeros(0, np.int64)
    nobody = Trajectories(domain, codes, np.zeros(1, np.int64), codes if domain.classes else None, places, places)
    return Trajectories.together([nobody, *stream_visits(relation, _PIECE)])


def _split_people(batches: list[pa.RecordBatch]) -> tuple[list[pa.RecordBatch], list[pa.RecordBatch]]:
    """The rows of all people but the last, who may go on in the next piece, and the rest."""
    table = pa.Table.from_batches(batches)
    starts = np.flatnonzero(_begins(table.column("owner")))
    last = int(starts[-1]) if len(starts) else 0
    return table.slice(0, last).to_batches(), table.slice(last).combine_chunks().to_batches()


def _begins(owners: pa.ChunkedArray) -> Numbers:
    """Whether a row is the first of its owner."""
    changed = pc.not_equal(owners.slice(1), owners.slice(0, max(len(owners) - 1, 0)))
    return np.concatenate([np.ones(min(len(owners), 1), bool), changed.to_numpy().astype(bool)])


def _made(domain: TrajectoryDomain, batches: list[pa.RecordBatch]) -> Iterator[Trajectories]:
    if not batches or not sum(batch.num_rows for batch in batches):
        return
    table = pa.Table.from_batches(batches).combine_chunks()
    held: Any = table.to_batches()[0]
    starts = np.flatnonzero(numbers_of(held, "place") == 1)
    owners = np.cumsum(_begins(table.column("owner"))) - 1
    labels = numbers_of(held, "label")[starts] if domain.classes else None
    offsets = np.append(starts, len(owners))
    yield Trajectories(domain, numbers_of(held, "code"), offsets, labels, owners[starts], numbers_of(held, "minute"))
