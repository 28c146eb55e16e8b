"""Read a file that describes a release; what is wrong with it is said with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ziggurat.errors import DataError
from ziggurat.located_yaml import loaded
from ziggurat.release.config._models import FORMAT, ReleaseConfig
from ziggurat.wording import nearest

_LONGEST = 1 << 20


def read_config(file: str | Path) -> ReleaseConfig:
    """Read a release from YAML or JSON; `DataError` names the line and what to change."""
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise DataError(f"The file {str(file)!r} is longer than a description of a release can be.")
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"The file {str(file)!r} does not exist or cannot be read.") from None
    said, locate = loaded(text, str(file), DataError)
    if not isinstance(said, dict):
        raise DataError(f"{file}: a release is described by keys and values, such as 'format: {FORMAT}'.")
    try:
        return ReleaseConfig.model_validate(said)
    except ValidationError as error:
        raise DataError(explain_invalid(error, locate)) from None


def explain_invalid(error: ValidationError, locate: Callable[[tuple[str, ...]], str] = lambda _: "") -> str:
    """Say in a sentence what is wrong with a description first, without a value of it.

    Parameters
    ----------
    error
        What pydantic found.
    locate
        Where a path of keys stands, such as "answer.yaml, line 3: "; nothing where there is no file.
    """
    found = error.errors(include_url=False, include_input=False)
    # A key that nobody knows explains one that is missing.
    return _explain(min(found, key=lambda each: each["type"] != "extra_forbidden"), locate)


def _explain(error: Any, locate: Any) -> str:
    """The first thing that is wrong, in a sentence; pydantic names the kind of a union in the path, YAML does not."""
    path = tuple(str(each) for each in error["loc"])
    kinds = len(path) > 1 and path[0] == "release"
    keys = (path[0], *path[2:]) if kinds else path
    where = _where(locate, keys)
    named = ".".join(keys) or "the file"
    if error["type"] == "extra_forbidden":
        said = f"{where}there is no {keys[-1][:200]!r} here; {nearest(keys[-1], _known_keys(path))}"
        return said if where else said[:1].upper() + said[1:]
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return f"{where}'release' needs a 'kind', one of {error['ctx'].get('expected_tags', _tags())}."
    said = error["msg"].removeprefix("Value error, ").rstrip(".")
    return f"{where}{named[:200]!r}: {said[:1].lower()}{said[1:]}."


def _where(locate: Any, keys: tuple[str, ...]) -> str:
    """The line of the deepest key that stands in the file."""
    for length in range(len(keys), 0, -1):
        found: str = locate(keys[:length])
        if found:
            return found
    return ""


def _known_keys(path: tuple[str, ...]) -> list[str]:
    from ziggurat.release.config._kinds import KINDS

    if len(path) > 2 and path[0] == "release" and path[1] in KINDS:
        return list(KINDS[path[1]].model_fields)
    return [each.alias or name for name, each in ReleaseConfig.model_fields.items()]


def _tags() -> str:
    from ziggurat.release.config._kinds import KINDS

    return ", ".join(repr(each) for each in KINDS)
