"""A release that was paid for and has not left: the gate stopped it, or its bundle could not be written."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ziggurat.errors import DataError
from ziggurat.files import filling, write_text
from ziggurat.release._certificate import NO_PROMISE
from ziggurat.release._cited import Cited, look_up
from ziggurat.release._gate import Verdict

if TYPE_CHECKING:
    from ziggurat.ledger import PrivateKey
    from ziggurat.release._purse import Purse
    from ziggurat.release._release import Release
    from ziggurat.release.config._models import ReleaseConfig

FORMAT = "ziggurat/held/1"
_FACTS = "held.json"


@dataclass(frozen=True)
class HeldBundle:
    """What lies in the folder of a stopped release: the artefacts, and all that a bundle needs besides."""

    folder: Path
    certificate: dict[str, Any]
    evidence: dict[str, Any]
    verdict: Verdict
    config: str

    @classmethod
    def keep(cls, held: Release[Any], config: ReleaseConfig, folder: Path) -> None:
        """Keep a stopped release, whole or not at all, in a folder that its owner alone may enter."""
        with filling(folder) as whole:
            _, certificate = held.write(whole)
            facts = {
                "format": FORMAT,
                "certificate": certificate.to_dict(),
                "evidence": held.evidence.to_dict(),
                "verdict": held.verdict.to_dict(),
                "config": _digest(config),
            }
            write_text(whole / _FACTS, json.dumps(facts), mode=0o600)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Read what `keep` wrote; `DataError` if it is not there whole."""
        try:
            facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
            verdict = Verdict.from_dict(facts["verdict"])
            if facts["format"] != FORMAT:
                raise ValueError
            return cls(folder, facts["certificate"], facts["evidence"], verdict, facts["config"])
        except (OSError, ValueError, KeyError, TypeError):
            raise DataError(f"What waits in {str(folder)!r} is damaged; delete that folder.") from None

    def fits(self, config: ReleaseConfig) -> bool:
        """Whether it was made by these words."""
        return self.config == _digest(config)

    def let_go(
        self, purse: Purse, reason: str, target: Path, config: dict[str, Any], key: PrivateKey | None = None
    ) -> Path:
        """Write the decision into the ledger, where the gate stopped it, and then the bundle.

        What waits must say what the ledger says of it: nobody signs a promise, or a release, that was edited meanwhile.
        """
        from ziggurat.release.bundle import Contents, write_bundle

        self._require_recorded(purse)
        made = {**self.certificate, "config": config, **(self._decide(purse, reason) if self.verdict.stopped else {})}
        names = [each["name"] for each in made["artefacts"]]
        contents = Contents(made, self.evidence, self.verdict.to_dict(), {name: self.folder / name for name in names})
        return write_bundle(target, contents, key)

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

    def _decide(self, purse: Purse, reason: str) -> dict[str, Any]:
        """What the decision changes in the certificate: a refuted promise is dropped."""
        digests = ", ".join(each["sha256"] for each in self.certificate["artefacts"][:1])
        entry = purse.record_decision(f"{self.certificate['what'][:250]}, SHA-256 {digests}", self.verdict, reason)
        said: dict[str, Any] = {"decision": self.verdict.went_on(reason)}
        if not self.verdict.refuted:
            return said
        cited = None if entry is None else entry.to_dict()
        return {**said, "promise": None, "sentence": NO_PROMISE, "recorded": cited}


def _digest(config: ReleaseConfig) -> str:
    said = json.dumps(config.model_dump(mode="json", by_alias=True), sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()
