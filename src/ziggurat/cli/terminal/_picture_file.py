"""Pictures in files, in the look of all reports, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ziggurat.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@contextmanager
def draw_picture(file: str, width: float, height: float) -> Iterator[Figure]:
    """Give a sheet to draw on; it is written to a .png or .svg file when all is drawn."""
    from ziggurat.drawing import encode, sheet

    with sheet(width, height) as page:
        yield page
        content = encode(page, "svg" if file.lower().endswith(".svg") else "png")
    draft = Path(file).with_name(f".{Path(file).name}.new")
    try:
        draft.write_bytes(content)
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise DataError(f"The picture {file!r} could not be written; check the folder.") from None
