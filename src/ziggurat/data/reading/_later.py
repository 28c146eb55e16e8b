"""A file of which only the schema is known until it is needed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._conversion import Conversion
from ziggurat.data._preview import TablePreview
from ziggurat.data._table import Table, _visible
from ziggurat.data._validation import Problem
from ziggurat.data.engines import DuckDBEngine, SparkEngine
from ziggurat.data.expressions import reference
from ziggurat.data.schema import Column, Schema


class LaterTable(Table):
    """A table that is planned with by its schema alone, and opened and checked whole when it is first made `ready`.

    So a question about it is parsed and planned once, and nothing is read of a file unless the question fits what is
    left. Queries see a view of its name in the engine, which is there once the file is.

    Parameters
    ----------
    engine
        Where the file will be held.
    schema
        What is publicly known of it.
    opened
        Opens it in that engine.
    """

    def __init__(self, engine: DuckDBEngine | SparkEngine, schema: Schema, opened: Callable[[], Table]) -> None:
        self._engine, self._place, self._declared, self._opened = engine, engine, schema, opened
        self._name = engine.name_for_later()
        self._relation = exp.table_(self._name, quoted=True)
        self._conversions = {each.name: Conversion(each, reference(each)) for each in schema.columns}
        self._visible, self._left_out, self._lenient = _visible(schema), (), False
        self._types, self._notes, self._reasons = {}, (), {}
        self._held: Table | None = None
        self._opening = Lock()

    def ready(self) -> None:
        """Open the file and check it whole, the first time; then make sure that it is still the same.

        Of several threads one opens it, and the others wait.
        """
        with self._opening:
            if self._held is None:
                held = self._opened()
                self._place.show(self._name, held._view(self.schema.names))
                self._left_out, self._lenient, self._notes = held.left_out, held.lenient, held.notes
                self._held = held
        self._held.ready()

    def relation(self, names: Iterable[str], keys: Iterable[str] = ()) -> exp.Subquery:
        """As the file holds them, once it is open; keys are not in the view."""
        return self._held.relation(names, keys) if keys and self._held is not None else super().relation(names, keys)

    def select_held(self, names: Sequence[str]) -> exp.Select:
        """As the file holds them, once it is open."""
        return super().select_held(names) if self._held is None else self._held.select_held(names)

    def at_hand(self, names: Sequence[str]) -> pa.Table | None:
        """As the file gives them, once it is open."""
        return None if self._held is None else self._held.at_hand(names)

    def tally(
        self, columns: Sequence[Column], ask: Callable[[Column], Mapping[str, exp.Expr]], unreadable: bool = False
    ) -> Any:
        """As the file gives them; it is opened if it is not."""
        return self._open().tally(columns, ask, unreadable)

    def preview(self) -> TablePreview:
        """Of every column of the file, also of those that no query sees; it is opened if it is not."""
        return self._open().preview()

    def validate(self, places: int = 0) -> list[Problem]:
        """What contradicts the schema in the file; it is opened if it is not."""
        return self._open().validate(places)

    def unreadable(self) -> dict[str, int]:
        """As the file has them; it is opened if it is not."""
        return self._open().unreadable()

    def unreadable_cells(self, name: str, limit: int = 1_000) -> set[str]:
        """As the file has them; it is opened if it is not."""
        return self._open().unreadable_cells(name, limit)

    def _open(self) -> Table:
        self.ready()
        assert self._held is not None
        return self._held
