"""A column that leaves as it is because somebody decided so, for a reason that the record keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ziggurat.anonymize.masking._technique import CellTechnique, Tally
from ziggurat.errors import ParameterError
from ziggurat.randomness import Source


@dataclass(frozen=True)
class Keep(CellTechnique):
    """Leave a column as it is, although it holds free text; the reason stands in the record.

    Parameters
    ----------
    because
        Why it may leave, in a sentence.
    """

    name: ClassVar[str] = "keep"
    because: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.because, str) or not self.because.strip() or not self.because.isprintable():
            raise ParameterError("Say why the column may leave as it is, such as Keep('read by two people').")

    def parameters(self) -> dict[str, Any]:
        """Return the reason."""
        return {"because": self.because}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Leave every cell."""
        return cells, Tally()
