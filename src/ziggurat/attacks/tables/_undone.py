"""What the columns that leave as they were undo of an anonymised table.

Classes are made of the quasi-identifiers that somebody named. Whatever else leaves beside them can undo that in three
ways, and each is looked for on the table as it leaves:

- a column that the schema calls a quasi-identifier was not named;
- a column says what another was generalised to hide: a code beside its text, a birth date beside an age;
- columns single people out, together with the quasi-identifiers or, if they are sensitive, by themselves.

How much column U says of the original values of G is measured by guessing: everybody's G is guessed as the most common
one among the *other* rows that share U and the label of G, and by the label alone. The share of the wrong guesses that
U puts right is Goodman and Kruskal's lambda (1954), left one out so that rare values of U prove nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks.tables._classes import ColumnCounts
from ziggurat.attacks.tables._covered import Cover
from ziggurat.data import Role, Schema
from ziggurat.data.coded import CodedTable, Codes, sum_counts
from ziggurat.findings import Finding
from ziggurat.wording import count_noun, list_names

TOLD = 0.5  # a column that puts right half of the wrong guesses says what was to be hidden
ALONE = 0.01  # a sensitive column that finds more people than this by itself is known to somebody
_EVIDENCE = 10  # guesses; fewer say nothing


@dataclass(frozen=True)
class GivenAway:
    """How much one column says of what another was generalised to hide.

    Attributes
    ----------
    column, of
        The column that left as it was, and the generalised one.
    share
        The share of wrong guesses of the original value that the column puts right: 1 if it determines it.
    """

    column: str
    of: str
    share: float


@dataclass(frozen=True)
class Undone(Finding):
    """What columns that left as they were undo; nothing is found if `columns` is empty.

    Attributes
    ----------
    rows
        How many rows left.
    untouched
        The columns that left as they were, and the share of rows that each tells from all others by itself.
    left_out
        Columns that the schema calls quasi-identifiers and that were not taken for any.
    declared_uniques
        Rows that stand alone in the columns that the schema calls quasi-identifiers.
    told
        Which columns say what others were generalised to hide.
    alone
        Sensitive columns that single out people by themselves.
    together
        Columns that single out people together with the quasi-identifiers, the most telling first.
    together_uniques
        How many rows stand alone in the quasi-identifiers and the other columns together, and not in the former.
    """

    rows: int
    untouched: Mapping[str, float]
    left_out: tuple[str, ...]
    declared_uniques: int
    told: tuple[GivenAway, ...]
    alone: tuple[str, ...]
    together: tuple[str, ...]
    together_uniques: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that somebody must decide about."""
        told = (each.column for each in self.told)
        return tuple(dict.fromkeys((*self.left_out, *told, *self.alone, *self.together)))

    def reasons(self) -> Iterator[str]:
        """What was found, a clause for each way."""
        if self.left_out:
            yield (
                f"{list_names(self.left_out)} {_are_declared(self.left_out)} and left out "
                f"({self.declared_uniques:,} of {count_noun(self.rows, 'row')} stand alone in the declared ones)"
            )
        for each in self.told:
            yield f"{each.column!r} tells {each.share:.0%} of what generalising {each.of!r} hides"
        if self.alone:
            shares = ", ".join(f"{self.untouched[name]:.0%}" for name in self.alone)
            yield f"{list_names(self.alone)} alone {_finds(self.alone)} {shares} of the people"
        if self.together:
            yield (
                f"with {list_names(self.together)} beside the quasi-identifiers "
                f"{self.together_uniques:,} of {count_noun(self.rows, 'row')} stand alone"
            )

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        found = "; ".join(self.reasons())
        if found:
            return f"Columns that leave as they were undo it: {found}."
        return "No column that leaves as it was undoes it: none tells what was generalised or singles anybody out."

    @property
    def table(self) -> pa.Table:
        """The columns that left as they were, and what is wrong with each."""
        names = list(self.untouched)
        best = {name: max((each.share for each in self.told if each.column == name), default=0.0) for name in names}
        return pa.table(
            {
                "column": names,
                "unique by itself": [self.untouched[name] for name in names],
                "tells of what was generalised": [best[name] for name in names],
                "to be decided": [name in self.columns for name in names],
            }
        )


