"""The files of a synthetic table and the certificate beside them: made out of sight, let go together, checked later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.data import Role, Schema, Table, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError, PrivacyError
from ziggurat.files import place, write_text
from ziggurat.release._certificate import FORMAT, Artefact
from ziggurat.release._cited import Cited, look_up, require_unbounded
from ziggurat.release.tables._anonymized import CERTIFICATE, copy_into

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger

_EARLIER = "ziggurat/synthetic-release/1"  # a certificate of its own, which is still checked
_OWNER_ONLY = 0o600  # figures about the raw table are exact


@dataclass(frozen=True)
class File(Artefact):
    """A file that is released, and how many rows it has."""

    rows: int = 0


def read_back(drafts: Sequence[Path], schema: Schema, raw: Table, engine: DuckDBEngine) -> list[Table]:
    """Read files as any outsider would; PrivacyError if one shows a column that tells people apart."""
    for draft in drafts:
        _require_no_identifier(raw, read(draft, engine=engine, on_bad_cell="missing").declared)
    return [read(draft, schema, engine=engine, on_bad_cell="missing") for draft in drafts]


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


def let_go(folder: Path, files: Sequence[File], certificate: Path, facts: dict[str, Any]) -> None:
    """Give files and certificate their names; if one cannot have it, those before it are taken back."""
    written = folder / certificate.name
    write_text(written, json.dumps(facts, indent=1) + "\n", mode=_OWNER_ONLY)
    names = (*(file.name for file in files), certificate.name)
    place({folder / name: certificate.with_name(name) for name in names})


def check_synthetic(certificate: str | Path, ledger: Ledger | None = None) -> dict[str, Any]:
    """Compare released files with their certificate, and that with the ledger; return what the certificate says.

    Parameters
    ----------
    certificate
        NAME.certificate.json, with the files beside it.
    ledger
        The ledger that the certificate cites, if that is to be compared as well.

    Raises
    ------
    DataError
        A file is missing or is another one than was attacked, or the ledger says something else.
    """
    path = Path(certificate)
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        earlier = facts["format"] == _EARLIER
        if not earlier and (facts["format"], facts["kind"]) != (FORMAT, "synthetic table"):
            raise ValueError
        files = [File(each["name"], each["sha256"], 0) for each in facts["files" if earlier else "artefacts"]]
        cited = None if facts["recorded"] is None else Cited.from_dict(facts["recorded"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"There is no certificate of a synthetic table in {str(path)!r}.") from None
    for file in files:
        _require_file(path.with_name(file.name), file.sha256)
    if ledger is not None:
        _require_recorded(ledger, cited, digest_of(files))
    return facts


def _require_file(path: Path, sha256: str) -> None:
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}, which the certificate names.")
    if Artefact.at(path).sha256 != sha256:
        raise DataError(f"{str(path)!r} is another file than the one that was attacked and certified.")


def _require_recorded(ledger: Ledger, cited: Cited | None, digest: str) -> None:
    if cited is None:
        raise DataError("The certificate cites no ledger.")
    if cited.analyst:
        held = str(look_up(ledger, cited).answer.get("digest"))
    else:
        require_unbounded(ledger, cited)
        held = str(ledger.history()[cited.seq - 1].data["what"])
    if digest not in held:
        raise DataError("The ledger says something else of these files; give the ledger that the certificate cites.")


def _require_no_identifier(raw: Table, released: Schema) -> None:
    for column in raw.declared.columns:
        if column.name in released and (column.role is Role.IDENTIFIER or column.name == raw.unit.column):
            raise PrivacyError(
                f"The synthetic table shows column {column.name!r}, which tells people apart; nothing was released: "
                "leave that column out."
            )
