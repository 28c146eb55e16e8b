"""How the options of `ziggurat pate` become models and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli.terminal import show_bar
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.data import Unit

Model = Annotated[
    str,
    typer.Option(help="mlp:512,128, logistic-regression, decision-tree, random-forest or gradient-boosting."),
]
Aggregation = Annotated[
    str,
    typer.Option("--aggregator", help="gumbel:0.05, laplace:0.05, gaussian:40, or confident:200,150,40."),
]
Delta = Annotated[str, typer.Option(help="State the epsilon at this failure probability; by default at the paid one.")]
Split = Annotated[
    str,
    typer.Option(help="hashed: by a keyed hash of the person; balanced: evenly, which replace-one budgets alone pay."),
]
Organisation = Annotated[str, typer.Option(help="hospital=5: also state the promise to one that owns five teachers.")]
MostAnswers = Annotated[int | None, typer.Option(help="Answer at most so many queries; with 'confident'.", min=1)]
Epochs = Annotated[int, typer.Option(help="Of networks: how often each row is seen.", min=1)]
Batch = Annotated[int, typer.Option(help="Of networks: how many rows make a step.", min=1)]


def make_model(text: str, width: int, classes: int) -> Any:
    """Read the name of a scikit-learn classifier, or mlp:512,128 for a network with these hidden layers."""
    name, _, layers = text.partition(":")
    if name == "mlp":
        from ziggurat.pate import MLP

        return MLP(width, _read_widths(layers), 1 if classes == 2 else classes)
    if layers:
        raise ParameterError("Only mlp takes widths of layers, as mlp:512,128.")
    from ziggurat.experiments.steps.records import make_classifier

    return make_classifier(name, {}, seed=0)


def _read_widths(text: str) -> tuple[int, ...]:
    widths = text.split(",") if text else ["512", "128"]
    if not all(each.strip().isdecimal() and int(each) for each in widths):
        raise ParameterError("Write the widths of the hidden layers as mlp:512,128.")
    return tuple(int(each) for each in widths)


def read_unit(text: str) -> tuple[Unit | None, int]:
    """Read hospital=5: the unit is a hospital, which owns five teachers."""
    from ziggurat.data import Unit

    if not text:
        return None, 1
    name, _, owned = text.partition("=")
    if not name or not owned.isdecimal() or int(owned) < 1:
        raise ParameterError("Write who owns how many teachers as --organisation hospital=5.")
    return Unit.of(name, name), int(owned)


@contextmanager
def follow(words: str) -> Iterator[Callable[[int, int], None]]:
    """Give what shows progress as a bar, where somebody looks."""
    with show_bar(words) as update:
        yield lambda done, total: None if update is None else update(None, done, total)
