"""Small pictures made of a few shapes: lighter and quicker than a plot, as is wanted where there are many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from markupsafe import Markup

from ziggurat.drawing import INK, clean

_SVG = Markup(
    '<svg viewBox="0 0 {:g} {:g}" font-family="system-ui, Segoe UI, Liberation Sans, Arial, sans-serif" '
    'aria-hidden="true"{}>{}</svg>'
)
_TEXT = Markup('<text x="{:.1f}" y="{:.1f}" font-size="{:g}" text-anchor="{}" fill="{}"{}>{}</text>')
_TURNED = Markup(' transform="rotate({:g} {:.1f} {:.1f})"')
_RECT = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"{}>{}</rect>')
_LINE = Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="0.8"/>')
_PATH = Markup('<path d="{}" fill="{}" fill-opacity="{:g}"{}/>')
_STROKE = Markup(' stroke="{}" stroke-width="1.6" stroke-linejoin="round"')


def svg(width: float, height: float, shapes: Iterable[Markup], *, rem: tuple[float, float] | None = None) -> Markup:
    """Give a picture of shapes; `rem` is the least and the largest width that it is shown in."""
    style = "" if rem is None else Markup(' style="min-width:{:.0f}rem;max-width:{:.0f}rem"').format(*rem)
    return _SVG.format(width, height, style, Markup("").join(shapes))


def words(
    x: float,
    y: float,
    text: str,
    size: float = 9.5,
    anchor: Literal["start", "middle", "end"] = "start",
    turn: float = 0,
) -> Markup:
    """Give a text at a place, turned by so many degrees."""
    turned = _TURNED.format(turn, x, y) if turn else ""
    return _TEXT.format(x, y, size, anchor, INK, turned, clean(text))


def rect(x: float, y: float, width: float, height: float, fill: str, *, stroke: str = "", title: str = "") -> Markup:
    """Give a rectangle; `title` is shown to whoever points at it."""
    frame = Markup(' stroke="{}"').format(stroke) if stroke else ""
    said = Markup("<title>{}</title>").format(clean(title)) if title else ""
    return _RECT.format(x, y, max(0.0, width), height, fill, frame, said)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str) -> Markup:
    """Give a thin line."""
    return _LINE.format(x1, y1, x2, y2, stroke)


def path(steps: str, *, fill: str = "none", opacity: float = 1, stroke: str = "") -> Markup:
    """Give an outline, filled or drawn."""
    return _PATH.format(steps, fill, opacity, _STROKE.format(stroke) if stroke else "")
