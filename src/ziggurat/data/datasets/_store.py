"""Find a dataset in a folder, in the cache or at its publisher, and hand it over only if it is the right one."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path

import platformdirs
import pyarrow as pa
from pyarrow import parquet

from ziggurat.data.datasets._canonical import canonical, content_digest
from ziggurat.data.datasets._converters.arrays import read_prepared_mnist
from ziggurat.data.datasets._converters.tabular import read_prepared_hierarchies
from ziggurat.data.datasets._download import fetch
from ziggurat.data.datasets._info import Converter, DatasetInfo, PublishedFile
from ziggurat.errors import DataError
from ziggurat.files import replacing

DATA_VARIABLE = "ZIGGURAT_DATA"
CACHE_VARIABLE = "ZIGGURAT_CACHE"

# What a converter may raise on a file that is not what it expects; the cause could quote cells.
_MALFORMED = (ValueError, LookupError, TypeError, NotImplementedError, OSError, EOFError, zlib.error)


def obtain(
    info: DatasetInfo, *, folder: str | os.PathLike[str] | None, progress: bool, offline: bool
) -> tuple[Path, pa.Table]:
    """Return where the dataset lies on this machine, and the dataset.

    The explicit folder comes first, then the one that ZIGGURAT_DATA names, then the cache, then the download.
    A prepared file must have the registered checksum, anything else the registered digest of its content.
    """
    prepared = _prepared_path(info, folder)
    if prepared is not None:
        return prepared, _read_prepared(info, prepared)
    cached = cache_folder() / f"{info.name}.parquet"
    table = _read_cached(info, cached)
    if table is not None:
        return cached, table
    table = download(info, progress=progress, offline=offline)
    _write(table, cached)
    return cached, table


def cache_folder() -> Path:
    """Where converted downloads are kept: ZIGGURAT_CACHE, or the user's cache folder."""
    root = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("ziggurat")
    return Path(root) / "datasets"


def download(info: DatasetInfo, *, progress: bool, offline: bool) -> pa.Table:
    """Fetch the original files, convert them and check the digest of the result."""
    if info.convert is None:
        raise DataError(
            f"{info.name} cannot be converted faithfully from its original source ({info.origin}); put "
            f"{info.file} into a folder and name the folder by folder= or {DATA_VARIABLE}."
        )
    if offline:
        raise DataError(
            f"{info.name} is not on this machine and downloads are off; put {info.file} into the folder named "
            f"by {DATA_VARIABLE}, or load it once without offline."
        )
    files = {file.name: _fetch(file, progress=progress) for file in info.files}
    table = _convert(info.name, info.convert, files)
    if content_digest(table) != info.content_sha256:
        raise DataError(f"The download of {info.name} differs from the registered content; nothing was kept.")
    return table


def _fetch(file: PublishedFile, *, progress: bool) -> bytes:
    content = fetch(file.urls, progress=progress)
    if file.sha256 is not None and hashlib.sha256(content).hexdigest() != file.sha256:
        raise DataError(f"The download of {file.name} does not have the registered checksum; nothing was kept.")
    return content


def _convert(name: str, convert: Converter, files: dict[str, bytes]) -> pa.Table:
    try:
        return canonical(convert(files))
    except _MALFORMED:
        raise DataError(f"The download of {name} is not in the expected format; nothing was kept.") from None


def _prepared_path(info: DatasetInfo, folder: str | os.PathLike[str] | None) -> Path | None:
    if folder is not None and not Path(folder).is_dir():
        raise DataError(f"{os.fspath(folder)!r} is not a folder; give the folder that holds {info.file}.")
    if folder is not None and (Path(folder) / info.file).is_file():
        return Path(folder) / info.file
    named = os.environ.get(DATA_VARIABLE)
    if named and not Path(named).is_dir():
        raise DataError(f"{DATA_VARIABLE} names {named!r}, which is not a folder; correct it or unset it.")
    return Path(named) / info.file if named and (Path(named) / info.file).is_file() else None


def _read_prepared(info: DatasetInfo, path: Path) -> pa.Table:
    try:
        content = path.read_bytes()
    except OSError:
        raise DataError(f"{str(path)!r} cannot be read; check its permissions.") from None
    if hashlib.sha256(content).hexdigest() != info.file_sha256:
        raise DataError(f"{str(path)!r} does not have the registered checksum; replace it or take it away.")
    return canonical(_parse(path.name, content))


def _parse(name: str, content: bytes) -> pa.Table:
    if name.endswith(".npz"):
        return read_prepared_mnist(content)
    if name.endswith(".csv.gz"):
        return read_prepared_hierarchies(gzip.decompress(content))
    return parquet.read_table(pa.BufferReader(content))


def _read_cached(info: DatasetInfo, path: Path) -> pa.Table | None:
    """Return the cached table, or None if it is absent or no longer what was put there."""
    if not path.is_file():
        return None
    try:
        table = canonical(parquet.read_table(path))
    except (OSError, ValueError):
        return None
    return table if content_digest(table) == info.content_sha256 else None


def _write(table: pa.Table, path: Path) -> None:
    """Put the table into the cache in one step: a reader sees all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, mode=0o600) as draft:
            parquet.write_table(table, draft, compression="zstd")
    except (OSError, DataError):
        raise DataError(
            f"The cache {str(path.parent)!r} cannot be written; make room or name another one by {CACHE_VARIABLE}."
        ) from None
