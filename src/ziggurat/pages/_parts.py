"""What the macros of pages lay out: tables and pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from markupsafe import Markup

_TAG = re.compile(r"<[^<>]*>")
_DEFINED, _USED = re.compile(r'(\sid=")'), re.compile(r'(href="#|url\(#)')


class TableCell(NamedTuple):
    """A cell that is more than a text: with something softer below it, or with a look of its own."""

    text: str
    below: str = ""
    look: Literal["", "soft", "code", "none", "good", "bad"] = ""


class Grid(NamedTuple):
    """A table for a page.

    Attributes
    ----------
    caption
        What it shows, for those who do not see what stands above it.
    heads
        The words over each column, and its kind: 'wide' for texts, 'number', or ''.
    rows
        Its cells; the first of a row says what the row is about.
    more
        A sentence on rows that did not fit.
    """

    caption: str
    heads: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str | TableCell]]
    more: str = ""


class Picture(NamedTuple):
    """A picture for a page.

    Attributes
    ----------
    svg
        As `inline_svg` or `shapes.svg` gives it.
    said
        What it shows, for those who do not see it.
    caption, below
        What stands over it for everybody, and softer under that.
    size
        'small' for one of many, 'fixed' for one that has its own size; by default as wide as text.
    """

    svg: Markup
    said: str
    caption: str = ""
    below: str = ""
    size: Literal["", "small", "fixed"] = ""


def inline_svg(picture: bytes, prefix: str) -> Markup:
    """Make an SVG file part of a page: no prologue, and identifiers that no other picture uses.

    Parameters
    ----------
    picture
        The file, as `ziggurat.drawing` makes it: markup is taken as it is.
    prefix
        What to put before every identifier; each picture of a page has its own.
    """
    text = picture.decode("utf-8")
    text = text[text.index("<svg") :].strip()
    # Only in tags: words that look like an identifier stay words.
    return Markup(_TAG.sub(lambda tag: _prefix(tag[0], prefix), text))  # noqa: S704 - our own drawing, escaped there


def _prefix(tag: str, prefix: str) -> str:
    return _USED.sub(rf"\g<1>{prefix}", _DEFINED.sub(rf"\g<1>{prefix}", tag))
