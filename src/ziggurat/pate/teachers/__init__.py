"""Teachers: a disjoint split of a table's rows, and the ensemble that is trained on it."""

from ziggurat.pate.teachers._manifest import check_units, digest_of_body
from ziggurat.pate.teachers._partition import Partition
from ziggurat.pate.teachers._teachers import Teachers

__all__ = [
    "Partition",
    "Teachers",
    "check_units",
    "digest_of_body",
]
