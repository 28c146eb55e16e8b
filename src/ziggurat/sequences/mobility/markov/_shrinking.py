"""What noisy counts tell, given what was expected: an empirical Bayes estimate without a formula for the prior."""

from __future__ import annotations

import numpy as np

from ziggurat.sequences.mobility._ground import Reals
from ziggurat.sequences.mobility.markov._tables import NoisyTable

# A count may be so many times what was expected.
_RATIOS = np.concatenate([[0.0], 2.0 ** np.arange(-4, 6.01, 0.25)])
_ROUNDS = 60
# How many cells the first guess, that counts are about what was expected, is worth.
_GUESS = 20.0
_CHUNK = 2**14
_LEAST = 1e-12


def shrink_towards(expected: Reals, noisy: NoisyTable) -> Reals:
    """Estimate counts from noisy ones and from what was expected of them, which need only be right up to a factor.

    A count is taken to be expected * ratio, where the ratios of all cells follow one unknown distribution on a fixed
    grid; that is learned by expectation maximisation from all noisy counts, and every count is its mean given its own
    noisy count. Where noise drowns what is there, what was expected remains. Counts are never negative.
    """
    y = noisy.counts.ravel()
    prior = expected.ravel() / expected.max() + _LEAST
    prior = prior * max(float(y @ prior) / float(prior @ prior), _LEAST)
    shares = _learn_ratios(y, prior, noisy)
    means = []
    for start in range(0, len(y), _CHUNK):
        found = _likelihood(y[start : start + _CHUNK], prior[start : start + _CHUNK], noisy) * shares
        means.append(found @ _RATIOS / found.sum(axis=1))
    return np.asarray((prior * np.concatenate(means)).reshape(expected.shape))


def _learn_ratios(y: Reals, prior: Reals, noisy: NoisyTable) -> Reals:
    """How frequent each ratio is; of very many cells some are looked at, spread evenly."""
    every = -(-len(y) // _CHUNK)
    likely = _likelihood(y[::every], prior[::every], noisy)
    guess = np.exp(-0.5 * np.log(np.maximum(_RATIOS, 2**-8)) ** 2)
    guess /= guess.sum()
    shares: Reals = guess
    for _ in range(_ROUNDS):
        total = likely @ shares
        held = _GUESS * guess + shares * ((1 / total) @ likely)
        shares = np.asarray(held / held.sum())
    return shares


def _likelihood(y: Reals, prior: Reals, noisy: NoisyTable) -> Reals:
    """How likely each noisy count is for each ratio, up to a factor per count."""
    away = np.abs(y[:, None] - prior[:, None] * _RATIOS) / noisy.width
    doubt = away**2 / 2 if noisy.gaussian else away
    return np.asarray(np.exp(doubt.min(axis=1, keepdims=True) - doubt))


def keep_total(noisy: Reals) -> Reals:
    """The nearest counts that are not negative and have the same sum, at least 1."""
    total = max(float(noisy.sum()), 1.0)
    falling = np.sort(noisy)[::-1]
    cuts = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    return np.asarray(np.maximum(noisy - cuts[np.flatnonzero(falling > cuts)[-1]], 0.0))
