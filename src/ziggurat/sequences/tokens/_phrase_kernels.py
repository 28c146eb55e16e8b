"""How sequences are read as phrases, counted and drawn, compiled.

Codes 0, ..., size - 1 are the symbols, `end` = size is the end of a sequence, and size + 1 + k is the k-th phrase: two
codes that stand side by side. As the row of a table of transitions, `end` is the beginning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled, part

Codes = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
Table = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class PhraseTexts(NamedTuple):
    """What phrases stand for: symbols `texts[bounds[p]:bounds[p + 1]]`, and whether the sequence `closes` with it."""

    texts: Codes
    bounds: Places
    closes: npt.NDArray[np.bool_]


class ChainRows(NamedTuple):
    """Row r = class * phrases + phrase is followed by `heads[starts[r]:starts[r + 1]]` with chances `shares`."""

    starts: Places
    heads: Codes
    shares: Reals


@compiled
def join_pairs(codes: Codes, offsets: Places, ranks: Codes, end: int) -> tuple[Codes, Places]:
    """Read each sequence, with its end, as phrases: the pair of the lowest rank is joined first, wherever it stands.

    `ranks[a, b]` is the number of the phrase (a, b), or negative.
    """
    count = offsets.size - 1
    words, places = np.empty(codes.size + count, np.int32), np.zeros(count + 1, np.int64)
    for at in range(count):
        length = offsets[at + 1] - offsets[at]
        word = words[places[at] : places[at] + length + 1]
        word[:length] = codes[offsets[at] : offsets[at + 1]]
        word[length] = end
        length, best = length + 1, _lowest(word, ranks)
        while best >= 0:
            length = _join(word[:length], ranks, best, end + 1 + best)
            best = _lowest(word[:length], ranks)
        places[at + 1] = places[at] + length
    return words[: places[count]].copy(), places


@part
def _lowest(word: Codes, ranks: Codes) -> int:
    best = -1
    for k in range(word.size - 1):
        rank = ranks[word[k], word[k + 1]]
        if rank >= 0 and (best < 0 or rank < best):
            best = int(rank)
    return best


@part
def _join(word: Codes, ranks: Codes, rank: int, code: int) -> int:
    kept, k = 0, 0
    while k < word.size:
        joined = k + 1 < word.size and ranks[word[k], word[k + 1]] == rank
        word[kept] = code if joined else word[k]
        k += 2 if joined else 1
        kept += 1
    return kept


@compiled
def learn_pairs(codes: Codes, offsets: Places, end: int, most: int, least: int) -> Codes:
    """Choose pairs to join, the most frequent first and again after each; at most `most`, each at least `least` times.

    Byte-pair encoding (Gage 1994), of sequences that are no secret.
    """
    wide = end + 1 + most
    ranks, pairs = np.full((wide, wide), -1, np.int32), np.zeros((most, 2), np.int32)
    words, places = join_pairs(codes, offsets, ranks, end)
    stops = places[1:].copy()
    for made in range(most):
        first, second, seen = _most_frequent(words, places, stops, wide)
        if seen < least:
            return pairs[:made].copy()
        pairs[made, 0], pairs[made, 1], ranks[first, second] = first, second, made
        for at in range(stops.size):
            stops[at] = places[at] + _join(words[places[at] : stops[at]], ranks, made, end + 1 + made)
    return pairs


@part
def _most_frequent(words: Codes, places: Places, stops: Places, wide: int) -> tuple[int, int, int]:
    tally, first, second, seen = np.zeros((wide, wide), np.int64), 0, 0, 0
    for at in range(stops.size):
        k = places[at]
        while k + 1 < stops[at]:
            a, b = words[k], words[k + 1]
            tally[a, b] += 1
            if tally[a, b] > seen:
                first, second, seen = a, b, tally[a, b]
            # in a run of equals, every second pair can be joined
            k += 2 if k + 2 < stops[at] and a == b == words[k + 2] else 1
    return first, second, seen


@compiled
def measure_words(words: Codes, places: Places, wide: int, square: bool) -> Places:
    """How much each sequence counts: its phrases, or the sum of the squares of how often each phrase occurs in it."""
    norms, mine = np.zeros(places.size - 1, np.int64), np.zeros(wide, np.int64)
    for at in range(norms.size):
        for k in range(places[at], places[at + 1]):
            norms[at] += 2 * mine[words[k]] + 1 if square else 1
            mine[words[k]] += 1
        for k in range(places[at], places[at + 1]):
            mine[words[k]] = 0
    return norms


@compiled
def count_transitions(words: Codes, places: Places, weights: Places, labels: Codes, end: int, table: Table) -> None:
    """Add every transition of each sequence, with its weight, to `table[class, before, after]`."""
    for at in range(places.size - 1):
        before = end
        for k in range(places[at], places[at + 1]):
            table[labels[at], before, words[k]] += weights[at]
            before = words[k]


@compiled
def chances_to_end(rows: ChainRows, phrases: PhraseTexts, groups: int, longest: int) -> Reals:
    """Chances, by class and phrase, that a sequence closes after exactly so many more symbols."""
    states = phrases.closes.size
    chances = np.zeros((groups, states, longest + 1))
    for group in range(groups):
        for left in range(longest + 1):
            for state in range(states):
                row = group * states + state
                for k in range(rows.starts[row], rows.starts[row + 1]):
                    chances[group, state, left] += _chance(rows, phrases, chances[group], k, left)
    return chances


@part
def _chance(rows: ChainRows, phrases: PhraseTexts, chances: Reals, k: int, left: int) -> float:
    """The chance to go the k-th way and then to close after exactly `left` symbols."""
    head = rows.heads[k]
    rest = left - (phrases.bounds[head + 1] - phrases.bounds[head])
    if phrases.closes[head]:
        return rows.shares[k] if rest == 0 else 0.0
    return rows.shares[k] * chances[head, rest] if rest >= 0 else 0.0


@compiled
def walk(
    labels: Codes,
    lengths: Places,
    rows: ChainRows,
    phrases: PhraseTexts,
    chances: Reals,
    end: int,
    draw: np.random.Generator,
) -> Codes:
    """Draw a sequence of each class and length, phrase after phrase, given that it closes just there."""
    states = phrases.closes.size
    drawn, filled = np.empty(lengths.sum(), np.int32), 0
    for at in range(labels.size):
        state, left, mine = end, lengths[at], chances[labels[at]]
        closed = mine[state, left] <= 0.0
        while not closed:
            row, mark, chosen = labels[at] * states + state, draw.random() * mine[state, left], -1
            for k in range(rows.starts[row], rows.starts[row + 1]):
                chance = _chance(rows, phrases, mine, k, left)
                if chance > 0.0:
                    chosen = rows.heads[k]
                    mark -= chance
                    if mark < 0.0:
                        break
            state, closed = chosen, phrases.closes[chosen]
            for k in range(phrases.bounds[state], phrases.bounds[state + 1]):
                drawn[filled] = phrases.texts[k]
                filled += 1
            left -= phrases.bounds[state + 1] - phrases.bounds[state]
    return drawn[:filled].copy()
