"""`similarity`: how far records were moved, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError
from ziggurat.experiments._steps import step

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.data.encoding import Encoding, Matrix

OUTPUTS = ("hamming", "categories_changed", "mean_difference", "correlation_kept", "by_column")


@step("similarity", outputs=OUTPUTS)
def similarity(original: pa.Table, changed: pa.Table, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Compare records with what became of them; the rows must stand in the same order.

    Not private: the numbers are exact functions of the original records, for the experimenter's eyes.

    Returns
    -------
    dict
        `hamming`: the share of cells that differ. `categories_changed`: the same among categories and booleans.
        `mean_difference`: of numbers, the mean absolute difference as a share of the public range, averaged over the
        columns. `correlation_kept`: 1 minus half the mean absolute change of the correlations between encoded columns,
        so that 1 means all kept and 0 all turned round; a constant column counts as uncorrelated. `by_column`:
        {column: {"differs": share, "difference": share of the range}}. A measure over no columns is 0 (kept: 1).
    """
    from ziggurat.data.encoding import Encoding
    from ziggurat.threads import one_thread

    if original.num_rows != changed.num_rows or not original.num_rows:
        raise DataError("Only tables with the same number of rows, at least one, can be compared row by row.")
    encoding = Encoding(schema)
    columns = {field.column.name: _compare(field, original, changed) for field in encoding.fields}
    listed = [field.column.name for field in encoding.fields if field.listed]
    with one_thread():
        kept = _correlation_kept(encoding, original, changed)
    return {
        "hamming": _mean([each["differs"] for each in columns.values()]),
        "categories_changed": _mean([columns[name]["differs"] for name in listed]),
        "mean_difference": _mean([each["difference"] for name, each in columns.items() if name not in listed]),
        "correlation_kept": kept,
        "by_column": columns,
    }


def _compare(field: Any, original: pa.Table, changed: pa.Table) -> dict[str, float]:
    import numpy as np

    before, after = (table[field.column.name] for table in (original, changed))
    if field.listed:
        return {"differs": float((field.codes(before) != field.codes(after)).mean())}
    difference = np.abs(field.scale(before) - field.scale(after))
    return {"differs": float((difference > 0).mean()), "difference": float(difference.mean())}


def _correlation_kept(encoding: Encoding, original: pa.Table, changed: pa.Table) -> float:
    import numpy as np

    before, after = (_correlations(encoding.encode(table)) for table in (original, changed))
    upper = np.triu_indices(len(before), 1)
    return 1.0 - _mean(list(np.abs(before - after)[upper])) / 2


def _correlations(rows: Matrix) -> Matrix:
    import numpy as np

    centred = rows - rows.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    # A column that hardly varies beyond round-off has no correlation to speak of.
    unit = np.where(spread > 1e-9, centred / np.where(spread > 1e-9, spread, 1.0), 0.0)
    return np.asarray(unit.T @ unit / len(rows))


def _mean(values: list[float]) -> float:
    return float(sum(values) / len(values)) if values else 0.0
