"""How things look when somebody names them: one line at a prompt, a small card in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from html import escape
from itertools import islice
from typing import Any, Literal

from ziggurat.drawing import shorten
from ziggurat.wording import count_noun, printable

Badge = Literal["", "public", "private", "rehearsal"]
"""Who may see what a card shows."""

PRIVATE = "private: steward only"
"""What stands over exact figures about people."""

_LONGEST_LINE, _LONGEST_SENTENCE, _LONGEST_FACT, _MOST_ROWS = 180, 600, 48, 60
_BADGES = {
    "public": ("public", "#1B6E4B"),
    "private": (PRIVATE, "#A4161A"),
    "rehearsal": ("rehearsal: not to be published", "#8A5A00"),
}
# Colours of text and ground are the notebook's own, so that a card is as readable in the dark as in the light.
_FRAME = "border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:8px 12px;margin:2px 0;"
_FRAME += "display:inline-block;max-width:60em;overflow-x:auto;font-size:13px;line-height:1.45"
_CHIP = "color:#fff;border-radius:4px;padding:1px 7px;margin-left:8px;font-size:11px;white-space:nowrap;background:"
_CELL = "text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:none;background:none"
_SOFT = "opacity:.72"
_SHORT = 24


@dataclass(frozen=True)
class Card:
    """What is told of something.

    Attributes
    ----------
    title, sentence
        What it is, and what it says, in words.
    line
        What it says in a line, where that is not the beginning of the sentence.
    facts
        Names and values, beneath each other.
    badge
        Who may see it.
    heads, rows
        A table, with the words over its columns.
    more
        A sentence below it all.
    """

    title: str
    sentence: str = ""
    facts: Sequence[tuple[str, str]] = ()
    badge: Badge = ""
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    more: str = ""
    line: str = ""

    def write_line(self) -> str:
        """Write it in one line, for a prompt."""
        mark = " (rehearsal)" if self.badge == "rehearsal" else ""
        said = self.line or self.sentence or ", ".join(f"{name} {value}" for name, value in self.facts)
        return f"<{_shorten_at_word(f'{self.title}{mark}: {said}' if said else self.title + mark, _LONGEST_LINE)}>"

    def write_html(self) -> str:
        """Write it for a notebook: one box without script or request, in which everything that was told is text."""
        said = f"<div>{_text(shorten(self.sentence, _LONGEST_SENTENCE))}</div>" if self.sentence else ""
        more = [] if len(self.rows) <= _MOST_ROWS else [f"{len(self.rows) - _MOST_ROWS:,} more rows are not shown."]
        below = "".join(f'<div style="{_SOFT}">{_text(each)}</div>' for each in (*more, self.more) if each)
        return f'<div style="{_FRAME}">{self._head()}{said}{self._list()}{self._table()}{below}</div>'

    def _head(self) -> str:
        words, colour = _BADGES.get(self.badge, ("", ""))
        chip = f'<span style="{_CHIP}{colour}">{words}</span>' if words else ""
        return f"<div><b>{_text(self.title)}</b>{chip}</div>"

    def _list(self) -> str:
        rows = "".join(
            f'<tr style="background:none"><td style="{_CELL};{_SOFT}">{_text(name)}</td>'
            f'<td style="{_CELL}">{_text(value)}</td></tr>'
            for name, value in self.facts
        )
        return _wrap_table(rows)

    def _table(self) -> str:
        head = "".join(f'<th style="{_CELL};{_SOFT}">{_text(each)}</th>' for each in self.heads)
        cells = (
            "".join(f'<td style="{_style_cell(each)}">{_text(each)}</td>' for each in row)
            for row in self.rows[:_MOST_ROWS]
        )
        rows = [f'<tr style="background:none">{row}</tr>' for row in (*((head,) if head else ()), *cells)]
        return _wrap_table("".join(rows))


class Shown:
    """What is met at a prompt or in a notebook: a line there, a card here, and never all that it holds.

    A class says with `_card` what is told of it; by default its `sentence`, or else its fields, none of which is told
    at length. It stays so in a dataclass, which writes a `repr` of its own only where the class has none.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Give a class without a `repr` of its own this one, before a dataclass writes one."""
        super().__init_subclass__(**more)
        if "__repr__" not in vars(cls):
            cls.__repr__ = _write_line  # type: ignore[method-assign]

    def _card(self) -> Card:
        return describe_briefly(self)

    def __repr__(self) -> str:
        """Say in a line what it is."""
        return self._card().write_line()

    def _repr_html_(self) -> str:
        return self._card().write_html()


def _write_line(shown: Shown) -> str:
    return shown._card().write_line()


def describe_briefly(shown: Any, badge: Badge = "") -> Card:
    """Tell of anything its sentence, or what its text says, and its fields, each in a few words.

    Parameters
    ----------
    shown
        Best a dataclass.
    badge
        Who may see it; a rehearsal says so itself.
    """
    marked: Badge = "rehearsal" if getattr(shown, "rehearsal", False) is True else badge
    return Card(type(shown).__name__, _say(shown), list_facts(shown), marked)


def list_facts(shown: Any) -> list[tuple[str, str]]:
    """List the fields of a dataclass, each in a few words: of what holds much, how much it is.

    Parameters
    ----------
    shown
        Other things have none.
    """
    if not is_dataclass(shown):
        return []
    held = [(each.name, getattr(shown, each.name, None)) for each in fields(shown) if each.repr and each.name[0] != "_"]
    told = [(name, value) for name, value in held if name not in ("sentence", "rehearsal")]
    return [(name.replace("_", " "), words) for name, value in told if (words := tell_value(value))]


def tell_value(value: Any) -> str:
    """Tell a value in a few words; empty where there is nothing to tell.

    Parameters
    ----------
    value
        Anything.
    """
    for kinds, tell in _TOLD:
        if isinstance(value, kinds):
            return shorten(printable(tell(value)), _LONGEST_FACT)
    return shorten(_tell_object(value), _LONGEST_FACT)


def _say(shown: Any) -> str:
    said = getattr(shown, "sentence", "")
    text = said() if callable(said) else said
    if isinstance(text, str) and text:
        return text
    lines = [] if vars(object)["__str__"] is getattr(type(shown), "__str__", None) else str(shown).splitlines()
    return lines[0] if len(lines) == 1 else ""


def _tell_several(values: Any) -> str:
    size = len(values)
    few = list(islice(values, 4)) if 0 < size <= 4 else []
    if few and all(isinstance(each, str | int | float | Fraction) for each in few):
        return ", ".join(tell_value(each) for each in few)
    return f"{size:,}" if size else ""


def _tell_object(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return " × ".join(f"{each:,}" for each in shape)
    said = _say(value)
    return printable(said) if said else type(value).__name__


_TOLD: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (type(None), lambda _: ""),
    (Enum, lambda value: str(value.value)),
    (str, str),
    (bool, lambda value: "yes" if value else "no"),
    (int, lambda value: f"{value:,}"),
    (float, lambda value: f"{value:,.4g}"),
    (Fraction, str),
    (date, lambda value: value.isoformat()),
    ((Mapping, Sequence, set, frozenset), _tell_several),
)


def tabulate(table: Any, most: int = 12) -> dict[str, Any]:
    """Give the heads and the first rows of an Arrow table as a card takes them, and how many more there are.

    Parameters
    ----------
    table
        Small: a finding, a statement, an answer.
    most
        How many rows are shown at most.
    """
    rows = [[tell_value(each) for each in row.values()] for row in table.slice(0, most).to_pylist()]
    rest = table.num_rows - most
    more = f"{count_noun(rest, 'more row is', 'more rows are')} not shown." if rest > 0 else ""
    return {"heads": tuple(table.column_names), "rows": rows, "more": more}


def name_some(names: Sequence[str], most: int = 6) -> str:
    """Name the first of several, and say how many more there are.

    Parameters
    ----------
    names
        In order.
    most
        How many are named at most.
    """
    shown = [printable(each) for each in names[:most]]
    rest = len(names) - most
    return ", ".join([*shown, *([f"and {count_noun(rest, 'other')}"] if rest > 0 else [])])


def _shorten_at_word(text: str, size: int) -> str:
    plain = printable(" ".join(text.split()))
    if len(plain) <= size:
        return plain
    return f"{plain[: size - 1].rsplit(' ', 1)[0].rstrip(',;:')} …"


def _text(value: str) -> str:
    return escape(printable(value))


def _style_cell(text: str) -> str:
    return f"{_CELL};white-space:nowrap" if len(text) <= _SHORT else _CELL


def _wrap_table(rows: str) -> str:
    return f'<table style="border-collapse:collapse;margin:4px 0;border:none">{rows}</table>' if rows else ""
