"""Propose a schema from the data, for a steward to correct."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from ziggurat.cards import Card, Shown
from ziggurat.data._table import Table
from ziggurat.data._tally import tally
from ziggurat.data.expressions import constant, count_where, is_one_of, is_present, only_where, reference
from ziggurat.data.schema import (
    NUMBER_CODES,
    TEXT_CODES,
    Bounds,
    BoundValue,
    Categories,
    Column,
    Kind,
    MissingCode,
    Provenance,
    Role,
    Schema,
    Symbols,
    names_a_counter,
    names_a_unit,
    role_in_name,
)
from ziggurat.wording import count_noun

_MOST_CATEGORIES = 50
_NEARLY_UNIQUE = 0.95
_ENOUGH_ROWS = 20
# Cells of text are sequences if they hold at least so many symbols on average, and each symbol occurs so often.
_LOOKED_AT = 10_000
_LEAST_SYMBOLS, _MOST_SYMBOLS, _LEAST_REPEATS = 4, 500, 20
_UUID = "^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"
_RANGED = (Kind.INTEGER, Kind.REAL, Kind.DATE)


@dataclass(frozen=True)
class Suggestion(Shown):
    """A proposed schema, and for each column the reason in words. It holds private values: see `suggest_schema`."""

    schema: Schema
    reasons: Mapping[str, str]

    def _card(self) -> Card:
        said = f"A proposal for {count_noun(len(self.schema), 'column')}, learned from the data: correct it."
        rows = [(each.name, each.kind.value, each.role.value, self.reasons.get(each.name, ""))
                for each in self.schema.columns]  # fmt: skip
        return Card("Suggestion", said, badge="private", heads=("column", "kind", "role", "because"), rows=rows)


@dataclass(frozen=True)
class _ColumnFacts:
    """What the engine says of the cells of one column."""

    rows: int
    filled: int
    distinct: int | None = None
    uuids: int = 0
    lower: BoundValue | None = None
    upper: BoundValue | None = None
    codes: tuple[MissingCode, ...] = ()
    values: tuple[str, ...] = ()
    unreadable: int = 0
    symbols: Symbols | None = None

    @property
    def unique(self) -> bool:
        return self.filled > 1 and self.distinct == self.filled

    @property
    def constant(self) -> bool:
        """Whether all cells are equal, in a table long enough for that to mean something."""
        alike = self.lower == self.upper if self.distinct is None else self.distinct <= 1
        return self.rows >= _ENOUGH_ROWS and alike and self.filled in (0, self.rows)

    @property
    def consecutive(self) -> bool:
        ends = (self.lower, self.upper)
        whole = all(isinstance(end, int) for end in ends)
        return whole and self.unique and self.upper - self.lower == self.filled - 1  # type: ignore[operator]


def suggest_schema(table: Table) -> Suggestion:
    """Propose kinds, roles, bounds, categories and missing codes by looking at the data.

    The proposal is for the steward's eyes only. It contains private values: every minimum, maximum, category and
    missing code in it was read off somebody's row. Bounds and categories are marked as learned, so no method will
    use them until the steward has replaced them by what is publicly known, or paid for them.

    Roles are guesses from names and from how often values repeat. A column of which nothing is known is proposed as
    a quasi-identifier, the careful choice; only constant columns and counters of rows are proposed as insensitive.
    Text with at most 50 distinct values becomes a category, and text whose cells hold a few symbols again and again,
    with blanks between them, a column of sequences; the symbols, and how many count, are read off its first 10,000
    cells. A column of zeros and ones stays an integer with these bounds, so that its sum is a count. Marks such as "?"
    and "NA", and numbers such as -9 below values that are otherwise not negative, are proposed as missing codes.
    Columns of a type that no kind describes are left out of the schema; the reasons name them.

    Parameters
    ----------
    table
        Usually opened without a schema.
    """
    columns, reasons = [], {}
    for column, facts in _look_at(table):
        proposed, reason = _propose(column, facts)
        columns.append(proposed)
        reasons[column.name] = reason
    for name in table.left_out:
        reasons[name] = "no kind describes its type, so it is left out"
    return Suggestion(Schema(tuple(columns), table.unit, table.schema.name), reasons)


def _look_at(table: Table) -> list[tuple[Column, _ColumnFacts]]:
    columns = table.schema.columns
    unreadable = table.unreadable() if table.lenient else {}
    first = _tally(table, {f"{key} {name}": asked for name, key, asked in _first_questions(columns)})
    rows = table.raw.count_rows()
    facts = [
        {key: first[f"{key} {column.name}"] for key in _keys(column)} | {"unreadable": unreadable.get(column.name, 0)}
        for column in columns
    ]
    second = _tally(table, dict(_second_questions(columns, facts)))
    return [
        (
            column,
            _ColumnFacts(
                rows=rows, **(known | _read_second(column, second)), symbols=_find_symbols(table, column, known)
            ),
        )
        for column, known in zip(columns, facts, strict=True)
    ]


def _find_symbols(table: Table, column: Column, known: Mapping[str, Any]) -> Symbols | None:
    """The symbols of cells that look like sequences; None if they do not."""
    hint = role_in_name(column.name)
    named = hint is not None and hint[0] is Role.IDENTIFIER
    if named or column.storage is not Kind.TEXT or known["distinct"] <= _MOST_CATEGORIES:
        return None
    cells = [cell.split() for cell in table.raw.rows([column.name], limit=_LOOKED_AT)[column.name].to_pylist() if cell]
    found, total = {symbol for cell in cells for symbol in cell}, sum(map(len, cells))
    often = _MOST_SYMBOLS >= len(found) > 1 and total >= _LEAST_REPEATS * len(found)
    if not often or total < _LEAST_SYMBOLS * len(cells):
        return None
    ordered = (
        sorted(found, key=lambda symbol: (len(symbol), symbol)) if all(map(str.isdecimal, found)) else sorted(found)
    )
    return Symbols(tuple(ordered), max(map(len, cells)), provenance=Provenance.LEARNED)


def _tally(table: Table, asked: Mapping[str, exp.Expr]) -> dict[str, Any]:
    return tally(lambda expressions: table.aggregate(*expressions), asked)


def _keys(column: Column) -> tuple[str, ...]:
    if column.storage is Kind.TEXT:
        return ("filled", "distinct", "uuids")
    if column.storage not in _RANGED:
        return ("filled", "distinct")
    # Counting distinct numbers is dear, and only the names of identifiers make anything of it.
    named = names_a_unit(column.name) or names_a_counter(column.name)
    return ("filled", "lower", "upper", *(("distinct",) if named else ()))


def _first_questions(columns: tuple[Column, ...]) -> list[tuple[str, str, exp.Expr]]:
    return [(column.name, key, _question(column, key)) for column in columns for key in _keys(column)]


def _question(column: Column, key: str) -> exp.Expr:
    if key == "filled":
        return count_where(is_present(column))
    if key == "distinct":
        return exp.Count(this=exp.Distinct(expressions=[_cell(column)]))
    if key == "uuids":
        return count_where(exp.RegexpLike(this=reference(column), expression=exp.Literal.string(_UUID)))
    return exp.Min(this=_cell(column)) if key == "lower" else exp.Max(this=_cell(column))


def _cell(column: Column) -> exp.Expr:
    return only_where(is_present(column), reference(column))


def _second_questions(columns: tuple[Column, ...], facts: list[dict[str, Any]]) -> list[tuple[str, exp.Expr]]:
    """The values of text with few of them, and what numbers are like beside possible missing codes."""
    asked: list[tuple[str, exp.Expr]] = []
    for column, known in zip(columns, facts, strict=True):
        if column.storage is Kind.TEXT and known["distinct"] <= _MOST_CATEGORIES:
            asked.append((f"values {column.name}", exp.ArrayAgg(this=exp.Distinct(expressions=[_cell(column)]))))
        if _may_hold_codes(column, known):
            asked.extend(_questions_on_codes(column))
    return asked


def _may_hold_codes(column: Column, known: Mapping[str, Any]) -> bool:
    return column.storage in (Kind.INTEGER, Kind.REAL) and known["lower"] in NUMBER_CODES and known["upper"] >= 0


def _questions_on_codes(column: Column) -> list[tuple[str, exp.Expr]]:
    codes = {code: constant(code, column.storage) for code in NUMBER_CODES}
    other = exp.and_(is_present(column), exp.Not(this=is_one_of(reference(column), codes.values())), copy=False)
    rest = only_where(other, reference(column))
    counts = [
        (f"{code} {column.name}", count_where(exp.EQ(this=reference(column), expression=value)))
        for code, value in codes.items()
    ]
    return [*counts, (f"rest {column.name}", exp.Min(this=rest))]


def _read_second(column: Column, second: Mapping[str, Any]) -> dict[str, Any]:
    if f"values {column.name}" in second:
        values = sorted(value for value in second[f"values {column.name}"] or () if value is not None)
        kept = tuple(value for value in values if value.strip() and value not in TEXT_CODES)
        return {"values": kept, "codes": tuple(value for value in values if value not in kept)} if kept else {}
    rest = second.get(f"rest {column.name}")
    if rest is None or rest < 0:
        return {}
    codes = tuple(code for code in NUMBER_CODES if second[f"{code} {column.name}"])
    return {"lower": rest, "codes": codes}


def _propose(column: Column, facts: _ColumnFacts) -> tuple[Column, str]:
    role, reason = _role(column, facts)
    missing = tuple(dict.fromkeys((*column.missing, *facts.codes)))
    reasons = [reason, *_remarks(missing, facts)]
    kind, bounds, categories = (Kind.TEXT if column.storage is Kind.TEXT else column.storage), None, None
    if facts.symbols is not None:
        role = Role.QUASI_IDENTIFIER if role is Role.IDENTIFIER else role
        count = len(facts.symbols.tokens)
        reasons[0] = f"its cells are sequences of {count_noun(count, 'symbol')}; list all that are publicly known"
        return Column(column.name, kind, role, missing=missing, sequence=facts.symbols), "; ".join(reasons)
    if facts.values and role is not Role.IDENTIFIER:
        kind, categories = Kind.CATEGORY, Categories(facts.values, Provenance.LEARNED)
        count = len(facts.values)
        reasons.insert(1, f"{count_noun(count, 'distinct value')}, so a category")
    elif facts.lower is not None and facts.upper is not None and role is not Role.IDENTIFIER:
        bounds = Bounds(facts.lower, facts.upper, Provenance.LEARNED)
    return Column(column.name, kind, role, bounds, categories, missing=missing), "; ".join(reasons)


def _remarks(missing: tuple[MissingCode, ...], facts: _ColumnFacts) -> list[str]:
    remarks = []
    if missing:
        listed = ", ".join(repr(code) for code in missing)
        remarks.append(f"{listed} {'seems' if len(missing) == 1 else 'seem'} to mean missing")
    if facts.unreadable:
        cells = "cell cannot be read and counts" if facts.unreadable == 1 else "cells cannot be read and count"
        remarks.append(f"{facts.unreadable} {cells} as missing")
    return remarks


def _role(column: Column, facts: _ColumnFacts) -> tuple[Role, str]:
    hint = role_in_name(column.name)
    if hint is not None:
        return hint[0], f"its name says {hint[1]!r}"
    if facts.constant:
        return Role.INSENSITIVE, "all its cells are equal" if facts.filled else "all its cells are missing"
    found = _identifier(column, facts) if column.storage in (Kind.TEXT, Kind.INTEGER) else ""
    if found:
        return Role.IDENTIFIER, found
    if names_a_counter(column.name) and facts.consecutive:
        return Role.INSENSITIVE, "it only counts the rows"
    return Role.QUASI_IDENTIFIER, "nothing is known of it, so treat it as telling until you decide"


def _identifier(column: Column, facts: _ColumnFacts) -> str:
    """Why a column of text or integers is an identifier; nothing if it is not."""
    word = names_a_unit(column.name)
    if word and facts.filled <= 1:
        return f"its name says {word!r}"
    if word and facts.unique:
        return f"its name says {word!r} and no value repeats"
    if word and (facts.distinct or 0) > 2:
        return f"its name says {word!r} and values repeat: it may be the unit (unit: {{person: {column.name}}})"
    if column.storage is not Kind.TEXT:
        return ""
    if facts.filled and facts.uuids == facts.filled:
        return "its values look like UUIDs"
    unique = facts.filled >= _ENOUGH_ROWS and (facts.distinct or 0) >= _NEARLY_UNIQUE * facts.filled
    return "nearly every value is unique" if unique else ""
