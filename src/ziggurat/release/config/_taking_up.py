"""Run the release of a file with a journal, so that it may be killed at any moment and run again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError, GateError
from ziggurat.release._cited import Cited
from ziggurat.release.bundle import HeldBundle, require_new, verify_bundle
from ziggurat.release.durable import ReleaseJournal, ReleaseSteps, make_durably

if TYPE_CHECKING:
    from ziggurat.ledger import PrivateKey
    from ziggurat.release._gate import Gate
    from ziggurat.release._plan import Plan, Progress
    from ziggurat.release._purse import Purse
    from ziggurat.release._release import Release


@dataclass(frozen=True)
class DurableRun:
    """One run of a release that a file describes, from where its journal stands to the bundle.

    Attributes
    ----------
    journal, steps
        What was done before, and who is told and asked on the way.
    description, public
        The digest of the file's words, and what the certificate repeats of them.
    target, held
        Where the bundle goes, and where a release waits that the gate stopped.
    gate, go_on, looked
        What stops it, why it shall leave all the same, and whether settings were chosen by looking.
    key
        Who signs.
    told
        Is told of what is taken up.
    """

    journal: ReleaseJournal
    steps: ReleaseSteps
    description: str
    public: dict[str, Any]
    target: Path
    held: Path
    gate: Gate
    go_on: str
    looked: bool
    key: PrivateKey | None
    told: Progress | None

    def run(self, purse: Purse, make_plan: Callable[[], Plan[Any]]) -> tuple[Release[Any] | HeldBundle, Path]:
        """Go on until the bundle is there; a journal of a run that spent and kept nothing is cleared away."""
        new = self.journal.begin(self.description, purse.ledger)
        try:
            if not new and self.told is not None:
                self.told(f"This takes up a run before it. {self.journal.sentence}")
            return self._go_on(purse, make_plan), self.target
        except BaseException:
            if self.journal.begun and self.journal.idle:
                self.journal.clear()
            raise

    def _go_on(self, purse: Purse, make_plan: Callable[[], Plan[Any]]) -> Release[Any] | HeldBundle:
        made = None
        if not self.journal.has_made:
            require_new(self.target)
            if self.held.exists():
                self.journal.adopt(self._require_going_on(HeldBundle.open(self.held)))
            else:
                made = make_durably(
                    purse, make_plan(), self.journal, self.steps, self.gate, self.go_on, looked=self.looked
                )
        if self.journal.reservation:
            self.steps.note_spent(self.journal.reservation)
        kept = self._settle(purse, self.journal.made)
        if os.path.lexists(self.target):
            self._require_mine(kept)
        else:
            self._let_go(purse, kept)
        self.journal.note_bundled(self.target)
        if self.held.exists():
            shutil.rmtree(self.held)
        if made is None or made.verdict.stopped:
            return kept
        return replace(made, entry=_cited(kept), config=self.public)

    def _settle(self, purse: Purse, kept: HeldBundle) -> HeldBundle:
        """Tell the ledger what was made, unless it says so already."""
        mark = self.journal.mark
        if kept.pending is None or mark is None:
            return kept
        self.steps.take("writing it down in the ledger")
        kept = kept.citing(purse.settle(kept.pending, mark))
        self.journal.note_committed(_cited(kept))
        return kept

    def _let_go(self, purse: Purse, kept: HeldBundle) -> None:
        """Write the bundle, unless the gate stopped what was paid for: then it waits where the steward finds it."""
        if kept.verdict.stopped and kept.verdict.guaranteed and not self.go_on.strip():
            if not self.held.exists():
                kept.copy_to(self.held)
            self.journal.clear()
            raise GateError(
                f"{kept.verdict.sentence} It was paid for and is kept in {str(self.held)!r}: run again with a reason "
                "(--go-on), or delete that folder."
            )
        self.steps.take("writing the bundle")
        try:
            kept.let_go(purse, self.go_on, self.target, self.public, self.key, self.journal.mark)
        except DataError as error:
            if os.path.lexists(self.target):  # another process was quicker
                return self._require_mine(kept)
            raise DataError(
                f"{error} What was made is kept in {str(self.journal.folder)!r}: mend that and run again, which costs "
                "nothing."
            ) from None

    def _require_going_on(self, held: HeldBundle) -> HeldBundle:
        """Refuse to take up what the gate stopped without a reason, or by other words."""
        if held.verdict.stopped and not self.go_on.strip():
            raise GateError(f"{held.verdict.sentence} It waits in {str(held.folder)!r}: give a reason to go on, or "
                            "delete that folder.")  # fmt: skip
        if held.config != self.description:
            raise DataError(
                f"What waits in {str(held.folder)!r} was made by other words than the file has now; delete it."
            )
        return held

    def _require_mine(self, kept: HeldBundle) -> None:
        """Refuse a bundle at this place that does not hold what was made here."""
        found = verify_bundle(self.target).certificate
        if found.get("artefacts") != kept.certificate["artefacts"] or found.get("what") != kept.certificate["what"]:
            raise DataError(
                f"{str(self.target)!r} exists already and is not what was made here; move it away and run again."
            )


def _cited(kept: HeldBundle) -> Cited | None:
    said = kept.certificate["recorded"]
    return None if said is None else Cited.from_dict(said)
