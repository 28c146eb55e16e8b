"""What will be synthesised: which columns, in which order, by which method, given which others, and in which rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ziggurat.data import Condition
from ziggurat.errors import DataError, ParameterError
from ziggurat.synthesize._encoding import MOST_CATEGORIES, ColumnCoding
from ziggurat.synthesize._method import Method
from ziggurat.synthesize.learners import method_of, name_of

ORDERS = ("table", "fewest-first")
_MANY = 50  # categories


@dataclass(frozen=True)
class ColumnPlan:
    """A decision for every column.

    Parameters
    ----------
    order
        The columns to synthesise, in the order in which they are drawn.
    methods
        How each of them is learned.
    given
        Which columns each of them is learned from.
    where
        In a partially synthetic table, in which rows each of them is drawn anew; None in a fully synthetic one.
    """

    order: tuple[str, ...]
    methods: Mapping[str, Method]
    given: Mapping[str, tuple[str, ...]]
    where: Mapping[str, Condition] | None = None

    @property
    def proper(self) -> bool:
        """Whether copies differ by the posterior of the parameters in every column."""
        return all(self.methods[name].proper for name in self.order)


def conditions_of(partial: object, columns: Sequence[str] | None, names: Sequence[str]) -> dict[str, Condition] | None:
    """Return in which rows each column is to be drawn anew; None if the whole table is.

    `partial` is one condition or several, for the columns that they name or for `columns`; or one for each column.
    """
    if partial is None:
        return None
    if isinstance(partial, Mapping):
        _require_known(partial, names, "partial")
        return {name: Condition.parse(text, names) for name, text in partial.items()}
    texts = [partial] if isinstance(partial, str) else list(partial) if isinstance(partial, Sequence) else None
    if not texts:
        raise ParameterError("'partial' takes a condition such as \"income > 70000\", several, or one for each column.")
    read = [Condition.parse(text, names) for text in texts]
    if columns is not None:
        _require_known(columns, names, "columns")
        together = Condition.parse(" OR ".join(f"({each.text})" for each in read), names)
        return dict.fromkeys(columns, together)
    named = list(dict.fromkeys(name for each in read for name in each.columns))
    return {
        name: Condition.parse(" OR ".join(f"({each.text})" for each in read if name in each.columns), names)
        for name in named
    }


def plan_columns(
    encodings: Mapping[str, ColumnCoding],
    method: object,
    methods: Mapping[str, object],
    order: str | Sequence[str],
    predictors: Mapping[str, Sequence[str]],
    known: Sequence[str] = (),
    where: Mapping[str, Condition] | None = None,
) -> ColumnPlan:
    """Decide; ParameterError or DataError says what does not fit."""
    names = tuple(encodings)
    for part, what in ((methods, "methods"), (predictors, "predictors"), (known, "known")):
        _require_known(part, names, what)
    targets = [name for name in names if (where is None and name not in known) or (where is not None and name in where)]
    drawn = _order(order, targets, encodings)
    chosen = {name: method_of(methods.get(name, method)) for name in drawn}
    for name in drawn:
        _check_size(encodings[name], chosen[name])
    if where is not None:
        given = {name: tuple(each for each in names if each != name) for name in drawn}
    else:
        given = {name: (*known, *drawn[:place]) for place, name in enumerate(drawn)}
    for name, wanted in predictors.items():
        if name in given:
            given[name] = _predictors(name, wanted, given[name], names)
    return ColumnPlan(drawn, chosen, given, where)


def _order(order: str | Sequence[str], targets: list[str], encodings: Mapping[str, ColumnCoding]) -> tuple[str, ...]:
    if order == "table":
        return tuple(targets)
    if order == "fewest-first":
        return tuple(sorted(targets, key=lambda name: _rank(encodings[name])))
    if isinstance(order, str):
        raise ParameterError(f"The order is a list of columns, or one of {', '.join(ORDERS)}.")
    _require_known(order, list(encodings), "order")
    if len(set(order)) != len(order) or set(order) - set(targets):
        raise ParameterError("The order may name each column that is synthesised once, and no other.")
    return (*order, *(name for name in targets if name not in order))


def _rank(made: ColumnCoding) -> float:
    """When a column is drawn: numbers last, and categories of many values before all others.

    Of a category that few rows hold, the rows that hold it would be told by what was drawn before it.
    """
    if made.numeric:
        return math.inf
    return 0 if made.size > _MANY else made.size


def _predictors(name: str, wanted: Sequence[str], before: tuple[str, ...], names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(wanted, str):
        raise ParameterError(f"Give the predictors of {name!r} as a list of columns.")
    _require_known(wanted, names, "predictors")
    late = [each for each in wanted if each not in before]
    if late:
        raise ParameterError(
            f"Column {late[0]!r} cannot predict {name!r}, because it is not drawn before it; change the order."
        )
    return tuple(each for each in before if each in set(wanted))


def _check_size(made: ColumnCoding, method: Method) -> None:
    if not made.numeric and made.size > MOST_CATEGORIES and name_of(method) != "sample":
        raise DataError(
            f"Column {made.name!r} has {made.size:,} categories, too many to learn what goes with them; "
            f"group them (at most {MOST_CATEGORIES:,}), give this column the method 'sample', or leave it out."
        )


def _require_known(given: object, names: Sequence[str], what: str) -> None:
    if isinstance(given, str):
        raise ParameterError(f"'{what}' takes a list of columns, not one text.")
    for name in given if isinstance(given, Sequence | Mapping) else ():
        if name not in names:
            raise ParameterError(f"'{what}' names {name!r}, which is no column that can be synthesised.")
