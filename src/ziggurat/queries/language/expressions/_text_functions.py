"""Functions of text that mean the same on every engine.

Letters beyond ASCII change case by rules that differ from engine to engine, and from server to server, so LOWER and
UPPER leave them alone; TRIM removes spaces and no other blanks.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from string import ascii_lowercase, ascii_uppercase

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.expressions import cast_to
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Constant, Value
from ziggurat.queries.language.expressions._cells import call, is_nothing, make_value

_LONGEST_JOINED = 1_000
_MOST_CATEGORIES = 10_000
_TO_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_TO_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)


def length(value: Value) -> Value:
    """Return how many characters (code points) a text has."""
    sizes = None if _text(value, "LENGTH").categories is None else [len(str(each)) for each in value.categories or ()]
    ends = (min(sizes), max(sizes)) if sizes else (0, None)
    return make_value(cast_to(exp.Length(this=value.sql), "BIGINT"), Kind.INTEGER, *ends)


def lower(value: Value) -> Value:
    """Return a text with the letters A to Z in lower case."""
    return _translate(_text(value, "LOWER"), ascii_uppercase, ascii_lowercase, _TO_LOWER, "LOWER")


def upper(value: Value) -> Value:
    """Return a text with the letters a to z in upper case."""
    return _translate(_text(value, "UPPER"), ascii_lowercase, ascii_uppercase, _TO_UPPER, "UPPER")


def _translate(value: Value, old: str, new: str, table: dict[int, int], name: str) -> Value:
    sql = exp.Anonymous(this="TRANSLATE", expressions=[value.sql, exp.Literal.string(old), exp.Literal.string(new)])
    listed = _map_texts(value, lambda text: text.translate(table))
    return make_value(sql, Kind.TEXT, categories=listed, written=call(name, value.sql))


def trim(value: Value) -> Value:
    """Return a text without the spaces at its ends."""
    sql = exp.Trim(this=_text(value, "TRIM").sql, expression=exp.Literal.string(" "))
    return make_value(sql, Kind.TEXT, categories=_map_texts(value, lambda text: text.strip(" ")))


def substring(value: Value, start: int, size: int | None) -> Value:
    """Return `size` characters of a text from the place `start` on, counted from 1; all of them if size is None."""
    if start < 1 or (size is not None and size < 0) or max(start, size or 0) > 2**31 - 1:
        raise QuestionError("SUBSTRING(text, start, length) counts from 1 and takes a length of at least 0.")
    sql = exp.Substring(this=_text(value, "SUBSTRING").sql, start=exp.Literal.number(start))
    if size is not None:
        sql.set("length", exp.Literal.number(size))
    end = None if size is None else start - 1 + size
    return make_value(sql, Kind.TEXT, categories=_map_texts(value, lambda text: text[start - 1 : end]))


def join_texts(left: Value, right: Value) -> Value:
    """Return one text after another; NULL if one of them is.

    Unless both are known, what is longer than 1,000 characters is cut: joined again and again, a long cell would
    otherwise fill the memory of the engine, and the failure would tell of that cell.
    """
    sql: exp.Expr = exp.DPipe(this=_text(left, "||").sql, expression=_text(right, "||").sql)
    pairs = _pairs(left, right)
    if pairs is None:
        one, most = exp.Literal.number(1), exp.Literal.number(_LONGEST_JOINED)
        sql = exp.Substring(this=exp.paren(sql), start=one, length=most)
    return make_value(sql, Kind.TEXT, categories=pairs)


def as_text(value: Value) -> Value:
    """Return a whole number in digits; text stays as it is."""
    if value.kind is Kind.TEXT and not is_nothing(value):
        return value
    if value.kind is not Kind.INTEGER:
        raise QuestionError(f"A value of kind {value.kind} is written differently by each engine; keep it as it is.")
    listed = value.domain(_MOST_CATEGORIES)
    categories = None if listed is None else tuple(str(each) for each in listed)
    return make_value(cast_to(value.sql, "TEXT"), Kind.TEXT, categories=categories)


def _text(value: Value, what: str) -> Value:
    if value.kind is not Kind.TEXT or is_nothing(value):
        raise QuestionError(f"{what} needs text, not a value of kind {value.kind}.")
    return value


def _map_texts(value: Value, function: Callable[[str], str]) -> tuple[Constant, ...] | None:
    if value.categories is None:
        return None
    return tuple(dict.fromkeys(function(str(each)) for each in value.categories))


def _pairs(left: Value, right: Value) -> tuple[Constant, ...] | None:
    if left.categories is None or right.categories is None:
        return None
    if len(left.categories) * len(right.categories) > _MOST_CATEGORIES:
        return None
    return tuple(dict.fromkeys(f"{a}{b}" for a, b in product(left.categories, right.categories)))
