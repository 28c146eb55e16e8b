"""How many rows there are, as far as that is public.

Under replace-one neighbours have the same number of rows, which is public. Under add-or-remove-one it is what they
differ in: no plan, price, warning, message, parameter or file may depend on it. What needs a size takes one that was
declared, `expected_rows`. Proofs that hold up to some number of rows (round-off that adds up, weights that grow with
the rows, a sampling rate) hold up to twice that, or up to 2**20 rows where none is needed. A larger table is not one
that was declared: it is refused before anything is paid, and that there are no more rows is what the declaration tells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ziggurat.data.withheld import RowsError
from ziggurat.errors import ParameterError
from ziggurat.privacy import Relation, whole_number

_UNDECLARED = 1 << 20
_TIMES = 2


class Size(NamedTuple):
    """About how many rows there are, None if nobody said, and how many proofs allow for."""

    likely: int | None
    most: int

    @classmethod
    def of(cls, relation: str, rows: int, expected: Any) -> Size:
        """The number of rows where it is public, else what was declared of it; `rows` is then not looked at."""
        if relation == Relation.REPLACE_ONE:
            return cls(whole_number(rows, "rows"), whole_number(rows, "rows"))
        declared = None if expected is None else whole_number(expected, "expected_rows")
        return cls(declared, _UNDECLARED if declared is None else _TIMES * declared)

    def require(self, rows: int) -> None:
        """Refuse a table of more rows than proofs allow for."""
        if rows > self.most:
            raise RowsError(
                "There are more rows than the promise is proven for; declare about how many there are, a public "
                "number, as expected_rows."
            )


def require_declared(relation: str, likely: int | None, what: str) -> None:
    """Refuse what needs a size that is private, and was not declared."""
    if likely is None and relation != Relation.REPLACE_ONE:
        raise ParameterError(
            f"{what} needs to know about how many rows there are, which is private under add-or-remove-one; declare "
            "expected_rows, a public number."
        )


def fewest_rows(relation: str) -> int:
    """How many rows a table needs: none where one more or less must not show."""
    return 1 if relation == Relation.REPLACE_ONE else 0
