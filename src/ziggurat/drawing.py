"""How pictures look, everywhere: the same words and figures give the same bytes. It imports nothing of ours."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with any kind of colour blindness tell apart; without their yellow, which is
# too pale for lines. Shapes differ as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#3A3A3A")
NOISY, TRUE = COLOURS[:2]
INK, SOFT, DULL, PALE, LIMIT = "#1F2933", "#52606D", "#AEB6BF", "#D5DAE0", "#C1121F"
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ziggurat",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": PALE,
    "grid.linewidth": 0.7,
}
_NO_STYLE = ("backend", "interactive")
_FONT = b"font-family: 'DejaVu Sans'"
_LEFT_OUT = ("Creator", "Date", "Format", "Type")


@contextmanager
def sheet(width: float, height: float) -> Iterator[Figure]:
    """Give an empty sheet of so many inches; all is drawn in the house style, whatever the reader's settings are."""
    from matplotlib.figure import Figure

    with styled():
        yield Figure(figsize=(width, height), layout="constrained")


@contextmanager
def styled() -> Iterator[None]:
    """Let everything be drawn in the house style, whatever the reader's settings are.

    Where pictures appear is no style: a notebook shows what is drawn while `interactive` is on, and turns it on when
    the first picture wakes its backend, which may be in here.
    """
    import matplotlib as mpl

    style: Any = {name: value for name, value in mpl.rcParamsDefault.items() if name not in _NO_STYLE} | _STYLE
    interactive = mpl.is_interactive()
    try:
        with mpl.rc_context(style):
            try:
                yield
            finally:
                interactive = mpl.is_interactive()
    finally:
        mpl.interactive(interactive)


def encode(figure: Figure, kind: Literal["svg", "png"]) -> bytes:
    """Give a sheet as a file, without the day it was drawn or who drew it."""
    buffer = io.BytesIO()
    left_out = dict.fromkeys(_LEFT_OUT) if kind == "svg" else {"Software": None}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # in SVG the reader's own fonts have it
        figure.savefig(buffer, format=kind, dpi=150, facecolor="white", metadata=left_out)
    # Who does not have the font should see a similar one, not the serifs that browsers fall back to.
    return buffer.getvalue().replace(_FONT, _FONT + b", Verdana, sans-serif")


def clean(text: str) -> str:
    """Leave out what an SVG file may not hold: control characters and halves of characters."""
    return "".join(letter for letter in text if letter.isprintable() or letter == "\n")


def shorten(text: str, size: int) -> str:
    """Clean a text, and cut one that is too long, with a sign that it was cut."""
    shown = clean(text)
    return shown if len(shown) <= size else f"{shown[: size - 1]}…"
