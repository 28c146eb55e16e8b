"""Grammar as a gap: generated headlines between real ones and the same words shuffled.

No checker gives an absolute score: of real headlines in lower case link-grammar parses about half, and of shuffled ones
a quarter. Only where generated ones stand between these two says something, and only of headlines of about as many
words: longer ones are parsed more rarely.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.randomness import choose_source
from ziggurat.utility.text._checkers import CHECKERS, Checker, find_missing

MOST = 400
"""How many headlines of each kind are checked by default."""


@dataclass(frozen=True)
class CheckedGrammar(Shown):
    """What one checker finds no fault with.

    Attributes
    ----------
    checker
        What it is called.
    real, generated, shuffled
        The share without a fault of real headlines, of generated ones, and of the real ones with their words shuffled.
    """

    checker: str
    real: Share
    generated: Share
    shuffled: Share

    @property
    def position(self) -> float:
        """Where generated headlines stand: 0 like shuffled words, 1 like real ones; NaN if these do not differ."""
        gap = self.real.rate - self.shuffled.rate
        return (self.generated.rate - self.shuffled.rate) / gap if gap > 0 else math.nan


@dataclass(frozen=True)
class GrammarGap(Finding):
    """Generated headlines between real and shuffled ones, by every checker that is there.

    Attributes
    ----------
    checked
        By checker.
    skipped
        Why a checker was not asked.
    """

    checked: tuple[CheckedGrammar, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        told = [
            f"{each.checker} finds no fault with {each.generated} of generated headlines, {each.real} of real ones and "
            f"{each.shuffled} of shuffled ones"
            for each in self.checked
        ]
        told += [f"{name} was not asked ({why.rstrip('.')})" for name, why in self.skipped.items()]
        return f"{'; '.join(told)}. None of these is an absolute score."

    @property
    def table(self) -> pa.Table:
        """One row for each checker and kind of headlines."""
        rows = [
            {"checker": each.checker, "headlines": kind, "rate": share.rate, "low": share.low, "high": share.high}
            for each in self.checked
            for kind, share in (("real", each.real), ("generated", each.generated), ("shuffled", each.shuffled))
        ]
        kinds = {"checker": pa.string(), "headlines": pa.string(), "rate": pa.float64()}
        kinds |= {"low": pa.float64(), "high": pa.float64()}
        return pa.Table.from_pylist(rows, schema=pa.schema(list(kinds.items())))


class GrammarScale:
    """Both ends of the scale, checked once: real headlines, and the same with their words shuffled.

    Parameters
    ----------
    real, checkers, most, random_state
        As for `grammar_gap`.
    """

    def __init__(
        self,
        real: Sequence[str],
        *,
        checkers: Mapping[str, Checker] | None = None,
        most: int = MOST,
        random_state: int | None = None,
    ) -> None:
        if not len(real) or most < 1:
            raise ParameterError("There must be at least one real headline to check.")
        self._draw = choose_source(random_state).simulation()
        self._most, wanted = most, CHECKERS if checkers is None else checkers
        self._skipped = {} if checkers is not None else {name: why for name in wanted if (why := find_missing(name))}
        self._checkers = {name: each for name, each in wanted.items() if name not in self._skipped}
        ours = self._choose(real)
        mixed = [" ".join(self._draw.permutation(each.split()).tolist()) for each in ours]
        self._ends = {name: (_share(each(ours)), _share(each(mixed))) for name, each in self._checkers.items()}

    def place(self, generated: Sequence[str]) -> GrammarGap:
        """Say where generated headlines stand between the two."""
        if not len(generated):
            raise ParameterError("There must be at least one generated headline to check.")
        theirs = self._choose(generated)
        checked = [
            CheckedGrammar(name, self._ends[name][0], _share(checker(theirs)), self._ends[name][1])
            for name, checker in self._checkers.items()
        ]
        return GrammarGap(tuple(checked), self._skipped)

    def _choose(self, headlines: Sequence[str]) -> list[str]:
        return [headlines[place] for place in self._draw.permutation(len(headlines))[: self._most].tolist()]


def grammar_gap(
    real: Sequence[str],
    generated: Sequence[str],
    *,
    checkers: Mapping[str, Checker] | None = None,
    most: int = MOST,
    random_state: int | None = None,
) -> GrammarGap:
    """Ask checkers of grammar about generated headlines, real ones, and real ones with their words shuffled.

    For several models make one `GrammarScale`, so that real and shuffled headlines are checked once.

    Parameters
    ----------
    real, generated
        Headlines in lower case, and what a model wrote.
    checkers
        By name, each a function that says of several headlines whether it finds no fault with them. By default
        link-grammar (complete parses in its dialect for headlines) and Harper (lints of grammar, agreement, usage and
        repetition, not of spelling, capitals, punctuation or style), each if it is installed. LanguageTool is not
        asked by itself, since it would be downloaded; where it is, give it as
        ``{"LanguageTool": lambda texts: [not tool.check(text) for text in texts]}``.
    most
        At most how many headlines of each kind are checked, drawn at random.
    random_state
        A seed for these draws and for the shuffling; by default they are drawn anew.
    """
    return GrammarScale(real, checkers=checkers, most=most, random_state=random_state).place(generated)


def _share(clean: Sequence[bool]) -> Share:
    return Share(sum(map(bool, clean)), len(clean))
