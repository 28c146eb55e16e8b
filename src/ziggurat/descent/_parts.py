"""The gradients of several rows for one parameter, written out or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import torch
from torch import Tensor

# How many doubles are made at once: on a processor about what its caches hold, elsewhere enough to keep it busy.
_AT_ONCE = {"cpu": 1 << 19, "cuda": 1 << 24}


class GradientPart(Protocol):
    """The gradients of several rows for one parameter."""

    def squares(self) -> Tensor:
        """Return the squared length of every row's gradient, or a little more, in double precision."""

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
        return torch.cat([_squares(values) for (values,) in _some(self.values.flatten(1))])

    def add_to(self, total: Tensor, weights: Tensor) -> None:
        """Add the rows up."""
        for values, weight in _some(self.values.flatten(1), weights):
            total.view(-1).addmv_(values.double().T, weight)

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


class OuterSums:
    """Gradients that are sums over time of outer products g_t x_t^T, which are never multiplied out (Li et al. 2022).

    The squared length is the sum over s and t of (g_s . g_t)(x_s . x_t). Terms of both signs may cancel in it, so that
    what rounding may have taken away is added, and a length may be found too long, never too short. With n-vectors in
    floats of unit u and least normal number v, an inner product errs by at most 2 n u |a| |b| + n v if n u < 1/2
    (Higham 2002, section 3.1, and what underflows). So with vectors of d and e numbers at T times, a product of
    two errs by at most 2 (d + e + 2) u |g_s| |g_t| |x_s| |x_t| + 2 v (d |x_s| |x_t| + e |g_s| |g_t|), and their sum, in
    doubles, by T^2 2^-53 of what is added. Summed over s and t, products of lengths are squares of sums. What overflows
    is not finite, and such a row counts as nothing.
    """

    def __init__(self, left: Tensor, right: Tensor) -> None:
        self.left, self.right = left, right

    def squares(self) -> Tensor:
        """Add up products of inner products, and what rounding may have taken."""
        return torch.cat([_bound(left, right) for left, right in _some(self.left, self.right)])

    def add_to(self, total: Tensor, weights: Tensor) -> None:
        """Make one product of matrices for all rows and times, some rows at a time."""
        for left, right, weight in _some(self.left, self.right, weights):
            weighted = left.double() * weight.view(-1, 1, 1)
            total.addmm_(weighted.flatten(0, 1).T, right.double().flatten(0, 1))

    def only(self, kept: Tensor) -> OuterSums:
        """Zero the others."""
        return OuterSums(_zero(self.left, kept), _zero(self.right, kept))


class LinesLookedUp:
    """Gradients for a table of which every row looked up a few lines: the slopes of equal lines are added up.

    What is written out is a line for every different index of a row, not a table for every row.
    """

    def __init__(self, indices: Tensor, slopes: Tensor, lines: int) -> None:
        rows = torch.arange(len(indices), device=indices.device).unsqueeze(1)
        found, where = torch.unique(rows * lines + indices, return_inverse=True)
        self.rows, self.lines = found // lines, found % lines
        self.count = len(indices)
        self.sums = torch.zeros((len(found), slopes.shape[2]), dtype=torch.float64, device=slopes.device)
        self.sums.index_add_(0, where.flatten(), slopes.flatten(0, 1).double())

    def squares(self) -> Tensor:
        """Square the lengths of the lines, and add them up for every row."""
        found = torch.zeros(self.count, dtype=torch.float64, device=self.sums.device)
        return found.index_add_(0, self.rows, _squares(self.sums))

    def add_to(self, total: Tensor, weights: Tensor) -> None:
        """Add the lines where they belong."""
        total.index_add_(0, self.lines, self.sums * weights[self.rows].unsqueeze(1))

    def only(self, kept: Tensor) -> LinesLookedUp:
        """Zero the others."""
        self.sums = _zero(self.sums, kept[self.rows])
        return self


def _bound(left: Tensor, right: Tensor) -> Tensor:
    """Bound the squared lengths of sums over time from above; `OuterSums` has the proof."""
    if torch.get_float32_matmul_precision() != "highest":  # products may then be of fewer digits than floats have
        left, right = left.double(), right.double()
    ours, theirs = torch.bmm(left, left.mT), torch.bmm(right, right.mT)
    found = (ours.double() * theirs).sum((1, 2)).clamp(min=0)
    kind, (time, wide, narrow) = torch.finfo(left.dtype), (*left.shape[1:], right.shape[2])
    lengths, others = (torch.linalg.vector_norm(each, dim=2, dtype=torch.float64) for each in (left, right))
    unit = (wide + narrow + 2) * kind.eps + time**2 * 2.0**-52
    rounded = unit * (lengths * others).sum(1).square()
    lost = wide * others.sum(1).square() + narrow * lengths.sum(1).square()
    bound: Tensor = found + rounded + 2 * kind.tiny * lost
    return bound


def _some(*values: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Give the same rows of several tensors, as many at a time as become doubles without much memory."""
    size = max(1, _AT_ONCE.get(values[0].device.type, 1 << 19) // max(1, values[0][:1].numel()))
    return zip(*(torch.split(each, size) for each in values), strict=True)


def _squares(values: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(values, dim=1, dtype=torch.float64)
    return lengths.square()


def _zero(values: Tensor, kept: Tensor) -> Tensor:
    return torch.where(kept.view(-1, *(1,) * (values.dim() - 1)), values, 0)
