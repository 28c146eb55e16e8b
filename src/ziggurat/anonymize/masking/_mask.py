"""Mask the columns of a table, each by its own techniques, and keep a record of all of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from sqlglot import exp

from ziggurat.anonymize.masking._identifiers import Drop
from ziggurat.anonymize.masking._technique import MaskRecord, Tally, Technique, check_source, plain_columns
from ziggurat.anonymize.masking._tokens import Tokens
from ziggurat.anonymize.masking.choices import Keep
from ziggurat.cards import Badge, Card, Shown, name_some
from ziggurat.data import Role, Table
from ziggurat.data.expressions import null_if_missing
from ziggurat.data.free_text import free_text_in, is_free_text, refuse_free_text
from ziggurat.data.reading import arrow_table, check_names
from ziggurat.data.writing import write_table
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import write_text
from ziggurat.frames import GivenAsFrame
from ziggurat.randomness import Source
from ziggurat.wording import nearest

Key = str | tuple[str, ...]
Plan = Mapping[Key, Technique | Sequence[Technique]]

_RECORD_SUFFIX = ".mask.json"


@dataclass(frozen=True)
class _MaskStep:
    """One technique for one column, or for several together."""

    columns: tuple[str, ...]
    technique: Technique


@dataclass(frozen=True)
class MaskedTable(Shown, GivenAsFrame):
    """A masked table, the record of every technique, and the columns that none of them touched.

    It promises no differential privacy: whatever else is known about the people in it may still single them out, and
    columns in `untouched` leave exactly as they came. Those in `free_text` were dropped because nobody named them.
    """

    table: pa.Table
    records: tuple[MaskRecord, ...]
    untouched: tuple[str, ...]
    vaults: tuple[Path, ...] = ()
    free_text: tuple[str, ...] = ()

    @property
    def rehearsal(self) -> bool:
        """Whether anything in it was drawn with a seed; then it must not be published."""
        return any(record.rehearsal for record in self.records)

    def _card(self) -> Card:
        said = f"{self.table.num_rows:,} rows, masked in {len(self.records)} steps"
        left = f"; untouched: {name_some(self.untouched)}" if self.untouched else ""
        badge: Badge = "rehearsal" if self.rehearsal else "private"
        return Card("MaskedTable", said + left, badge=badge)

    def to_dict(self) -> dict[str, Any]:
        """Give in JSON what was done; no cell of the table is in it, save what a technique says it learned."""
        done = describe(self.table.num_rows, self.records, self.untouched)
        return {**done, **({"free_text": list(self.free_text)} if self.free_text else {})}

    def require_apart(self, path: str | Path) -> None:
        """Raise `ParameterError` if a file there would lie beside the vault of a technique."""
        target = Path(path)
        if any(vault.resolve().parent == target.resolve().parent for vault in self.vaults):
            raise ParameterError(f"Write {str(target)!r} to another folder: this one holds the vault of its tokens.")

    def to_arrow(self) -> pa.Table:
        """Give the masked rows."""
        return self.table

    def write(self, path: str | Path) -> None:
        """Write the table alone (.parquet, .csv, .xlsx or another of `TABLE_ENDINGS`)."""
        _write(self.table, Path(path))

    def save(self, path: str | Path) -> None:
        """Write the table and beside it, as NAME.mask.json, what was done.

        A folder that holds the vault of a technique is refused: a folder is easily published whole.
        """
        self.require_apart(path)
        target = Path(path)
        self.write(target)
        write_text(target.with_name(target.name + _RECORD_SUFFIX), json.dumps(self.to_dict(), indent=2) + "\n")


class MaskedBatches:
    """Batches of a masked table, made one at a time; `records` are complete once all were taken.

    Iterate once. `schema` is known from the start, so that a writer can be opened with it.
    """

    def __init__(
        self, batches: Iterable[pa.RecordBatch], given: pa.Schema, steps: list[_MaskStep], source: Source
    ) -> None:
        self._batches, self._given, self._steps, self._source = batches, given, steps, source
        self._tallies = [Tally() for _ in steps]
        self._rows, self._state = 0, "new"
        self.schema: pa.Schema = _run_steps(given.empty_table(), steps, source)[0].schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._state != "new":
            raise DataError("These batches were taken already; mask the table again.")
        self._state = "begun"
        for batch in self._batches:
            if batch.schema.names != self._given.names:
                raise DataError("The batches differ in their columns; give every batch the same.")
            self._refuse_free_text(batch)
            yield from self._mask_batch(pa.Table.from_batches([batch])).to_batches()
        self._state = "done"

    @property
    def records(self) -> tuple[MaskRecord, ...]:
        """What was done to all batches; DataError as long as some were not taken."""
        if self._state != "done":
            raise DataError("The records are complete only once every batch was taken.")
        made = zip(self._steps, self._tallies, strict=True)
        return tuple(step.technique.record(step.columns, tally, self._source) for step, tally in made)

    @property
    def rehearsal(self) -> bool:
        """Whether anything is drawn with a seed; then it must not be published."""
        return not self._source.secure and any(step.technique.random for step in self._steps)

    def to_dict(self) -> dict[str, Any]:
        """Give in JSON what was done to all batches."""
        return describe(self._rows, self.records, _find_untouched(self._given.names, self._steps))

    def _refuse_free_text(self, batch: pa.RecordBatch) -> None:
        for name in _find_untouched(self._given.names, self._steps):
            if is_free_text(pa.chunked_array([batch.column(name)])):
                raise DataError(refuse_free_text(name))

    def _mask_batch(self, table: pa.Table) -> pa.Table:
        after, tallies = _run_steps(table, self._steps, self._source)
        self._tallies = [old + new for old, new in zip(self._tallies, tallies, strict=True)]
        self._rows += after.num_rows
        return after.cast(self.schema)


def mask(table: Any, techniques: Plan, *, source: Source | None = None) -> MaskedTable:
    """Mask the columns of a table, in the order given; columns that are not named leave as they are, save free text.

    A column that holds free text (`data.free_text`) and is not named is dropped; `Keep` lets it leave. This promises no
    differential privacy and leaves no event: it removes or blurs what is named, and says so.

    Parameters
    ----------
    table
        A `Table` (its rows are read through its engine, identifiers too), an Arrow table, or a frame.
    techniques
        For each column, or tuple of columns that a technique should see together, a technique or several in turn,
        such as `{"name": Drop(), "income": [TopCode(200_000), Round(1000)], ("height", "weight"): Microaggregate(5)}`.
    source
        The randomness; secure unless a rehearsal passes its own.
    """
    drawn_from = check_source(source)
    read = rows_of(table)
    steps = _steps(techniques, read.column_names)
    written = _find_free_text(table, read, _find_untouched(read.column_names, steps))
    steps += [_MaskStep((name,), Drop()) for name in written]
    after, tallies = _run_steps(read, steps, drawn_from)
    made = zip(steps, tallies, strict=True)
    records = tuple(step.technique.record(step.columns, tally, drawn_from) for step, tally in made)
    return MaskedTable(after, records, _find_untouched(read.column_names, steps), _vaults(steps), written)


def require_named(table: Table, masked: MaskedTable) -> None:
    """Raise `ParameterError` if a column that tells people apart would leave as it is."""
    kept = [name for record in masked.records if record.technique == Keep.name for name in record.columns]
    for column in table.declared.columns:
        tells = column.role is Role.IDENTIFIER or column.name == table.unit.column
        if tells and column.name in (*masked.untouched, *kept):
            raise ParameterError(
                f"Column {column.name!r} tells people apart and would leave as it is; say what to do with it in the "
                f"plan, for instance drop, or drop it with --drop {column.name}."
            )


def mask_batches(batches: Any, techniques: Plan, *, source: Source | None = None) -> MaskedBatches:
    """Mask a table batch by batch, in memory for one batch, with techniques that look at one row at a time.

    Parameters
    ----------
    batches
        A `pyarrow.RecordBatchReader` (a Parquet file, a dataset or a query gives one), or an Arrow table.
    techniques
        As in `mask`; a technique that needs the whole table (a quantile, groups, ranks) is refused by name.
    source
        The randomness; secure unless a rehearsal passes its own.
    """
    reader = batches.to_reader() if isinstance(batches, pa.Table) else batches
    if not isinstance(reader, pa.RecordBatchReader):
        raise DataError("Batches come from a pyarrow.RecordBatchReader or an Arrow table; mask() takes other tables.")
    check_names(reader.schema.names)
    steps = _steps(techniques, reader.schema.names)
    for step in steps:
        if not step.technique.row_wise:
            raise ParameterError(
                f"The technique {step.technique.name!r} for {_name_columns(step.columns)} must see the whole table; "
                "use mask(), or give it what it would learn."
            )
    return MaskedBatches(reader, reader.schema, steps, check_source(source))


def rows_of(table: Any) -> pa.Table:
    """Return the rows of a table, of a frame or of Arrow data; not private."""
    if isinstance(table, Table):
        return _rows_in_engine(table)
    if isinstance(table, pa.Table):
        check_names(table.column_names)
        return table
    return arrow_table(table)


def _rows_in_engine(table: Table) -> pa.Table:
    # Queries do not see identifiers, and here they are what is to be masked.
    columns = [null_if_missing(column) for column in table.declared.columns]
    return table.query(exp.select(*columns, copy=False).from_(table._view(table.declared.names), copy=False))


def _steps(techniques: Plan, names: Sequence[str]) -> list[_MaskStep]:
    if not isinstance(techniques, Mapping) or not techniques:
        raise ParameterError("Give for at least one column, by its name, how to mask it.")
    steps = []
    for key, given in techniques.items():
        columns = (key,) if isinstance(key, str) else tuple(key)
        for name in columns:
            if name not in names:
                raise DataError(f"The table has no column {name!r}; {nearest(name, names)}")
        if not columns or len(set(columns)) != len(columns):
            raise ParameterError("Name at least one column for a technique, and each once.")
        steps += [_MaskStep(columns, each) for each in _list_techniques(given, columns)]
    return steps


def _list_techniques(given: object, columns: tuple[str, ...]) -> list[Technique]:
    listed = list(given) if isinstance(given, Sequence) else [given]
    if not listed or not all(isinstance(each, Technique) for each in listed):
        raise ParameterError(f"Give for {_name_columns(columns)} a technique such as Drop(), or a list of them.")
    return cast(list[Technique], listed)


def _run_steps(table: pa.Table, steps: list[_MaskStep], source: Source) -> tuple[pa.Table, list[Tally]]:
    tallies = []
    for step in steps:
        table, tally = step.technique.mask(plain_columns(table, step.columns), step.columns, source)
        tallies.append(tally)
    return table, tallies


def _find_untouched(names: Iterable[str], steps: list[_MaskStep]) -> tuple[str, ...]:
    touched = {name for step in steps for name in step.columns}
    return tuple(name for name in names if name not in touched)


def _find_free_text(given: Any, rows: pa.Table, untouched: Sequence[str]) -> tuple[str, ...]:
    """The columns of free text that nobody named; a table's schema may say that they are categories."""
    if isinstance(given, Table):
        return free_text_in(given, [name for name in untouched if name in given.schema.names])
    return tuple(name for name in untouched if is_free_text(rows.column(name)))


def _vaults(steps: list[_MaskStep]) -> tuple[Path, ...]:
    used = [step.technique.vault.path for step in steps if isinstance(step.technique, Tokens)]
    return tuple(dict.fromkeys(used))


def describe(rows: int, records: Sequence[MaskRecord], untouched: Sequence[str]) -> dict[str, Any]:
    """Give in JSON what was done to a table."""
    return {
        "rows": rows,
        "techniques": [record.to_dict() for record in records],
        "untouched": list(untouched),
        "rehearsal": any(record.rehearsal for record in records),
        "promise": "unbounded",
    }


def _write(table: pa.Table, target: Path) -> None:
    # The footer of a Parquet file would otherwise keep what pandas knew of the columns before.
    write_table(table.replace_schema_metadata(None), target)


def _name_columns(columns: tuple[str, ...]) -> str:
    listed = ", ".join(repr(name) for name in columns)
    return f"column {listed}" if len(columns) == 1 else f"columns {listed}"
