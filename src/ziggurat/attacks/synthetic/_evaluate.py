"""Attacks on synthetic tables: singling out, linking and inferring, each against a control and a naive guess.

After Giomi, Boenisch, Wehmeyer, Tasnádi (2023), "A unified framework for quantifying privacy risk in synthetic data",
PoPETs 2023(2). With several copies every guess is made with one of them, so that guesses stay independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import Guesses, judge, pool, whole
from ziggurat.attacks.synthetic._alike import ComparedRows, Floats, make_generator, name_copies, read_alike, scale_rows
from ziggurat.attacks.synthetic._closest_kernels import nearest
from ziggurat.attacks.synthetic._predicates import (
    Draw,
    Predicate,
    chance_if_swapped,
    count_isolating,
    naive,
    of_one_column,
    of_several_columns,
)
from ziggurat.data import Table
from ziggurat.data.coded import Codes
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.wording import count_noun

Truths = npt.NDArray[np.bool_]
Orders = tuple[Codes, Codes]
Attack = Callable[[ComparedRows, ComparedRows, Orders], Truths]

GUESSES = 2_000


@dataclass(frozen=True)
class SyntheticSinglingOut(Finding):
    """How often a predicate made from a synthetic table holds for exactly one person.

    Attributes
    ----------
    rows
        On how many rows, drawn from the original and from the control alike, the predicates were tried: whether one
        holds for exactly one row depends on how many rows there are.
    univariate, multivariate
        Predicates about one column, and about several.
    univariate_whole, multivariate_whole
        How many of the predicates hold for exactly one row of the whole original.
    """

    rows: int
    univariate: Guesses
    multivariate: Guesses
    univariate_whole: Share
    multivariate_whole: Share

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        return (
            f"Singling out, tried on {count_noun(self.rows, 'row')}: by one column, {self.univariate.sentence} "
            f"By several columns, {self.multivariate.sentence}"
        )

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals."""
        parts = [("one column", self.univariate.table), ("several columns", self.multivariate.table)]
        named = [part.add_column(0, "predicates", [[kind] * part.num_rows]) for kind, part in parts]
        return pa.concat_tables(named)


@dataclass(frozen=True)
class Linkability(Finding):
    """How often a synthetic table links what two attackers know of the same person.

    Attributes
    ----------
    known
        The columns of the one and of the other.
    neighbours
        Among how many nearest synthetic rows of each a common one is looked for.
    guesses
        How often there is one.
    """

    known: tuple[tuple[str, ...], tuple[str, ...]]
    neighbours: int
    guesses: Guesses

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        return f"Linking two parts of a record: {self.guesses.sentence}"

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals."""
        return self.guesses.table


@dataclass(frozen=True)
class AttributeInference(Finding):
    """How often the nearest synthetic row tells a person's secret.

    Attributes
    ----------
    known, secret
        What the attacker knows, and what is to be learned.
    tolerance
        A number counts as learned if the guess is off by at most this share of it.
    guesses
        How often the secret was learned.
    """

    known: tuple[str, ...]
    secret: str
    tolerance: float
    guesses: Guesses

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        return f"Inferring {self.secret!r}: {self.guesses.sentence}"

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals."""
        return self.guesses.table


def synthetic_singling_out(
    original: Table | pa.Table,
    synthetic: object,
    control: Table | pa.Table,
    *,
    guesses: int = 500,
    columns: Iterable[str] | None = None,
    width: int = 3,
    random_state: int | None = None,
) -> SyntheticSinglingOut:
    """Make predicates that hold for one row of a synthetic table, and count those that hold for one person.

    Parameters
    ----------
    original
        The table that the synthetic one was made from.
    synthetic
        The synthetic table, or several copies.
    control
        Rows of the same kind that the synthetic table was not made from. With fewer rows than the original, both are
        compared on as many; then the risk in the whole original is larger.
    guesses
        How many predicates of either kind are tried; there may be fewer.
    columns
        Which columns predicates are about; by default all.
    width
        About how many columns those about several are.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    wanted, wide = whole(guesses, "The number of guesses"), whole(width, "The width of predicates")
    first, outside, *copies = read_alike(original, [("the control table", control), *name_copies(synthetic)], columns)
    draw = make_generator(random_state)
    size = min(len(first), len(outside))
    mine, theirs = (each.take(draw.permutation(len(each))[:size]) for each in (first, outside))
    kinds: list[tuple[Guesses, Share]] = []
    for many in (1, wide):
        made = [_predicates(copy, number, many, draw) for copy, number in _dealt(copies, wanted)]
        told = [each for part, _ in made for each in part]
        shares = [count_isolating(told, rows) for rows in (mine, theirs, first)]
        blind = count_isolating([each for _, part in made for each in part], mine)
        kinds.append((judge(shares[0], shares[1], blind, chance_if_swapped(told, mine, theirs, draw)), shares[2]))
    (one, all_one), (several, all_several) = kinds
    return SyntheticSinglingOut(size, one, several, all_one, all_several)


def linkability(
    original: Table | pa.Table,
    synthetic: object,
    control: Table | pa.Table,
    *,
    known: tuple[Iterable[str], Iterable[str]],
    neighbours: int = 1,
    guesses: int = GUESSES,
    random_state: int | None = None,
) -> Linkability:
    """Link two attackers' knowledge of a person by the synthetic row that is nearest to both.

    Parameters
    ----------
    original, synthetic, control
        See `synthetic_singling_out`.
    known
        The columns that the one attacker knows, and those that the other does; none in common.
    neighbours
        How many nearest rows each looks at.
    guesses
        How many people, drawn at random, are attacked.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    ours, theirs = (_names(part) for part in _two(known))
    near, draw = whole(neighbours, "The number of neighbours"), make_generator(random_state)
    tables = read_alike(original, [("the control table", control), *name_copies(synthetic)], (*ours, *theirs))

    def attack(copy: ComparedRows, people: ComparedRows, orders: Orders) -> Truths:
        parts = zip((ours, theirs), orders, strict=True)
        return _common(*(_closest(copy.select(part), people.select(part), near, order) for part, order in parts))

    def blind(copy: ComparedRows, people: ComparedRows, _orders: Orders) -> Truths:
        size = (len(people), min(near, len(copy)))
        return _common(draw.integers(len(copy), size=size), draw.integers(len(copy), size=size))

    return Linkability((ours, theirs), near, _attack(tables, attack, blind, guesses, draw))


