"""Between the steps of a release: who is told, and who may stop it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ziggurat.cards import Shown
from ziggurat.errors import ReleaseStoppedError
from ziggurat.release._plan import Progress

_UNSPENT = "nothing was spent"


@dataclass
class ReleaseSteps(Shown):
    """Tells of every step before it is taken, and asks whether it shall be.

    Attributes
    ----------
    progress
        Is told in a few words.
    cancelled
        Is asked between the steps, and not within one.
    spent
        What a stopped release has cost by now, in words.
    """

    progress: Progress | None = None
    cancelled: Callable[[], bool] | None = None
    spent: str = _UNSPENT

    def take(self, step: str) -> None:
        """Take a step, unless somebody wants to stop before it."""
        if self.cancelled is not None and self.cancelled():
            raise ReleaseStoppedError(f"The release was stopped before {step}, as was asked; {self.spent}.")
        if self.progress is not None:
            self.progress(step)

    def note_spent(self, reservation: int) -> None:
        """Remember that something was reserved."""
        self.spent = (
            f"what reservation {reservation} cost stays spent, and running it again with the same journal goes on "
            "without paying again"
        )
