"""A table: a relation in an engine, its schema and its privacy unit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._conversion import Conversion, conversion, find_unreadable, is_moment, kind_of, see_value
from ziggurat.data._preview import TablePreview, TableView, preview_column
from ziggurat.data._stacking import HeldColumns, tally_columns
from ziggurat.data._tally import tally
from ziggurat.data._validation import Problem, checks_of, problems_from
from ziggurat.data.engines import Engine, table_named
from ziggurat.data.expressions import count_where, is_present, reference
from ziggurat.data.schema import Column, Kind, Provenance, Role, Schema, Unit
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.frames import GivenAsFrame
from ziggurat.wording import count_noun, nearest

OnBadCell = Literal["refuse", "missing"]
Share = str | int | float | Fraction
_Tallied = dict[str, dict[str, Any]]
_NOT_AS_SAID = {
    Kind.INTEGER: "not a whole number",
    Kind.REAL: "not a number",
    Kind.DATE: "not a date such as 2024-12-31",
    Kind.BOOLEAN: "not a truth value",
}


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
    unreadable
        Which share of the cells of a column may be unreadable, and count as missing, before the table is refused.
    later
        Look at the cells only when the table is first made `ready`: until then no row is read.
    notes
        How a file was read, in sentences for the steward.
    reasons
        By the name of a column, why its cells are read as they are.
    """

    def __init__(
        self,
        engine: Engine,
        relation: str,
        schema: Schema | None = None,
        *,
        on_bad_cell: OnBadCell = "refuse",
        unreadable: Share = 0,
        later: bool = False,
        notes: Sequence[str] = (),
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        if on_bad_cell not in ("refuse", "missing"):
            raise ParameterError("on_bad_cell must be 'refuse' or 'missing'.")
        allowed = _share(unreadable)
        types = engine.columns(relation)
        self._engine, self._named, self._types = engine, relation, types
        self._notes, self._reasons = tuple(notes), dict(reasons or {})
        self._declared = infer_schema(engine, relation) if schema is None else schema
        self._left_out = tuple(name for name, given in types.items() if kind_of(given) is None)
        _check_header(self._declared, types)
        self._name, self._relation = relation, table_named(relation)
        self._conversions = {column.name: _convert(column, types) for column in self._declared.columns}
        self._visible = _visible(self._declared)
        self._lenient = on_bad_cell == "missing" or allowed > 0
        self._unchecked = allowed if on_bad_cell == "refuse" else None
        if not later:
            self._check_cells()

    @property
    def schema(self) -> Schema:
        """The columns that queries see; SchemaError if every column is an identifier."""
        if self._visible is None:
            raise SchemaError("Every column of the schema is an identifier; nothing is left to ask about.")
        return self._visible

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that queries see."""
        return self.schema.names

    @property
    def declared(self) -> Schema:
        """The schema as it was declared, with the identifiers that queries do not see."""
        return self._declared

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns of the data whose type no kind describes (lists, bytes, times of day, ...)."""
        return self._left_out

    @property
    def notes(self) -> tuple[str, ...]:
        """How a file was read, in sentences with counts, for the steward; it holds no cell."""
        return self._notes

    @property
    def reasons(self) -> dict[str, str]:
        """By the name of a column, why its cells are read as they are, with counts, for the steward."""
        return dict(self._reasons)

    @property
    def lenient(self) -> bool:
        """Whether cells that cannot be read count as missing."""
        return self._lenient

    @property
    def unit(self) -> Unit:
        """What one person contributes."""
        return self._declared.unit

    @property
    def engine(self) -> Engine:
        """Where the relation lives."""
        return self._engine

    def ready(self) -> None:
        """Make sure that the engine lives and holds the table as it was opened; ask before anything is paid for.

        Only the names and types of columns are looked at, and no row: whether it raises depends on no cell. A table
        that was to be checked later is checked whole here, the first time.

        Raises
        ------
        EngineError
            If the engine does not answer, or does not know the table any more.
        DataError
            If the columns are others than when the table was opened.
        """
        self._engine.ready()
        if self._engine.columns(self._named) != self._types:
            raise DataError("The columns of the table have changed since it was opened; open it anew.")
        self._check_cells()

    @property
    def raw(self) -> "RawAccess":
        """Unprotected access, for the steward only."""
        return RawAccess(self)

    def select(self, *expressions: str | exp.Expr) -> exp.Select:
        """Return a query over the table's columns, to be extended and passed to `query`."""
        chosen = [reference(self.schema[each]) if isinstance(each, str) else each for each in expressions]
        return exp.select(*chosen).from_(self._view(self.schema.names), copy=False)

    def relation(self, names: Iterable[str], keys: Iterable[str] = ()) -> exp.Subquery:
        """Return the table with these of its columns and no others, to stand in the FROM of a query in its engine.

        Parameters
        ----------
        names
            Of the columns that queries see.
        keys
            Of columns to group rows and to put them in order, identifiers too; moments keep their time of day.
        """
        seen = [self.schema[name].name for name in names]
        return self._view(dict.fromkeys([*seen, *keys]), self._moments(keys))

    def query(self, expression: exp.Expr) -> pa.Table:
        """Run a query built on `select`; the answer is raw, for a method to protect."""
        if not isinstance(expression, exp.Expr):
            raise ParameterError("A query is built on table.select(...); text is not taken.")
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
        keys = [reference(self.schema[each]) if isinstance(each, str) else each for each in group_by]
        seen = self._visible.names if self._visible else ()
        query = self._over([*keys, *aggregates], seen, where)
        places = [exp.Literal.number(place) for place in range(1, len(keys) + 1)]
        return self.query(query.group_by(*places, copy=False))

    def select_held(self, names: Sequence[str]) -> exp.Select:
        """Return a query for columns as the engine holds them, before the schema reads them; its answer is raw."""
        seen = [reference(self.schema[name]) for name in names]
        return exp.select(*seen, copy=False).from_(self._relation, copy=False)

    def at_hand(self, names: Sequence[str]) -> pa.Table | None:
        """Return columns row by row, as the engine holds them, if it has them at hand and queries see them as they are.

        None where it has not, or where the schema reads a cell as something else. Raw, for a method to protect.
        """
        if not all(self._is_as_held(self.schema[name]) for name in names):
            return None
        return self._engine.at_hand(self._named, names)

    def validate(self, places: int = 0) -> list[Problem]:
        """Return what contradicts the schema, as counts per column, never as values.

        Every declared column is looked at, identifiers too. Cells that cannot be read as their kind are among the
        problems if the table was opened with on_bad_cell="missing"; otherwise it has none.

        Parameters
        ----------
        places
            Of how many cells of each problem to say at which line of a text file they stand; for the steward only,
            because a line is somebody's.
        """
        checks = checks_of(self._declared)
        named = {f"check_{place}": count_where(check.condition) for place, check in enumerate(checks)}
        rows = {"rows": exp.Count(this=exp.Star())}
        answer = tally(lambda asked: self.query(self._over(asked, self._declared.names)), {**rows, **named})
        return [*problems_from(checks, answer, lambda found: self._locate(found, places)), *self._unreadable(places)]

    def unreadable_cells(self, name: str, limit: int = 1_000) -> set[str]:
        """Return different cells of a column of text that cannot be read as its kind; raw, for the steward's tools."""
        bad = self._conversions[name].bad
        if bad is None or kind_of(self._types[name]) not in (Kind.TEXT, Kind.CATEGORY):
            return set()
        query = exp.select(exp.column(name, quoted=True)).distinct().from_(self._relation).where(bad).limit(limit)
        return set(self._engine.query(query).column(0).to_pylist())

    def unreadable(self) -> dict[str, int]:
        """Return for each column how many cells cannot be read as its kind, where there are any."""
        checked = [each for each in self._declared.columns if self._conversions[each.name].bad is not None]
        counts = tally_columns(self._columns_held, checked, lambda *_: {}, flag=find_unreadable)
        return {each.name: counts[each.name]["unreadable"] for each in checked if counts[each.name]["unreadable"]}

    def tally(
        self, columns: Sequence[Column], ask: Callable[[Column], Mapping[str, exp.Expr]], unreadable: bool = False
    ) -> _Tallied:
        """Return for each column the aggregates that `ask` gives for it, by key; raw, for the steward.

        Parameters
        ----------
        columns
            Of those that queries see.
        ask
            Depends on the kind, the missing codes and the notation of a column only: columns that are alike in them
            are asked about together, so that a table may have thousands.
        unreadable
            Count on the way the cells that cannot be read, under the key "unreadable", of columns that may have some.
        """
        flag = find_unreadable if unreadable else None
        return tally_columns(self._columns_held, columns, lambda column, _: ask(column), see_value, flag)

    def describe(self) -> pa.Table:
        """Return name, kind, role and public knowledge of each column; no cell, and nothing learned from cells."""
        return pa.Table.from_pylist([_describe(column) for column in self._declared.columns])

    def preview(self) -> TablePreview:
        """Show the steward what every column holds: kind, role, bounds, how it is written and how much is missing.

        Not private: counts are exact, and bounds that were learned are shown. No row is; `raw.rows(limit=5)` has some.
        """
        gaps = {each.name: count_where(exp.not_(is_present(each))) for each in self._declared.columns}
        asked = {"": exp.Count(this=exp.Star()), **gaps}
        found = tally(lambda several: self.query(self._over(several, self._declared.names)), asked)
        bad = self.unreadable()
        columns = [preview_column(each, found[each.name], bad.get(each.name, 0)) for each in self._declared.columns]
        return TablePreview(self._declared.name or "table", self.unit, found[""], columns, getattr(self, "notes", ()))

    def view(self, name: str = "") -> TableView:
        """Show what everybody may know of the table under a name: what is public of its columns, and no cell."""
        described = self.describe()
        seen = [each in self.schema for each in described.column("name").to_pylist()]
        return TableView(f"Table {name or self._declared.name}".rstrip(), self.unit, described.filter(pa.array(seen)))

    def _repr_html_(self) -> str:
        return TableView(repr(self).strip("<>"), self.unit, self.describe())._repr_html_()

    def __repr__(self) -> str:
        return f"<Table of {len(self._visible or ())} columns in {self._engine.title}, unit: {self.unit}>"

    @property
    def _columns_held(self) -> HeldColumns:
        return HeldColumns(self._engine, self._relation, self._types)

    def _moments(self, keys: Iterable[str]) -> dict[str, exp.Expr]:
        declared = {name: self._declared[name] for name in keys}
        return {name: reference(each) for name, each in declared.items() if is_moment(self._types.get(name))}

    def _view(self, names: Iterable[str], as_held: Mapping[str, exp.Expr] | None = None) -> exp.Subquery:
        # The trees are shared, not copied: an engine copies a query before it writes it down.
        values = {name: (as_held or {}).get(name, self._conversions[name].value) for name in names}
        seen = [value.as_(name, quoted=True, copy=False) for name, value in values.items()]
        one = exp.Literal.number(1).as_("one")
        return exp.select(*(seen or [one]), copy=False).from_(self._relation, copy=False).subquery("seen", copy=False)

    def _over(self, asked: Sequence[exp.Expr], known: Sequence[str], where: exp.Expr | None = None) -> exp.Select:
        """A query over those of the columns `known` that it uses, so that no others are read or converted."""
        conditions = [] if where is None else [where]
        used = {column.name for each in (*asked, *conditions) for column in each.find_all(exp.Column)}
        for name in sorted(used.difference(known)):
            raise SchemaError(f"There is no column {name!r} in the schema; {nearest(name, known)}")
        view = self._view(name for name in known if name in used)
        return exp.select(*asked, copy=False).from_(view, copy=False).where(*conditions, copy=False)

    def _is_as_held(self, column: Column) -> bool:
        """Whether cells are read as they are: never reals, of which engines take several for one (0.0 and -0.0)."""
        held = kind_of(self._types[column.name])
        same = column.storage is (Kind.TEXT if held is Kind.CATEGORY else held)
        return same and column.storage is not Kind.REAL and self._conversions[column.name].bad is None

    def _unreadable(self, places: int) -> list[Problem]:
        if not self._lenient:
            return []
        found = []
        for name, count in self.unreadable().items():
            bad, kind = self._conversions[name].bad, self._declared[name].kind
            where = self._engine.lines(self._name, bad, places) if bad is not None and places else ()
            found.append(Problem(f"not readable as {kind}", name, count, tuple(where)))
        return found

    def _locate(self, condition: exp.Expr, most: int) -> tuple[str, ...]:
        """At which lines the first rows stand that meet a condition about what queries see."""

        def held(node: exp.Expr) -> exp.Expr:
            seen = isinstance(node, exp.Column) and node.name in self._conversions
            return exp.Paren(this=self._conversions[node.name].value) if seen else node

        return tuple(self._engine.lines(self._name, condition.transform(held), most)) if most else ()

    def _check_cells(self) -> None:
        if self._unchecked is not None:
            self._refuse_bad_cells(self._unchecked)
        self._unchecked = None

    def _refuse_bad_cells(self, allowed: Fraction) -> None:
        found = self.unreadable()
        rows = self._rows() if found and allowed else 0
        for name, count in found.items():
            if count > allowed * rows:
                raise DataError(self._bad_cells(name, count))

    def _bad_cells(self, name: str, count: int) -> str:
        """What is wrong with a column, to the steward who opens the table: where, never what stands there."""
        bad = self._conversions[name].bad
        line = next(iter(self._engine.lines(self._name, bad, 1)), "") if bad is not None else ""
        first = f"{line[:1].upper()}{line[1:]}, column {name!r}: {_NOT_AS_SAID[self._declared[name].storage]} as the "
        return (
            f"{first + 'schema says; ' if line else ''}{count_noun(count, 'cell')} of column {name!r} cannot be read "
            f"as {self._declared[name].kind}; correct them, add their code to 'missing' in the schema, or let a share "
            "of them count as missing with unreadable='0.01' (--unreadable 0.01)."
        )

    def _rows(self) -> int:
        rows = exp.Count(this=exp.Star()).as_("rows")
        return int(self._engine.query(exp.select(rows).from_(self._relation)).column("rows")[0].as_py())


class RawAccess(GivenAsFrame):
    """Not private: exact answers and rows, for the steward who may see them anyway."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def count_rows(self) -> int:
        """Return the exact number of rows; not private."""
        answer = self._table.aggregate(exp.Count(this=exp.Star()).as_("rows"))
        return int(answer.column("rows")[0].as_py())

    def rows(
        self, columns: Iterable[str] | None = None, *, limit: int | None = None, as_held: bool = False
    ) -> pa.Table:
        """Return rows as they are; not private.

        Parameters
        ----------
        columns
            Which columns, by default all that queries see.
        limit
            At most how many rows.
        as_held
            Before the schema reads them: a column of numbers with codes such as Stata's .a is text then.
        """
        names = self._table.schema.names if columns is None else tuple(columns)
        query = self._table.select_held(names) if as_held else self._table.select(*names)
        return self._table.query(query if limit is None else query.limit(limit))

    def to_arrow(self) -> pa.Table:
        """Return every row that queries see, as it is; not private."""
        return self.rows()


def infer_schema(engine: Engine, relation: str) -> Schema:
    """Return the kinds of the columns as the engine tells them, without bounds or categories.

    Columns whose type no kind describes are left out.
    """
    types = engine.columns(relation)
    if not types:
        raise DataError(f"The table {relation!r} has no columns.")
    known = {name: kind for name, given in types.items() if (kind := kind_of(given)) is not None}
    if not known:
        raise SchemaError(f"Column {next(iter(types))!r} has a type that no kind describes, and there is no other.")
    return Schema(tuple(Column(name, kind) for name, kind in known.items()))


def _share(given: Share) -> Fraction:
    try:
        share = Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise ParameterError("The share of unreadable cells must be a number from 0 to 1, such as 0.01.")
    return share


def _check_header(schema: Schema, types: Mapping[str, pa.DataType]) -> None:
    # A file without a header has cells for names; then they must not be listed as the known ones.
    if not any(name in types for name in schema.names):
        raise SchemaError(
            "The data have none of the columns that the schema declares; does the file begin with a header line?"
        )


def _convert(column: Column, types: Mapping[str, pa.DataType]) -> Conversion:
    if column.name not in types:
        raise SchemaError(f"The data have no column {column.name!r}; {nearest(column.name, types)}")
    return conversion(column, types[column.name])


def _visible(declared: Schema) -> Schema | None:
    names = [
        column.name
        for column in declared.columns
        if column.role is not Role.IDENTIFIER or column.name == declared.unit.column
    ]
    return declared.select(names) if names else None


def _describe(column: Column) -> dict[str, str]:
    bounds, categories, symbols = column.bounds, column.categories, column.sequence
    known = bounds or categories or symbols
    public = known is not None and known.provenance is Provenance.PUBLIC
    values = ""
    if public and bounds is not None:
        values = f"{bounds.lower} to {bounds.upper}"
    elif public and categories is not None:
        values = ", ".join(str(value) for value in categories.values)
    elif public and symbols is not None:
        values = f"up to {symbols.longest} of {', '.join(symbols.tokens)}"
    return {
        "name": column.name,
        "kind": column.kind.value,
        "role": column.role.value,
        "values": values,
        "provenance": known.provenance.value if known else "",
        "missing": ", ".join(str(code) for code in column.missing),
        "description": column.description,
    }
