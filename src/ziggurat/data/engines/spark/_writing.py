"""Rows that Spark writes itself, as parts of one table: none of them passes through the process that asks for them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ziggurat.data.engines._spreadsheet_cells import DANGEROUS, mark_text
from ziggurat.errors import DataError
from ziggurat.files import move_within

SPARK_ENDINGS = (".parquet", ".csv")
"""What Spark writes itself."""
_CSV = {
    "header": "true",
    "escape": '"',
    "nullValue": "",
    "emptyValue": '""',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
_ROWS, _WEIGHTS, _ZEROS = "ziggurat rows", "ziggurat weights", "ziggurat zeros"


def write_frame(frame: Any, folder: Path, ending: str, *, weight: str, salt: int, one: bool) -> tuple[int, int]:
    """Write the rows of a frame to `folder`; give how many they were, and the sum of their weights.

    Rows are spread over the parts, and ordered in each, by a hash of what is written of them and of a secret number:
    nothing is seen of the order in which the table held them. Both figures are counted in the last stage, by the tasks
    that write: what Spark does again because a worker was lost is not counted twice.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    names = [name for name in frame.columns if name != weight]
    shown = _forget_metadata(frame, names)
    lot = f.xxhash64(f.lit(salt), *(f.col(_quote(name)) for name in names))
    spread = shown.repartition(lot).sortWithinPartitions(lot)
    spread = spread.coalesce(1) if one else spread
    texts = [name for name, kind in frame.dtypes if kind == "string" and name in names] if ending == ".csv" else []
    zeros = sum((f.when(f.contains(f.col(_quote(name)), f.lit("\0")), 1).otherwise(0) for name in texts), f.lit(0))
    weights = f.sum(f.col(_quote(weight)).cast("decimal(38,0)"))
    observed = Observation()
    told = [f.count(f.lit(1)).alias(_ROWS), weights.alias(_WEIGHTS), f.sum(zeros).alias(_ZEROS)]
    spread = spread.observe(observed, *told).select(*(_cell(name, texts) for name in names))
    draft = folder / "draft"
    where = f"file://{draft.absolute()}"
    if ending == ".csv":
        spread.toDF(*map(mark_text, names)).write.options(**_CSV).csv(where)
    else:
        spread.write.parquet(where)
    found = observed.get
    if found[_ZEROS]:
        raise DataError("A text cell holds a zero byte (NUL), which CSV cannot; write .parquet instead.")
    _name_parts(draft, folder, ending)
    return int(found[_ROWS]), int(found[_WEIGHTS] or 0)


def _forget_metadata(frame: Any, names: list[str]) -> Any:
    """The frame without what Spark remembers of its columns, which may list values, and would stand in every part."""
    for field in frame.schema.fields:
        if field.metadata and field.name in names:
            frame = frame.withMetadata(field.name, {})
    return frame


def _cell(name: str, texts: list[str]) -> Any:
    from pyspark.sql import functions as f

    cell = f.col(_quote(name))
    if name not in texts:
        return cell
    return f.when(cell.rlike(DANGEROUS), f.concat(f.lit("'"), cell)).otherwise(cell).alias(name)


def _name_parts(draft: Path, folder: Path, ending: str) -> None:
    """Keep the parts under names that are the same for the same number of parts, and nothing else of Spark's."""
    parts = sorted(draft.glob("part-*"))
    if not parts:
        raise DataError(
            f"Spark's workers wrote nothing into {str(folder.parent)!r}: name a folder on a disk that this machine and "
            "all of them share."
        )
    for number, part in enumerate(parts):
        move_within(part, folder / f"part-{number:05d}{ending}")
    shutil.rmtree(draft)


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
