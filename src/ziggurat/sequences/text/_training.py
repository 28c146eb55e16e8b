"""Training without a promise: all trigrams on the device, fixed batches and, on a GPU, one recorded graph for a step.

A step of a small network is mostly the start of its kernels. On a GPU a step, from picking its windows to Adam, is
recorded once as a CUDA graph and replayed; products are computed in TF32. Windows beyond the last whole batch of an
epoch are left out of it; every epoch has another order.
"""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.sequences.text._codes import TrigramWindows
from ziggurat.sequences.text._network import WriterNetwork
from ziggurat.threads import one_torch_thread

Progress = Callable[[str, int, int], None]
"""Is told what is done, how much of it, and how much in all at most."""

Tensors = tuple[Tensor, Tensor, Tensor]

# Steps before one is recorded: libraries choose their ways in the first ones.
_WARM = 3
_SMALL = 1 << 26
_LOGITS_AT_ONCE = {"cpu": 1 << 24, "cuda": 1 << 28}


@dataclass(frozen=True)
class TrainingCourse:
    """How a network is trained: at most `epochs`, until the validation loss did not fall for `patience` of them."""

    batch: int = 128
    epochs: int = 50
    patience: int = 1
    learning_rate: float = 1e-3
    recorded: bool = True


@dataclass
class LearningCurve(Shown):
    """What happened in each epoch: mean losses in nats (words and tags together) and seconds."""

    training: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The epoch whose weights are kept, counted from 0."""
        return int(np.argmin(self.validation))


def to_tensors(windows: TrigramWindows, device: torch.device) -> Tensors:
    """Put windows on a device: words, tags, topics."""
    words, tags, topics = (
        torch.from_numpy(each).to(device).long() for each in (windows.words, windows.tags, windows.topics)
    )
    return words, tags, topics


def train_network(
    network: WriterNetwork,
    windows: TrigramWindows,
    validation: TrigramWindows | None,
    course: TrainingCourse,
    *,
    progress: Progress | None = None,
) -> LearningCurve:
    """Train a network where it lies, and leave it with the weights of its best epoch.

    Draws come from PyTorch's own generators, which whoever calls seeds. Without validation windows all epochs are run
    and the last weights stay. The validation loss decides which weights are kept: it is part of what was learned.
    """
    device = next(network.parameters()).device
    trained, history = _Trained(network, to_tensors(windows, device), course), LearningCurve()
    held = None if validation is None else to_tensors(validation, device)
    best: dict[str, Tensor] = {}
    with _quick_products(device), one_torch_thread(_is_small(network, course, device)):
        for epoch in range(course.epochs):
            began = time.perf_counter()
            history.training.append(trained.run_epoch())
            history.seconds.append(time.perf_counter() - began)
            _require_finite(history.training[-1])
            if progress is not None:
                progress("epochs", epoch + 1, course.epochs)
            if held is None:
                continue
            history.validation.append(sum(mean_losses(network, held)))
            if history.best == epoch:
                best = copy.deepcopy(network.state_dict())
            elif epoch - history.best >= course.patience:
                break
    if best:
        network.load_state_dict(best)
    network.eval()
    return history


def _is_small(network: WriterNetwork, course: TrainingCourse, device: torch.device) -> bool:
    """Whether the largest product of a step is over before a second thread of a processor has begun."""
    shape = network.shape
    return device.type == "cpu" and 3 * course.batch * shape.hidden * shape.places < _SMALL


def _require_finite(loss: float) -> None:
    if not math.isfinite(loss):
        raise ParameterError("Training ran away to infinite weights; choose a smaller learning rate.")


class _Trained:
    """A network with everything that a step needs, in places that do not move."""

    def __init__(self, network: WriterNetwork, tensors: Tensors, course: TrainingCourse) -> None:
        self._network, self._tensors = network, tensors
        self._device = tensors[0].device
        self._batch = max(1, min(course.batch, len(tensors[0])))
        graphs = course.recorded and self._device.type == "cuda"
        self._optimiser = torch.optim.Adam(network.parameters(), course.learning_rate, fused=True, capturable=graphs)
        self._picked = torch.zeros(self._batch, dtype=torch.int64, device=self._device)
        self._total = torch.zeros((), device=self._device)
        self._warm = _WARM if graphs else math.inf
        self._graph: torch.cuda.CUDAGraph | None = None

    def run_epoch(self) -> float:
        """Go through all windows once in a new order; gives the mean loss."""
        self._network.train()
        self._total.zero_()
        order = torch.randperm(len(self._tensors[0]), device=self._device)
        batches = len(order) // self._batch
        for part in order[: batches * self._batch].view(batches, -1):
            self._picked.copy_(part)
            self._take_step()
        return float(self._total) / batches

    def _take_step(self) -> None:
        if self._graph is not None:
            self._graph.replay()
        elif self._warm > 0:
            self._warm -= 1
            with self._beside():
                self._step()
        else:
            self._record()

    def _step(self) -> None:
        self._optimiser.zero_grad(set_to_none=True)
        loss = sum(self._network.losses(*(each[self._picked] for each in self._tensors)))
        loss.backward()  # type: ignore[union-attr]
        self._optimiser.step()
        self._total += loss.detach()  # type: ignore[union-attr]

    @contextlib.contextmanager
    def _beside(self) -> Iterator[None]:
        """Run on a stream of its own if a step shall be recorded later, as recording wants it."""
        if not math.isfinite(self._warm):
            yield
            return
        stream, main = torch.cuda.Stream(), torch.cuda.current_stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(main)
        with torch.cuda.stream(stream):
            yield
        main.wait_stream(stream)

    def _record(self) -> None:
        """Record a step and replay it; where that cannot be done, steps are taken one by one as before."""
        graph = torch.cuda.CUDAGraph()
        self._optimiser.zero_grad(set_to_none=True)
        try:
            with torch.cuda.graph(graph):
                self._step()
        except RuntimeError:
            self._warm = math.inf
            self._take_step()
            return
        self._graph = graph
        graph.replay()


def mean_losses(network: WriterNetwork, tensors: Tensors) -> tuple[float, float]:
    """The mean losses of words and of tags, in nats, over all known targets; nothing is left out at random."""
    network.eval()
    sums = torch.zeros(2, dtype=torch.float64)
    known = 0
    size = _windows_at_once(network, tensors[0].device)
    with torch.no_grad():
        for part in zip(*(torch.split(each, size) for each in tensors), strict=True):
            count = int((part[0][:, 1:] > 0).sum())
            losses = network.losses(*part)
            sums += torch.stack([losses[0] * count, losses[1] * 3 * len(part[0])]).double().cpu()
            known += count
    return float(sums[0]) / max(known, 1), float(sums[1]) / (3 * len(tensors[0]) or 1)


def score_windows(network: WriterNetwork, windows: TrigramWindows) -> npt.NDArray[np.float64]:
    """The natural logarithm of the probability of each of the three words that shall come out: (windows, 3).

    A word that is not in the list counts as one drawn at random from it.
    """
    device = next(network.parameters()).device
    tensors, found = to_tensors(windows, device), []
    network.eval()
    with torch.no_grad(), _quick_products(device, exact=True):
        for words, tags, topics in zip(
            *(torch.split(each, _windows_at_once(network, device)) for each in tensors), strict=True
        ):
            logits, _ = network(words[:, :3], tags[:, :3], topics)
            logits = mask_logits(logits, network.shape.words)
            goals = words[:, 1:].unsqueeze(2)
            each = torch.log_softmax(logits.double(), 2).gather(2, goals.clamp(min=1)).squeeze(2)
            found.append(torch.where(goals.squeeze(2) > 0, each, -math.log(network.shape.words)).cpu().numpy())
    return np.concatenate(found) if found else np.zeros((0, 3))


def mask_logits(logits: Tensor, words: int) -> Tensor:
    """Leave only words of the list: neither the unknown one nor places that fill up."""
    logits[..., 0] = -math.inf
    logits[..., words + 1 :] = -math.inf
    return logits


def _windows_at_once(network: WriterNetwork, device: torch.device) -> int:
    return max(1, _LOGITS_AT_ONCE[device.type] // (3 * network.shape.places))


@contextlib.contextmanager
def _quick_products(device: torch.device, *, exact: bool = False) -> Iterator[None]:
    """Let a GPU multiply in TF32: eleven bits of every factor, sums in single precision."""
    if device.type != "cuda":
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest" if exact else "high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextlib.contextmanager
def drawing_from(seed: int) -> Iterator[None]:
    """Let PyTorch draw from a seed here, on every device, and afterwards as if nothing had been drawn."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
