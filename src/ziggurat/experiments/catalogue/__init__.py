"""The experiments that ship with Ziggurat, by document and figure.

Those about a formula or a figure begin with the number of their document; the case studies have names of their own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ziggurat.errors import ExperimentError

__all__ = ["CatalogueEntry", "entries", "names", "path"]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class CatalogueEntry:
    """One shipped experiment: its name, its title, and where what it repeats is printed."""

    name: str
    title: str
    document: str
    where: str


def names() -> tuple[str, ...]:
    """The names that `path` understands, sorted."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.json")))


def path(name: str) -> Path:
    """The file of a shipped experiment; an unknown name raises and suggests the nearest."""
    if name not in names():
        from ziggurat.wording import nearest

        raise ExperimentError(f"No shipped experiment is called {name!r}; {nearest(name, names())}")
    return _FOLDER / f"{name}.json"


def entries() -> dict[str, tuple[CatalogueEntry, ...]]:
    """All shipped experiments, grouped by document."""
    found: dict[str, tuple[CatalogueEntry, ...]] = {}
    for name in names():
        entry = _entry(name)
        found[entry.document] = (*found.get(entry.document, ()), entry)
    return dict(sorted(found.items()))


def _entry(name: str) -> CatalogueEntry:
    held = json.loads(path(name).read_text(encoding="utf-8"))
    printed = held["reproduces"]
    return CatalogueEntry(name, held["title"], printed["document"], printed["where"])
