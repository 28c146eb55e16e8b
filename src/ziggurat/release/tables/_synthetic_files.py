"""The files of a synthetic table: read back as an outsider would, and checked against their certificate later."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.data import Role, Schema, Table, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError, PrivacyError
from ziggurat.release._certificate import FORMAT, Artefact
from ziggurat.release._cited import Cited, look_up, require_unbounded
from ziggurat.release._drafts import File, digest_of

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger

_KINDS = ("synthetic table", "sequences", "trajectories", "communities")
_EARLIER = "ziggurat/synthetic-release/1"  # a certificate of its own, which is still checked


def read_back(drafts: Sequence[Path], schema: Schema, raw: Table, engine: DuckDBEngine) -> list[Table]:
    """Read files as any outsider would; PrivacyError if one shows a column that tells people apart."""
    for draft in drafts:
        _require_no_identifier(raw, read(draft, engine=engine, on_bad_cell="missing").declared)
    return [read(draft, schema, engine=engine, on_bad_cell="missing") for draft in drafts]


def check_synthetic(certificate: str | Path, ledger: Ledger | None = None) -> dict[str, Any]:
    """Compare released files with their certificate, and that with the ledger; return what the certificate says.

    The files are synthetic tables, or drawn sequences or trajectories, or communities.

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
        if not earlier and (facts["format"] != FORMAT or facts["kind"] not in _KINDS):
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
