"""The layers whose per-row gradients follow from what goes into them and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ziggurat.descent._parts import GradientPart, LinesLookedUp, Outer, OuterSums, WrittenGradients
from ziggurat.descent._recurrent import GatedMemory, LongShortMemory, states_before
from ziggurat.errors import ParameterError

_FEW_TIMES = 12
_MOST_WRITTEN = 1 << 25
Found = Iterator[tuple[Tensor | None, GradientPart]]


@dataclass(frozen=True)
class LayerNote:
    """What a layer was given and gave, and the slope of the loss where its rule wants it; rows come first in all."""

    inputs: Tensor
    outputs: Tensor
    slopes: Tensor


@dataclass(frozen=True)
class LayerRule:
    """How gradients of rows follow from notes; `at_input` says that slopes are taken at what goes in."""

    find: Callable[[Any, LayerNote], Found]
    at_input: bool = False


def _linear(layer: Any, note: LayerNote) -> Found:
    if note.inputs.dim() == 2:
        yield layer.weight, Outer(note.slopes, note.inputs)
        yield layer.bias, WrittenGradients(note.slopes)
        return
    yield layer.weight, _outer_sums(note.slopes, note.inputs)
    yield layer.bias, WrittenGradients(_over_time(note.slopes))


def _outer_sums(left: Tensor, right: Tensor) -> GradientPart:
    """Sums over time of outer products: written out, unless times are few or that were too much memory.

    Written out they take d e numbers a row, of which every one is read twice; otherwise time^2 numbers a row, and as
    many products in double precision as writing out takes in floats (Li et al. 2022 compare memory alone).
    """
    left, right = left.flatten(1, -2), right.flatten(1, -2)
    (rows, time, wide), narrow = left.shape, right.shape[2]
    if time**2 <= wide * narrow and (time <= _FEW_TIMES or rows * wide * narrow > _MOST_WRITTEN):
        return OuterSums(left, right)
    return WrittenGradients(torch.bmm(left.mT, right))


def _over_time(values: Tensor) -> Tensor:
    return values.flatten(1, -2).sum(1)


def _convolution(layer: Any, note: LayerNote) -> Found:
    patches = functional.unfold(note.inputs, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    left = note.slopes.flatten(2)
    yield layer.weight, WrittenGradients(torch.bmm(left, patches.mT).view(-1, *layer.weight.shape))
    yield layer.bias, WrittenGradients(left.sum(2))


def _embedding(layer: Any, note: LayerNote) -> Found:
    indices, slopes = note.inputs.flatten(1), note.slopes.flatten(1, -2)
    if layer.padding_idx is not None:
        slopes = slopes * (indices != layer.padding_idx).unsqueeze(-1)
    yield layer.weight, LinesLookedUp(indices, slopes, layer.num_embeddings)


def _normalization(layer: Any, note: LayerNote) -> Found:
    depth = len(layer.normalized_shape)
    if note.inputs.dim() <= depth:
        raise ParameterError("Layer normalisation over the rows mixes them; normalise over features.")
    plain = functional.layer_norm(note.inputs, layer.normalized_shape, eps=layer.eps)
    for parameter, values in ((layer.weight, note.slopes * plain), (layer.bias, note.slopes)):
        yield parameter, WrittenGradients(values.flatten(1, -depth - 1).sum(1) if values.dim() > depth + 1 else values)


def _long_short_memory(layer: Any, note: LayerNote) -> Found:
    yield layer.weight, _outer_sums(note.slopes, states_before(note.outputs))


def _gated_memory(layer: Any, note: LayerNote) -> Found:
    before, width = states_before(note.outputs), 2 * layer.hidden
    candidate = note.slopes[..., width:] * layer.resets(note.inputs, before).detach()
    yield layer.weight, _outer_sums(torch.cat([note.slopes[..., :width], candidate], -1), before)
    yield layer.bias, WrittenGradients(_over_time(candidate))


RULES: dict[type[nn.Module], LayerRule] = {
    nn.Linear: LayerRule(_linear),
    nn.Conv2d: LayerRule(_convolution),
    nn.Embedding: LayerRule(_embedding),
    nn.LayerNorm: LayerRule(_normalization),
    LongShortMemory: LayerRule(_long_short_memory, at_input=True),
    GatedMemory: LayerRule(_gated_memory, at_input=True),
}


def has_rule(layer: Any) -> bool:
    """Say whether the gradients of a layer follow from what goes into it and what comes back."""
    if type(layer) is nn.Conv2d:
        return layer.groups == 1 and layer.padding_mode == "zeros" and not isinstance(layer.padding, str)
    if type(layer) is nn.Embedding:
        return layer.max_norm is None and not layer.scale_grad_by_freq and not layer.sparse
    return type(layer) in RULES
