"""The rows that a SELECT is about: items of FROM, how they are joined, and what names mean among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from ziggurat.data.engines import Engine
from ziggurat.errors import QuestionError
from ziggurat.queries._question import UnitRows
from ziggurat.queries._value import Value
from ziggurat.queries.language._from_items import NAMED, UNIT, FromItem, Privacy
from ziggurat.queries.language.expressions import Literal, plain
from ziggurat.wording import nearest


@dataclass(frozen=True)
class ItemColumn:
    """A column of an item in FROM."""

    item: int
    name: str


@dataclass
class Joined:
    """An item in FROM: what the analyst calls it, and how it is joined to those before it."""

    name: str
    item: FromItem
    on: exp.Expr | None = None
    side: str = ""
    merged: frozenset[str] = frozenset()
    used: list[str] = field(default_factory=list)

    def use(self, name: str) -> None:
        """Note that a column is needed."""
        if name not in self.used:
            self.used.append(name)


class SelectedRows:
    """The rows that a SELECT is about, and what names mean among them.

    Parameters
    ----------
    privacy
        Whom the rows are about.
    joined
        The items of FROM, the first one without a condition.
    public_values
        Answers sub-queries over public tables.
    """

    def __init__(
        self, privacy: Privacy, joined: list[Joined], public_values: Callable[[exp.Expr], list[Literal]]
    ) -> None:
        self.privacy, self.joined = privacy, joined
        self._public_values = public_values
        self._names: dict[ItemColumn, str] = {}

    def column(self, node: exp.Column) -> Value:
        """Return the value of a column that the analyst named; the unit is refused."""
        if self.is_unit(node):
            raise QuestionError(
                f"{node.name!r} tells one {self.privacy.unit.name} from another and cannot be shown or tested; "
                f"it may stand in COUNT(DISTINCT {node.name}), in joins and in GROUP BY of a sub-query."
            )
        place = self._find(node)
        return self._seen(place)(exp.column(self._name(place), quoted=True))

    def is_unit(self, node: exp.Expr) -> bool:
        """Return whether an expression is the column that tells units apart."""
        if isinstance(node, exp.Anonymous):
            return str(node.this).upper() == "UNIT" and not node.expressions and self.privacy.column is not None
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return False
        return any(self._holds_unit(each, node) for each in self.joined if _is_meant(each, node))

    def has(self, node: exp.Column) -> bool:
        """Return whether an item has a column of that name."""
        wanted = node.name.lower()
        return self.is_unit(node) or any(wanted == name.lower() for each in self.joined for name in each.item.columns)

    def public_values(self, query: exp.Expr) -> list[Literal]:
        """Return the values of a sub-query over a public table, or refuse it."""
        return self._public_values(query)

    def every_column(self) -> list[exp.Column]:
        """Return what * stands for."""
        return [exp.column(name, table=each.name) for each in self.joined for name in each.item.columns]

    def relation(self) -> UnitRows:
        """Return the rows with those columns that were looked up."""
        query = exp.select(*self._select()).from_(self._base(0), copy=False)
        for number, each in enumerate(self.joined[1:], start=1):
            query = query.join(self._base(number), on=each.on, join_type=each.side or "INNER", copy=False)
        if len(self.joined) == 1 and all(place.name == name for place, name in self._names.items()):
            base = query.args["from_"].this
            query.meta.update({NAMED: base.meta[NAMED]} if NAMED in base.meta else {})
        columns = {name: plain(self._seen(place)(exp.column(name, quoted=True))) for place, name in self._names.items()}
        held = self.privacy
        unit = None if held.column is None else UNIT
        return UnitRows(query, columns, held.unit, unit, held.rows, held.engine, held.tables)

    def _select(self) -> list[exp.Expr]:
        chosen: list[exp.Expr] = [
            qualify(place.item, place.name).as_(name, quoted=True) for place, name in self._names.items()
        ]
        if self.privacy.column is not None and self.privacy.seen is not None:
            unit = self.privacy.seen(qualify(0, self.privacy.column))
            chosen.append(unit.sql.as_(UNIT, quoted=True))
        return chosen or [exp.Literal.number(1).as_("ziggurat_row", quoted=True)]

    def _base(self, number: int) -> exp.Subquery:
        each = self.joined[number]
        used = [place.name for place in self._names if place.item == number]
        unit = each.item.privacy.column if each.item.privacy else None
        names = dict.fromkeys([*used, *each.used, *([unit] if unit else [])])
        base = each.item.base(list(names), self._engine())
        base.set("alias", exp.TableAlias(this=exp.to_identifier(_alias(number), quoted=True)))
        return base

    def _engine(self) -> Engine:
        return self.privacy.engine

    def _find(self, node: exp.Column) -> ItemColumn:
        named, wanted = node.table.lower(), node.name.lower()
        if named and not any(each.name.lower() == named for each in self.joined):
            known = nearest(node.table, [each.name for each in self.joined])
            raise QuestionError(f"Nothing in FROM is called {node.table[:60]!r}; {known}")
        found = [
            ItemColumn(number, name)
            for number, each in enumerate(self.joined)
            for name in each.item.columns
            if name.lower() == wanted and _is_meant(each, node)
        ]
        if len(found) > 1:
            raise QuestionError(f"Column {node.name[:60]!r} is in several tables; write the name of one before it.")
        if not found:
            visible = [name for each in self.joined if _is_meant(each, node) for name in each.item.columns]
            raise QuestionError(f"There is no column {node.name[:60]!r}; {nearest(node.name, visible)}")
        return found[0]

    def place_of(self, node: exp.Column) -> tuple[int, str, bool]:
        """Return in which item a column of a join condition is, its name there, and whether it is the unit."""
        for number, each in enumerate(self.joined):
            if _is_meant(each, node) and self._holds_unit(each, node) and each.item.privacy is not None:
                return number, str(each.item.privacy.column), True
        place = self._find(node)
        return place.item, place.name, False

    def value_at(self, number: int, name: str, is_unit: bool) -> Value:
        """Return a column of an item as a join condition sees it."""
        each = self.joined[number]
        each.use(name)
        if is_unit and each.item.privacy is not None and each.item.privacy.seen is not None:
            return each.item.privacy.seen(qualify(number, name))
        return each.item.columns[name](qualify(number, name))

    @staticmethod
    def _holds_unit(each: Joined, node: exp.Column) -> bool:
        privacy = each.item.privacy
        return privacy is not None and node.name.lower() in privacy.names

    def _seen(self, place: ItemColumn) -> Callable[[exp.Column], Value]:
        return self.joined[place.item].item.columns[place.name]

    def _name(self, place: ItemColumn) -> str:
        """The name of a column in the relation: its own, unless another item has one of that name."""
        if place not in self._names:
            taken = {name.lower() for name in self._names.values()}
            name, count = place.name, 1
            while name.lower() in taken:
                count += 1
                name = f"{place.name}_{count}"
            self._names[place] = name
        return self._names[place]


def _is_meant(each: Joined, node: exp.Column) -> bool:
    if node.table:
        return each.name.lower() == node.table.lower()
    return node.name.lower() not in each.merged


def qualify(number: int, name: str) -> exp.Column:
    """Return a column of the item of that number."""
    return exp.column(name, table=exp.to_identifier(_alias(number), quoted=True), quoted=True)


def _alias(number: int) -> str:
    return f"t{number + 1}"
