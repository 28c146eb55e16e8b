"""From what somebody says of a release to files that a run can read: names of the service alone, never a path.

Promise: whatever is said, a run reads nothing but tables of the service that whoever asks may use this way, files that
they brought themselves, and folders that a chief steward registered. Names are looked up in lists; what is not in one
does not exist. The account, the ledger and the place of the bundle are the service's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ziggurat.errors import AccessError, ParameterError, UnknownNameError
from ziggurat.release.config import FORMAT, ReleaseConfig, explain_invalid
from ziggurat.service.access import PeopleBook, Person, Rights
from ziggurat.service.catalogue import ModelShelf, ShelvedTable, TableShelf, UploadFolder
from ziggurat.service.work._folders import BUNDLE, DESCRIPTION, lay_out
from ziggurat.wording import nearest

ASKED = ("question", "workload")
"""Kinds that analysts may ask for themselves."""
_GUARANTEED = (*ASKED, "reports", "model", "labels", "sequences", "trajectories", "communities")
_OURS = {
    "schema": "the table's own schema counts",
    "ledger": "the service's ledger pays",
    "bundle": "the service keeps the bundle",
    "name": "questions call the table by its name",
}
_OPTIONS = {
    "model": (
        "alpha", "alphas", "l1_ratio", "method", "bounds_share", "clip_norm", "fit_intercept", "C", "Cs",
        "least_spread", "depth", "criterion", "thresholds", "leaf_share", "trees",
    ),
    "synthetic table": (
        "methods", "order", "predictors", "rules", "missing", "partial", "columns", "known", "smoothing", "posterior",
        "learn_from",
    ),
    "private": ("bins", "missing", "domain", "domain_share", "rows_per_unit", "max_cells", "workload", "rounds"),
    "sequences": (
        "phrases", "sequences_per_unit", "hidden", "layers", "expected_rows", "steps", "batch", "clip",
        "learning_rate", "sizes_share", "microbatch",
    ),
    "trajectories": ("sequences_per_unit",),
    "communities": ("sees", "fold", "regions", "most_places", "membership_prior"),
}  # fmt: skip
"""Further parameters that hold no name of a file or of a device."""
_UPLOAD = re.compile(r"[0-9a-f]{32}\.[0-9a-z]{2,8}")
_TABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .-]{0,99}")  # what a file of ours may be called after a column


@dataclass(frozen=True)
class DescribedRelease:
    """A release whose names have been looked up.

    Attributes
    ----------
    config
        The description, as a run reads it.
    links, texts
        Files beside it, by their names: links to what lies elsewhere, and texts.
    table
        The table that it is about.
    """

    config: ReleaseConfig
    links: Mapping[str, Path]
    texts: Mapping[str, str]
    table: str

    @property
    def kind(self) -> str:
        """What is released."""
        return str(self.config.release.kind)

    @property
    def guaranteed(self) -> bool:
        """Whether it carries a guarantee, and so a price."""
        return self.kind in _GUARANTEED or bool(getattr(self.config.release, "private", False))

    @property
    def files(self) -> dict[str, str]:
        """All texts, the description among them."""
        said = self.config.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {**self.texts, DESCRIPTION: json.dumps(said, indent=1, ensure_ascii=False)}

    def write(self, folder: Path, ledger: str) -> Path:
        """Write it to be looked at, with the ledger that it is priced by; gives the description."""
        read = DescribedRelease(self.config.model_copy(update={"ledger": ledger}), self.links, self.texts, self.table)
        lay_out(folder, read.files, self.links)
        return folder / DESCRIPTION


class ReleaseNames:
    """Looks up the names in a description.

    Parameters
    ----------
    shelf, uploads, models
        What there is: tables, files that people brought, and folders that chief stewards registered.
    people, rights
        Who there is, and what they may do.
    rehearse
        A seed for rehearsals of the whole service; else noise is drawn from secure randomness.
    """

    def __init__(
        self,
        shelf: TableShelf,
        uploads: UploadFolder,
        models: ModelShelf,
        people: PeopleBook,
        rights: Rights,
        rehearse: str = "",
    ) -> None:
        self._shelf, self._uploads, self._models = shelf, uploads, models
        self._people, self._rights, self._rehearse = people, rights, rehearse

    def look_up(self, person: Person, said: Mapping[str, Any]) -> DescribedRelease:
        """Read a description, check who may ask for it, and look up every name in it.

        Raises
        ------
        ParameterError
            It is no description of a release, or says what the service decides.
        AccessError, UnknownNameError
            Whoever asks may not do this, or may not see something that it names.
        """
        config = read_description(said)
        _refuse_ours(config)
        self._require_allowed(person, config)
        facts = self._shelf.facts(config.table)
        if config.population not in ("", facts.population):
            raise ParameterError(f"The table is about the population {facts.population!r}; leave 'population' out.")
        files = _Files(self, person)
        table = files.table(facts, config.table)
        files.text(f"{config.table}.yaml", facts.schema_text)
        _require_options(config)
        release = _RESOLVERS.get(config.release.kind, _as_said)(files, config.release, facts)
        changed = {
            "table": table, "schema_": f"{config.table}.yaml", "name": config.table, "population": facts.population,
            "analyst": self._payer(person, config.analyst), "release": release, "bundle": BUNDLE,
            "public": {name: files.public(each) for name, each in config.public.items()},
            "rehearse": self._seed(config.rehearse),
        }  # fmt: skip
        return DescribedRelease(config.model_copy(update=changed), files.links, files.texts, config.table)

    def look_up_table(self, person: Person, table: str) -> DescribedRelease:
        """Look up a table alone, for work that releases nothing."""
        columns = self._shelf.facts(table).schema.names[:1]
        said = {"kind": "anonymized table", "k": 2, "quasi_identifiers": list(columns)}
        return self.look_up(person, {"table": table, "release": said})

    def _require_allowed(self, person: Person, config: ReleaseConfig) -> None:
        if not _TABLE.fullmatch(config.table):
            raise ParameterError("'table' is the name of a table of the service.")
        asked = config.release.kind in ASKED and person.role == "analyst"
        self._rights.require(person, config.table, "ask" if asked else "steward")
        if asked and (config.rehearse is not None or config.analyst not in ("", person.name)):
            raise AccessError("Analysts pay for themselves, and rehearse nothing; leave 'analyst' and 'rehearse' out.")

    def _payer(self, person: Person, said: str) -> str:
        return self._people.named(said).name if said else person.name

    def _seed(self, said: int | None) -> int | None:
        if not self._rehearse:
            return said
        return int.from_bytes(hashlib.sha256(self._rehearse.encode()).digest()[:4], "big")


@dataclass
class _Files:
    """The files of one description, as they are looked up."""

    names: ReleaseNames
    person: Person
    links: dict[str, Path] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def table(self, facts: ShelvedTable, stem: str) -> str:
        """Link the file of a table; an invented or open one keeps its name."""
        kind, _, rest = facts.address.partition(":")
        if kind in ("invented", "open"):
            return rest
        if kind != "upload":
            raise ParameterError(
                f"{facts.name!r} lies in a database, and releases are made of files; send the table as an upload."
            )
        place = Path(self.names._shelf.file_of(facts))
        return self.link(f"{stem}{place.suffix}", place)

    def public(self, name: str) -> str:
        """Link a table that is no secret, for joins; it must be one, and one that was sent as a file."""
        self.names._rights.require(self.person, name)
        facts = self.names._shelf.facts(name)
        if not facts.public:
            raise AccessError(f"The table {name!r} is not public, so that it cannot be joined for nothing.")
        found = self.table(facts, name)
        if found not in self.links:
            raise ParameterError(f"{name!r} has no file of its own; send it as an upload to join it in a release.")
        return found

    def upload(self, name: str, stem: str, endings: tuple[str, ...] = ()) -> str:
        """Link a file that whoever asks brought."""
        place = self.names._uploads.find(self.person, name)
        if endings and place.suffix.removeprefix(".") not in endings:
            raise ParameterError(f"{stem!r} is a file that ends in {' or '.join(endings)}; send that.")
        return self.link(f"{stem}{place.suffix}", place)

    def either(self, name: str, stem: str, *, known: bool = False) -> str:
        """Link a file that whoever asks brought, or the file of a table that they look after or that is no secret.

        What counts as `known` to everybody, such as the places of visits, is no private table.
        """
        if _UPLOAD.fullmatch(name):
            return self.upload(name, stem)
        if not _TABLE.fullmatch(name):
            raise UnknownNameError(f"{stem!r} is the name of a table of the service, or of an upload.")
        self.names._rights.require(self.person, name)
        facts = self.names._shelf.facts(name)
        if not facts.public:
            self.names._rights.require(self.person, name, "steward")
        if not facts.public and known:
            raise AccessError(f"The table {name!r} is not public, and what it holds would leave for nothing.")
        found = self.table(facts, stem)
        if found in self.links:
            self.text(f"{stem}.yaml", facts.schema_text)
        return found

    def folder(self, name: str, stem: str, kind: str) -> str:
        """Link a folder that a chief steward registered for a table that whoever asks looks after."""
        facts = self.names._models.seen(name, self.names._rights.of(self.person))
        self.names._rights.require(self.person, facts.table, "steward")
        if facts.kind != kind:
            raise ParameterError(f"{name!r} holds {facts.kind}, not {kind}.")
        return self.link(stem, self.names._models.folder_of(facts))

    def link(self, name: str, target: Path) -> str:
        """Link a file or folder under a name of ours."""
        self._require_free(name)
        self.links[name] = target
        return name

    def text(self, name: str, text: str) -> None:
        """Put a text beside the description; no second one takes its place."""
        self._require_free(name)
        self.texts[name] = text

    def _require_free(self, name: str) -> None:
        if name in (*self.links, *self.texts, DESCRIPTION, BUNDLE):
            raise ParameterError(f"Two files of the release would be called {name!r}; name each once.")


def read_description(said: Mapping[str, Any]) -> ReleaseConfig:
    """Read a description; what is wrong with it is said in a sentence that quotes no value."""
    try:
        return ReleaseConfig.model_validate_json(json.dumps({"format": FORMAT, **said}))
    except ValidationError as error:
        wrong = explain_invalid(error)
    except (TypeError, ValueError, RecursionError):
        raise ParameterError("A release is described by keys and values, as in a release file.") from None
    raise ParameterError(wrong)


def _refuse_ours(config: ReleaseConfig) -> None:
    for name, why in _OURS.items():
        given = config.schema_ if name == "schema" else getattr(config, name)
        if given and not (name == "name" and given == config.table):
            raise ParameterError(f"Leave {name!r} out: {why}.")


def _require_options(config: ReleaseConfig) -> None:
    """Refuse further parameters that were not looked at: some would name files of this machine, or parts of it."""
    given = getattr(config.release, "options", {})
    kind = config.release.kind
    known = _OPTIONS.get("private" if getattr(config.release, "private", False) else kind, ())
    for name in given:
        if name not in known:
            raise ParameterError(f"There is no option {name!r} here; {nearest(name, known)}")


def _as_said(files: _Files, said: Any, facts: ShelvedTable) -> Any:  # noqa: ARG001
    """Nothing in it names a file."""
    return said


def _foreign(files: _Files, said: Any, facts: ShelvedTable) -> Any:  # noqa: ARG001
    model = files.upload(said.model, "model", ("skops",))
    return said.model_copy(update={"model": model, "others": files.either(said.others, "others")})


def _labels(files: _Files, said: Any, facts: ShelvedTable) -> Any:  # noqa: ARG001
    teachers = files.folder(said.teachers, "teachers", "teachers")
    return said.model_copy(update={"teachers": teachers, "queries": files.either(said.queries, "queries")})


def _anonymized(files: _Files, said: Any, facts: ShelvedTable) -> Any:
    """A hierarchy is an upload; COLUMN=UPLOAD where the file itself does not say of which column."""
    found = []
    for number, each in enumerate(said.hierarchies):
        column, _, name = each.rpartition("=")
        if column and (column not in facts.schema.names or not _PLAIN.fullmatch(column)):
            raise ParameterError("A hierarchy is given as UPLOAD, or as COLUMN=UPLOAD by a column of the table.")
        found.append(files.upload(name, column or f"hierarchies-{number}", ("csv", "tsv")))
    return said.model_copy(update={"hierarchies": found})


def _masked(files: _Files, said: Any, facts: ShelvedTable) -> Any:  # noqa: ARG001
    return said.model_copy(
        update={"techniques": {name: _technique(files, each) for name, each in said.techniques.items()}}
    )


def _technique(files: _Files, said: Any) -> Any:
    """A technique, or several in turn; secrets and lists of names are uploads, and a vault is nobody's here."""
    if isinstance(said, list):
        return [_technique(files, each) for each in said]
    if not isinstance(said, dict):
        return said
    if "vault" in said or said.get("technique") == "tokens":
        raise ParameterError("Tokens need a vault that nobody but you can read; mask with them where you keep it.")
    return {name: _words(files, name.replace("-", "_"), each) for name, each in said.items()}


def _words(files: _Files, name: str, said: Any) -> Any:
    if not isinstance(said, dict) or name not in ("secret", "names"):
        return said
    if set(said) != {"file"}:
        raise ParameterError(f"{name!r} lies in an upload here: {{file: UPLOAD}}.")
    listed = said["file"] if isinstance(said["file"], list) else [said["file"]]
    found = [files.upload(str(each), f"{name}-{len(files.links)}", ("txt",)) for each in listed]
    return {"file": found if isinstance(said["file"], list) else found[0]}


def _visited(files: _Files, said: Any, facts: ShelvedTable) -> Any:  # noqa: ARG001
    if not said.places.table:
        return said
    places = said.places.model_copy(update={"table": files.either(said.places.table, "places", known=True)})
    return said.model_copy(update={"places": places})


_RESOLVERS: dict[str, Callable[[_Files, Any, ShelvedTable], Any]] = {
    "foreign model": _foreign,
    "labels": _labels,
    "anonymized table": _anonymized,
    "masked table": _masked,
    "trajectories": _visited,
    "communities": _visited,
}
