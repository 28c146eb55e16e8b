"""Attack a model on a server: it is made a release that nothing bounds, and measured without leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ziggurat.cli._outputs import print_json
from ziggurat.cli.server import descriptions, jobs, open_server, refuse_local
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.cli.attack._command import AttackOptions

_SAID = ("model", "members", "others", "label", "random_split", "shadows", "sensitive", "questions", "seed")
_STOPPED = 5


def attack_on(url: str, model: str, given: AttackOptions, *, as_json: bool) -> None:
    """Send a model, and have it attacked with the people of a table of the server."""
    refuse_local(*_SAID)
    if not (model and given.label):
        raise ParameterError("On a server name the MODEL, a .skops file, and the --label that it predicts.")
    with open_server(url) as server:
        descriptions.find_declared(server, given.members)
        release: dict[str, Any] = {
            "kind": "foreign model", "model": descriptions.send_file(server, model), "label": given.label,
            "others": descriptions.send_if_file(server, given.others), "scaled": False,
            "random_split": given.random_split, "sensitive": given.sensitive, "shadows": given.shadows,
            "questions": given.questions,
        }  # fmt: skip
        seed = "" if given.seed is None else str(given.seed)
        found = jobs.try_described(server, descriptions.make_description(given.members, release, rehearse=seed))
    print_json(found.facts) if as_json else typer.echo("\n".join(found.sentences))
    if not found.fits:
        raise typer.Exit(_STOPPED)
