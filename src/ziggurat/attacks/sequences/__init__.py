"""Attacks on sequences and texts that leave: copies of those learned from, members, and canaries that are remembered.

Everything here is for the steward's eyes: the figures are exact and unprotected, and no privacy is promised or spent.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks.sequences._canaries import Canaries, ExposedCanaries, Exposure, exposure, score_by_release
    from ziggurat.attacks.sequences._closest import ClosestSequences, SequenceCloseness, closest_sequences
    from ziggurat.attacks.sequences._membership import attack_sequence_membership, score_by_transitions
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_canaries": "Canaries ExposedCanaries Exposure exposure score_by_release",
            "_closest": "ClosestSequences SequenceCloseness closest_sequences",
            "_membership": "attack_sequence_membership score_by_transitions",
        },
    )

__all__ = [
    "Canaries",
    "ClosestSequences",
    "ExposedCanaries",
    "Exposure",
    "SequenceCloseness",
    "attack_sequence_membership",
    "closest_sequences",
    "exposure",
    "score_by_release",
    "score_by_transitions",
]
