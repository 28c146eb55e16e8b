"""YAML with line numbers, read by the rules of YAML 1.2, of which JSON is a part.

PyYAML reads by YAML 1.1, in which the category NO is false, 012 is ten and 1e5 is text. Here only `true` and
`false` are booleans, a number with leading zeros (a postcode) is text, and an exponent makes a real number.
"""

import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml.reader import ReaderError

from ziggurat.errors import ZigguratError

Path = tuple[str, ...]
Locate = Callable[[Path], str]

_WHOLE = r"[-+]?(?:0|[1-9][0-9]*)"
_REAL = (
    r"[-+]?(?:(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?:0|[1-9][0-9]*)[eE][-+]?[0-9]+)"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
RESOLVERS = (  # tag, pattern, first characters
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


for _tag, _pattern, _first in RESOLVERS:
    _Loader.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), list(_first))


def loaded(text: str, file: str, error: type[ZigguratError]) -> tuple[Any, Locate]:
    """Return what YAML or JSON text says, and a function that turns a path of keys into "file, line n: ".

    Parameters
    ----------
    text
        One document; a key given twice, an alias and a tab used as indentation are refused.
    file
        What to call it in errors.
    error
        The type to raise if the text cannot be read.
    """
    lines: dict[Path, int] = {}

    def locate(path: Path) -> str:
        while path and path not in lines:
            path = path[:-1]
        return f"{file}, line {lines[path]}: " if path in lines else f"{file}: "

    return _composed(text, file, lines, error), locate


def _composed(text: str, file: str, lines: dict[Path, int], error: type[ZigguratError]) -> Any:
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        return None if node is None else _value(loader, node, (), lines)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise error(f"{file}{line}: This is not valid YAML ({_said(problem)}).") from None
    except ReaderError as problem:
        line = f", line {text.count(chr(10), 0, problem.position) + 1}"
        raise error(f"{file}{line}: This is not valid YAML (a control character is not allowed).") from None
    except yaml.YAMLError:
        raise error(f"{file}: This is not valid YAML.") from None
    except RecursionError:
        raise error(f"{file}: The YAML is nested too deeply.") from None


def _said(problem: yaml.MarkedYAMLError) -> str:
    if "'\\t'" in str(problem.problem):
        return "a tab stands where only spaces are allowed; indent with spaces"
    return str(problem.problem or problem.context)


def _value(loader: _Loader, node: yaml.Node, path: Path, lines: dict[Path, int]) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _pairs(loader, node, path, lines)
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, child, (*path, str(index)), lines) for index, child in enumerate(node.value)]
    return _scalar(loader, node)


def _scalar(loader: _Loader, node: yaml.Node) -> Any:
    try:
        value = loader.construct_object(node)
        return _joined(value) if isinstance(value, str) else value
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # PyYAML's, for "!!int x" and such
        problem = yaml.MarkedYAMLError(problem="a value is not what it looks like", problem_mark=node.start_mark)
    raise problem


def _joined(text: str) -> str:
    """Join the halves in which JSON writes the rarer characters; a half alone is a ValueError."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _pairs(loader: _Loader, node: yaml.MappingNode, path: Path, lines: dict[Path, int]) -> dict[Any, Any]:
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
