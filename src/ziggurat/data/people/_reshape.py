"""One row for each person: the latest or the first, or aggregates of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from ziggurat.data._table import Table
from ziggurat.data.expressions import is_present, reference
from ziggurat.data.people._aggregates import PersonAggregate, describe_aggregate, read_aggregate
from ziggurat.data.people._computing import Computed, pick
from ziggurat.data.people._people_table import PeopleTable
from ziggurat.data.people._seen import ORDER, person_column, see_rows
from ziggurat.data.people._windows import count_alike, flag, named, ordered, place, row_order, sort_key
from ziggurat.data.schema import Column, Kind, Schema
from ziggurat.errors import ParameterError, SchemaError
from ziggurat.wording import list_names, nearest

Keep = Literal["latest", "first"]
_KEPT, _RANK, _ALIKE = "ziggurat_kept", "ziggurat_rank_{}", "ziggurat_alike_{}"
_ORDERED = (Kind.DATE, Kind.INTEGER, Kind.REAL)


def reshape_people(
    table: Table,
    keep: Keep | None = None,
    by: str | Sequence[str] = (),
    aggregates: Mapping[str, str | PersonAggregate] | None = None,
    *,
    most: int | None = None,
    columns: Sequence[str] | None = None,
) -> PeopleTable:
    """Make one row of all rows of each person, in the engine that holds the table.

    The unit is the person of the table's schema, and neighbours differ by one person with all their rows. A row of the
    result is a function of the rows of one person alone and of declared facts: windows and groups are partitioned by
    the person, ties between rows are broken by what stands in them, and sums are exact. So adding or removing a person
    adds or removes exactly one row of the result and changes no other; a promise about one row of it is a promise about
    a person. Nothing is learned for free: every public bound in the new schema is a function of declared bounds,
    declared categories and `most`; what was learned stays marked as learned.

    Parameters
    ----------
    table
        With a person as unit. Rows whose person is missing belong to nobody, and are left out.
    keep
        Which row of each person stays, with all its columns: the "latest" or the "first". None keeps aggregates alone.
    by
        The columns of dates or numbers that say which row is later, most important first; a moment counts with its time
        of day. Missing ones come last, and ties are decided by the other columns in their order: the latest row is
        the one with the largest cell, the first the one with the smallest.
    aggregates
        New columns by name, such as {"visits": "count()", "cost": "sum(cost)"}; see `AGGREGATES`. Cells are clamped to
        the public bounds of their column before they are summed, averaged or compared.
    most
        How many rows of one person are declared to count: numbers of rows are cut off there, and a sum at what so many
        cells can reach. Rows beyond it are not left out of means, extremes and choices.
    columns
        Which columns of the kept row stay; by default all.
    """
    asked = {name: _aggregate(each) for name, each in (aggregates or {}).items()}
    order = (by,) if isinstance(by, str) and by else tuple(by)
    _check_request(table, keep, order, asked, most)
    table.ready()
    reshaping = _Reshaping.of(table, keep, order, asked, most, columns)
    return PeopleTable(table.engine, reshaping.query(), reshaping.schema(), reshaping.say(), _counting(table))


@dataclass(frozen=True)
class _Reshaping:
    """What is asked of a table, once it has been understood."""

    table: Table
    keep: Keep | None
    by: tuple[str, ...]
    kept: tuple[Column, ...]
    computed: tuple[Computed, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        keep: Keep | None,
        by: tuple[str, ...],
        asked: Mapping[str, PersonAggregate],
        most: int | None,
        columns: Sequence[str] | None,
    ) -> "_Reshaping":
        declared = table.declared
        chosen = declared.names if columns is None else tuple(declared[name].name for name in columns)
        kept = tuple(
            each for each in declared.columns if each.name == table.unit.column or (keep and each.name in chosen)
        )
        _check_new_names(kept, asked)
        made = []
        for at, (name, each) in enumerate(asked.items()):
            origin = declared[each.column] if each.column else None
            column = describe_aggregate(each, name, origin, most)
            made.append(Computed(each, column, origin, most, _RANK.format(at)))
        return cls(table, keep, by, kept, tuple(made))

    @property
    def person(self) -> str:
        return person_column(self.table).name

    def query(self) -> exp.Select:
        """One row for each person, in the order of people."""
        rows = see_rows(self.table, self.by)
        for added in (self._alike(), self._places()):
            rows = exp.select("*", *added).from_(rows.subquery("rows")) if added else rows
        values = [self._keep(column) for column in self.kept]
        values += [each.compute().as_(each.made.name, quoted=True) for each in self.computed]
        people = exp.select(*values).from_(rows.subquery("rows")).group_by(named(self.person))
        return people.order_by(*ordered([sort_key(person_column(self.table))]))

    def schema(self) -> Schema:
        """The new schema; the file that it will stand in has no layout to remember."""
        told = f"One row for each {self.table.unit.name}: {self._words()}."
        described = self.table.declared.description
        columns = tuple(self._describe(each) for each in self.kept) + tuple(each.made for each in self.computed)
        text = f"{described.rstrip('.')}. {told}" if described else told
        return replace(self.table.declared, columns=columns, description=text, file=None)

    def say(self) -> tuple[str, ...]:
        """What is done, without a fact about the rows."""
        unit = self.table.unit
        who = f"One row for each {unit.name} (column {unit.column!r})"
        sentences = [f"{who}: {self._words()}."]
        if self.by:
            last = f"Rows without {list_names(self.by)} come last"
            sentences.append(f"{last}, and ties are decided by the other columns in their order.")
        return (*sentences, f"Rows without a {unit.name} belong to nobody and are left out.")

    def _words(self) -> str:
        kept = [f"the {self.keep} by {list_names(self.by)}"] if self.keep else []
        return ", ".join([*kept, *(f"{each.made.name} = {each.asked}" for each in self.computed)])

    def _describe(self, column: Column) -> Column:
        plain = replace(column, written=None)
        if column.name == self.person or not self.keep:
            return plain
        told = f"{self.keep.capitalize()} by {list_names(self.by)}."
        return replace(plain, description=f"{column.description.rstrip('.')}. {told}" if column.description else told)

    def _keep(self, column: Column) -> exp.Expr:
        value = reference(column) if column.name == self.person else pick(column, _KEPT)
        return value.as_(column.name, quoted=True)

    def _alike(self) -> list[exp.Expr]:
        """For what is most frequent: how often the cell of a row is there."""
        return [
            count_alike(self.person, each.asked.column).as_(_ALIKE.format(each.rank), quoted=True)
            for each in self.computed
            if each.asked.what == "mode"
        ]

    def _places(self) -> list[exp.Expr]:
        found = {_KEPT: self._order(self.keep)} if self.keep else {}
        for each in self.computed:
            if each.asked.what in ("latest", "first", "mode") and each.origin is not None:
                absent = ordered([flag(exp.Not(this=exp.Paren(this=is_present(each.origin))))])
                found[each.rank] = [*absent, *self._order_of(each)]
        return [place(self.person, order).as_(name, quoted=True) for name, order in found.items()]

    def _order_of(self, computed: Computed) -> list[exp.Expr]:
        if computed.asked.what != "mode":
            return self._order(computed.asked.what)
        assert computed.origin is not None
        often = ordered([named(_ALIKE.format(computed.rank))], descending=True)
        return [*often, *ordered([sort_key(computed.origin)])]

    def _order(self, which: str) -> list[exp.Expr]:
        ties = [each for each in self.table.declared.columns if each.name not in (self.person, *self.by)]
        return row_order([ORDER.format(at) for at in range(len(self.by))], ties, descending=which == "latest")


def _aggregate(given: str | PersonAggregate) -> PersonAggregate:
    return given if isinstance(given, PersonAggregate) else read_aggregate(given)


def _check_request(
    table: Table, keep: object, by: Sequence[str], asked: Mapping[str, PersonAggregate], most: object
) -> None:
    person_column(table)
    if keep not in (None, "latest", "first"):
        raise ParameterError(f"keep must be 'latest' or 'first'; {nearest(keep, ('latest', 'first'))}")
    if keep is None and not asked:
        raise ParameterError(
            f"Say what becomes of the rows of a {table.unit.name}: keep='latest' with by='date' (--latest date), or "
            "aggregates such as {'visits': 'count()'} (--count visits)."
        )
    if (keep or any(each.what in ("latest", "first") for each in asked.values())) and not by:
        raise ParameterError("Say by which column rows are later or earlier: by='visit_date'.")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise ParameterError("'most', how many rows of one person count, must be a whole number of at least 1.")
    for name in by:
        column = table.declared[name]
        if column.name == table.unit.column:
            raise ParameterError(f"Column {name!r} tells people apart, and puts no rows of one in order; name another.")
        if column.kind not in _ORDERED:
            raise SchemaError(f"Rows are put in order by dates or numbers; column {name!r} is {column.kind}.")


def _check_new_names(kept: Sequence[Column], asked: Mapping[str, PersonAggregate]) -> None:
    taken = {column.name.lower() for column in kept}
    for name in asked:
        if name.lower() in taken:
            raise ParameterError(f"There is a column {name!r} already; give the new one another name.")
        taken.add(name.lower())


def _counting(table: Table) -> dict[str, exp.Expr]:
    person = person_column(table)
    known, origin = is_present(person), [person.name]
    rows = exp.Count(this=exp.Star()).as_("n")
    people = exp.Count(this=exp.Distinct(expressions=[reference(person)])).as_("n")
    return {
        "rows": exp.select(rows).from_(table.relation(origin)),
        "people": exp.select(people).from_(table.relation(origin)).where(known),
        "rows_of_nobody": exp.select(rows).from_(table.relation(origin)).where(exp.Not(this=exp.Paren(this=known))),
    }
