"""How often models err in each group of people, and whom privacy costs most.

Intervals. Of shares they are those of Clopper and Pearson (1934), of mean errors Student's; each at a level of 5 % over
the number of groups and models, so that all hold together with 95 % (Bonferroni).

Whom it costs most. Each row has d = its error by the private model less its error by the other. A group is compared
with everybody else by Welch's t of d; a positive one means that privacy costs the group more. For errors of 0 and 1 the
test deals the d of all rows out anew to groups of the same sizes: exact if the group has no part in d, and nearly so if
only the means are equal, whatever the variances (Chung and Romano 2013, "Exact and asymptotically robust permutation
tests", Ann. Stat. 41(2)); for numbers it is Welch's. Over all groups it is corrected by Holm (1979): that any group is
named falsely has a chance of 5 %. About groups with few rows nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError
from ziggurat.findings import CONFIDENCE, Finding, RangedNumber
from ziggurat.randomness import Source, secure
from ziggurat.wording import count_noun

Reals = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

FEWEST_ROWS = 30
"""About a group with fewer rows nothing is said, unless told otherwise."""

_DEALS = 9999
_MISSING = "missing"


@dataclass(frozen=True)
class ErrorRange(RangedNumber):
    """An error with its ends; those of all groups and models hold together with 95 %."""

    rate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return the error and its ends."""
        return {"rate": self.rate, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class GroupCost(Shown):
    """One group: how often each model errs, and what privacy costs it.

    Attributes
    ----------
    group, rows
        Which, and how many rows it has.
    errors
        By the name of the model.
    change
        The error of the private model less that of the other.
    beyond
        By how much more than everybody else's errors the group's rise.
    chance
        How likely so large a difference, either way, is by chance, over all groups (Holm).
    """

    group: str
    rows: int
    errors: dict[str, ErrorRange]
    change: ErrorRange
    beyond: float
    chance: float

    @property
    def verdict(self) -> bool:
        """Whether privacy costs the group more, or less, than everybody else beyond chance."""
        return self.chance <= 1 - CONFIDENCE


@dataclass(frozen=True)
class GroupedErrors(Finding):
    """What two models get wrong in each group.

    Attributes
    ----------
    by
        What tells the groups apart, in words.
    error
        What is told: "share named wrongly", or "mean absolute error".
    models
        The names of the model without privacy and of the private one.
    groups
        Those with enough rows, the largest first.
    unsaid, unsaid_rows, fewest
        How many groups have fewer rows than `fewest`, and how many rows these have together.
    """

    by: str
    error: str
    models: tuple[str, str]
    groups: tuple[GroupCost, ...]
    unsaid: int
    unsaid_rows: int
    fewest: int

    @property
    def gaps(self) -> dict[str, float]:
        """By the name of the model, the largest error of a group less the smallest; NaN if there is one group only."""
        rates = {name: [each.errors[name].rate for each in self.groups] for name in self.models}
        return {name: max(held) - min(held) if len(held) > 1 else math.nan for name, held in rates.items()}

    @property
    def harmed(self) -> tuple[GroupCost, ...]:
        """The groups that privacy costs more than everybody else, beyond chance."""
        return tuple(each for each in self.groups if each.verdict and each.beyond > 0)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        parts = [self._tell_gaps(), self._tell_harmed()]
        if self.unsaid:
            few = count_noun(self.unsaid, "group")
            parts.append(f"About {few} with fewer than {self.fewest} rows nothing is said.")
        return " ".join(each for each in parts if each)

    @property
    def table(self) -> pa.Table:
        """A row for each group."""
        columns: dict[str, Any] = {
            self.by: [each.group for each in self.groups],
            "rows": pa.array([each.rows for each in self.groups], pa.int64()),
        }
        for name in self.models:
            held = [each.errors[name] for each in self.groups]
            columns[name] = [each.rate for each in held]
            columns[f"{name}, from"], columns[f"{name}, to"] = [each.low for each in held], [each.high for each in held]
        columns["change"] = [each.change.rate for each in self.groups]
        columns["beyond the others"] = [each.beyond for each in self.groups]
        columns["chance"] = [each.chance for each in self.groups]
        return pa.table(columns)

    def draw(self, kind: Literal["svg", "png"] = "svg") -> bytes:
        """Draw the errors of both models in each group with their ends, for the steward."""
        from ziggurat.utility.subgroups._drawn import draw_errors

        return draw_errors(self, kind)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        return {**super().to_dict(), "gaps": {key: None if gap != gap else gap for key, gap in self.gaps.items()}}

    def _tell_gaps(self) -> str:
        if len(self.groups) < 2:
            return f"There are not two groups of {self.by} with {self.fewest} rows to compare."
        spans = []
        for name, gap in self.gaps.items():
            rates = [each.errors[name].rate for each in self.groups]
            spans.append(f"{min(rates):.3g} to {max(rates):.3g} by {name} (a gap of {gap:.3g})")
        return f"Over {count_noun(len(self.groups), 'group')} of {self.by} the {self.error} is {' and '.join(spans)}."

    def _tell_harmed(self) -> str:
        if len(self.groups) < 2:
            return ""
        told = [
            f"{each.group!r} ({each.beyond:+.3g}, {count_noun(each.rows, 'row')})"
            for each in self.groups
            if each.verdict
        ]
        if not told:
            return "That privacy costs some group more than the others is not shown beyond chance."
        return f"Beyond chance privacy changes the error otherwise than everybody else's for {', '.join(told)}."


def compare_groups(
    truth: npt.ArrayLike,
    groups: Sequence[Any] | npt.NDArray[Any],
    private: npt.ArrayLike,
    exact: npt.ArrayLike,
    *,
    by: str = "group",
    names: tuple[str, str] = ("exact", "private"),
    numbers: bool | None = None,
    fewest: int = FEWEST_ROWS,
    source: Source | None = None,
) -> GroupedErrors:
    """Compare what a private model and one without privacy get wrong, group by group.

    The figures are exact functions of the rows, without any noise: for the steward only, unless the rows are public.
    `count_errors_privately` tells errors of private rows for a price.

    Parameters
    ----------
    truth
        The true label of each row, which no model has learned from; or a number.
    groups
        The group of each row; None is one of its own.
    private, exact
        What the private model named, and what the one without privacy did.
    by
        What tells the groups apart, in words.
    names
        What the model without privacy and the private one are called.
    numbers
        Whether errors are absolute differences and not right or wrong; by default if the labels have decimals.
    fewest
        About groups with fewer rows nothing is said.
    source
        Of the random deals of a test.
    """
    labels = np.asarray(truth)
    answers = dict(zip(names, (np.asarray(exact), np.asarray(private)), strict=True))
    whose = _name_groups(groups)
    if len(answers) != 2 or fewest < 2:
        raise ParameterError("Two models need two names, and a group at least 2 rows.")
    if any(each.shape != labels.shape for each in (*answers.values(), whose)) or labels.ndim != 1 or not len(labels):
        raise DataError("Give a label, a group and an answer of each model for each of the rows.")
    reals = labels.dtype.kind == "f" if numbers is None else numbers
    errors = {name: _measure_errors(each, labels, reals) for name, each in answers.items()}
    listed = [(str(name), np.flatnonzero(whose == name)) for name in np.unique(whose)]
    told = sorted((each for each in listed if len(each[1]) >= fewest), key=lambda each: (-len(each[1]), each[0]))
    few = [rows for _, rows in listed if len(rows) < fewest]
    deal = (secure() if source is None else source).simulation()
    costs = _tell_costs(told, errors, reals, deal)
    said = "mean absolute error" if reals else "share named wrongly"
    return GroupedErrors(by, said, names, costs, len(few), sum(map(len, few)), fewest)


def _name_groups(groups: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.array([_MISSING if each is None or each != each else str(each) for each in groups])


def _measure_errors(answers: npt.NDArray[Any], labels: npt.NDArray[Any], reals: bool) -> Reals:
    if not reals:
        return np.asarray(answers != labels, dtype=np.float64)
    found: Reals = np.abs(answers.astype(np.float64) - labels.astype(np.float64))
    if not np.isfinite(found).all():
        raise DataError("Labels and answers that are numbers must be finite.")
    return found


def _tell_costs(
    told: list[tuple[str, Places]], errors: Mapping[str, Reals], reals: bool, deal: np.random.Generator
) -> tuple[GroupCost, ...]:
    exact, private = errors.values()
    gain, level = private - exact, (1 - CONFIDENCE) / max(1, 2 * len(told))
    compared = [_compare_with_rest(gain, rows, reals, deal) for _, rows in told]
    corrected = correct_by_holm([chance for _, chance in compared])
    return tuple(
        GroupCost(
            name,
            len(rows),
            {model: _range(each[rows], reals, level) for model, each in errors.items()},
            _range(gain[rows], True, 2 * level),
            beyond,
            chance,
        )
        for (name, rows), (beyond, _), chance in zip(told, compared, corrected, strict=True)
    )


def correct_by_holm(chances: Sequence[float]) -> list[float]:
    """Return each chance as it is if all are looked at: the i-th smallest times those left, never falling (1979)."""
    order = np.argsort(chances)
    found, least = [1.0] * len(chances), 0.0
    for step, place in enumerate(order.tolist()):
        least = max(least, min(1.0, (len(chances) - step) * chances[place]))
        found[place] = least
    return found


def _range(errors: Reals, reals: bool, level: float) -> ErrorRange:
    from scipy import stats

    count, rate = len(errors), float(errors.mean())
    if reals:
        reach = float(stats.t.ppf(1 - level / 2, count - 1) * errors.std(ddof=1) / math.sqrt(count))
        return ErrorRange(rate, rate - reach, rate + reach)
    hits = int(errors.sum())
    low = float(stats.beta.ppf(level / 2, hits, count - hits + 1)) if hits else 0.0
    return ErrorRange(rate, low, float(stats.beta.ppf(1 - level / 2, hits + 1, count - hits)) if hits < count else 1.0)


def _compare_with_rest(gain: Reals, rows: Places, reals: bool, deal: np.random.Generator) -> tuple[float, float]:
    """By how much more the group's errors rise than everybody else's, and how likely that is by chance."""
    from scipy import stats

    inside = np.zeros(len(gain), dtype=bool)
    inside[rows] = True
    if inside.sum() > len(gain) - 2:
        return 0.0, 1.0
    here, there = gain[inside], gain[~inside]
    beyond = float(here.mean() - there.mean())
    if reals:
        chance = float(stats.ttest_ind(here, there, equal_var=False).pvalue)
        return beyond, 1.0 if math.isnan(chance) else chance
    values = np.array([-1.0, 0.0, 1.0])
    every, own = (np.array([(each == value).sum() for value in values]) for each in (gain, here))
    dealt = deal.multivariate_hypergeometric(every, len(here), size=_DEALS)
    size = np.abs(_welch(np.vstack([own, dealt]), every, values))
    return beyond, float((1 + (size[1:] >= size[0] * (1 - 1e-9)).sum()) / (1 + _DEALS))


def _welch(own: npt.NDArray[Any], every: npt.NDArray[Any], values: Reals) -> Reals:
    """Welch's t of values that occur so often in a group, a row for each deal, and in all."""
    sides = []
    for counts in (own, every - own):
        rows = counts.sum(axis=1)
        mean = counts @ values / rows
        sides.append((mean, (counts @ values**2 / rows - mean**2) / (rows - 1)))
    apart, spread = sides[0][0] - sides[1][0], sides[0][1] + sides[1][1]
    return np.asarray(np.where(apart == 0, 0.0, apart / np.sqrt(np.maximum(spread, 1e-12))))
