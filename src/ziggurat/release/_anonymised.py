"""Release an anonymised table: attacked first, written down as unbounded, and only then let go."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.anonymize import NOT_PROMISED, Anonymised, HighestRisk, KAnonymity
from ziggurat.attacks import Homogeneity, RiskReport, homogeneity, risk
from ziggurat.data import Column, Kind, Role, Schema, Table, read, write_text
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError, ParameterError, PrivacyError
from ziggurat.release._cited import Cited, cite

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger

FORMAT = "ziggurat/anonymised/1"
CERTIFICATE = ".certificate.json"
HIGH_RISK = 0.2
_LONGEST = 2000
_OWNER_ONLY = 0o600  # figures about the raw table are exact


@dataclass(frozen=True)
class AnonymisedRelease:
    """A table that has left, what attackers make of it, and where that is written down.

    Not promised: differential privacy. `before` and `after` measure attackers who know the quasi-identifiers; they
    bound nothing about those who know more.

    Attributes
    ----------
    path, certificate
        The file, and the certificate beside it. The certificate holds exact figures about the raw table, so that only
        its owner may read it.
    sha256
        The hash of the file.
    anonymised
        What was done.
    before, after
        How exposed people were in the table, and are in the file.
    homogeneity
        What classes of the file give away, by sensitive column.
    untouched
        The columns that left as they were, and the share of people whom each by itself tells from all others: whoever
        knows one of these needs no quasi-identifier.
    recorded
        The entry of the ledger; None if there was no ledger.
    note
        What the steward says of it.
    """

    path: Path
    certificate: Path
    sha256: str
    anonymised: Anonymised
    before: RiskReport
    after: RiskReport
    homogeneity: Mapping[str, Homogeneity]
    untouched: Mapping[str, float]
    recorded: Cited | None
    note: str = ""
    made: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())

    @property
    def sentence(self) -> str:
        """What the steward may say of the table, and what not."""
        return self.anonymised.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as values that JSON can hold; no cell is in it."""
        return {
            "format": FORMAT,
            "made": self.made,
            "file": {"name": self.path.name, "sha256": self.sha256},
            "promise": "unbounded",
            "not_promised": NOT_PROMISED,
            "sentence": self.sentence,
            "done": self.anonymised.to_dict(),
            "attacks": {
                "before": risk_facts(self.before),
                "after": risk_facts(self.after),
                "homogeneity": {name: each.to_dict() for name, each in self.homogeneity.items()},
                "unique_in_untouched": dict(self.untouched),
            },
            "recorded": None if self.recorded is None else self.recorded.to_dict(),
            "note": self.note,
        }


def release_anonymised(
    anonymised: Anonymised,
    path: str | Path,
    *,
    ledger: Ledger | None = None,
    table: str = "",
    note: str = "",
) -> AnonymisedRelease:
    """Attack an anonymised table, write it down as unbounded, and let its file go, with a certificate beside it.

    The file is made where only its owner sees it and attacked there. Then the ledger remembers the release, then the
    file gets its name: a crash can leave an entry without the file, never the file without the entry.

    Parameters
    ----------
    anonymised
        What `anonymize` returned.
    path
        The .parquet or .csv file. The certificate is NAME.certificate.json.
    ledger, table
        Where to remember the release, and the name of the table there; without a ledger nothing remembers it.
    note
        What it is for, in a sentence.

    Raises
    ------
    PrivacyError
        The file does not hold what was asked, shows an identifier, or has no rows; nothing has left.
    LedgerError
        The ledger cannot be written; nothing has left.
    """
    target = _checked(path, ledger, table, note)
    before = risk(_raw(anonymised), anonymised.question.quasi_identifiers, threshold=HIGH_RISK)
    with _private_folder(target) as name:
        folder = Path(name)
        draft = folder / target.name
        anonymised.write(draft)
        after, found, untouched = _attacked(anonymised, draft)
        digest = _digest(draft)
        recorded = None if ledger is None else _recorded(ledger, table, anonymised, digest, note)
        certificate = target.with_name(target.name + CERTIFICATE)
        made = AnonymisedRelease(
            target, certificate, digest, anonymised, before, after, found, untouched, recorded, note
        )
        written = folder / certificate.name
        write_text(written, json.dumps(made.to_dict(), indent=1) + "\n", mode=_OWNER_ONLY)
        _let_go({draft: target, written: certificate})
    return made


def risk_facts(report: RiskReport) -> dict[str, Any]:
    """Return the figures of a risk report that a certificate states."""
    return {
        "rows": report.rows,
        "classes": report.classes,
        "average": report.prosecutor.average,
        "highest": report.prosecutor.highest,
        "uniques": report.uniques,
        "threshold": report.threshold,
        "share_above_threshold": report.prosecutor.above,
        "sentence": report.sentence,
    }


