"""Joins whose rows still belong to one unit each."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language._from_items import FromItem, Privacy
from ziggurat.queries.language._public import PublicTable
from ziggurat.queries.language._rows import Joined, SelectedRows
from ziggurat.queries.language.expressions import align, chain, compare, only, show

_SIDES = {("", ""): "", ("", "INNER"): "", ("LEFT", ""): "LEFT", ("LEFT", "OUTER"): "LEFT"}


def side_of(join: exp.Join) -> str:
    """Return "" for an inner join and "LEFT" for a left one; others are refused."""
    only(join, "this", "side", "kind", "on", "using")
    given = (join.side.upper(), join.kind.upper())
    if given not in _SIDES:
        raise QuestionError("Only JOIN and LEFT JOIN are understood; begin FROM with the table whose rows are kept.")
    if not join.args.get("on") and not join.args.get("using"):
        raise QuestionError("A join needs ON with an equality of columns, so that rows meet only what belongs to them.")
    return _SIDES[given]


def join_item(rows: SelectedRows, name: str, item: FromItem, join: exp.Join) -> SelectedRows:
    """Return rows with one more item, if every row still belongs to one unit."""
    side = side_of(join)
    using = [each.name for each in join.args.get("using") or []]
    merged = frozenset(each.lower() for each in using)
    wider = SelectedRows(rows.privacy, [*rows.joined, Joined(name, item, side=side)], rows.public_values)
    pairs = [_pair(wider, *sides) for sides in _equalities(wider, join, using)]
    wider.joined[-1].merged = merged
    wider.joined[-1].on = chain(exp.And, [pair.condition for pair in pairs]).sql
    if item.public is not None:
        wider.privacy = _with_public(rows.privacy, item.public, pairs)
    elif item.privacy is not None:
        wider.privacy = _with_private(rows.privacy, item.privacy, pairs)
    return wider


class _Pair:
    """An equality of a column before and a column of the new item."""

    def __init__(self, before: Value, new: Value, on_unit: bool) -> None:
        self.condition = compare(exp.EQ, before, new).sql
        self.new, self.on_unit = new, on_unit


def _equalities(rows: SelectedRows, join: exp.Join, using: list[str]) -> list[tuple[exp.Column, exp.Column]]:
    if using:
        last = rows.joined[-1].name
        return [(_before(rows, each), exp.column(each, table=last)) for each in using]
    on = join.args["on"].unnest()
    conditions = list(on.flatten()) if isinstance(on, exp.And) else [on]
    pairs = []
    for condition in conditions:
        plain = condition.unnest()
        sides = (plain.this, plain.expression) if type(plain) is exp.EQ else ()
        if not sides or not all(isinstance(each, exp.Column) for each in sides):
            raise QuestionError(
                f"The join condition {show(plain)} is not an equality of two columns; "
                "put other conditions into WHERE, or compute the column in a sub-query."
            )
        pairs.append(sides)
    return pairs


def _before(rows: SelectedRows, name: str) -> exp.Column:
    """The column of that name in the first item that has it."""
    for each in rows.joined[:-1]:
        privacy = each.item.privacy
        unit = privacy.names if privacy else frozenset()
        if name.lower() in unit or any(name.lower() == column.lower() for column in each.item.columns):
            return exp.column(name, table=each.name)
    raise QuestionError(f"USING names the column {name[:60]!r}, which the tables before it do not have.")


def _pair(rows: SelectedRows, left: exp.Column, right: exp.Column) -> _Pair:
    places = [rows.place_of(left), rows.place_of(right)]
    last = len(rows.joined) - 1
    if [place[0] == last for place in places] == [True, False]:
        places.reverse()
    if [place[0] == last for place in places] != [False, True]:
        raise QuestionError(f"Every equality of a join must name one column of {rows.joined[last].name!r}.")
    before, new = (rows.value_at(*place) for place in places)
    on_unit = places[0][2] and places[1][2] and before.kind is new.kind
    if before.is_number and new.is_number:
        # Public rows are counted by what is compared: as reals, different whole numbers may be equal.
        before, new = align(before, new, "A join")
    return _Pair(before, new, on_unit)


def _with_public(privacy: Privacy, table: PublicTable, pairs: list[_Pair]) -> Privacy:
    """A row meets as many public rows as share its key: that many times the rows of a unit."""
    keys = [_unqualify(pair.new) for pair in pairs]
    most = max(table.most_rows(keys), 1)
    return replace(privacy, rows=None if privacy.rows is None else privacy.rows * most)


def _unqualify(value: Value) -> exp.Expr:
    def bare(node: exp.Expr) -> exp.Expr:
        return exp.column(node.name, quoted=True) if isinstance(node, exp.Column) else node

    return value.sql.transform(bare)


def _with_private(privacy: Privacy, other: Privacy, pairs: list[_Pair]) -> Privacy:
    if privacy.column is None or other.column is None:
        raise QuestionError("Tables whose unit is a row cannot be joined: nothing says which rows are one person's.")
    if privacy.unit.name != other.unit.name:
        raise QuestionError(
            f"Tables about a {privacy.unit.name} and about a {other.unit.name} cannot be joined: "
            "one promise cannot hide both."
        )
    if privacy.engine is not other.engine:
        raise QuestionError(
            "Two private tables can be joined only within one engine; "
            "open the second with read(..., engine=first.engine)."
        )
    if not any(pair.on_unit for pair in pairs):
        raise QuestionError(
            "Private tables are joined on the columns of their unit: "
            f"add ... = ... of {privacy.unit.column!r} and {other.unit.column!r} to ON, "
            "or else a person's rows would meet those of others."
        )
    unlimited = privacy.rows is None and other.rows is None
    if unlimited and set(privacy.tables) & set(other.tables):
        raise QuestionError(
            "Every row of a person would meet all other rows of the same table, again and again; "
            "compute totals per unit in one of the two (GROUP BY the unit) and join these."
        )
    rows = None if privacy.rows is None or other.rows is None else privacy.rows * other.rows
    tables = tuple(dict.fromkeys((*privacy.tables, *other.tables)))
    return replace(privacy, rows=rows, tables=tables)
