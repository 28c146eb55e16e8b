"""A release that was paid for and has not left: the gate stopped it, or its bundle could not be written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ziggurat.cards import Shown
from ziggurat.errors import DataError
from ziggurat.files import filling, write_text
from ziggurat.release._certificate import NO_PROMISE, Artefact
from ziggurat.release._cited import Cited, look_up
from ziggurat.release._gate import Verdict
from ziggurat.release.bundle._contents import Contents
from ziggurat.release.bundle._writing import write_bundle

if TYPE_CHECKING:
    from ziggurat.ledger import PrivateKey
    from ziggurat.release._purse import Purse
    from ziggurat.release._release import Release

FORMAT = "ziggurat/held/1"
HELD = "held.json"
"""The file by which a folder is known in which a release waits."""
_OWNER_ONLY = 0o600


@dataclass(frozen=True)
class HeldBundle(Shown):
    """What lies in the folder of a stopped release: the artefacts, and all that a bundle needs besides.

    Attributes
    ----------
    folder
        Where it waits.
    certificate, evidence, verdict
        What would be published of it, what attacks found, and what the gate made of that.
    config
        The digest of the file that described it; empty if none did.
    """

    folder: Path
    certificate: dict[str, Any]
    evidence: dict[str, Any]
    verdict: Verdict
    config: str = ""

    @classmethod
    def keep(
        cls, held: Release[Any], folder: str | Path, *, config: str = "", beside: Mapping[str, str] | None = None
    ) -> None:
        """Keep a stopped release, whole or not at all, in a folder that its owner alone may enter.

        `config` is the digest of the file that described it, `beside` further texts by the names of their files.
        """
        with filling(folder) as whole:
            files, certificate = held.write(whole)
            for each in files:
                each.chmod(_OWNER_ONLY)
            for name, text in (beside or {}).items():
                write_text(whole / name, text, mode=_OWNER_ONLY)
            facts = {
                "format": FORMAT,
                "certificate": certificate.to_dict(),
                "evidence": held.evidence.to_dict(),
                "verdict": held.verdict.to_dict(),
                "config": config,
            }
            write_text(whole / HELD, json.dumps(facts), mode=_OWNER_ONLY)

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Read what `keep` wrote; `DataError` if it is not there whole."""
        where = Path(folder)
        try:
            facts = json.loads((where / HELD).read_text(encoding="utf-8"))
            verdict = Verdict.from_dict(facts["verdict"])
            if facts["format"] != FORMAT:
                raise ValueError
            return cls(where, facts["certificate"], facts["evidence"], verdict, facts["config"])
        except (OSError, ValueError, KeyError, TypeError):
            raise DataError(f"What waits in {str(folder)!r} is damaged; delete that folder.") from None

    def decide(self, purse: Purse, reason: str) -> dict[str, Any]:
        """Write the decision into the ledger, where the gate stopped it, and give the certificate that says so.

        Nothing is paid again. What waits must say what the ledger says of it, and its files must be those that were
        judged: nobody signs a promise, or a release, that was edited meanwhile.
        """
        self._require_recorded(purse)
        self._require_files()
        return {**self.certificate, **(self._note(purse, reason) if self.verdict.stopped else {})}

    def let_go(
        self,
        purse: Purse,
        reason: str,
        target: str | Path,
        config: dict[str, Any] | None = None,
        key: PrivateKey | None = None,
    ) -> Path:
        """Decide, and then write the bundle; `config` is what the certificate repeats of the file that described it."""
        made = {**self.decide(purse, reason), "config": config}
        contents = Contents(made, self.evidence, self.verdict.to_dict(), self.files)
        return write_bundle(target, contents, key)

    @property
    def files(self) -> dict[str, Path]:
        """The files that would leave, by name."""
        return {each["name"]: self.folder / each["name"] for each in self.certificate["artefacts"]}

    def _require_recorded(self, purse: Purse) -> None:
        if purse.ledger is None:
            return
        try:
            there = look_up(purse.ledger, Cited.from_dict(self.certificate["recorded"]))
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

    def _note(self, purse: Purse, reason: str) -> dict[str, Any]:
        """What the decision changes in the certificate: a refuted promise is dropped."""
        said: dict[str, Any] = {"decision": self.verdict.went_on(reason)}
        digests = ", ".join(each["sha256"] for each in self.certificate["artefacts"][:1])
        entry = purse.note_decision(f"{self.certificate['what'][:250]}, SHA-256 {digests}", self.verdict, reason)
        if not self.verdict.refuted:
            return said
        cited = None if entry is None else entry.to_dict()
        return {**said, "promise": None, "sentence": NO_PROMISE, "recorded": cited}
