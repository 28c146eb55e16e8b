"""How the files of a bundle are called, and which names an artefact may bear."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

PUBLIC, STEWARD = "public", "steward"
MANIFEST = "manifest.json"
PAGE, CERTIFICATE = "index.html", "certificate.json"
REPORT, EVIDENCE = "report.html", "evidence.json"
OURS = (PAGE, CERTIFICATE, MANIFEST)

_FOREIGN = set('\\:*?"<>|')


def name_problem(name: object) -> str:
    """Say why a file of a bundle cannot be called so; empty if it can.

    A name that another system would read as another place, or as another file, is none: no absolute names, no way
    upwards, no letters that come in several forms.
    """
    if not isinstance(name, str) or not name or len(name.encode("utf-8", "replace")) > 1000:
        return "is no name for a file"
    if not name.isprintable() or _FOREIGN & set(name) or unicodedata.normalize("NFC", name) != name:
        return "holds a character that not every system takes for the same"
    if any(part.strip(" .") != part or not part for part in name.split("/")):
        return "leads to another place or is read differently by other systems"
    return ""


def clash(names: Iterable[str]) -> str:
    """Give a name that some system would not tell from another, or that is also a folder; empty if there is none."""
    seen: set[str] = set()
    folders: set[str] = set()
    for name in sorted(names):
        alike = folded(name)
        if alike in seen or alike in folders:
            return name
        seen.add(alike)
        above = alike.split("/")[:-1]
        within = {"/".join(above[: i + 1]) for i in range(len(above))}
        if within & seen:
            return name
        folders |= within
    return ""


def folded(name: str) -> str:
    """A name as systems see it that do not tell capitals from small letters."""
    return unicodedata.normalize("NFKC", name).casefold()
