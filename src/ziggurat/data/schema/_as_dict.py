"""The plain-dictionary form of a schema, which YAML and JSON share."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields as dataclass_fields
from datetime import date
from pathlib import Path as FilePath
from typing import Any, TypeVar

from ziggurat.data.schema._column import Column, Role
from ziggurat.data.schema._file_layout import FileLayout
from ziggurat.data.schema._hierarchy_files import read_hierarchy
from ziggurat.data.schema._known import Bounds, Categories, Hierarchy, Kind, Provenance, Symbols, kind_of_values
from ziggurat.data.schema._notation import Notation
from ziggurat.data.schema._unit import Unit
from ziggurat.errors import DataError, SchemaError
from ziggurat.located_yaml import Locate, Path
from ziggurat.wording import nearest

_Built = TypeVar("_Built")

_SCHEMA_KEYS = ("name", "description", "unit", "file", "columns")
_COLUMN_KEYS = (
    "kind",
    "role",
    "bounds",
    "bounds_from",
    "categories",
    "categories_from",
    "ordered",
    "hierarchy",
    "sequence",
    "sequence_from",
    "written",
    "labels",
    "missing",
    "description",
)


def plain(
    columns: Iterable[Column], unit: Unit, name: str, description: str, file: FileLayout | None = None
) -> dict[str, Any]:
    """Return the parts of a schema as dictionaries, lists, text and numbers."""
    texts = {"name": name, "description": description}
    return {
        **{key: text for key, text in texts.items() if text},
        "unit": "row" if unit.is_row else {unit.name: unit.column},
        **({"file": file.to_dict()} if file is not None else {}),
        "columns": {column.name: _plain_column(column) for column in columns},
    }


def _plain_column(column: Column) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": column.kind.value}
    if column.role is not Role.INSENSITIVE:
        data["role"] = column.role.value
    if column.bounds is not None:
        data["bounds"] = [_plain_value(column.bounds.lower), _plain_value(column.bounds.upper)]
        data["bounds_from"] = column.bounds.provenance.value
    if column.categories is not None:
        data["categories"] = list(column.categories.values)
        data["categories_from"] = column.categories.provenance.value
        data |= {"ordered": True} if column.categories.ordered else {}
    if column.hierarchy is not None:
        data["hierarchy"] = _plain_hierarchy(column.hierarchy)
    if column.sequence is not None:
        data["sequence"] = _plain_symbols(column.sequence)
        data["sequence_from"] = column.sequence.provenance.value
    if column.written is not None:
        data["written"] = column.written.to_dict()
    if column.labels:
        # Rows, as of a hierarchy.
        data["labels"] = [list(pair) for pair in column.labels]
    if column.missing:
        data["missing"] = list(column.missing)
    if column.description:
        data["description"] = column.description
    return data


def _plain_value(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def _plain_hierarchy(hierarchy: Hierarchy) -> list[list[object]]:
    # Rows rather than a mapping: JSON would turn the keys of integer codes into text.
    return [[_plain_value(value), *labels] for value, labels in hierarchy.levels.items()]


def _plain_symbols(symbols: Symbols) -> dict[str, Any]:
    return {"tokens": list(symbols.tokens), "longest": symbols.longest, "separator": symbols.separator}


def parse_fields(data: object, locate: Locate = lambda _: "", folder: FilePath | None = None) -> dict[str, Any]:
    """Return the fields of the schema that `data` describes.

    Parameters
    ----------
    data
        What `plain` returns, or what a person wrote in YAML.
    locate
        Turns the path of a key into the beginning of an error sentence ("clinic.yaml, line 3: ").
    folder
        Where the files are that `hierarchy: {file: ...}` names; None if no file may be read.
    """
    top = _mapping(data, locate, (), "A schema")
    _check_keys(top, _SCHEMA_KEYS, locate, ())
    columns = _mapping(top.get("columns"), locate, ("columns",), "'columns'")
    return {
        "columns": tuple(_column(name, columns[name], locate, folder) for name in columns),
        "unit": _locate_errors(lambda: _unit(top.get("unit", "row")), locate, ("unit",)),
        "file": _locate_errors(lambda: _file(top.get("file")), locate, ("file",)),
        "name": _text(top, "name", locate),
        "description": _text(top, "description", locate),
    }


def _column(name: str, data: object, locate: Locate, folder: FilePath | None) -> Column:
    path = ("columns", name)
    fields = _mapping(data, locate, path, f"Column {name!r}")
    _check_keys(fields, _COLUMN_KEYS, locate, path)
    if "kind" not in fields:
        raise SchemaError(f"{locate(path)}column {name!r} needs a kind, such as 'kind: integer'.")
    return _locate_errors(lambda: _build_column(name, fields, folder), locate, path)


def _build_column(name: str, fields: Mapping[str, Any], folder: FilePath | None) -> Column:
    try:
        return Column(
            name,
            fields["kind"],
            fields.get("role", Role.INSENSITIVE),
            _bounds(fields),
            _categories(fields),
            _hierarchy(name, fields, folder),
            tuple(_list(fields.get("missing", []), "'missing'")),
            fields.get("description", ""),
            _symbols(fields),
            _notation(fields),
            _labels(fields),
        )
    except SchemaError as error:
        named = str(error).startswith(f"Column {name!r}")
        raise SchemaError(str(error) if named else f"Column {name!r}: {error}") from None


def _bounds(fields: Mapping[str, Any]) -> Bounds | None:
    if "bounds" not in fields:
        _refuse_alone(fields, "bounds_from", "bounds")
        return None
    ends = _list(fields["bounds"], "'bounds'")
    if len(ends) != 2:
        raise SchemaError("'bounds' must be a list of two values, such as [0, 120].")
    if fields["kind"] == Kind.DATE:
        ends = [_date(end) for end in ends]
    return Bounds(ends[0], ends[1], fields.get("bounds_from", Provenance.PUBLIC))


def _date(value: object) -> object:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise SchemaError("A date must be written as year-month-day, such as 2024-12-31.") from None


def _categories(fields: Mapping[str, Any]) -> Categories | None:
    if "categories" not in fields:
        _refuse_alone(fields, "categories_from", "categories")
        _refuse_alone(fields, "ordered", "categories")
        return None
    values = tuple(_list(fields["categories"], "'categories'"))
    return Categories(values, fields.get("categories_from", Provenance.PUBLIC), fields.get("ordered", False))


def _symbols(fields: Mapping[str, Any]) -> Symbols | None:
    if "sequence" not in fields:
        _refuse_alone(fields, "sequence_from", "sequence")
        return None
    given = fields["sequence"]
    if not isinstance(given, Mapping) or not {"tokens", "longest"} <= set(given) <= {"tokens", "longest", "separator"}:
        raise SchemaError("'sequence' must say its tokens and how many of them count: {tokens: [a, b], longest: 50}.")
    tokens = tuple(_list(given["tokens"], "'tokens'"))
    separator, origin = given.get("separator", " "), fields.get("sequence_from", Provenance.PUBLIC)
    return Symbols(tokens, given["longest"], separator, origin)


def _notation(fields: Mapping[str, Any]) -> Notation | None:
    if "written" not in fields:
        return None
    return Notation(**_told(fields["written"], Notation, "'written'"))


def _file(given: object) -> FileLayout | None:
    return None if given is None else FileLayout(**_told(given, FileLayout, "'file'"))


def _told(given: object, about: type, what: str) -> dict[str, Any]:
    known = tuple(each.name for each in dataclass_fields(about))
    if not isinstance(given, Mapping):
        raise SchemaError(f"{what} must be a mapping, such as {{{known[0]}: ...}}.")
    for key in given:
        if key not in known:
            raise SchemaError(f"unknown key {key!r} in {what}; {nearest(key, known)}")
    return dict(given)


def _labels(fields: Mapping[str, Any]) -> Any:
    given = fields.get("labels", [])
    return given if isinstance(given, Mapping) else [_list(row, "'labels'") for row in _list(given, "'labels'")]


def _refuse_alone(fields: Mapping[str, Any], key: str, partner: str) -> None:
    if key in fields:
        raise SchemaError(f"{key!r} stands without {partner!r}; add them or drop it.")


def _hierarchy(name: str, fields: Mapping[str, Any], folder: FilePath | None) -> Hierarchy | None:
    if "hierarchy" not in fields:
        return None
    given = fields["hierarchy"]
    if isinstance(given, Mapping) and set(given) == {"file"} and isinstance(given["file"], str):
        return _hierarchy_in_file(given["file"], name, fields, folder)
    if isinstance(given, Mapping):
        given = [[value, *_list(labels, "'hierarchy'")] for value, labels in given.items()]
    rows = [_list(row, "'hierarchy'") for row in _list(given, "'hierarchy'")]
    if not all(rows) or any(isinstance(row[0], list | dict) for row in rows):
        raise SchemaError("'hierarchy' must map each category to a list of labels.")
    values: list[Any] = [_date(row[0]) for row in rows] if fields["kind"] == Kind.DATE else [row[0] for row in rows]
    if len(set(values)) != len(rows):
        raise SchemaError("'hierarchy' lists a category twice.")
    return Hierarchy({value: tuple(row[1:]) for value, row in zip(values, rows, strict=True)})


def _hierarchy_in_file(file: str, name: str, fields: Mapping[str, Any], folder: FilePath | None) -> Hierarchy:
    if folder is None:
        raise SchemaError("Only a schema that is a file itself can name the file of a hierarchy; list the labels here.")
    kind = fields["kind"]
    if kind == Kind.CATEGORY:
        kind = kind_of_values(tuple(fields["categories"])) if isinstance(fields.get("categories"), list) else Kind.TEXT
    try:
        return read_hierarchy(folder / file, kind if kind in tuple(Kind) else None, column=name)
    except DataError as error:
        raise SchemaError(str(error)) from None


def _unit(given: object) -> Unit:
    if given == "row":
        return Unit()
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, column),) = given.items()
        return Unit(name, column)
    raise SchemaError("'unit' must be 'row' or one name and one column, such as {person: patient_id}.")


def _locate_errors(build: Callable[[], _Built], locate: Locate, path: Path) -> _Built:
    try:
        return build()
    except SchemaError as error:
        raise SchemaError(f"{locate(path)}{error}") from None


def _text(top: Mapping[str, Any], key: str, locate: Locate) -> str:
    value = top.get(key, "")
    if not isinstance(value, str):
        raise SchemaError(f"{locate((key,))}the {key} of a schema must be text; put quotes around it.")
    return value


def _mapping(data: object, locate: Locate, path: Path, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise SchemaError(f"{locate(path)}{what} must be a mapping of names to values.")
    for key in data:
        if not isinstance(key, str):
            raise SchemaError(f"{locate((*path, str(key)))}the names in {what} must be text; put quotes around them.")
    return data


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise SchemaError(f"{what} must be a list.")
    return list(value)


def _check_keys(data: Mapping[str, Any], known: tuple[str, ...], locate: Locate, path: Path) -> None:
    for key in data:
        if key not in known:
            raise SchemaError(f"{locate((*path, key))}unknown key {key!r}; {nearest(key, known)}")
