"""Schemas on disk: YAML with line numbers, read by the rules of YAML 1.2.

PyYAML reads by YAML 1.1, in which the category NO is false, 012 is ten and 1e5 is text. Here only `true` and
`false` are booleans, a number with leading zeros (a postcode) is text, and an exponent makes a real number.
"""

import re
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from ziggurat.data._schema_dict import Locate
from ziggurat.errors import SchemaError

_WHOLE = r"[-+]?(?:0|[1-9][0-9]*)"
_REAL = (
    r"[-+]?(?:(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?:0|[1-9][0-9]*)[eE][-+]?[0-9]+)"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_RESOLVERS = (
    ("tag:yaml.org,2002:bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("tag:yaml.org,2002:float", _REAL, "-+0123456789."),
    ("tag:yaml.org,2002:int", _WHOLE, "-+0123456789"),
    ("tag:yaml.org,2002:null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:timestamp", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "0123456789"),
)


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  (PyYAML's own way to drop the 1.1 rules)

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):
    """Quotes whatever either version of YAML would read as something other than text."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _quoted(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # PyYAML folds the rarer line breaks unless the text stands in double quotes.
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _quoted)
for _tag, _pattern, _first in _RESOLVERS:
    _Loader.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), list(_first))
    _Dumper.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), list(_first))


def dumped(data: dict[str, Any]) -> str:
    """Return the plain form of a schema as YAML text; dates and hierarchies as people write them."""
    columns = {name: _readable(column) for name, column in data["columns"].items()}
    shown = {**data, "columns": columns}
    return yaml.dump(shown, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def _readable(column: dict[str, Any]) -> dict[str, Any]:
    shown = dict(column)
    if "hierarchy" in column:
        shown["hierarchy"] = {row[0]: row[1:] for row in column["hierarchy"]}
    if column["kind"] == "date" and "bounds" in column:
        shown["bounds"] = [date.fromisoformat(end) for end in column["bounds"]]
    return shown


def text_and_name(source: str | Path) -> tuple[str, str]:
    """Return the YAML text that `source` is or names, and the name to use for it in errors."""
    if isinstance(source, str) and ("\n" in source or ": " in source):
        return source, "schema"
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except (OSError, ValueError):
        raise SchemaError(f"The schema file {str(path)!r} does not exist or cannot be read.") from None


def loaded(text: str, file: str) -> tuple[Any, Locate]:
    """Return what the YAML says, and a function that turns a path of keys into "file, line n: "."""
    lines: dict[tuple[str, ...], int] = {}

    def locate(path: tuple[str, ...]) -> str:
        while path and path not in lines:
            path = path[:-1]
        return f"{file}, line {lines[path]}: " if path in lines else f"{file}: "

    return _composed(text, file, lines), locate


def _composed(text: str, file: str, lines: dict[tuple[str, ...], int]) -> Any:
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        return None if node is None else _value(loader, node, (), lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise SchemaError(f"{file}{line}: this is not valid YAML ({error.problem}).") from None
    except yaml.YAMLError:
        raise SchemaError(f"{file}: this is not valid YAML.") from None
    except RecursionError:
        raise SchemaError(f"{file}: the YAML is nested too deeply.") from None


def _value(loader: _Loader, node: yaml.Node, path: tuple[str, ...], lines: dict[tuple[str, ...], int]) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _pairs(loader, node, path, lines)
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, child, (*path, str(index)), lines) for index, child in enumerate(node.value)]
    return _scalar(loader, node)


def _scalar(loader: _Loader, node: yaml.Node) -> Any:
    try:
        return loader.construct_object(node)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # PyYAML's, for "!!int x" and such
        problem = yaml.MarkedYAMLError(problem="a value is not what it looks like", problem_mark=node.start_mark)
    raise problem


def _pairs(
    loader: _Loader, node: yaml.MappingNode, path: tuple[str, ...], lines: dict[tuple[str, ...], int]
) -> dict[Any, Any]:
    pairs: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a name must be plain text", problem_mark=key_node.start_mark)
        key = _scalar(loader, key_node)
        if key in pairs:
            raise yaml.MarkedYAMLError(problem=f"{key!r} is given twice", problem_mark=key_node.start_mark)
        lines[(*path, str(key))] = key_node.start_mark.line + 1
        pairs[key] = _value(loader, value_node, (*path, str(key)), lines)
    return pairs
