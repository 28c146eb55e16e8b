"""Attacks on drawn sequences: with units that were kept back, or without where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ziggurat.release._drawn import (
    CANARY,
    CANDIDATES,
    COPIES,
    NO_CONTROL,
    Drawn,
    DrawnAttacks,
    count_copies,
    require_rehearsal,
)
from ziggurat.release._evidence import Evidence
from ziggurat.sequences import SequenceDomain, Sequences

if TYPE_CHECKING:
    from ziggurat.attacks.sequences import Canaries

CLOSEST = "closest sequences"
_NOTHING_DRAWN = "No sequence was drawn, or none was learned from, so that there is nothing to compare."


@dataclass(frozen=True)
class SequenceAttacks(DrawnAttacks):
    """How drawn sequences are attacked."""

    @classmethod
    def planting(cls, domain: SequenceDomain, canaries: int, seed: int | None) -> SequenceAttacks:
        """Attacks with so many canaries, of symbols as likely as any other."""
        return cls(_draw_canaries(domain, canaries, seed) if require_rehearsal(canaries, seed) else None)

    def names(self, *, control: bool) -> tuple[str, ...]:
        """An attack with units that are kept back, or without where there are none."""
        return (CLOSEST if control else COPIES,)

    def attack(self, draft: Drawn, drawn: Sequences) -> Evidence:
        """Attack sequences as they were read back; without a control only exact copies can be counted."""
        learned, control, task = draft.learned, draft.control, draft.task
        name = CLOSEST if control is not None and len(control) else COPIES
        if not len(drawn) or not len(learned):
            return Evidence({}, {name: _NOTHING_DRAWN})
        task.told("attacking", name, 0, 1)
        if control is None or name == COPIES:
            return Evidence({COPIES: count_copies(drawn, learned)}, {CLOSEST: NO_CONTROL})
        from ziggurat.attacks.sequences import closest_sequences

        return Evidence({CLOSEST: closest_sequences(drawn, learned, control, random_state=task.maker.random_state)})


def _draw_canaries(domain: SequenceDomain, count: int, seed: int | None) -> Canaries:
    from ziggurat.attacks.sequences import Canaries

    length = min(CANARY, domain.longest)
    return Canaries.draw(domain, count, length=length, candidates=CANDIDATES, random_state=seed)
