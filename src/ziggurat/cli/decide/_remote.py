"""Decide on epsilon on a server: the same words, answered by the version that will make the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from ziggurat.cli._outputs import print_json
from ziggurat.cli.server import descriptions, open_server, refuse_local
from ziggurat.errors import PrivacyError

if TYPE_CHECKING:
    from ziggurat.privacy import CostModel, Money, Stakeholders


def decide_on(url: str, said: Mapping[str, Any], cost: CostModel | None, *, as_json: bool) -> None:
    """Ask a server, and print what it answers; raises why nothing meets what is wanted."""
    refuse_local(*said, "people", "compensation", "least", "group")
    groups = [] if cost is None else [_describe_group(each) for each in cost.groups]
    with open_server(url) as server:
        told = server.decide(descriptions.leave_out_nothing({**said, "groups": groups}))
    why = PrivacyError(told["refused"]) if told["refused"] else None
    if as_json:
        print_json(told | ({} if why is None else why.to_dict()))
        raise typer.Exit(0 if why is None else why.exit_code)
    _show(told)
    if why is not None:
        raise why


def _describe_group(each: Stakeholders) -> dict[str, Any]:
    said = {"name": each.name, "people": each.people, "compensation": _write(each.compensation)}
    return said | {"rate": str(each.rate)} | ({} if each.least is None else {"least": _write(each.least)})


def _write(money: Money) -> str:
    return f"{money.amount:f} {money.currency}"


def _show(told: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(header_style="dim", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "epsilon", "error", "at most", "loss within", "how often", "owed"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for each in told["candidates"]:
        owed = each["compensation"]
        shown.add_row(
            "✓" if each["meets"] else "", each["epsilon"], f"{each['expected_error']:.4g}",
            f"{each['error_within']:.4g}", each["loss_within"], f"{each['confidence']:.2%}",
            "" if owed is None else f"{owed['amount']} {owed['currency']}",
        )  # fmt: skip
    typer.echo(f"Sensitivity {told['sensitivity']}, {told['noise']}.")
    Console().print(shown)
    if told["recommended"]:
        typer.echo(f"Recommended: epsilon {told['recommended']}. {told['promise']}")
