"""Lay out JSON for a page: facts in two columns, lists of things in a table, before and after side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_MOST_ROWS, _LONGEST = 60, 400
_PAIR = ("before", "after")


class Laid(NamedTuple):
    """A table for a page; cells are text already, and `left_out` rows did not fit."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int = 0


def tables(value: Any, title: str = "") -> Iterator[Laid]:
    """Lay out any JSON value."""
    if _is_pair(value):
        yield _pair_rows(title, value)
    elif isinstance(value, Mapping):
        yield from _rows_of(title, value)
    elif isinstance(value, list | tuple) and value and all(isinstance(each, Mapping) for each in value):
        yield _list_rows(title, value)
    elif value not in (None, [], ()):
        yield _cut_rows(title, (), [[in_text(value)]])


def _rows_of(title: str, value: Mapping[str, Any]) -> Iterator[Laid]:
    pairs = {name: each for name, each in value.items() if _is_pair(each) and not _is_nested(each["before"])}
    leaves = {name: each for name, each in value.items() if not _is_nested(each) and each is not None}
    if leaves:
        yield _cut_rows(title, (), [[_as_words(name), in_text(each)] for name, each in leaves.items()])
    if pairs:
        rows = [[_as_words(name), *(in_text(each[side]) for side in _PAIR)] for name, each in pairs.items()]
        yield _cut_rows(title, ("", *_PAIR), rows)
    for name, each in value.items():
        if name not in pairs and _is_nested(each):
            yield from tables(each, f"{title}: {_as_words(name)}" if title else _as_words(name))


def _pair_rows(title: str, value: Mapping[str, Any]) -> Laid:
    before, after = (_flat(value[side]) for side in _PAIR)
    names = list(dict.fromkeys([*before, *after]))
    return _cut_rows(title, ("", *_PAIR), [[name, before.get(name, "–"), after.get(name, "–")] for name in names])


def _list_rows(title: str, value: Sequence[Mapping[str, Any]]) -> Laid:
    flat = [_flat(each) for each in value]
    heads = list(dict.fromkeys(name for each in flat for name in each))
    return _cut_rows(title, heads, [[each.get(name, "–") for name in heads] for each in flat])


def _cut_rows(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Laid:
    return Laid(title, heads, rows[:_MOST_ROWS], max(0, len(rows) - _MOST_ROWS))


def _flat(value: Any, above: str = "") -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {above or "figure": in_text(value)}
    found: dict[str, str] = {}
    for name, each in value.items():
        found |= _flat(each, f"{above}: {_as_words(name)}" if above else _as_words(name))
    return found


def _is_pair(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == set(_PAIR)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list | tuple) and any(isinstance(each, Mapping | list | tuple) for each in value)
    )


def _as_words(name: object) -> str:
    return str(name).replace("_", " ")


def in_text(value: Any) -> str:
    """Write a leaf for people."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return _short(", ".join(in_text(each) for each in value))
    if isinstance(value, Mapping):
        return _short("; ".join(f"{name}: {each}" for name, each in _flat(value).items()))
    return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
