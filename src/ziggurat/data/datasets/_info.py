"""What is known of a dataset before it is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ziggurat.cards import Shown

Converter = Callable[[Mapping[str, bytes]], pa.Table]


@dataclass(frozen=True)
class PublishedFile(Shown):
    """A file at its original publisher, or at a mirror pinned by commit.

    Parameters
    ----------
    name
        The file's name, by which the converter asks for it.
    urls
        Addresses of the same file, tried in order.
    sha256
        The checksum of the downloaded bytes where the publisher's file is known byte for byte.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None


@dataclass(frozen=True)
class DatasetInfo(Shown):
    """A named public dataset: what it is, whose it is, and how a copy is recognised.

    Parameters
    ----------
    name, title
        The name to load it by, and a title in words.
    file
        The name of the prepared file in a local folder.
    rows, columns
        The size of the loaded table.
    citation, licence
        Whom to cite, and the licence that the publisher states.
    file_sha256
        The checksum of the prepared file.
    content_sha256
        The digest of the loaded table (column names, types, values in order), wherever it came from.
    origin
        Where the publisher presents it.
    note
        What a user should know of it: codes, oddities, how it was derived.
    files
        The original files that the dataset is converted from; empty if `local_only`.
    convert
        The pure function from the original files to the table.
    """

    name: str
    title: str
    file: str
    rows: int
    columns: int
    citation: str
    licence: str
    file_sha256: str
    content_sha256: str
    origin: str
    note: str = ""
    files: tuple[PublishedFile, ...] = ()
    convert: Converter | None = field(default=None, repr=False, compare=False)

    @property
    def local_only(self) -> bool:
        """Whether it can only be read from a prepared file, because no converter is known to be faithful."""
        return self.convert is None
