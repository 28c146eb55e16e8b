"""Linkage: join a released table with one that has names, and count whom that re-identifies.

So were hospital records of Massachusetts joined with the voters' list on postcode, sex and date of birth (Sweeney 2002,
"k-anonymity: a model for protecting privacy", Int. J. Uncertainty, Fuzziness and Knowledge-Based Systems 10(5)).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ziggurat.attacks._finding import Difference, Share
from ziggurat.attacks.tables._classes import choose_columns, open_table, read_groups, read_rows
from ziggurat.attacks.tables._labels import write_cell
from ziggurat.attacks.tables._matching import Matches, hierarchies_for, match
from ziggurat.data import Hierarchy, Table
from ziggurat.data.coded import CodedTable, Codes, sum_counts
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.wording import count_noun


@dataclass(frozen=True)
class Linkage(Finding):
    """What a join with an auxiliary table re-identifies.

    Attributes
    ----------
    on
        The columns of the join.
    released_rows, suppressed_rows
        How many rows were released, and how many of them say nothing in any of these columns; nobody claims those.
    found
        The people of the auxiliary table whom at least one row fits.
    claims
        Those whom exactly one row fits: the attacker claims it is theirs.
    right
        Those whose claimed row is theirs (the true match rate); None if the truth was not given.
    wrong
        Among the claims those that are false (the false match rate); None if the truth was not given.
    expected
        The share of people found by whoever picks one of the rows that fit at random; None if the truth was not given.
    control
        Claims about people who are not in the released table, all of them false; None without a control table.
    excess
        By how much claims about the people of the auxiliary table exceed the control's. At 0 or below it, that a person
        fits exactly one row is no sign that the person is in the table: only who knows that already can use the claim.
    silent
        Columns in which no auxiliary value fits any released label.
    """

    on: tuple[str, ...]
    released_rows: int
    suppressed_rows: int
    found: Share
    claims: Share
    right: Share | None
    wrong: Share | None
    expected: float | None
    control: Share | None
    excess: Difference | None
    silent: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        people = count_noun(self.claims.trials, "person", "people")
        parts = [f"Of {people} in the auxiliary table {self.claims.hits:,} fit exactly one released row: {self.claims}"]
        if self.right is not None:
            parts.append(f"that row is really theirs for {self.right} of all")
        if self.control is not None:
            parts.append(f"among people who are not in the table {self.control} fit exactly one row")
        text = "; ".join(parts) + "."
        silent = ", ".join(repr(name) for name in self.silent)
        return f"{text} No value fits any label of {silent}: name its hierarchy." if silent else text

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals."""
        named = {
            "fit at least one row": self.found,
            "fit exactly one row (claims)": self.claims,
            "claimed rightly (true match rate)": self.right,
            "claims that are false (false match rate)": self.wrong,
            "claims about people not in the table (control)": self.control,
            "claims beyond the control's": self.excess,
        }
        shown = {name: share for name, share in named.items() if share is not None}
        ends = {end: [getattr(share, end) for share in shown.values()] for end in ("rate", "low", "high")}
        return pa.table({"figure": list(shown), **ends})


@dataclass(frozen=True)
class _RowOwners:
    """For each row which combination it has and whose it is."""

    combinations: Codes
    names: list[str | None]


def linkage(
    released: Table | pa.Table,
    auxiliary: Table | pa.Table,
    on: Iterable[str],
    *,
    truth: str | None = None,
    control: Table | pa.Table | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Linkage:
    """Attack a released table by joining it with one that has names.

    A generalised label fits every value that it may stand for: "20-24", "[20, 25)", "90+", "CV1*", "{a, b}", "2020-03",
    "*", a missing cell, or a label of a hierarchy. A missing value of the auxiliary table fits every label.

    Parameters
    ----------
    released
        The table to attack.
    auxiliary
        What the attacker knows: a row for each person, with the columns of the join.
    on
        The columns of the join, named alike in both.
    truth
        A column of both tables that tells people apart, to judge the claims by; the attack does not use it.
    control
        The same knowledge of people who are not in the released table: how often would the attacker claim a row anyway?
    hierarchies
        For columns whose labels cannot be read without; those of the released table's schema are used too.
    """
    held, others = open_table(released), open_table(auxiliary)
    names = choose_columns(held, on, "columns to match")
    trees = hierarchies_for(held, names, hierarchies)
    theirs, their_people = _read(held, names, truth)
    ours, our_people = _read(others, choose_columns(others, names, "columns to match"), truth)
    pairs = match(ours, theirs, names, trees)
    fits = candidates(ours, theirs, pairs)
    claims = _claims(ours, fits)
    right, expected = (None, None) if truth is None else _judge(our_people, their_people, pairs, fits)
    others_claims = None if control is None else _control(control, theirs, names, trees)
    return Linkage(
        on=names,
        released_rows=theirs.rows,
        suppressed_rows=int(theirs.counts[pairs.suppressed].sum()),
        found=Share(int(ours.counts[fits > 0].sum()), ours.rows),
        claims=claims,
        right=None if right is None else Share(right, ours.rows),
        wrong=None if right is None else Share(claims.hits - right, claims.hits),
        expected=expected,
        control=others_claims,
        excess=None if others_claims is None else Difference(claims, others_claims),
        silent=pairs.silent,
    )


def candidates(known: CodedTable, released: CodedTable, pairs: Matches) -> Codes:
    """Return how many released rows fit each known combination."""
    return sum_counts(pairs.known, known.counts.size, released.counts[pairs.released])


def _read(table: Table, names: tuple[str, ...], truth: str | None) -> tuple[CodedTable, _RowOwners]:
    if truth is None:
        return read_groups(table, names), _RowOwners(np.empty(0, np.int64), [])
    if truth in names:
        raise ParameterError("The column that tells people apart must not be among the columns to match.")
    held = read_rows(table, (*names, table.schema[truth].name))
    combinations, places = held.distinct(names)
    cells = held.values[-1].to_pylist()
    return combinations, _RowOwners(places, [write_cell(cells[code]) for code in held.codes[-1]])


def _claims(known: CodedTable, fits: Codes) -> Share:
    return Share(int(known.counts[fits == 1].sum()), known.rows)


def _control(
    control: Table | pa.Table, released: CodedTable, names: tuple[str, ...], trees: Mapping[str, Hierarchy]
) -> Share:
    held = open_table(control)
    known = read_groups(held, choose_columns(held, names, "columns to match"))
    return _claims(known, candidates(known, released, match(known, released, names, trees)))


def _judge(ours: _RowOwners, theirs: _RowOwners, pairs: Matches, fits: Codes) -> tuple[int, float]:
    """How many claims are right, and the expected share of people found by picking a fitting row at random."""
    mine, his = _same_people(ours.names, theirs.names)
    width = 1 + max(theirs.combinations)
    there = np.isin(ours.combinations[mine] * width + theirs.combinations[his], pairs.known * width + pairs.released)
    own = np.bincount(mine[there], minlength=ours.combinations.size)
    rivals = fits[ours.combinations]
    return int(((rivals == 1) & (own == 1)).sum()), float((own / np.maximum(rivals, 1)).mean())


def _same_people(ours: list[str | None], theirs: list[str | None]) -> tuple[Codes, Codes]:
    """Pairs of rows of the same person; a missing name is nobody's."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(theirs):
        if name is not None:
            places.setdefault(name, []).append(place)
    found = [(place, other) for place, name in enumerate(ours) if name is not None for other in places.get(name, ())]
    both = np.array(found, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
