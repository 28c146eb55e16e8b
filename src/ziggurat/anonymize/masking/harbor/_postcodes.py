"""Postcodes of other countries than the US, cut to a region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.anonymize.masking._technique import CellTechnique, Tally, as_column
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source

_DIGITS = r"^(?:[A-Za-z]{1,2}[- ])?[0-9]{4,5}(?:[ -]?[A-Za-z]{2})?$"
_BRITISH = r"^[A-Za-z]{1,2}[0-9][A-Za-z0-9]? ?[0-9][A-Za-z]{2}$"


@dataclass(frozen=True)
class PostcodePrefix(CellTechnique):
    """Cut postcodes of other countries than the US to a region, and what is no postcode to 00.

    Four or five digits (Germany, France, the Netherlands with its letters, ...) become their first two: in Germany a
    region of the post, in France a department, all of more than 20,000 people. British postcodes become the letters of
    their area. Whole numbers that lost a leading zero get it back.

    Parameters
    ----------
    digits
        How many digits a postcode has; of a whole number that has fewer, leading zeros were lost.
    kept
        How many of them stay.
    """

    name: ClassVar[str] = "postcode-prefix"
    digits: int = 5
    kept: int = 2

    def __post_init__(self) -> None:
        whole = all(isinstance(each, int) and not isinstance(each, bool) for each in (self.digits, self.kept))
        if not whole or not 3 <= self.digits <= 9 or not 1 <= self.kept < self.digits:
            raise ParameterError("A postcode has 3 to 9 digits, of which at least one and not all stay.")

    def parameters(self) -> dict[str, Any]:
        """Return how many digits there are and stay."""
        return {"digits": self.digits, "kept": self.kept}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:  # noqa: ARG002
        """Cut every code."""
        text = self._text(cells, name)
        bare = pc.replace_substring_regex(text, "^[A-Za-z]{1,2}[- ]", "")
        region = pc.utf8_slice_codeunits(bare, 0, self.kept)
        area = pc.utf8_upper(pc.replace_substring_regex(text, "[0-9].*$", ""))
        british = pc.if_else(pc.match_substring_regex(text, _BRITISH), area, pa.scalar("0" * self.kept))
        shown = pc.if_else(pc.match_substring_regex(text, _DIGITS), region, british)
        return as_column(shown), Tally()

    def _text(self, cells: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        if kinds.is_integer(cells.type):
            return pc.utf8_lpad(cells.cast(pa.string()), self.digits, "0")
        if not (kinds.is_string(cells.type) or kinds.is_large_string(cells.type) or kinds.is_null(cells.type)):
            raise DataError(f"Column {name!r} holds neither text nor whole numbers, as postcodes are; drop it.")
        return pc.utf8_trim_whitespace(cells.cast(pa.string()))
