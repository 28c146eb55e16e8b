"""Judges of synthetic sequences: distances of pairs, what was kept of lengths and transitions, what is learned of them.

Everything here is for the steward's eyes: the figures are exact and unprotected.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.utility.sequences._comparison import (
        ComparedSequences,
        SequenceComparison,
        compare_sequences,
    )
    from ziggurat.utility.sequences._distances import edit_distances, hamming_distances
    from ziggurat.utility.sequences._picture import draw_sequences
    from ziggurat.utility.sequences._transfer import SequenceTransfer, train_on_synthetic
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_comparison": "ComparedSequences SequenceComparison compare_sequences",
            "_distances": "edit_distances hamming_distances",
            "_picture": "draw_sequences",
            "_transfer": "SequenceTransfer train_on_synthetic",
        },
    )

__all__ = [
    "ComparedSequences",
    "SequenceComparison",
    "SequenceTransfer",
    "compare_sequences",
    "draw_sequences",
    "edit_distances",
    "hamming_distances",
    "train_on_synthetic",
]
