"""Logs by counts: a Markov chain over phrases, learned with exact noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from ziggurat.archives import Array
from ziggurat.errors import ParameterError
from ziggurat.privacy import Amount, Event, Neighbours, whole_number
from ziggurat.randomness import Source
from ziggurat.sequences._counting_noise import PARTS, CountingNoise, share_noise, sum_of, weigh
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._generator import Progress, SequenceGenerator
from ziggurat.sequences._sequences import Sequences
from ziggurat.sequences.tokens._noisy_transitions import agree_by_class, agree_on_transitions
from ziggurat.sequences.tokens._phrase_chain import PhraseChain
from ziggurat.sequences.tokens._phrase_kernels import (
    ChainRows,
    Codes,
    Places,
    Reals,
    Table,
    count_transitions,
    measure_words,
)
from ziggurat.sequences.tokens._phrases import Phrases

# How the budget is shared out, the best of a few settings on splits of HDFS logs that are not those of the tables.
_SHARES = {
    "lengths": Fraction(1, 10),
    "first phrases": Fraction(1, 10),
    "phrases": Fraction(1, 10),
    "totals": Fraction(1, 5),
    "transitions": Fraction(1, 2),
}
_ROUNDS = ("first phrases", "phrases")
# While sequences are read by symbols, what one adds is at most this, in parts of one.
_FIRST_BOUND = 3 * PARTS
_LARGEST_BOUND = 2**14 * PARTS  # its square is carried in 64 bits
# Of the sequences simulated, this share counts whole; longer ones count less.
_WHOLE = 0.8
_SIMULATED = 5000
_LEAST_SHARE = 0.01
_MOST_CELLS = 50_000_000


class MarkovSequences(SequenceGenerator):
    """Logs with a promise, from counts of what follows what: a Markov chain whose contexts grow where the data allow.

    1. Lengths are counted by class. 2. Pairs of symbols are counted, all classes together; sequences are simulated
    from these noisy counts, and what often stands side by side in them is joined, again and again, to phrases. 3. The
    same is done once more with pairs of phrases instead of symbols, which sees further, and the phrases are learned
    anew: a phrase is a longer context where there is enough to learn. 4. Every sequence is read as phrases, and how
    often each occurs is counted by class; 5. so is which phrase follows which. The counts are then made to agree:
    none is negative, and each context has as many as what follows it and, nearly, as what leads to it. Contexts that
    drown in noise take what follows in all classes, or what follows the shorter context. A sequence is drawn by its
    length and then phrase by phrase, given that it ends there.

    Read as phrases a log of twenty symbols takes about six steps, so that noise for six serves where pairs of symbols
    need noise for twenty.

    Formal guarantee: epsilon-DP if delta is 0, else (epsilon, delta)-DP, for the unit of the domain, adding or
    removing one. Proof: 1. A sequence has one length, so it moves these counts by 1. 2. to 5. A sequence that is read
    as k phrases is counted in every place with the weight min(2^16, floor(B / k)), B the bound, so that what it adds
    to a table sums to at most B. With delta it has the largest whole weight w up to 2^16 for which w^2 times the sum
    of the squares of how often each phrase occurs in it is at most B^2. This bounds the root of the sum of squares of
    what it adds to the totals, and also to the transitions: those that lead to a phrase sum to its occurrences, and
    so do not have larger squares together. Reading a sequence depends on it and on phrases that follow from noisy
    counts, and so does B (so that four fifths of the simulated sequences count whole; 3 * 2^16 for symbols). A unit
    has at most `sequences_per_unit` sequences, in whichever classes, and moves all tables of a kind together by that
    many times the bound (triangle inequality). Every table gets discrete Laplace noise of that over its epsilon, or
    Gaussian noise (see `CountingNoise`); the prices sum to epsilon exactly, or compose to (epsilon, delta) by the
    exact Gaussian curve. Everything else is post-processing.

    The budget is shared out as lengths 1/10, both rounds of phrases 1/10 each, totals 1/5, transitions 1/2: of
    epsilon, or with delta of the square of mu. Without phrases the transitions have their shares.

    Use it for logs: up to some thousand symbols, little data or a small epsilon, a promise without delta, a million
    sequences in seconds. What depends on symbols further back than a phrase is lost but for the length; where that
    matters, and there are tens of thousands of sequences and a delta, use `RecurrentSequences`.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth). Delta 0 is a promise without exception.
    phrases
        How many phrases are learned at most; 0 for a plain chain of symbols.
    sequences_per_unit
        Where the unit may own several sequences: how many count at most, chosen by lot.
    random_state
        None for secure randomness; a whole number makes a rehearsal, which must not be published.

    Examples
    --------
    >>> domain = SequenceDomain(("open", "read", "close"), longest=10)
    >>> logs = Sequences.of(domain, [["open", "read", "close"]] * 1000)
    >>> fitted = MarkovSequences(epsilon=1, random_state=1).fit(logs)
    >>> list(fitted.sample(2, random_state=1))
    [('open', 'read', 'close'), ('open', 'read', 'close')]
    """

    def __init__(
        self,
        epsilon: Amount = 1,
        delta: Amount = 0,
        *,
        phrases: int = 48,
        sequences_per_unit: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.phrases = phrases
        self.sequences_per_unit = sequences_per_unit
        self.random_state = random_state

    def _plan_event(self, domain: SequenceDomain, neighbours: Neighbours, most: int) -> Event:
        del most  # it widens the noise, not the price
        states = domain.size + 1 + whole_number(self.phrases, "phrases", 0)
        if domain.groups * states**2 > _MOST_CELLS:
            raise ParameterError(
                f"{domain.size} tokens in {domain.groups} classes make more than {_MOST_CELLS:,} cells; group the "
                "tokens, or use RecurrentSequences."
            )
        return sum_of([noise.event for noise in self._noises(neighbours).values()])

    def _noises(self, neighbours: Neighbours) -> dict[str, CountingNoise]:
        shares = dict(_SHARES)
        if not self.phrases:
            shares["transitions"] += sum(shares.pop(each) for each in _ROUNDS)
        return dict(zip(shares, share_noise(self.epsilon, self.delta, list(shares.values()), neighbours), strict=True))

    def _learn(self, sequences: Sequences, most: int, source: Source, progress: Progress) -> tuple[int, ...]:
        learning = _Learning(sequences, most, self._noises(Neighbours(sequences.domain.unit)), source)
        progress("lengths", 1, 4)
        lengths = learning.lengths()
        progress("phrases", 2, 4)
        phrases, bound = learning.phrases(self.phrases)
        progress("transitions", 3, 4)
        table = learning.transitions(phrases, bound)
        self._chain = PhraseChain.of_table(phrases, table, agree_by_class(lengths))
        progress("chain", 4, 4)
        return tuple(max(round(float(each)), 0) for each in lengths.sum(axis=1))

    def _draw(self, labels: Array, draw: np.random.Generator) -> tuple[Array, Array]:
        return self._chain.draw(labels, draw)

    def _state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        chain = self._chain
        return {}, {"pairs": chain.phrases.pairs, "lengths": chain.lengths, **chain.rows._asdict()}

    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        del facts
        phrases = Phrases(self.domain_.size, arrays["pairs"])
        rows = ChainRows(arrays["starts"], arrays["heads"], arrays["shares"])
        self._chain = PhraseChain(phrases, rows, arrays["lengths"])


class _Learning:
    """The tables of one fit: each is counted, bounded and protected, and only then seen."""

    def __init__(self, sequences: Sequences, most: int, noises: dict[str, CountingNoise], source: Source) -> None:
        self.sequences, self.most, self.noises, self.source = sequences, most, noises, source
        self.labels: Codes = np.zeros(len(sequences), np.int32) if sequences.labels is None else sequences.labels

    def lengths(self) -> Reals:
        """How many sequences there seem to be, by class and length."""
        wide = self.sequences.domain.longest + 1
        cells = self.labels.astype(np.int64) * wide + self.sequences.lengths
        counts = np.bincount(cells, minlength=self.sequences.domain.groups * wide)
        return self._protect("lengths", counts, 1)[0].reshape(-1, wide)

    def phrases(self, most: int) -> tuple[Phrases, int]:
        """The phrases worth reading by, and how much of a sequence is to count then, in parts."""
        found, bound = Phrases(self.sequences.domain.size), _FIRST_BOUND
        if most:
            for name, many in zip(_ROUNDS, (math.ceil(most / 3), most), strict=True):
                found, bound = self._join_what_follows(name, found, bound, many)
        return found, bound

    def _join_what_follows(self, name: str, known: Phrases, bound: int, most: int) -> tuple[Phrases, int]:
        """Count what follows what, all classes together, simulate sequences of that, and learn phrases of these."""
        noisy, width = self._protect(name, count_phrases(self.sequences, None, known, bound, self._square), bound)
        clear = np.where(known.may_follow & (noisy > width * self._clear(known.states)), noisy, 0.0)
        chain = PhraseChain.of_table(known, clear, np.zeros((1, self.sequences.domain.longest + 1)))
        codes, lengths = chain.draw(np.zeros(_SIMULATED, np.int32), self.source.simulation())
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        found = Phrases.learned(codes, offsets, known.end, most, math.ceil(_LEAST_SHARE * _SIMULATED))
        return found, _bound_for(measure_words(*found.read(codes, offsets), found.states, self._square), self._square)

    def transitions(self, phrases: Phrases, bound: int) -> Reals:
        """How often one phrase follows another, by class, in counts that agree."""
        table = count_phrases(self.sequences, self.labels, phrases, bound, self._square)
        totals, _ = self._protect("totals", table.sum(axis=1), bound)
        noisy, _ = self._protect("transitions", table, bound)
        return agree_on_transitions(noisy, agree_by_class(totals), phrases)

    @property
    def _square(self) -> bool:
        return self.noises["lengths"].square

    def _clear(self, cells: int) -> float:
        """How many widths of the noise one in so many empty cells exceeds."""
        rare = min(1 / cells, 0.5)
        return NormalDist().inv_cdf(1 - rare) if self._square else -math.log(2 * rare)

    def _protect(self, name: str, counts: Table, bound: int) -> tuple[Reals, float]:
        return self.noises[name].protect(counts, bound * self.most, self.source.child(name))


def count_phrases(sequences: Sequences, labels: Codes | None, phrases: Phrases, bound: int, square: bool) -> Table:
    """Count transitions in parts of one, so that no sequence adds more than `bound` (see the proof above).

    By class if there are `labels`, otherwise all together.
    """
    words, places = phrases.read(sequences.codes, sequences.offsets)
    weights = weigh(measure_words(words, places, phrases.states, square), bound, square)
    table = np.zeros((1 if labels is None else sequences.domain.groups, phrases.states, phrases.states), np.int64)
    classes = np.zeros(len(sequences), np.int32) if labels is None else labels
    count_transitions(words, places, weights, classes, phrases.end, table)
    return table


def _bound_for(norms: Places, square: bool) -> int:
    most = float(np.quantile(norms, _WHOLE))
    return min(math.ceil(PARTS * (math.sqrt(most) if square else most)), _LARGEST_BOUND)
