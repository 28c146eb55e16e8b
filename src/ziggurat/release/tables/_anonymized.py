"""Release an anonymised table: verified and attacked first, written down as unbounded, and only then let go."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ziggurat.anonymize import NOT_PROMISED, Anonymized
from ziggurat.attacks import Homogeneity, RiskReport, Undone, Verified
from ziggurat.cards import Shown
from ziggurat.data.free_text import refuse_free_text
from ziggurat.data.writing import names_folder
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.files import place, write_text
from ziggurat.findings import Finding
from ziggurat.release._certificate import Artefact
from ziggurat.release._cited import Cited
from ziggurat.release._drafts import CERTIFICATE, check_target, copy_parts_into, private_folder
from ziggurat.release._evidence import Evidence
from ziggurat.release._plan import Plan, Progress, ShownPlan
from ziggurat.release._purse import Purse
from ziggurat.release.tables._inspected import Inspected, inspect_file, schema_of_file, sensitive_of, tells_people_apart

if TYPE_CHECKING:
    from ziggurat.ledger import Ledger
    from ziggurat.randomness import Source
    from ziggurat.release._gate import Gate
    from ziggurat.release._release import Release

_LONGEST = 2000
_UNTOUCHED = "untouched columns"
_OWNER_ONLY = 0o600  # figures about the raw table are exact


@dataclass(frozen=True)
class AnonymizedRelease(Shown):
    """A table that has left, what attackers make of it, and where that is written down.

    Not promised: differential privacy. `before` and `after` measure attackers who know the quasi-identifiers; they
    bound nothing about those who know more.

    Attributes
    ----------
    path, certificate
        The file or the folder of parts, and the certificate beside it. The certificate holds exact figures about the
        raw table, so that only its owner may read it.
    anonymized
        What was done.
    before, after
        How exposed people were in the table, and are in the file.
    homogeneity
        What classes of the file give away, by sensitive column.
    verified
        Every model, judged by the cells of the file.
    undone
        What the columns that left as they were undo, whatever was decided about them.
    kept
        The columns that the steward let go all the same, each with the reason.
    dropped
        The columns of the table that did not leave.
    note
        What the steward says of it.
    release
        The release, from which a bundle is made.
    """

    path: Path
    certificate: Path
    anonymized: Anonymized
    before: RiskReport
    after: RiskReport
    homogeneity: Mapping[str, Homogeneity]
    verified: tuple[Verified, ...]
    undone: Undone
    kept: Mapping[str, str]
    dropped: tuple[str, ...]
    note: str
    release: Release[Drafted] = field(repr=False, compare=False)

    @property
    def sha256(self) -> str:
        """The hash of the file; of a folder of parts see `Artefact.of_parts`."""
        return self.release.output.file.sha256

    @property
    def recorded(self) -> Cited | None:
        """The entry of the ledger; None if there was no ledger."""
        return self.release.entry

    @property
    def sentence(self) -> str:
        """What the steward may say of the table, and what not."""
        return self.anonymized.sentence

    @property
    def untouched(self) -> Mapping[str, float]:
        """The columns that left as they were, and the share of people whom each by itself tells from all others."""
        return self.undone.untouched

    @property
    def verdict(self) -> str:
        """Whether anything was found that undoes the table, and who decided to let it go all the same."""
        if not self.kept:
            return self.undone.sentence
        return f"{self.undone.sentence} Kept by decision of the steward: {_tell_kept(self.kept)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate, for the steward, as values that JSON can hold; no cell is in it."""
        said = {"sentence": self.sentence, "verdict": self.verdict, "dropped": list(self.dropped), "note": self.note}
        drafted = self.release.output
        return self.release.for_steward(drafted.parts or [drafted.file], **said)


