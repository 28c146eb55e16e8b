"""Propose a schema from the data, for a steward to correct."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ziggurat.cards import Card, Shown
from ziggurat.data._table import Table
from ziggurat.data.reading.suggesting._facts import ColumnFacts, look_at
from ziggurat.data.reading.suggesting._roles import propose_role
from ziggurat.data.schema import Bounds, Categories, Column, Kind, Provenance, Role, Schema
from ziggurat.wording import count_noun


@dataclass(frozen=True)
class Suggestion(Shown):
    """A proposed schema, and for each column the reason in words. It holds private values: see `suggest_schema`."""

    schema: Schema
    reasons: Mapping[str, str]

    def _card(self) -> Card:
        said = f"A proposal for {count_noun(len(self.schema), 'column')}, learned from the data: correct it."
        rows = [
            (each.name, each.kind.value, each.role.value, self.reasons.get(each.name, ""))
            for each in self.schema.columns
        ]
        return Card("Suggestion", said, badge="private", heads=("column", "kind", "role", "because"), rows=rows)


def suggest_schema(table: Table) -> Suggestion:
    """Propose kinds, roles, bounds, categories and missing codes by looking at the data.

    The proposal is for the steward's eyes only. It contains private values: every minimum, maximum, category and
    missing code in it was read off somebody's row. Bounds and categories are marked as learned, so no method will
    use them until the steward has replaced them by what is publicly known, or paid for them.

    Roles are guesses: the words of a name speak first (in English, German, French, Spanish, Italian and Dutch), unless
    the cells contradict them. A column with two values, or with few that repeat, is no identifier; one whose cells are
    all equal is insensitive; text that hardly repeats, or looks like e-mail addresses, phone numbers, IBANs, card
    numbers, UUIDs or national ids, is an identifier whatever its name, and so is free text. Identifiers are out of
    sight of every question, and their reasons say so. A column of which nothing is known is proposed as a
    quasi-identifier, the careful choice. What texts look like is seen in the first 1,000 rows.
    Text with at most 50 distinct values becomes a category, and text whose cells hold a few symbols again and again,
    with blanks between them, a column of sequences; the symbols, and how many count, are read off its first 10,000
    cells. A column of zeros and ones stays an integer with these bounds, so that its sum is a count. Marks such as "?"
    and "NA", and numbers such as -9 below values that are otherwise not negative, are proposed as missing codes;
    numbers such as 99 and 999 at least four times as large as all others, and days such as 1900-01-01, are only
    mentioned. What the table's own schema or file says (labels, categories, notation) stays. Columns of a type that no
    kind describes are left out of the schema; the reasons name them.

    Parameters
    ----------
    table
        Usually opened without a schema.
    """
    columns, reasons = [], {}
    for column, facts in look_at(table):
        proposed, reason = _propose(column, facts)
        columns.append(proposed)
        reasons[column.name] = "; ".join(each for each in (table.reasons.get(column.name), reason) if each)
    for name in table.left_out:
        reasons[name] = "no kind describes its type, so it is left out"
    declared = table.declared
    return Suggestion(replace(declared, columns=tuple(columns), unit=table.unit), reasons)


def _propose(column: Column, facts: ColumnFacts) -> tuple[Column, str]:
    role, reason = propose_role(column, facts)
    known = replace(column, role=role, missing=tuple(dict.fromkeys((*column.missing, *facts.codes))))
    known, about = _describe(known, facts)
    if facts.look is not None and facts.look.symbols is not None:
        reason = ""
    return known, "; ".join(each for each in (reason, *about, *_remark(known, facts)) if each)


def _describe(column: Column, facts: ColumnFacts) -> tuple[Column, list[str]]:
    """The column with what its cells show of it, all of it learned; what the file itself says stays."""
    symbols = facts.look.symbols if facts.look is not None else None
    if symbols is not None and column.kind is Kind.TEXT:
        count = count_noun(len(symbols.tokens), "symbol")
        return replace(column, sequence=symbols), [
            f"its cells are sequences of {count}; list all that are publicly known"
        ]
    if column.role is Role.IDENTIFIER or column.categories is not None or column.bounds is not None:
        return column, []
    if facts.values and column.storage is Kind.TEXT:
        categories = Categories(facts.values, Provenance.LEARNED)
        described = replace(column, kind=Kind.CATEGORY, categories=categories)
        return described, [f"{count_noun(len(facts.values), 'distinct value')}, so a category"]
    if facts.lower is not None and facts.upper is not None:
        return replace(column, bounds=Bounds(facts.lower, facts.upper, Provenance.LEARNED)), []
    return column, []


def _remark(column: Column, facts: ColumnFacts) -> Iterator[str]:
    if column.missing:
        listed = ", ".join(repr(code) for code in column.missing)
        yield f"{listed} {'seems' if len(column.missing) == 1 else 'seem'} to mean missing"
    if facts.far:
        listed = ", ".join(str(code) for code in facts.far)
        stand, mean = ("stands", "it means") if len(facts.far) == 1 else ("stand", "they mean")
        above = f"{listed} {stand} far above the rest (next largest {facts.rest})"
        yield f"{above}: if {mean} missing, add missing: [{listed}]"
    for day, count in facts.stand_ins:
        cells = "1 cell is" if count == 1 else f"{count:,} cells are"
        yield f"{cells} {day}: if that means missing, add it to 'missing' as the data write it"
    if column.labels:
        yield f"{count_noun(len(column.labels), 'code')} with a label"
    if facts.unreadable:
        cells = "cell cannot be read and counts" if facts.unreadable == 1 else "cells cannot be read and count"
        yield f"{facts.unreadable} {cells} as missing"
