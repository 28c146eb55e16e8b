"""What is drawn at a step of private gradient descent: which rows take part, and the noise, both ahead of time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ziggurat import randomness
from ziggurat.compiling import compiled
from ziggurat.errors import PrivacyError
from ziggurat.mechanisms import Gaussian
from ziggurat.randomness import Source

Integers = npt.NDArray[np.int64]

# The noise of a step is drawn in this many parts, each from a source of its own, so that it does not depend on how
# many processors there are.
_PARTS = 4
_FEWEST = 1 << 12
_MOST_STEPS = float(1 << 61)


class LatticeNoise:
    """Rounds a sum to a lattice and adds whole steps of noise: post-processing of the Gaussian mechanism.

    The sum of clipped gradients moves by at most `sensitivity` in l2 with one row; rounded it moves by at most
    `event.sensitivity` of the mechanism, and sigma is at least `multiplier` times that. See `Gaussian` for the proof.
    """

    def __init__(self, sensitivity: Fraction, multiplier: Fraction, coordinates: int) -> None:
        rough = Gaussian(sensitivity, sensitivity * multiplier, coordinates=coordinates)
        moved = rough.event.sensitivity
        made = Gaussian(sensitivity, moved * multiplier, grid=rough.grid, coordinates=coordinates)
        if made.sigma < multiplier * made.event.sensitivity:
            raise PrivacyError("The noise came out smaller than was planned; nothing was released.")
        self.mechanism, self.coordinates = made, coordinates
        self.sigma_in_steps: Fraction = made.sigma / made.grid

    def protect(self, total: Tensor, noise: Tensor) -> Tensor:
        """Round a vector in double precision and add noise in steps; what comes out, in its place, may leave."""
        grid = float(self.mechanism.grid)  # a power of two: scaling by it is exact
        if not total.is_cuda:
            add_steps(total.numpy(), noise.numpy(), grid, _MOST_STEPS)
            return total
        steps = (total / grid).round_().clamp_(-_MOST_STEPS, _MOST_STEPS).to(torch.int64)
        return steps.add_(noise).double().mul_(grid)


@dataclass(frozen=True)
class Draw:
    """The rows of one step, and its noise in steps of the lattice."""

    places: Integers
    noise: Integers


class Draws:
    """Draws for one step after the other, in threads, while the step before is being taken.

    Every row takes part with probability exactly `sampling`, independently of all others and of other steps.
    """

    def __init__(self, source: Source, rows: int, sampling: Fraction, lattice: LatticeNoise) -> None:
        self._source, self._rows, self._sampling, self._lattice = source, rows, sampling, lattice

    def steps(self, first: int, last: int) -> Iterator[Draw]:
        """Give the draws of steps first, ..., last - 1."""
        with ThreadPoolExecutor(min(_PARTS, os.cpu_count() or 1)) as pool:
            coming = self._begin(pool, first) if first < last else []
            for step in range(first, last):
                places, *noise = [each.result() for each in coming]
                coming = self._begin(pool, step + 1) if step + 1 < last else []
                yield Draw(np.flatnonzero(places), np.concatenate(noise))

    def _begin(self, pool: ThreadPoolExecutor, step: int) -> list[Future[Any]]:
        parts = _PARTS if self._lattice.coordinates >= _FEWEST else 1
        return [pool.submit(self._sample, step), *(pool.submit(self._noise, step, at, parts) for at in range(parts))]

    def _sample(self, step: int) -> Integers:
        return randomness.bernoulli(self._sampling, size=self._rows, source=self._source.child("rows", step))

    def _noise(self, step: int, at: int, parts: int) -> Integers:
        low, high = (place * self._lattice.coordinates // parts for place in (at, at + 1))
        source = self._source.child("noise", step, at)
        return randomness.rounded_gaussian(self._lattice.sigma_in_steps, size=high - low, source=source)


@compiled
def add_steps(total: npt.NDArray[np.float64], noise: npt.NDArray[np.int64], grid: float, most: float) -> None:
    """Round `total` to steps of a power of two, at most so many, add whole steps, and leave the result in place.

    Dividing and multiplying by a power of two is exact, and steps and noise are added as integers.
    """
    for i in range(total.size):
        steps = min(max(np.rint(total[i] / grid), -most), most)
        total[i] = float(np.int64(steps) + noise[i]) * grid
