"""Files and folders of Parquet and CSV that Spark reads where they are, checked whole when they are opened.

Spark's own reader of CSV is lenient: it closes an open quotation mark at the end of a file, fills short lines with NULL
and drops blank ones. So the grammar is ours, RFC 4180 with one line for each row, and Spark holds every line against it
before anything is paid for. Cells with line breaks are refused: lines can be shared out among workers, such cells not.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ziggurat.data.engines._file_names import files_named
from ziggurat.data.engines._spreadsheet_cells import MARKED, mark_text
from ziggurat.data.engines.texts import LONGEST_RECORD, Header, header_in, is_text_file
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError, EngineError
from ziggurat.wording import count_noun, list_names

# A session that was handed in may be set to skip what it cannot read; rows must not go missing without a word.
_STRICT = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
_CSV = {
    "header": "true",
    "enforceSchema": "false",
    "mode": "FAILFAST",
    "multiLine": "false",
    "encoding": "UTF-8",
    "quote": '"',
    "escape": '"',
    "nullValue": "",
    "emptyValue": "",
    "maxCharsPerColumn": "-1",
}
_ELSEWHERE = "write them as Parquet, or read them with DuckDB, which names the line and takes other habits"

Listing = list[tuple[str, int, str]]


@dataclass(frozen=True)
class FileSeal:
    """What the files of a table were when they were checked: their names, sizes and times."""

    path: str
    names: tuple[str, ...]
    files: Listing

    def check(self, session: Any) -> None:
        """Raise DataError unless they are still the same; no row is read."""
        if _list_files(session, self.path, self.names) != self.files:
            raise DataError(f"The files at {self.path!r} changed since they were opened; open them again.")


@dataclass(frozen=True)
class SparkFiles:
    """A table in files: a frame of Spark, what was checked, and the layout of text files."""

    frame: Any
    seal: FileSeal
    layout: FileLayout | None
    notes: tuple[str, ...]


def open_files(session: Any, path: str, layout: FileLayout | None) -> SparkFiles:
    """Open a file, a folder or a pattern of Parquet or CSV, and check it whole.

    Parameters
    ----------
    session
        Of Spark or Spark Connect; the path is one that its workers know.
    path
        On this machine, or an address such as "s3a://bucket/visits".
    layout
        What was told of text files: a delimiter at most.
    """
    names = tuple(_literal(each) for each in files_named(path) or [path])
    seal = FileSeal(path, names, _list_files(session, path, names))
    _refuse_logged(session, path)
    ending = _one_ending(path, seal.files)
    notes = (f"{count_noun(len(seal.files), 'file')} read as one table by Spark, where they are.",)
    if ending == ".parquet":
        reader = session.read.options(mergeSchema="true", **_STRICT)
        sentence = f"The files at {path!r} cannot be read together; is one damaged, or of other types?"
        frame = _or_say(sentence, lambda: reader.parquet(*names))
        _or_say(sentence, lambda: _read_whole(frame))
        return SparkFiles(frame, seal, None, notes)
    if not is_text_file(f"x{ending}") or ending.endswith(".zip"):
        raise DataError(f"Spark reads Parquet and CSV files here, not {path!r}; pass a Spark DataFrame instead.")
    return _open_texts(session, seal, layout or FileLayout(), notes)


def _literal(path: str) -> str:
    """Spark takes these characters for a pattern unless a backslash stands before them."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def _list_files(session: Any, path: str, names: Sequence[str]) -> Listing:
    """Names, sizes and times, as Spark sees them, wherever they are; contents stay unread."""
    reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
    wanted = ("path", "length", "CAST(modificationTime AS STRING) AS at")
    sentence = f"Spark finds no file at {path!r}; on a cluster it must be where every worker sees it."
    rows = _or_say(sentence, lambda: reader.load(list(names)).selectExpr(*wanted).collect())
    if not rows:
        raise DataError(sentence)
    return sorted((row["path"], row["length"], row["at"]) for row in rows)


def _refuse_logged(session: Any, path: str) -> None:
    """A table with a log holds files that no longer count: rows that were deleted would come back."""
    for log in ("_delta_log", ".hoodie"):
        if _is_there(session, f"{path.rstrip('/')}/{log}"):
            raise DataError(
                f"{path!r} is a Delta or Hudi table, whose log says which files count; name it in Spark's catalogue "
                "with table=, or export it as Parquet."
            )


def _is_there(session: Any, folder: str) -> bool:
    if "://" not in folder and Path(folder).parent.exists():
        return Path(folder).exists()
    reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
    try:
        return bool(reader.load(_literal(folder)).select("path").limit(1).collect())
    except Exception:  # noqa: BLE001  (there is no such folder)
        return False


def _one_ending(path: str, files: Listing) -> str:
    endings = sorted({_ending(name) for name, _, _ in files})
    if len(endings) > 1:
        raise DataError(
            f"{path!r} holds files of several kinds, {list_names(endings)}; keep those of one table in a folder of "
            "their own."
        )
    return endings[0]


