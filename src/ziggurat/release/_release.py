"""Something that has left, or is about to: the output, its certificate, the evidence, and where the ledger says so."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from ziggurat.cards import Badge, Card, Shown
from ziggurat.errors import PrivacyError
from ziggurat.release._certificate import LOOKED, NOT_RECORDED, Artefact, Certificate, StewardDecision, best_promise
from ziggurat.release._evidence import Evidence
from ziggurat.release._gate import NOT_PROTECTED_BY_GATE, Verdict
from ziggurat.release._plan import Output, Plan
from ziggurat.release._quotation import promise_alone

if TYPE_CHECKING:
    from ziggurat.ledger import Budget
    from ziggurat.privacy import ApproximateDP, Event, PureDP
    from ziggurat.release._cited import Cited


@dataclass(frozen=True)
class Release(Shown, Generic[Output]):
    """What `Purse.release` gives.

    Attributes
    ----------
    plan, output
        What was planned, and what was made.
    event
        What was paid for, as the budget counts it; None if nothing bounds the release.
    entry
        Where the ledger says so; None if there is no ledger.
    replayed
        Whether it was paid for before, and nothing was read or spent.
    seeded
        Whether any randomness was, so that nothing of it may be published.
    evidence, verdict
        What attacks found, and what the gate made of it; for the steward.
    decision
        Why the steward went on although the gate stopped it.
    population, analyst, budget
        Whose account it is in, who pays, and the budget that paid.
    config
        The file that describes it, if one does.
    looked
        Whether its settings were chosen by looking at the private table, which nobody paid for.
    """

    plan: Plan[Output]
    output: Output
    event: Event | None
    entry: Cited | None
    replayed: bool
    seeded: bool
    evidence: Evidence
    verdict: Verdict
    population: str
    analyst: str
    budget: Budget | None = None
    decision: StewardDecision | None = None
    config: Mapping[str, Any] | None = None
    looked: bool = False
    made: date = date.min

    @cached_property
    def cost(self) -> PureDP | ApproximateDP:
        """What it costs by itself, as its budget counts it; `PrivacyError` if nothing bounds it."""
        if self.event is None or self.plan.event is None:
            raise PrivacyError("Nothing bounds this release, so that it has no cost.")
        delta = Fraction(0) if self.budget is None else self.budget.delta
        return promise_alone(self.plan, self.plan.event, self.event, delta)

    @cached_property
    def certificate(self) -> Certificate:
        """What may be published of the release; the files are named when it is bundled."""
        return Certificate(
            kind=self.plan.kind,
            what=self.plan.text,
            made=datetime.now(UTC).date() if self.made == date.min else self.made,
            event=self.event,
            guarantee=self._guarantee(),
            not_protected=tuple(self._not_protected()),
            randomness="seeded" if self.seeded else "secure",
            population=self.population,
            budget="" if self.budget is None else self.budget.table,
            analyst=self.analyst,
            recorded=self.entry,
            decision=self.decision,
            config=self.config,
            details=self.plan.details(self.output),
            audited=self.plan.audited,
        )

    def _card(self) -> Card:
        facts = [
            ("population", self.population),
            ("analyst", self.analyst),
            ("made", self.certificate.made.isoformat()),
        ]
        facts.append(("gate", f"{len(self.verdict.stopped):,} of the attacks stopped it" if self.verdict.stopped else
                      "nothing stopped it"))  # fmt: skip
        again = ", replayed at no cost" if self.replayed else ""
        line = f"{self.plan.kind} ({self.plan.text}){again}. {self.certificate.sentence}"
        badge: Badge = "rehearsal" if self.seeded else "private"
        return Card("Release", line, [(name, value) for name, value in facts if value], badge)

    def bundle(self, path: str | Path, key: Any = None) -> Path:
        """Put it into a folder, or a .zip: the public part, the steward's part, and a signed manifest of each.

        Parameters
        ----------
        path
            A name that is not taken yet.
        key
            The private key that signs, or its file; by default this user's release key, which is made if there is none.
            A rehearsal is never signed.
        """
        from ziggurat.release.bundle import Contents, write_bundle

        with tempfile.TemporaryDirectory(prefix="ziggurat-artefacts-") as folder:
            files, certificate = self.write(Path(folder))
            named = {each.relative_to(folder).as_posix(): each for each in files}
            facts = (certificate.to_dict(), self.evidence.to_dict(), self.verdict.to_dict())
            return write_bundle(path, Contents(*facts, named, self._charts()), key)

    def _charts(self) -> dict[str, str]:
        from ziggurat.release._charts import charts

        return charts(self.evidence, self.verdict)

    def write(self, folder: Path) -> tuple[list[Path], Certificate]:
        """Write the files that leave into a folder; gives them, and the certificate that names them."""
        files = self.plan.artefacts(self.output, folder)
        named = (replace(Artefact.at(each), name=each.relative_to(folder).as_posix()) for each in files)
        return files, replace(self.certificate, artefacts=tuple(named))

    def for_steward(self, files: Iterable[Artefact], **details: Any) -> dict[str, Any]:
        """Give the certificate beside files that left without a bundle: with the evidence, so for the steward alone."""
        made = replace(self.certificate, artefacts=tuple(files)).to_dict()
        facts = {"evidence": self.evidence.to_dict(), "verdict": self.verdict.to_dict()}
        return {**made, "details": {**made["details"], **details}, **facts}

    def _guarantee(self) -> Any:
        if self.event is None:
            return None
        own = self.plan.guarantee()
        if self.budget is None:
            return own
        try:
            return best_promise(self.event, self.budget.delta)
        except PrivacyError:  # it needs more than the budget's delta, and states its own
            return own

    def _not_protected(self) -> list[str]:
        judged = [NOT_PROTECTED_BY_GATE] if self.event is not None and self.evidence != Evidence() else []
        unrecorded = [NOT_RECORDED] if self.entry is None else []
        looked = [LOOKED] if self.event is not None and self.looked else []
        return [*self.plan.not_protected, *judged, *looked, *unrecorded]
