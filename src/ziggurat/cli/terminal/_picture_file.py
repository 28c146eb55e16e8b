"""Pictures in files, in the look of all reports, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ziggurat.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@contextmanager
def draw_into(file: str, width: float, height: float) -> Iterator[Figure]:
    """Give a sheet to draw on; it is written to a .png or .svg file when all is drawn."""
    from ziggurat.drawing import encode, sheet

    with sheet(width, height) as page:
        yield page
        content = encode(page, "svg" if file.lower().endswith(".svg") else "png")
    write_bytes(file, content)


def save_plot(file: str, plot: Callable[[], Any]) -> None:
    """Write what a `plot` method draws to a .png or .svg file, whole or not at all."""
    import matplotlib as mpl

    from ziggurat.drawing import encode, styled

    mpl.use("Agg")
    with styled():
        drawn = plot()
        figure: Any = (drawn[0] if isinstance(drawn, list) else drawn).figure
        content = encode(figure, "svg" if file.lower().endswith(".svg") else "png")
    write_bytes(file, content)
