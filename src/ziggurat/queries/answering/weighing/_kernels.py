"""The loops that bound what units add, compiled: rows are laid out by unit, and each unit is weighed on its own.

Nothing here looks at two units at once, but for adding up what each is allowed to add; so what is kept of one depends
on its own rows and on the salt in its lots.
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled, part

Array = npt.NDArray[Any]

BUCKETS = 512
"""Into how many buckets rows are laid by their unit, so that those of one bucket are near to each other."""

_FEW = 48


@part
def _scatter(number: Any) -> Any:
    """Spread a number over 64 bits, one to one."""
    mixed = np.uint64(number)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@compiled
def lay_out(
    units: Array, lots: Array, codes: Array, cells: Array, start: int, held: tuple[Array, ...], offsets: Array
) -> None:
    """Copy rows to `held` from `start` on, those of one bucket together; `offsets` says where each bucket begins.

    Cells are cut at the ends of 32 bits, within which they are proven to lie; the least of those means "missing".
    """
    held_units, held_lots, held_codes, held_cells = held
    least, most = np.int64(-(2**31) + 1), np.int64(2**31 - 1)
    rows, width = units.size, cells.shape[0]
    places = np.empty(rows, np.int16)
    sizes = np.zeros(BUCKETS, np.int64)
    for row in range(rows):
        bucket = np.int64(_scatter(units[row]) & np.uint64(BUCKETS - 1))
        places[row] = bucket
        sizes[bucket] += 1
    offsets[0] = start
    for place in range(BUCKETS):
        offsets[place + 1] = offsets[place] + sizes[place]
    ahead = offsets[:-1].copy()
    for row in range(rows):
        place = places[row]
        to = ahead[place]
        ahead[place] = to + 1
        held_units[to], held_lots[to], held_codes[to] = units[row], lots[row], codes[row]
        for each in range(width):
            cell = cells[each, row]
            missing = cell == np.int64(-(2**63))
            held_cells[each, to] = np.int32(-(2**31)) if missing else np.int32(min(max(cell, least), most))


@compiled
def code_texts(
    starts: Array, letters: Array, known: tuple[Array, ...], arena: Array, known_many: int, out: Array
) -> tuple[int, int]:
    """Give equal texts equal codes, different ones different codes: every letter is compared.

    Codes go on from `known_many`. Returns how many texts were coded, which is fewer than there are if `known` or
    `arena` is full, and how many are known.
    """
    slots, ends, hashes = known
    mask = np.uint64(slots.size - 1)
    for place in range(starts.size - 1):
        begin, size = starts[place], starts[place + 1] - starts[place]
        mixed = np.uint64(0xCBF29CE484222325)
        for letter in range(begin, begin + size):
            mixed = (mixed ^ np.uint64(letters[letter])) * np.uint64(0x100000001B3)
        mixed = _scatter(mixed)
        slot = mixed & mask
        found: Any = np.int64(-1)
        while slots[slot] >= 0:
            code = slots[slot]
            if hashes[code] == mixed and ends[code + 1] - ends[code] == size:
                same = True
                for letter in range(size):
                    if arena[ends[code] + letter] != letters[begin + letter]:
                        same = False
                        break
                if same:
                    found = np.int64(code)
                    break
            slot = (slot + np.uint64(1)) & mask
        if found < 0:
            if 2 * known_many >= slots.size or ends[known_many] + size > arena.size:
                return place, known_many
            found = known_many
            slots[slot] = known_many
            hashes[known_many] = mixed
            for letter in range(size):
                arena[ends[known_many] + letter] = letters[begin + letter]
            ends[known_many + 1] = ends[known_many] + size
            known_many += 1
        out[place] = found
    return starts.size - 1, known_many


@compiled
def place_again(slots: Array, hashes: Array, many: int) -> None:
    """Put every known text into a larger table."""
    mask = np.uint64(slots.size - 1)
    for code in range(many):
        slot = hashes[code] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code


@part
def _is_after(lots: Any, codes: Any, one: Any, lot: Any, code: Any) -> Any:
    return lots[one] > lot or (lots[one] == lot and codes[one] > code)


@part
def _sort_rows(rows: Any, many: Any, lots: Any, codes: Any) -> Any:
    """Put the rows of one unit in the order of their lots; rows of one group have the same lot and code."""
    if many > _FEW:
        order = np.argsort(lots[rows[:many]], kind="mergesort")
        rows[:many] = rows[:many][order]
    for end in range(1, many):
        row = rows[end]
        lot, code = lots[row], codes[row]
        place = end
        while place > 0 and _is_after(lots, codes, rows[place - 1], lot, code):
            rows[place] = rows[place - 1]
            place -= 1
        rows[place] = row


@part
def _find_end(rows: Any, many: Any, start: Any, lots: Any, codes: Any) -> Any:
    """Where the rows of the group end that begin at `start`."""
    lot, code = lots[rows[start]], codes[rows[start]]
    end = start + 1
    while end < many and lots[rows[end]] == lot and codes[rows[end]] == code:
        end += 1
    return end


@part
def _find_doubling(lost: Any, last: Any) -> Any:
    """0 for 0, and k for whole numbers from 2**(k-1) below 2**k; the last bucket is open."""
    place = 0
    while lost > 0 and place < last:
        lost >>= 1
        place += 1
    return place


@part
def _weigh_group(
    cells: Any, rows: Any, start: Any, end: Any, source: Any, combine: Any, limit: Any, fine: Any, few: Any
) -> Any:
    """What a unit adds to one total of one group: the same arithmetic as that of `weigh_units`, step by step."""
    held = end - start
    found = held
    if source >= 0:
        found = 0
        for place in range(start, end):
            cell = np.int64(cells[source, rows[place]])
            if cell != np.int64(-(2**31)):
                found += cell if combine == 1 else 1
    if combine == 2:
        return min(found, 1)
    if held <= few:
        exact = found * fine
    else:
        exact = np.int64(floor(np.float64(found) * (np.float64(fine) * np.float64(few)) / np.float64(held) + 0.5))
    return max(min(exact, limit), -limit)


@compiled
def weigh_buckets(
    held: tuple[Array, ...],
    offsets: Array,
    first: int,
    last: int,
    totals: tuple[Array, ...],
    few: int,
    most_groups: int,
    added: tuple[Array, ...],
) -> None:
    """Weigh the units of the buckets from `first` to `last`, and add what they may add to `added`."""
    units, lots, codes, cells = held
    source, combine, limit, fine = totals
    high, low, kept, lost = added
    largest = 1
    for bucket in range(first, last):
        size = 0
        for batch in range(offsets.shape[0]):
            size += offsets[batch, bucket + 1] - offsets[batch, bucket]
        largest = max(largest, size)
    room = 2
    while room < 2 * largest:
        room *= 2
    # Rows of a bucket are copied next to each other, where the processor finds them at once.
    near_units, near_lots = np.empty(largest, np.int64), np.empty(largest, np.uint64)
    near_codes, near_cells = np.empty(largest, np.int32), np.empty((cells.shape[0], largest), np.int32)
    slots, following, rows = np.empty(room, np.int32), np.empty(largest, np.int32), np.empty(largest, np.int32)
    for bucket in range(first, last):
        size = 0
        for batch in range(offsets.shape[0]):
            start, end = offsets[batch, bucket], offsets[batch, bucket + 1]
            for row in range(start, end):
                near_units[size + row - start] = units[row]
                near_lots[size + row - start] = lots[row]
                near_codes[size + row - start] = codes[row]
            for each in range(cells.shape[0]):
                for row in range(start, end):
                    near_cells[each, size + row - start] = cells[each, row]
            size += end - start
        room = 2
        while room < 2 * size:
            room *= 2
        slots[:room] = -1
        for row in range(size):
            unit = near_units[row]
            slot: Any = np.int64((_scatter(unit) >> np.uint64(16)) & np.uint64(room - 1))
            while slots[slot] >= 0 and near_units[slots[slot]] != unit:
                slot = (slot + 1) & (room - 1)
            following[row] = slots[slot]
            slots[slot] = row
        for slot in range(room):
            row, many = slots[slot], 0
            while row >= 0:
                rows[many] = row
                many += 1
                row = following[row]
            if many == 0:
                continue
            _sort_rows(rows, many, near_lots, near_codes)
            groups, counted, start = 0, 0, 0
            while start < many:
                end = _find_end(rows, many, start, near_lots, near_codes)
                code = near_codes[rows[start]]
                if groups < most_groups and code >= 0:
                    kept[code] += 1
                    for each in range(source.size):
                        adds = _weigh_group(
                            near_cells, rows, start, end, source[each], combine[each], limit[each], fine[each], few
                        )
                        high[code, each] += adds >> 32
                        low[code, each] += adds & 0xFFFFFFFF
                counted += min(end - start, few)
                groups += 1
                start = end
            part_of = min(1.0, np.float64(most_groups) / np.float64(groups))
            gone = many - np.int64(floor(np.float64(counted) * part_of))
            lost[_find_doubling(gone, lost.size - 1)] += 1
