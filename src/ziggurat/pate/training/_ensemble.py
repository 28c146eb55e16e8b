"""Trains networks chunk by chunk, and keeps for every teacher the candidate that is best on its own rows."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ziggurat.errors import ParameterError
from ziggurat.jobs import ExecutorChoice
from ziggurat.pate.training._answers import TeacherGroup
from ziggurat.pate.training._chunk import Chunk, Tell, TrainedChunk, has_its_place, programs, train
from ziggurat.pate.training._chunks import run_chunks
from ziggurat.pate.training._networks import MLP, Network
from ziggurat.pate.training._rows import split_rows
from ziggurat.pate.training._settings import Candidate, Placement
from ziggurat.threads import one_torch_thread

_CACHE = 32 * 2**20  # bytes: parameters, gradients and both moments of a chunk stay near one core
_LARGEST_CHUNK = 16  # on a processor: more teachers at a time are no faster
_ABREAST = 2  # programs on one GPU: the products of one fill the time in which the other waits for memory
_COPIES = 8  # of its parameters that a teacher takes on a GPU: gradients, moments, the best epoch, activations

Integers = npt.NDArray[np.int64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TrainingJob:
    """Everything that training needs: checked rows, candidates, a seed for every teacher, and where to run.

    `even` says that teachers have about as many rows each by the way they were split, whatever the table holds.
    """

    candidates: list[Candidate]
    features: npt.NDArray[np.float32]
    labels: Integers
    rows: tuple[Integers, ...]
    seeds: tuple[int, ...]
    placement: Placement
    even: bool = True
    checkpoints: Path | None = None
    every: int = 1
    progress: Progress | None = None
    told: Callable[[ExecutorChoice], None] | None = None

    def run(self) -> list[TeacherGroup]:
        """Train every candidate, and return the teachers grouped by the candidate that each of them chose."""
        require_devices(self.placement)
        work = list(self._work())
        tasks = [(each.chunk, tell) for each, tell in zip(work, self._tellers(work), strict=True)]
        place = self.placement
        workers = place.workers or (None if place.on_cpu else self._abreast)
        gpus = 0 if place.on_cpu else 1
        kept = _BestCandidates()
        with one_torch_thread():
            here = place.executor == "auto" and not place.on_cpu
            options: dict[str, Any] = {"workers": workers, "gpus": gpus, "told": self.told}
            for at, trained in run_chunks(train, tasks, executor="threads" if here else place.executor, **options):
                kept.add(work[at], trained)
        return kept.groups(self.candidates)

    def _work(self) -> Iterator[_ChunkWork]:
        held_out = self.candidates[0][1].held_out
        halves = [split_rows(self.labels[own], held_out, seed) for own, seed in zip(self.rows, self.seeds, strict=True)]
        sizes = [learned.size for learned, _ in halves]
        planned = programs(sizes, self.candidates[0][1].batch, self._chunk_size())
        for at, members in enumerate(planned):
            data = self._data(members, halves)
            device = self.placement.devices[at % len(self.placement.devices)]
            home = self.placement.devices[0] if self._stays(len(planned)) else "cpu"
            for number, (network, training) in enumerate(self.candidates):
                file = self.checkpoints and self.checkpoints / f"candidate-{number:03}-chunk-{at:04}.safetensors"
                facts = (device, self.placement.cuda_graph, self.placement.precision, file, self.every)
                yield _ChunkWork(number, members, Chunk(network, training, *data, *facts, home=home))

    @property
    def _abreast(self) -> int:
        """How many programs the GPUs run at a time; only threads can share one."""
        return len(self.placement.devices) * (_ABREAST if self.placement.executor in ("auto", "threads") else 1)

    def _stays(self, programs: int) -> bool:
        """Whether what is learned stays on a GPU, where it will be asked: so few programs fit there for certain."""
        here = self.placement.executor in ("auto", "inline", "threads")
        return here and len(self.candidates) == 1 and programs <= self._abreast

    def _data(self, members: tuple[int, ...], halves: list[tuple[Integers, Integers]]) -> _Data:
        """Collect the members' rows one after the other, and say where each of them has its own."""
        starts = np.cumsum([0, *(self.rows[teacher].size for teacher in members)])
        every = np.concatenate([self.rows[teacher] for teacher in members])
        both = [
            [halves[teacher][half] + start for teacher, start in zip(members, starts, strict=False)] for half in (0, 1)
        ]
        seeds = tuple(self.seeds[teacher] for teacher in members)
        return self.features[every], self.labels[every], tuple(both[0]), tuple(both[1]), seeds

    def _chunk_size(self) -> int:
        """Decide from public facts.

        On a processor only products by hand gain from a stack: convolutions under `vmap` do not. Uneven teachers make
        many short groups, of which few should be doubles.
        """
        if self.placement.chunk is not None:
            return self.placement.chunk
        if self.placement.on_cpu and not isinstance(self.candidates[0][0], MLP):
            return 1
        size = max(_parameter_bytes(network) for network, _ in self.candidates)
        if self.placement.on_cpu:
            return max(2, min(_LARGEST_CHUNK, _CACHE // (4 * size), len(self.rows) // (1 if self.even else 16)))
        free = min(torch.cuda.mem_get_info(device)[0] for device in self.placement.devices)
        return max(2, min(math.ceil(len(self.rows) / self._abreast), free // (_COPIES * size * _ABREAST)))

    def _tellers(self, work: list[_ChunkWork]) -> list[Tell | None]:
        """Return what each chunk is to call after an epoch; other processes cannot call back."""
        if self.progress is None or self.placement.executor not in ("auto", "inline", "threads"):
            return [None for _ in work]
        total = sum(len(each.members) * each.chunk.training.epochs for each in work)
        return _EpochCount(self.progress, [len(each.members) for each in work], total).tellers()


_Data = tuple[npt.NDArray[np.float32], Integers, tuple[Integers, ...], tuple[Integers, ...], tuple[int, ...]]


@dataclass(frozen=True)
class _ChunkWork:
    candidate: int
    members: tuple[int, ...]
    chunk: Chunk


class _BestCandidates:
    """For every teacher, the candidate with the lowest loss on its own held-out rows; the first among equals."""

    def __init__(self) -> None:
        self._best: dict[int, tuple[tuple[float, int], dict[str, Tensor]]] = {}

    def add(self, work: _ChunkWork, trained: TrainedChunk) -> None:
        tensors = trained.tensors()
        for at, teacher in enumerate(work.members):
            rank = (float(trained.losses[at]), work.candidate)
            itself = has_its_place(teacher, at, len(work.members))
            if itself and (teacher not in self._best or rank < self._best[teacher][0]):
                self._best[teacher] = (rank, {name: value[at].clone() for name, value in tensors.items()})

    def groups(self, candidates: list[Candidate]) -> list[TeacherGroup]:
        chosen: dict[int, list[int]] = {}
        for teacher, ((_, candidate), _) in sorted(self._best.items()):
            chosen.setdefault(candidate, []).append(teacher)
        return [self._group(candidates[number][0], members) for number, members in sorted(chosen.items())]

    def _group(self, network: Network, members: list[int]) -> TeacherGroup:
        parts = [self._best[teacher][1] for teacher in members]
        stacked = {name: torch.stack([part[name] for part in parts]) for name in parts[0]}
        return TeacherGroup(network, np.array(members), TrainedChunk.of(stacked))


class _EpochCount:
    """Adds up the epochs of chunks that run at the same time."""

    def __init__(self, progress: Progress, sizes: list[int], total: int) -> None:
        self._progress, self._sizes, self._total = progress, sizes, total
        self._done = [0] * len(sizes)
        self._lock = threading.Lock()

    def tellers(self) -> list[Tell | None]:
        return [self._teller(place) for place in range(len(self._sizes))]

    def _teller(self, place: int) -> Tell:
        def tell(epochs: int) -> None:
            with self._lock:
                self._done[place] = self._sizes[place] * epochs
                self._progress(sum(self._done), self._total)

        return tell


def require_devices(placement: Placement) -> None:
    """Raise a sentence unless every device is there; on Ray it is the workers that must have them."""
    if placement.executor == "ray":
        if placement.chunk is None and not placement.on_cpu:
            raise ParameterError("Say in the placement how many teachers make a `chunk`: a worker's GPU is not here.")
        return
    for name in placement.devices:
        kind, _, number = name.partition(":")
        there = torch.cuda.device_count() if kind == "cuda" else int(kind == "cpu")
        if not (number.isdecimal() or not number) or int(number or 0) >= there:
            raise ParameterError(f"There is no device {name!r} here; PyTorch sees {torch.cuda.device_count()} GPUs.")


def _parameter_bytes(network: Network) -> int:
    return sum(value.numel() * value.element_size() for value in network.build().parameters())