def release_anonymized(
    anonymized: Anonymized,
    path: str | Path,
    *,
    ledger: Ledger | None = None,
    budget: str = "",
    note: str = "",
    keep: Mapping[str, str] | Sequence[str] = (),
    drop: Sequence[str] = (),
    gate: Gate | None = None,
    go_on: str = "",
) -> AnonymizedRelease:
    """Verify and attack an anonymised table, write it down as unbounded, and let its file go, with a certificate.

    The file is made where only its owner sees it; there it is read back, judged by every model, and attacked. Then the
    ledger remembers the release, then the file gets its name: a crash can leave an entry without the file, never the
    file without the entry.

    Parameters
    ----------
    anonymised
        What `anonymize` returned.
    path
        The .parquet, .csv, .xlsx or other file (`TABLE_ENDINGS`), or a folder of parts if it ends in a slash
        ("people.parquet/"), which is never replaced. The certificate is NAME.certificate.json.
    ledger, budget
        Where to remember the release, and the name of the budget there; without a ledger nothing remembers it.
    note
        What it is for, in a sentence.
    keep
        Columns that may leave as they are although they undo something (see `attacks.find_undone`), best with the
        reason for each: {"cost": "known to the insurer only"}. Both stand in the certificate and in the ledger. Free
        text is dropped unless it is kept here with a reason.
    drop
        Columns that do not leave.
    gate, go_on
        What stops the release, and why it shall leave all the same (see `Purse.release`).

    Raises
    ------
    PrivacyError
        The file does not hold what was asked, shows an identifier, or has no rows; or a column that leaves as it was
        undoes it and nobody decided about it by name. Nothing has left.
    LedgerError
        The ledger cannot be written; nothing has left.
    """
    target = check_target(path, ledger, budget, note, folders=True)
    kept = check_keep(anonymized, keep, drop)
    with private_folder(target) as folder:
        draft = Path(folder) / target.name
        if names_folder(path):
            draft.mkdir()
        plan = AnonymizedPlan.of(anonymized, draft, target, kept, drop, note)
        release = Purse(ledger, budget).release(plan, gate=gate, go_on=go_on)
        made = plan.conclude(release)
        written = Path(folder) / made.certificate.name
        write_text(written, json.dumps(made.to_dict(), indent=1) + "\n", mode=_OWNER_ONLY)
        place({plan.draft: target, written: made.certificate})
    return made


@dataclass(frozen=True)
class Drafted:
    """An anonymised file, or a folder and its parts, that has not left, and what was found when it was read back."""

    file: Artefact
    found: Inspected
    parts: tuple[Artefact, ...] = ()

    @classmethod
    def at(cls, draft: Path, found: Inspected) -> Self:
        """State what was written."""
        if not draft.is_dir():
            return cls(Artefact.at(draft), found)
        parts = Artefact.parts_of(draft)
        return cls(Artefact.of_parts(draft.name, parts), found, parts)


