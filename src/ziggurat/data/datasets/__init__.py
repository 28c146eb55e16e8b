"""Named public datasets, from a local folder, the cache or their original publishers.

`load` looks into an explicit folder, then into the folder that the environment variable ZIGGURAT_DATA names,
then into the cache (ZIGGURAT_CACHE, or the user's cache folder), and then downloads, converts and caches. What
it returns always has the registered content, checked by SHA-256. A dataset whose conversion cannot be vouched
for is `local_only`: it is read from its prepared file and never downloaded.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.data.datasets._canonical import content_digest
from ziggurat.data.datasets._info import DatasetInfo, PublishedFile
from ziggurat.data.datasets._registry import REGISTRY
from ziggurat.data.datasets._store import obtain
from ziggurat.data.schema import Schema
from ziggurat.errors import DataError
from ziggurat.wording import nearest

__all__ = [
    "DatasetInfo",
    "PublishedFile",
    "byte_matrix",
    "content_digest",
    "info",
    "load",
    "names",
    "path",
    "schema",
]

_SCHEMAS = Path(__file__).parent / "schemas"


def names() -> tuple[str, ...]:
    """The names that `load` understands, sorted."""
    return tuple(sorted(REGISTRY))


def info(name: str) -> DatasetInfo:
    """What is known of a dataset without loading it; an unknown name raises and suggests the nearest."""
    if name not in REGISTRY:
        raise DataError(f"There is no dataset {name!r}; {nearest(name, names())}")
    return REGISTRY[name]


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    offline: bool = False,
) -> pa.Table:
    """Load a dataset.

    Parameters
    ----------
    name
        One of `names`.
    folder
        Where to look first for the prepared file.
    progress
        Whether a download draws a bar on standard error.
    offline
        Refuse to download.

    Returns
    -------
    pyarrow.Table
        Exactly the registered content. Text columns are plain strings; images and heartbeats are fixed-size
        binary columns, which `byte_matrix` turns into arrays.

    Raises
    ------
    DataError
        If the name is unknown, a file is not the registered one, or the dataset cannot be had; one sentence
        says what to change, and nothing doubtful is kept.
    """
    return obtain(info(name), folder=folder, progress=progress, offline=offline)[1]


def path(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    offline: bool = False,
) -> Path:
    """The file on this machine that `load` would read, checked; it is downloaded first if need be."""
    return obtain(info(name), folder=folder, progress=progress, offline=offline)[0]


def schema(name: str) -> Schema:
    """The ready-made public schema of a dataset.

    Bounds and categories come from the public documentation of the dataset; those that could only be read off
    the data are marked as learned.

    Raises
    ------
    DataError
        If the dataset has none.
    """
    file = _SCHEMAS / f"{info(name).name}.yaml"
    if not file.is_file():
        ready = sorted(each.stem for each in _SCHEMAS.glob("*.yaml"))
        raise DataError(f"{name} has no ready-made schema; those that have one: {', '.join(ready)}.")
    return Schema.from_yaml(file)


def byte_matrix(table: pa.Table, column: str) -> npt.NDArray[np.uint8]:
    """A fixed-size binary column as a matrix of bytes, one row per row of the table.

    Examples
    --------
    >>> byte_matrix(pa.table({"beat": pa.array([b"ab", b"cd"], pa.binary(2))}), "beat").tolist()
    [[97, 98], [99, 100]]
    """
    if column not in table.column_names:
        raise DataError(f"The table has no column {column!r}; {nearest(column, table.column_names)}")
    kind: Any = table.schema.field(column).type
    if not pa.types.is_fixed_size_binary(kind) or table[column].null_count:
        raise DataError(f"Column {column!r} is not a fixed-size binary column without missing values.")
    chunks = [np.frombuffer(chunk.buffers()[1], np.uint8) for chunk in table[column].chunks]
    width = kind.byte_width
    parts = [
        raw[chunk.offset * width : (chunk.offset + len(chunk)) * width]
        for raw, chunk in zip(chunks, table[column].chunks, strict=True)
    ]
    return np.concatenate([np.empty(0, np.uint8), *parts]).reshape(-1, width)
