"""Intruders who match what they know against partially synthetic copies.

References
----------
Reiter (2003), "Inference for partially synthetic, public use microdata sets", Survey Methodology 29(2).
Drechsler, Reiter (2008), "Accounting for intruder uncertainty due to sampling when estimating identification disclosure
risks in partially synthetic data", Privacy in Statistical Databases.
Reiter, Mitra (2009), "Estimating risks of identification disclosure in partially synthetic data", Journal of Privacy
and Confidentiality 1(1): population counts for targets who may not be in the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._finding import Share
from ziggurat.attacks.synthetic._alike import (
    ComparedRows,
    Floats,
    Opened,
    encode_alike,
    name_copies,
    number_alike,
    open_alike,
)
from ziggurat.attacks.synthetic._matching_risk_kernels import Index, MatchTargets, Scores, counts, index_tables, scores
from ziggurat.attacks.synthetic._scenario import Exact, Knowledge, Scenario, Within
from ziggurat.attacks.tables import hypergeometric
from ziggurat.data import Table
from ziggurat.data.coded import Codes
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError, ParameterError
from ziggurat.findings import Finding
from ziggurat.synthesize import Synthetic
from ziggurat.wording import count_noun

_FEW = 30
_BATCH = 4096
_ROUNDING = 1e-12
_FAR = 5.0  # standard deviations, and rows: by chance less than once in a million columns
_INSTEAD = (
    "attack fully synthetic copies, whose rows stand for nobody, with synthetic_singling_out, linkability, inference "
    "and closest_records"
)


@dataclass(frozen=True)
class MatchRisk(Finding):
    """Whom an intruder finds in partially synthetic copies.

    The intruder gives each record j the probability (1/m) sum_i I(record j of copy i matches) / N_i of being the
    target's, where N_i records of copy i match (a copy in which none does adds nothing), and picks a likeliest one.

    Attributes
    ----------
    targets, rows, copies
        How many people are looked for, among how many records, in how many copies.
    in_sample
        Whether the intruder knows that the targets are in the table. If only "maybe", N_i is the number of people of
        the population that match, and the intruder picks nobody where it is likelier that the target is not in the
        table than that any one record is the target's.
    expected
        The expected match risk: how many targets are found by picking at random one of the likeliest records.
    probability
        The probability that the intruder gives to a target's own record, on average over the targets.
    unique
        The targets with exactly one likeliest record: those about whom a claim is made.
    right
        The targets with exactly one likeliest record which is theirs: the true match rate.
    wrong
        Among the claims those that are false: the false match rate.
    silent
        The targets for whom the intruder picks nobody.
    """

    targets: int
    rows: int
    copies: int
    in_sample: str
    expected: float
    probability: float
    unique: Share
    right: Share
    wrong: Share
    silent: Share

    @property
    def rate(self) -> float:
        """The expected match risk as a share of the targets."""
        return self.expected / self.targets

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        return (
            f"Of {count_noun(self.targets, 'target')} who are {self.in_sample} in the table the intruder claims one "
            f"record each for {self.unique}, rightly for {self.right} (true match rate); {self.wrong} of the claims "
            f"are false (false match rate). By picking one of the likeliest records {self.expected:,.1f} are expected "
            f"to be found ({self.rate:.1%})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        return {**super().to_dict(), "rate": self.rate}

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals."""
        named = {
            "one likeliest record (claims)": self.unique,
            "claimed rightly (true match rate)": self.right,
            "claims that are false (false match rate)": self.wrong,
            "nobody is picked": self.silent,
        }
        ends = {end: [getattr(share, end) for share in named.values()] for end in ("rate", "low", "high")}
        return pa.table({"figure": list(named), **ends})


