"""How pictures look, everywhere: the same words and figures give the same bytes. It imports nothing of ours."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of Okabe and Ito's colours, which people with any kind of colour blindness tell apart; shapes differ as well.
NOISY, TRUE, INK, PALE = "#0072B2", "#D55E00", "#1F2933", "#D5DAE0"
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
_FONT = b"font-family: 'DejaVu Sans'"
_LEFT_OUT = ("Creator", "Date", "Format", "Type")


@contextmanager
def sheet(width: float, height: float) -> Iterator[Figure]:
    """Give an empty sheet of so many inches; all is drawn in the house style, whatever the reader's settings are."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style: Any = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"} | _STYLE
    with mpl.rc_context(style):
        yield Figure(figsize=(width, height), layout="constrained")


def rendered(figure: Figure, kind: Literal["svg", "png"]) -> bytes:
    """Give a sheet as a file, without the day it was drawn or who drew it."""
    buffer = io.BytesIO()
    left_out = dict.fromkeys(_LEFT_OUT) if kind == "svg" else {"Software": None}
    figure.savefig(buffer, format=kind, dpi=150, facecolor="white", metadata=left_out)
    # Who does not have the font should see a similar one, not the serifs that browsers fall back to.
    return buffer.getvalue().replace(_FONT, _FONT + b", Verdana, sans-serif")
