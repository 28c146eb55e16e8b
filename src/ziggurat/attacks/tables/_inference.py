"""What a class of people who look alike gives away about a sensitive value: homogeneity and skewness.

References
----------
Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), "l-diversity: privacy beyond k-anonymity", ACM TKDD 1(1).
Li, Li, Venkatasubramanian (2007), "t-closeness: privacy beyond k-anonymity and l-diversity", ICDE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._finding import Share, fraction
from ziggurat.attacks.tables._classes import choose_columns, open_table, read_groups
from ziggurat.data import Table
from ziggurat.data.coded import CodedTable, Codes, sum_counts
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import seeded
from ziggurat.wording import count_noun

Floats = npt.NDArray[np.float64]

_SHUFFLES, _SHUFFLED_CELLS = 10, 2_000_000
_MOST_CLASSES = 20


@dataclass(frozen=True)
class Homogeneity(Finding):
    """Whose sensitive value is all but certain to whoever knows their quasi-identifiers.

    Attributes
    ----------
    sensitive
        The column.
    certainty
        From which share of a class on its most common value counts as learned.
    learned
        The people in classes where it is.
    learned_in_groups
        The same without classes of one person.
    classes, homogeneous
        How many classes there are, and in how many the value is learned.
    accuracy
        How often the attacker is right who names each class's most common value.
    baseline
        How often who names the table's most common value for everybody.
    shuffled
        The attacker's mean accuracy when the sensitive cells are dealt out at random: what the mere size of the
        classes gives away.
    """

    sensitive: str
    certainty: float
    learned: Share
    learned_in_groups: Share
    classes: int
    homogeneous: int
    accuracy: Share
    baseline: Share
    shuffled: float

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        sure = "certain" if self.certainty == 1 else f"at least {self.certainty:.0%} certain"
        return (
            f"For {self.learned.hits:,} of {count_noun(self.learned.trials, 'person', 'people')} "
            f"({self.learned.rate:.1%}) "
            f"{self.sensitive!r} is {sure} once their class is known; naming each class's most common value is right "
            f"for {self.accuracy.rate:.1%}, naming the table's for {self.baseline.rate:.1%}."
        )

    @property
    def table(self) -> pa.Table:
        """The figures, one a line."""
        figures = {
            f"people whose {self.sensitive} is learned": self.learned.rate,
            "the same without classes of one": self.learned_in_groups.rate,
            "classes that give it away": self.homogeneous / self.classes,
            "attacker's accuracy": self.accuracy.rate,
            "accuracy of the most common value": self.baseline.rate,
            "attacker's accuracy on shuffled cells": self.shuffled,
        }
        return pa.table({"figure": list(figures), "value": list(figures.values())})


@dataclass(frozen=True)
class Gain:
    """How far a class moves an attacker's belief in one value of the sensitive column.

    Attributes
    ----------
    rows
        How many people the class holds.
    before, after
        The belief from the whole table, and from the class.
    distance
        Half the sum of absolute differences over all values: the distance of t-closeness with equal ground distance.
    """

    rows: int
    before: float
    after: float
    distance: float

    @property
    def gain(self) -> float:
        """By how much the belief rises."""
        return self.after - self.before


@dataclass(frozen=True)
class Skewness(Finding):
    """How far classes move an attacker's belief about the sensitive value, against the whole table.

    Attributes
    ----------
    sensitive
        The column.
    threshold
        Which gain counts as large.
    average
        The mean over people of their class's largest gain.
    above
        The people in classes whose largest gain is above the threshold.
    largest_distance
        The largest distance of a class from the table: the table is t-close for no smaller t.
    worst
        The classes with the largest gains.
    """

    sensitive: str
    threshold: float
    average: float
    above: Share
    largest_distance: float
    worst: tuple[Gain, ...]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        most = self.worst[0]
        return (
            f"In a class of {count_noun(most.rows, 'person', 'people')} the belief in one value of {self.sensitive!r} "
            f"rises from {most.before:.1%} to {most.after:.1%}; it rises by more than {self.threshold:.0%} for "
            f"{self.above.rate:.1%} of people, and by {self.average:.1%} on average."
        )

    @property
    def table(self) -> pa.Table:
        """The classes with the largest gains, without saying which they are."""
        return pa.table(
            {
                "people": [each.rows for each in self.worst],
                "belief before": [each.before for each in self.worst],
                "belief after": [each.after for each in self.worst],
                "gain": [each.gain for each in self.worst],
                "distance": [each.distance for each in self.worst],
            }
        )


def homogeneity(
    table: Table | pa.Table,
    sensitive: str,
    quasi_identifiers: Iterable[str] | None = None,
    *,
    certainty: float = 1.0,
) -> Homogeneity:
    """Find the people whose sensitive value is learned from their class, without telling which row is theirs.

    Parameters
    ----------
    table
        A table, raw or released; each row one person.
    sensitive
        The column to learn. A missing cell is no value: nothing is learned of whoever has one, and the others of a
        class are as alike as they are without.
    quasi_identifiers
        What the attacker knows; by default the columns with that role.
    certainty
        From which share of a class on its most common value counts as learned.
    """
    return homogeneity_of(_read_table(table, sensitive, quasi_identifiers), certainty=certainty)


def homogeneity_of(counts: CodedTable, *, certainty: float = 1.0) -> Homogeneity:
    """Judge combinations that were counted already, the sensitive column last, see `homogeneity`."""
    sure = fraction(certainty, "The certainty")
    ids, number = counts.classes(counts.names[:-1])
    codes = counts.codes[-1]
    held = np.array([value is not None for value in counts.values[-1].to_pylist()], np.bool)[codes]
    known = np.where(held, counts.counts, 0)
    sizes, most = sum_counts(ids, number, known), _largest(ids, number, known)
    given = (most > 0) & (most >= sure * sizes * (1 - 1e-12))
    groups = sizes > 1
    overall = np.bincount(codes, weights=known)
    return Homogeneity(
        sensitive=counts.names[-1],
        certainty=sure,
        learned=Share(int(sizes[given].sum()), counts.rows),
        learned_in_groups=Share(int(sizes[given & groups].sum()), counts.rows),
        classes=number,
        homogeneous=int(given.sum()),
        accuracy=Share(int(most.sum()), counts.rows),
        baseline=Share(int(overall.max()), counts.rows),
        shuffled=_accuracy_when_shuffled(np.repeat(ids, known), number, np.repeat(codes, known), counts.rows),
    )


def skewness(
    table: Table | pa.Table,
    sensitive: str,
    quasi_identifiers: Iterable[str] | None = None,
    *,
    threshold: float = 0.2,
) -> Skewness:
    """Measure how far classes move an attacker's belief about the sensitive value, against the whole table.

    Parameters
    ----------
    table
        A table, raw or released; each row one person.
    sensitive
        The column to learn. A missing cell counts as a value of its own.
    quasi_identifiers
        What the attacker knows; by default the columns with that role.
    threshold
        Which gain in belief counts as large.
    """
    limit = fraction(threshold, "The threshold")
    counts = _read_table(table, sensitive, quasi_identifiers)
    ids, number = counts.classes(counts.names[:-1])
    sizes = sum_counts(ids, number, counts.counts)
    overall = np.bincount(counts.codes[-1], weights=counts.counts) / counts.rows
    before, after = overall[counts.codes[-1]], counts.counts / sizes[ids]
    rise = after - before
    gains = _largest(ids, number, rise)
    distances = np.bincount(ids, weights=np.maximum(rise, 0), minlength=number)
    worst = np.lexsort((-sizes, -gains))[:_MOST_CLASSES]
    places = [_place_of_largest(ids, each, rise) for each in worst]
    return Skewness(
        sensitive=sensitive,
        threshold=limit,
        average=float(sizes @ gains) / counts.rows,
        above=Share(int(sizes[gains > limit].sum()), counts.rows),
        largest_distance=float(distances.max()),
        worst=tuple(
            Gain(int(sizes[each]), float(before[place]), float(after[place]), float(distances[each]))
            for each, place in zip(worst, places, strict=True)
        ),
    )


def _read_table(table: Table | pa.Table, sensitive: str, quasi_identifiers: Iterable[str] | None) -> CodedTable:
    held = open_table(table)
    names = choose_columns(held, quasi_identifiers)
    if sensitive in names:
        raise ParameterError(f"Column {sensitive!r} is named both as sensitive and as a quasi-identifier.")
    return read_groups(held, (*names, held.schema[sensitive].name))


def _largest(ids: Codes, number: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The largest value of each class; every class has one."""
    order = np.argsort(ids, kind="stable")
    starts = np.searchsorted(ids[order], np.arange(number))
    return np.asarray(np.maximum.reduceat(values[order], starts))


def _place_of_largest(ids: Codes, wanted: int, values: Floats) -> int:
    members = np.flatnonzero(ids == wanted)
    return int(members[values[members].argmax()])


def _accuracy_when_shuffled(ids: Codes, number: int, cells: Codes, rows: int) -> float:
    if not ids.size:
        return 0.0
    generator, kinds = seeded("homogeneity").simulation(), int(cells.max()) + 1
    shuffles = max(1, min(_SHUFFLES, _SHUFFLED_CELLS // ids.size))  # many people need few shuffles for a steady mean
    hits = 0
    for _ in range(shuffles):
        keys, many = np.unique(ids * kinds + generator.permutation(cells), return_counts=True)
        most = np.zeros(number, np.int64)
        np.maximum.at(most, keys // kinds, many)
        hits += int(most.sum())
    return hits / (shuffles * rows)
