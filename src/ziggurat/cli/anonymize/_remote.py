"""Anonymise a table of a server: the same options, as far as they mean something there, as a release of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli._tables import split_columns
from ziggurat.cli.server import descriptions, jobs, open_server, refuse_local

if TYPE_CHECKING:
    from ziggurat.anonymize import PrivacyModel
    from ziggurat.cli.anonymize._options import LeavingOptions, ModelOptions, SearchOptions
    from ziggurat.client import Server
    from ziggurat.data import Schema

_SAID = (
    "data", "out", "k", "l_diversity", "t_closeness", "missing_counts", "highest_risk", "average_risk", "qi",
    "suppress", "metric", "weight", "hierarchies", "recoding", "keep", "drop", "note", "go_on",
)  # fmt: skip


def anonymize_on(
    url: str, data: str, out: str, wanted: ModelOptions, searching: SearchOptions, leaving: LeavingOptions, *,
    force: bool,
) -> jobs.LeftServer:  # fmt: skip
    """Anonymise a table on a server, fetch the bundle, and take the table out of it."""
    refuse_local(*_SAID)
    with open_server(url) as server:
        schema = descriptions.find_declared(server, data)
        release = _describe(schema, wanted, searching, leaving) | {"out": descriptions.table_file(out)}
        release["hierarchies"] = [_send_tree(server, each, schema) for each in _tree_files(searching)]
        said = descriptions.make_description(data, release, note=leaving.note)
        left = jobs.run_described(server, said, jobs.bundle_beside(out), leaving.go_on, force=force)
    left.take({release["out"]: out}, force=force)
    return left


def _describe(
    schema: Schema, wanted: ModelOptions, searching: SearchOptions, leaving: LeavingOptions
) -> dict[str, Any]:
    from ziggurat.data import hierarchies_in

    models = wanted.models(None, hierarchies_in(searching.hierarchies or (), schema))
    kept = leaving.settings(schema)
    return {
        "kind": "anonymized table", "k": wanted.k, **_about_values(models), "highest_risk": wanted.highest_risk,
        "average_risk": wanted.average_risk, "quasi_identifiers": list(split_columns(schema, searching.qi) or ()),
        "keep": kept["keep"], "drop": list(kept["drop"]), "suppression": searching.suppress,
        "metric": searching.metric, "weights": searching.weights, "recoding": searching.recoding,
    }  # fmt: skip


def _about_values(models: Iterable[PrivacyModel]) -> dict[str, Any]:
    from ziggurat.anonymize import LDiversity, TCloseness

    said: dict[str, dict[str, Any]] = {"diversity": {}, "closeness": {}}
    for each in models:
        if isinstance(each, LDiversity):
            asked: dict[str, Any] = {"amount": each.l, "kind": each.kind, "c": each.c}
            said["diversity"][each.column] = asked | {"missing_is_a_value": each.missing_is_a_value}
        elif isinstance(each, TCloseness):
            near = {"amount": each.t, "distance": each.distance, "missing_is_a_value": each.missing_is_a_value}
            said["closeness"][each.column] = near
    return said


def _tree_files(searching: SearchOptions) -> list[Path]:
    found: list[Path] = []
    for place in map(Path, searching.hierarchies or ()):
        found += sorted(place.glob("*.[cCtT][sS][vV]")) if place.is_dir() else [place]
    return found


def _send_tree(server: Server, file: Path, schema: Schema) -> str:
    """Send a hierarchy, by the column that its file is named after, if there is one."""
    sent = descriptions.send_file(server, file)
    return f"{file.stem}={sent}" if file.stem in schema else sent
