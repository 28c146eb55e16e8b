"""Drawing rows from what was learned, column by column, so that every rule holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.data.coded import CodedColumn
from ziggurat.data.engines import Engine
from ziggurat.errors import DataError
from ziggurat.synthesize._encoding import ColumnCoding
from ziggurat.synthesize.columns._learning import LearnedColumn
from ziggurat.synthesize.columns._rules import RowRule, set_where

Places = npt.NDArray[np.int64]

_TRIES = 15  # of one column
_ROUNDS = 10  # of a whole row


@dataclass(frozen=True)
class LearnedTable:
    """All that was learned of a table.

    Parameters
    ----------
    encodings
        Of every column, drawn or given.
    learned
        The columns that are drawn, in their order.
    rules
        What every row keeps.
    """

    encodings: Mapping[str, ColumnCoding]
    learned: Mapping[str, LearnedColumn]
    rules: tuple[RowRule, ...] = ()

    def posterior(self, draw: np.random.Generator) -> LearnedTable:
        """Return the model with the parameters of one copy."""
        return replace(self, learned={name: each.posterior(draw) for name, each in self.learned.items()})

    def rows(
        self,
        count: int,
        known: Mapping[str, CodedColumn],
        draw: np.random.Generator,
        engine: Engine | None,
        where: Mapping[str, npt.NDArray[np.bool_]] | None = None,
    ) -> dict[str, CodedColumn]:
        """Draw `count` rows.

        Parameters
        ----------
        count
            How many rows.
        known
            The columns that are not drawn, or, given `where`, all columns.
        draw
            Where random numbers come from.
        engine
            Where rules are asked about.
        where
            Which rows of each column to draw; by default all.
        """
        drawn = {name: _own(each) if name in self.learned else each for name, each in known.items()}
        left = np.arange(count) if where is None else np.flatnonzero(np.logical_or.reduce(list(where.values())))
        for _ in range(_ROUNDS):
            for name in self.learned:
                places = left if where is None else left[where[name][left]]
                self._column(name, places, count, drawn, draw, engine)
            if not self.rules:
                return drawn
            left = left[self._broken(self.rules, left, drawn, engine)]
            if not left.size:
                return drawn
        broken = self._most_broken(left, drawn, engine)
        raise DataError(
            f"The rule {broken!r} still fails in {left.size:,} of {count:,} rows after {_ROUNDS} attempts; let the "
            "columns that it is about predict each other, or use the method 'cart'."
        )

    def table(self, drawn: Mapping[str, CodedColumn], names: tuple[str, ...]) -> pa.Table:
        """Return drawn columns as a table."""
        cells = {name: self.encodings[name].decode(drawn[name].codes, drawn[name].values) for name in names}
        return pa.table(cells)

    def _column(
        self,
        name: str,
        places: Places,
        count: int,
        drawn: dict[str, CodedColumn],
        draw: np.random.Generator,
        engine: Engine | None,
    ) -> None:
        """Draw one column in some rows, again where a rule that it completes does not hold."""
        learned, made = self.learned[name], self.encodings[name]
        if name not in drawn:
            values = np.full(count, np.nan) if made.numeric else None
            drawn[name] = CodedColumn(np.zeros(count, np.int32), made.size, values, made.ordered)
        closing = [rule for rule in self.rules if name in rule.columns and rule.columns <= drawn.keys()]
        for _ in range(_TRIES if closing else 1):
            if not places.size:
                return
            found = learned.sample([drawn[each].take(places) for each in learned.given], places.size, draw)
            _put(drawn[name], places, found)
            for rule in closing:
                self._set(rule, name, places, drawn, engine)
            places = places[self._broken(closing, places, drawn, engine)] if closing else places[:0]

    def _set(
        self, rule: RowRule, name: str, places: Places, drawn: dict[str, CodedColumn], engine: Engine | None
    ) -> None:
        fixed = rule.sets
        if fixed is None or fixed[0] != name or rule.when is None:
            return
        applies = rule.applies(self._seen(rule.when.columns, places, drawn), engine)
        there = drawn[name].take(places)
        codes, values = set_where(rule, self.encodings[name], applies, there.codes, there.values)
        _put(drawn[name], places, replace(there, codes=codes, values=values))

    def _broken(
        self,
        rules: list[RowRule] | tuple[RowRule, ...],
        places: Places,
        drawn: dict[str, CodedColumn],
        engine: Engine | None,
    ) -> npt.NDArray[np.bool_]:
        wrong = np.zeros(places.size, np.bool_)
        for rule in rules:
            wrong |= rule.broken(self._seen(sorted(rule.columns), places, drawn), engine)
        return wrong

    def _most_broken(self, places: Places, drawn: dict[str, CodedColumn], engine: Engine | None) -> str:
        return max(self.rules, key=lambda rule: int(self._broken((rule,), places, drawn, engine).sum())).text

    def _seen(self, names: tuple[str, ...] | list[str], places: Places, drawn: dict[str, CodedColumn]) -> pa.Table:
        cells = {name: drawn[name].take(places) for name in names}
        return pa.table({name: self.encodings[name].decode(each.codes, each.values) for name, each in cells.items()})


def _own(cells: CodedColumn) -> CodedColumn:
    return replace(cells, codes=cells.codes.copy(), values=None if cells.values is None else cells.values.copy())


def _put(cells: CodedColumn, places: Places, found: CodedColumn) -> None:
    cells.codes[places] = found.codes
    if cells.values is not None and found.values is not None:
        cells.values[places] = found.values
