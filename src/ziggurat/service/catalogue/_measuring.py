"""How much an Arrow file unpacks to, found out by a process that may use so much memory and no more.

Run by its path: `python -P _measuring.py FILE MOST`, which ends with 0 if it is at most that, and else with something
else. What a file says of its own length is not believed, and one piece of it may already be more than there is.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_OWN = 1 << 31  # what this process needs itself
TOO_LARGE = 3


def main(file: str, most: int) -> int:
    """Unpack a file piece by piece for nothing but its length; one that is none is not judged here."""
    import pyarrow as pa

    source, held = pa.memory_map(file), 0
    limit = _OWN + most + source.size()
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        for batch in _open_batches(source):
            held += batch.nbytes + batch.num_rows * batch.num_columns
            if held > most:
                return TOO_LARGE
    except MemoryError:
        return TOO_LARGE
    except (pa.ArrowException, OSError, ValueError):
        return 0  # who reads it says that it is damaged
    return 0


def _open_batches(source: pa.MemoryMappedFile) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    try:
        found = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        yield from pa.ipc.open_stream(source)
        return
    for number in range(found.num_record_batches):
        yield found.get_batch(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
