"""A noise path that is drawn where it is asked, and kept for ever.

The path is a Gaussian process with covariance k + j on the diagonal: each new point gets its noise from
N(k*' K^-1 g, k** + j - k*' K^-1 k*), given all noise g drawn before, so that the joint law is that of one path whatever
the order of the questions. The jitter j = 1e-4 is independent noise besides: it can only protect more.

What is proven. An answer is a multiple of a public step: the function's value rounded to steps, plus noise in whole
steps, an exact deviate around its mean. Integers are added, so no low-order bits of the value leak. The conditional
means and deviations are computed in floats, from the questions and from past noise alone, never from the data; the
law drawn is therefore that of a path up to floating point, not exactly. The jitter keeps every conditional deviation
above 1e-2 and the condition number below 1e4 times the number m of questions, so that these floats err by about
1e-12 m deviations or less, and a thousandth of the sensitivity is set aside for it. Features need no such argument.

A copy of the file that goes on by itself is a second path, and an older copy put in its place forgets answers that
were given: both break the promise, and neither can be noticed here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.learn.served._kernels import Array, gaussian_kernel
from ziggurat.learn.served._path_file import Integers, OpenedPath, PathFile, Records
from ziggurat.randomness import Source, secure

JITTER = 1e-4
"""Variance of the noise that each point has to itself, where the path's is 1."""

_STEPS = 1 << 32  # of the path's deviation: the grid of noise and answers
_MOST = float(1 << 61)


class LazyPath:
    """Noise for one fitted model, for as long as it answers.

    Its file must stay as secret as the data. A random name ties it to one model: a path must never hide two functions.
    """

    def __init__(self, file: PathFile, source: Source | None = None) -> None:
        self.file = file
        self._source = secure() if source is None else source
        self._forget()

    @classmethod
    def create(cls, file: str | Path, columns: int, outputs: int, bandwidth: float, source: Source) -> Self:
        """Start a path in a new file; a file that is there is refused."""
        facts = {"columns": columns, "outputs": outputs, "bandwidth": bandwidth, "origin": source.origin}
        return cls(PathFile.create(file, **facts), source)

    def _forget(self) -> None:
        self._turn = threading.Lock()
        self._places: dict[bytes, int] = {}
        self._points: Array = np.empty((0, 0))
        self._factor: Array = np.empty((0, 0))
        self._white: Array = np.empty((0, 0))
        self._given: Integers = np.empty((0, 0), dtype=np.int64)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle where the path is; what is known of it is read from the file again."""
        return {"file": self.file, "_source": self._source}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def answers(self, points: Array, truth: Callable[[Array], Array]) -> Array:
        """Noisy values at the points, in deviations of the path; `truth` is asked at points that are new.

        Raises
        ------
        ArtefactError
            If the file is missing, damaged, of another model, or cannot be written: then no answer leaves.
        ParameterError
            If noise would be drawn from a secure source for a rehearsal, or from a seeded one for a secure path.
        """
        asked = np.ascontiguousarray(points + 0.0)  # so that -0.0 and 0.0 are one point
        keys = [row.tobytes() for row in asked]
        with self._turn, self.file.open() as file:
            if file.facts["origin"] != self._source.origin:
                raise ParameterError(
                    "The random state is not that of the fit; a path keeps to the noise it began with."
                )
            if asked.shape[1] != file.columns:
                raise ParameterError(f"The noise path has {file.columns} columns, and the question others.")
            self._catch_up(file)
            new = {key: at for at, key in reversed(list(enumerate(keys))) if key not in self._places}
            if new:
                self._draw(file, asked[sorted(new.values())], truth)
            return self._given[[self._places[key] for key in keys]].reshape(len(keys), file.outputs) / _STEPS

    def _catch_up(self, file: OpenedPath) -> None:
        """Read what was counted since the last turn, by this program or another."""
        records = file.after(len(self._places))
        if len(records.points):
            factor = self._extend(records.points, float(file.facts["bandwidth"]))
            self._know(records, factor, self._whiten(factor, records.noise / _STEPS))

    def _draw(self, file: OpenedPath, points: Array, truth: Callable[[Array], Array]) -> None:
        """Draw noise for new points, write it down, and only then know it."""
        exact = np.rint(np.clip(truth(points) * _STEPS, -_MOST, _MOST)).astype(np.int64)
        factor = self._extend(points, float(file.facts["bandwidth"]))
        noise, white = self._sample(factor, len(points), file.outputs)
        records = Records(points, noise, exact.reshape(noise.shape) + noise)
        file.add(len(self._places), records)
        self._know(records, factor, white)

    def _extend(self, points: Array, bandwidth: float) -> Array:
        """Add rows to the Cholesky factor of the covariance of all points."""
        from scipy.linalg import cholesky, solve_triangular

        old, count = len(self._factor), len(points)
        factor = np.zeros((old + count, old + count))
        factor[:old, :old] = self._factor
        within = gaussian_kernel(points, points, bandwidth) + JITTER * np.eye(count)
        if old:
            across = solve_triangular(self._factor, gaussian_kernel(self._points, points, bandwidth), lower=True)
            factor[old:, :old] = across.T
            within -= across.T @ across
        factor[old:, old:] = cholesky(within, lower=True)
        return factor

    def _sample(self, factor: Array, count: int, outputs: int) -> tuple[Integers, Array]:
        """Draw one point after another: its mean given all before, and an exact deviate, in whole steps."""
        first = len(factor) - count
        white = np.vstack([self._white.reshape(first, outputs), np.empty((count, outputs))])
        noise = np.empty((count, outputs), dtype=np.int64)
        for at in range(first, first + count):
            mean, deviation = factor[at, :at] @ white[:at], float(factor[at, at])
            source = self._source if self._source.secure else self._source.child("path", at)
            sigma = randomness.carry_gaussian(Fraction(deviation) * _STEPS)
            drawn = randomness.rounded_gaussian(sigma, size=outputs, source=source)
            noise[at - first] = np.rint(mean * _STEPS).astype(np.int64) + drawn
            white[at] = (noise[at - first] / _STEPS - mean) / deviation
        return noise, white

    def _whiten(self, factor: Array, noise: Array) -> Array:
        """Turn noise read from the file into the independent deviates it was made of."""
        from scipy.linalg import solve_triangular

        old = len(factor) - len(noise)
        before = self._white.reshape(old, noise.shape[1])
        left = noise - factor[old:, :old] @ before
        return np.vstack([before, solve_triangular(factor[old:, old:], left, lower=True)])

    def _know(self, records: Records, factor: Array, white: Array) -> None:
        for point in records.points:
            self._places[point.tobytes()] = len(self._places)
        self._points = np.vstack([self._points.reshape(-1, records.points.shape[1]), records.points])
        self._given = np.vstack([self._given.reshape(-1, records.given.shape[1]), records.given])
        self._factor, self._white = factor, white
