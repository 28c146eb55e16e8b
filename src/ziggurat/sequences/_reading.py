"""Reading sequences from a table, wide or long, in any engine.

A sequence is read from its own rows alone, by rules that no other row can change: unknown symbols are left out, only
the first `longest` count, and what has no owner, or no class of the domain, is left out without a word. So the
sequences of neighbouring tables are neighbours, and no message tells of a cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ziggurat.data import Table, open_table
from ziggurat.data.expressions import is_filled, is_present, only_where, reference
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._layout import SequenceLayout, domain_of
from ziggurat.sequences._relational import Numbers, class_code, first_class, flag, has_class, numbers_of, window
from ziggurat.sequences._sequences import Sequences


def read_sequences(table: object, layout: SequenceLayout | None = None) -> Sequences:
    """Read sequences; raw until a mechanism has protected them.

    The engine puts the rows of a long table in order, leaves out what does not count, and answers piece by piece, so
    that memory holds little more than the codes.

    Parameters
    ----------
    table
        A table, or anything that `ziggurat.data.read` opens.
    layout
        Where sequences stand in it; by default in the one column that the schema declares with `sequence:`.
    """
    held = open_table(table)
    where = layout or SequenceLayout.of(held.declared)
    domain = domain_of(held.declared, where)
    return _read_wide(held, where, domain) if where.is_wide else _read_long(held, where, domain)


class _SequenceRows:
    """Pieces of an answer: codes one after the other, and where sequences begin."""

    def __init__(self, domain: SequenceDomain) -> None:
        self._domain, self._size = domain, 0
        self._codes: list[Numbers] = []
        self._starts: list[Numbers] = []
        self._labels: list[Numbers] = []

    def add(self, codes: Numbers, starts: Numbers, labels: Numbers) -> None:
        """Take in some sequences, of which the last may go on in the next piece."""
        self._codes.append(codes.astype(np.int32))
        self._starts.append(starts + self._size)
        self._labels.append(labels)
        self._size += len(codes)

    def sequences(self, owners: Numbers | None) -> Sequences:
        """All of them, as ragged arrays."""
        codes, starts, labels = map(_join, (self._codes, self._starts, self._labels))
        offsets = np.append(starts, self._size)
        return Sequences(self._domain, codes, offsets, labels if self._domain.classes else None, owners)


def _read_wide(table: Table, layout: SequenceLayout, domain: SequenceDomain) -> Sequences:
    separator, tokens = table.declared[layout.sequence].public_symbols().separator, pa.array(domain.tokens)
    found, whose = _SequenceRows(domain), []
    for batch in table.engine.batches(_cells(table, layout, domain)):
        codes, lengths = _code_texts(batch.column("cell"), separator, tokens, domain.longest)
        found.add(codes, np.cumsum(lengths) - lengths, numbers_of(batch, "label"))
        whose.append(batch.column("owner"))
    return found.sequences(None if domain.unit.is_row else _number_owners(whose))


def _cells(table: Table, layout: SequenceLayout, domain: SequenceDomain) -> exp.Expr:
    cell, unit = table.declared[layout.sequence], domain.unit.column
    # A file of text cannot tell an empty cell from a missing one: both are an empty sequence.
    text = exp.Coalesce(this=only_where(is_present(cell), reference(cell)), expressions=[exp.Literal.string("")])
    owner = exp.Literal.number(0) if unit is None else reference(table.declared[unit])
    owned = [] if unit is None else [is_present(table.declared[unit])]
    asked = (
        text.as_("cell"),
        owner.as_("owner"),
        class_code(table.declared, layout.label, domain.classes).as_("label"),
    )
    cells = exp.select(*asked).from_(_rows(table, layout, domain)).where(*owned)
    return exp.select("*").from_(cells.subquery("cells")).where(has_class())


def _code_texts(texts: pa.Array, separator: str, tokens: pa.Array, longest: int) -> tuple[Numbers, Numbers]:
    """The codes of all texts, one after the other, and how many of each."""
    pieces = pc.split_pattern(texts, separator)
    found = pc.index_in(pieces.flatten(), value_set=tokens).fill_null(-1).to_numpy(zero_copy_only=False)
    whose = np.repeat(np.arange(len(texts)), pc.list_value_length(pieces).to_numpy(zero_copy_only=False))
    codes, lengths = found[found >= 0], np.bincount(whose[found >= 0], minlength=len(texts))
    inside = np.arange(len(codes)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return codes[inside < longest], np.minimum(lengths, longest)


def _number_owners(columns: Sequence[pa.Array]) -> Numbers:
    if not columns:
        return np.zeros(0, np.int64)
    coded = pa.chunked_array(columns).combine_chunks().dictionary_encode()
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), np.int64)


def _read_long(table: Table, layout: SequenceLayout, domain: SequenceDomain) -> Sequences:
    lent = table.engine.lend(pa.table({"token": list(domain.tokens), "code": np.arange(domain.size)}))
    found, firsts = _SequenceRows(domain), [np.zeros(0, np.bool_)]
    try:
        for batch in table.engine.batches(_in_order(table, layout, domain, lent)):
            begins = numbers_of(batch, "place") == 1
            known = batch.column("code").is_valid().to_numpy(zero_copy_only=False)
            before = np.cumsum(known) - known
            found.add(numbers_of(batch, "code")[known], before[begins], numbers_of(batch, "label")[begins])
            firsts.append((numbers_of(batch, "turn") == 1)[begins])
    finally:
        table.engine.take_back(lent)
    return found.sequences(np.cumsum(np.concatenate(firsts)) - 1)


def _in_order(table: Table, layout: SequenceLayout, domain: SequenceDomain, lent: exp.Expr) -> exp.Expr:
    """The symbols that count, owner by owner and sequence by sequence, each with its place in its sequence.

    A sequence without a known symbol keeps one row: it is an empty sequence. `turn` is 1 where an owner begins.
    """
    keys = ["owner", "number"]
    unknown = flag(exp.Is(this=exp.column("code"), expression=exp.Null()))
    place = window(exp.RowNumber(), keys, [unknown, "nowhere", "at", "code"])
    label: exp.Expr = exp.column("label")
    if layout.label is not None:
        label = first_class("label", keys, ["nowhere", "at"])
    placed = exp.select(*keys, "code", place.as_("place"), label.as_("label"))
    placed = placed.from_(_symbols(table, layout, domain, lent).subquery("coded"))
    some = exp.or_(is_filled(exp.column("code")), exp.EQ(this=exp.column("place"), expression=exp.Literal.number(1)))
    within = exp.LTE(this=exp.column("place"), expression=exp.Literal.number(domain.longest))
    turn = window(exp.RowNumber(), keys[:1], ["number", "place"])
    kept = exp.select(*keys, "code", "place", "label", turn.as_("turn")).from_(placed.subquery("placed"))
    return kept.where(some, within, has_class()).order_by(*keys, "place")


def _symbols(table: Table, layout: SequenceLayout, domain: SequenceDomain, lent: exp.Expr) -> exp.Select:
    """One row for each symbol of which it is known whose it is and in which sequence; known symbols by their code."""
    declared = table.declared
    owner, number = declared[domain.unit.column or ""], declared[layout.sequence]
    token, order = declared[layout.token or ""], declared[layout.order or ""]
    asked = (
        reference(owner).as_("owner"),
        reference(number).as_("number"),
        reference(order).as_("at"),
        flag(exp.Not(this=is_present(order))).as_("nowhere"),
        reference(token).as_("symbol"),
        class_code(table.declared, layout.label, domain.classes).as_("label"),
    )
    rows = exp.select(*asked).from_(_rows(table, layout, domain)).where(is_present(owner), is_present(number))
    same = exp.EQ(this=exp.column("symbol"), expression=exp.column("token"))
    coded = exp.select("owner", "number", "at", "nowhere", "code", "label").from_(rows.subquery("symbols"))
    return coded.join(lent, on=same, join_type="left")


def _rows(table: Table, layout: SequenceLayout, domain: SequenceDomain) -> exp.Subquery:
    named = (layout.sequence, layout.token, layout.order, layout.label, domain.unit.column)
    return table.relation([], [name for name in named if name is not None])


def _join(pieces: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0, np.int32), *pieces])