def find_undone(
    released: ColumnCounts,
    original: ColumnCounts,
    schema: Schema,
    quasi_identifiers: Sequence[str],
    *,
    shown: Collection[str],
    covers: Mapping[str, Cover | None],
    protected: Collection[str] = (),
    kept: Collection[str] = (),
) -> Undone:
    """Look for what columns that leave as they were undo.

    Parameters
    ----------
    released, original
        The table as it leaves, and as it was.
    schema
        What the columns are called.
    quasi_identifiers
        The columns that make classes.
    shown
        All columns that leave.
    covers
        How each generalised quasi-identifier was made, None if that is not known; the others stand in the table as they
        were.
    protected
        Sensitive columns that a model speaks of; with those that have the role they are taken to be known to nobody.
    kept
        Columns of which somebody decided that others do not know them: they are not held against the table.
    """
    known = list(quasi_identifiers)
    names = [name for name in schema.names if name in shown and name not in known]
    open_ones = [name for name in names if name not in kept]
    secret = {name for name in names if schema[name].role is Role.SENSITIVE or name in protected}
    left_out = [name for name in open_ones if schema[name].role is Role.QUASI_IDENTIFIER]
    declared = [name for name in (*known, *names) if name in known or schema[name].role is Role.QUASI_IDENTIFIER]
    alone = {name: released.uniques([name]) / max(released.rows, 1) for name in names}
    sharing = [name for name in open_ones if alone[name] < 1 - TOLD]  # of values that hardly recur nothing is learned
    together, uniques = _together(released, known, [name for name in open_ones if name not in secret])
    return Undone(
        rows=released.rows,
        untouched=alone,
        left_out=tuple(left_out),
        declared_uniques=released.uniques(declared),
        told=tuple(_find_given_away(original, sharing, covers)),
        alone=tuple(name for name in open_ones if name in secret and alone[name] > ALONE),
        together=together,
        together_uniques=uniques,
    )


def _together(released: ColumnCounts, known: list[str], names: list[str]) -> tuple[tuple[str, ...], int]:
    """Which columns must go until the others single out nobody beside the quasi-identifiers, the most telling first."""
    before = released.uniques(known)  # of these no other column is to blame
    total = released.uniques([*known, *names]) if names else before
    if total == before:
        return (), 0
    telling = sorted(names, key=lambda name: -released.uniques([*known, name]))
    gone = 1
    while gone < len(telling) and released.uniques([*known, *telling[gone:]]) > before:
        gone += 1
    return tuple(telling[:gone]), total - before


def _find_given_away(
    original: ColumnCounts, names: Sequence[str], covers: Mapping[str, Cover | None]
) -> Iterator[GivenAway]:
    for name in names:
        for of, cover in covers.items():
            share = _lambda(original.pairs(name, of), cover)
            if share >= TOLD:
                yield GivenAway(name, of, share)


def _lambda(pairs: CodedTable, cover: Cover | None) -> float:
    """The share of wrong guesses that the first column puts right, see the module."""
    (first, second), counts = pairs.codes, pairs.counts
    shown = _label_codes(pairs.values[1].to_pylist(), cover)
    labels = shown[second]
    ids, number = _number(first * (int(labels.max()) + 1) + labels)
    sizes = sum_counts(ids, number, counts)
    enough = sizes[ids] > 1  # who has a value of U to themselves is not guessed by it
    right = enough & (counts - 1 > _best_of_others(ids, counts))
    plain = enough & _most_common(shown, sum_counts(second, shown.size, counts))[second]
    wrong = int(counts[enough].sum()) - int(counts[plain].sum())
    return (int(counts[right].sum()) - int(counts[plain].sum())) / wrong if wrong >= _EVIDENCE else 0.0


def _label_codes(values: Sequence[object], cover: Cover | None) -> Codes:
    """A number for what each value is shown as; where cells have levels of their own nothing is taken to be shown."""
    labels = [""] * len(values) if cover is None or cover.level is None else cover.labels(values)
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)


def _number(keys: Codes) -> tuple[Codes, int]:
    found, ids = np.unique(keys, return_inverse=True)
    return ids.ravel(), found.size


def _best_of_others(ids: Codes, counts: Codes) -> Codes:
    """For each part of a group the largest count of its other parts."""
    order = np.lexsort((-counts, ids))
    first = np.flatnonzero(np.diff(ids[order], prepend=-1))
    most = counts[order][first]
    second = np.zeros(first.size, np.int64)
    more = np.flatnonzero(np.diff(np.append(first, order.size)) > 1)
    second[more] = counts[order][first[more] + 1]
    leader = np.zeros(counts.size, np.bool)
    leader[order[first]] = True
    return np.where(leader, second[ids], most[ids])


def _most_common(labels: Codes, totals: Codes) -> npt.NDArray[np.bool]:
    """Which values are the most common under their label, one for each."""
    order = np.lexsort((-totals, labels))
    chosen = np.zeros(labels.size, np.bool)
    chosen[order[np.flatnonzero(np.diff(labels[order], prepend=-1))]] = True
    return chosen


def _are_declared(names: Sequence[str]) -> str:
    return "is declared a quasi-identifier" if len(names) == 1 else "are declared quasi-identifiers"


def _finds(names: Sequence[str]) -> str:
    return "finds" if len(names) == 1 else "find"
