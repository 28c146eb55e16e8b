"""How much of what was planted in invented notes the masker finds, and how much else it takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

from ziggurat.anonymize.masking.notes._masker import FoundInNote, NoteMasker
from ziggurat.anonymize.masking.notes._names import NameList
from ziggurat.data.generators.notes import PLANTED, hospital_notes, listed_names

_NOTES = 2_000
_MEASURED_ON = 7


@dataclass(frozen=True)
class MaskingScores:
    """What was found of what was planted in invented notes, by kind.

    Parameters
    ----------
    notes
        How many notes were invented.
    planted, found
        By kind of what was planted: how many there were, and of how many no letter and no digit stayed.
    masks, wrong
        By kind of placeholder: how many were put in, and how many where nothing was planted.
    """

    notes: int
    planted: dict[str, int]
    found: dict[str, int]
    masks: dict[str, int]
    wrong: dict[str, int]

    def recall(self, kind: str) -> float:
        """Return the share of what was planted of a kind that was masked whole."""
        return self.found.get(kind, 0) / self.planted[kind]

    def precision(self, kind: str) -> float:
        """Return the share of placeholders of a kind that stand where something was planted."""
        return 1 - self.wrong.get(kind, 0) / self.masks[kind]

    @property
    def sentence(self) -> str:
        """What was measured, in a sentence; it bounds nothing about other notes."""
        listed = ", ".join(f"{kind} {self.recall(kind):.0%}" for kind in self.planted)
        right = 1 - sum(self.wrong.values()) / max(1, sum(self.masks.values()))
        return (
            f"Measured recall on {self.notes:,} invented notes: {listed}: such names stay. "
            f"Of the placeholders {right:.0%} stand where something was planted. Your notes may be written otherwise."
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the scores in JSON."""
        return {
            "notes": self.notes,
            "recall": {kind: round(self.recall(kind), 4) for kind in self.planted},
            "planted": dict(self.planted),
            "precision": {kind: round(self.precision(kind), 4) for kind in self.masks},
        }


def measure_masking(notes: int = _NOTES, *, seed: int = _MEASURED_ON, misspelt: bool = True) -> MaskingScores:
    """Mask invented notes and count what was found of what was planted in them.

    Parameters
    ----------
    notes, seed
        How many notes are invented, and which.
    misspelt
        As for `mask_notes`.
    """
    masker = NoteMasker(NameList.of(listed_names(), misspelt=misspelt))
    planted, found, masks, wrong = (Counter[str]() for _ in range(4))
    for row in hospital_notes(notes, seed=seed).select(["note", "planted"]).to_pylist():
        taken = masker.find(row["note"])
        for each in row["planted"]:
            planted[each["kind"]] += 1
            found[each["kind"]] += _is_covered(row["note"], each["start"], each["end"], taken)
        for mask in taken:
            masks[mask.kind] += 1
            wrong[mask.kind] += not any(
                mask.start < each["end"] and each["start"] < mask.end for each in row["planted"]
            )
    return MaskingScores(
        notes, {kind: planted[kind] for kind in PLANTED if planted[kind]}, dict(found), dict(masks), dict(wrong)
    )


@cache
def measured_once() -> MaskingScores:
    """Return what `measure_masking` finds, measured once in a process."""
    return measure_masking()


def _is_covered(text: str, start: int, end: int, taken: list[FoundInNote]) -> bool:
    """Whether every letter and digit from start to end was masked."""
    return all(
        not text[place].isalnum() or any(each.start <= place < each.end for each in taken)
        for place in range(start, end)
    )
