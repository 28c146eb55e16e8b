"""Labels of teachers that a server has: queries are sent there, and paid labels come back as the same file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from ziggurat.cli._outputs import end_with_quote, print_json
from ziggurat.cli.server import descriptions, open_server, refuse_local
from ziggurat.cli.terminal import show_status


def label_on(
    url: str, teachers: str, queries: str, asked: Mapping[str, Any], out: str, *, quote: bool, as_json: bool
) -> None:
    """Let teachers of a server label the rows of a table of this machine, or say what that would cost."""
    from ziggurat.release import Labelled

    refuse_local("teachers", "queries", "out", "aggregator", "most_answers", "quote_only")
    with open_server(url) as server, show_status("Asking the teachers …"):
        facts = server.model(teachers)["facts"]
        rows = descriptions.read_rows(queries, facts["columns"])
        if quote:
            quoted = server.quote_labels(teachers, rows, **asked)
            end_with_quote(quoted.sentence, quoted.to_dict(), fits=quoted.fits, as_json=as_json)
        made = server.label(teachers, rows, **asked)
    Labelled.from_dict(made.labelled).save(out)
    named = [facts["classes"][each] for each in made.labels if each is not None]
    counts = {str(each): named.count(each) for each in facts["classes"]}
    if as_json:
        print_json({"out": out, "replayed": made.replayed, "answered": made.answered, "labels": counts,
                    "rehearsal": made.rehearsal, "certificate": made.certificate})  # fmt: skip
        return
    again = "They were labelled before: nothing was spent. " if made.replayed else ""
    typer.echo(f"{again}{made.answered:,} of {made.queries:,} queries answered:")
    for name, count in counts.items():
        typer.echo(f"  {name}: {count:,}")
    typer.echo(made.sentence)
    if made.rehearsal:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    typer.echo(f"The labels are in {out!r}.")
