"""The answer to a workload: every query's value and interval, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ziggurat.cards import Card, Shown, tabulate
from ziggurat.errors import ParameterError, UnknownEventError
from ziggurat.frames import GivenAsFrame
from ziggurat.privacy import Amount, ApproximateDP, Event, PureDP, compose, event_from_dict, exact, exact_delta
from ziggurat.queries.workloads._cells import Label
from ziggurat.queries.workloads._strategy import Floats
from ziggurat.wording import nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ziggurat.plots import PlottedColumn

_NUMBERS = ("value", "deviation", "low", "high")


@dataclass(frozen=True, eq=False)
class GroupAnswer(Shown, GivenAsFrame):
    """The answers to the queries of one shape, one for every combination of labels, the last column fastest.

    Attributes
    ----------
    name
        What was asked.
    labels
        For every column the cells or ranges that were asked for.
    value
        The noisy counts.
    deviation
        The exact standard deviation of each before any are raised to 0.
    low, high
        The interval of each.
    """

    name: str
    labels: Mapping[str, list[Label]]
    value: Floats
    deviation: Floats
    low: Floats
    high: Floats

    def _card(self) -> Card:
        return Card("GroupAnswer", f"{self.name}: {len(self.value):,} counts", **tabulate(self.to_arrow()))

    def to_arrow(self) -> pa.Table:
        """A column for every key, and value, deviation, low and high."""
        sizes = [len(each) for each in self.labels.values()]
        places = np.unravel_index(np.arange(len(self.value)), sizes) if sizes else ()
        keys = {
            name: pa.array(each).take(pa.array(place))
            for (name, each), place in zip(self.labels.items(), places, strict=True)
        }
        return pa.table({**keys, **{name: getattr(self, name) for name in _NUMBERS}})


@dataclass(frozen=True, eq=False)
class WorkloadAnswer(Shown, GivenAsFrame):
    """All answers of a workload, consistent with each other, and the facts of how they came about.

    Attributes
    ----------
    groups
        The answers, group by group as they were asked.
    event
        What to write in the ledger.
    origin
        "secure", or "seeded" for a rehearsal, which must never be published.
    confidence
        With which probability each interval holds its true value: the count of the rows that count.
    strategy
        What was measured, in words.
    biased
        Whether answers below 0 were raised to 0, so that sums of small answers are too large on average.
    sql
        The statements that ran, in the engine's dialect.
    replayed
        Whether this is an earlier answer given again, at no cost.
    """

    groups: tuple[GroupAnswer, ...]
    event: Event
    origin: str
    confidence: Fraction
    strategy: str
    biased: bool
    sql: tuple[str, ...]
    replayed: bool = False

    def _card(self) -> Card:
        count = sum(len(group.value) for group in self.groups)
        said = f"{count:,} counts in {len(self.groups)} groups, measured as {self.strategy}"
        rows = [(group.name, f"{len(group.value):,}") for group in self.groups]
        return Card("WorkloadAnswer", said, (), "rehearsal" if self.rehearsal else "public", ("group", "counts"), rows)

    def again(self) -> WorkloadAnswer:
        """The same answer, marked as given before."""
        return replace(self, replayed=True)

    def guarantee(self, delta: Amount = 0) -> PureDP | ApproximateDP:
        """The tightest proven promise of these answers alone, at `delta`."""
        allowed = exact_delta(delta)
        return compose(self.event).approximate(allowed) if allowed else compose(self.event).pure()

    @property
    def rehearsal(self) -> bool:
        """Whether seeded randomness was used, so that the answers must not be published."""
        return self.origin != "secure"

    def __getitem__(self, name: str) -> pa.Table:
        """The answers of one group by its name, such as "sex, education" or "age: all ranges"."""
        for group in self.groups:
            if group.name == name:
                return group.to_arrow()
        raise ParameterError(
            f"The answer has no group {name!r}; it has {', '.join(each.name for each in self.groups)}."
        )

    def marginal(self, *columns: str) -> pa.Table:
        """The answers of one marginal, its columns named in any order."""
        for group in self.groups:
            if group.name == ", ".join(group.labels) and sorted(group.labels) == sorted(columns):
                return group.to_arrow()
        raise ParameterError(f"The marginal of {', '.join(columns)} was not asked for; name one that was.")

    def to_arrow(self) -> pa.Table:
        """One row for every query: its group, its keys as text (NULL for columns it does not name), and its numbers."""
        names = list(dict.fromkeys(name for group in self.groups for name in group.labels))
        tables = []
        for group in self.groups:
            table = group.to_arrow()
            keys = {name: _text(table, name) for name in names}
            query = pa.array([group.name]).take(pa.array(np.zeros(table.num_rows, dtype=np.int64)))
            tables.append(pa.table({"query": query, **keys, **{name: table[name] for name in _NUMBERS}}))
        return pa.concat_tables(tables)

    def plot(self, name: str = "", ax: Axes | None = None) -> Any:
        """Draw the counts with their intervals, and give the Axes of matplotlib, or a list where there are several.

        Parameters
        ----------
        name
            Which group, such as "sex, education"; by default each in a panel of its own, the first six.
        ax
            Where to draw one group; by default a new figure.
        """
        from ziggurat.plots import plot_columns

        if name and name not in [each.name for each in self.groups]:
            raise ParameterError(f"The answer has no group {name!r}; {nearest(name, [e.name for e in self.groups])}")
        columns = [_plotted(each) for each in self.groups if name in ("", each.name)]
        return plot_columns(columns, "Counts that were asked together", float(self.confidence), self.rehearsal, ax)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, from which `from_dict` makes the same answer."""
        return {
            "kind": "workload-answer",
            "groups": [
                {
                    "name": group.name,
                    "labels": [[name, list(each)] for name, each in group.labels.items()],
                    **{name: getattr(group, name).tolist() for name in _NUMBERS},
                }
                for group in self.groups
            ],
            "event": self.event.to_dict(),
            "origin": self.origin,
            "confidence": str(self.confidence),
            "strategy": self.strategy,
            "biased": self.biased,
            "sql": list(self.sql),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> WorkloadAnswer:
        """Read the JSON form; anything else raises ParameterError."""
        try:
            return cls(
                groups=tuple(_group(each) for each in data["groups"]),
                event=event_from_dict(data["event"]),
                origin=str(data["origin"]),
                confidence=exact(data["confidence"], "confidence"),
                strategy=str(data["strategy"]),
                biased=bool(data["biased"]),
                sql=tuple(map(str, data["sql"])),
            )
        except (KeyError, TypeError, ValueError, AttributeError, UnknownEventError):
            raise ParameterError("This is not the JSON form of a workload's answer.") from None


def _group(data: Mapping[str, Any]) -> GroupAnswer:
    labels = {str(name): list(each) for name, each in data["labels"]}
    numbers = [np.array(data[name], dtype=np.float64) for name in _NUMBERS]
    if any(each.shape != (math.prod(map(len, labels.values())),) for each in numbers):
        raise ValueError
    return GroupAnswer(str(data["name"]), labels, *numbers)


def _plotted(group: GroupAnswer) -> PlottedColumn:
    from ziggurat.plots import PlottedColumn, cross_groups

    groups = cross_groups(list(group.labels.values()))
    numbers = [each.tolist() for each in (group.value, group.low, group.high)]
    return PlottedColumn("count", tuple(group.labels), groups, *numbers)


def _text(table: pa.Table, name: str) -> Any:
    if name not in table.column_names:
        return pa.nulls(table.num_rows, pa.string())
    return table[name].cast(pa.string())
