"""A picture of what a served model answers along one column."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ziggurat.release import Points, Serving

_FEW = 60  # answers up to which each gets a dot
_WIDEST = 90
_STYLE = {"text.parse_math": False, "axes.spines.top": False, "axes.spines.right": False}


def save_picture(answers: pa.Table, serving: Serving, points: Points, file: str) -> None:
    """Draw the answers in the order of their questions, within two deviations of the noise, whole or not at all."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Sheet

    (name,), shown = points.encoding.names, points.label or "density"
    across, up = (answers[each].to_numpy() for each in (name, shown))
    order = np.argsort(across, kind="stable")
    across, up = across[order], np.asarray(up[order], dtype=np.float64)
    style: Any = {key: value for key, value in mpl.rcParamsDefault.items() if key != "backend"} | _STYLE
    with mpl.rc_context(style):
        sheet = Sheet(figsize=(6.8, 3.6), layout="constrained")
        axes = sheet.subplots()
        axes.plot(across, up, marker="o" if len(up) <= _FEW else "", markersize=3, color="#1f5f8b")
        if serving.noise is not None:
            wide = 2 * serving.noise
            axes.fill_between(across, up - wide, up + wide, color="#1f5f8b", alpha=0.15, linewidth=0)
        axes.set(xlabel=name, ylabel=shown)
        axes.set_title(_title(serving), fontsize=8, loc="left")
        _save(sheet, Path(file))


def _title(serving: Serving) -> str:
    marked = "Rehearsal, not for publication\n" if serving.rehearsal else ""
    return marked + textwrap.fill(f"{type(serving.model).__name__}, {serving.guarantee}", _WIDEST)


def _save(sheet: Figure, file: Path) -> None:
    draft = file.with_name(f".{file.name}.new")
    try:
        sheet.savefig(draft, format="png", dpi=150, metadata={"Software": None})
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise DataError(f"The picture {str(file)!r} could not be written; check the folder.") from None
