"""Collapsed Gibbs sampling of topics, compiled: equation 5.1 of Dandekar's thesis, with the brackets that it needs.

Given all other topics, the topic of a visit of person c to place l at hour t is k with a chance in proportion to

    (n_ck + alpha_k) * (n_kl + beta) / (n_k + L beta) * (n_kt + gamma) / (n_k + T gamma),

where the visit itself is not counted, L is the number of places and T that of hours. The thesis prints the sums in the
denominators without brackets, so that one beta is added instead of L of them; that is no conditional of the model.

A table of counts has one row per place with all topics side by side, so that the processor weighs many topics at once,
in numbers as narrow as they may be. The visit's present topic is tried first: where visits seldom move, the others are
hardly ever looked through one by one. Weights are 32-bit floats, computed anew for every visit from whole counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled_reordering, part
from ziggurat.sequences.mobility.communities._bags import Bags, Codes, Reals, Weights

_BLOCK = 16  # so many topics are summed before one of them is looked for
_VECTORS = 32  # processors take so many at a time, and what is left over one by one
_STEP, _FIRST, _SECOND = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_S30, _S27, _S31, _S40 = (np.uint64(each) for each in (30, 27, 31, 40))
_ONE, _UNIT = np.float32(1), np.float32(2.0**-24)


class TopicCounts(NamedTuple):
    """How many visits of each topic there are: at each place, at each hour, and in all."""

    first: npt.NDArray[Any]
    second: npt.NDArray[Any]
    totals: Reals


class TopicPriors(NamedTuple):
    """The Dirichlet priors: of every topic among a person's, of each place and of each hour among a topic's."""

    people: Reals
    first: float
    second: float


def pad_topics(topics: int) -> int:
    """How many topics there are with those that fill up, which have no weight."""
    return _BLOCK if topics <= _BLOCK else -(-topics // _VECTORS) * _VECTORS


def count_topics(bags: Bags, topics: Codes, communities: int) -> TopicCounts:
    """Count the topics of all visits."""
    wide = pad_topics(communities)
    totals = np.bincount(topics, minlength=wide).astype(np.float64)
    return TopicCounts(
        _count_by(bags.first, topics, bags.sizes[0], wide), _count_by(bags.second, topics, bags.sizes[1], wide), totals
    )


def _count_by(codes: Codes, topics: Codes, size: int, wide: int) -> npt.NDArray[Any]:
    rows = size if len(codes) else 0
    counted = np.bincount(codes.astype(np.int64) * wide + topics[: len(codes)], minlength=rows * wide)
    most = np.bincount(codes, minlength=1).max()  # all may come to have one topic
    return counted.reshape(rows, wide).astype(np.uint16 if most < 1 << 16 else np.int32)


def sample_topics(
    bags: Bags, topics: Codes, counts: TopicCounts, priors: TopicPriors, state: npt.NDArray[np.uint64], sweeps: int
) -> int:
    """Draw the topic of every visit anew, `sweeps` times; topics, counts and state change. Returns how many moved."""
    people = np.zeros(counts.totals.size, np.float32)
    people[: priors.people.size] = priors.people
    mass = np.array([bags.sizes[0] * priors.first, bags.sizes[1] * priors.second])
    added = np.array([priors.first, priors.second], np.float32)
    return int(_sweep(bags.offsets, bags.first, bags.second, topics, counts, people, added, mass, state, sweeps))


@compiled_reordering
def _sweep(
    offsets: npt.NDArray[np.int64],
    first: Codes,
    second: Codes,
    topics: Codes,
    counts: TopicCounts,
    people: Weights,
    added: Weights,
    mass: Reals,
    state: npt.NDArray[np.uint64],
    sweeps: int,
) -> int:
    wide, moved, timed, drawn = people.size, 0, second.size > 0, state[0]
    mine, weights, inverse = np.empty(wide, np.float32), np.empty(wide, np.float32), np.empty(wide, np.float32)
    place_prior, hour_prior = added
    for k in range(wide):
        inverse[k] = _invert(counts.totals[k], mass, timed)
    for _ in range(sweeps):
        for person in range(offsets.size - 1):
            mine[:] = 0
            for i in range(offsets[person], offsets[person + 1]):
                mine[topics[i]] += _ONE
            for i in range(offsets[person], offsets[person + 1]):
                old, here = topics[i], counts.first[first[i]]
                stay = _invert(counts.totals[old] - 1.0, mass, timed) * (mine[old] - _ONE + people[old])
                stay *= np.float32(here[old]) - _ONE + place_prior
                kept, inverse[old], total = inverse[old], 0, np.float32(0)
                if timed:
                    then = counts.second[second[i]]
                    stay *= np.float32(then[old]) - _ONE + hour_prior
                    for k in range(wide):
                        both = (np.float32(here[k]) + place_prior) * (np.float32(then[k]) + hour_prior)
                        weight = (mine[k] + people[k]) * both * inverse[k]
                        weights[k] = weight
                        total += weight
                else:
                    for k in range(wide):
                        weight = (mine[k] + people[k]) * (np.float32(here[k]) + place_prior) * inverse[k]
                        weights[k] = weight
                        total += weight
                inverse[old] = kept
                drawn += _STEP
                mark = _share(drawn) * (total + stay)
                if mark >= stay:
                    new = _choose(weights, mark - stay, old)
                    moved += new != old
                    topics[i] = new
                    _move(mine, old, new)
                    _move(here, old, new)
                    _move(counts.totals, old, new)
                    if timed:
                        _move(counts.second[second[i]], old, new)
                    inverse[old] = _invert(counts.totals[old], mass, timed)
                    inverse[new] = _invert(counts.totals[new], mass, timed)
    state[0] = drawn
    return moved


@part
def _invert(total: float, mass: Reals, timed: bool) -> np.float32:
    return np.float32(1.0 / ((total + mass[0]) * (total + mass[1])) if timed else 1.0 / (total + mass[0]))


@part
def _move(counts: npt.NDArray[Any], old: int, new: int) -> None:
    counts[old] -= 1
    counts[new] += 1


@part
def _share(drawn: np.uint64) -> np.float32:
    """A random number below 1: SplitMix64 (Steele, Lea and Flood 2014) at this state."""
    word = (drawn ^ (drawn >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return np.float32((word ^ (word >> _S31)) >> _S40) * _UNIT


@part
def _choose(weights: Weights, mark: np.float32, otherwise: int) -> int:
    """The topic at which the sum of weights passes the mark: the block of topics, then the one of the block."""
    for block in range(0, weights.size, _BLOCK):
        w = weights[block : block + _BLOCK]
        low = ((w[0] + w[8]) + (w[4] + w[12])) + ((w[2] + w[10]) + (w[6] + w[14]))
        high = ((w[1] + w[9]) + (w[5] + w[13])) + ((w[3] + w[11]) + (w[7] + w[15]))
        if mark < low + high:
            k = 0
            while k < _BLOCK - 1 and mark >= w[k]:
                mark -= w[k]
                k += 1
            # rounding may lead to a topic without weight, one that fills up
            return block + k if w[k] > 0 else otherwise
        mark -= low + high
    return otherwise
