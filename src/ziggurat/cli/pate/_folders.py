"""The folders and files in which the stages of `ziggurat pate` hand their results on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ziggurat.release import Labelled, PrivatizedQueries, Task
    from ziggurat.release.models import Floats

TASK, QUERIES, SENT, CERTIFICATE = "task.json", "queries.parquet", "sent.json", "certificate.json"
PARTITION, CHECKPOINTS = "partition.npz", "checkpoints"


def read_task(where: str) -> Task:
    """The task that lies in a folder of teachers or of a student, or in a file."""
    from ziggurat.release import Task

    path = Path(where)
    return Task.load(path / TASK if path.is_dir() else path)


def read_features(data: str, task: Task) -> Floats:
    """The features of a table that need not have a label."""
    from ziggurat.cli._tables import open_as

    return task.rows(open_as(data, task.query_schema), labels=False).features


def read_queries(data: str, task: Task) -> tuple[Floats, PrivatizedQueries | None]:
    """The features of a table, or those that a curator sent, with the facts of what they promise."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as parquet

    from ziggurat.release import PrivatizedQueries

    folder = Path(data)
    if not folder.is_dir():
        return read_features(data, task), None
    try:
        facts = json.loads((folder / SENT).read_text(encoding="utf-8"))
        lists = parquet.read_table(folder / QUERIES)["features"].combine_chunks()
        matrix = np.asarray(lists.flatten().to_numpy()).reshape(len(lists), -1)
    except (OSError, ValueError, KeyError, pa.ArrowException):
        raise DataError(
            f"There are no readable queries in {data!r}; make them with 'ziggurat pate privatize'."
        ) from None
    return matrix, PrivatizedQueries.from_dict(facts)


def require_same(matrix: Floats, labelled: Labelled, features: str, sent: PrivatizedQueries | None) -> None:
    """Refuse rows that are not those of the labels, and statements that the files contradict."""
    from ziggurat.release.labels import features_digest

    if (features == "privatised") and sent is None:
        raise ParameterError("--features privatised needs ROWS from 'pate privatize'; a table is public or original.")
    if len(matrix) != labelled.facts.queries:
        raise DataError(f"There are {labelled.facts.queries:,} labels and {len(matrix):,} rows; give the same rows.")
    if features != "original" and features_digest(matrix) != labelled.facts.question["features"]:
        raise DataError("These are not the rows that were labelled; give the same ones in the same order.")
