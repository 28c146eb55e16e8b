"""A schema: the columns of a table, in order, and its privacy unit."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ziggurat.cards import Card, Shown, name_some
from ziggurat.data.schema import _as_yaml as _schema_yaml
from ziggurat.data.schema._as_dict import parse_fields, plain
from ziggurat.data.schema._column import Column, Role
from ziggurat.data.schema._file_layout import FileLayout
from ziggurat.data.schema._unit import Unit
from ziggurat.errors import SchemaError
from ziggurat.files import write_text
from ziggurat.located_yaml import loaded
from ziggurat.wording import count_noun, nearest


@dataclass(frozen=True)
class Schema(Shown):
    """The columns of a table and its privacy unit; `schema["age"]` is a column.

    Parameters
    ----------
    columns
        In the order of the table; their names differ by more than case.
    unit
        What one person contributes; its column must be among `columns`.
    name, description
        For people.
    file
        How a file holds the table, where that was told or cannot be seen; it changes no promise.
    """

    columns: tuple[Column, ...]
    unit: Unit = Unit()
    name: str = ""
    description: str = ""
    file: FileLayout | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns:
            raise SchemaError("A schema needs at least one column.")
        self._check_names()
        if self.unit.column is not None and self.unit.column not in self:
            raise SchemaError(
                f"The unit's column {self.unit.column!r} is not in the schema; {nearest(self.unit.column, self.names)}"
            )
        if not (isinstance(self.name, str) and isinstance(self.description, str)):
            raise SchemaError("The name and the description of a schema must be text.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        found = self._by_name.get(name)
        if found is None:
            raise SchemaError(f"There is no column {name!r} in the schema; {nearest(name, self.names)}")
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.columns)

    def with_role(self, *roles: Role) -> tuple[Column, ...]:
        """Return the columns that play one of `roles`."""
        return tuple(column for column in self.columns if column.role in roles)

    def with_column(self, column: Column) -> "Schema":
        """Return a schema in which `column` replaces the one of its name, or stands last."""
        if column.name not in self:
            return replace(self, columns=(*self.columns, column))
        return replace(self, columns=tuple(column if each.name == column.name else each for each in self.columns))

    def with_unit(self, unit: Unit) -> "Schema":
        """Return the same columns under another privacy unit."""
        return replace(self, unit=unit)

    def select(self, names: Iterable[str]) -> "Schema":
        """Return a schema of these columns in this order; the unit's column stays even if it is not named."""
        wanted = list(dict.fromkeys(names))
        if self.unit.column is not None and self.unit.column not in wanted:
            wanted.append(self.unit.column)
        return replace(self, columns=tuple(self[name] for name in wanted))

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain dictionaries, lists, text and numbers, ready for JSON."""
        return plain(self.columns, self.unit, self.name, self.description, self.file)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Schema":
        """Return the schema that `to_dict` described; anything else raises SchemaError."""
        return cls(**parse_fields(data))

    def to_yaml(self, path: str | Path | None = None) -> str:
        """Return the schema as YAML and, given a path, write it there atomically."""
        text = _schema_yaml.dump(self.to_dict())
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_yaml(cls, written: str | Path) -> "Schema":
        """Read a schema from a YAML file or from YAML text.

        A `Path`, or text of one line without a colon and a space, names a file; other text is the YAML
        itself. An error names the file, the line and the nearest key that would have been understood. In a file,
        `hierarchy: {file: age.csv}` names a hierarchy beside it, which `read_hierarchy` reads.
        """
        text, file = _schema_yaml.text_and_file(written)
        data, locate = loaded(text, str(file or "schema"), SchemaError)
        fields = parse_fields(data, locate, file.parent if file else None)
        try:
            return cls(**fields)
        except SchemaError as error:
            raise SchemaError(f"{locate(())}{error}") from None

    def fingerprint(self) -> str:
        """Return the SHA-256 of the canonical JSON form; the order of the columns does not matter."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def _card(self) -> Card:
        title = f"Schema of {self.name}" if self.name else "Schema"
        line = f"{count_noun(len(self), 'column')} ({name_some(self.names, 5)}), unit: {self.unit}"
        rows = [(each.name, each.kind.value, each.role.value, each.known_values()) for each in self.columns]
        heads = ("column", "kind", "role", "values")
        return Card(title, self.description, [("unit", str(self.unit))], "", heads, rows, line=line)

    def _check_names(self) -> None:
        seen: dict[str, str] = {}
        for name in self.names:
            if seen.get(name.lower()) == name:
                raise SchemaError(f"Column {name!r} is declared twice.")
            if name.lower() in seen:
                raise SchemaError(
                    f"Columns {seen[name.lower()]!r} and {name!r} differ only in case, "
                    "which database engines do not tell apart; rename one."
                )
            seen[name.lower()] = name