def _ending(name: str) -> str:
    last = name.rpartition("/")[2].lower()
    packed = ".gz" if last.endswith(".gz") else ""
    return Path(last.removesuffix(".gz")).suffix + packed


def _open_texts(session: Any, seal: FileSeal, layout: FileLayout, notes: tuple[str, ...]) -> SparkFiles:
    if replace(layout.settle(), delimiter="") != FileLayout().settle():
        raise DataError(f"Spark reads plain CSV alone: UTF-8 with one header line; {_ELSEWHERE}.")
    broken = f"The files at {seal.path!r} cannot be read together; is one damaged, or of another header?"
    lines = _or_say(broken, lambda: session.read.options(**_STRICT).text(list(seal.names)))
    header = _header(lines, seal, layout.delimiter)
    keys = [name for name in lines.columns if name != "value"]
    if {name.lower() for name in header.names} & {name.lower() for name in keys}:
        raise DataError(f"The files at {seal.path!r} have a column that their folders have too; rename one.")
    rows = _or_say(broken, lambda: _count_lines(lines, header)) - sum(size > 0 for _, size, _ in seal.files)
    frame = _or_say(broken, lambda: _cells(session, seal, header, keys))
    if _or_say(broken, lambda: _read_whole(frame)) != rows:
        raise DataError(f"Spark finds other rows at {seal.path!r} than lines; {_ELSEWHERE}.")
    return SparkFiles(frame, seal, FileLayout(delimiter=header.delimiter), notes)


def _header(lines: Any, seal: FileSeal, delimiter: str) -> Header:
    first = lines.select("value").head()
    if first is None:
        raise DataError(f"The files at {seal.path!r} are empty.")
    usual = "\t" if re.search("[.](tsv|tab)", seal.files[0][0].lower()) else ""
    header = header_in(first["value"], seal.path, delimiter or usual)
    if any(name != name.strip() for name in header.names):
        raise DataError(f"Names in the header of {seal.path!r} have blanks around them; {_ELSEWHERE}.")
    return header


def _count_lines(lines: Any, header: Header) -> int:
    """How many lines there are, if each is a row by the grammar."""
    from pyspark.sql import functions as sql

    line = sql.col("value")
    sound = line.rlike(_grammar(header)) & sql.is_valid_utf8(line) & ~line.contains("\0")
    sound &= sql.octet_length(line) <= LONGEST_RECORD
    found = lines.agg(sql.count(line).alias("lines"), sql.count_if(~sound).alias("odd")).collect()[0]
    if found["odd"]:
        raise DataError(
            f"{count_noun(found['odd'], 'line')} of {found['lines']:,} are not a row of {len(header.names)} cells in "
            f"plain CSV (UTF-8, quotation marks doubled, no line break in a cell); {_ELSEWHERE}."
        )
    return int(found["lines"])


def _grammar(header: Header) -> str:
    """RFC 4180 for one line of so many cells; possessive, so that no line makes it try twice."""
    mark = re.escape(header.delimiter)
    cell = f'(?:"[^"]*+(?:""[^"]*+)*+"|[^"{mark}]*+)'
    blank = "(?!\\z)" if len(header.names) == 1 else ""  # Spark drops blank lines
    return f"\\A{blank}{cell}(?:{mark}{cell}){{{len(header.names) - 1}}}\\z"


def _cells(session: Any, seal: FileSeal, header: Header, keys: Sequence[str]) -> Any:
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructField, StructType

    raw = tuple(map(mark_text, header.names))  # as they stand in the files
    fields = StructType([StructField(name, StringType()) for name in (*raw, *keys)])
    options = {"sep": header.delimiter, "maxColumns": str(len(header.names) + 1), **_CSV, **_STRICT}
    frame = session.read.schema(fields).options(**options).csv(list(seal.names))
    cells = []
    for held, name in zip((*raw, *keys), (*header.names, *keys), strict=True):
        cell = sql.col("`" + held.replace("`", "``") + "`")
        cells.append(sql.when(cell.rlike(MARKED), cell.substr(2, LONGEST_RECORD)).otherwise(cell).alias(name))
    return frame.select(*cells)


def _read_whole(frame: Any) -> int:
    """How many rows there are; a hash needs every cell, so that a damaged page stops who opens, not who has paid."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    nested = (ArrayType, MapType, StructType, VariantType)  # no kind describes them, and not all have a hash
    plain = [each.name for each in frame.schema.fields if not isinstance(each.dataType, nested)]
    cells = [sql.col("`" + name.replace("`", "``") + "`") for name in plain]
    every = sql.bit_xor(sql.xxhash64(*cells)) if cells else sql.lit(0)
    return int(frame.agg(sql.count(sql.lit(1)).alias("rows"), every.alias("hash")).collect()[0]["rows"])


def _or_say(sentence: str, work: Callable[[], Any]) -> Any:
    from ziggurat.data.engines.spark._logs import quiet_logs

    try:
        with quiet_logs():
            return work()
    except (DataError, EngineError):
        raise
    except Exception:  # noqa: BLE001, S110  (py4j and gRPC raise what they like, and may quote cells)
        pass
    raise DataError(sentence)
