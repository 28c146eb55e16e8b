"""Audits of generators of sequences, of privatisers, and of the private writer of headlines.

Generators add or remove one sequence: the only one that holds a symbol, or any symbol at all. All that is seen is what
they draw. Privatisers replace one sequence by another, both as long and as unlike as can be, or of different lengths
where the length is protected; all that is seen is the sequence that comes out, each one a cell of its own. The writer
adds or removes one headline; its weights are seen, which leave with it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import AuditCase, Draw
from ziggurat.attacks.audits.catalogue._synthesize import draw_seed
from ziggurat.randomness import Source
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.sequences.text import HeadlineWriter
from ziggurat.sequences.tokens import (
    GuidedPrivatizer,
    LatentPrivatizer,
    MarkovSequences,
    OutputPrivatizer,
    RecurrentSequences,
    SequenceAutoencoder,
    SequencePrivatizer,
    SymbolEmbedding,
    SymbolPrivatizer,
    TokenPrivatizer,
)
from ziggurat.threads import one_thread, one_torch_thread

_DELTA = "0.01"
_DRAWN = 400


@contextmanager
def _on_one_thread() -> Iterator[None]:
    """Tiny networks are quickest so; that noise is most of them is what an audit wants."""
    with one_thread(), one_torch_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The model will be mostly noise")
        yield


def run_each(once: Callable[[Fraction, Literal[0, 1], Source], npt.ArrayLike]) -> Callable[[Fraction], Draw]:
    """Draws of what one run shows, run after run."""

    def make(epsilon: Fraction) -> Draw:
        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            with _on_one_thread():
                return np.array([once(epsilon, world, source) for _ in range(runs)], dtype=np.float64)

        return draw

    return make


# Generators


def count_steps(drawn: Sequences) -> npt.NDArray[np.float64]:
    """How often which symbol follows which in a sequence, the beginning and the end being a symbol more."""
    end, wide = drawn.domain.size, drawn.domain.size + 1
    after = drawn.padded(end, drawn.domain.longest + 1).astype(np.int64)
    before = np.concatenate([np.full((len(drawn), 1), end), after[:, :-1]], axis=1)
    inside = np.arange(after.shape[1]) <= drawn.lengths[:, None]
    return np.bincount((before * wide + after)[inside], minlength=wide**2) / max(len(drawn), 1)


LOGS = SequenceDomain(("a", "b"), longest=3)
COMMON = ["aa"] * 20


def _markov(epsilon: Fraction, world: Literal[0, 1], source: Source) -> npt.ArrayLike:
    logs = Sequences.of(LOGS, [*COMMON, "bb"] if world else COMMON)
    made = MarkovSequences(epsilon, phrases=0, random_state=draw_seed(source)).fit(logs)
    steps, many = count_steps(made.sample(_DRAWN, random_state=draw_seed(source))), len(made.sample(random_state=1))
    return [many, *steps, *many * steps]


_SHORT = SequenceDomain(("a",), longest=2)


def _recurrent(epsilon: Fraction, world: Literal[0, 1], source: Source) -> npt.ArrayLike:
    """Nobody, and one empty sequence: its gradient is that of the end alone, clipped to its whole length."""
    options: dict[str, Any] = {"hidden": 32, "expected_rows": 1, "steps": 1, "batch": 1, "clip": "0.1"}
    made = RecurrentSequences(epsilon, _DELTA, learning_rate=0.1, random_state=draw_seed(source), **options)
    made.fit(Sequences.of(_SHORT, [""] * world))
    return float((made.sample(2 * _DRAWN, random_state=draw_seed(source)).lengths == 0).mean())


# Privatisers

TWO = SequenceDomain(("a", "b"), longest=2, classes=("one", "other"))


def tell_sequences(drawn: Sequences) -> npt.NDArray[np.float64]:
    """Which of all sequences that there are each one is, as a row with a single 1."""
    wide, longest = drawn.domain.size + 1, drawn.domain.longest
    codes = drawn.padded(drawn.domain.size).astype(np.int64) @ wide ** np.arange(longest)
    return np.asarray(np.eye(wide**longest)[codes])


def draw_privatized(privatizer: SequencePrivatizer, pair: tuple[str, str]) -> Draw:
    """Draws of a privatiser on two sequences; the label that goes with them is the same."""

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        return tell_sequences(privatizer.privatize(Sequences.of(TWO, [pair[world]] * runs, ["one"] * runs), source))

    return draw


@cache
def learn_network(guided: bool) -> SequenceAutoencoder:
    """A network that was trained on public sequences of one symbol each, until it tells them apart."""
    options: dict[str, Any] = {"latent": 1, "hidden": 12, "size": 6, "epochs": 20, "batch": 10, "learning_rate": 0.03}
    network = SequenceAutoencoder(TWO, training="public", guided=guided, random_state=1, **options)
    return network.fit(Sequences.of(TWO, ["aa", "bb"] * 20, ["one", "other"] * 20))


def _symbols(epsilon: Fraction) -> Draw:
    """Two symbols that point in opposite directions: no two scores differ more."""
    embedding = SymbolEmbedding(TWO, [[1.0], [-1.0]], training="public")
    return draw_privatized(SymbolPrivatizer(epsilon / TWO.longest, embedding, length="protected"), ("aa", "bb"))


def _by_steps(kind: type[TokenPrivatizer] | type[OutputPrivatizer]) -> Callable[[Fraction], Draw]:
    def make(epsilon: Fraction) -> Draw:
        made = kind(epsilon / TWO.longest, learn_network(False), length="protected")
        return draw_privatized(made, ("aa", "bb"))

    return make


def _by_latent(kind: type[LatentPrivatizer]) -> Callable[[Fraction], Draw]:
    def make(epsilon: Fraction) -> Draw:
        return draw_privatized(kind(epsilon, learn_network(kind.guided)), ("aa", "bb"))

    return make


# The private writer

_HEADLINE, _TOPIC = "a a a a", "business"
_BIAS = "word_out.bias"  # how likely words are written whatever was read: most of the gradient of a single word
_WRITER: dict[str, Any] = {"topics": (_TOPIC,), "embedding": 1, "hidden": 1, "dropout": 0, "device": "cpu"}


@cache
def begin_writer() -> HeadlineWriter:
    """A public writer to begin with: all runs have the same first weights."""
    with _on_one_thread():
        made = HeadlineWriter("cgru", vocabulary=["a", "b"], validation=0, epochs=1, random_state=1, **_WRITER)
        return made.fit(["b b b b"], [_TOPIC])


def _write(epsilon: Fraction, world: Literal[0, 1], source: Source) -> npt.ArrayLike:
    options: dict[str, Any] = {
        "expected_rows": 1,
        "batch": 1,
        "epochs": 4,
        "longest": 4,
        "clip": "0.1",
        "learning_rate": 0.1,
    }
    promise: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": _DELTA,
        "start": begin_writer(),
        "random_state": draw_seed(source),
    }
    made = HeadlineWriter("cgru", **options, **promise, **_WRITER).fit([_HEADLINE] * world, [_TOPIC] * world)
    return float((made.weights_[_BIAS] - begin_writer().weights_[_BIAS])[1])


_PRIVATIZED = "the sequences aa and bb, replace one sequence, its length protected"

CASES = (
    AuditCase(
        "sequences.tokens.MarkovSequences",
        "20 sequences and the same with the only one that holds a symbol, add or remove one sequence",
        run_each(_markov),
        runs=400,
        fault=16,
    ),
    AuditCase(
        "sequences.tokens.RecurrentSequences",
        "no sequence and an empty one, add or remove one sequence",
        run_each(_recurrent),
        _DELTA,
        200,
        60,
    ),
    AuditCase("sequences.tokens.SymbolPrivatizer", _PRIVATIZED, _symbols, runs=40_000, fault=3),
    AuditCase("sequences.tokens.TokenPrivatizer", _PRIVATIZED, _by_steps(TokenPrivatizer), runs=40_000, fault=4),
    AuditCase("sequences.tokens.OutputPrivatizer", _PRIVATIZED, _by_steps(OutputPrivatizer), runs=40_000, fault=4),
    AuditCase("sequences.tokens.LatentPrivatizer", _PRIVATIZED, _by_latent(LatentPrivatizer), runs=40_000, fault=2),
    AuditCase("sequences.tokens.GuidedPrivatizer", _PRIVATIZED, _by_latent(GuidedPrivatizer), runs=40_000, fault=2),
    AuditCase(
        "sequences.text.HeadlineWriter",
        "no headline and one, add or remove one headline",
        run_each(_write),
        _DELTA,
        200,
        60,
    ),
)
