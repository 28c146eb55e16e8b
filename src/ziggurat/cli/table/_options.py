"""How the options of `ziggurat table reshape` become what is asked of a person's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.data import Schema
    from ziggurat.data.people import PersonAggregate

Named = list[str] | None
# The options that compute something of one column, and what they compute.
_OF_COLUMN = {
    "sum": "sum",
    "mean": "mean",
    "min": "min",
    "max": "max",
    "latest_of": "latest",
    "first_of": "first",
    "mode": "mode",
    "distinct": "distinct",
    "any": "any",
    "all": "all",
}


def _column_option(what: str, flag: str = "") -> Any:
    names = [flag] if flag else []
    return typer.Option(*names, metavar="[NAME=]COLUMN", help=f"Also {what}.")


@dataclass(frozen=True)
class ReshapeOptions:
    """What becomes of the rows of a person."""

    latest: Annotated[str, typer.Option(help="Keep the latest row of each person by this date or number.")] = ""
    first: Annotated[str, typer.Option(help="Keep the first row of each person by this date or number.")] = ""
    columns: Annotated[str, typer.Option(help="Which columns of the row that is kept; by default all.")] = ""
    most: Annotated[
        int | None, typer.Option(help="How many rows of one person count in numbers of rows and in sums.", min=1)
    ] = None
    count: Annotated[
        Named, typer.Option(metavar="NAME[=COLUMN]", help="Also how many rows, or filled cells of a column.")
    ] = None
    count_where: Annotated[
        Named, typer.Option(metavar="[NAME=]COLUMN=VALUE", help="Also how many cells hold this value.")
    ] = None
    sum: Annotated[Named, _column_option("the sum")] = None
    mean: Annotated[Named, _column_option("the mean")] = None
    min: Annotated[Named, _column_option("the smallest value")] = None
    max: Annotated[Named, _column_option("the largest value")] = None
    latest_of: Annotated[Named, _column_option("the latest value that is not missing")] = None
    first_of: Annotated[Named, _column_option("the first value that is not missing")] = None
    mode: Annotated[Named, _column_option("the most frequent value")] = None
    distinct: Annotated[Named, _column_option("how many different values")] = None
    any: Annotated[Named, _column_option("whether any is true", "--any")] = None
    all: Annotated[Named, _column_option("whether all are true", "--all")] = None
    by: Annotated[str, typer.Option(help="With --latest-of and --first-of: the order, where no row is kept.")] = ""

    def request(self, schema: Schema) -> dict[str, Any]:
        """What `reshape_people` is asked, about a table of this schema."""
        if sum(map(bool, (self.latest, self.first, self.by))) > 1:
            raise ParameterError("Give one of --latest, --first and --by.")
        keep = "latest" if self.latest else "first" if self.first else None
        by = _split(self.latest or self.first or self.by, schema)
        chosen = _split(self.columns, schema) if self.columns else None
        if chosen is not None and keep is None:
            raise ParameterError("--columns goes with --latest or --first, which keep a row.")
        return {"keep": keep, "by": by, "columns": chosen, "most": self.most, "aggregates": self._aggregates(schema)}

    def _aggregates(self, schema: Schema) -> dict[str, PersonAggregate]:
        found = [_count_rows(each) for each in self.count or ()]
        found += [_count_values(each, schema) for each in self.count_where or ()]
        for option, what in _OF_COLUMN.items():
            found += [_of_column(each, what, schema) for each in _flatten(getattr(self, option), schema)]
        made = dict(found)
        if len(made) < len(found):
            raise ParameterError("Two new columns have one name; name them: --sum total=cost.")
        return made


def _split(text: str, schema: Schema) -> tuple[str, ...]:
    """Names of columns with commas between them, unless the whole is one name."""
    return (text,) if text in schema else tuple(each.strip() for each in text.split(",") if each.strip())


def _flatten(given: Sequence[str] | None, schema: Schema) -> list[str]:
    return [each for text in given or () for each in _split(text, schema)]


def _count_rows(text: str) -> tuple[str, PersonAggregate]:
    from ziggurat.data.people import PersonAggregate

    name, _, column = text.partition("=")
    return name.strip(), PersonAggregate("count", column.strip())


def _count_values(text: str, schema: Schema) -> tuple[str, PersonAggregate]:
    from ziggurat.data.people import PersonAggregate

    first, equals, rest = text.partition("=")
    column, value = (first, rest) if first.strip() in schema else rest.partition("=")[::2]
    if not (equals and column.strip() and value.strip()):
        raise ParameterError(f"{text!r} must be written as column=value, for instance --count-where diagnosis=flu.")
    column, value = column.strip(), value.strip()
    name = f"{column}_{value}" if first.strip() in schema else first.strip()
    return name, PersonAggregate("count", column, value)


def _of_column(text: str, what: str, schema: Schema) -> tuple[str, PersonAggregate]:
    from ziggurat.data.people import PersonAggregate

    name, equals, column = ("", "", text) if text in schema else text.rpartition("=")
    return (name.strip() if equals else f"{column.strip()}_{what}"), PersonAggregate(what, column.strip())
