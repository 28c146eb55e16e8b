"""Hours of the day: when trajectories begin and end, how long they take, and when visits are in between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ziggurat.sequences.mobility._ground import Reals
from ziggurat.sequences.mobility._trajectories import HOURS
from ziggurat.sequences.mobility.markov._flows import rake
from ziggurat.sequences.mobility.markov._lengths import KINDS
from ziggurat.sequences.mobility.markov._shrinking import shrink_towards
from ziggurat.sequences.mobility.markov._tables import NoisyTable, Whole

DAY = HOURS["day"]
_ROUNDS = 40
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class DayTimes:
    """Hours of trajectories within one day.

    Parameters
    ----------
    ends
        By kind of trajectory (see `kinds_of`), first and last hour: how likely.
    between
        How likely visits in between are in each hour.
    """

    ends: Reals
    between: Reals

    @classmethod
    def of_tables(
        cls, first: NoisyTable, last: NoisyTable, spans: NoisyTable, hours: NoisyTable, kinds: Reals
    ) -> DayTimes:
        """Estimate both from noisy counts: of first and last hours, of hours in between by kind, and of all visits.

        `kinds` is how many trajectories there are of each kind.
        """
        begun, ended, between = (_shares(shrink_towards(np.ones(DAY), each)) for each in (first, last, hours))
        return cls(_agree(begun, ended, _spans_by_kind(spans, kinds)), between)

    def draw(self, kinds: Whole, lengths: Whole, draw: np.random.Generator) -> Whole:
        """Minutes of the first day, in order within each trajectory."""
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        whose = np.repeat(np.arange(len(lengths)), lengths)
        first, last = self._draw_ends(kinds, draw)
        passed = np.concatenate([[0.0], np.cumsum(self.between)])
        low, high = passed[first][whose], passed[last + 1][whose]
        marks = low + (high - low) * draw.random(len(whose))
        hours = np.clip(np.searchsorted(passed, marks, side="right") - 1, first[whose], last[whose])
        some = lengths > 0
        hours[offsets[1:][some] - 1] = last[some]
        hours[offsets[:-1][some]] = first[some]
        minutes = hours * 60 + draw.integers(0, 60, len(hours))
        return np.asarray(minutes[np.lexsort((minutes, whose))])

    def _draw_ends(self, kinds: Whole, draw: np.random.Generator) -> tuple[Whole, Whole]:
        pairs = np.zeros(len(kinds), dtype=np.int64)
        for kind in range(KINDS):
            held = np.flatnonzero(kinds == kind)
            passed = np.cumsum(self.ends[kind])
            found = np.searchsorted(passed, passed[-1] * draw.random(len(held)), side="right")
            pairs[held] = np.minimum(found, DAY**2 - 1)
        first, last = np.divmod(pairs, DAY)
        return first, np.maximum(last, first)


def _spans_by_kind(noisy: NoisyTable, kinds: Reals) -> Reals:
    """By kind, how many trajectories take so many hours: as in all kinds, unless enough is known of one."""
    table = noisy.counts.reshape(KINDS - 1, DAY)
    together = noisy._replace(counts=table.sum(axis=0), width=noisy.width * (KINDS - 1) ** 0.5)
    every = shrink_towards(1 / np.arange(1.0, DAY + 1), together)
    known = np.maximum(kinds, _LEAST)
    found = shrink_towards(np.outer(known[1:], every), noisy._replace(counts=table)) + _LEAST
    alone = np.eye(1, DAY)  # one visit takes no time
    shares = np.concatenate([alone, found / found.sum(axis=1, keepdims=True)])
    return np.asarray(shares * (known / known.sum())[:, None])


def _agree(begun: Reals, ended: Reals, spans: Reals) -> Reals:
    """By kind, first and last hour, one after the other: in agreement with all three tables."""
    kind, first, last = np.indices((KINDS, DAY, DAY))
    span = last - first
    chances = np.where(span >= 0, begun[first] * ended[last] * spans[kind, np.maximum(span, 0)], 0.0)
    margins = [
        (first.ravel(), begun),
        (last.ravel(), ended),
        ((kind * DAY + np.maximum(span, 0)).ravel(), spans.ravel()),
    ]
    raked = rake(chances.ravel(), margins, _ROUNDS).reshape(KINDS, -1)
    return np.asarray(raked + _LEAST * (span >= 0).reshape(KINDS, -1))


def _shares(counts: Reals) -> Reals:
    return np.asarray((counts + _LEAST) / (counts + _LEAST).sum())
