"""Small networks in PyTorch and Keras, made and trained so that a seed decides everything."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ziggurat.errors import ExperimentError, MissingExtraError
from ziggurat.threads import one_thread, one_torch_thread

if TYPE_CHECKING:
    import numpy.typing as npt


def torch_module() -> Any:
    """PyTorch, or a sentence that says how to add it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("This step needs PyTorch; run: pip install 'ziggurat[torch]'.") from None
    return torch


def keras_on_torch() -> Any:
    """Keras on its PyTorch back end; another back end in the same process is refused."""
    torch_module()
    os.environ.setdefault("KERAS_BACKEND", "torch")
    try:
        import keras
    except ImportError:
        raise MissingExtraError("This step needs Keras; run: pip install 'ziggurat[torch]'.") from None
    if keras.backend.backend() != "torch":
        raise ExperimentError("Keras runs on another back end here; set KERAS_BACKEND=torch before starting.")
    return keras


@contextmanager
def seeded_torch(seed: int) -> Iterator[None]:
    """Hold all libraries to one thread and start PyTorch's generator at `seed`; both are put back afterwards."""
    torch = torch_module()
    with one_torch_thread(), one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed % 2**63)
        yield


def torch_layers(widths: Sequence[int], activation: Callable[[], Any]) -> Any:
    """Fully connected layers in double precision with the activation between them."""
    torch = torch_module()
    parts: list[Any] = []
    for fan_in, fan_out in pairwise(widths):
        parts += [torch.nn.Linear(fan_in, fan_out, dtype=torch.float64), activation()]
    return torch.nn.Sequential(*parts[:-1])


def torch_trained(
    network: Any,
    rows: npt.NDArray[Any],
    goal: npt.NDArray[Any],
    loss: Callable[[Any, Any], Any],
    epochs: int,
    batch: int,
    learning_rate: float,
) -> None:
    """Train by Adam on shuffled batches; draws from PyTorch's own generator."""
    torch = torch_module()
    given, wanted = torch.from_numpy(rows), torch.from_numpy(goal)
    adam = torch.optim.Adam(network.parameters(), lr=learning_rate)
    for _ in range(epochs):
        for chosen in torch.randperm(len(given)).split(batch):
            adam.zero_grad()
            loss(network(given[chosen]), wanted[chosen]).backward()
            adam.step()


def keras_layers(widths: Sequence[int], activation: str, last: str, seed: int) -> Any:
    """Fully connected Keras layers whose starting weights come from the seed alone."""
    keras = keras_on_torch()
    parts: list[Any] = [keras.Input((widths[0],))]
    for place, width in enumerate(widths[1:]):
        start = keras.initializers.GlorotUniform(seed=(seed + place) % 2**31)
        named = last if place == len(widths) - 2 else activation
        parts.append(keras.layers.Dense(width, activation=named, kernel_initializer=start, name=f"dense_{place}"))
    return keras.Sequential(parts)


def keras_weights(network: Any) -> dict[str, Any]:
    """The weights by name, as NumPy arrays."""
    return {weight.path.replace("/", "."): weight.numpy() for weight in network.weights}
