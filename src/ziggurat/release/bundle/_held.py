"""A release that was made and has not left: the gate stopped it, its bundle is still to be written, or could not be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ziggurat.cards import Shown
from ziggurat.errors import DataError
from ziggurat.files import filling, write_text
from ziggurat.release._certificate import NO_PROMISE, Artefact
from ziggurat.release._cited import Cited, look_up, require_unbounded
from ziggurat.release._gate import Verdict
from ziggurat.release._pending import Pending, read_pending
from ziggurat.release.bundle._contents import Contents
from ziggurat.release.bundle._writing import write_bundle

if TYPE_CHECKING:
    from ziggurat.ledger import LedgerMark, PrivateKey
    from ziggurat.release._certificate import Certificate
    from ziggurat.release._purse import Purse
    from ziggurat.release._release import Release

FORMAT = "ziggurat/held/1"
HELD = "held.json"
"""The file by which a folder is known in which a release waits."""
_OWNER_ONLY = 0o600


@dataclass(frozen=True)
class HeldBundle(Shown):
    """What lies in the folder of a release that waits: the artefacts, and all that a bundle needs besides.

    Attributes
    ----------
    folder
        Where it waits.
    certificate, evidence, verdict
        What would be published of it, what attacks found, and what the gate made of that.
    config
        The digest of the file that described it; empty if none did.
    charts
        Pictures for the steward's page, as SVG by title.
    pending
        What the ledger is still to be told of it; until then it does not leave, and its certificate cites no entry.
    """

    folder: Path
    certificate: dict[str, Any]
    evidence: dict[str, Any]
    verdict: Verdict
    config: str = ""
    charts: Mapping[str, str] = field(default_factory=dict)
    pending: Pending | None = None

    @classmethod
    def keep(
        cls,
        held: Release[Any],
        folder: str | Path,
        *,
        config: str = "",
        beside: Mapping[str, str] | None = None,
        pend: Callable[[Certificate], Pending] | None = None,
    ) -> None:
        """Keep a release, whole or not at all, in a folder that its owner alone may enter.

        `config` is the digest of the file that described it, `beside` further texts by the names of their files. `pend`
        says what the ledger is still to be told, by the certificate that names the files.
        """
        with filling(folder) as whole:
            files, certificate = held.write(whole)
            for each in files:
                each.chmod(_OWNER_ONLY)
            for name, text in (beside or {}).items():
                write_text(whole / name, text, mode=_OWNER_ONLY)
            waits = cls(
                whole, certificate.to_dict(), held.evidence.to_dict(), held.verdict, config, held._charts(),
                None if pend is None else pend(certificate),
            )  # fmt: skip
            waits._write_facts(whole)

    def _write_facts(self, folder: Path) -> None:
        facts = {
            "format": FORMAT,
            "certificate": self.certificate if self.pending is None else {**self.certificate, "recorded": None},
            "evidence": self.evidence,
            "verdict": self.verdict.to_dict(),
            "config": self.config,
            "charts": dict(self.charts),
            "pending": None if self.pending is None else self.pending.to_dict(),
        }
        write_text(folder / HELD, json.dumps(facts), mode=_OWNER_ONLY)

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Read what `keep` wrote; `DataError` if it is not there whole."""
        where = Path(folder)
        try:
            facts = json.loads((where / HELD).read_text(encoding="utf-8"))
            verdict = Verdict.from_dict(facts["verdict"])
            if facts["format"] != FORMAT:
                raise ValueError
            pending = read_pending(facts.get("pending"))
            made = facts["certificate"], facts["evidence"], verdict, facts["config"]
            return cls(where, *made, facts.get("charts", {}), pending)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise DataError(f"What waits in {str(folder)!r} is damaged; delete that folder.") from None

    def citing(self, entry: Cited | None) -> Self:
        """Give the same with the entry that the ledger has of it now."""
        return replace(self, certificate={**self.certificate, "recorded": entry and entry.to_dict()}, pending=None)

    def copy_to(self, folder: str | Path) -> None:
        """Keep the same in another folder as well, whole or not at all."""
        with filling(folder) as whole:
            shutil.copytree(self.folder, whole, dirs_exist_ok=True)
            self._write_facts(whole)

    def decide(self, purse: Purse, reason: str, mark: LedgerMark | None = None) -> dict[str, Any]:
        """Write the decision into the ledger, where the gate stopped it, and give the certificate that says so.

        Nothing is paid again. What waits must say what the ledger says of it, and its files must be those that were
        judged: nobody signs a promise, or a release, that was edited meanwhile. With a `mark` the decision is written
        once. Of what nothing bounds it was written with the release.
        """
        self._require_recorded(purse)
        self._require_files()
        undecided = self.verdict.stopped and self.verdict.guaranteed
        return {**self.certificate, **(self._note(purse, reason, mark) if undecided else {})}

    def let_go(
        self,
        purse: Purse,
        reason: str,
        target: str | Path,
        config: dict[str, Any] | None = None,
        key: PrivateKey | None = None,
        mark: LedgerMark | None = None,
    ) -> Path:
        """Decide, and then write the bundle; `config` is what the certificate repeats of the file that described it."""
        made = {**self.decide(purse, reason, mark), "config": config}
        contents = Contents(made, self.evidence, self.verdict.to_dict(), self.files, self.charts)
        return write_bundle(target, contents, key)

    @property
    def files(self) -> dict[str, Path]:
        """The files that would leave, by name."""
        return {each["name"]: self.folder / each["name"] for each in self.certificate["artefacts"]}

    def _require_recorded(self, purse: Purse) -> None:
        if self.pending is not None:
            raise DataError(f"The ledger has not been told yet of what waits in {str(self.folder)!r}; run it again.")
        if purse.ledger is None:
            return
        try:
            cited = Cited.from_dict(self.certificate["recorded"])
            if not self.verdict.guaranteed and self.certificate["promise"] is None:
                require_unbounded(purse.ledger, cited)
                return
            there = look_up(purse.ledger, cited)
            said = self.certificate["promise"]["event"], self.certificate["rehearsal"]
        except (KeyError, TypeError, ValueError):
            said, there = None, None
        if there is None or said != (there.event.to_dict(), there.rehearsal):
            raise DataError(
                f"What waits in {str(self.folder)!r} is not what the ledger says of it; delete that folder."
            )

    def _require_files(self) -> None:
        certified = [each["sha256"] for each in self.certificate["artefacts"]]
        try:
            found = [Artefact.at(each).sha256 for each in self.files.values()]
        except OSError:
            found = []
        if found != certified:
            raise DataError(f"A file in {str(self.folder)!r} is not the one that was certified; restore a copy of it.")

    def _note(self, purse: Purse, reason: str, mark: LedgerMark | None) -> dict[str, Any]:
        """What the decision changes in the certificate: a refuted promise is dropped."""
        said: dict[str, Any] = {"decision": self.verdict.went_on(reason)}
        digests = ", ".join(each["sha256"] for each in self.certificate["artefacts"][:1])
        entry = purse.note_decision(f"{self.certificate['what'][:250]}, SHA-256 {digests}", self.verdict, reason, mark)
        if not self.verdict.refuted:
            return said
        cited = None if entry is None else entry.to_dict()
        return {**said, "promise": None, "sentence": NO_PROMISE, "recorded": cited}
