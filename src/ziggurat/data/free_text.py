"""Free text: what it is, where a table holds it, and the sentence that refuses it.

A column *holds free text* if its kind is text, it has neither hierarchy nor sequence, its role is not identifier, and
its cells are not labels. Labels repeat, and a rare one is short. What should leave although it looks otherwise is
declared as a category in the schema: then somebody said that its values are a list.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from sqlglot import exp

from ziggurat.data.expressions import count_where, is_present, only_where, reference
from ziggurat.data.schema import Column, Kind, Role
from ziggurat.wording import list_names

if TYPE_CHECKING:
    from ziggurat.data._table import Table

FEW_LABELS = 20
"""So many different texts are labels, even if none of them repeats."""

RARE_LABEL = 5
"""A text that fewer rows hold is rare."""

LONGEST_LABEL, MOST_WORDS = 40, 4
"""A rare label has at most so many characters and words; a longer one is a sentence that somebody wrote."""


def may_be_free_text(column: Column) -> bool:
    """Return whether the schema leaves it open that a column holds free text; no cell is looked at.

    Parameters
    ----------
    column
        As it is declared.
    """
    known = column.hierarchy is not None or column.sequence is not None
    return column.kind is Kind.TEXT and column.role is not Role.IDENTIFIER and not known


def free_text_in(table: Table, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the columns of a table that hold free text; not private, for the steward only.

    Parameters
    ----------
    table
        Its cells are counted in its engine.
    names
        Which columns are looked at; by default all that queries see but the one that tells units apart.
    """
    asked = [table.schema[name] for name in (table.schema.names if names is None else names)]
    open_ones = [each for each in asked if may_be_free_text(each) and each.name != table.unit.column]
    counts = table.tally(open_ones, _ask_texts)
    return tuple(each.name for each in open_ones if _holds_free_text(table, each, **counts[each.name]))


def is_free_text(cells: pa.ChunkedArray) -> bool:
    """Return whether the cells of an Arrow column are free text; of anything but text they are not.

    Parameters
    ----------
    cells
        Missing ones do not count.
    """
    if not (kinds.is_string(cells.type) or kinds.is_large_string(cells.type) or kinds.is_string_view(cells.type)):
        return False
    counted = pc.value_counts(cells.cast(pa.string()).combine_chunks().drop_null())
    texts, rows = counted.field(0), counted.field(1)
    blanks = pc.count_substring(texts, " ")
    long = pc.or_(pc.greater(pc.utf8_length(texts), LONGEST_LABEL), pc.greater_equal(blanks, MOST_WORDS))
    told = pc.sum(pc.and_(long, pc.less(rows, RARE_LABEL))).as_py() or 0
    return _are_written(len(texts), pc.sum(rows).as_py() or 0, told)


def say_dropped(names: Iterable[str]) -> str:
    """Return the sentence that says which columns were dropped because they hold free text; nothing if none was.

    Parameters
    ----------
    names
        Of the columns.
    """
    listed = list(names)
    if not listed:
        return ""
    hold = "holds free text and was" if len(listed) == 1 else "hold free text and were"
    return f"{list_names(listed)} {hold} dropped."


def refuse_free_text(name: str, drop: str = "--drop") -> str:
    """Return the one sentence that refuses a column of free text and names the choices.

    Parameters
    ----------
    name
        Of the column.
    drop
        The option that drops columns where the sentence is read.
    """
    return (
        f"Column {name!r} holds free text, which may name anybody: drop it ({drop} {name}), mask it first "
        f"(ziggurat mask ... --text {name}), turn it into codes first (ziggurat mask ... --codes {name}), or declare "
        "it as a category in the schema if its values are a list."
    )


def _ask_texts(column: Column) -> dict[str, exp.Expr]:
    """How many different texts there are, in how many cells, and how many of the cells are long."""
    text, present = reference(column), is_present(column)
    return {
        "different": exp.Count(this=exp.Distinct(expressions=[only_where(present, text)])),
        "filled": count_where(is_present(column)),
        "long": count_where(exp.and_(is_present(column), exp.paren(_is_long(text)))),
    }


def _holds_free_text(table: Table, column: Column, different: int, filled: int, long: int) -> bool:
    """Only where cells are long, and do not settle it by being different, each text is counted."""
    return _are_written(different, filled, 0) or (long > 0 and _has_rare_long_text(table, column))


def _has_rare_long_text(table: Table, column: Column) -> bool:
    text, rows = reference(column), exp.Count(this=exp.Star())
    rare = exp.LT(this=rows, expression=exp.Literal.number(RARE_LABEL))
    long = exp.and_(is_present(column), exp.paren(_is_long(text)))
    found = exp.select(rows.copy().as_("rows")).from_(table.relation([column.name])).where(long)
    return bool(table.query(found.group_by(text.copy()).having(rare).limit(1)).num_rows)


def _is_long(text: exp.Expr) -> exp.Expr:
    bare = exp.Length(this=exp.func("REPLACE", text.copy(), exp.Literal.string(" "), exp.Literal.string("")))
    blanks = exp.Sub(this=exp.Length(this=text.copy()), expression=bare)
    return exp.or_(
        exp.GT(this=exp.Length(this=text.copy()), expression=exp.Literal.number(LONGEST_LABEL)),
        exp.GTE(this=blanks, expression=exp.Literal.number(MOST_WORDS)),
    )


def _are_written(different: int, filled: int, told: int) -> bool:
    return told > 0 or (different > FEW_LABELS and different > filled / 2)
