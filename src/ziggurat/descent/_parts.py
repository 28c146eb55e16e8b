"""The gradients of several rows for one parameter, written out or not, and the layers that have rules for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional


class GradientPart(Protocol):
    """The gradients of several rows for one parameter."""

    def squares(self) -> Tensor:
        """Return the squared length of every row's gradient, in double precision."""

    def add_to(self, total: Tensor, weights: Tensor) -> None:
        """Add the weighted sum of the gradients to a total, in double precision."""

    def only(self, kept: Tensor) -> GradientPart:
        """Return the same with zeros for the rows that are not kept."""


class WrittenGradients:
    """Gradients that were written out, a row each."""

    def __init__(self, values: Tensor) -> None:
        self.values = values

    def squares(self) -> Tensor:
        """Square the lengths."""
        return _squares(self.values.flatten(1))

    def add_to(self, total: Tensor, weights: Tensor) -> None:
        """Add the rows up."""
        total.view(-1).addmv_(self.values.flatten(1).double().T, weights)

    def only(self, kept: Tensor) -> WrittenGradients:
        """Zero the others."""
        return WrittenGradients(_zero(self.values, kept))


class Outer:
    """Gradients that are outer products of two vectors, which are never multiplied out (Goodfellow 2015)."""

    def __init__(self, left: Tensor, right: Tensor) -> None:
        self.left, self.right = left, right

    def squares(self) -> Tensor:
        """Multiply the squared lengths."""
        return _squares(self.left) * _squares(self.right)

    def add_to(self, total: Tensor, weights: Tensor) -> None:
        """Make one product of matrices."""
        total.addmm_((self.left.double() * weights.unsqueeze(1)).T, self.right.double())

    def only(self, kept: Tensor) -> Outer:
        """Zero the others."""
        return Outer(_zero(self.left, kept), _zero(self.right, kept))


def _squares(values: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(values, dim=1, dtype=torch.float64)
    return lengths.square()


def _zero(values: Tensor, kept: Tensor) -> Tensor:
    return torch.where(kept.view(-1, *(1,) * (values.dim() - 1)), values, 0)


def _linear(layer: Any, inputs: Tensor, slopes: Tensor) -> Iterator[tuple[Tensor | None, GradientPart]]:
    if inputs.dim() == 2:
        yield layer.weight, Outer(slopes, inputs)
        yield layer.bias, WrittenGradients(slopes)
        return
    left, right = slopes.flatten(1, -2), inputs.flatten(1, -2)
    yield layer.weight, WrittenGradients(torch.bmm(left.mT, right))
    yield layer.bias, WrittenGradients(left.sum(1))


def _convolution(layer: Any, inputs: Tensor, slopes: Tensor) -> Iterator[tuple[Tensor | None, GradientPart]]:
    patches = functional.unfold(inputs, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    left = slopes.flatten(2)
    yield layer.weight, WrittenGradients(torch.bmm(left, patches.mT).view(-1, *layer.weight.shape))
    yield layer.bias, WrittenGradients(left.sum(2))


RULES: dict[type[nn.Module], Callable[..., Iterator[tuple[Tensor | None, GradientPart]]]] = {
    nn.Linear: _linear,
    nn.Conv2d: _convolution,
}


def has_rule(layer: Any) -> bool:
    """Say whether the gradients of a layer follow from what goes into it and what comes back."""
    if type(layer) is nn.Conv2d:
        return layer.groups == 1 and layer.padding_mode == "zeros" and not isinstance(layer.padding, str)
    return type(layer) in RULES
