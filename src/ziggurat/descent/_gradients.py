"""Sums of gradients of which every row's is clipped, with PyTorch alone.

A row's gradient is the vector of real numbers that the floats computed for it denote. Its length is computed in double
precision and its clipped form is added up in double precision, so the sum is within `allowance` of the exact sum of
vectors of length at most `clip`. Where a gradient is a sum over time that is not written out, the vector is that sum,
in real numbers, of the floats noted: it is added up in double precision, and its length is bounded from above
(`OuterSums`); a bound that is too long clips more.

In real arithmetic a row's gradient depends on the row, the weights and the draws of the step alone. It is computed row
by row ("mapped"), unless every layer is known to keep rows apart, or of a class that promises so (`RowwiseModule`):
then notes of all rows are taken in one pass ("noted"). A row's part of a note is a function of that row: what goes into
a layer because no layer before mixes rows, and the slope that comes back because the losses are added up over rows, so
that a row's numbers move its own loss alone. A rule combines a row's notes with that row's alone. So whatever a rule
makes of them, rightly or not, is a vector of the row's own, and what is clipped is that vector's whole length, over all
parameters: no part is added that is not in the length. Buffers are always those from before training; and random layers
draw the same for all rows of a step. In floating point it depends on the row's place in its
block too: at the edges of their tiles kernels add in another order, and a row that is left out moves all those behind
it by one place. Blocks have one fixed size, so that all run through the same kernels, and `allowance` counts 2^-22 of a
row's gradient for every row that may have moved. That much is an assumption on the kernels, not a theorem: on CPUs at
most 1.2 * 2^-23 was seen, for a few rows of a block, and nothing for the others; on an H200 nothing, for an MLP and a
CNN in both ways (`bench/sgd_places.py`). Through time a difference can grow: for modules with a recurrent part 16 times
as much is allowed for. On a CPU and an H200 nothing was seen in blocks of a multiple of 32 at a width of 64; elsewhere
on a CPU (width 7, where functions of whole vectors end between rows; blocks of 77) at most 0.7 * 2^-22 with up to four
times the first weights, and 2.3 * 2^-22 once with eight times those.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from ziggurat.descent._parts import GradientPart, WrittenGradients
from ziggurat.descent._recurrent import GatedMemory, LongShortMemory
from ziggurat.descent._rowwise import promises
from ziggurat.descent._rules import RULES, LayerNote, has_rule
from ziggurat.errors import ParameterError

Losses = Callable[[Tensor, Tensor], Tensor]
"""From the outputs of several rows and their targets to the loss of every row."""

_LEAST_ALLOWANCE = Fraction(1, 1 << 20)
_PLACE_ALLOWANCE = Fraction(1, 1 << 22)
_THROUGH_TIME = 16
_MOST_WRITTEN = 1 << 26


def allowance(rows: int, block: int, sampling: Fraction, place: Fraction = _PLACE_ALLOWANCE) -> Fraction:
    """How much further than `clip`, relatively, one row can move the computed sum; from public facts alone.

    Adding k terms in any order errs by at most k 2^-53 times the sum of their lengths (Higham 2002, section 4.2), in
    both of the neighbours: products and sums of a block, then of the blocks. The least allowance covers the lengths,
    sums of squares in double precision of at most 2^31 terms in pairs. Every other row of the sample may have moved to
    another place, which changes its gradient by at most `place`, 2^-22, of itself, and so, as clipping brings no two
    vectors further apart, its clipped gradient by at most 2^-22 of `clip`.
    """
    blocks = -(-rows // block)
    adding = max(_LEAST_ALLOWANCE, Fraction(4 * (block + blocks + 8) * rows, 1 << 53))
    return adding + place * _most_sampled(rows, sampling)


def _most_sampled(rows: int, sampling: Fraction) -> int:
    """Bound the size of a Poisson sample: by all rows, or but for a chance below exp(-50).

    A size of mean m exceeds m + t with a chance of at most exp(-t^2 / (2 (m + t / 3))) (Bernstein); t = 10 sqrt(m) +
    40 makes it at most exp(-50).
    """
    expected = math.ceil(sampling * rows)
    return min(rows, expected + 10 * (math.isqrt(expected) + 1) + 40)


# Layers that treat every row alone whatever it holds: with layers that have rules, and nothing else, in a sequence.
_PLAIN = (
    nn.Sequential, nn.Identity, nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Softplus, nn.Sigmoid, nn.Tanh,
    nn.MaxPool2d, nn.AvgPool2d, nn.ModuleList, nn.ModuleDict,
)  # fmt: skip
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _is_known(layer: Any) -> bool:
    """Say whether a layer is exactly of a kind that keeps rows apart: no subclass, no hook, no forward of its own.

    Or its class promises so itself: see `RowwiseModule`.
    """
    if "forward" in vars(layer) or any(getattr(layer, name) for name in _HOOKS):
        return False
    if type(layer) is nn.Flatten:
        return layer.start_dim >= 1
    if type(layer) is nn.Unflatten:
        return isinstance(layer.dim, int) and layer.dim >= 1
    return type(layer) in _PLAIN or has_rule(layer) or promises(layer)


def _can_be_noted(module: nn.Module) -> bool:
    """Say whether notes are right for a module whatever its rows and weights: known layers, none of them shared."""
    hooked = nn.modules.module._has_any_global_hook()  # type: ignore[no-untyped-call]  # PyTorch has no types here
    if hooked or not all(_is_known(layer) for layer in module.modules()):
        return False
    everywhere = [id(value) for _, value in module.named_parameters(remove_duplicate=False)]
    return len(set(everywhere)) == len(everywhere) and all(map(has_rule, filter(_is_trained, module.modules())))


class Gradients:
    """Clips and adds up the gradients of a module's rows.

    With `way="noted"` one forward and one backward pass note what goes into every layer and what comes back to it,
    from which lengths and sums follow without any row's gradient being written out; for layers that are known to keep
    rows apart, in sequences or in a `RowwiseModule`, whose parameters all lie in plain linear, convolution, embedding
    and normalisation layers or in the recurrent ones of this package. With `way="mapped"` every
    row goes through the module alone and its gradient is written out, by `torch.func.vmap`, for any module whose
    `forward` keeps nothing from one call to the next. `buffers` are as they were at first, for every row.
    """

    def __init__(self, module: nn.Module, losses: Losses, way: str) -> None:
        self.module, self.losses, self.way = module, losses, way
        self.names = [name for name, value in module.named_parameters() if value.requires_grad]
        self.parameters: list[Tensor] = [value for value in module.parameters() if value.requires_grad]
        self.buffers = _buffers(module)
        self.draws = way == "mapped" or _is_promised(module)
        remembers = any(type(layer) in (LongShortMemory, GatedMemory) for layer in module.modules())
        self.place = _PLACE_ALLOWANCE * (_THROUGH_TIME if remembers else 1)
        self._slots = _slots(module)
        self._convolves = any(isinstance(layer, nn.Conv1d | nn.Conv2d | nn.Conv3d) for layer in module.modules())
        self._notes: dict[nn.Module, list[_Noted]] = {}

    def fitting_block(self, expected: float) -> int:
        """Say how many rows to compute at once: all of a usual sample, if the numbers written for them are not many.

        On a processor convolutions gain nothing from more rows, and a third of a sample wastes less on filling up.
        """
        parts = 3 if self._convolves and not self.parameters[0].is_cuda else 1
        usual = 32 * math.ceil((expected + 2.5 * math.sqrt(expected)) / 32 / parts)
        size = sum(value.numel() for value in self.parameters)
        most = _MOST_WRITTEN // (size if self.way == "mapped" else size // 16 + 1)
        return max(32, min(usual, 1024, 32 * (most // 32)))

    def zeros(self) -> list[Tensor]:
        """Return totals to add to, one for every parameter."""
        return [torch.zeros_like(value, dtype=torch.float64, requires_grad=False) for value in self.parameters]

    def add_clipped(self, totals: list[Tensor], rows: Tensor, targets: Tensor, kept: Tensor, clip: float) -> None:
        """Add the gradients of the kept rows to totals, each row's, over all parameters, clipped to `clip`.

        A row whose gradient is not finite counts as zero, so that no row can spoil the sum.
        """
        parts = self._collect_noted(rows, targets) if self.way == "noted" else self._map(rows, targets)
        squares = torch.stack([part.squares() for part in parts]).sum(0)
        finite = torch.isfinite(squares)
        if not bool(finite.all()):
            parts = [part.only(finite) for part in parts]
        weights = torch.where(kept & finite, clip / squares.sqrt().clamp(min=clip), 0.0)
        for part, total in zip(parts, totals, strict=True):
            part.add_to(total, weights)

    def _collect_noted(self, rows: Tensor, targets: Tensor) -> list[GradientPart]:
        layers = [layer for layer in self.module.modules() if _is_trained(layer)]
        self._notes = {layer: [] for layer in layers}
        handles = [layer.register_forward_hook(self._note) for layer in layers]
        try:
            losses = self.losses(self.module(rows), targets)
        finally:
            for handle in handles:
                handle.remove()
        notes = [self._the_note(layer, len(rows)) for layer in layers]
        slopes = torch.autograd.grad(losses.sum(), [_slope_at(*each) for each in zip(layers, notes, strict=True)])
        found: dict[int, GradientPart] = {}
        for layer, (inputs, outputs, _), slope in zip(layers, notes, slopes, strict=True):
            note = LayerNote(inputs.detach(), outputs.detach(), slope)
            found |= {id(at): part for at, part in RULES[type(layer)].find(layer, note) if at is not None}
        self._notes = {}
        return [found[id(parameter)] for parameter in self.parameters]

    def _note(self, layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        self._notes[layer].append((inputs[0], output, (inputs[0]._version, output._version)))

    def _the_note(self, layer: nn.Module, rows: int) -> _Noted:
        """A layer that is used twice, whose notes are overwritten, or that has no rows has other gradients."""
        notes = self._notes[layer]
        if len(notes) != 1 or (notes[0][0]._version, notes[0][1]._version) != notes[0][2]:
            raise ParameterError("A layer is used more than once, or its input or output is overwritten in place.")
        if {len(notes[0][0]), len(notes[0][1])} != {rows}:
            raise ParameterError("A layer with trained parameters is given something that has no rows.")
        return notes[0]

    def _map(self, rows: Tensor, targets: Tensor) -> list[GradientPart]:
        values = dict(zip(self.names, (each.detach() for each in self.parameters), strict=True))
        fixed = {name: value.detach() for name, value in self.module.named_parameters() if not value.requires_grad}
        fixed |= {name: value.clone() for name, value in self.buffers.items()}

        def loss(trained: dict[str, Tensor], row: Tensor, target: Tensor) -> Tensor:
            known = trained | fixed
            held = {slot: known[name] for slot, name in self._slots.items()}
            outputs = functional_call(self.module, held, (row.unsqueeze(0),), tie_weights=False)
            return self.losses(outputs, target.unsqueeze(0)).sum()

        written = vmap(grad(loss), in_dims=(None, 0, 0), randomness="same")(values, rows, targets)
        return [WrittenGradients(written[name]) for name in self.names]


def sum_clipped(gradients: Gradients, rows: Tensor, targets: Tensor, places: Tensor, block: int, clip: float) -> Tensor:
    """Add up the clipped gradients of the rows at some places, block by block, as one long vector.

    Random layers draw the same for all rows and blocks: masks that went by places would change for the rows behind one
    that is left out.
    """
    totals = gradients.zeros()
    seed = int(torch.randint(1 << 62, ())) if gradients.draws else None
    for own, kept in blocks(places, block) if len(rows) else ():
        with contextlib.nullcontext() if seed is None else _drawing_from(seed, rows.device):
            gradients.add_clipped(totals, rows[own], targets[own], kept, clip)
    return torch.cat([total.flatten() for total in totals])


@contextlib.contextmanager
def _drawing_from(seed: int, device: torch.device) -> Iterator[None]:
    """Let PyTorch draw from a seed here, and afterwards as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def blocks(places: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Give places in blocks of one size, and which of a block are meant: the last is filled up with place 0."""
    for part in torch.split(places, size):
        own = torch.zeros(size, dtype=places.dtype, device=places.device)
        own[: len(part)] = part
        yield own, torch.arange(size, device=places.device) < len(part)


_Noted = tuple[Tensor, Tensor, tuple[int, int]]


def _slope_at(layer: nn.Module, noted: _Noted) -> Tensor:
    return noted[0] if RULES[type(layer)].at_input else noted[1]


def _is_trained(layer: nn.Module) -> bool:
    return any(value.requires_grad for value in layer.parameters(recurse=False))


def _buffers(module: nn.Module) -> dict[str, Tensor]:
    found = module.named_buffers(remove_duplicate=False)
    return {name: value.detach().clone() for name, value in found if not nn.parameter.is_lazy(value)}


def _slots(module: nn.Module) -> dict[str, str]:
    """Say for every place that holds a parameter or buffer by which name it is known: shared ones have several places.

    PyTorch's own way of tying leaves a module spoilt in which a layer stands twice.
    """
    first: dict[int, str] = {}
    slots: dict[str, str] = {}
    for prefix, part in module.named_modules():
        parameters = part.named_parameters(recurse=False, remove_duplicate=False)
        for name, value in (*parameters, *part.named_buffers(recurse=False, remove_duplicate=False)):
            slot = f"{prefix}.{name}" if prefix else name
            slots[slot] = first.setdefault(id(value), slot)
    return slots


def choose_gradients(module: nn.Module, losses: Losses, rows: Tensor, targets: Tensor) -> Gradients:
    """Choose the way that fits the module, and try it on invented rows.

    The privacy of the sum does not rest on the trial. It refuses what would be learned badly or fail later: modules
    that mix rows, that keep something of them, or that cannot be taken apart into rows.
    """
    training, before = module.training, _buffers(module)
    try:
        found = _try(module, losses, rows, targets, before)
        if not _is_promised(module):
            return found
        with _other_weights(found.parameters):  # what the first ones hide, as zeros do, is seen
            again = _try(module, losses, rows, targets, before)
        return found if found.way == again.way else Gradients(module, losses, "mapped")
    finally:
        module.train(training)


def _try(module: nn.Module, losses: Losses, rows: Tensor, targets: Tensor, before: dict[str, Tensor]) -> Gradients:
    for mode in (False, True):
        _require_separate(module.train(mode), rows)
    _require_unchanged(module, before)
    mapped, noted = (Gradients(module, losses, way) for way in ("mapped", "noted"))
    try:
        exact = _sum_all(mapped, rows, targets)
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        raise ParameterError(f"The module cannot be trained row by row: {str(error).splitlines()[0]}") from None
    return noted if _can_be_noted(module) and _agrees(noted, rows, targets, exact) else mapped


def _is_promised(module: nn.Module) -> bool:
    return any(map(promises, module.modules()))


def _sum_all(gradients: Gradients, rows: Tensor, targets: Tensor) -> Tensor:
    """Add up the gradients of all rows, hardly clipped and then all clipped, with draws that do not go by the way."""
    places = torch.arange(len(rows), device=rows.device)
    with _drawing_from(0, rows.device):
        sums = [sum_clipped(gradients, rows, targets, places, len(rows), clip) / clip for clip in (1.0, 2.0**-10)]
    return torch.cat(sums)


def _agrees(noted: Gradients, rows: Tensor, targets: Tensor, exact: Tensor) -> bool:
    try:
        quick = _sum_all(noted, rows, targets)
    except (ParameterError, RuntimeError, KeyError):
        return False
    return torch.allclose(exact, quick, rtol=1e-3, atol=1e-5)


@contextlib.contextmanager
def _other_weights(parameters: list[Tensor]) -> Iterator[None]:
    """Let a module have other weights for a while."""
    before = [value.detach().clone() for value in parameters]
    generator = torch.Generator().manual_seed(0)
    try:
        with torch.no_grad():
            for value in parameters:
                value.add_(torch.randn(value.shape, generator=generator).to(value) / 8)
        yield
    finally:
        with torch.no_grad():
            for value, first in zip(parameters, before, strict=True):
                value.copy_(first)


def _require_separate(module: nn.Module, rows: Tensor) -> None:
    """Refuse a module in which rows influence each other: then no row's gradient is its own."""
    if any(isinstance(part, nn.modules.batchnorm._NormBase) and _mixes(part) for part in module.modules()):
        raise ParameterError("Batch normalisation mixes rows; use GroupNorm or LayerNorm instead.")
    with torch.no_grad():
        try:
            alone, *beside = (_outputs(module, given)[:1] for given in (rows, *_others(rows)))
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            raise ParameterError(f"The module fails on rows of this shape: {str(error).splitlines()[0]}") from None
    if not all(torch.allclose(alone, each, rtol=1e-4, atol=1e-5) for each in beside):
        raise ParameterError("The module mixes rows: what it says of one depends on the others beside it.")


def _others(rows: Tensor) -> list[Tensor]:
    """Give the first row other company; whole numbers may be codes, so that others than those given may be none."""
    if rows.is_floating_point():
        return [torch.cat([rows[:1], rows[1:].flip(0) * 2 + 1])]
    return [rows[[0, *[place] * (len(rows) - 1)]] for place in (0, 1)]


def _outputs(module: nn.Module, rows: Tensor) -> Tensor:
    with _drawing_from(0, rows.device):
        outputs: Tensor = module(rows.clone())
        return outputs


def _require_unchanged(module: nn.Module, before: dict[str, Tensor]) -> None:
    """Refuse a module that keeps something of the rows it saw: no noise would protect it."""
    now = _buffers(module)
    same = all(name in now and torch.equal(now[name], value) for name, value in before.items())
    if not same or any(type(part).get_extra_state is not nn.Module.get_extra_state for part in module.modules()):
        raise ParameterError("The module keeps something of the rows in its buffers or extra state; let it keep none.")


def _mixes(part: Any) -> bool:
    return isinstance(part, nn.modules.batchnorm._BatchNorm) or bool(part.track_running_stats)