def _checked(path: str | Path, ledger: Ledger | None, table: str, note: str) -> Path:
    target = Path(path)
    if target.suffix.lower() not in (".parquet", ".csv"):
        raise DataError("The output must be a .parquet or a .csv file.")
    if not target.absolute().parent.is_dir():
        raise DataError(f"The folder of {str(target)!r} does not exist; create it first.")
    if target.is_dir():
        raise DataError(f"{str(target)!r} is a folder; name a file.")
    if ledger is not None and not table:
        raise ParameterError("Name the table, as the ledger should remember it.")
    if ledger is None and table:
        raise ParameterError(f"Give the ledger that should remember the release of {table!r}.")
    if len(note) > _LONGEST // 2 or not note.isprintable():
        raise ParameterError(f"A note is printable text of at most {_LONGEST // 2:,} characters; shorten it.")
    return target


def _private_folder(target: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder on the same disk that nobody else may enter."""
    try:
        return tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.absolute().parent)
    except OSError:
        raise DataError(f"Nothing can be written beside {str(target)!r}; check the folder.") from None


def _attacked(anonymised: Anonymised, file: Path) -> tuple[RiskReport, dict[str, Homogeneity], dict[str, float]]:
    """Attack the file itself, read back as any outsider would."""
    if not anonymised.publication.rows:
        raise PrivacyError("Every row would be suppressed, and nothing is left to release; ask less of the classes.")
    known = anonymised.question.quasi_identifiers
    with DuckDBEngine() as engine:
        _require_no_identifier(_raw(anonymised), read(file, engine=engine, on_bad_cell="missing").declared)
        released = read(file, _published_schema(anonymised), engine=engine, on_bad_cell="missing")
        after = risk(released, known, threshold=HIGH_RISK)
        _require_classes(anonymised, after)
        learned = {name: homogeneity(released, name, known) for name in _sensitive(anonymised)}
        others = [name for name in released.schema.names if name not in known]
        return after, learned, {name: risk(released, [name]).unique_share for name in others}


def _raw(anonymised: Anonymised) -> Table:
    return anonymised.publication.source


def _tells_people_apart(table: Table, column: Column) -> bool:
    return column.role is Role.IDENTIFIER or column.name == table.unit.column


def _require_no_identifier(raw: Table, released: Schema) -> None:
    for column in raw.declared.columns:
        if column.name in released and _tells_people_apart(raw, column):
            raise PrivacyError(
                f"The anonymised table still shows column {column.name!r}, which tells people apart; nothing was "
                "released: leave that column out of the table."
            )


def _require_classes(anonymised: Anonymised, after: RiskReport) -> None:
    """What a file shows is measured by other code than what made it; both must agree."""
    numbers = [model.asked().smallest for model in anonymised.question.models if _sets_size(model)]
    if after.rows != anonymised.publication.rows or min(after.sizes) < max(numbers, default=1):
        raise PrivacyError("The file does not satisfy its models when it is read back; nothing was released.")


def _sets_size(model: object) -> bool:
    return isinstance(model, KAnonymity | HighestRisk)


def _published_schema(anonymised: Anonymised) -> Schema:
    """What the file holds: labels are text, and columns that were not generalised are what they were."""
    raw, levels = _raw(anonymised), anonymised.levels
    shown = [column for column in raw.schema.columns if not _tells_people_apart(raw, column)]
    return Schema(tuple(each if levels.get(each.name, 0) == 0 else Column(each.name, Kind.TEXT) for each in shown))


def _sensitive(anonymised: Anonymised) -> tuple[str, ...]:
    """The columns that models protect, and those with that role."""
    declared = (column.name for column in _raw(anonymised).schema.with_role(Role.SENSITIVE))
    names = dict.fromkeys((*anonymised.question.sensitive, *declared))
    return tuple(name for name in names if name not in anonymised.question.quasi_identifiers)


def _recorded(ledger: Ledger, table: str, anonymised: Anonymised, digest: str, note: str) -> Cited:
    models = "; ".join(model.sentence for model in anonymised.question.models)
    rows = f"{anonymised.publication.rows:,} of {anonymised.rows:,} rows"
    what = f"Anonymised table ({rows}), SHA-256 {digest}. {note + ' ' if note else ''}Models: {models}"[:_LONGEST]
    ledger.record_unbounded(table, what)
    noted = [each for each in ledger.history(table) if each.kind == "unbounded" and each.data["what"] == what]
    return cite(ledger, noted[-1])


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _let_go(drafts: Mapping[Path, Path]) -> None:
    try:
        for draft, target in drafts.items():
            draft.replace(target)
    except OSError:
        names = " and ".join(repr(str(target)) for target in drafts.values())
        raise DataError(f"Not both of {names} could be written; check the folder, and release again.") from None