def match_risk(
    original: Table | pa.Table,
    copies: object,
    scenario: Scenario,
    *,
    population: Table | pa.Table | None = None,
) -> MatchRisk:
    """Attack partially synthetic copies by matching what an intruder knows.

    Parameters
    ----------
    original
        The true table; what the intruder knows of the targets is taken from it.
    copies
        One copy or several. Row j of each stands for row j of the original.
    scenario
        What the intruder knows, and of whom.
    population
        For targets who may not be in the table: a table of the population, with the columns that are known. Without
        one, the people who match are estimated from the records that match and the number of people that the scenario
        names: 1/F by its expectation given f of a sample (Franconi and Polettini 2004, as mu-Argus does).
    """
    _check_population(scenario, population)
    named = name_copies(copies)
    if isinstance(copies, Synthetic) and copies.kind == "fully":
        raise ParameterError(f"These copies are fully synthetic; {_INSTEAD}.")
    tables = open_alike(original, [*named, *([] if population is None else [("the population", population)])])
    _check_correspondence(tables[: len(named) + 1])
    first, *rest = encode_alike(tables, tuple(scenario.known))
    targets = _targets(tables[0].table, scenario)
    wanted, (index, people) = _prepare(scenario, first, rest, targets, len(named), tables[0].names)
    floors = np.zeros(targets.size, np.int64) if people is None else counts(people, wanted)
    estimated = scenario.in_sample == "maybe" and people is None
    inverse = _inverse(len(first), int(floors.max()), scenario.population if estimated else None)
    found = scores(index, wanted, targets, floors, inverse)
    return _sum_up(scenario, len(first), len(named), found)


def _sum_up(scenario: Scenario, rows: int, copies: int, found: Scores) -> MatchRisk:
    picks = found.best > 0
    if scenario.in_sample == "maybe":
        picks &= found.best >= 1 - found.total - _ROUNDING
    one, hit = picks & (found.ties == 1), picks & found.hit
    right, size = int((one & hit).sum()), picks.size
    return MatchRisk(
        targets=size,
        rows=rows,
        copies=copies,
        in_sample=scenario.in_sample,
        expected=float((hit / np.maximum(found.ties, 1)).sum()),
        probability=float(found.own.mean()),
        unique=Share(int(one.sum()), size),
        right=Share(right, size),
        wrong=Share(int(one.sum()) - right, int(one.sum())),
        silent=Share(int((~picks).sum()), size),
    )


def _check_population(scenario: Scenario, population: object) -> None:
    if not isinstance(scenario, Scenario):
        raise ParameterError("The scenario must be a Scenario; Scenario.from_dict makes one of plain values.")
    known = population is not None or scenario.population is not None
    if scenario.in_sample == "maybe" and not known:
        raise ParameterError(
            "For targets who may not be in the table, give a table of the population, or name in the scenario how many "
            "people the table was sampled from."
        )
    if scenario.in_sample == "surely" and population is not None:
        raise ParameterError("A population is for targets who are maybe in the table; set in_sample to 'maybe'.")


def _check_correspondence(tables: Sequence[Opened]) -> None:
    names = [name for name in tables[0].names if all(name in copy.names for copy in tables)]
    if not names:
        raise DataError("The copies have none of the columns of the original.")
    first, *rest = encode_alike(tables, names)
    for each, copy in zip(tables[1:], rest, strict=True):
        if len(copy) != len(first):
            raise DataError(
                f"The original has {len(first):,} rows and {each.title} has {len(copy):,}, but row j of a copy must "
                f"stand for row j of the original; {_INSTEAD}."
            )
        if len(first) >= _FEW and not _are_paired(first, copy):
            raise DataError(
                f"The rows of {each.title} agree with those of the original no more often than rows paired at random, "
                f"but row j of a copy must stand for row j of the original; {_INSTEAD}."
            )


def _are_paired(first: ComparedRows, copy: ComparedRows) -> bool:
    """Whether some column, or whole rows, agree row by row more often than if rows were paired at random.

    Of a partially synthetic table some columns, or the rows that no rule marks, are the original's.
    """
    alone = [(first.cells[:, [place]], copy.cells[:, [place]]) for place in range(len(first.names))]
    found = [_agree(*number_alike(both)) for both in (*alone, (first.cells, copy.cells))]
    return any(found) or all(each is None for each in found)


