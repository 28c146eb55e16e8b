"""A picture of what a served model answers along one column."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from ziggurat.cli.terminal import draw_into
from ziggurat.drawing import NOISY

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.release import Points, Serving

_FEW = 60  # answers up to which each gets a dot
_WIDEST = 90


def save_picture(answers: pa.Table, serving: Serving, points: Points, file: str) -> None:
    """Draw the answers in the order of their questions, within two deviations of the noise, whole or not at all."""
    (name,), shown = points.encoding.names, points.label or "density"
    across, up = (answers[each].to_numpy() for each in (name, shown))
    order = np.argsort(across, kind="stable")
    across, up = across[order], np.asarray(up[order], dtype=np.float64)
    with draw_into(file, 6.8, 3.6) as sheet:
        axes = sheet.subplots()
        axes.plot(across, up, marker="o" if len(up) <= _FEW else "", markersize=3, color=NOISY)
        if serving.noise is not None:
            wide = 2 * serving.noise
            axes.fill_between(across, up - wide, up + wide, color=NOISY, alpha=0.15, linewidth=0)
        axes.set(xlabel=name, ylabel=shown)
        axes.set_title(_title(serving), fontsize=8, loc="left")


def _title(serving: Serving) -> str:
    marked = "Rehearsal, not for publication\n" if serving.rehearsal else ""
    return marked + textwrap.fill(f"{type(serving.model).__name__}, {serving.guarantee}", _WIDEST)
