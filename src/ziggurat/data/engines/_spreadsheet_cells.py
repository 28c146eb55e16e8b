"""Text that a spreadsheet would run as a formula, written so that it stays text, and read back as it was.

Whoever opens a CSV file in a spreadsheet runs the cells that begin with =, +, - or @ (or with a tab or a line break
before them), whatever their quotation marks. Such text is written with an apostrophe before it, which is how a
spreadsheet itself marks text. So that reading gives back exactly what was written, text that already looks so marked
is marked once more: with D the characters below, a cell is marked if it matches '*D, and one apostrophe is taken off a
cell that matches '+D. The second undoes the first for every text, and numbers are never touched.
"""

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from ziggurat._lazy import deferred

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = deferred("pyarrow.compute")

_RUN = "=+@\\t\\r\\n＝＋＠－-"  # the wide forms too, which spreadsheets set to the others in some languages
DANGEROUS = f"^'*[{_RUN}]"
MARKED = f"^'+[{_RUN}]"
"""What a cell looks like of which one apostrophe is taken off."""


def mark_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text as it is written to a CSV file."""
    risky = pc.match_substring_regex(column, DANGEROUS)
    if not pc.any(risky).as_py():
        return column
    return pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)


def unmark_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text as it was before it was written to a CSV file."""
    risky = pc.match_substring_regex(column, MARKED)
    if not pc.any(risky).as_py():
        return column
    return pc.if_else(risky, pc.utf8_slice_codeunits(column, 1), column)


def mark_text(text: str) -> str:
    """Return one text as it is written to a CSV file."""
    return f"'{text}" if re.match(DANGEROUS, text) else text


def unmark_text(cell: str) -> str:
    """Return the text that was written as this cell of a CSV file."""
    return cell[1:] if re.match(MARKED, cell) else cell


def unmark_sql(cell: str) -> str:
    """Return the SQL by which DuckDB reads the text that was written as `cell`."""
    pattern = MARKED.replace("'", "''")
    return f"CASE WHEN {cell} LIKE '''%' AND regexp_matches({cell}, '{pattern}') THEN substr({cell}, 2) ELSE {cell} END"
