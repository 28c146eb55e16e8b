"""Converters of NumPy and IDX files; nothing is ever unpickled."""

import gzip
import io
from collections.abc import Mapping
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.errors import DataError

Files = Mapping[str, bytes]
Array = npt.NDArray[Any]

_SIDE = 28
_IDX_UNSIGNED_BYTES = 8
_IDX_LIMIT_BYTES = 64 * 2**20


def load_array(content: bytes) -> Array:
    """Return the array of a .npy file, or `DataError` if it holds Python objects or is no such file."""
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError, BadZipFile):
        raise DataError("The .npy file is damaged or holds Python objects, which are never loaded.") from None
    if not isinstance(array, np.ndarray):
        raise DataError("The file is an archive where a single .npy array was expected.")
    return array


def foursquare_visits(files: Files) -> pa.Table:
    """Check-ins ordered by user, minute and place; the file's columns are user, place and minute."""
    visits = _matrix(load_array(files["NYC.npy"]), 3)
    order = np.lexsort((visits[:, 1], visits[:, 2], visits[:, 0]))
    user, poi, minute = visits[order].T
    return pa.table({"user": _exact(user, np.int16), "minute": _exact(minute, np.int32), "poi": _exact(poi, np.int16)})


def foursquare_pois(files: Files) -> pa.Table:
    """Places with latitude and longitude."""
    poi, lat, lon = _matrix(load_array(files["NYC_POI.npy"]), 3).T
    return pa.table({"poi": _exact(poi, np.int16), "lat": lat.astype(np.float64), "lon": lon.astype(np.float64)})


def votes(files: Files) -> pa.Table:
    """Teachers' votes, one column per class."""
    (content,) = files.values()
    counts = load_array(content)
    if counts.ndim != 2:
        raise DataError("The votes must be a matrix of counts.")
    return pa.table({f"c{k}": _exact(counts[:, k], np.uint8) for k in range(counts.shape[1])})


def student_labels(files: Files) -> pa.Table:
    """Noisy labels, and which of them the student used."""
    labels = load_array(files["mnist_250_student_labels_lap_20.npy"]).ravel()
    used = np.zeros(len(labels), dtype=np.bool_)
    used[_exact(load_array(files["mnist_250_teachers_100_indices_used_by_student.npy"]).ravel(), np.int64)] = True
    return pa.table({"noisy_label_lap20": _exact(labels, np.uint8), "used_by_student": used})


def mnist(files: Files) -> pa.Table:
    """MNIST from its four gzipped IDX files, training images first."""
    parts = [
        digits(_idx(files[f"{stem}-images-idx3-ubyte.gz"], 3), _idx(files[f"{stem}-labels-idx1-ubyte.gz"], 1), split)
        for stem, split in (("train", "train"), ("t10k", "test"))
    ]
    return pa.concat_tables(parts)


def read_prepared_mnist(content: bytes) -> pa.Table:
    """MNIST from the prepared .npz file."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        parts = [digits(arrays[f"x_{split}"], arrays[f"y_{split}"], split) for split in ("train", "test")]
    return pa.concat_tables(parts)


def digits(images: Array, labels: Array, split: str) -> pa.Table:
    """One row per image: its 784 grey values row by row as bytes, its label, its split."""
    if images.shape[1:] != (_SIDE, _SIDE) or len(images) != len(labels) or images.dtype != np.uint8:
        raise DataError("The images and labels do not fit together.")
    flat = pa.py_buffer(np.ascontiguousarray(images).tobytes())
    pixels = pa.Array.from_buffers(pa.binary(_SIDE * _SIDE), len(images), [None, flat])
    splits = pa.array([split] * len(labels), pa.string())
    return pa.table({"image": pixels, "label": _exact(labels, np.uint8), "split": splits})


def _idx(content: bytes, dimensions: int) -> Array:
    """Read the IDX format: two zero bytes, a type, the number of dimensions, their sizes, then the bytes."""
    raw = _unzip(content)
    sizes = np.frombuffer(raw[4 : 4 + 4 * dimensions], dtype=">u4").astype(int)
    expected = bytes([0, 0, _IDX_UNSIGNED_BYTES, dimensions])
    if raw[:4] != expected or len(raw) != 4 + 4 * dimensions + int(np.prod(sizes)):
        raise DataError("The IDX file is damaged.")
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(tuple(sizes))


def _unzip(content: bytes) -> bytes:
    with gzip.open(io.BytesIO(content)) as file:
        raw = file.read(_IDX_LIMIT_BYTES + 1)
    if len(raw) > _IDX_LIMIT_BYTES:
        raise DataError("The IDX file unpacks to more than any image set here.")
    return raw


def _matrix(array: Array, columns: int) -> Array:
    if array.ndim != 2 or array.shape[1] != columns:
        raise DataError(f"The array must have {columns} columns.")
    return array


def _exact(values: Array, kind: type[np.generic]) -> Array:
    """Cast without losing anything: a fraction or an overflow is refused."""
    cast = values.astype(kind)
    if not np.array_equal(cast, values):
        raise DataError("The array holds numbers that do not fit the dataset's types.")
    return cast
