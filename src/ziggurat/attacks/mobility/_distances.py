"""Distances of trajectories: how many places two have in common, and how far one must be bent to be the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.sequences.mobility import Ground

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

_BATCH = 64


def measure_overlaps(asked: Sequence[str], pool: Sequence[str], _begins: int, _ends: int) -> Reals:
    """Return 1 less the Jaccard similarity of all pairs of sets, each a text of different characters.

    Equal distances are equal numbers: they are quotients of small whole numbers, which are rounded correctly.
    """
    from ziggurat.attacks.mobility._distance_kernels import count_common_places

    ours, theirs = _Ragged.of(asked), _Ragged.of(pool)
    order = np.argsort(theirs.codes, kind="stable")
    who = np.repeat(np.arange(len(pool)), np.diff(theirs.offsets))[order]
    lists = np.searchsorted(theirs.codes[order], np.arange(max(ours.largest, theirs.largest) + 2))
    common = np.zeros((len(asked), len(pool)))
    _in_batches(
        lambda part: count_common_places(ours.codes, ours.offsets, lists, who, part.start, common[part]), len(asked)
    )
    either = np.diff(ours.offsets)[:, None] + np.diff(theirs.offsets)[None, :] - common
    np.subtract(either, common, out=common)
    return np.asarray(np.divide(common, np.maximum(either, 1, out=either), out=common))


@dataclass(frozen=True, eq=False)
class Warping:
    """Dynamic time warping over kilometres, divided by the number of visits of the longer trajectory.

    Every visit of one is paired with visits of the other, in order; the distance is the least sum of kilometres of such
    pairs. Lower bounds spare most of the work and change nothing: the first two and the last two visits are always
    paired (LB_Kim), and every visit between lies at least as far from its partners as from the other's bounding box
    (LB_Keogh without a band, whose envelope is the box). What cannot come as close as the closest so far is given up,
    whole or half way.

    Parameters
    ----------
    ground
        Where the places lie.
    """

    ground: Ground

    def __call__(self, asked: Sequence[str], pool: Sequence[str], begins: int, ends: int) -> Reals:
        """As `Distances` says; no text may be empty."""
        from ziggurat.attacks.mobility._distance_kernels import search_warped

        (ours, our_points), (theirs, their_points) = self._place(asked), self._place(pool)
        lows = np.minimum.reduceat(their_points, theirs.offsets[:-1])
        boxes = np.hstack([lows, np.maximum.reduceat(their_points, theirs.offsets[:-1])])
        sides = their_points[theirs.offsets[:-1]], their_points[theirs.offsets[1:] - 1]
        corners = np.ascontiguousarray(np.hstack([*sides, np.diff(theirs.offsets)[:, None]]).T)
        found = np.full((len(asked), len(pool)), np.inf)

        def work(part: slice) -> None:
            lengths = ours.offsets[part.start : part.stop + 1]
            search_warped(our_points, lengths, their_points, theirs.offsets, boxes, corners, begins, ends, found[part])

        _in_batches(work, len(asked))
        return found

    def _place(self, texts: Sequence[str]) -> tuple[_Ragged, Reals]:
        held = _Ragged.of(texts)
        return held, np.ascontiguousarray(self.ground.require_points()[0][held.codes])


@dataclass(frozen=True, eq=False)
class _Ragged:
    """Codes of texts of one character per place."""

    codes: Codes
    offsets: Codes

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Ragged:
        joined = "".join(texts).encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(joined, dtype="<u4").astype(np.int64)
        return cls(codes, np.concatenate([[0], np.cumsum([len(each) for each in texts])]).astype(np.int64))

    @property
    def largest(self) -> int:
        return int(self.codes.max(initial=0))


def _in_batches(work: Callable[[slice], None], rows: int) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, [slice(start, min(start + _BATCH, rows)) for start in range(0, rows, _BATCH)]))
