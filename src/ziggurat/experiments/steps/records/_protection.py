"""The three ways in which `privatize` protects one record; each states its event before it sees any."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.data.encoding import Encoding, Field, Labels, Matrix, column_of, labels_of
from ziggurat.errors import ExperimentError
from ziggurat.experiments.steps.records._autoencoder import decode, encode
from ziggurat.mechanisms import Laplace, RandomizedResponse
from ziggurat.privacy import ComposedEvent, Event, Neighbours, Relation
from ziggurat.randomness import Source

RECORD = Neighbours(relation=Relation.REPLACE_ONE)

_MOST_CELLS = 4096


class Protection(ABC):
    """How a record is protected; `event` is what its answer costs."""

    event: Event

    def __init__(self, encoding: Encoding, target: str) -> None:
        self.encoding = encoding
        self.target = target

    @abstractmethod
    def release(self, table: pa.Table, source: Source) -> pa.Table:
        """Protect every record of the table on its own."""

    def _join(self, records: pa.Table, labels: Labels) -> pa.Table:
        return records.append_column(self.target, pa.array(labels.astype(bool)))


class ByColumns(Protection):
    """Every column on its own, at an equal share of epsilon; nothing is learned from anybody."""

    def __init__(self, encoding: Encoding, target: str, epsilon: Fraction) -> None:
        super().__init__(encoding, target)
        share = epsilon / (len(encoding.fields) + 1)
        # Numbers are scaled by their public bounds and clipped, so that two records differ by at most 1.
        self._noise = Laplace.calibrated(share, 1, coordinates=1, neighbours=RECORD)
        self._answers = [_response(field, share) for field in encoding.fields]
        self._label = RandomizedResponse(share, 2, neighbours=RECORD)
        spent = [self._noise.event if each is None else each.event for each in self._answers]
        self.event = ComposedEvent(RECORD, (*spent, self._label.event))

    def release(self, table: pa.Table, source: Source) -> pa.Table:
        """Noise on numbers, randomised response on categories and on the target."""
        made = {
            field.column.name: self._column(field, answer, column_of(table, field.column.name), source)
            for field, answer in zip(self.encoding.fields, self._answers, strict=True)
        }
        labels = self._label.release(labels_of(table, self.target), source.child("target")).value
        return self._join(pa.table(made), labels)

    def _column(
        self, field: Field, answer: RandomizedResponse | None, cells: pa.ChunkedArray, source: Source
    ) -> pa.Array:
        own = source.child(field.column.name)
        if answer is None:
            return field.unscale(self._noise.release(field.scale(cells), own).value)
        # A cell outside the public list answers like the first entry: any fixed public rule keeps the promise.
        given = answer.release(field.codes(cells).clip(0), own).value
        return field.cells(np.minimum(given, field.entries - 1))


def _response(field: Field, epsilon: Fraction) -> RandomizedResponse | None:
    if not field.listed:
        return None
    return RandomizedResponse(epsilon, max(2, field.entries), neighbours=RECORD)


class ByNoisyCode(Protection):
    """Laplace noise on the code of a generator, randomised response on the target."""

    def __init__(
        self, encoding: Encoding, target: str, epsilon: Fraction, weights: Mapping[str, Any], share: Fraction
    ) -> None:
        super().__init__(encoding, target)
        if not 0 < share < 1:
            raise ExperimentError("'target_share' must lie between 0 and 1.")
        self._weights = weights
        width = _code_width(weights)
        # Two points of the box [-1, 1]^k are at most 2k apart in l1.
        self._noise = Laplace.calibrated(epsilon * (1 - share), 2 * width, coordinates=width, neighbours=RECORD)
        self._label = RandomizedResponse(epsilon * share, 2, neighbours=RECORD)
        self.event = ComposedEvent(RECORD, (self._noise.event, self._label.event))

    def release(self, table: pa.Table, source: Source) -> pa.Table:
        """Encode, add noise, decode."""
        codes = encode(self._weights, self.encoding.encode(table))
        noisy = self._noise.release(codes, source.child("code")).value
        labels = self._label.release(labels_of(table, self.target), source.child("target")).value
        return self._join(self.encoding.decode(decode(self._weights, noisy)), labels)


class ByRandomCell(Protection):
    """Randomised response on the cell of the code and the target together."""

    def __init__(
        self, encoding: Encoding, target: str, epsilon: Fraction, weights: Mapping[str, Any], levels: int
    ) -> None:
        super().__init__(encoding, target)
        self._weights, self._levels, self._width = weights, levels, _code_width(weights)
        if levels < 1 or 2 * levels**self._width > _MOST_CELLS:
            raise ExperimentError(f"'levels' to the power of 'code' must lie between 1 and {_MOST_CELLS // 2}.")
        self._answer = RandomizedResponse(epsilon, 2 * levels**self._width, neighbours=RECORD)
        self.event = self._answer.event

    def release(self, table: pa.Table, source: Source) -> pa.Table:
        """Encode, answer with a random cell, decode its centre."""
        cells = self._cells(encode(self._weights, self.encoding.encode(table)))
        truth = 2 * cells + labels_of(table, self.target)
        answers = self._answer.release(truth, source.child("cell")).value
        records = self.encoding.decode(decode(self._weights, self._centres(answers // 2)))
        return self._join(records, answers % 2)

    def _cells(self, codes: Matrix) -> Labels:
        steps = np.minimum(((codes + 1) / 2 * self._levels).astype(np.int64), self._levels - 1)
        return np.asarray(steps @ (self._levels ** np.arange(self._width)), dtype=np.int64)

    def _centres(self, cells: Labels) -> Matrix:
        steps = cells[:, None] // (self._levels ** np.arange(self._width)) % self._levels
        return np.asarray((2 * steps + 1) / self._levels - 1, dtype=np.float64)


def _code_width(weights: Mapping[str, Any]) -> int:
    return int(weights["weight_1"].shape[1])
