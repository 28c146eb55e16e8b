"""Trains one chunk of teachers as one program: epochs, the best epoch of each, thresholds, going on after a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ziggurat.errors import ParameterError
from ziggurat.pate.training import _checkpoints
from ziggurat.pate.training._cuts import best_cut
from ziggurat.pate.training._networks import Network, to_dict
from ziggurat.pate.training._settings import Training
from ziggurat.pate.training._shuffling import orders
from ziggurat.pate.training._stacked import Stack
from ziggurat.pate.training._steps import TrainingSteps, computing_on, losses

_BLOCK = 128  # rows judged at a time: always as many, so that no teacher's digits depend on another's number of rows

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Tell = Callable[[int], None]


@dataclass(frozen=True)
class Chunk:
    """Teachers that make one program: all take the same number of steps per epoch. It holds their own rows only.

    `train` and `held` are, for every teacher, the places of its rows in `features`; `seeds` is one word for each.
    `home` is the device on which what was learned is to lie afterwards.
    """

    network: Network
    training: Training
    features: npt.NDArray[Any]
    labels: Integers
    train: tuple[Integers, ...]
    held: tuple[Integers, ...]
    seeds: tuple[int, ...]
    device: str = "cpu"
    graph: bool = True
    precision: str = "float32"
    checkpoint: Path | None = None
    every: int = 1
    home: str = "cpu"

    def fingerprint(self) -> str:
        """Return a digest of all that decides the result."""
        facts = (to_dict(self.network), self.training, self.seeds)
        return _checkpoints.fingerprint(repr(facts), (self.features, self.labels, *self.train, *self.held))


@dataclass
class TrainedChunk:
    """What a chunk learned: stacked parameters and, for every teacher, its cut, its best epoch and its loss there.

    A logit at or above the cut means class 1; with more than two classes the cut has no meaning.
    """

    parameters: dict[str, Tensor]
    buffers: dict[str, Tensor]
    cuts: Tensor
    epochs: Tensor
    losses: Tensor

    def at(self, device: str) -> TrainedChunk:
        """Give the same with the parameters on a device; the numbers stay on the processor."""
        parameters = {name: value.to(device) for name, value in self.parameters.items()}
        buffers = {name: value.to(device) for name, value in self.buffers.items()}
        return TrainedChunk(parameters, buffers, self.cuts, self.epochs, self.losses)

    def tensors(self) -> dict[str, Tensor]:
        """Give all of it under flat names."""
        named = _name("parameter", self.parameters) | _name("buffer", self.buffers)
        return {**named, "cuts": self.cuts, "epochs": self.epochs, "losses": self.losses}

    @classmethod
    def of(cls, tensors: dict[str, Tensor]) -> TrainedChunk:
        """Read the flat form."""
        groups = (_group(tensors, "parameter"), _group(tensors, "buffer"))
        return cls(*groups, tensors["cuts"], tensors["epochs"], tensors["losses"])


def train(chunk: Chunk, tell: Tell | None = None) -> TrainedChunk:
    """Train a chunk, or go on where its checkpoint stopped; the result is the same.

    This thread computes with one thread from then on: sums then have one order, and chunks that run at the same time
    do not fight for the processors. `tell` is called after every epoch with the number of epochs done.
    """
    torch.set_num_threads(1)
    try:
        with computing_on(chunk.device, chunk.precision):
            return Program(chunk).run(tell)
    except torch.OutOfMemoryError:
        raise ParameterError("The device ran out of memory; set a smaller `chunk` in the placement.") from None


class Program:
    """A chunk on its device, ready to train: starting weights are drawn and rows are copied."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        device = chunk.device
        self.stack = Stack.start(chunk.network, chunk.seeds, device)
        self.features = torch.from_numpy(chunk.features).to(device)
        self.labels = torch.from_numpy(chunk.labels).to(device)
        self.seeds = torch.tensor(chunk.seeds, dtype=torch.int64, device=device)
        self.steps = TrainingSteps(
            self.stack, self.features, self.labels, chunk.training, self.seeds, graph=chunk.graph
        )
        self.rows = _ChunkRows(chunk, device)
        self.best = {name: value.detach().clone() for name, value in self.stack.parameters.items()}
        count = len(chunk.seeds)
        self.lowest = np.full(count, np.inf)
        self.epochs = np.zeros(count, dtype=np.int64)
        self.waited = np.zeros(count, dtype=np.int64)
        self.done = 0

    def run(self, tell: Tell | None) -> TrainedChunk:
        """Train for all epochs, or until every teacher has stopped."""
        path, mark = self.chunk.checkpoint, ""
        if path is not None:
            mark = self.chunk.fingerprint()
            if found := _checkpoints.read(path, mark):
                if found.facts["finished"] == "yes":
                    return self._tell(TrainedChunk.of(found.tensors).at(self.chunk.home), tell)
                self._restore(found)
        while self.done < self.chunk.training.epochs and not self._all_stopped():
            self._epoch()
            if path is not None and self.done % self.chunk.every == 0:
                _checkpoints.write(path, self._state(), {"mark": mark, "finished": "no", "done": str(self.done)})
            if tell is not None:
                tell(self.done)
        trained = self._collect()
        if path is not None:
            _checkpoints.write(path, trained.tensors(), {"mark": mark, "finished": "yes"})
        return self._tell(trained, tell)

    def _tell(self, trained: TrainedChunk, tell: Tell | None) -> TrainedChunk:
        """Say that all epochs are done, also when the last of them were not needed."""
        if tell is not None and self.done < self.chunk.training.epochs:
            tell(self.chunk.training.epochs)
        return trained

    def _epoch(self) -> None:
        places, weights = self.rows.shuffle(self.seeds, self.done)
        batch = self.chunk.training.batch
        for at in range(0, places.shape[1], batch):
            self.steps.take(places[:, at : at + batch], weights[:, at : at + batch])
        self.done += 1
        if self.chunk.training.held_out:
            self._judge()

    def _judge(self) -> None:
        """Keep the parameters of every teacher whose loss is its lowest so far; one that waited too long has stopped.

        A teacher that stopped still takes part in the steps of its stack, but what it keeps no longer changes. One
        with too few rows to hold any out keeps its last epoch.
        """
        loss = self.rows.held_loss(self._held_logits())
        patience = self.chunk.training.patience
        better = ((loss < self.lowest) | self.rows.none_held) & ~self._find_stopped(patience)
        chosen = torch.from_numpy(better).to(self.features.device)
        for name, value in self.stack.parameters.items():
            self.best[name][chosen] = value.detach()[chosen]
        self.lowest = np.where(better, loss, self.lowest)
        self.epochs = np.where(better, self.done, self.epochs)
        self.waited = np.where(better, 0, self.waited + 1)

    def _find_stopped(self, patience: int | None) -> npt.NDArray[np.bool_]:
        return np.zeros(len(self.waited), dtype=bool) if patience is None else self.waited >= patience

    def _all_stopped(self) -> bool:
        return bool(self._find_stopped(self.chunk.training.patience).all())

    @torch.no_grad()
    def _held_logits(self) -> Tensor:
        places = self.rows.held
        starts = range(0, places.shape[1], _BLOCK)
        blocks = [self.stack.logits(self.features[places[:, at : at + _BLOCK]]) for at in starts]
        return torch.cat(blocks, dim=1) if blocks else torch.zeros((len(places), 0, 1), device=places.device)

    def _collect(self) -> TrainedChunk:
        if not self.chunk.training.held_out:
            self.best = {name: value.detach() for name, value in self.stack.parameters.items()}
            self.epochs[:] = self.done
        self.stack.parameters = self.best
        numbers = (torch.from_numpy(self._cuts()), torch.from_numpy(self.epochs), torch.from_numpy(self.lowest))
        return TrainedChunk(self.best, self.stack.buffers, *numbers).at(self.chunk.home)

    def _cuts(self) -> Floats:
        """Judge in the logits, where scores that round to the same probability still differ."""
        cuts = np.zeros(len(self.chunk.seeds))
        training = self.chunk.training
        if self.chunk.network.outputs > 1 or training.threshold == "half" or not training.held_out:
            return cuts
        scores = self._held_logits().squeeze(-1).double().cpu().numpy()
        for teacher, own in enumerate(self.chunk.held):
            cuts[teacher] = best_cut(scores[teacher, : own.size], self.chunk.labels[own])
        return cuts

    def _state(self) -> dict[str, Tensor]:
        optimiser = {
            f"{name}/{key}": value
            for name, parameter in self.stack.parameters.items()
            for key, value in self.steps.optimiser.state[parameter].items()
            if isinstance(value, Tensor)
        }
        counts = {"lowest": self.lowest, "epochs": self.epochs, "waited": self.waited}
        numbers = {name: torch.from_numpy(value) for name, value in counts.items()}
        groups = _name("parameter", self.stack.parameters) | _name("best", self.best) | _name("optimiser", optimiser)
        return groups | numbers | {"taken": self.steps.taken}

    @torch.no_grad()
    def _restore(self, found: _checkpoints.TensorFile) -> None:
        stored = found.tensors
        for name, parameter in self.stack.parameters.items():
            parameter.copy_(stored[f"parameter/{name}"])
            self.best[name].copy_(stored[f"best/{name}"])
            state = _group(stored, f"optimiser/{name}")
            self.steps.optimiser.state[parameter] = {key: _like(value, parameter) for key, value in state.items()}
        self.lowest, self.epochs, self.waited = (stored[key].numpy() for key in ("lowest", "epochs", "waited"))
        self.steps.taken.copy_(stored["taken"])
        self.done = int(found.facts["done"])


