"""What a file gave: its table, what it says of its columns, and how it was read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from ziggurat.data.schema import Column
from ziggurat.errors import DataError, ZigguratError

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

    from ziggurat.data.engines import DatabaseTable

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class LoadedFile:
    """What a file gave.

    Parameters
    ----------
    data
        What an engine attaches: an Arrow table or reader, an Arrow dataset for a folder of Parquet or Arrow files, a
        table of a DuckDB file that stays where it is, or the name of text files that the engine reads itself.
    columns
        What the file itself says of its columns; None if it says nothing but their types.
    loose
        Whether cells of text are to be guessed like those of a text file.
    notes
        Sentences that say how it was read, for the steward; they hold names and counts, never cells.
    """

    data: "pa.Table | pa.RecordBatchReader | Dataset | DatabaseTable | str"
    columns: tuple[Column, ...] | None = None
    loose: bool = False
    notes: tuple[str, ...] = ()


def withhold_reason(work: Callable[[], _Result], sentence: str) -> _Result:
    """Do what may fail in words that quote cells; then DataError says the sentence instead.

    Parameters
    ----------
    work
        What to do; an error of our own passes.
    sentence
        What to say if it fails in any other way.
    """
    try:
        return work()
    except ZigguratError:
        raise
    except Exception:  # noqa: BLE001, S110  (readers raise what they like)
        pass
    raise DataError(sentence)  # outside the handler, whose error may quote cells
