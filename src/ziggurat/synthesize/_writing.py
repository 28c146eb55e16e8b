"""Copies as files, a batch at a time; a file is complete or not there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ziggurat.cards import Shown
from ziggurat.data.writing import TABLE_ENDINGS, TableWriter
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import replacing
from ziggurat.synthesize._result import Origin

KEY = b"ziggurat/synthetic/1"


@dataclass(frozen=True)
class WrittenCopies(Shown):
    """Files that were written.

    Attributes
    ----------
    paths
        One for every copy.
    rows
        How many rows each has; 0 for one that was there already.
    facts
        What stands about them in Parquet files.
    """

    paths: tuple[Path, ...]
    rows: tuple[int, ...]
    facts: dict[str, Any]

    @property
    def origin(self) -> Origin | None:
        """What the combining rules must know of the copies."""
        return Origin.from_dict(self.facts)


def name_paths(path: str | Path, copies: int) -> tuple[Path, ...]:
    """Return the file of each copy: the path itself for one, NAME.1.parquet and so on for several."""
    target = Path(path)
    if target.suffix.lower() not in TABLE_ENDINGS:
        raise ParameterError(f"Synthetic copies are written to files ending in {', '.join(TABLE_ENDINGS)}; name one.")
    if not target.parent.is_dir():
        raise DataError(f"The folder {str(target.parent)!r} is not there; make it first.")
    if copies == 1:
        return (target,)
    return tuple(target.with_name(f"{target.stem}.{number}{target.suffix}") for number in range(1, copies + 1))


def write_copies(
    path: str | Path, copies: Iterator[Iterator[pa.Table]], count: int, facts: Mapping[str, Any], *, resume: bool
) -> WrittenCopies:
    """Write every copy to its file."""
    paths = name_paths(path, count)
    rows = []
    for target, pieces in zip(paths, copies, strict=True):
        rows.append(0 if resume and target.exists() else _write(target, pieces, facts))
    return WrittenCopies(paths, tuple(rows), dict(facts))


def read_facts(path: str | Path) -> dict[str, Any]:
    """Return what a Parquet file of ours says about itself; nothing for any other file."""
    if Path(path).suffix != ".parquet":
        return {}
    held = pq.read_schema(path).metadata or {}
    return dict(json.loads(held[KEY])) if KEY in held else {}


def _write(target: Path, pieces: Iterator[pa.Table], facts: Mapping[str, Any]) -> int:
    with replacing(target) as draft:
        return _stream(draft, target.suffix, pieces, facts)


def _stream(path: Path, suffix: str, pieces: Iterator[pa.Table], facts: Mapping[str, Any]) -> int:
    first = next(pieces)
    schema = first.schema.with_metadata({KEY: json.dumps(facts).encode()})
    writer = pq.ParquetWriter(path, schema, compression="zstd") if suffix == ".parquet" else None
    with writer or TableWriter(path, schema, ending=suffix) as to:
        to.write_table(first.cast(schema))
        rows = int(first.num_rows)
        for piece in pieces:
            to.write_table(piece.cast(schema))
            rows += piece.num_rows
    return rows
