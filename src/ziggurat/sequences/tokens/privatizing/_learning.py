"""What the networks behind the privatisers share: what they learned from, and what that makes of a promise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.errors import MissingExtraError, ParameterError
from ziggurat.privacy import (
    ApproximateDP,
    ApproximateEvent,
    Event,
    Guarantee,
    Neighbours,
    PureDP,
    PureEvent,
    Relation,
    UnboundedEvent,
)
from ziggurat.threads import one_torch_thread

if TYPE_CHECKING:
    from ziggurat.sequences._sequences import Sequences

Training = Literal["public", "private", "unprotected"]
"""Whether a network learned from public sequences, from what a private generator drew, or from private sequences."""

SEQUENCE = Neighbours(relation=Relation.REPLACE_ONE)
"""One sequence takes the place of another; that there is one is public."""


def event_of_training(training: object, promised: Guarantee | None, what: str) -> Event | None:
    """What training cost, under replace-one; None for nothing.

    Public sequences cost nothing. What a private generator drew costs what fitting that generator promised, and
    learning from it is post-processing. Private sequences without protection are bounded by nothing.
    """
    if training not in ("public", "private", "unprotected"):
        raise ParameterError("training must be 'public', 'private' or 'unprotected': what the network learns from.")
    if (training == "private") is not (promised is not None):
        raise ParameterError("With training='private', and only then, give promised=..., the generator's guarantee_.")
    if promised is not None:
        return _restate(promised)
    return None if training == "public" else UnboundedEvent(SEQUENCE, f"{what} trained on private sequences")


def _restate(promised: Guarantee) -> Event:
    """The promise of a generator about one sequence, under replace-one.

    Replacing a sequence is removing one and adding one: epsilon becomes 2 epsilon, and delta (1 + e^epsilon) delta.
    """
    if not isinstance(promised, PureDP | ApproximateDP) or not promised.neighbours.unit.is_row:
        raise ParameterError("A generator promises for each sequence, by an epsilon and a delta; give such a promise.")
    twice = promised.neighbours.relation is Relation.ADD_OR_REMOVE_ONE
    epsilon = promised.epsilon * (2 if twice else 1)
    if isinstance(promised, PureDP):
        return PureEvent(SEQUENCE, epsilon)
    # The exponential is right to its last digits; 2**-40 of it is added for them.
    grown = 1 + Fraction(math.exp(promised.epsilon)) * (1 + Fraction(1, 1 << 40)) if twice else 1
    return ApproximateEvent(SEQUENCE, epsilon, promised.delta * grown)


def torch_module() -> Any:
    """PyTorch, or a sentence that says how to add it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("Networks need PyTorch; add it with: pip install 'ziggurat[torch]'.") from None
    return torch


@contextmanager
def from_seed(random_state: int | None) -> Iterator[None]:
    """Train with one thread and, if there is a seed, from it; weights and batches are no privacy noise."""
    torch = torch_module()
    with one_torch_thread(), torch.random.fork_rng(devices=[]):
        if random_state is None:
            torch.seed()
        else:
            torch.manual_seed(random_state % 2**63)
        yield


@contextmanager
def asking() -> Iterator[None]:
    """Ask a network and do not train it, with one thread, so that the same question has the same answer."""
    with one_torch_thread(), torch_module().no_grad():
        yield


def deal_batches(sequences: Sequences, size: int, spread: float = 4.0) -> Iterator[tuple[Any, Any, Any]]:
    """All sequences once, in random batches: their rows, their codes with the end behind, and where that stands.

    Lengths within a batch differ by about `spread`, which saves what would fill up the shorter ones.
    """
    torch = torch_module()
    lengths = sequences.lengths
    order = np.argsort(lengths + spread * torch.rand(len(lengths)).numpy(), kind="stable")
    parts = np.split(order, range(size, len(order), size))
    for place in torch.randperm(len(parts)).tolist():
        yield parts[place], *with_end(sequences.take(parts[place]), int(lengths[parts[place]].max()))


def with_end(sequences: Sequences, width: int) -> tuple[Any, Any]:
    """Codes of `width` and one place more, filled up with the end, and where each ends, as tensors."""
    torch = torch_module()
    ended = sequences.padded(sequences.domain.size, width + 1)
    return torch.from_numpy(ended.astype(np.int64)), torch.from_numpy(np.minimum(sequences.lengths, width))


def give_weights(module: Any) -> dict[str, npt.NDArray[Any]]:
    """The weights by name, as arrays."""
    return {name: value.detach().numpy().copy() for name, value in module.state_dict().items()}


def take_weights(module: Any, weights: dict[str, npt.NDArray[Any]]) -> Any:
    """Give a module the weights of another of its kind, to be asked and not trained."""
    torch = torch_module()
    module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
    return module.eval()
