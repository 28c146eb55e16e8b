"""Runs a sampler over a source until the output is full: compiled, or for the first few draws interpreted."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.randomness._source import Source, Words

Integers = npt.NDArray[np.int64]

_WORDS_PER_DRAW = 8
_LARGEST_VIEW = 2**14

_COMPILED = "ziggurat.randomness._kernels"
# The compiler takes most of a second to load, as long as many thousand draws without it: only those who draw much pay.
_INTERPRETED = frozenset({"uniform", "bernoulli", "bernoulli_exp", "laplace", "gaussian"})
_MOST_INTERPRETED = 1024
_interpreted_so_far = 0


def check_size(size: int | None) -> int:
    """Return how many draws `size` asks for."""
    if size is None:
        return 1
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise ParameterError("The size must be an integer of at least 0, or None for a single draw.")
    return int(size)


def fill(kernel: str, out: Integers, source: Source, *parameters: Any) -> None:
    """Fill `out` with draws of the kernel of that name.

    The result does not depend on how many words the kernel is shown at a time: whatever it leaves unread
    stays in the source, and a draw that ran out of words is repeated from its first word.
    """
    if not isinstance(source, Source):
        raise ParameterError("Give the source of randomness: secure(), or seeded(...) for a rehearsal.")
    run = _kernel(kernel, out.size)
    at = np.zeros(2, dtype=np.int64)  # how many words were read, and whether a bound was passed
    done = 0

    def take(words: Words) -> int:
        nonlocal done
        at[0] = 0
        done = run(out, done, words, at, *parameters)
        return int(at[0])

    view = 0
    while done < out.size:
        before = done
        view = max(view, min(_WORDS_PER_DRAW * (out.size - done), _LARGEST_VIEW))
        source.feed(take, view)
        if at[1]:
            raise PrivacyError("A draw left the range of 64-bit integers; release nothing of it.")
        if done == before:
            view *= 2


def _kernel(name: str, draws: int) -> Callable[..., int]:
    """Give a kernel, compiled or not: its draws are the same."""
    global _interpreted_so_far
    if _COMPILED not in sys.modules and name in _INTERPRETED and _interpreted_so_far + draws <= _MOST_INTERPRETED:
        from ziggurat.randomness._interpreted import interpret

        _interpreted_so_far += draws
        return interpret(name)
    return cast(Callable[..., int], getattr(importlib.import_module(_COMPILED), name))


def draw(kernel: str, size: int | None, source: Source, *parameters: Any) -> int | Integers:
    """Return one draw as a Python integer, or `size` of them as an array."""
    out = np.empty(check_size(size), dtype=np.int64)
    fill(kernel, out, source, *parameters)
    return int(out[0]) if size is None else out
