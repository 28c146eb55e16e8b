"""Attacks on drawn sequences: with units that were kept back, or without where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.attacks import Share
from ziggurat.release._drafts import Told
from ziggurat.release._evidence import Evidence
from ziggurat.release._tried import ExactCopies
from ziggurat.sequences import SequenceDomain, Sequences

if TYPE_CHECKING:
    from ziggurat.attacks.sequences import Canaries

CLOSEST, COPIES, CANARIES = "closest sequences", "exact copies", "canaries"
_CANARY = 10  # symbols, unless fewer count
_CANDIDATES = 256
_NO_CONTROL = "Nobody was kept back, so there is no control to tell a risk from chance."
_NOTHING_DRAWN = "No sequence was drawn, or none was learned from, so that there is nothing to compare."


def plan_attacks(*, control: bool, canaries: int) -> tuple[str, ...]:
    """Say which attacks will be tried, as the evidence will call them."""
    return (CLOSEST if control else COPIES, *((CANARIES,) if canaries else ()))


def draw_canaries(domain: SequenceDomain, count: int, seed: int) -> Canaries:
    """Random sequences to be planted in a rehearsal, of symbols as likely as any other."""
    from ziggurat.attacks.sequences import Canaries

    length = min(_CANARY, domain.longest)
    return Canaries.draw(domain, count, length=length, candidates=_CANDIDATES, random_state=seed)


def look_for_canaries(planted: Canaries, drawn: Sequences, promised: Any, told: Told) -> Evidence:
    """Rank what was planted by how close the drawn sequences come to it, against candidates that were not."""
    from ziggurat.attacks.sequences import score_by_release

    if not len(drawn):
        return Evidence({}, {CANARIES: _NOTHING_DRAWN})
    told("attacking", CANARIES, 0, 1)
    claimed: dict[str, Any] = {"epsilon": promised.epsilon, "delta": getattr(promised, "delta", 0)}
    return Evidence({CANARIES: planted.measure(score_by_release(drawn), **claimed)})


def attack_sequences(
    drawn: Sequences, learned: Sequences, control: Sequences | None, seed: Any, told: Told
) -> Evidence:
    """Attack sequences as they were read back; without a control only exact copies can be counted."""
    if not len(drawn) or not len(learned):
        return Evidence({}, {(COPIES if control is None else CLOSEST): _NOTHING_DRAWN})
    told("attacking", COPIES if control is None else CLOSEST, 0, 1)
    if control is None or not len(control):
        return Evidence({COPIES: _count_copies(drawn, learned)}, {CLOSEST: _NO_CONTROL})
    from ziggurat.attacks.sequences import closest_sequences

    return Evidence({CLOSEST: closest_sequences(drawn, learned, control, random_state=seed)})


def _count_copies(drawn: Sequences, learned: Sequences) -> ExactCopies:
    known = {_bytes(learned, place) for place in range(len(learned))}
    found = sum(_bytes(drawn, place) in known for place in range(len(drawn)))
    return ExactCopies(Share(found, len(drawn)), partial=False)


def _bytes(sequences: Sequences, place: int) -> bytes:
    codes = sequences.codes[sequences.offsets[place] : sequences.offsets[place + 1]]
    return np.ascontiguousarray(codes).tobytes()
