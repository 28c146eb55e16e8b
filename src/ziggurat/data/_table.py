"""A table: a relation in an engine, its schema and its privacy unit."""

from collections.abc import Iterable, Mapping
from typing import Literal

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._column import Column, Kind, Provenance, Role
from ziggurat.data._conversion import Conversion, conversion, kind_of
from ziggurat.data._expressions import count_where, reference
from ziggurat.data._nearest import nearest
from ziggurat.data._schema import Schema
from ziggurat.data._unit import Unit
from ziggurat.data._validation import Problem, checks_of, problems_from
from ziggurat.data.engines import Engine
from ziggurat.data.engines._base import table_named
from ziggurat.errors import DataError, ParameterError, SchemaError

OnBadCell = Literal["refuse", "missing"]


class Table:
    """A relation in an engine, seen through a schema.

    Queries see exactly the columns of `schema`, on every engine in the same types: integers as BIGINT, reals
    as DOUBLE, truth values as BOOLEAN, dates as DATE, text as text, categories as text or, if their codes are
    whole numbers, as BIGINT. Out of sight are columns that the schema does not declare, and columns whose
    role is identifier, unless the privacy unit needs them.

    Nothing here is private: whatever a query returns is raw until a mechanism has protected it.

    Parameters
    ----------
    engine
        Where the relation lives.
    relation
        Its name there, such as "patients" or "clinic.patients".
    schema
        What its columns are; by default their kinds as the engine tells them, without bounds or categories.
    on_bad_cell
        What to do if a cell cannot be read as its kind: "refuse" the table (with the count of such cells),
        or treat them as "missing".
    """

    def __init__(
        self, engine: Engine, relation: str, schema: Schema | None = None, *, on_bad_cell: OnBadCell = "refuse"
    ) -> None:
        if on_bad_cell not in ("refuse", "missing"):
            raise ParameterError("on_bad_cell must be 'refuse' or 'missing'.")
        types = engine.columns(relation)
        self._engine = engine
        self._declared = inferred_schema(engine, relation) if schema is None else schema
        _check_header(self._declared, types)
        self._relation = table_named(relation)
        conversions = [_converted(column, types) for column in self._declared.columns]
        if on_bad_cell == "refuse":
            self._refuse_bad_cells(conversions)
        self._schema = _visible(self._declared)
        self._values = {each.column.name: each.value for each in conversions}

    @property
    def schema(self) -> Schema:
        """The columns that queries see."""
        return self._schema

    @property
    def declared(self) -> Schema:
        """The schema as it was declared, with the identifiers that queries do not see."""
        return self._declared

    @property
    def unit(self) -> Unit:
        """What one person contributes."""
        return self._schema.unit

    @property
    def engine(self) -> Engine:
        """Where the relation lives."""
        return self._engine

    @property
    def raw(self) -> "RawAccess":
        """Unprotected access, for the steward only."""
        return RawAccess(self)

    def select(self, *expressions: str | exp.Expr) -> exp.Select:
        """Return a query over the table's columns, to be extended and passed to `query`."""
        chosen = [reference(self._schema[each]) if isinstance(each, str) else each for each in expressions]
        return exp.select(*chosen).from_(self._view())

    def query(self, expression: exp.Expr) -> pa.Table:
        """Run a query built on `select`; the answer is raw, for a method to protect."""
        return self._engine.query(expression)

    def aggregate(
        self,
        *aggregates: exp.Expr,
        where: exp.Expr | None = None,
        group_by: Iterable[str | exp.Expr] = (),
    ) -> pa.Table:
        """Run one aggregate query; the answer is raw, for a method to protect.

        Parameters
        ----------
        *aggregates
            What to compute; give each an alias.
        where
            Which rows count.
        group_by
            Names of columns, or aliased expressions; they come first in the answer.
        """
        keys = [reference(self._schema[each]) if isinstance(each, str) else each for each in group_by]
        for expression in (*keys, *aggregates, *([where] if where is not None else [])):
            self._check_columns(expression)
        query = exp.select(*keys, *aggregates).from_(self._view())
        query = query if where is None else query.where(where)
        return self.query(query.group_by(*(exp.Literal.number(place) for place in range(1, len(keys) + 1))))

    def validate(self) -> list[Problem]:
        """Return what contradicts the schema, as counts per column, never as values; read in one pass."""
        checks = checks_of(self._schema)
        rows = exp.Count(this=exp.Star()).as_("rows")
        counted = [count_where(check.condition).as_(f"check_{place}") for place, check in enumerate(checks)]
        (answer,) = self.aggregate(rows, *counted).to_pylist()
        return problems_from(checks, answer)

    def describe(self) -> pa.Table:
        """Return name, kind, role and public knowledge of each column; no cell, and nothing learned from cells."""
        return pa.Table.from_pylist([_described(column) for column in self._declared.columns])

    def __repr__(self) -> str:
        return f"<Table of {len(self._schema)} columns in {self._engine.title}, unit: {self.unit}>"

    def _view(self) -> exp.Subquery:
        seen = [self._values[name].copy().as_(name, quoted=True) for name in self._schema.names]
        return exp.select(*seen).from_(self._relation.copy()).subquery("seen")

    def _check_columns(self, expression: exp.Expr) -> None:
        for column in expression.find_all(exp.Column):
            self._schema[column.name]

    def _refuse_bad_cells(self, conversions: list[Conversion]) -> None:
        doubtful = [each for each in conversions if each.bad is not None]
        if not doubtful:
            return
        counts = [count_where(each.bad).as_(f"bad_{place}") for place, each in enumerate(doubtful) if each.bad]
        (answer,) = self._engine.query(exp.select(*counts).from_(self._relation.copy())).to_pylist()
        for count, each in zip(answer.values(), doubtful, strict=True):
            if count:
                raise DataError(
                    f"{count} cells of column {each.column.name!r} cannot be read as {each.column.kind}; "
                    "correct them, add their code to 'missing' in the schema, or pass on_bad_cell='missing'."
                )