class _ChunkRows:
    """The places of every teacher's rows, filled up with its own first row, which then has no weight."""

    def __init__(self, chunk: Chunk, device: str) -> None:
        batch = chunk.training.batch
        self._chunk = chunk
        sizes = np.array([own.size for own in chunk.train])
        width = -(-int(sizes.max()) // batch) * batch
        if (sizes <= width - batch).any():
            raise ParameterError("Teachers of one chunk must take the same number of steps per epoch.")
        self._sizes = torch.from_numpy(sizes).to(device)
        self._places = torch.from_numpy(_fill(chunk.train, width)).to(device)
        # A row counts one over the real rows of its batch, so that a short last batch is an average too.
        place = np.arange(width)
        in_batch = np.clip(sizes[:, None] - place // batch * batch, 1, batch)
        self._shares = torch.from_numpy(((place < sizes[:, None]) / in_batch).astype(np.float32)).to(device)
        self._class_weights = class_weights(chunk)
        weights = [own[chunk.labels[rows]] for own, rows in zip(self._class_weights, chunk.train, strict=True)]
        self._weights = torch.from_numpy(_fill(weights, width).astype(np.float32)).to(device)
        self.none_held = np.array([own.size == 0 for own in chunk.held])
        blocks = -(-max(own.size for own in chunk.held) // _BLOCK)
        held = [own if own.size else rows[:1] for own, rows in zip(chunk.held, chunk.train, strict=True)]
        self.held = torch.from_numpy(_fill(held, blocks * _BLOCK)).to(device)
        self._held_labels = torch.from_numpy(chunk.labels).to(device)[self.held]

    def shuffle(self, seeds: Tensor, epoch: int) -> tuple[Tensor, Tensor]:
        """Return the places and weights of an epoch."""
        order = orders(seeds, epoch, self._sizes, self._places.shape[1])
        return self._places.gather(1, order), self._weights.gather(1, order) * self._shares

    def held_loss(self, logits: Tensor) -> Floats:
        """Return every teacher's mean loss on its held-out rows; infinite where it has none or diverged."""
        every = losses(logits, self._held_labels).double().cpu().numpy()
        means = np.full(len(every), np.inf)
        for teacher, own in enumerate(self._chunk.held):
            weights = self._class_weights[teacher][self._chunk.labels[own]]
            if own.size:
                means[teacher] = np.mean(every[teacher, : own.size] * weights)
        return np.where(np.isnan(means), np.inf, means)


def class_weights(chunk: Chunk) -> list[Floats]:
    """Return the weight of every class for every teacher, by its own training rows."""
    wanted = chunk.training.class_weights
    classes = chunk.network.classes
    if wanted is None:
        return [np.ones(classes) for _ in chunk.seeds]
    if isinstance(wanted, tuple):
        return [np.array(wanted, dtype=np.float64) for _ in chunk.seeds]
    return [_balance(np.bincount(chunk.labels[own], minlength=classes)) for own in chunk.train]


def programs(sizes: list[int], batch: int, chunk: int) -> list[tuple[int, ...]]:
    """Group teachers that take the same number of steps per epoch, exactly `chunk` of them together.

    A teacher's number of steps must depend on its own rows alone, and so must its digits. Libraries round a batch of
    two products otherwise than a batch of eight, and the first of them otherwise than the last; so every program has
    the same size, teacher t always has the place t modulo `chunk`, and doubles of a member fill empty places. A
    teacher without rows is in none.
    """
    groups: dict[int, list[int]] = {}
    for teacher, size in enumerate(sizes):
        if size:
            groups.setdefault(-(-size // batch), []).append(teacher)
    return [program for own in groups.values() for program in _with_places(own, chunk)]


def has_its_place(teacher: int, place: int, chunk: int) -> bool:
    """Return whether this is the teacher itself and not its double."""
    return place == teacher % chunk


def _with_places(own: list[int], chunk: int) -> Iterator[tuple[int, ...]]:
    columns = [[teacher for teacher in own if has_its_place(teacher, place, chunk)] for place in range(chunk)]
    for depth in range(max(map(len, columns))):
        yield tuple(column[depth] if depth < len(column) else own[0] for column in columns)


def _balance(counts: Integers) -> Floats:
    present = counts > 0
    return np.where(present, counts.sum() / (present.sum() * np.maximum(counts, 1)), 0.0)


def _fill(lists: Any, width: int) -> npt.NDArray[Any]:
    filled = np.stack([np.full(width, own[0]) for own in lists])
    for row, own in zip(filled, lists, strict=True):
        row[: own.size] = own
    return filled


def _like(value: Tensor, parameter: Tensor) -> Tensor:
    """Bring a stored state to the device and the order in memory of its parameter; a step count stays where it is."""
    if value.shape != parameter.shape:
        return value.to(parameter.device) if parameter.is_cuda else value
    return torch.empty_like(parameter).copy_(value)


def _name(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}/{name}": value for name, value in tensors.items()}


def _group(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) + 1 :]: value for name, value in tensors.items() if name.startswith(f"{prefix}/")}