@dataclass(frozen=True, eq=False)
class AnonymizedPlan(ShownPlan, Plan[Drafted]):
    """An anonymised table, before its file is made out of sight; nothing bounds what it tells.

    Attributes
    ----------
    anonymized
        What was done to the rows.
    draft, target
        Where its file is made, and where it will be.
    kept, dropped, note
        As for `release_anonymized`.
    """

    anonymized: Anonymized
    draft: Path
    target: Path
    kept: Mapping[str, str]
    dropped: tuple[str, ...] = ()
    note: str = ""
    kind = "anonymized table"
    event = None

    @classmethod
    def of(
        cls,
        anonymized: Anonymized,
        draft: Path,
        target: Path,
        kept: Mapping[str, str],
        drop: Sequence[str] = (),
        note: str = "",
    ) -> Self:
        """Plan to release a table without the columns that are dropped."""
        written = [name for name in anonymized.free_text if name not in kept]
        dropped = tuple(dict.fromkeys((*drop, *written)))
        if dropped or kept:
            shown = anonymized.publication.showing(tuple(kept))
            anonymized = replace(anonymized, publication=shown.without(dropped), free_text=tuple(written))
        return cls(anonymized, draft, target, kept, dropped, note)

    @property
    def text(self) -> str:
        """How many of the rows, and what every class of them satisfies."""
        rows = f"{self.anonymized.publication.rows:,} of {self.anonymized.rows:,} rows"
        return f"Anonymised table ({rows}): {'; '.join(model.sentence for model in self.anonymized.question.models)}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that leave."""
        return schema_of_file(self.anonymized, self.dropped).names

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Somebody who knows the quasi-identifiers, once every model was verified on the file."""
        return (
            "linkage",
            *(f"homogeneity of {name}" for name in sensitive_of(self.anonymized, self.reads)),
            _UNTOUCHED,
        )

    def run(self, source: Source, progress: Progress | None) -> Drafted:  # noqa: ARG002
        """Write the file, read it back and attack it; PrivacyError if it is not what it should be."""
        self.anonymized.write(f"{self.draft}/" if self.draft.is_dir() else self.draft)
        found = inspect_file(self.anonymized, self.draft, dropped=self.dropped, kept=self.kept)
        _require_decided(found.undecided)
        return Drafted.at(self.draft, found)

    def judge(self, output: Drafted, progress: Progress | None) -> Evidence:  # noqa: ARG002
        """What attackers who know the quasi-identifiers make of the file."""
        found = output.found
        findings: dict[str, Finding] = {"linkage": found.after}
        findings |= {f"homogeneity of {name}": each for name, each in found.homogeneity.items()}
        facts = {
            "risk": {"before": risk_facts(found.before), "after": risk_facts(found.after)},
            "undone": found.undone.to_dict(),
            "verified": [asdict(each) for each in found.verified],
            "done": self.anonymized.to_dict(),
        }
        return Evidence({**findings, _UNTOUCHED: found.undecided}, facts=facts)

    def describe(self, output: Drafted) -> str:
        """Rows, hash, note, what was kept by decision, and the models."""
        models = "; ".join(model.sentence for model in self.anonymized.question.models)
        rows = f"{self.anonymized.publication.rows:,} of {self.anonymized.rows:,} rows"
        said = [self.note, f"Kept as they were: {_tell_kept(self.kept)}." if self.kept else "", f"Models: {models}"]
        return f"Anonymised table ({rows}), SHA-256 {output.file.sha256}. {' '.join(each for each in said if each)}"

    def artefacts(self, output: Drafted, folder: Path) -> list[Path]:  # noqa: ARG002
        """The file, or all parts of the folder."""
        return copy_parts_into(self.draft if self.draft.exists() else self.target, folder)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What anonymising does not promise."""
        return (NOT_PROMISED,)

    def details(self, output: Drafted) -> dict[str, Any]:
        """What every class satisfies, what was kept by decision, and what did not leave."""
        models = [model.sentence for model in self.anonymized.question.models]
        known = list(self.anonymized.question.quasi_identifiers)
        written = {"free_text": list(self.anonymized.free_text)} if self.anonymized.free_text else {}
        said = {"kept": dict(self.kept), "dropped": list(self.dropped)}
        parts = {"folder": output.file.to_dict()} if output.parts else {}
        return {"models": models, "quasi_identifiers": known, **said, **written, **parts}

    def conclude(self, release: Release[Drafted]) -> AnonymizedRelease:
        """What has left, for the steward."""
        found = release.output.found
        return AnonymizedRelease(
            path=self.target,
            certificate=self.target.with_name(self.target.name + CERTIFICATE),
            anonymized=self.anonymized,
            before=found.before,
            after=found.after,
            homogeneity=found.homogeneity,
            verified=found.verified,
            undone=found.undone,
            kept=self.kept,
            dropped=_not_shown(self.anonymized, found.undone),
            note=self.note,
            release=release,
        )


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


def check_keep(anonymized: Anonymized, keep: Mapping[str, str] | Sequence[str], drop: Sequence[str]) -> dict[str, str]:
    if isinstance(keep, str) or isinstance(drop, str):
        raise ParameterError("Give the columns to keep or to drop as a list of names.")
    raw = anonymized.publication.original
    kept = dict(keep) if isinstance(keep, Mapping) else dict.fromkeys(keep, "")
    for name in kept:
        if name in anonymized.question.quasi_identifiers or tells_people_apart(raw, raw.declared[name]):
            raise ParameterError(f"Column {name!r} does not leave as it is, so there is nothing to decide about it.")
        if name in drop:
            raise ParameterError(f"Column {name!r} is to be kept and to be dropped; choose one.")
        if name in anonymized.free_text and not kept[name]:
            raise ParameterError(f"{refuse_free_text(name)[:-1]}; to keep it as it is, say why: --keep {name}=why.")
    if not _tell_kept(kept).isprintable() or len(_tell_kept(kept)) > _LONGEST // 4:
        raise ParameterError(
            f"Reasons are printable text of at most {_LONGEST // 4:,} characters in all; shorten them."
        )
    return kept


def _tell_kept(kept: Mapping[str, str]) -> str:
    return "; ".join(f"{name!r} ({reason})" if reason else f"{name!r}" for name, reason in kept.items())


def _require_decided(left: Undone) -> None:
    if left.columns:
        names, kept = shlex.quote(",".join(left.columns)), shlex.quote(f"{left.columns[0]}=why")
        raise PrivacyError(
            f"Nothing was released. {left.sentence} Decide by name: make them quasi-identifiers, drop them (drop=, "
            f"--drop {names}), or keep them and say why nobody outside knows them (keep=, --keep "
            f"{kept})."
        )


def _not_shown(anonymized: Anonymized, found: Undone) -> tuple[str, ...]:
    shown = {*anonymized.question.quasi_identifiers, *found.untouched}
    return tuple(each.name for each in anonymized.publication.original.declared.columns if each.name not in shown)
