"""Mask notes: what tells who somebody is gives way to placeholders, with a recall that is measured."""

from ziggurat.anonymize.masking.notes._mask_text import NOT_ANONYMOUS, MaskText, read_names
from ziggurat.anonymize.masking.notes._masker import MaskedNotes, mask_notes
from ziggurat.anonymize.masking.notes._measuring import MaskingScores, measure_masking

__all__ = [
    "NOT_ANONYMOUS",
    "MaskText",
    "MaskedNotes",
    "MaskingScores",
    "mask_notes",
    "measure_masking",
    "read_names",
]
