"""Options that mean the same in every command that has them, and records of options.

What each of them means is written down once, in `docs/reference/cli.md`; a test compares every command with that.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.data import Table
    from ziggurat.randomness import Source

OUT = "Where the result goes: "
PICTURE = "Also draw it in this .svg or .png file: "
_LARGEST_SEED = 2**32


def out_option(what: str) -> Any:
    """`--out`, with what is written there."""
    return typer.Option("--out", help=OUT + what)


def picture_option(what: str) -> Any:
    """`--picture`, with what is drawn there."""
    return typer.Option("--picture", help=PICTURE + what)


OutFile = Annotated[str, out_option("a .csv, .parquet, .xlsx, .dta or .sav file.")]
OutFolder = Annotated[str, out_option("a new folder.")]
Report = Annotated[str, typer.Option("--report", help="Also write a page with pictures to this .html file.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
Rehearse = Annotated[str, typer.Option("--rehearse", help="A seed: repeatable, and marked as not to be published.")]
OnlyQuote = Annotated[bool, typer.Option("--quote", help="Say what it would cost, and stop: nothing is paid or made.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else; errors, too.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]

Where = Annotated[
    str,
    typer.Option(
        "--ledger",
        envvar="ZIGGURAT_LEDGER",
        help="A file or postgresql://…; by default one file per user of this computer.",
    ),
]
GoOn = Annotated[str, typer.Option(help="Why it shall leave although the gate stops it; kept for ever.")]
TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A file, a name from 'ziggurat data list', clinic (invented), postgresql://… with --table, spark:/folder.",
    ),
]
SchemaFile = Annotated[str, typer.Option("--schema", help="The schema; by default the .yaml file beside the table.")]
InDatabase = Annotated[str, typer.Option("--table", help="The table, when TABLE is the address of a database.")]
Unreadable = Annotated[
    str,
    typer.Option(help="The share of a column's cells that may be unreadable and count as missing, such as 0.01."),
]


@dataclass(frozen=True)
class TableOptions:
    """How a table is to be opened."""

    schema: SchemaFile = ""
    table: InDatabase = ""
    unreadable: Unreadable = "0"

    def open(self, data: str) -> Table:
        """Open it whole."""
        from ziggurat.cli._tables import open_table

        return open_table(data, self.schema, self.table, self.unreadable)


@dataclass(frozen=True)
class ReadingOptions:
    """How a file holds its table and writes its cells, where that is not found out rightly."""

    sheet: Annotated[str, typer.Option(help="The sheet of a workbook, by name or number.")] = ""
    encoding: Annotated[str, typer.Option(help="Of a text file, such as cp1252 or utf-16.")] = ""
    delimiter: Annotated[str, typer.Option(help="What separates cells: , ; | or tab.")] = ""
    quote_mark: Annotated[str, typer.Option(help="What stands around cells: \" or ' or none.")] = ""
    header: Annotated[str, typer.Option(help="none if the first line is data, first if it is the header.")] = ""
    names: Annotated[str, typer.Option(help="The names of all columns, with commas, in place of the header's.")] = ""
    skip: Annotated[int, typer.Option(help="How many lines stand above the header.", min=-1)] = -1
    skip_last: Annotated[int, typer.Option(help="How many lines stand below the data, such as totals.", min=0)] = 0
    decimal: Annotated[str, typer.Option(help="What begins the fraction of a number: . or ,")] = ""
    thousands: Annotated[str, typer.Option(help="What groups digits: . , ' or blank, or none.")] = ""
    date_format: Annotated[str, typer.Option(help="How dates are written, such as DD.MM.YYYY or %m/%d/%Y.")] = ""
    missing: Annotated[str, typer.Option(help="Texts for a missing value, with commas, such as -,?,k.A.")] = ""

    def keywords(self) -> dict[str, Any]:
        """What was told, as `ziggurat.read` takes it."""
        told: dict[str, Any] = {
            "sheet": self.sheet,
            "encoding": self.encoding,
            "delimiter": {"tab": "\t", "\\t": "\t"}.get(self.delimiter, self.delimiter),
            "names": tuple(name.strip() for name in self.names.split(",")) if self.names else (),
            "skip_last": self.skip_last,
            "decimal": self.decimal,
            "date_format": self.date_format,
            "missing": tuple(mark.strip() for mark in self.missing.split(",")) if self.missing else (),
        }
        told["quote"] = {"": None, "none": ""}.get(self.quote_mark, self.quote_mark)
        told["skip"] = None if self.skip < 0 else self.skip
        told["thousands"] = {"": None, "none": "", "blank": " "}.get(self.thousands, self.thousands)
        if self.header not in ("", "none", "first"):
            raise ParameterError("--header must be 'none' or 'first'.")
        told["header"] = {"": None, "none": False, "first": True}[self.header]
        return told


def rehearsal_source(rehearse: str) -> Source:
    """Secure randomness, or seeded for a rehearsal."""
    from ziggurat.randomness import secure, seeded

    return seeded(rehearse) if rehearse else secure()


def rehearsal_seed(rehearse: str) -> int | None:
    """The seed of a rehearsal for what takes whole numbers: the number itself, or one made of the text."""
    if not rehearse:
        return None
    if rehearse.isdecimal() and int(rehearse) < _LARGEST_SEED:
        return int(rehearse)
    return int.from_bytes(hashlib.sha256(rehearse.encode()).digest()[:4])


def require_payer(budget: str, analyst: str) -> None:
    """Refuse what is paid for if nobody pays; a server knows both by the table and by the key."""
    if not (budget and analyst):
        raise ParameterError("A guarantee is paid for: name --budget and --analyst.")


def with_records(command: Callable[..., None]) -> Callable[..., None]:
    """Let the command line see the fields of the records that a command takes, each as an option of its own."""
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in records:
            shown += _field_parameters(hints[name])
        else:
            shown.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def call(**given: Any) -> None:
        made = {
            name: kind(**{each.name: given.pop(each.name) for each in fields(kind) if each.name in given})
            for name, kind in records.items()
        }
        command(**given, **made)

    call.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in shown}
    return call


def _field_parameters(record: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(record)
    ]
