"""What synthetic sequences kept of the original ones: in all, and class by class."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.sequences import Sequences
from ziggurat.utility._distributions import jensen_shannon, total_variation
from ziggurat.utility.sequences._distances import require_alike
from ziggurat.wording import count_noun

Counts = npt.NDArray[np.int64]

PATTERN = 3
"""How many symbols in a row make a pattern."""

_ALL = "all"
_MOST_PATTERNS = 100


@dataclass(frozen=True)
class ComparedSequences:
    """The sequences of one class, or all, beside the synthetic ones; what cannot be compared is NaN.

    Attributes
    ----------
    name
        The class as text, or "all".
    original, synthetic
        How many there are.
    share, synthetic_share
        Their share of all; for abnormal sequences that is the anomaly count.
    length, synthetic_length
        How many symbols one has on average.
    lengths, lengths_bits
        Total variation and Jensen-Shannon divergence (in bits, 0 to 1) of the distributions of the length.
    symbols, symbols_bits
        The same of the symbols.
    transitions, transitions_bits
        The same of pairs of a symbol and the next, where the beginning and the end of a sequence count as symbols.
    patterns
        Of the (at most 100) patterns of three symbols in a row that most original sequences hold, the share that is
        among as many most frequent ones of the synthetic.
    support_error
        By how much the share of sequences that hold such a pattern differs on average over these patterns.
    distinct, synthetic_distinct
        How many different sequences there are.
    found
        The share of synthetic sequences that equal an original one of the same class: frequent sequences do by nature.
    length_counts, transition_counts
        For a picture: of the original and of the synthetic, how many have each length, and pairs of codes with their
        counts, where the code after the last means beginning or end.
    """

    name: str
    original: int
    synthetic: int
    share: float
    synthetic_share: float
    length: float
    synthetic_length: float
    lengths: float
    lengths_bits: float
    symbols: float
    symbols_bits: float
    transitions: float
    transitions_bits: float
    patterns: float
    support_error: float
    distinct: int
    synthetic_distinct: int
    found: float
    length_counts: tuple[Counts, Counts] = field(repr=False, compare=False)
    transition_counts: tuple[tuple[Counts, Counts], tuple[Counts, Counts]] = field(repr=False, compare=False)


@dataclass(frozen=True)
class SequenceComparison(Finding):
    """Synthetic sequences beside the original ones.

    Attributes
    ----------
    groups
        All sequences first, then each class.
    tokens
        The names of the symbols, for a picture.
    """

    groups: tuple[ComparedSequences, ...]
    tokens: tuple[str, ...] = field(repr=False, compare=False)

    @property
    def whole(self) -> ComparedSequences:
        """All sequences."""
        return self.groups[0]

    @property
    def class_error(self) -> float:
        """By how much the share of the worst class differs; 0 if there are no classes."""
        return max((abs(each.share - each.synthetic_share) for each in self.groups[1:]), default=0.0)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        every = self.whole
        text = (
            f"{count_noun(every.synthetic, 'synthetic sequence')} differ from {every.original:,} original ones by a "
            f"total variation of {every.lengths:.3g} in their lengths, {every.symbols:.3g} in their symbols and "
            f"{every.transitions:.3g} in their transitions; {every.patterns:.1%} of the most frequent patterns were "
            f"kept"
        )
        if len(self.groups) > 1:
            text += f", and no class's share is off by more than {self.class_error:.2%}"
        return f"{text}."

    @property
    def table(self) -> pa.Table:
        """One row for all, and one for each class."""
        columns = {
            "sequences": "name",
            "original": "original",
            "synthetic": "synthetic",
            "share": "share",
            "share, synthetic": "synthetic_share",
            "length": "length",
            "length, synthetic": "synthetic_length",
            "lengths, total variation": "lengths",
            "lengths, Jensen-Shannon": "lengths_bits",
            "symbols, total variation": "symbols",
            "symbols, Jensen-Shannon": "symbols_bits",
            "transitions, total variation": "transitions",
            "transitions, Jensen-Shannon": "transitions_bits",
            "patterns kept": "patterns",
            "support error": "support_error",
            "distinct": "distinct",
            "distinct, synthetic": "synthetic_distinct",
            "synthetic ones found in the original": "found",
        }
        return pa.table({title: [getattr(each, name) for each in self.groups] for title, name in columns.items()})


def compare_sequences(original: Sequences, synthetic: Sequences) -> SequenceComparison:
    """Compare lengths, symbols, transitions, class sizes, frequent patterns and whole sequences.

    Parameters
    ----------
    original, synthetic
        Of the same tokens and classes; how many each has may differ.
    """
    require_alike(original, synthetic)
    if not len(original) or not len(synthetic):
        raise ParameterError("There are no sequences to compare; give at least one of each.")
    domain, sizes = original.domain, (len(original), len(synthetic))
    groups = [_compare(_ALL, original, synthetic, sizes)]
    groups += [
        _compare(str(name), original.of_class(code), synthetic.of_class(code), sizes)
        for code, name in enumerate(domain.classes)
    ]
    return SequenceComparison(tuple(groups), tuple(map(str, domain.tokens)))


def _compare(name: str, original: Sequences, synthetic: Sequences, sizes: tuple[int, int]) -> ComparedSequences:
    both = (original, synthetic)
    lengths = _count_lengths(*both)
    moves = [_count_transitions(each) for each in both]
    symbols = [_count_keys(each.codes) for each in both]
    whole = [each.to_characters() for each in both]
    known = set(whole[0])
    patterns, error = _compare_patterns(original, synthetic)
    return ComparedSequences(
        name=name,
        original=len(original),
        synthetic=len(synthetic),
        share=len(original) / sizes[0],
        synthetic_share=len(synthetic) / sizes[1],
        length=_mean(original.lengths),
        synthetic_length=_mean(synthetic.lengths),
        lengths=_measure(total_variation, *lengths),
        lengths_bits=_measure(jensen_shannon, *lengths),
        symbols=_measure(total_variation, *_align(*symbols)),
        symbols_bits=_measure(jensen_shannon, *_align(*symbols)),
        transitions=_measure(total_variation, *_align(*moves)),
        transitions_bits=_measure(jensen_shannon, *_align(*moves)),
        patterns=patterns,
        support_error=error,
        distinct=len(known),
        synthetic_distinct=len(set(whole[1])),
        found=_mean(np.array([each in known for each in whole[1]])),
        length_counts=lengths,
        transition_counts=(moves[0], moves[1]),
    )


def _mean(values: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> float:
    return float(values.mean()) if values.size else math.nan


def _measure(distance: Callable[[Counts, Counts], float], one: Counts, other: Counts) -> float:
    return distance(one, other) if one.any() and other.any() else math.nan


def _count_lengths(one: Sequences, other: Sequences) -> tuple[Counts, Counts]:
    size = int(max(one.lengths.max(initial=0), other.lengths.max(initial=0))) + 1
    return np.bincount(one.lengths, minlength=size), np.bincount(other.lengths, minlength=size)


def _align(one: tuple[Counts, Counts], other: tuple[Counts, Counts]) -> tuple[Counts, Counts]:
    """Counts of keys as counts of the same cells."""
    keys = np.union1d(one[0], other[0])
    filled = [np.zeros(len(keys), dtype=np.int64) for _ in range(2)]
    for counts, (own, held) in zip(filled, (one, other), strict=True):
        counts[np.searchsorted(keys, own)] = held
    return filled[0], filled[1]


def _count_transitions(sequences: Sequences) -> tuple[Counts, Counts]:
    """Pairs of neighbours as numbers in base `tokens + 1`, whose last digit means an end, and how often each occurs.

    One mark between two sequences is the end of one and the beginning of the next.
    """
    base = sequences.domain.size + 1
    codes = np.insert(sequences.codes.astype(np.int64), sequences.offsets, base - 1)
    return _count_keys(codes[:-1] * base + codes[1:])


def _count_keys(keys: npt.NDArray[np.integer]) -> tuple[Counts, Counts]:
    found, counts = np.unique(keys, return_counts=True)
    return found.astype(np.int64), counts.astype(np.int64)


def _list_patterns(sequences: Sequences) -> tuple[Counts, Counts]:
    """Every pattern as a number in base `tokens + 1`, and the sequence that it stands in."""
    codes, owner = sequences.codes.astype(np.int64), np.repeat(np.arange(len(sequences)), sequences.lengths)
    base, last = sequences.domain.size + 1, max(0, len(codes) - PATTERN + 1)
    keys = np.zeros(last, dtype=np.int64)
    for place in range(PATTERN):
        keys = keys * base + codes[place : last + place]
    within = owner[:last] == owner[len(owner) - last :]
    return keys[within], owner[:last][within]


def _compare_patterns(original: Sequences, synthetic: Sequences) -> tuple[float, float]:
    """The share of the original's most frequent patterns that are among the synthetic's, and the error of supports."""
    (keys, ours), (others, theirs) = (_count_holders(each) for each in (original, synthetic))
    top = keys[np.argsort(-ours, kind="stable")][:_MOST_PATTERNS]
    if not len(top) or not len(synthetic):
        return math.nan, math.nan
    rival = others[np.argsort(-theirs, kind="stable")][: len(top)]
    one, other = _align((keys, ours), (others, theirs))
    wanted = np.searchsorted(np.union1d(keys, others), top)
    apart = np.abs(one[wanted] / len(original) - other[wanted] / len(synthetic))
    return float(np.isin(top, rival).mean()), float(apart.mean())


def _count_holders(sequences: Sequences) -> tuple[Counts, Counts]:
    """Each pattern, and how many sequences hold it."""
    keys, owner = _list_patterns(sequences)
    found, which = np.unique(keys, return_inverse=True)
    pairs = np.sort(owner * len(found) + which)
    once = pairs[np.diff(pairs, prepend=-1) > 0]
    return found, np.bincount(once % max(len(found), 1), minlength=len(found))
