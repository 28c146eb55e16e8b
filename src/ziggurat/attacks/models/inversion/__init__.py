"""What a model tells about single people: an attribute that was not known of them, or their whole row."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks.models.inversion._attribute import CandidateHits, InferredAttribute
    from ziggurat.attacks.models.inversion._infer import infer_attribute
    from ziggurat.attacks.models.inversion._linear import LinearParameters, RebuiltRow, reconstruct_row
    from ziggurat.attacks.models.inversion._rows import ReconstructedRows, reconstruct_rows
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_attribute": "CandidateHits InferredAttribute",
            "_infer": "infer_attribute",
            "_linear": "LinearParameters RebuiltRow reconstruct_row",
            "_rows": "ReconstructedRows reconstruct_rows",
        },
    )

__all__ = [
    "CandidateHits",
    "InferredAttribute",
    "LinearParameters",
    "RebuiltRow",
    "ReconstructedRows",
    "infer_attribute",
    "reconstruct_row",
    "reconstruct_rows",
]
