"""A column of text turned into codes that tell nothing but which cells are equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ziggurat.anonymize.masking._technique import CellTechnique, Tally, distinct_of, identifier_text, look_up
from ziggurat.errors import ParameterError
from ziggurat.randomness import Source, sample_without_replacement

EQUAL_TELLS = "Equal cells have equal codes: how often a text occurs, and which rows share it, can still be seen."
"""What codes do not hide."""


@dataclass(frozen=True)
class Codes(CellTechnique):
    """Replace every text by a code such as c017, equal texts by equal codes; what led to them is thrown away.

    The codes are numbers in an order drawn at random, so that nobody can test a guess. They do not hide how often a
    text occurs or which rows share it, and the column keeps its role.

    Parameters
    ----------
    prefix
        What every code begins with.
    """

    name: ClassVar[str] = "codes"
    random: ClassVar[bool] = True
    prefix: str = "c"

    def __post_init__(self) -> None:
        if not isinstance(self.prefix, str) or not self.prefix.isprintable():
            raise ParameterError("The prefix of codes must be printable text.")

    @property
    def row_wise(self) -> bool:
        """Codes belong to the texts of the whole table."""
        return False

    def parameters(self) -> dict[str, Any]:
        """Return the prefix."""
        return {"prefix": self.prefix}

    def derive_facts(self, tally: Tally) -> dict[str, Any]:  # noqa: ARG002
        """Return what codes do not hide."""
        return {"not_hidden": EQUAL_TELLS}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:
        """Number the distinct texts in an order drawn at random."""
        text = identifier_text(cells, name)
        distinct = distinct_of(text)
        many = len(distinct)
        order = sample_without_replacement(many, many, source=source) if many else ()
        width = len(str(max(many, 1)))
        shown = pa.array([f"{self.prefix}{int(place) + 1:0{width}d}" for place in order], pa.string())
        return look_up(text, distinct, shown), Tally(counts={"distinct": many})
