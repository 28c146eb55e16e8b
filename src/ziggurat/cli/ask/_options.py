"""What `ziggurat ask` and `ziggurat quote` are given: whose question, about which tables, on which terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import InDatabase, Rehearse, SchemaFile, Where
from ziggurat.cli._tables import find_private, find_table, split_pair
from ziggurat.cli.server import OnServer
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.cli.ask._asking import Asker
    from ziggurat.release import TermOptions

Several = list[str] | None


@dataclass(frozen=True)
class QuestionOptions:
    """The options that both commands take."""

    analyst: Annotated[str, typer.Option(help="Who asks and pays.")] = ""
    epsilon: Annotated[str, typer.Option(help="What the question may cost, exact: 0.2 or 1/3.")] = ""
    delta: Annotated[str, typer.Option(help="Needed for Gaussian noise and for groups whose names are not public.")] = (
        "0"
    )
    ledger: Where = ""
    budget: Annotated[str, typer.Option(help="The budget that pays; by default the one named as the table.")] = ""
    schema: SchemaFile = ""
    table: InDatabase = ""
    name: Annotated[str, typer.Option(help="What the question calls the table.")] = ""
    rows_per_unit: Annotated[int | None, typer.Option(help="How many rows of one person count, in each group.")] = None
    groups_per_unit: Annotated[int | None, typer.Option(help="In how many groups one person counts.")] = None
    share: Annotated[Several, typer.Option(help="name=0.3: which part of the cost a column of the answer gets.")] = None
    learn: Annotated[Several, typer.Option(help="A column whose bounds are learned, out of the same epsilon.")] = None
    bounds: Annotated[Several, typer.Option(help="column=0:100000: cells outside count as the bound.")] = None
    bounding: Annotated[str, typer.Option(help="Rows beyond the limit: weigh (each in part) or lot (some by lot).")] = (
        "weigh"
    )
    noise: Annotated[str, typer.Option(help="laplace, or gaussian for people in many groups.")] = "laplace"
    effects: Annotated[
        str, typer.Option(help="Which part of the cost estimates errors that are not noise; 0 for none.")
    ] = "0.1"
    confidence: Annotated[str, typer.Option(help="How sure the intervals are.")] = "0.95"
    public: Annotated[Several, typer.Option(help="name=file: a table that is no secret, for joins.")] = None
    private: Annotated[Several, typer.Option(help="name=file[:schema]: a second private table.")] = None
    rehearse: Rehearse = ""
    server: OnServer = ""
    sweep: Annotated[str, typer.Option(help="Ask at each of these epsilons, and pay for each: 0.01,0.1,1.")] = ""

    @property
    def amounts(self) -> list[str]:
        """The epsilons to ask at: one, or those of a sweep."""
        if bool(self.epsilon) == bool(self.sweep):
            raise ParameterError("Give --epsilon, or --sweep with several epsilons, and not both.")
        return [each.strip() for each in self.sweep.split(",")] if self.sweep else [self.epsilon]

    @property
    def terms(self) -> TermOptions:
        """The terms as the session takes them."""
        stated = [split_pair(each, "--bounds income=0:100000") for each in self.bounds or ()]
        bounding: Any = self.bounding
        noise: Any = self.noise
        return {
            "rows_per_unit": self.rows_per_unit,
            "groups_per_unit": self.groups_per_unit,
            "shares": dict(split_pair(each, "--share n=0.3") for each in self.share or ()),
            "learn": tuple(self.learn or ()),
            "bounds": {column: _read_ends(column, ends) for column, ends in stated},
            "bounding": bounding,
            "noise": noise,
            "effects": self.effects,
            "confidence": self.confidence,
        }

    def asker(self, data: str, unreadable: str = "0") -> Asker:
        """Find the tables, none of which is opened, and check what can be checked before."""
        from ziggurat.cli.ask._asking import Asker

        first = find_table(data, self.schema, self.table, self.name, unreadable)
        tables = (first, *find_private(self.private or (), unreadable))
        asker = Asker(tables, tuple(self.public or ()), self.analyst, self.ledger, self.budget, self.rehearse)
        asker.require_payer()
        return asker


def _read_ends(column: str, text: str) -> tuple[Any, Any]:
    lower, colon, upper = text.partition(":")
    if not colon:
        raise ParameterError(f"The bounds of {column!r} are written as lower:upper, for instance 0:100000.")
    return _read_value(column, lower), _read_value(column, upper)


def _read_value(column: str, text: str) -> int | float | date:
    kinds: Sequence[Any] = (int, float, date.fromisoformat)
    for kind in kinds:
        try:
            read: int | float | date = kind(text)
        except ValueError:
            continue
        return read
    raise ParameterError(f"A bound of {column!r} must be a number or a date such as 2024-01-31.")
