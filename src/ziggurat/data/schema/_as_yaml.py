"""Schemas on disk, as YAML."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from ziggurat.errors import SchemaError
from ziggurat.located_yaml import RESOLVERS

# Four times as fast where PyYAML was built with libyaml, in the same words.
_FASTEST: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_FASTEST):  # type: ignore[misc]
    """Quotes whatever either version of YAML would read as something other than text."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _quote(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # PyYAML folds the rarer line breaks unless the text stands in double quotes.
    style = None if text.isprintable() else '"'
    node: yaml.ScalarNode = dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
    return node


_Dumper.add_representer(str, _quote)
for _tag, _pattern, _first in RESOLVERS:
    _Dumper.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), list(_first))


def dump(data: dict[str, Any]) -> str:
    """Return the plain form of a schema as YAML text; dates and hierarchies as people write them."""
    columns = {name: _readable(column) for name, column in data["columns"].items()}
    shown = {**data, "columns": columns}
    return yaml.dump(shown, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def _readable(column: dict[str, Any]) -> dict[str, Any]:
    shown, value = dict(column), date.fromisoformat if column["kind"] == "date" else _leave_unchanged
    if "hierarchy" in column:
        shown["hierarchy"] = {value(row[0]): row[1:] for row in column["hierarchy"]}
    if "labels" in column:
        shown["labels"] = dict(column["labels"])
    if "bounds" in column:
        shown["bounds"] = [value(end) for end in column["bounds"]]
    return shown


def _leave_unchanged(value: Any) -> Any:
    return value


def text_and_file(written: str | Path) -> tuple[str, Path | None]:
    """Return the YAML text that `written` is or names, and the file in which it stands, if it does in one."""
    if isinstance(written, str) and ("\n" in written or ": " in written):
        return written, None
    path = Path(written)
    try:
        return path.read_text(encoding="utf-8"), path
    except (OSError, ValueError):
        raise SchemaError(f"The schema file {str(path)!r} does not exist or cannot be read.") from None
