"""One step of training for a whole stack: gather, forward, backward, optimise; on a GPU replayed as a CUDA graph."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ziggurat.pate.training._settings import Training
from ziggurat.pate.training._shuffling import mix_key
from ziggurat.pate.training._stacked import Stack

_EAGER_STEPS = 3  # libraries set themselves up in the first steps, which a graph must not record
_RECORDING = threading.Lock()  # a graph takes hold of the device's generator, of which there is one


def losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of every row of every teacher: binary cross-entropy for one logit, cross-entropy for more."""
    if logits.shape[-1] == 1:
        goal = labels.to(logits.dtype)
        return functional.binary_cross_entropy_with_logits(logits.squeeze(-1), goal, reduction="none")
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view(labels.shape)


class TrainingSteps:
    """Takes training steps; the sum over teachers of their losses gives each the gradient of its own loss alone.

    Parameters
    ----------
    stack
        The teachers; their parameters change in place.
    features, labels
        The rows of all of them, on their device.
    training
        The optimiser and its rates.
    seeds
        One word per teacher for the masks of dropout.
    graph
        Whether to record the step as a CUDA graph and replay it; falls back to eager steps if it cannot be recorded.
    """

    def __init__(
        self, stack: Stack, features: Tensor, labels: Tensor, training: Training, seeds: Tensor, *, graph: bool
    ) -> None:
        self._stack, self._features, self._labels, self._seeds = stack, features, labels, seeds
        self.parameters = [value.requires_grad_() for value in stack.parameters.values()]
        self._cuda = features.is_cuda
        self.optimiser = _optimiser(self.parameters, training, self._cuda)
        self._left = _EAGER_STEPS if graph and self._cuda else -1
        self._graph: Any = None
        self.taken = torch.zeros((), dtype=torch.int64, device=features.device)
        shape = (len(seeds), training.batch)
        self._places = torch.zeros(shape, dtype=torch.int64, device=features.device)
        self._weights = torch.zeros(shape, device=features.device)

    @property
    def recorded(self) -> bool:
        """Whether steps are replayed from a CUDA graph by now."""
        return self._graph is not None

    def take(self, places: Tensor, weights: Tensor) -> None:
        """Take one step on these rows (teachers, batch), each counted with its weight."""
        if self._left == 0:
            self._record()
        if self._graph is None:
            self._left -= 1
            self._step(places, weights)
            return
        self._places.copy_(places)
        self._weights.copy_(weights)
        self._graph.replay()

    def _step(self, places: Tensor, weights: Tensor) -> None:
        self.taken += 1
        keys = mix_key(self._seeds, self.taken) if self._stack.draws else None
        logits = self._stack.logits(self._features[places], keys)
        loss: Any = (losses(logits, self._labels[places]) * weights).sum()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()

    def _record(self) -> None:
        """Record a step without taking it; what comes after replays it on the same memory."""
        graph = torch.cuda.CUDAGraph()
        self.optimiser.zero_grad(set_to_none=True)
        self._left = -1
        with _RECORDING, contextlib.suppress(RuntimeError):
            # Another thread may allocate on another device meanwhile, which only this mode allows.
            with torch.cuda.graph(graph, stream=torch.cuda.current_stream(), capture_error_mode="thread_local"):
                self._step(self._places, self._weights)
            self._graph = graph


class _Products:
    """TF32 products or not: one setting for all threads, put back by the last that leaves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = ""

    @contextlib.contextmanager
    def set_to(self, precision: str) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._before = torch.get_float32_matmul_precision()
                torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    torch.set_float32_matmul_precision(self._before)


_PRODUCTS = _Products()


@contextlib.contextmanager
def computing_on(device: str, precision: str) -> Iterator[None]:
    """Compute on a stream of its own on a GPU, with or without TF32 products; put the setting back afterwards."""
    if not device.startswith("cuda"):
        yield
        return
    stream: Any = torch.cuda.Stream
    with _PRODUCTS.set_to(precision), torch.cuda.device(device), torch.cuda.stream(stream(device)):
        yield
        torch.cuda.current_stream().synchronize()


def _optimiser(parameters: list[Tensor], training: Training, cuda: bool) -> torch.optim.Optimizer:
    rates: dict[str, Any] = {"lr": training.learning_rate, "weight_decay": training.weight_decay}
    if training.optimiser == "sgd":
        return torch.optim.SGD(parameters, momentum=training.momentum, fused=True, **rates)
    return torch.optim.Adam(parameters, fused=True, capturable=cuda, **rates)
