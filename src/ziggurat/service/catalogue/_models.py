"""Models of a service, by name: made by releases of it, or put by its operator into the folder for them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from ziggurat.errors import ConflictError, DataError, ParameterError, UnknownNameError
from ziggurat.service.access import Person
from ziggurat.service.catalogue._opened import OPENERS, PublishedModel
from ziggurat.service.catalogue._releases import ShelvedRelease
from ziggurat.service.store import ServiceStore, models, tables, utc_now

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_UNKNOWN = "There is no model {name!r} that you may see."
MODEL_KINDS = ("published", "served", "teachers")
"""What is registered: models that left, models that stay and answer, and teachers that label."""


@dataclass(frozen=True)
class ShelvedModel:
    """What is known of a model.

    Attributes
    ----------
    name, table, kind
        What it is called, which table it is about, and one of `MODEL_KINDS`.
    folder
        Where it lies, from the folder of the service.
    person, made
        Who registered it, and when.
    """

    name: str
    table: str
    kind: str
    folder: str
    person: str
    made: str

    def to_dict(self) -> dict[str, Any]:
        """Give what everybody may know who may see the table."""
        return {"name": self.name, "table": self.table, "kind": self.kind, "made": self.made}


class ModelShelf:
    """The models of a service.

    Parameters
    ----------
    store
        Where they are listed.
    folder
        Where the service keeps what no database keeps; what operators bring lies in its folder `models`.
    """

    def __init__(self, store: ServiceStore, folder: Path) -> None:
        self._store, self._folder = store, folder.absolute()
        self._opened: dict[tuple[str, str], Any] = {}
        self._lock = Lock()

    def place(self, person: Person, name: str, table: str, kind: str, folder: str) -> ShelvedModel:
        """Register a model under a name, which stands for it for ever; two names never share what answers."""
        if not _NAME.fullmatch(name) or kind not in MODEL_KINDS:
            raise ParameterError(
                f"The name of a model begins with a letter; letters, digits and _ follow, up to 64. It is one of "
                f"{', '.join(MODEL_KINDS)}."
            )
        made = ShelvedModel(name, table, kind, folder, person.id, utc_now())
        if not self.folder_of(made).is_dir():
            raise DataError("There is no such folder among those of the service; put it into its folder 'models'.")
        row = {
            **{each: getattr(made, each) for each in ("name", "kind", "folder", "person", "made")},
            "table_name": table,
        }
        taken = False
        with self._store.write() as connection:
            try:
                connection.execute(models.insert().values(**row))
            except IntegrityError:
                taken = True
        if taken:
            raise ConflictError(f"There is a model {name!r} already; take another name.")
        return made

    def publish(self, person: Person, name: str, release: ShelvedRelease, bundle: Path) -> ShelvedModel:
        """Register the model that a release let leave, out of its public part alone, which is verified first."""
        from ziggurat.release.bundle import hand_out

        folder = f"models/release-{release.id}"
        place = self._folder / folder
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            hand_out(bundle, place)
        PublishedModel.open(place)
        return self.place(person, name, release.table, "published", folder)

    def open(self, facts: ShelvedModel) -> Any:
        """Open a model, once in a process."""
        with self._lock:
            found = self._opened.get((facts.name, facts.made))
            if found is None:
                found = self._opened[facts.name, facts.made] = OPENERS[facts.kind].open(self.folder_of(facts))
        return found

    def brought(self, name: str) -> str:
        """Where a folder lies that an operator put among the models, by its bare name."""
        if not _NAME.fullmatch(name):
            raise ParameterError("The folder is named by letters, digits and _: no path leads out of 'models'.")
        return f"models/{name}"

    def remove(self, name: str) -> None:
        """Forget a model; its folder stays."""
        with self._store.write() as connection:
            connection.execute(delete(models).where(models.c.name == name))

    def facts(self, name: str) -> ShelvedModel:
        """What is known of a model."""
        with self._store.read() as connection:
            row = connection.execute(_about_this_table().where(models.c.name == name)).first()
        if row is None:
            raise UnknownNameError(_UNKNOWN.format(name=name))
        return _model(row)

    def seen(self, name: str, held: Container[str]) -> ShelvedModel:
        """What is known of a model about one of some tables; others do not exist."""
        found = self.facts(name)
        if found.table not in held:
            raise UnknownNameError(_UNKNOWN.format(name=name))
        return found

    def all(self, held: Iterable[str]) -> list[ShelvedModel]:
        """The models about some tables, by name."""
        with self._store.read() as connection:
            wanted = _about_this_table().where(models.c.table_name.in_(sorted(held))).order_by(models.c.name)
            return [_model(row) for row in connection.execute(wanted)]

    def folder_of(self, facts: ShelvedModel) -> Path:
        """Where a model lies."""
        return self._folder / facts.folder


def _about_this_table() -> Any:
    """Models of tables that are still there; those of one that was forgotten are not another's of its name."""
    return select(models).join(tables, (models.c.table_name == tables.c.name) & (tables.c.made <= models.c.made))


def _model(row: Any) -> ShelvedModel:
    return ShelvedModel(row.name, row.table_name, row.kind, row.folder, row.person, row.made)
