"""The modules that private gradient descent trains: the default one, one of the user's, and their losses."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from ziggurat.errors import ParameterError

_ROWS_AT_ONCE = 4096


def build_module(module: Any, inputs: int, outputs: int, hidden: tuple[int, ...]) -> nn.Module:
    """Return a module of its own to train: a copy of the one given, what a factory makes, or a small network."""
    if isinstance(module, nn.Module):
        return copy.deepcopy(module)
    if module is None:
        return network(inputs, hidden, outputs)
    if not callable(module):
        raise ParameterError("The module must be a PyTorch module, or a function of the numbers of inputs and outputs.")
    made = module(inputs, outputs)
    if not isinstance(made, nn.Module):
        raise ParameterError("The function given as `module` must return a PyTorch module.")
    return made


def network(inputs: int, hidden: tuple[int, ...], outputs: int) -> nn.Module:
    """Return fully connected layers with tanh between them: bounded, which noise harms less (Papernot et al. 2021)."""
    widths = (inputs, *hidden)
    if any(isinstance(width, bool) or not isinstance(width, int) or width < 1 for width in widths):
        raise ParameterError("hidden must list the widths of the hidden layers, positive whole numbers.")
    parts = [part for pair in pairwise(widths) for part in (nn.Linear(*pair), nn.Tanh())]
    return nn.Sequential(*parts, nn.Linear(widths[-1], outputs))


@contextlib.contextmanager
def starting_from(seed: int) -> Iterator[None]:
    """Draw starting weights and dropout masks from a seed; they are no privacy noise."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of every row: of one logit for two classes, or of a logit for each class."""
    if outputs.shape[-1] == 1:
        goal = targets.to(outputs.dtype)
        return functional.binary_cross_entropy_with_logits(outputs.squeeze(-1), goal, reduction="none")
    return functional.cross_entropy(outputs, targets, reduction="none")


def token_losses(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of every row of tokens: the mean cross-entropy of those that count; targets below 0 do not.

    Outputs are logits, (rows, ..., tokens), targets (rows, ...). A row of which nothing counts has no loss.
    """
    goal, counted = targets.flatten(1), (targets >= 0).flatten(1)
    each = functional.cross_entropy(outputs.flatten(1, -2).movedim(-1, 1), goal.clamp(min=0), reduction="none")
    return (each * counted).sum(1) / counted.sum(1).clamp(min=1)


def squared_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return half the squared error of every row."""
    return (outputs.squeeze(-1) - targets.to(outputs.dtype)).square() / 2


def invent_rows(shape: tuple[int, ...], device: str, below: Any = None) -> Tensor:
    """Return a few rows that nobody gave, to try a module on.

    With `below`, a number or one for every place of a row, they are whole numbers from 0 that stay below it, as codes
    of tokens do.
    """
    generator = torch.Generator().manual_seed(0)
    if below is None:
        return torch.randn((4, *shape), generator=generator).to(device)
    drawn = torch.rand((4, *shape), generator=generator, dtype=torch.float64)
    return (drawn * torch.as_tensor(below)).to(device, torch.int64)


def require_device(device: Any) -> None:
    """Refuse a device that is not there, or that has no double precision, which sums need."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError, TypeError, ValueError):
        raise ParameterError("The device must be one that is there and computes doubles, such as 'cpu'.") from None


def outputs_of(module: nn.Module, rows: npt.NDArray[Any], device: str) -> npt.NDArray[np.float64]:
    """Ask a module about rows."""
    module.eval()
    with torch.no_grad():
        given = torch.split(torch.from_numpy(rows), _ROWS_AT_ONCE)
        return np.concatenate([module(part.to(device)).double().cpu().numpy() for part in given])


def weights_of(module: nn.Module, buffers: Mapping[str, Tensor]) -> dict[str, npt.NDArray[Any]]:
    """Give parameters, and buffers as they were before training, by name, as arrays; nothing else may leave."""
    known = dict(module.named_parameters(remove_duplicate=False)) | dict(buffers)
    return {name: known[name].detach().cpu().numpy().copy() for name in module.state_dict() if name in known}


def with_weights(module: nn.Module, weights: Mapping[str, npt.NDArray[Any]]) -> nn.Module:
    """Give a module the weights of another of its kind."""
    try:
        module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
    except RuntimeError:
        raise ParameterError("The module is of another kind than the one that was trained.") from None
    return module