def _agree(mine: Codes, theirs: Codes) -> bool | None:
    """Whether cells agree more often than by chance; None if they cannot but agree."""
    kinds, rows = int(max(mine.max(), theirs.max())) + 1, len(mine)
    by_chance = float(np.bincount(mine, minlength=kinds) @ np.bincount(theirs, minlength=kinds)) / rows**2
    same = int((mine == theirs).sum())
    if by_chance == 1:
        return None
    return same == rows or same - rows * by_chance > _FAR * np.sqrt(rows * by_chance * (1 - by_chance)) + _FAR


def _targets(original: Table, scenario: Scenario) -> Codes:
    condition = scenario.condition(original.schema.names)
    if condition is None:
        return np.arange(original.raw.count_rows())
    engine = original.engine if isinstance(original.engine, DuckDBEngine) else None
    found = np.flatnonzero(condition.holds(original.raw.rows(condition.columns), engine=engine))
    if found.size == 0:
        raise ParameterError("No row meets the condition for targets; there is nobody to look for.")
    return found


def _prepare(
    scenario: Scenario,
    first: ComparedRows,
    rest: Sequence[ComparedRows],
    targets: Codes,
    copies: int,
    names: tuple[str, ...],
) -> tuple[MatchTargets, tuple[Index, Index | None]]:
    """The targets and the tables, as classes of what must be alike and numbers that must be near."""
    tables = [first.take(targets), *rest]
    keys, numbers = [], []
    for each in tables:
        sides = [_key(scenario, name, rule, each, names) for name, rule in scenario.known.items()]
        keys.append(np.stack(sides, axis=1))
        near = [each.column(name) for name, rule in scenario.known.items() if isinstance(rule, Within)]
        numbers.append(np.nan_to_num(np.stack(near, axis=1)) if near else np.empty((len(each), 0)))
    ids = number_alike(keys)
    number = 1 + max(int(part.max()) for part in ids)
    lows, highs = _ends(scenario, numbers[0])
    index = index_tables(ids[1 : copies + 1], number, numbers[1 : copies + 1])
    people = index_tables(ids[copies + 1 :], number, numbers[copies + 1 :]) if len(tables) > copies + 1 else None
    return MatchTargets(ids[0], lows, highs), (index, people)


def _key(scenario: Scenario, name: str, rule: Knowledge, rows: ComparedRows, names: tuple[str, ...]) -> Floats:
    """What of a column must be alike in a match: the cell, its side, or at least whether it is missing."""
    cells = rows.column(name)
    if isinstance(rule, Exact):
        return cells
    if not rows.numeric[rows.names.index(name)]:
        raise ParameterError(f"Column {name!r} holds no numbers; let the intruder know it exactly, or not at all.")
    if isinstance(rule, Within):
        return np.isnan(cells).astype(np.float64)
    threshold, included = scenario.side(name, names)
    return np.where(np.isnan(cells), np.nan, cells >= threshold if included else cells > threshold)


def _ends(scenario: Scenario, numbers: Floats) -> tuple[Floats, Floats]:
    """The least and largest numbers of a match, with room for the rounding of floats."""
    rules = [rule for rule in scenario.known.values() if isinstance(rule, Within)]
    amounts: Floats = np.array([rule.amount for rule in rules])
    relative: npt.NDArray[np.bool_] = np.array([rule.relative for rule in rules], dtype=np.bool_)
    reach = np.where(relative, np.abs(numbers) * amounts, amounts)
    reach = reach + np.where(reach > 0, 1e-12 * (np.abs(numbers) + reach), 0.0)
    return numbers - reach, numbers + reach


def _inverse(rows: int, most: int, population: int | None) -> Floats:
    """What one of so many matches weighs: its reciprocal, or the expected reciprocal of those in the population."""
    sizes = np.arange(max(rows, most) + 1, dtype=np.float64)
    sizes[0] = 1.0  # no match: nothing is weighed
    if population is None:
        return 1 / sizes
    share = min(1.0, rows / population)
    parts = np.array_split(sizes, 1 + sizes.size // _BATCH)  # the series of many sizes at once takes much memory
    factors = np.concatenate([hypergeometric(1.0, part + 1, 1 - share) for part in parts])
    return np.asarray(np.minimum(share / sizes * factors, 1 / sizes))
