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

from ziggurat.data.expressions import count_where, is_present, reference
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

_TEXTS, _COUNTS = "text", "rows"


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
    return tuple(each.name for each in open_ones if _are_written(*_count_texts(table, each)))


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


def _count_texts(table: Table, column: Column) -> tuple[int, int, int]:
    """How many different texts there are, in how many cells, and how many of them are rare and long."""
    inner = (
        table.select(reference(column).as_(_TEXTS, quoted=True), exp.Count(this=exp.Star()).as_(_COUNTS, quoted=True))
        .where(is_present(column))
        .group_by(exp.Literal.number(1))
    )
    text, rows = exp.column(_TEXTS, quoted=True), exp.column(_COUNTS, quoted=True)
    length = exp.Length(this=text)
    bare = exp.Length(this=exp.func("REPLACE", text.copy(), exp.Literal.string(" "), exp.Literal.string("")))
    blanks = exp.Sub(this=exp.Length(this=text.copy()), expression=bare)
    long = exp.or_(
        exp.GT(this=length, expression=exp.Literal.number(LONGEST_LABEL)),
        exp.GTE(this=blanks, expression=exp.Literal.number(MOST_WORDS)),
    )
    told = exp.and_(exp.paren(long), exp.LT(this=rows, expression=exp.Literal.number(RARE_LABEL)))
    asked = [
        exp.Count(this=exp.Star()).as_("different"),
        exp.Sum(this=rows.copy()).as_("filled"),
        count_where(told).as_("told"),
    ]
    answer = table.query(exp.select(*asked).from_(inner.subquery("texts"))).to_pylist()[0]
    return tuple(int(answer[key] or 0) for key in ("different", "filled", "told"))  # type: ignore[return-value]


def _are_written(different: int, filled: int, told: int) -> bool:
    return told > 0 or (different > FEW_LABELS and different > filled / 2)
