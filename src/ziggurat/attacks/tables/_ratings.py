"""Sparse ratings: a few of them, even wrong ones, tell a subscriber from all others.

Narayanan, Shmatikov (2008), "Robust de-anonymization of large sparse datasets", IEEE Symposium on Security and Privacy:
a record scores the sum over what the attacker knows of exp(-|difference| / scale) / log(subscribers who rated it); the
best record is claimed if its lead over the second best exceeds so many standard deviations of all scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from ziggurat.attacks._finding import Share
from ziggurat.cards import Shown
from ziggurat.data import Kind, Table, open_table
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import Source, secure
from ziggurat.wording import count_noun

Floats = npt.NDArray[np.float64]

ECCENTRICITY = 1.5
SCALE = 1.5
_POPULARITY, _TASTES, _STARS = 0.8, 4, 5


@dataclass(frozen=True)
class Scoreboard(Finding):
    """Which released records the attacker claims for whom.

    Attributes
    ----------
    claims
        For each person the row that is claimed, None where no record stands out.
    eccentricities
        For each person the lead of the best record over the second, in standard deviations of the scores.
    best
        For each person the row with the highest score, whether it stands out or not.
    claimed
        How many people a record is claimed for.
    right
        How many claims are right; None if the truth was not given.
    best_right
        For how many people the row with the highest score is theirs; None if the truth was not given.
    """

    claims: tuple[int | None, ...]
    eccentricities: tuple[float, ...]
    best: tuple[int, ...]
    claimed: Share
    right: Share | None
    best_right: Share | None

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        people = count_noun(self.claimed.trials, "person", "people")
        text = f"A single record stands out for {self.claimed.hits:,} of {people} ({self.claimed.rate:.1%})"
        if self.right is None or self.best_right is None:
            return f"{text}."
        return f"{text}, and is theirs for {self.right.hits:,}; the best record is theirs for {self.best_right.hits:,}."

    @property
    def table(self) -> pa.Table:
        """The claims, one a line."""
        people = list(range(len(self.claims)))
        return pa.table(
            {
                "person": people,
                "best row": self.best,
                "claimed": [claim is not None for claim in self.claims],
                "eccentricity": self.eccentricities,
            }
        )


@dataclass(frozen=True)
class CurvePoint(Shown):
    """How many people so much knowledge identifies.

    Attributes
    ----------
    known, error
        How many ratings the attacker knows, and by how much each may be off.
    right, wrong
        People for whom the right, or a wrong, record is claimed.
    control
        People for whom a record is claimed although theirs was not released.
    """

    known: int
    error: float
    right: Share
    wrong: Share
    control: Share


@dataclass(frozen=True)
class RatingsCurve(Finding):
    """How many ratings, with how large errors, identify a subscriber.

    Attributes
    ----------
    subscribers, items
        The size of the released matrix.
    points
        What was tried.
    """

    subscribers: int
    items: int
    points: tuple[CurvePoint, ...]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        best = max(self.points, key=lambda point: (point.right.rate, -point.known))
        off = f", each off by up to {best.error:g}" if best.error else ""
        return (
            f"Who knows {count_noun(best.known, 'rating')} of a person{off} finds the right one of "
            f"{self.subscribers:,} records for {best.right}; for people whose record was not released "
            f"a wrong one stands out for {best.control.rate:.1%}."
        )

    @property
    def table(self) -> pa.Table:
        """The points, one a line."""
        named = {"right": "right", "wrong": "wrong", "control": "claimed though not released"}
        shares = {shown: [getattr(point, name).rate for point in self.points] for name, shown in named.items()}
        known, error = [point.known for point in self.points], [point.error for point in self.points]
        return pa.table({"ratings known": known, "error": error, **shares})


def scoreboard(
    released: Any,
    auxiliary: Any,
    *,
    truth: Sequence[int] | None = None,
    scale: float = SCALE,
    eccentricity: float = ECCENTRICITY,
) -> Scoreboard:
    """Attack released ratings with what the attacker knows of some people's.

    Parameters
    ----------
    released, auxiliary
        Ratings, a row for each person and the same items in the same order: a table of numbers with missing cells for
        what was not rated, an array with NaN for it, or a sparse matrix without it.
    truth
        For each auxiliary row the released row that is the same person's, to judge the claims by.
    scale
        Over which difference of ratings the similarity falls to 1/e; 1.5 stars in the paper.
    eccentricity
        By how many standard deviations the best record must lead; 1.5 in the paper.
    """
    there, known = _matrix(released), _matrix(auxiliary)
    if there.shape[1] != known.shape[1]:
        raise ParameterError("Released and known ratings must be of the same items, in the same order.")
    if truth is not None and len(truth) != known.shape[0]:
        raise ParameterError("The truth must name one released row for each auxiliary row.")
    for number, what in ((scale, "scale"), (eccentricity, "eccentricity")):
        if not number > 0:
            raise ParameterError(f"The {what} must be above 0.")
    columns, rows = _Columns(there, scale), known.tocsr()
    found = []
    for place in range(rows.shape[0]):
        part = slice(rows.indptr[place], rows.indptr[place + 1])
        found.append(_best(columns.scores(rows.indices[part], rows.data[part])))
    claims = tuple(best if lead > eccentricity else None for best, lead in found)
    first = tuple(best for best, _ in found)
    return Scoreboard(
        claims=claims,
        eccentricities=tuple(lead for _, lead in found),
        best=first,
        claimed=Share(sum(claim is not None for claim in claims), len(claims)),
        right=_agreement(claims, truth),
        best_right=_agreement(first, truth),
    )


def ratings_curve(
    ratings: Any,
    *,
    known: Iterable[int] = (2, 4, 6, 8),
    errors: Iterable[float] = (0, 1),
    people: int = 200,
    source: Source | None = None,
    scale: float = SCALE,
    eccentricity: float = ECCENTRICITY,
) -> RatingsCurve:
    """Find out how many ratings, with how large errors, identify a subscriber.

    For each of `people` subscribers drawn at random the attacker is given some of their ratings, each moved by a whole
    number of at most `error` either way. As a control the attack is repeated on the matrix without the subscriber.

    Parameters
    ----------
    ratings
        The released ratings, see `scoreboard`.
    known, errors
        How many ratings the attacker knows, and how far off they are; every pair is tried.
    people
        How many subscribers are looked for.
    source
        Where the choice of subscribers and ratings comes from; secure by default.
    scale, eccentricity
        See `scoreboard`.
    """
    matrix = _matrix(ratings)
    columns, rows = _Columns(matrix, scale), matrix.tocsr()
    generator = (source or secure()).simulation()
    points = [
        _point(columns, rows, number, error, _draw(rows, number, people, generator), eccentricity, generator)
        for number in known
        for error in errors
    ]
    return RatingsCurve(matrix.shape[0], matrix.shape[1], tuple(points))


def invented_ratings(subscribers: int, items: int, *, source: Source, average: float = 40) -> Any:
    """Invent a sparse matrix of ratings from 1 to 5: few items are popular, most are rare, tastes differ.

    Parameters
    ----------
    subscribers, items
        Its size.
    source
        Where it comes from.
    average
        How many ratings a subscriber gives on average, roughly.
    """
    if subscribers < 1 or items < 1 or not 0 < average <= items:
        raise ParameterError("Invent at least one subscriber and one item, and at most as many ratings as items.")
    generator = source.simulation()
    popular = np.arange(1, items + 1) ** -_POPULARITY
    active = generator.lognormal(-0.5, 1.0, subscribers)
    chance = np.minimum(1, np.outer(active, popular * average / popular.sum()))
    rated = generator.random(chance.shape) < chance
    people, things = np.nonzero(rated)
    tastes = generator.normal(0, 0.5, (subscribers, _TASTES)), generator.normal(0, 1, (items, _TASTES))
    liking = 3.4 + (tastes[0][people] * tastes[1][things]).sum(axis=1) + generator.normal(0, 0.7, people.size)
    stars = np.clip(np.rint(liking), 1, _STARS)
    return sparse.csc_array((stars, (people, things)), shape=rated.shape)


class _Columns:
    """Released ratings by item, and what a match on each item weighs."""

    def __init__(self, matrix: Any, scale: float) -> None:
        self._matrix = matrix.tocsc()
        self._scale = scale
        support = np.diff(self._matrix.indptr)
        self._weights = 1 / np.log(np.maximum(support, 2))  # an item that one subscriber rated weighs as if two had

    def scores(self, items: npt.NDArray[np.integer[Any]], values: Floats) -> Floats:
        """The score of every record against the given ratings."""
        total = np.zeros(self._matrix.shape[0])
        for item, value in zip(items, values, strict=True):
            part = slice(self._matrix.indptr[item], self._matrix.indptr[item + 1])
            alike = np.exp(-np.abs(self._matrix.data[part] - value) / self._scale)
            total[self._matrix.indices[part]] += self._weights[item] * alike
        return total


def _best(scores: Floats) -> tuple[int, float]:
    """The best record, and its lead over the second in standard deviations; no lead without a second."""
    best = int(scores.argmax())
    spread = float(scores.std())
    if scores.size < 2 or spread == 0:
        return best, 0.0
    second = float(np.delete(scores, best).max())
    return best, (float(scores[best]) - second) / spread


def _agreement(claims: Sequence[int | None], truth: Sequence[int] | None) -> Share | None:
    return None if truth is None else Share(sum(a == b for a, b in zip(claims, truth, strict=True)), len(claims))


def _draw(rows: Any, number: int, people: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    if number < 1 or people < 1:
        raise ParameterError("The attacker must know at least one rating, of at least one person.")
    able = np.flatnonzero(np.diff(rows.indptr) >= number)
    if able.size == 0:
        raise ParameterError(f"Nobody gave {number} ratings; let the attacker know fewer.")
    return generator.choice(able, min(people, able.size), replace=False)


def _point(
    columns: _Columns,
    rows: Any,
    number: int,
    error: float,
    people: npt.NDArray[np.int64],
    eccentricity: float,
    generator: np.random.Generator,
) -> CurvePoint:
    right = wrong = control = 0
    for person in people:
        own = generator.choice(np.arange(rows.indptr[person], rows.indptr[person + 1]), number, replace=False)
        off = generator.integers(-int(error), int(error), number, endpoint=True)
        scores = columns.scores(rows.indices[own], rows.data[own] + off)
        best, lead = _best(scores)
        right += lead > eccentricity and best == person
        wrong += lead > eccentricity and best != person
        control += _best(np.delete(scores, person))[1] > eccentricity
    shares = [Share(int(hits), people.size) for hits in (right, wrong, control)]
    return CurvePoint(number, float(error), *shares)


def _matrix(given: Any) -> Any:
    """Ratings as a sparse matrix that holds what was rated, zeros too."""
    if sparse.issparse(given):
        return given.tocsc().astype(float)
    dense = np.asarray(given, dtype=float) if isinstance(given, np.ndarray | list) else _dense(given)
    if dense.ndim != 2 or 0 in dense.shape:
        raise ParameterError("Ratings must have a row for each person and a column for each item.")
    people, items = np.nonzero(~np.isnan(dense))
    return sparse.csc_array((dense[people, items], (people, items)), shape=dense.shape)


def _dense(table: Table | pa.Table) -> Floats:
    held = open_table(table)
    for column in held.schema.columns:
        if column.storage not in (Kind.INTEGER, Kind.REAL):
            raise ParameterError(f"Column {column.name!r} holds no numbers; leave it out of the ratings.")
    cells = held.raw.rows()
    columns = [cells.column(name).cast(pa.float64()).to_numpy() for name in cells.column_names]
    return np.stack(columns, axis=1)
