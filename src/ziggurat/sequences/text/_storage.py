"""Writers in files: JSON and arrays, marked as what they are; nothing is run when one is opened."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.archives import Array, read_archive, write_archive
from ziggurat.errors import DataError
from ziggurat.sequences.text._writing import NOTE

if TYPE_CHECKING:
    from ziggurat.sequences.text._writer import HeadlineWriter

_FORMAT = "ziggurat/headlines/1"
PAIRS = "words by tags"
"""What the table of words and tags is called among the arrays."""


def save_writer(writer: HeadlineWriter, path: str | Path) -> None:
    """Replace a file by a fitted writer."""
    parameters = writer.get_params(deep=False) | {"vocabulary": None, "start": None}
    said = {
        "note": f"What this file writes is {NOTE}.",
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "learned": {"words": writer.words_.words, "event": writer.event_.to_dict(), "origin": writer.origin_},
        "curve": asdict(writer.curve_),
    }
    pairs = {} if writer.pairs_ is None else {PAIRS: writer.pairs_}
    write_archive(path, _FORMAT, said, writer.weights_ | pairs)


def read_writer(path: str | Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Array]]:
    """Return the parameters, what was learned, and the weights."""
    facts, arrays = read_archive(path, _FORMAT, "writer of headlines")
    try:
        return dict(facts["parameters"]), dict(facts["learned"]), arrays
    except (KeyError, TypeError, ValueError):
        raise DataError(f"The writer in {str(path)!r} is damaged; restore a copy, or train again.") from None


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str | list | tuple) else str(value)
