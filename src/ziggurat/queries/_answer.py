"""What may leave: noisy values with their intervals, what they promise, and how they came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ziggurat.cards import Badge, Card
from ziggurat.errors import ParameterError
from ziggurat.frames import make_duckdb, make_pandas, make_polars, make_spark
from ziggurat.privacy import Amount, ApproximateDP, Event, PureDP, compose, event_from_dict, exact, exact_delta
from ziggurat.queries._value import Constant
from ziggurat.wording import count_noun, nearest, printable

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

_MOST_LINES = 20

Cell = Constant | list[Constant] | None


@dataclass(frozen=True)
class Estimate:
    """One noisy value and the interval that holds the true one with the answer's confidence.

    Against noise that is proven. Where rows are left out or cells moved to their bounds, the interval of an answer
    without groups is stretched by an estimate of that; that of a group is about the rows that count. `low` and `high`
    are None where an interval means nothing, as for the most frequent category.

    The value always lies in its interval. It is left as the noise made it, so that values that are added up are not
    too large on average: a count may be below 0, and then the interval, which else ends at 0, reaches down to it.
    """

    value: Cell
    low: int | float | date | None = None
    high: int | float | date | None = None

    def __post_init__(self) -> None:
        value: Any = self.value
        if self.low is not None and self.high is not None and value is not None:
            object.__setattr__(self, "low", min(self.low, value))
            object.__setattr__(self, "high", max(self.high, value))


@dataclass(frozen=True)
class Effect:
    """An estimate, itself private and paid for, of an error that is not noise.

    Attributes
    ----------
    kind
        "clipping" (cells outside their bounds), "rows-left-out" (more rows or groups of one unit than count),
        "groups-not-shown" (groups below the threshold).
    about
        The column or the rows in question.
    estimate, low, high
        How many units or rows are affected, with an interval for the noise in this number.
    sentence
        The same in words, for people.
    """

    kind: str
    about: str
    estimate: float
    low: float
    high: float
    sentence: str


@dataclass(frozen=True)
class Answer:
    """A noisy answer, complete enough to be published and to be replayed.

    Attributes
    ----------
    question
        The canonical SQL of the question.
    keys, aggregates
        The names of the columns that tell groups apart, and of what was computed.
    groups
        The key values of every group, in the order of `estimates`; one empty tuple if there are no keys.
    estimates
        For every aggregate its estimates, one for each group.
    confidence
        With which probability one interval holds its true value.
    event, origin
        What was done to the data, and whether the noise was fit for a release ("secure") or a rehearsal ("seeded").
    effects
        Estimates of the errors that are not noise.
    notes
        Sentences that whoever reads the answer should know.
    statements
        The SQL that ran, in the engine's dialect.
    columns
        The order of the columns in tables, as asked.
    delta
        The delta at which the promise is stated; 0 for a pure one.
    replayed
        Whether this is an earlier answer given again, at no cost.
    """

    question: str
    keys: tuple[str, ...]
    aggregates: tuple[str, ...]
    groups: tuple[tuple[Constant, ...], ...]
    estimates: Mapping[str, tuple[Estimate, ...]]
    confidence: Fraction
    event: Event
    origin: str
    effects: tuple[Effect, ...] = ()
    notes: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    delta: Fraction = Fraction(0)
    replayed: bool = False

    @property
    def rehearsal(self) -> bool:
        """Whether seeded randomness was used, so that the answer must not be published."""
        return self.origin != "secure"

    @property
    def value(self) -> Cell:
        """The one number, if one aggregate of one group was asked for."""
        return self._single().value

    @property
    def interval(self) -> tuple[Any, Any]:
        """The interval around the one number, if one aggregate of one group was asked for."""
        return self._single().low, self._single().high

    def guarantee(self, delta: Amount | None = None) -> PureDP | ApproximateDP:
        """The tightest proven promise of this answer alone, at the answer's own delta or at another."""
        account, allowed = compose(self.event), self.delta if delta is None else exact_delta(delta)
        return account.approximate(allowed) if allowed else account.pure()

    def __getitem__(self, name: str) -> list[Cell]:
        """The noisy values of one column."""
        if name in self.keys:
            return [group[self.keys.index(name)] for group in self.groups]
        if name not in self.estimates:
            raise ParameterError(f"The answer has no column {name!r}; it has {', '.join(self._order())}.")
        return [each.value for each in self.estimates[name]]

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.groups)

    def again(self) -> Answer:
        """The same answer, marked as given before."""
        return replace(self, replayed=True)

    def to_arrow(self, intervals: bool = True) -> pa.Table:
        """The answer as an Arrow table: keys, then for every aggregate its value, low and high."""
        import pyarrow as pa

        return pa.table(self._plain(intervals))

    def to_pandas(self, intervals: bool = True) -> Any:
        """The answer as a pandas frame."""
        return make_pandas(self.to_arrow(intervals))

    def to_polars(self, intervals: bool = True) -> pl.DataFrame:
        """The answer as a Polars frame."""
        return make_polars(self.to_arrow(intervals))

    def to_duckdb(self, connection: Any = None, intervals: bool = True) -> Any:
        """The answer as a relation of a DuckDB connection, by default of DuckDB's own."""
        return make_duckdb(self.to_arrow(intervals), connection)

    def to_spark(self, session: Any, intervals: bool = True) -> Any:
        """The answer as a frame of a Spark session."""
        return make_spark(self.to_arrow(intervals), session)

    def plot(self, name: str = "", ax: Axes | None = None) -> Any:
        """Draw the values with their intervals, and give the Axes of matplotlib, or a list where there are several.

        Groups are bars, lines where their key is in time; a single number is a point. A rehearsal is marked.

        Parameters
        ----------
        name
            Which aggregate; by default each in a panel of its own.
        ax
            Where to draw one aggregate; by default a new figure.
        """
        from ziggurat.plots import PlottedColumn, plot_columns

        if name and name not in self.estimates:
            raise ParameterError(f"The answer has no aggregate {name!r}; {nearest(name, self.aggregates)}")
        wanted = [name] if name else list(self.aggregates)
        parts = {each: [(one.value, one.low, one.high) for one in self.estimates[each]] for each in wanted}
        ends: dict[str, Any] = {each: list(zip(*parts[each], strict=True)) or [(), (), ()] for each in wanted}
        columns = [PlottedColumn(each, self.keys, self.groups, *ends[each]) for each in wanted]
        return plot_columns(columns, self.question, float(self.confidence), self.rehearsal, ax)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, from which `from_dict` makes the same answer."""
        return {
            "question": self.question,
            "keys": list(self.keys),
            "aggregates": list(self.aggregates),
            "groups": [[_json(value) for value in group] for group in self.groups],
            "estimates": {
                name: [[_json(each.value), _json(each.low), _json(each.high)] for each in column]
                for name, column in self.estimates.items()
            },
            "confidence": str(self.confidence),
            "event": self.event.to_dict(),
            "origin": self.origin,
            "effects": [
                [each.kind, each.about, each.estimate, each.low, each.high, each.sentence] for each in self.effects
            ],
            "notes": list(self.notes),
            "statements": list(self.statements),
            "columns": list(self.columns),
            "delta": str(self.delta),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Answer:
        """Read the JSON form."""
        return cls(
            question=data["question"],
            keys=tuple(data["keys"]),
            aggregates=tuple(data["aggregates"]),
            groups=tuple(tuple(_parse(value) for value in group) for group in data["groups"]),
            estimates={
                name: tuple(Estimate(*(_parse(part) for part in each)) for each in column)
                for name, column in data["estimates"].items()
            },
            confidence=exact(data["confidence"], "confidence"),
            event=event_from_dict(data["event"]),
            origin=data["origin"],
            effects=tuple(Effect(*each) for each in data["effects"]),
            notes=tuple(data["notes"]),
            statements=tuple(data["statements"]),
            columns=tuple(data["columns"]),
            delta=exact_delta(data["delta"]),
        )

    def __repr__(self) -> str:
        """The table as `print` shows it: what one wants to see at a prompt."""
        mark = " (rehearsal)" if self.rehearsal else ""
        names = ", ".join(map(printable, self.aggregates))
        return f"<Answer{mark}: {count_noun(len(self.groups), 'group')}, {names}>\n{self._write(_MOST_LINES)}"

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        names = self._order()
        rows = [[_show(self, name, place) for name in names] for place in range(len(self))]
        sure = f"Intervals hold the exact value with {float(self.confidence):.0%} confidence, as far as noise goes."
        bracketed = any(each.low is not None for column in self.estimates.values() for each in column)
        badge: Badge = "rehearsal" if self.rehearsal else "public"
        return Card("Answer", "", (), badge, names, rows, sure if bracketed else "").write_html()

    def __str__(self) -> str:
        """A table for people, with the interval of every value in brackets."""
        return self._write(len(self))

    def _write(self, most: int) -> str:
        names = self._order()
        rows = [[_show(self, name, place) for name in names] for place in range(min(most, len(self)))]
        names = tuple(map(printable, names))
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
                 for row in [list(names), *rows]]  # fmt: skip
        rest = len(self) - len(rows)
        return "\n".join([*lines, *([f"... and {count_noun(rest, 'more group')}"] if rest else [])])

    def _single(self) -> Estimate:
        if len(self.aggregates) != 1 or len(self.groups) != 1:
            raise ParameterError("The answer holds several numbers; take one column with answer['name'].")
        return self.estimates[self.aggregates[0]][0]

    def _order(self) -> tuple[str, ...]:
        return self.columns or (*self.keys, *self.aggregates)

    def _plain(self, intervals: bool) -> dict[str, list[Any]]:
        plain: dict[str, list[Any]] = {}
        for name in self._order():
            plain[name] = self[name]
            if intervals and name in self.estimates and any(each.low is not None for each in self.estimates[name]):
                plain[f"{name}_low"] = [each.low for each in self.estimates[name]]
                plain[f"{name}_high"] = [each.high for each in self.estimates[name]]
        return plain


def _json(value: Any) -> Any:
    """Dates are marked, so that they can be told from text."""
    if isinstance(value, list):
        return [_json(each) for each in value]
    return {"date": value.isoformat()} if isinstance(value, date) else value


def _parse(value: Any) -> Any:
    if isinstance(value, list):
        return [_parse(each) for each in value]
    return date.fromisoformat(value["date"]) if isinstance(value, dict) else value


def _show(answer: Answer, name: str, place: int) -> str:
    if name in answer.keys:
        return printable(str(answer.groups[place][answer.keys.index(name)]))
    estimate = answer.estimates[name][place]
    shown = in_figures(estimate.value)
    if estimate.low is None or estimate.high is None:
        return shown
    return f"{shown} [{in_figures(estimate.low)}, {in_figures(estimate.high)}]"


def in_figures(value: Cell) -> str:
    """A value for people: thousands marked, reals to six figures, lists with commas."""
    if isinstance(value, list):
        return ", ".join(in_figures(each) for each in value)
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"
    return printable(str(value))
