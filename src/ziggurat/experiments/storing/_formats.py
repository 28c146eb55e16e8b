"""Arrays, tables and tensors as bytes, in formats that hold data and no code.

No library is imported to find out what a value is: a value of a library's type exists only if that was imported.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Mapping
from typing import Any

_SCHEMA = b"ziggurat:schema"
_SCALAR_KINDS = "biufcmMSU"


class UnfitError(Exception):
    """A value is of a known type, but cannot be written; the message goes on after its name."""


def instance(value: Any, module: str, *names: str) -> bool:
    loaded = sys.modules.get(module)
    return any(isinstance(value, kind) for name in names if isinstance(kind := getattr(loaded, name, None), type))


# NumPy


def is_scalar(value: Any) -> bool:
    """Return whether it is a NumPy number, text or time."""
    return instance(value, "numpy", "generic") and value.dtype.kind in _SCALAR_KINDS


def write_scalar(value: Any, sink: io.RawIOBase) -> None:
    """Write a type and its bytes, so that every bit comes back."""
    text = json.dumps([value.dtype.str, base64.b64encode(value.tobytes()).decode()])
    sink.write(text.encode())


def read_scalar(data: bytes) -> Any:
    """Read what `write_scalar` wrote."""
    import numpy as np

    kind, content = json.loads(data)
    dtype = np.dtype(kind)
    if dtype.itemsize == 0:
        return dtype.type()
    return np.frombuffer(base64.b64decode(content), dtype)[0]


def number(value: Any) -> float | None:
    """Return a NumPy scalar as a number if it is a real one."""
    return float(value) if is_scalar(value) and value.dtype.kind in "iuf" else None


def is_array(value: Any) -> bool:
    """Return whether it is a plain array; masks and other subclasses would be lost."""
    return instance(value, "numpy", "ndarray") and type(value).__name__ in ("ndarray", "memmap")


def write_array(value: Any, sink: io.RawIOBase) -> None:
    """Write the npy format."""
    import numpy as np

    if value.dtype.hasobject:
        raise UnfitError("is an array of Python objects; convert it to numbers or text, or return a list.")
    np.lib.format.write_array(sink, np.asarray(value), allow_pickle=False)


def read_array(data: bytes) -> Any:
    """Read the npy format; anything pickled is refused."""
    import numpy as np

    return np.load(io.BytesIO(data), allow_pickle=False)


# Tables


def is_arrow(value: Any) -> bool:
    """Return whether it is an Arrow table."""
    return instance(value, "pyarrow", "Table")


def write_arrow(value: Any, sink: io.RawIOBase) -> None:
    """Write Parquet that remembers the exact schema; Parquet itself knows no times in seconds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = base64.b64encode(value.schema.remove_metadata().serialize().to_pybytes())
    table = value.replace_schema_metadata({**(value.schema.metadata or {}), _SCHEMA: schema})
    try:
        pq.write_table(table, pa.PythonFile(sink, mode="w"), compression="zstd")
    except (pa.ArrowException, ValueError, TypeError):
        raise UnfitError("is a table with a column that Parquet cannot hold; convert or drop that column.") from None


def read_arrow(data: bytes) -> Any:
    """Read Parquet with the schema it was written with."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(pa.BufferReader(data), use_threads=False)
    notes = dict(table.schema.metadata)
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(notes.pop(_SCHEMA))))
    return table.cast(schema).replace_schema_metadata(notes or None)


def is_pandas(value: Any) -> bool:
    """Return whether it is a pandas frame."""
    return instance(value, "pandas", "DataFrame")


def write_pandas(value: Any, sink: io.RawIOBase) -> None:
    """Write a frame and its index as Parquet."""
    import pyarrow as pa

    try:
        table = pa.Table.from_pandas(value, nthreads=1)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        raise UnfitError(
            "is a pandas frame that Parquet cannot hold; give each column one type and a name of its own."
        ) from None
    write_arrow(table, sink)


def read_pandas(data: bytes) -> Any:
    """Read a frame and its index."""
    return read_arrow(data).to_pandas(use_threads=False)


def is_polars(value: Any) -> bool:
    """Return whether it is a Polars frame."""
    return instance(value, "polars", "DataFrame")


def write_polars(value: Any, sink: io.RawIOBase) -> None:
    """Write Parquet through Polars, which keeps its own categories and enumerations."""
    import polars as pl

    buffer = io.BytesIO()
    try:
        if pl.Object in value.dtypes:
            raise TypeError
        value.write_parquet(buffer)
    except (pl.exceptions.PolarsError, TypeError):
        raise UnfitError("is a Polars frame that Parquet cannot hold; convert or drop Object columns.") from None
    sink.write(buffer.getbuffer())


def read_polars(data: bytes) -> Any:
    """Read a Polars frame."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(data))


