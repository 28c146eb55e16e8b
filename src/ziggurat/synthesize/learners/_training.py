"""Several small networks trained at once: plain NumPy, Adam, minibatches, early stop."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import Reals
from ziggurat.synthesize.learners._sampling import Labels, chunks, level_scores, shares_of

Floats = npt.NDArray[np.float32]

_HELD_OUT = 0.1
_FEWEST_HELD_OUT = 20  # rows; with fewer, early stopping would follow their noise
_PATIENCE = 4  # epochs without any network getting better on the rows held out
_LEVELLED = 10_000  # rows, over which the last biases are set
_BATCHES = 12  # per epoch at least, where rows allow
_MEAN, _SQUARE, _TINY = 0.9, 0.99, 1e-8  # Adam: how long moments are remembered, and what keeps a step finite


@dataclass(frozen=True)
class Lesson:
    """Rows, the class of each, and how common each class is."""

    matrix: Floats
    labels: Labels
    shares: Reals


@dataclass(frozen=True)
class NetworkSchedule:
    """How networks are built and trained; see `Network`."""

    hidden: tuple[int, ...]
    members: int
    epochs: int
    rate: float
    decay: float


def scores_of(layers: list[Floats], rows: Floats) -> Floats:
    """Return the scores of the classes: networks by rows by classes."""
    return _pass_forward(layers, rows)[-1]


def train_layers(lesson: Lesson, schedule: NetworkSchedule, draw: np.random.Generator) -> list[Floats]:
    """Return the layers of networks, each trained on its own Bayesian bootstrap of the rows."""
    layers = _begin(lesson, schedule, draw)
    if len(lesson.shares) == 1:
        return layers
    rows = draw.permutation(len(lesson.labels))
    aside = int(_HELD_OUT * len(rows))
    aside = aside if aside >= _FEWEST_HELD_OUT else 0
    weights = draw.standard_exponential((schedule.members, len(rows)), dtype=np.float32)
    best, waited, adam = _BestLayers(layers), 0, _Adam(layers, schedule)
    for _ in range(schedule.epochs):
        _epoch(adam, lesson, weights, draw.permutation(rows[aside:]))
        waited = 0 if best.keep_better(adam.layers, _losses(adam.layers, lesson, weights, rows[:aside])) else waited + 1
        if waited == _PATIENCE:
            break
    _level(best.layers, lesson, weights, rows[:_LEVELLED])
    return best.layers


def _level(layers: list[Floats], lesson: Lesson, weights: Floats, rows: Labels) -> None:
    """Set the last biases so that every network predicts each class as often as its bootstrap holds it.

    At the optimum they would; a network that stopped early need not, and its copies would be off in every mean.
    """
    for member, scores in enumerate(scores_of(layers, lesson.matrix[rows])):
        own = weights[member, rows].astype(np.float64)
        counts = np.bincount(lesson.labels[rows], own, len(lesson.shares)) + lesson.shares
        layers[-1][member] += level_scores(scores, counts * (own.sum() / counts.sum()), own).astype(np.float32)


def _begin(lesson: Lesson, schedule: NetworkSchedule, draw: np.random.Generator) -> list[Floats]:
    """Return random layers that know nothing but the shares of the classes."""
    widths = [lesson.matrix.shape[1], *schedule.hidden, len(lesson.shares)]
    layers: list[Floats] = []
    for wide, narrow in pairwise(widths):
        start = draw.standard_normal((schedule.members, wide, narrow), dtype=np.float32)
        layers += [start * np.float32(np.sqrt(2 / wide)), np.zeros((schedule.members, 1, narrow), dtype=np.float32)]
    layers[-2] *= np.float32(0.1)
    layers[-1] += np.log(lesson.shares).astype(np.float32)
    return layers


def _pass_forward(layers: list[Floats], rows: Floats) -> list[Floats]:
    """Return what every layer puts out, the rows themselves first."""
    out = [rows]
    for place in range(0, len(layers), 2):
        scores = np.matmul(out[-1], layers[place]) + layers[place + 1]
        out.append(scores if place + 2 == len(layers) else np.maximum(scores, np.float32(0)))
    return out


def _slopes(layers: list[Floats], rows: Floats, labels: Labels, weights: Floats) -> list[Floats]:
    """Return the slope of the weighted mean loss in every layer."""
    out = _pass_forward(layers, rows)
    back = np.asarray(shares_of(out.pop()), dtype=np.float32)
    back[:, np.arange(len(labels)), labels] -= 1
    back *= (weights / np.float32(len(labels)))[:, :, None]
    slopes: list[Floats] = []
    for place in range(len(layers) - 2, -1, -2):
        slopes = [np.matmul(np.swapaxes(out[place // 2], -1, -2), back), back.sum(axis=1, keepdims=True), *slopes]
        if place:
            back = np.matmul(back, np.swapaxes(layers[place], -1, -2)) * (out[place // 2] > 0)
    return slopes


def _losses(layers: list[Floats], lesson: Lesson, weights: Floats, rows: Labels) -> Reals:
    """Return the weighted loss of every network on these rows; zeros with none."""
    total = np.zeros(len(weights))
    for part in chunks(len(rows)):
        some = rows[part]
        shares = shares_of(scores_of(layers, lesson.matrix[some]))
        right = shares[:, np.arange(len(some)), lesson.labels[some]]
        total -= (np.log(right) * weights[:, some]).sum(axis=1)
    return total


def _epoch(adam: _Adam, lesson: Lesson, weights: Floats, rows: Labels) -> None:
    batch = int(np.clip(len(rows) // _BATCHES, 32, 1_024))
    for start in range(0, len(rows), batch):
        some = rows[start : start + batch]
        adam.step(_slopes(adam.layers, lesson.matrix[some], lesson.labels[some], weights[:, some]))


class _Adam:
    """Steps by running moments of the slopes (Kingma and Ba 2015), with weights that decay apart from them."""

    def __init__(self, layers: list[Floats], schedule: NetworkSchedule) -> None:
        self.layers = [layer.copy() for layer in layers]
        self._rate, self._kept = schedule.rate, np.float32(max(0.0, 1 - schedule.rate * schedule.decay))
        self._means = [np.zeros_like(layer) for layer in layers]
        self._squares = [np.zeros_like(layer) for layer in layers]
        self._steps = 0

    def step(self, slopes: list[Floats]) -> None:
        self._steps += 1
        rate = np.float32(self._rate * np.sqrt(1 - _SQUARE**self._steps) / (1 - _MEAN**self._steps))
        for place, (layer, slope) in enumerate(zip(self.layers, slopes, strict=True)):
            mean, square = self._means[place], self._squares[place]
            mean += np.float32(1 - _MEAN) * (slope - mean)
            square += np.float32(1 - _SQUARE) * (slope * slope - square)
            if place % 2 == 0:
                layer *= self._kept
            layer -= rate * mean / (np.sqrt(square) + np.float32(_TINY))


class _BestLayers:
    """The layers of each network at the epoch at which it predicted best."""

    def __init__(self, layers: list[Floats]) -> None:
        self.layers = [layer.copy() for layer in layers]
        self._losses = np.full(len(layers[0]), np.inf)

    def keep_better(self, layers: list[Floats], losses: Reals) -> bool:
        """Keep the networks that got better, or all where no loss is known; return whether any did."""
        better = (losses < self._losses) | (losses == 0)
        self._losses = np.where(better, losses, self._losses)
        for kept, layer in zip(self.layers, layers, strict=True):
            kept[better] = layer[better]
        return bool(better.any())
