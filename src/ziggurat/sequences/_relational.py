"""Pieces of queries, and of their answers, that every reading of sequences needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Kind, Schema
from ziggurat.data.expressions import cast_to, constant, reference
from ziggurat.sequences._domain import Token

Numbers = npt.NDArray[Any]


def window(what: exp.Expr, within: Sequence[str], order: Sequence[str | exp.Expr] = ()) -> exp.Expr:
    """A window over the rows that share some keys, in order if one is given."""
    keys = [exp.column(each) if isinstance(each, str) else each for each in order]
    ordered = exp.Order(expressions=[exp.Ordered(this=key) for key in keys]) if keys else None
    return exp.Window(this=what, partition_by=[exp.column(each) for each in within], order=ordered)


def flag(condition: exp.Expr) -> exp.Expr:
    """1 where a condition holds, and 0 elsewhere."""
    return exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))


def class_code(schema: Schema, label: str | None, classes: Sequence[Token]) -> exp.Expr:
    """The code of a row's class; 0 where sequences have no classes, and -1 where a row has none of them."""
    if label is None:
        return exp.Literal.number(0)
    column = schema[label]
    is_truth = column.kind is Kind.BOOLEAN
    cell = cast_to(reference(column), "INT") if is_truth else reference(column)
    storage = Kind.INTEGER if is_truth else column.storage
    cases = [
        exp.If(this=exp.EQ(this=cell, expression=constant(each, storage)), true=exp.Literal.number(code))
        for code, each in enumerate(classes)
    ]
    return exp.Case(ifs=cases, default=exp.Literal.number(-1))


def first_class(label: str, keys: Sequence[str], order: Sequence[str | exp.Expr]) -> exp.Expr:
    """The class of the first row in order that has one, for every row of a sequence."""
    unclassed = flag(exp.LT(this=exp.column(label), expression=exp.Literal.number(0)))
    return window(exp.FirstValue(this=exp.column(label)), keys, [unclassed, *order, label])


def has_class() -> exp.Expr:
    """The condition that a sequence has a class, where classes are asked for."""
    return exp.GTE(this=exp.column("label"), expression=exp.Literal.number(0))


def numbers_of(batch: pa.RecordBatch, name: str) -> Numbers:
    """A column of an answer as an array."""
    return np.asarray(batch.column(name).to_numpy(zero_copy_only=False))
