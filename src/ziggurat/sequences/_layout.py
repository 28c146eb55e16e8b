"""Where sequences stand in a table, and what its schema says of them."""

from __future__ import annotations

from dataclasses import dataclass

from ziggurat.data import Column, Kind, Schema
from ziggurat.errors import ParameterError, SchemaError
from ziggurat.privacy import whole_number
from ziggurat.sequences._domain import SequenceDomain, Token

_MOST_CLASSES = 1000


@dataclass(frozen=True)
class SequenceLayout:
    """Where sequences stand in a table.

    Wide: one row is one sequence, in a text or list column that the schema declares with `sequence:`; a missing cell is
    an empty sequence. Long: one row is one symbol; rows of the same owner with the same value of `sequence` belong
    together, and one without any known symbol is empty.

    Parameters
    ----------
    sequence
        Wide: the column with the sequences. Long: the column that tells sequences apart.
    token, order
        Long: the column of the symbols, a category; and the number, date or time that puts them in order. Symbols at
        the same place follow the order of the categories; those without a place come last.
    label
        The column of the class, if sequences have one: a category, a truth value, or a whole number with bounds. In a
        long table the first row in order that has a class decides, whatever other rows say; of several at one place
        the first class.
    longest
        How many symbols of a sequence count. Wide: by default what the schema says. Long: always stated.

    Examples
    --------
    >>> SequenceLayout("seq").is_wide, SequenceLayout("block", token="event", order="at", longest=50).is_wide
    (True, False)
    """

    sequence: str
    token: str | None = None
    order: str | None = None
    label: str | None = None
    longest: int | None = None

    def __post_init__(self) -> None:
        if (self.token is None) is not (self.order is None):
            raise ParameterError("A long table needs both the column of the symbols (token) and their order.")
        if self.longest is not None:
            whole_number(self.longest, "longest")
        if self.longest is None and not self.is_wide:
            raise ParameterError(
                "State longest=..., how many symbols of a sequence count; in a long table no row says."
            )

    @property
    def is_wide(self) -> bool:
        """Whether one row is one sequence."""
        return self.token is None

    @classmethod
    def of(cls, schema: Schema, label: str | None = None, longest: int | None = None) -> SequenceLayout:
        """The layout of a wide table, whose schema declares one column of sequences."""
        found = [column.name for column in schema.columns if column.sequence is not None]
        if len(found) != 1:
            which = "no column" if not found else "several columns"
            raise SchemaError(
                f"The schema declares {which} of sequences; declare one ('sequence: {{tokens: [...], longest: 50}}'), "
                "or say where they stand with a SequenceLayout."
            )
        return cls(found[0], label=label, longest=longest)


def domain_of(schema: Schema, layout: SequenceLayout | None = None) -> SequenceDomain:
    """Return what is publicly known of the sequences of a table, from its schema alone; no row is read.

    Raises
    ------
    NotPublicError
        The tokens or the classes are not declared as public.
    SchemaError
        A column is not there or of another kind, or the unit of a long table is one row.
    """
    where = layout or SequenceLayout.of(schema)
    classes = () if where.label is None else classes_of(schema[where.label])
    if where.token is None:
        symbols = schema[where.sequence].public_symbols()
        return SequenceDomain(symbols.tokens, where.longest or symbols.longest, classes, schema.unit)
    _require_long(schema, where)
    return SequenceDomain(schema[where.token].public_categories().values, where.longest or 1, classes, schema.unit)


def classes_of(column: Column) -> tuple[Token, ...]:
    """The public classes that a column holds."""
    if column.kind is not Kind.INTEGER:
        return column.public_categories().values
    bounds = column.public_bounds()
    if int(bounds.upper) - int(bounds.lower) >= _MOST_CLASSES:  # type: ignore[arg-type]  # whole numbers, by the kind
        raise SchemaError(f"Column {column.name!r} has too many values for classes; declare its categories.")
    return tuple(range(int(bounds.lower), int(bounds.upper) + 1))  # type: ignore[arg-type]


def _require_long(schema: Schema, layout: SequenceLayout) -> None:
    if schema.unit.is_row:
        raise SchemaError(
            "In a long table a row is one symbol, and a promise about rows would hide no sequence; declare the unit, "
            f"such as 'unit: {{sequence: {layout.sequence}}}', or whoever owns the sequences."
        )
    order = schema[layout.order or ""]
    if order.kind in (Kind.CATEGORY, Kind.BOOLEAN):
        raise SchemaError(f"Column {order.name!r} is {order.kind}; order symbols by a number, a date or a time.")
    schema[layout.sequence]