# Networks


def is_tensor(value: Any) -> bool:
    """Return whether it is a PyTorch tensor."""
    return instance(value, "torch", "Tensor")


def is_tensors(value: Any) -> bool:
    """Return whether it maps names to PyTorch tensors, as a state dict does."""
    return _maps_names_to(value, is_tensor)


def write_tensor(value: Any, sink: io.RawIOBase) -> None:
    """Write one tensor as safetensors."""
    write_tensors({"value": value}, sink)


def read_tensor(data: bytes) -> Any:
    """Read one tensor."""
    return read_tensors(data)["value"]


def write_tensors(value: Mapping[str, Any], sink: io.RawIOBase) -> None:
    """Write tensors as safetensors, which sorts names: their order is noted. Shared memory is written twice."""
    from safetensors.torch import save

    try:
        plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in value.items()}
        data = save(plain, _order(value))
    except Exception:  # noqa: BLE001 - sparse, quantised and other tensors fail in ways of their own
        raise UnfitError("holds a tensor that safetensors cannot store; make it dense and of a plain type.") from None
    sink.write(data)


def read_tensors(data: bytes) -> Any:
    """Read tensors in the order they had."""
    from safetensors.torch import load

    return _order_header(load(data), data)


def is_arrays(value: Any) -> bool:
    """Return whether it maps names to arrays of native numbers."""
    return _maps_names_to(value, lambda each: is_array(each) and each.dtype.kind in "biuf" and _is_native(each.dtype))


def write_arrays(value: Mapping[str, Any], sink: io.RawIOBase) -> None:
    """Write arrays as safetensors."""
    import numpy as np
    from safetensors.numpy import save

    sink.write(save({name: np.asarray(array, order="C") for name, array in value.items()}, _order(value)))


def read_arrays(data: bytes) -> Any:
    """Read arrays in the order they had; each may be written to."""
    from safetensors.numpy import load

    return {name: array.copy() for name, array in _order_header(load(data), data).items()}


def _is_native(dtype: Any) -> bool:
    return bool(dtype.isnative) and dtype.itemsize <= 8


def _maps_names_to(value: Any, fits: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    return all(isinstance(key, str) and key != "__metadata__" and fits(each) for key, each in value.items())


def _order(value: Mapping[str, Any]) -> dict[str, str]:
    return {"order": json.dumps(list(value))}


def _order_header(loaded: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """The header of the format is eight bytes of length, then JSON."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    return {name: loaded[name] for name in json.loads(header["__metadata__"]["order"])}


# What to return instead


def is_network(value: Any) -> bool:
    """Return whether it is a module of PyTorch or a model or layer of Keras."""
    return instance(value, "torch.nn", "Module") or instance(value, "keras", "Layer", "Model")


def advice(value: Any) -> str | None:
    """Say what to return instead of a value of a well-known type."""
    if instance(value, "keras", "Layer", "Model"):
        return "return its weights: {weight.path: keras.ops.convert_to_numpy(weight) for weight in model.weights}"
    if is_network(value):
        return "return its .state_dict()"
    if instance(value, "polars", "LazyFrame"):
        return "return .collect()"
    if instance(value, "pandas", "Series") or instance(value, "polars", "Series"):
        return "return .to_frame()"
    if isinstance(value, set | frozenset):
        return "return a sorted list"
    if callable(value):
        return "return what it needs to be made again"
    return None
