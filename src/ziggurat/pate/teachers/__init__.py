"""Teachers: a disjoint split of a table's rows, and the ensemble that is trained on it."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.pate.teachers._manifest import check_units, digest_of_body
    from ziggurat.pate.teachers._partition import Partition
    from ziggurat.pate.teachers._teachers import Teachers
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_manifest": "check_units digest_of_body",
            "_partition": "Partition",
            "_teachers": "Teachers",
        },
    )

__all__ = [
    "Partition",
    "Teachers",
    "check_units",
    "digest_of_body",
]