def inference(
    original: Table | pa.Table,
    synthetic: object,
    control: Table | pa.Table,
    *,
    known: Iterable[str],
    secret: str,
    tolerance: float = 0.05,
    guesses: int = GUESSES,
    random_state: int | None = None,
) -> AttributeInference:
    """Guess a person's secret from the synthetic row nearest to what is known of them.

    The naive guess is one and the same for everybody: the value that is right most often in the synthetic table.

    Parameters
    ----------
    original, synthetic, control
        See `synthetic_singling_out`.
    known
        The columns that the attacker knows.
    secret
        The column to learn.
    tolerance
        A number counts as learned if the guess is off by at most this share of it.
    guesses
        How many people, drawn at random, are attacked.
    random_state
        A seed for a rehearsal; by default the choices are secret.
    """
    names, draw = _names(known), make_generator(random_state)
    if secret in names:
        raise ParameterError(f"Column {secret!r} is named both as secret and as known.")
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise ParameterError("The tolerance must be a share of at least 0 and below 1.")
    tables = read_alike(original, [("the control table", control), *name_copies(synthetic)], (*names, secret))
    slack = float(tolerance) if tables[0].numeric[-1] else 0.0

    def attack(copy: ComparedRows, people: ComparedRows, orders: Orders) -> Truths:
        places = _closest(copy.select(names), people.select(names), 1, orders[0])[:, 0]
        return _learn(copy.column(secret)[places], people.column(secret), slack)

    def blind(copy: ComparedRows, people: ComparedRows, _orders: Orders) -> Truths:
        return _learn(np.array(_commonest(copy.column(secret), slack)), people.column(secret), slack)

    return AttributeInference(names, secret, slack, _attack(tables, attack, blind, guesses, draw))


def _attack(tables: Sequence[ComparedRows], attack: Attack, blind: Attack, guesses: int, draw: Draw) -> Guesses:
    """Attack people of the original and of the control, each with one of the copies.

    Which of equally near rows comes first is drawn once for both: it decides the guesses about many people together,
    and were it drawn anew for the control, a table that knows nothing could be right about the original by that luck.
    """
    original, control, *copies = tables
    wanted = whole(guesses, "The number of guesses")
    orders = [(draw.permutation(len(copy)), draw.permutation(len(copy))) for copy in copies]

    def share(people: ComparedRows, way: Attack) -> Share:
        drawn = draw.permutation(len(people))[:wanted]
        parts = zip(copies, np.array_split(drawn, len(copies)), orders, strict=True)
        hits = [way(copy, people.take(part), order) for copy, part, order in parts if part.size]
        return pool([Share(int(each.sum()), each.size) for each in hits])

    return judge(share(original, attack), share(control, attack), share(original, blind))


def _dealt(copies: Sequence[ComparedRows], wanted: int) -> list[tuple[ComparedRows, int]]:
    parts = [len(part) for part in np.array_split(np.arange(wanted), len(copies))]
    return [(copy, part) for copy, part in zip(copies, parts, strict=True) if part]


def _predicates(copy: ComparedRows, wanted: int, many: int, draw: Draw) -> tuple[list[Predicate], list[Predicate]]:
    made = of_one_column(copy, wanted, draw) if many == 1 else of_several_columns(copy, wanted, many, draw)
    return made, naive(copy, wanted, many, draw)


def _closest(copy: ComparedRows, people: ComparedRows, neighbours: int, order: Codes) -> Codes:
    base, asked = scale_rows([copy, people], [copy])
    return nearest(base, asked, min(neighbours, len(copy)), order)[0]


def _common(ours: Codes, theirs: Codes) -> Truths:
    return np.asarray((ours[:, :, None] == theirs[:, None, :]).any(axis=(1, 2)))


def _learn(guesses: Floats, truths: Floats, tolerance: float) -> Truths:
    return (np.abs(guesses - truths) <= tolerance * np.abs(truths)) | (np.isnan(guesses) & np.isnan(truths))


def _commonest(cells: Floats, tolerance: float) -> float:
    """The cell that is right most often as a guess of every cell; what is missing may be guessed too."""
    present = np.sort(cells[~np.isnan(cells)])
    if present.size == 0:
        return math.nan
    reach = tolerance * np.abs(present)
    begun = np.searchsorted(np.sort(present - reach), present, side="right")
    ended = np.searchsorted(np.sort(present + reach), present, side="left")
    right = begun - ended
    return float(present[right.argmax()]) if right.max() >= cells.size - present.size else math.nan


def _names(given: Iterable[str] | str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names:
        raise ParameterError("Name at least one column that is known.")
    return names


def _two(known: object) -> tuple[Iterable[str], Iterable[str]]:
    if not isinstance(known, list | tuple) or len(known) != 2:
        raise ParameterError("Name two lists of columns: those that the one attacker knows, and the other's.")
    return known[0], known[1]
