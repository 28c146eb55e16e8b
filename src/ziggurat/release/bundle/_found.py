"""Find the files of a bundle in a folder, in a zip, or in the folder of one part."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ziggurat.errors import DataError
from ziggurat.release.bundle._archive import ArchivePiece, read_archive
from ziggurat.release.bundle._members import EVIDENCE, MANIFEST, PUBLIC, STEWARD, Member, name_problem
from ziggurat.release.bundle._verified import BundleProblem

_MOST_FILES = 100_000


@dataclass
class BundleFiles:
    """The files of each part, by name, and what is wrong with how they lie there.

    Attributes
    ----------
    parts
        The files of the public and of the steward's part, whichever there are.
    bare
        Whether the folder of one part was given by itself.
    problems
        What is no plain file of a part.
    pieces
        Of a zip: what differs from the canonical form.
    archive
        What a zip is called.
    """

    parts: dict[str, dict[str, Member]] = field(default_factory=dict)
    bare: bool = False
    problems: list[BundleProblem] = field(default_factory=list)
    pieces: list[ArchivePiece] = field(default_factory=list)
    archive: str = ""

    def name_of(self, part: str, name: str) -> str:
        """How a file is called from where the bundle is."""
        return name if self.bare else f"{part}/{name}"

    def find_alterations(self, named: set[str]) -> list[BundleProblem]:
        """What is wrong with a zip besides the files in it, as far as those are not named already."""
        names = {piece.name for piece in self.pieces}
        every = {f"{part}/{name}" for part, members in self.parts.items() for name in members}
        if not named and every <= names:
            return [BundleProblem(self.archive, "was archived anew: order, times or layout are not those of a bundle")]
        ends = [BundleProblem(self.archive, "was altered at its end, or something was added there")]
        records = [
            BundleProblem(name, f"was altered in what {self.archive} says of it") for name in names - named - {""}
        ]
        return sorted(records, key=lambda each: each.file) + (ends if "" in names and not named else [])


def find(path: str | os.PathLike[str]) -> BundleFiles:
    """Find the files of a bundle; `DataError` if there is none."""
    place = Path(path)
    try:
        if place.is_dir():
            return _in_folder(place)
        if place.is_file():
            return _in_zip(place.resolve())
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise DataError(f"The bundle {str(place)!r} cannot be read ({reason}).") from None
    raise DataError(f"There is no bundle at {str(place)!r}; check its name.")


def _in_folder(folder: Path) -> BundleFiles:
    bare = not any((folder / part).is_dir() for part in (PUBLIC, STEWARD))
    if bare and not os.path.lexists(folder / MANIFEST):
        raise DataError(f"The folder {str(folder)!r} is no bundle: it holds neither parts nor a manifest.")
    found = BundleFiles(bare=bare)
    if bare:
        part = STEWARD if (folder / EVIDENCE).exists() else PUBLIC
        found.parts[part] = dict(_walk(folder, "", found.problems))
        return found
    for place in sorted(folder.iterdir()):
        name = place.name
        if name in (PUBLIC, STEWARD) and place.is_dir() and not place.is_symlink():
            found.parts[name] = dict(_walk(place, f"{name}/", found.problems))
        else:
            found.problems.append(BundleProblem(name, "was added: a bundle holds two folders and nothing else"))
    return _with_public(found)


def _walk(folder: Path, prefix: str, problems: list[BundleProblem]) -> Iterator[tuple[str, Member]]:
    """Find the plain files of a part; links and other things are reported and never opened."""
    waiting, count = [folder], 0
    while waiting:
        here = waiting.pop()
        entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        within = here.relative_to(folder)
        if not entries and here != folder:
            problems.append(BundleProblem(f"{prefix}{within.as_posix()}", "was added: it is an empty folder"))
        for entry in entries:
            count += 1
            name = (within / entry.name).as_posix()
            status = entry.stat(follow_symlinks=False)
            if count > _MOST_FILES:
                raise DataError(f"The folder {str(folder)!r} holds too many files for a bundle.")
            if stat.S_ISDIR(status.st_mode):
                waiting.append(Path(entry.path))
            elif stat.S_ISREG(status.st_mode):
                yield name, Member(Path(entry.path), 0, status.st_size)
            else:
                kind = "a link" if stat.S_ISLNK(status.st_mode) else "no plain file"
                problems.append(BundleProblem(f"{prefix}{name}", f"is {kind}, which no bundle holds"))


def _in_zip(file: Path) -> BundleFiles:
    found = BundleFiles(archive=file.name)
    try:
        members, found.pieces = read_archive(file)
    except ValueError as error:
        found.problems.append(BundleProblem(file.name, str(error)))
        return found
    for name, member in members:
        part, slash, rest = name.partition("/")
        wrong = name_problem(name)
        if wrong or not slash or part not in (PUBLIC, STEWARD):
            found.problems.append(BundleProblem(name, f"was added: it {wrong or 'is in neither part of the bundle'}"))
        elif rest in found.parts.setdefault(part, {}):
            found.problems.append(BundleProblem(name, "is there twice"))
        else:
            found.parts[part][rest] = member
    return _with_public(found)


def _with_public(found: BundleFiles) -> BundleFiles:
    """The public part may go without the steward's, but not the other way round."""
    if PUBLIC not in found.parts:
        found.problems.append(BundleProblem(PUBLIC, "is missing"))
    return found
