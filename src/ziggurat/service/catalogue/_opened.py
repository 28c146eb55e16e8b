"""Models that were opened: what they are asked, and what they say; nothing in their folders is run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ziggurat.data import Schema, Table, read
from ziggurat.errors import ArtefactError, DataError, ParameterError

if TYPE_CHECKING:
    from ziggurat.release import Serving, Task

_CERTIFICATE, _TASK, _MODEL = "certificate.json", "task.json", "model.npz"


class OpenedModel:
    """A model in memory; each kind says what it is asked, and answers."""

    @property
    def asked_schema(self) -> Schema:
        """What a table of questions needs."""
        raise NotImplementedError

    def answer(self, table: Table) -> Any:
        """Answer every row of a table."""
        raise NotImplementedError

    def promise(self) -> dict[str, Any]:
        """What all its answers together keep, as JSON."""
        return {}

    def describe(self) -> dict[str, Any]:
        """What is publicly known of it, as JSON."""
        return {"columns": list(self.asked_schema.names), **self.promise()}


@dataclass(frozen=True)
class PublishedModel(OpenedModel):
    """A model that has left."""

    task: Task
    model: Any
    certificate: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> PublishedModel:
        """Open the public part of a release of a model."""
        from ziggurat import learn
        from ziggurat.release import Task
        from ziggurat.release.models import CLASSES, NUMBERS

        place = folder / "public"
        try:
            certificate = json.loads((place / _CERTIFICATE).read_text(encoding="utf-8"))
            kind = certificate["details"]["class"]
        except (OSError, ValueError, KeyError, TypeError):
            raise ArtefactError("The folder holds no model that a release let leave.") from None
        if kind not in {**NUMBERS, **CLASSES}.values():
            raise ArtefactError("The folder holds a model of a kind that is not known here.")
        return cls(Task.load(place / _TASK), getattr(learn, kind).load(place / _MODEL), certificate)

    @property
    def asked_schema(self) -> Schema:
        """The columns that it looks at."""
        return self.task.query_schema

    def answer(self, table: Table) -> list[Any]:
        """Predict the label of every row."""
        found = self.model.predict(self.task.rows(table, labels=False).features)
        if self.task.is_number:
            return [float(each) for each in found]
        return [self.task.classes[int(each)] for each in found]

    def promise(self) -> dict[str, Any]:
        """What its certificate says."""
        return {"sentence": self.certificate["sentence"], "rehearsal": self.certificate["rehearsal"]}


@dataclass(frozen=True)
class OpenServedModel(OpenedModel):
    """A model that stays; whoever asks at once waits for one another."""

    serving: Serving
    lock: Lock

    @classmethod
    def open(cls, folder: Path) -> OpenServedModel:
        """Open what `ziggurat model serve` wrote."""
        from ziggurat.release import Serving

        found = Serving.open(folder)
        if found.points is None:
            raise ParameterError("The model was made without a schema, so that tables cannot be answered by it.")
        return cls(found, Lock())

    @property
    def asked_schema(self) -> Schema:
        """The columns that it is asked by."""
        assert self.serving.points is not None  # as `open` has seen to
        return self.serving.points.asked_schema

    def answer(self, table: Table) -> list[dict[str, Any]]:
        """Answer every row: its cells, and beside them the answers."""
        with self.lock:
            return list(self.serving.answer_table(table).to_pylist())

    def promise(self) -> dict[str, Any]:
        """What all its answers together keep."""
        serving = self.serving
        return {
            "promise": str(serving.guarantee), "not_protected": serving.not_protected, "rehearsal": serving.rehearsal,
        }  # fmt: skip


@dataclass(frozen=True)
class OpenedTeachers(OpenedModel):
    """Teachers who vote on queries."""

    model: Any
    task: Task

    @classmethod
    def open(cls, folder: Path) -> OpenedTeachers:
        """Open what `ziggurat pate teach` wrote."""
        from ziggurat.pate import Partition, Teachers
        from ziggurat.release import Task

        task, teachers = Task.load(folder / _TASK), Teachers.load(folder)
        if (folder / "partition.npz").exists():
            Partition.load(folder / "partition.npz").verify(teachers.manifest_)
        return cls(teachers, task)

    @property
    def asked_schema(self) -> Schema:
        """The columns that queries have."""
        return self.task.query_schema

    def features(self, table: Table) -> Any:
        """Queries as teachers read them."""
        return self.task.rows(table, labels=False).features

    def describe(self) -> dict[str, Any]:
        """The columns of queries, and the classes."""
        return {
            **super().describe(),
            "classes": list(self.task.classes),
            "teachers": len(self.model.manifest_["teachers"]),
        }


OPENERS: dict[str, Any] = {"published": PublishedModel, "served": OpenServedModel, "teachers": OpenedTeachers}
"""What opens a folder, by the kind of the model."""


def open_rows(rows: Sequence[dict[str, Any]], schema: Schema) -> Table:
    """Read rows that somebody sent by a schema; a column that it does not know is refused."""
    import pyarrow as pa

    known = set(schema.names)
    if not all(each.keys() <= known for each in rows):
        raise DataError(f"A row has a column that is not asked for; rows have {', '.join(sorted(known))}.")
    try:
        cells = pa.table({name: [each.get(name) for each in rows] for name in schema.names})
    except (pa.ArrowException, OverflowError):
        raise DataError("The cells of a column are not all of one kind; send numbers as numbers.") from None
    return read(cells, schema)
