"""Mask a table of a server: by a plan, by Safe Harbor's list, or by options for single columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli.server import descriptions, jobs, open_server, refuse_local
from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ziggurat.cli.mask._options import ColumnChoices
    from ziggurat.client import Server

_SAID = (
    "data", "out", "plan", "safe_harbor", "text", "names", "names_in", "countries", "exact_names", "codes", "drop",
    "keep", "go_on",
)  # fmt: skip
_FILES = ("secret", "names")


def mask_on(
    url: str, data: str, out: str, plan: str, by_rule: bool, wanted: ColumnChoices, *, go_on: str, force: bool
) -> jobs.LeftServer:
    """Mask a table on a server, fetch the bundle, and take the table out of it."""
    refuse_local(*_SAID)
    if by_rule and wanted.given:
        raise ParameterError("On a server --safe-harbor decides about all columns; name others in a --plan.")
    with open_server(url) as server:
        schema = descriptions.find_declared(server, data)
        release: dict[str, Any] = {"kind": "masked table", "out": descriptions.table_file(out), "safe_harbor": by_rule}
        if not by_rule:
            lists = [descriptions.send_file(server, each) for each in wanted.names or ()]
            release["techniques"] = wanted.add_words(_read_plan(server, plan), schema, lists)
        said = descriptions.make_description(data, release)
        left = jobs.run_described(server, said, jobs.bundle_beside(out), go_on, force=force)
    left.take({release["out"]: out}, force=force)
    return left


def _read_plan(server: Server, file: str) -> dict[str, Any]:
    """Read a plan, and send the secrets and lists of names that lie beside it."""
    from ziggurat.located_yaml import loaded

    if not file:
        return {}
    try:
        said = loaded(Path(file).read_text(encoding="utf-8"), file, DataError)[0]
    except (OSError, UnicodeDecodeError):
        raise DataError(f"The plan {file!r} does not exist or cannot be read.") from None
    if not isinstance(said, dict):
        raise DataError(f"{file}: a plan names columns and their techniques, such as 'name: drop'.")
    return {str(name): _send_files(server, each, Path(file).parent) for name, each in said.items()}


def _send_files(server: Server, said: Any, folder: Path) -> Any:
    if isinstance(said, list):
        return [_send_files(server, each, folder) for each in said]
    if not isinstance(said, dict):
        return said
    return {name: _send_named(server, name, each, folder) for name, each in said.items()}


def _send_named(server: Server, name: str, said: Any, folder: Path) -> Any:
    if name not in _FILES or not isinstance(said, dict) or "file" not in said:
        return said
    several = said["file"] if isinstance(said["file"], list) else [said["file"]]
    sent = [descriptions.send_file(server, folder / str(each)) for each in several]
    return {"file": sent if isinstance(said["file"], list) else sent[0]}
