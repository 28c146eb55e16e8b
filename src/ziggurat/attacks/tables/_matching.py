"""Which released rows fit what an attacker knows of a person: a join that understands generalised labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.attacks.tables._labels import Truths, fitting, says_nothing, write_cell
from ziggurat.compiling import compiled
from ziggurat.data import Hierarchy, Table
from ziggurat.data.coded import CodedTable, Codes, refine_classes
from ziggurat.errors import DataError, ParameterError

_TEXTS = (pa.string(), pa.large_string(), pa.string_view())
_MOST_TESTS, _MOST_PAIRS, _MOST_CELLS = 20_000_000_000, 300_000_000, 1_000_000_000


@dataclass(frozen=True)
class Matches:
    """Which released combinations fit which known ones.

    Attributes
    ----------
    known, released
        Pairs that fit: a known combination, and a released one.
    suppressed
        Released combinations that say nothing in any of the columns; nobody claims them.
    silent
        Columns in which no known value fits any label.
    """

    known: Codes
    released: Codes
    suppressed: Truths
    silent: tuple[str, ...]


@dataclass(frozen=True)
class _LabelFit:
    """How the values of one column fit its labels: by one label each (`single`, -1 for none), or by a matrix."""

    single: Codes | None
    allowed: Truths
    labels: Codes


def hierarchies_for(table: Table, names: Sequence[str], given: Mapping[str, Hierarchy] | None) -> dict[str, Hierarchy]:
    """Return the hierarchies given, and those that the schema declares for the other columns."""
    for name in given or {}:
        if name not in names:
            raise ParameterError(f"There is a hierarchy for {name!r}, which is not among the columns to match.")
    declared = {name: table.schema[name].hierarchy for name in names}
    return {**{name: each for name, each in declared.items() if each is not None}, **(given or {})}


def match(
    known: CodedTable, released: CodedTable, names: Sequence[str], hierarchies: Mapping[str, Hierarchy]
) -> Matches:
    """Return which combinations of `released` fit which of `known`, in all of the columns `names`."""
    suppressed = _find_suppressed(released, names)
    kept = np.flatnonzero(~suppressed)
    links, theirs, ours = [], [], []
    for name in names:
        there, here = released.names.index(name), known.names.index(name)
        link, codes = _link(known, here, released, there, kept, hierarchies.get(name))
        links.append(link)
        theirs.append(codes)
        ours.append(known.codes[here])
    silent = tuple(name for name, link in zip(names, links, strict=True) if not _speaks(link))
    pairs = _join(links, ours, theirs)
    return Matches(pairs[0], kept[pairs[1]], suppressed, silent)


def _find_suppressed(released: CodedTable, names: Sequence[str]) -> Truths:
    silent = np.ones(released.counts.size, dtype=np.bool_)
    for name in names:
        codes, labels = released.column(name)
        empty = [says_nothing(write_cell(label)) for label in labels.to_pylist()]
        silent &= np.array(empty, dtype=np.bool_)[codes]
    return silent


def _link(
    known: CodedTable, here: int, released: CodedTable, there: int, kept: Codes, hierarchy: Hierarchy | None
) -> tuple[_LabelFit, Codes]:
    used, codes = np.unique(released.codes[there][kept], return_inverse=True)
    values, labels = known.values[here], released.values[there]
    if (
        hierarchy is None
        and values.type == labels.type
        and not _may_generalize(labels.take(used))
        and not values.null_count
    ):
        single = pc.index_in(values, value_set=labels.take(used)).fill_null(-1)
        return _LabelFit(
            single.to_numpy(zero_copy_only=False).astype(np.int64), np.empty((0, 0), np.bool_), used
        ), codes
    if len(values) * used.size > _MOST_CELLS:
        raise DataError(f"Column {known.names[here]!r} has too many different values to match; leave it out.")
    fits = fitting(values, labels, used, hierarchy)
    alone = bool((fits.sum(axis=1) <= 1).all())
    single = np.where(fits.any(axis=1), fits.argmax(axis=1), -1).astype(np.int64) if alone and used.size else None
    return _LabelFit(single, fits, used), codes.astype(np.int64)


def _may_generalize(labels: pa.Array) -> bool:
    """Whether a label may stand for more than itself; numbers and dates never do."""
    if labels.null_count:
        return True
    texts = labels.to_pylist() if labels.type in _TEXTS else []
    return any("*" in text or text[:1] in "{[(" for text in texts)


def _speaks(link: _LabelFit) -> bool:
    return bool((link.single >= 0).any()) if link.single is not None else bool(link.allowed.any())


def _join(links: Sequence[_LabelFit], ours: Sequence[Codes], theirs: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Join by hash on columns where a value has one label; test the other columns pair by pair."""
    mine, his, number = np.zeros(ours[0].size, np.int64), np.zeros(theirs[0].size, np.int64), 1
    for link, our, their in zip(links, ours, theirs, strict=True):
        if link.single is not None:
            together = np.concatenate([link.single[our] + 1, their + 1])
            ids, number = refine_classes(np.concatenate([mine, his]), number, together, link.labels.size + 1)
            mine, his = ids[: our.size], ids[our.size :]
    order = np.argsort(his, kind="stable")
    starts = np.searchsorted(his[order], np.arange(number + 1))
    tested = [i for i, link in enumerate(links) if link.single is None]
    if int(np.diff(starts)[mine].sum()) > _MOST_TESTS:
        raise DataError("Too many pairs of rows would have to be compared; match on more columns or fewer people.")
    return _test_pairs(
        [links[i].allowed for i in tested],
        [ours[i] for i in tested],
        [theirs[i][order] for i in tested],
        mine,
        starts,
        order,
    )


def _test_pairs(
    allowed: Sequence[Truths], ours: Sequence[Codes], theirs: Sequence[Codes], mine: Codes, starts: Codes, order: Codes
) -> tuple[Codes, Codes]:
    flat = np.concatenate([each.ravel() for each in allowed]) if allowed else np.empty(0, np.bool_)
    widths = np.array([each.shape[1] for each in allowed], dtype=np.int64)
    begins = np.cumsum([0, *(each.size for each in allowed)])[:-1].astype(np.int64)
    rows = _stack(ours, mine.size) * widths + begins
    cells = _stack(theirs, order.size)
    counts = np.zeros(mine.size, dtype=np.int64)
    none = np.empty(0, dtype=np.int64)
    _pairs(flat, rows, cells, mine, starts, counts, none, none, False)
    total = int(counts.sum())
    if total > _MOST_PAIRS:
        raise DataError("Too many pairs of rows fit each other; match on more columns or fewer people.")
    known, found = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    _pairs(flat, rows, cells, mine, starts, np.cumsum(counts) - counts, known, found, True)
    return known, order[found]


def _stack(columns: Sequence[Codes], size: int) -> npt.NDArray[np.int64]:
    return np.stack(columns, axis=1) if columns else np.empty((size, 0), dtype=np.int64)


@compiled
def _pairs(
    flat: Truths,
    rows: Codes,
    cells: Codes,
    mine: Codes,
    starts: Codes,
    counts: Codes,
    known: Codes,
    found: Codes,
    write: bool,
) -> None:
    """Count the pairs that fit into `counts`, or write them from `counts` on."""
    for i in range(mine.size):
        for j in range(starts[mine[i]], starts[mine[i] + 1]):
            fits = True
            for column in range(rows.shape[1]):
                if not flat[rows[i, column] + cells[j, column]]:
                    fits = False
                    break
            if fits:
                if write:
                    known[counts[i]] = i
                    found[counts[i]] = j
                counts[i] += 1
