"""Draw copies of a table of a server, or sequences from it: the same options, as a release of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli.server import descriptions, jobs, open_server, refuse_local
from ziggurat.cli.synthesize._sequences import read_request, require_counts

if TYPE_CHECKING:
    from ziggurat.cli.synthesize._options import SynthesisOptions
    from ziggurat.data import Schema

_HERE = ("save", "learned", "checkpoint", "resume", "scenario", "schema", "table", "unreadable", "ledger", "budget")
"""What means something on this machine alone."""
_SEQUENCE = ("sequence", "token", "order", "label", "longest", "sequences_per_unit", "sizes")


def synthesize_on(given: SynthesisOptions) -> jobs.LeftServer:
    """Draw on a server, fetch the bundle, and take the files out of it; with --quote say what it costs, and stop."""
    refuse_local(*(name for name in vars(given) if name not in _HERE))
    with open_server(given.server) as server:
        schema = descriptions.find_declared(server, given.data)
        describe = _describe_sequences if given.sequences else _describe_copies
        asked = {"note": given.note, "analyst": given.analyst, "rehearse": given.rehearse}
        said = descriptions.make_description(given.data, describe(given, schema), **asked)
        if given.quote:
            jobs.price_described(server, said, as_json=given.as_json)
        bundle = jobs.bundle_beside(given.out)
        left = jobs.run_described(server, said, bundle, given.go_on, force=given.force)
    left.take({Path(each).name: each for each in given.files}, force=given.force)
    return left


def _describe_copies(given: SynthesisOptions, schema: Schema) -> dict[str, Any]:
    options = given.private_learning(schema) if given.private else given.learning(schema)
    return {
        "kind": "synthetic table", "out": descriptions.table_file(given.out), "method": given.method,
        "epsilon": given.epsilon, "delta": given.delta, "copies": given.copies, "rows": given.rows,
        "holdout": descriptions.read_share(given.holdout), **given.attacked(schema),
        "leave_out": given.left_out(schema), "options": options,
    }  # fmt: skip


def _describe_sequences(given: SynthesisOptions, schema: Schema) -> dict[str, Any]:
    require_counts(given, schema)
    asked = read_request(given)
    return {
        "kind": "sequences", "out": descriptions.table_file(given.out), "method": given.method,
        "epsilon": given.epsilon, "delta": given.delta, **{name: getattr(asked, name) for name in _SEQUENCE},
        "count": given.count, "holdout": descriptions.read_share(given.holdout), "canaries": given.canaries,
        "options": descriptions.leave_out_nothing({"expected_rows": given.expected_rows}),
    }  # fmt: skip
