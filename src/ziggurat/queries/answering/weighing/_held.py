"""The rows of many units, held by unit while they pass by, and weighed when all are there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.queries.answering._bounding import UnitTotal
from ziggurat.queries.answering.weighing._few import UnitGroups, add_by_code, find_doublings

Integers = npt.NDArray[np.int64]

_FEW = 100_000
"""Up to how many rows are weighed without a compiler."""
_COMBINES = {"rows": 0, "count": 0, "sum": 1, "units": 2}


@dataclass
class WeighedUnits:
    """What units add: by group the sums and how many units are in them, and units by the rows they lose."""

    sums: list[list[int]]
    kept: Integers
    lost: Integers

    def with_others(self, others: WeighedUnits | None) -> WeighedUnits:
        """What both these units and others add."""
        if others is not None:
            self.add(others)
        return self

    def add(self, other: WeighedUnits) -> None:
        """Take in what other units add."""
        for mine, theirs in zip(self.sums, other.sums, strict=True):
            mine[:] = [one + two for one, two in zip(mine, theirs, strict=True)]
        self.kept += other.kept
        self.lost += other.lost


@dataclass(frozen=True)
class UnitLimits:
    """How much of one unit counts: `rows` in one group, in `groups` groups; and what it adds, into `many` groups.

    `sources` says for each total which cell it reads, -1 for none; `doublings` how units are told apart by rows lost.
    """

    rows: int
    groups: int
    totals: Sequence[UnitTotal]
    sources: Sequence[int]
    many: int
    doublings: int


class HeldRows:
    """Rows of units: kept as they come while they are few, laid out by unit in memory that is set aside when many.

    Parameters
    ----------
    limits
        What of one unit counts.
    cells
        How many numbers a row has.
    room
        How many rows may come at most.
    """

    def __init__(self, limits: UnitLimits, cells: int, room: int) -> None:
        self.limits, self._cells, self._room = limits, cells, room
        self._pieces: list[list[Any]] = []
        self._offsets: list[Integers] = []
        self._laid: Any = None
        self._rows = 0
        self._texts: _TextCodes | None = None

    def take(self, piece: pa.Table) -> bool:
        """Take in rows: the unit, its lot, the code of the group, the cells. False if there is no room for them."""
        if self._rows + piece.num_rows > self._room:
            return False
        if not piece.num_rows:  # which may have no chunks, either
            return True
        columns = [_join_chunks(column) for column in piece.columns]
        self._rows += piece.num_rows
        if self._rows <= _FEW:
            self._pieces.append(columns)
            return True
        for each in [*self._pieces, columns]:
            self._lay_out(each)
        self._pieces = []
        return True

    def is_full(self, more: int) -> bool:
        """Whether so many rows more would be more than half of what there is room for."""
        return self._rows > 0 and 2 * (self._rows + more) > self._room

    def weigh(self) -> WeighedUnits:
        """What all units add together."""
        return self._weigh_few() if self._laid is None else self._weigh_many()

    def _lay_out(self, columns: list[Any]) -> None:
        from ziggurat.queries.answering.weighing._kernels import BUCKETS, lay_out

        if self._laid is None:
            # Memory is taken from the machine only where rows are written to.
            kinds, room = (np.int64, np.uint64, np.int32), self._room
            self._laid = (*(np.empty(room, kind) for kind in kinds), np.empty((self._cells, room), np.int32))
        start = int(self._offsets[-1][-1]) if self._offsets else 0
        offsets = np.empty(BUCKETS + 1, np.int64)
        units, lots, codes, cells = self._units(columns[0]), *_numbers(columns)
        lay_out(units, lots, codes, cells, start, self._laid, offsets)
        self._offsets.append(offsets)

    def _units(self, column: Any) -> Integers:
        if not _is_text(column.type):
            return whole_units(column)
        if self._texts is None:
            self._texts = _TextCodes()
        return self._texts.code(column)

    def _weigh_few(self) -> WeighedUnits:
        limits = self.limits
        units, lots, codes, cells = self._joined()
        found = UnitGroups(units, lots, codes)
        counts = find_doublings(found.count_lost(limits.rows, limits.groups), limits.doublings - 1)
        kept = found.find_kept(limits.groups) & (found.codes >= 0)
        adds = [
            found.add_up(total, None if source < 0 else cells[source], limits.rows)[kept]
            for total, source in zip(limits.totals, limits.sources, strict=True)
        ]
        return WeighedUnits(
            add_by_code(found.codes[kept], adds, limits.many),
            np.bincount(found.codes[kept], minlength=limits.many).astype(np.int64),
            np.bincount(counts, minlength=limits.doublings).astype(np.int64),
        )

    def _joined(self) -> tuple[Integers, Any, Any, Integers]:
        known: dict[str | bytes, int] = {}
        units = [
            np.array([known.setdefault(text, len(known)) for text in piece[0].to_pylist()], dtype=np.int64)
            if _is_text(piece[0].type)
            else whole_units(piece[0])
            for piece in self._pieces
        ]
        if not units:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing.astype(np.uint64), nothing.astype(np.int32), np.zeros((self._cells, 0), np.int64)
        lots, codes, cells = zip(*(_numbers(piece) for piece in self._pieces), strict=True)
        return np.concatenate(units), np.concatenate(lots), np.concatenate(codes), np.concatenate(cells, axis=1)

    def _weigh_many(self) -> WeighedUnits:
        from ziggurat.queries.answering.weighing._kernels import BUCKETS, weigh_buckets

        limits, offsets = self.limits, np.stack(self._offsets)
        totals = (
            np.array(limits.sources, dtype=np.int64),
            np.array([_COMBINES[each.combine] for each in limits.totals], dtype=np.int64),
            np.array([each.limit for each in limits.totals], dtype=np.int64),
            np.array([each.fineness for each in limits.totals], dtype=np.int64),
        )
        workers = max(1, min(os.cpu_count() or 1, 16))

        def weigh(worker: int) -> WeighedUnits:
            high, low = (np.zeros((limits.many, len(limits.totals)), np.int64) for _ in range(2))
            kept, lost = np.zeros(limits.many, np.int64), np.zeros(limits.doublings, np.int64)
            first, last = worker * BUCKETS // workers, (worker + 1) * BUCKETS // workers
            added = (high, low, kept, lost)
            weigh_buckets(self._laid, offsets, first, last, totals, limits.rows, limits.groups, added)
            sums = [
                [(one << 32) + two for one, two in zip(*rows, strict=True)]
                for rows in zip(high.tolist(), low.tolist(), strict=True)
            ]
            return WeighedUnits(sums, kept, lost)

        with ThreadPoolExecutor(workers) as pool:
            first, *others = pool.map(weigh, range(workers))
        for other in others:
            first.add(other)
        return first


class _TextCodes:
    """Texts as numbers: the same text has the same number, and no other has it."""

    def __init__(self) -> None:
        self._slots = np.full(1 << 16, -1, np.int32)
        self._ends, self._hashes = np.zeros((1 << 15) + 2, np.int64), np.zeros((1 << 15) + 1, np.uint64)
        self._arena = np.empty(1 << 20, np.uint8)
        self._many = 0

    def code(self, texts: Any) -> Integers:
        from ziggurat.queries.answering.weighing._kernels import code_texts

        starts, letters = _letters(texts)
        out, done = np.empty(len(texts), np.int64), 0
        while done < out.size:
            known = (self._slots, self._ends, self._hashes)
            coded, self._many = code_texts(starts[done:], letters, known, self._arena, self._many, out[done:])
            done += coded
            if done < out.size:
                self._grow(int(starts[done + 1] - starts[done]))
        return out

    def _grow(self, wanted: int) -> None:
        """Make room for twice as many; each stays where its hash leads, or in the next free place."""
        size = 2 * self._slots.size
        self._ends = np.concatenate([self._ends, np.zeros(size // 2 + 2 - self._ends.size, np.int64)])
        self._hashes = np.concatenate([self._hashes, np.zeros(size // 2 + 1 - self._hashes.size, np.uint64)])
        self._arena = np.concatenate([self._arena, np.empty(self._arena.size + wanted, np.uint8)])
        from ziggurat.queries.answering.weighing._kernels import place_again

        self._slots = np.full(size, -1, np.int32)
        place_again(self._slots, self._hashes, self._many)


def whole_units(column: Any) -> Integers:
    """Units that are whole numbers, dates or truth values, as 64 bits each: no two become one."""
    if pa.types.is_boolean(column.type):
        return np.array(column.to_pylist(), dtype=np.int64)
    found = _words(column)
    return found.view(np.int64) if found.dtype == np.uint64 else found.astype(np.int64, copy=False)


def _words(column: Any) -> npt.NDArray[Any]:
    """The numbers of a column without a missing one, as they lie in memory: Arrow's own way would load pandas."""
    kind = "int32" if pa.types.is_date32(column.type) else str(column.type)
    return np.frombuffer(column.buffers()[1] or b"", dtype=kind)[column.offset : column.offset + len(column)]


def can_hold(unit: pa.DataType) -> bool:
    """Whether units of this type can be told apart here."""
    kinds = pa.types
    return kinds.is_integer(unit) or kinds.is_boolean(unit) or kinds.is_date32(unit) or _is_text(unit)


def _is_text(kind: pa.DataType) -> bool:
    kinds = pa.types
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or _is_bytes(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _letters(texts: Any) -> tuple[Integers, npt.NDArray[np.uint8]]:
    is_large = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    width = np.int64 if is_large else np.int32
    _, ends, letters = texts.buffers()
    starts = np.frombuffer(ends, dtype=width)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return starts, np.frombuffer(letters or b"", dtype=np.uint8)


def _numbers(columns: list[Any]) -> tuple[Any, Any, Integers]:
    lots, codes, *cells = map(_words, columns[1:])
    stacked = np.stack(cells) if cells else np.zeros((0, len(columns[0])), np.int64)
    if lots.dtype == np.int64:
        lots = lots.view(np.uint64) ^ np.uint64(1 << 63)  # in the same order
    return lots, codes, stacked


def _join_chunks(column: pa.ChunkedArray) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
