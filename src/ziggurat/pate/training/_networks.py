"""What a teacher looks like: a network written in PyTorch, which is imported only when one is built."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ziggurat.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from torch import nn


def require_torch() -> None:
    """Raise a sentence that says how to add PyTorch if it is absent."""
    try:
        import torch  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise MissingExtraError("Networks need PyTorch; add it with: pip install 'ziggurat[torch]'.") from None


class Network(ABC):
    """An architecture that all teachers share; write one by giving `shape`, `outputs` and `build`.

    The module must be plain PyTorch that `torch.func.vmap` can stack: no batch normalisation (its statistics mix
    rows; use GroupNorm or LayerNorm) and no branches on values. `nn.Dropout` is fine: its masks come from the
    teacher's own seed.

    Attributes
    ----------
    shape
        The shape of one row of features.
    outputs
        How many logits come out: 1 for two classes (positive means class 1), k for k classes.
    """

    shape: tuple[int, ...]
    outputs: int

    @abstractmethod
    def build(self) -> nn.Module:
        """Return a fresh module with random starting weights drawn from PyTorch's own generator."""

    @property
    def classes(self) -> int:
        """How many classes a teacher tells apart."""
        return max(2, self.outputs)

    @staticmethod
    def of(factory: Callable[[], nn.Module], *, shape: tuple[int, ...], outputs: int) -> Network:
        """Make a network of a function that returns a fresh module; to be saved or sent, it needs a module's name."""
        return FactoryNetwork(factory, shape, outputs)


@dataclass(frozen=True)
class FactoryNetwork(Network):
    """A network made by a function of the user's."""

    factory: Callable[[], nn.Module]
    shape: tuple[int, ...]
    outputs: int

    def __post_init__(self) -> None:
        if not callable(self.factory):
            raise ParameterError("The factory must be a function without arguments that returns a PyTorch module.")
        _require_sizes(self.shape, "shape of a row")
        _require_sizes((self.outputs,), "number of outputs")

    def build(self) -> nn.Module:
        """Call the factory."""
        require_torch()
        return self.factory()


@dataclass(frozen=True)
class MLP(Network):
    """Fully connected layers with rectifiers between them: trained by the fastest path.

    `MLP(500)` is 500-512-128-1 with 322,305 parameters.

    Parameters
    ----------
    inputs
        How many features a row has.
    hidden
        The widths of the hidden layers.
    outputs
        1 for two classes, k for k classes.
    dropout
        The share of hidden units left out at every step.
    """

    inputs: int
    hidden: tuple[int, ...] = (512, 128)
    outputs: int = 1
    dropout: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        _require_sizes((self.inputs, *self.hidden, self.outputs), "width of every layer")
        _require_share(self.dropout)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """A row is a vector."""
        return (self.inputs,)

    def build(self) -> nn.Module:
        """Return linear layers, rectifiers and, if there is any, dropout."""
        require_torch()
        from torch import nn

        parts: list[nn.Module] = []
        for fan_in, fan_out in pairwise((self.inputs, *self.hidden)):
            parts += [nn.Linear(fan_in, fan_out), nn.ReLU()]
            parts += [nn.Dropout(self.dropout)] if self.dropout else []
        return nn.Sequential(*parts, nn.Linear((self.inputs, *self.hidden)[-1], self.outputs))


@dataclass(frozen=True)
class CNN(Network):
    """Convolutions of 3 by 3, each with a rectifier and a pooling that halves the image, then a dense layer.

    Parameters
    ----------
    image
        Channels, height and width: (1, 28, 28) for MNIST.
    channels
        The channels of every convolution.
    hidden
        The width of the dense layer.
    outputs
        1 for two classes, k for k classes.
    dropout
        The share of dense units left out at every step.
    """

    image: tuple[int, int, int] = (1, 28, 28)
    channels: tuple[int, ...] = (32, 64)
    hidden: int = 128
    outputs: int = 10
    dropout: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "image", tuple(self.image))
        object.__setattr__(self, "channels", tuple(self.channels))
        _require_sizes((*self.image, *self.channels, self.hidden, self.outputs), "size of every layer")
        _require_share(self.dropout)
        if len(self.image) != 3 or min(self.image[1:]) < 2 ** len(self.channels):
            raise ParameterError("An image needs channels, height and width, and two pixels a side per convolution.")

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """A row is an image."""
        return self.image

    def build(self) -> nn.Module:
        """Return the convolutions, a flattening and the dense layers."""
        require_torch()
        from torch import nn

        parts: list[nn.Module] = []
        for before, after in pairwise((self.image[0], *self.channels)):
            parts += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        halvings = 2 ** len(self.channels)
        flat = (self.image[0], *self.channels)[-1] * (self.image[1] // halvings) * (self.image[2] // halvings)
        parts += [nn.Flatten(), nn.Linear(flat, self.hidden), nn.ReLU()]
        parts += [nn.Dropout(self.dropout)] if self.dropout else []
        return nn.Sequential(*parts, nn.Linear(self.hidden, self.outputs))


def to_dict(network: Network) -> dict[str, Any]:
    """Give the JSON form; a network of the user's is named, and has to be given again to load it."""
    if isinstance(network, MLP):
        return {"kind": "mlp", "inputs": network.inputs, "hidden": list(network.hidden), **_common(network)}
    if isinstance(network, CNN):
        sizes = {"image": list(network.image), "channels": list(network.channels), "hidden": network.hidden}
        return {"kind": "cnn", **sizes, **_common(network)}
    return {"kind": "own", "shape": list(network.shape), "outputs": network.outputs}


def from_dict(data: dict[str, Any], own: Network | None) -> Network:
    """Read the JSON form; `own` stands in for a network of the user's."""
    facts: dict[str, Any] = {key: _untie(value) for key, value in data.items() if key != "kind"}
    if data["kind"] == "mlp":
        return MLP(**facts)
    if data["kind"] == "cnn":
        return CNN(**facts)
    if own is None:
        raise ParameterError("These teachers use a network of your own; give it as `network` to load them.")
    if (own.shape, own.outputs) != (facts["shape"], facts["outputs"]):
        raise ParameterError("The network given has another shape or number of outputs than the saved teachers.")
    return own


def _untie(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _common(network: MLP | CNN) -> dict[str, Any]:
    return {"outputs": network.outputs, "dropout": network.dropout}


def _require_sizes(sizes: tuple[Any, ...], noun: str) -> None:
    if any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes):
        raise ParameterError(f"The {noun} must be a positive whole number.")


def _require_share(dropout: float) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, int | float) or not 0 <= dropout < 1:
        raise ParameterError("Dropout must be a share of at least 0 and below 1.")
