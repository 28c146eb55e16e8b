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


def task_in(where: str) -> Task:
    """The task that lies in a folder of teachers or of a student, or in a file."""
    from ziggurat.release import Task

    path = Path(where)
    return Task.load(path / TASK if path.is_dir() else path)


def features_of(source: str, task: Task) -> Floats:
    """The features of a table that need not have a label."""
    from ziggurat.cli._asked_tables import located
    from ziggurat.data import read
    from ziggurat.data.engines import DuckDBEngine

    is_file = Path(source).is_file()
    table = read(source, task.query_schema) if is_file else located(source).open(DuckDBEngine())
    return task.rows(table, labels=False).features


def queries_of(source: str, task: Task) -> tuple[Floats, PrivatizedQueries | None]:
    """The features of a table, or those that a curator sent, with the facts of what they promise."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as parquet

    from ziggurat.release import PrivatizedQueries

    folder = Path(source)
    if not folder.is_dir():
        return features_of(source, task), None
    try:
        facts = json.loads((folder / SENT).read_text(encoding="utf-8"))
        lists = parquet.read_table(folder / QUERIES)["features"].combine_chunks()
        matrix = np.asarray(lists.flatten().to_numpy()).reshape(len(lists), -1)
    except (OSError, ValueError, KeyError, pa.ArrowException):
        raise DataError(
            f"There are no readable queries in {source!r}; make them with 'ziggurat pate privatise'."
        ) from None
    return matrix, PrivatizedQueries.from_dict(facts)


def require_same(matrix: Floats, labelled: Labelled, features: str, sent: PrivatizedQueries | None) -> None:
    """Refuse rows that are not those of the labels, and statements that the files contradict."""
    from ziggurat.release.labels import features_digest

    if (features == "privatised") and sent is None:
        raise ParameterError("--features privatised needs ROWS from 'pate privatise'; a table is public or original.")
    if len(matrix) != labelled.facts.queries:
        raise DataError(f"There are {labelled.facts.queries:,} labels and {len(matrix):,} rows; give the same rows.")
    if features != "original" and features_digest(matrix) != labelled.facts.question["features"]:
        raise DataError("These are not the rows that were labelled; give the same ones in the same order.")


def empty_folder(out: str) -> Path:
    """The folder to write to, if nothing is there yet."""
    folder = Path(out)
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise DataError(f"{out!r} is there already; name another folder.")
    require_parent(out)
    return folder


def require_parent(out: str) -> None:
    """Refuse a place that cannot be written to before anything is paid for."""
    if not Path(out).absolute().parent.is_dir():
        raise DataError(f"The folder of {out!r} does not exist; create it first.")


def require_file(out: str) -> None:
    """Refuse the name of a folder where a file is to be written."""
    require_parent(out)
    if Path(out).is_dir():
        raise DataError(f"{out!r} is a folder; name a file, such as labels.json.")
