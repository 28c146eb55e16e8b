"""Propose a schema from the data, for a steward to correct."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from ziggurat.data._column import Bounds, Categories, Column, Kind, Provenance, Role
from ziggurat.data._expressions import count_where, present, reference
from ziggurat.data._schema import Schema
from ziggurat.data._table import Table

_MOST_CATEGORIES = 50
_NEARLY_UNIQUE = 0.95
_ENOUGH_ROWS = 20
_TELLING_NAMES = (
    (Role.IDENTIFIER, r"name|surname|forename|e?mail|phone|telephone|ssn|passport|iban|address"),
    (Role.SENSITIVE, r"diagnosis|disease|hiv|income|salary|wages?|religion|medication|treatment|illness|icd|debt"),
    (
        Role.QUASI_IDENTIFIER,
        r"age|sex|gender|zip|zipcode|postcode|postal|birth|birthda(?:y|te)|dob|race|ethnicity|nationality|country"
        r"|county|city|region|marital|education|occupation",
    ),
)


@dataclass(frozen=True)
class Suggestion:
    """A proposed schema, and for each column the reason in words. It holds private values: see `suggest_schema`."""

    schema: Schema
    reasons: Mapping[str, str]


def suggest_schema(table: Table) -> Suggestion:
    """Propose kinds, roles, bounds and categories by looking at the data.

    The proposal is for the steward's eyes only. It contains private values: every minimum, maximum and
    category in it was read off somebody's row. All of them are marked as learned, so no method will use them
    until the steward has replaced them by what is publicly known, or paid for them.

    Parameters
    ----------
    table
        Usually opened without a schema.
    """
    counts = _counts(table)
    columns, reasons = [], {}
    for place, column in enumerate(table.schema.columns):
        facts = {key: counts.get(f"{key}_{place}") for key in ("filled", "distinct", "lower", "upper")}
        proposed, reason = _proposed(table, column, facts)
        columns.append(proposed)
        reasons[column.name] = reason
    return Suggestion(Schema(tuple(columns), table.unit, table.schema.name), reasons)


def _counts(table: Table) -> dict[str, Any]:
    wanted: list[exp.Expr] = []
    for place, column in enumerate(table.schema.columns):
        cell = exp.case().when(present(column), reference(column)).else_(exp.null())
        wanted.append(count_where(present(column)).as_(f"filled_{place}"))
        wanted.append(exp.Count(this=exp.Distinct(expressions=[cell])).as_(f"distinct_{place}"))
        if column.storage in (Kind.INTEGER, Kind.REAL, Kind.DATE):
            wanted.append(exp.Min(this=cell.copy()).as_(f"lower_{place}"))
            wanted.append(exp.Max(this=cell.copy()).as_(f"upper_{place}"))
    (answer,) = table.aggregate(*wanted).to_pylist()
    return dict(answer)


def _proposed(table: Table, column: Column, facts: Mapping[str, Any]) -> tuple[Column, str]:
    role, reason = _role(column, facts)
    few = 0 < facts["distinct"] <= _MOST_CATEGORIES and role is not Role.IDENTIFIER
    if column.storage is Kind.TEXT and few:
        values = _categories(table, column)
        described = f"{reason}; {len(values)} distinct values, so a category"
        return Column(column.name, Kind.CATEGORY, role, categories=Categories(values, Provenance.LEARNED)), described
    bounds = None
    if facts["lower"] is not None and role is not Role.IDENTIFIER:
        bounds = Bounds(facts["lower"], facts["upper"], Provenance.LEARNED)
    kind = Kind.INTEGER if column.storage is Kind.INTEGER else column.kind
    kind = Kind.TEXT if kind is Kind.CATEGORY else kind
    return Column(column.name, kind, role, bounds), reason


def _categories(table: Table, column: Column) -> tuple[Any, ...]:
    answer = table.aggregate(where=present(column), group_by=[column.name])
    return tuple(sorted(answer.column(0).to_pylist()))


def _role(column: Column, facts: Mapping[str, Any]) -> tuple[Role, str]:
    words = _words(column.name)
    for role, names in _TELLING_NAMES:
        telling = [word for word in words if re.fullmatch(names, word)]
        if telling:
            return role, f"its name says {telling[0]!r}"
    unique = facts["filled"] >= _ENOUGH_ROWS and facts["distinct"] >= _NEARLY_UNIQUE * facts["filled"]
    if unique and column.storage in (Kind.TEXT, Kind.INTEGER):
        return Role.IDENTIFIER, "nearly every value is unique"
    if "id" in words:
        return Role.IDENTIFIER, "its name says 'id' and values repeat: perhaps it is the column of the unit"
    return Role.INSENSITIVE, "nothing in its name or values speaks for another role"


def _words(name: str) -> list[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return re.findall(r"[a-z]+", spaced.lower())
