"""Files that are made out of sight, attacked there, and let go together with the certificate beside them."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.data import Table
from ziggurat.data.writing import STREAMED_ENDINGS, check_parts_folder, check_table_file, names_folder
from ziggurat.errors import DataError, ParameterError, PrivacyError
from ziggurat.files import check_output, place, write_text
from ziggurat.release._certificate import Artefact

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger

CERTIFICATE = ".certificate.json"
"""What is put behind the name of a table's file to name its certificate."""
_LONGEST_NOTE = 1000
_OWNER_ONLY = 0o600  # figures about the raw table are exact

Told = Callable[[str, str, int, int], None]
"""Is told the stage, what of it, how much is done, and how much there is."""


@dataclass(frozen=True)
class File(Artefact):
    """A file that is released, and how many rows it has."""

    rows: int = 0


def check_target(path: str | Path, ledger: Ledger | None, budget: str, note: str, *, folders: bool = False) -> Path:
    """Refuse a file, a ledger or a note that could only fail later; with `folders`, a folder of parts may be named."""
    target = Path(path)
    if folders and names_folder(path):
        check_parts_folder(path)
    else:
        check_table_file(target, ())
        check_output(target, force=True)
    if ledger is not None and not budget:
        raise ParameterError("Name the budget under which the ledger should remember the release.")
    if ledger is None and budget:
        raise ParameterError(f"Give the ledger that should remember the release under {budget!r}.")
    if len(note) > _LONGEST_NOTE or not note.isprintable():
        raise ParameterError(f"A note is printable text of at most {_LONGEST_NOTE:,} characters; shorten it.")
    return target


def require_streamed(target: Path) -> None:
    """Refuse formats that may turn out too small for rows whose number is known only once they were paid for."""
    if target.suffix.lower() not in STREAMED_ENDINGS:
        raise DataError(f"What is drawn here is written to a file ending in {', '.join(STREAMED_ENDINGS)}; name one.")


def private_folder(target: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder on the same disk that nobody else may enter."""
    try:
        return tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.absolute().parent)
    except OSError:
        raise DataError(f"Nothing can be written beside {str(target)!r}; check the folder.") from None


def copy_into(file: Path, folder: Path) -> Path:
    """Copy a file that is about to leave into the folder of a bundle."""
    return Path(shutil.copyfile(file, folder / file.name))


def copy_parts_into(file: Path, folder: Path) -> list[Path]:
    """Copy a file, or a folder of parts, that is about to leave into the folder of a bundle; give all files of it."""
    if not file.is_dir():
        return [copy_into(file, folder)]
    made = Path(shutil.copytree(file, folder / file.name))
    return sorted(each for each in made.rglob("*") if not each.is_dir())


def describe_files(drafts: Sequence[Path], tables: Sequence[Table]) -> tuple[File, ...]:
    """State what files are, before they are attacked."""
    return tuple(File.at(draft, rows=table.raw.count_rows()) for draft, table in zip(drafts, tables, strict=True))


def digest_of(files: Sequence[File]) -> str:
    """Return the hash of one file, and of several that of their hashes in order."""
    if len(files) == 1:
        return files[0].sha256
    return hashlib.sha256("".join(each.sha256 for each in files).encode("ascii")).hexdigest()


def copy_files(files: Sequence[File], places: Sequence[Path], folder: Path) -> list[Path]:
    """Copy files into the folder of a bundle, from the first of the places that has them."""
    return [
        copy_into(next(each / file.name for each in places if (each / file.name).exists()), folder) for file in files
    ]


def certificate_of(target: Path) -> Path:
    """Return where the certificate of a release stands."""
    return target.with_name(target.name + CERTIFICATE)


def require_as_attacked(drafts: Sequence[Path], files: Sequence[File]) -> None:
    """Raise PrivacyError if a file is not the one that was attacked."""
    if any(Artefact.at(draft).sha256 != file.sha256 for draft, file in zip(drafts, files, strict=True)):
        raise PrivacyError("A file changed after it had been attacked; nothing was released.")


def let_go(folder: Path, files: Sequence[Artefact], certificate: Path, facts: dict[str, Any]) -> None:
    """Give files and certificate their names; if one cannot have it, those before it are taken back."""
    written = folder / certificate.name
    write_text(written, json.dumps(facts, indent=1) + "\n", mode=_OWNER_ONLY)
    names = (*(file.name for file in files), certificate.name)
    place({folder / name: certificate.with_name(name) for name in names})


def check_share(holdout: object) -> float:
    """Return the share of people who are kept back; ParameterError if it is none."""
    if isinstance(holdout, bool) or not isinstance(holdout, int | float) or not 0 <= holdout < 1:
        raise ParameterError("The hold-out must be a share of at least 0 and below 1, such as 0.1, or a table.")
    return float(holdout)


def say_nothing(stage: str, what: str, done: int, of: int) -> None:
    """Report nothing."""
