"""Turn any frame into an Arrow table, or say which of its columns stands in the way."""

from collections.abc import Iterable
from math import isnan
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ziggurat._lazy import deferred
from ziggurat.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw
else:
    nw = deferred("narwhals")


def arrow_table(data: object) -> pa.Table:
    """Return a pandas, Polars or other frame that narwhals knows as an Arrow table, without a pandas index."""
    if nw.dependencies.is_pandas_dataframe(data):
        _check_pandas_columns(data)
    table = _collect(_recognize(data))
    check_names(table.column_names)
    return table


def _recognize(data: Any) -> Any:
    try:
        return nw.from_native(data)
    except TypeError:
        reason = f"A {type(data).__name__} cannot be read; pass a file, a frame or an address."
    except Exception:  # noqa: BLE001  (the frames raise what they like)
        reason = "The frame could not be read; its own message may quote cells."
    raise DataError(reason)  # outside the handler: see Engine._withheld


def check_names(names: Iterable[object]) -> None:
    """Raise DataError unless there are names, and all are text, filled and different."""
    seen: set[object] = set()
    for name in names:
        if not isinstance(name, str):
            raise DataError("The frame has a column whose name is not text; name every column with text.")
        if not name.strip():
            raise DataError("The frame has a column without a name; name every column.")
        if name in seen:
            raise DataError(f"The frame has two columns named {name!r}; rename one.")
        seen.add(name)
    if not seen:
        raise DataError("The table has no columns.")


def _check_pandas_columns(frame: Any) -> None:
    if frame.columns.nlevels > 1:
        raise DataError("The columns of the frame have names of several levels; give each column one name.")
    check_names(str(name) if isinstance(name, int) else name for name in frame.columns)  # pandas counts from 0


def _collect(frame: Any) -> pa.Table:
    try:
        eager = frame.collect(backend="pyarrow") if isinstance(frame, nw.LazyFrame) else frame
        return eager.to_arrow().select([str(name) for name in eager.columns])  # a pandas index is not a column
    except Exception:  # noqa: BLE001  (Arrow and the frames quote cells in what they raise)
        reason = _unreadable(frame)
    raise DataError(reason)


def _unreadable(frame: Any) -> str:
    """Name the first column that cannot become Arrow, without the message that quotes its cell."""
    for name in frame.columns if isinstance(frame, nw.DataFrame) else ():
        try:
            frame.select(name).to_arrow()
        except Exception:  # noqa: BLE001
            return f"Column {name!r} {_fault(frame.get_column(name).to_native())}"
    return "The frame could not be computed or turned into Arrow columns; its own message may quote cells."


def _fault(column: Any) -> str:
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "kind", "") == "c":
        return "holds complex numbers; split it into two columns of reals."
    if str(dtype).startswith("Sparse"):
        return "is sparse; make it dense."
    types = {type(value) for value in column if value is not None and not (isinstance(value, float) and isnan(value))}
    if types == {int}:
        return "holds integers of more than 64 bits; turn them into reals or text."
    if len(types) > 1:
        return "mixes values of several types; give it one."
    return "holds values of a type that Arrow does not know; turn them into numbers or text."
