"""What the commands of `ziggurat model` share: arguments, and options that become parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ziggurat.cli._options import (
    AsJson,
    OnlyQuote,
    OutFolder,
    Rehearse,
    SchemaFile,
    Unreadable,
    Where,
    rehearsal_seed,
    require_payer,
)
from ziggurat.cli._outputs import end_with_quote
from ziggurat.cli._tables import Located, find_table
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.learn import PrivateModel
    from ziggurat.ledger import Ledger
    from ziggurat.privacy import Neighbours

MODEL, PROMISE = "model.npz", "promise.json"

Epsilon = Annotated[str, typer.Option(help="What fitting may cost, exact: 0.5 or 1/3.")]
Budget = Annotated[
    str, typer.Option(help="The budget in the ledger that protects the people in the table; on a server the table's.")
]
Analyst = Annotated[str, typer.Option(help="Who pays; on a server by default whose key it is.")]
Delta = Annotated[str, typer.Option(help="The failure probability; 0 where the model can do without.")]
Columns = Annotated[list[str] | None, typer.Option(help="A column to learn from, once for each; else all.")]


@dataclass(frozen=True)
class FitOptions:
    """Who pays for which model of which columns, and how it is fitted."""

    epsilon: Epsilon
    out: OutFolder
    budget: Budget = ""
    analyst: Analyst = ""
    delta: Delta = "1e-6"
    column: Columns = None
    schema: SchemaFile = ""
    unreadable: Unreadable = "0"
    quote: OnlyQuote = False
    ledger: Where = ""
    rehearse: Rehearse = ""
    as_json: AsJson = False

    @property
    def seed(self) -> int | None:
        """The seed of a rehearsal."""
        return rehearsal_seed(self.rehearse)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to learn from."""
        return tuple(self.column or ())

    def find(self, data: str) -> Located:
        """Find the table, which is not opened, once it is clear who pays."""
        require_payer(self.budget, self.analyst)
        return find_table(data, self.schema, unreadable=self.unreadable)

    def end_with_price(
        self, model: PrivateModel, rows: int, columns: int, book: Ledger, label: str = "", holdout: float = 0
    ) -> NoReturn:
        """Say what a fit would cost, and stop."""
        from ziggurat.release import ModelPlan, Purse

        purse = Purse(book, self.budget, self.analyst)
        quoted = purse.quote(ModelPlan.by_shape(model, rows, columns, purse=purse, label=label, holdout=holdout))
        end_with_quote(quoted.sentence, quoted.to_dict(), fits=quoted.fits, as_json=self.as_json)


def count_needed(whom: Neighbours) -> int:
    """How many rows a table must have: none where one more or less must not show."""
    return 1 if whom.relation == "replace-one" else 0


def read_options(given: Sequence[str] | None) -> dict[str, Any]:
    """Read options that are written as alpha=0.1."""
    found = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(f"{text!r} must be written as name=value, for instance --option alpha=0.1.")
        found[key] = _read_value(value)
    return found


def _read_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