class RawAccess:
    """Not private: exact answers and rows, for the steward who may see them anyway."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def count_rows(self) -> int:
        """Return the exact number of rows; not private."""
        answer = self._table.aggregate(exp.Count(this=exp.Star()).as_("rows"))
        return int(answer.column("rows")[0].as_py())

    def rows(self, columns: Iterable[str] | None = None, *, limit: int | None = None) -> pa.Table:
        """Return rows as they are; not private.

        Parameters
        ----------
        columns
            Which columns, by default all that queries see.
        limit
            At most how many rows.
        """
        query = self._table.select(*(self._table.schema.names if columns is None else columns))
        return self._table.query(query if limit is None else query.limit(limit))


def inferred_schema(engine: Engine, relation: str) -> Schema:
    """Return the kinds of the columns as the engine tells them, without bounds or categories."""
    types = engine.columns(relation)
    if not types:
        raise DataError(f"The table {relation!r} has no columns.")
    return Schema(tuple(Column(name, _kind(name, given)) for name, given in types.items()))


def _check_header(schema: Schema, types: Mapping[str, pa.DataType]) -> None:
    # A file without a header has cells for names; then they must not be listed as the known ones.
    if not any(name in types for name in schema.names):
        raise SchemaError(
            "The data have none of the columns that the schema declares; does the file begin with a header line?"
        )


def _kind(name: str, given: pa.DataType) -> Kind:
    kind = kind_of(given)
    if kind is None:
        raise SchemaError(
            f"Column {name!r} has a type that no kind describes; pass a schema that names the columns to use."
        )
    return kind


def _converted(column: Column, types: Mapping[str, pa.DataType]) -> Conversion:
    if column.name not in types:
        raise SchemaError(f"The data have no column {column.name!r}; {nearest(column.name, types)}")
    return conversion(column, types[column.name])


def _visible(declared: Schema) -> Schema:
    names = [
        column.name
        for column in declared.columns
        if column.role is not Role.IDENTIFIER or column.name == declared.unit.column
    ]
    if not names:
        raise SchemaError("Every column of the schema is an identifier; nothing is left to ask about.")
    return declared.select(names)


def _described(column: Column) -> dict[str, str]:
    bounds, categories = column.bounds, column.categories
    known = bounds or categories
    public = known is not None and known.provenance is Provenance.PUBLIC
    values = ""
    if public and bounds is not None:
        values = f"{bounds.lower} to {bounds.upper}"
    elif public and categories is not None:
        values = ", ".join(str(value) for value in categories.values)
    return {
        "name": column.name,
        "kind": column.kind.value,
        "role": column.role.value,
        "values": values,
        "provenance": known.provenance.value if known else "",
        "missing": ", ".join(str(code) for code in column.missing),
        "description": column.description,
    }
