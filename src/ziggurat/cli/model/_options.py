"""What the commands of `ziggurat model` share: arguments, and options that become parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.privacy import Neighbours

MODEL, PROMISE = "model.npz", "promise.json"

TableSource = Annotated[
    str,
    typer.Argument(
        metavar="TABLE", help="A CSV, Parquet or Arrow file, a public dataset, or the invented table clinic."
    ),
]
Epsilon = Annotated[str, typer.Option(help="What fitting may cost, exact: 0.5 or 1/3.")]
Budget = Annotated[str, typer.Option(help="The budget in the ledger that protects the people in the table.")]
Analyst = Annotated[str, typer.Option(help="Who pays.")]
Delta = Annotated[str, typer.Option(help="The failure probability; 0 where the model can do without.")]
Columns = Annotated[list[str] | None, typer.Option(help="A column to learn from, once for each; else all.")]
SchemaFile = Annotated[str, typer.Option(help="The schema; by default the .yaml file beside the table.")]
OnlyQuote = Annotated[bool, typer.Option("--quote", help="Only say what it would cost.")]
Rehearse = Annotated[int | None, typer.Option(help="A whole number: repeatable, and marked as a rehearsal.")]


def fewest(whom: Neighbours) -> int:
    """How many rows a table must have: none where one more or less must not show."""
    return 1 if whom.relation == "replace-one" else 0


def options_in(given: Sequence[str] | None) -> dict[str, Any]:
    """Read options that are written as alpha=0.1."""
    found = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(f"{text!r} must be written as name=value, for instance --option alpha=0.1.")
        found[key] = _read(value)
    return found


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
