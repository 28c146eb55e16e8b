"""Data frames in files of R: .rds holds one object, .RData several."""

import warnings
from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.data.engines import name_columns
from ziggurat.data.reading.formats._cells import column_of
from ziggurat.data.reading.formats._codebook import Variable, describe
from ziggurat.data.reading.formats._loaded import LoadedFile, withhold_reason
from ziggurat.data.reading.formats._sqlite import choose_table
from ziggurat.data.schema import Categories, Column, FileLayout, Kind, Provenance
from ziggurat.errors import DataError, MissingExtraError

R_FILES = (".rds", ".rdata", ".rda")
"""The endings of files of R, in lower case."""

_CLOCK = {"secs": 1, "mins": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}


def load_r(path: str, layout: FileLayout) -> LoadedFile:
    """Return a data frame of a file of R, and what it says of its columns.

    Factors are text with their levels as categories, learned from the file; dates and moments keep their type, moments
    as the clock of UTC shows them; lengths of time are seconds; labels as haven keeps them go to the columns.

    Parameters
    ----------
    path
        Of the file.
    layout
        Which data frame, if there are several.
    """
    broken = f"The file {path!r} is damaged or no file of R; save it again with saveRDS() or save()."
    parsed = withhold_reason(lambda: _parse(path), broken)
    return withhold_reason(lambda: _load(path, parsed, layout.table), broken)


def _parse(path: str) -> Any:
    try:
        from rdata import parser
    except ImportError:
        raise MissingExtraError("Files of R need rdata; add it with: pip install 'ziggurat[r]'.") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parser.parse_file(path)


def _load(path: str, parsed: Any, wanted: str) -> LoadedFile:
    encoding = getattr(parsed.extra, "encoding", None) or "utf-8"
    frames = {
        name: each for name, each in _objects(parsed.object) if "data.frame" in _words(_attributes(each), "class")
    }
    if not frames:
        raise DataError(f"The file {path!r} holds no data frame; save one with saveRDS(as.data.frame(x), ...).")
    name = next(iter(frames)) if len(frames) == 1 and not wanted else choose_table(list(frames), wanted, _where(path))
    frame, given = frames[name], _words(_attributes(frames[name]), "names")
    names, notes = name_columns(given)
    made = [_column(name, each, encoding) for name, each in zip(names, frame.value, strict=True)]
    said = (f"Read from the data frame {name!r}.",) if name else ()
    table = pa.table({column.name: array for array, column in made})
    return LoadedFile(table, tuple(column for _, column in made), notes=(*said, *notes))


def _where(path: str) -> str:
    return f"the file {path!r}"


def _objects(root: Any) -> Iterator[tuple[str, Any]]:
    """The objects of a file with their names; that of an .rds file has none."""
    if root.info.type.name != "LIST":
        yield "", root
    else:
        yield from _pairs(root)


def _pairs(node: Any) -> Iterator[tuple[str, Any]]:
    while node is not None and node.info.type.name == "LIST":
        tag = node.tag.referenced_object if node.tag.info.type.name == "REF" else node.tag
        yield tag.value.value.decode("utf-8", "replace"), node.value[0]
        node = node.value[1]


def _attributes(node: Any) -> dict[str, Any]:
    return dict(_pairs(node.attributes))


def _words(attributes: Mapping[str, Any], name: str) -> list[str]:
    found = attributes.get(name)
    return [] if found is None else [text or "" for text in _texts(found, "utf-8")]


def _texts(node: Any, encoding: str) -> list[str | None]:
    from rdata.parser import CharFlags

    def decode(char: Any) -> str | None:
        if char.value is None:
            return None
        latin = bool(char.info.gp & CharFlags.LATIN1)
        return str(
            char.value.decode("latin-1" if latin else encoding if not char.info.gp & CharFlags.UTF8 else "utf-8")
        )

    return [decode(char) for char in node.value]


def _column(name: str, node: Any, encoding: str) -> tuple[pa.Array, Column]:
    told = _attributes(node)
    classes, description = _words(told, "class"), " ".join(_words(told, "label"))
    if node.info.type.name == "STR":
        return pa.array(_texts(node, encoding), pa.string()), Column(name, Kind.TEXT, description=description)
    if "factor" in classes:
        return _factor(name, node, told, classes, description, encoding)
    if node.info.type.name not in ("INT", "REAL", "LGL"):
        raise DataError(f"Column {name!r} holds lists or other objects of R; keep columns of numbers, text and dates.")
    cells = _numbers(node)
    if {"Date", "POSIXct"} & set(classes):
        return _moments(cells, "Date" in classes), Column(name, Kind.DATE, description=description)
    if "difftime" in classes or "hms" in classes:
        step = _CLOCK.get((_words(told, "units") or ["secs"])[0], 1)
        cells = [None if cell is None else cell * step for cell in cells]
    array = column_of(name, cells)
    variable = Variable(name, description, _labels(told))
    kind = {pa.bool_(): Kind.BOOLEAN, pa.int64(): Kind.INTEGER, pa.float64(): Kind.REAL}.get(array.type, Kind.TEXT)
    return array, describe(variable, kind, (), [cell for cell in cells if cell is not None])


def _numbers(node: Any) -> list[Any]:
    values = np.ma.asarray(node.value)
    if values.ndim > 1:
        raise DataError("A column of the data frame is a matrix; give each of its columns a name of its own.")
    cells = [
        None if gone else value for value, gone in zip(values.data.tolist(), np.ma.getmaskarray(values), strict=True)
    ]
    if node.info.type.name == "LGL":
        return [None if cell is None else bool(cell) for cell in cells]
    return [None if cell is None or isnan(cell) else cell for cell in cells]  # as NA is


def _moments(cells: list[Any], whole_days: bool) -> pa.Array:
    if whole_days:
        return pa.array([None if cell is None else int(cell // 1) for cell in cells], pa.int32()).cast(pa.date32())
    ticks = [None if cell is None else round(cell * 1_000_000) for cell in cells]
    return pa.array(ticks, pa.int64()).cast(pa.timestamp("us"))


def _factor(
    name: str, node: Any, told: Mapping[str, Any], classes: list[str], description: str, encoding: str
) -> tuple[pa.Array, Column]:
    levels = [level or "" for level in _texts(told["levels"], encoding)]
    cells = [None if code is None or not 1 <= code <= len(levels) else levels[int(code) - 1] for code in _numbers(node)]
    known = tuple(dict.fromkeys(level for level in levels if level.strip()))
    categories = Categories(known, Provenance.LEARNED, ordered="ordered" in classes) if known else None
    kind = Kind.TEXT if categories is None else Kind.CATEGORY
    return pa.array(cells, pa.string()), Column(name, kind, categories=categories, description=description)


def _labels(told: Mapping[str, Any]) -> dict[Any, str]:
    """What values stand for, as haven keeps it: numbers with names."""
    held = told.get("labels")
    if held is None or held.info.type.name not in ("INT", "REAL"):
        return {}
    return {
        value: text
        for value, text in zip(_numbers(held), _words(_attributes(held), "names"), strict=True)
        if value is not None
    }
