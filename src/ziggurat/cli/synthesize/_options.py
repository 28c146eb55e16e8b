"""How the options of `ziggurat synthesize` become a synthesiser, a private model, and what attackers know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import (
    AsJson,
    Force,
    GoOn,
    InDatabase,
    OnlyQuote,
    Quiet,
    Rehearse,
    SchemaFile,
    TableArgument,
    Unreadable,
    Where,
    out_option,
    rehearsal_seed,
)
from ziggurat.cli._outputs import TABLES, check_file
from ziggurat.cli._tables import open_table, split_columns, table_name
from ziggurat.cli.server import OnServer
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import check_output

if TYPE_CHECKING:
    from ziggurat.attacks import Scenario
    from ziggurat.data import Schema, Table
    from ziggurat.synthesize import Synthesizer

Several = list[str] | None

PRIVATE = {"aim": "AIM", "mst": "MST"}
SEQUENCES = ("markov", "recurrent")
_METHODS = ("cart", "forest", "linear", "network", "sample", *PRIVATE, *SEQUENCES)
_ONLY_PRIVATE = ("epsilon", "delta", "bins", "workload", "rows_per_unit", "analyst")
_ONLY_PLAIN = (
    "methods",
    "partial",
    "columns",
    "rule",
    "order",
    "missing",
    "no_smoothing",
    "learned",
    "checkpoint",
    "resume",
    "scenario",
)
_ONLY_TABLES = ("bins", "workload", "rows_per_unit", "rows", "leave_out", "known", "secret")
_ONLY_SEQUENCES = (
    "sequence",
    "token",
    "label",
    "longest",
    "sequences_per_unit",
    "expected_rows",
    "count",
    "sizes",
    "canaries",
)
_LEARNING = ("method", "methods", "partial", "columns", "rule", "order", "leave_out", "missing", "no_smoothing")
_FLAGS = {"learned": "from"}


@dataclass(frozen=True)
class SynthesisOptions:
    """The options of the command, as they were given."""

    data: TableArgument
    out: Annotated[str, out_option("a .parquet, .csv or .xlsx file; several copies are NAME.1.parquet and so on.")]
    method: Annotated[
        str,
        typer.Option(
            help="cart, forest, linear, network or sample; with a guarantee, aim or mst, and of sequences markov or "
            "recurrent."
        ),
    ] = ""
    methods: Annotated[Several, typer.Option(help="income=forest,age=linear: other methods for some columns.")] = None
    copies: Annotated[int, typer.Option(help="How many copies, independent of each other.")] = 1
    rows: Annotated[int | None, typer.Option(help="How many rows each has; by default as many as the table.")] = None
    partial: Annotated[
        Several, typer.Option(help="income > 70000: draw only such rows anew, once for each condition.")
    ] = None
    columns: Annotated[Several, typer.Option(help="The columns drawn anew there; by default those it names.")] = None
    rule: Annotated[
        Several, typer.Option(help="What holds in every row: age < 18 -> marital = 'single', once for each.")
    ] = None
    order: Annotated[
        str,
        typer.Option(
            help="In which order columns are drawn: a,b,c or fewest-first or table. Of long sequences: the column that "
            "puts symbols in order."
        ),
    ] = ""
    leave_out: Annotated[Several, typer.Option(help="Columns that are not released.")] = None
    missing: Annotated[Several, typer.Option(help="income=-8: a code for missing numbers, once for each.")] = None
    no_smoothing: Annotated[bool, typer.Option("--no-smoothing", help="Let rare real numbers be copied.")] = False
    save: Annotated[str, typer.Option(help="Also keep what was learned in this file, for its owner's eyes.")] = ""
    learned: Annotated[str, typer.Option("--from", help="Learn nothing: draw from what --save kept.")] = ""
    checkpoint: Annotated[str, typer.Option(help="A folder that keeps each column as soon as it is learned.")] = ""
    resume: Annotated[bool, typer.Option("--resume", help="Take up what a stopped run left in --checkpoint.")] = False
    holdout: Annotated[
        str, typer.Option(help="The share of people kept back as a control for attacks, or a file of others.")
    ] = "0.1"
    known: Annotated[Several, typer.Option(help="The columns that attackers know; by default by the schema.")] = None
    secret: Annotated[Several, typer.Option(help="The columns they want to learn; by default by the schema.")] = None
    scenario: Annotated[str, typer.Option(help="With --partial: a YAML file of what an intruder knows of whom.")] = ""
    epsilon: Annotated[str, typer.Option(help="With a guarantee: what it may cost, exact: 0.5 or 1/3.")] = ""
    delta: Annotated[
        str, typer.Option(help="With a guarantee: the failure probability; by default 1e-9, with markov 0.")
    ] = ""
    bins: Annotated[int | None, typer.Option(help="With aim or mst: into how many cells numbers are cut.")] = None
    workload: Annotated[Several, typer.Option(help="With aim: age,income: sets whose counts matter.")] = None
    rows_per_unit: Annotated[int | None, typer.Option(help="With aim or mst: rows of a person that count.")] = None
    sequence: Annotated[
        str, typer.Option(help="The column of sequences; of a long table the one that tells them apart.")
    ] = ""
    token: Annotated[str, typer.Option(help="Of a long table, one row for each symbol: the column of symbols.")] = ""
    label: Annotated[str, typer.Option(help="The column with the class of a sequence.")] = ""
    longest: Annotated[int | None, typer.Option(help="How many symbols of a sequence count; else by the schema.")] = (
        None
    )
    sequences_per_unit: Annotated[int | None, typer.Option(help="How many sequences of one owner count.")] = None
    expected_rows: Annotated[
        int | None, typer.Option(help="With recurrent: about how many owners there are, a public number.")
    ] = None
    count: Annotated[int | None, typer.Option(help="How many sequences are drawn.")] = None
    sizes: Annotated[Several, typer.Option(help="normal=4000: how many are drawn of a class, once for each.")] = None
    canaries: Annotated[
        int | None, typer.Option(help="With --rehearse: how many random sequences are planted and looked for.")
    ] = None
    schema: SchemaFile = ""
    table: InDatabase = ""
    unreadable: Unreadable = "0"
    ledger: Where = ""
    budget: Annotated[str, typer.Option(help="What the ledger calls the table; by default the file's name.")] = ""
    analyst: Annotated[str, typer.Option(help="With a guarantee: who pays.")] = ""
    note: Annotated[str, typer.Option(help="What the release is for, in a sentence.")] = ""
    go_on: GoOn = ""
    rehearse: Rehearse = ""
    quote: OnlyQuote = False
    force: Force = False
    as_json: AsJson = False
    quiet: Quiet = False
    server: OnServer = ""

    @property
    def private(self) -> bool:
        """Whether the method carries a guarantee."""
        return self.method in PRIVATE or self.sequences

    @property
    def sequences(self) -> bool:
        """Whether the method draws sequences."""
        return self.method in SEQUENCES

    @property
    def remembered_as(self) -> str:
        """What the ledger calls the table; nothing if no ledger was named."""
        return self.budget or (table_name(self.data) if self.ledger else "")

    @property
    def seed(self) -> int | None:
        """The seed of a rehearsal."""
        return rehearsal_seed(self.rehearse)

    @property
    def files(self) -> list[str]:
        """The files that the copies go to."""
        path = Path(self.out)
        several = range(1, self.copies + 1) if self.copies > 1 else ()
        return [str(path.with_name(f"{path.stem}.{i}{path.suffix}")) for i in several] or [self.out]

    def open(self) -> Table:
        """Open the table whole."""
        return open_table(self.data, self.schema, self.table, self.unreadable)

    def require_consistent(self) -> None:
        """Refuse what does not go together before anything is read."""
        if self.method:
            _check_method(self.method)
        self._require_own_options()
        paid = self.epsilon and (self.server or (self.budget and self.analyst))
        if self.private and not paid:
            raise ParameterError("A guarantee is paid for: name --epsilon, --budget and --analyst.")
        if self.workload and self.method == "mst":
            raise ParameterError("--workload goes with --method aim; mst chooses the pairs of columns itself.")
        if self.learned:
            self._require_alone(
                _LEARNING, "--{} belongs to learning, and with --from nothing is learned; leave it out."
            )
        if self.quote and not self.private:
            raise ParameterError("--quote goes with a method that carries a guarantee; the other methods cost nothing.")
        for file in self.files:
            check_file(file, TABLES, force=self.force)
        if self.save:
            check_output(self.save, force=self.force)
        _require_checkpoint(self.checkpoint, self.resume)

    def settings(self, table: Table) -> dict[str, Any]:
        """Give what every release is asked for."""
        return {
            "copies": self.copies,
            "rows": self.rows,
            "note": self.note,
            "go_on": self.go_on,
            "holdout": self.read_holdout(),
            **self.attacked(table.schema),
        }

    def read_holdout(self) -> object:
        """Give the share of people who are kept back, or a table of others."""
        return read_share_or_table(self.holdout)

    def plain_settings(self) -> dict[str, Any]:
        """Give what only a release without a guarantee is asked for."""
        return {"scenario": _read_scenario(self.scenario), "checkpoint": self.checkpoint or None}

    def synthesizer(self, table: Table) -> Synthesizer:
        """Open what was learned before, or make one that is to learn."""
        from ziggurat.synthesize import Synthesizer

        if self.learned:
            made = Synthesizer.load(self.learned)
            return made.set_params(random_state=self.seed) if self.rehearse else made
        chosen: dict[str, Any] = {"method": self.method, "leave_out": self.left_out(table.schema)}
        chosen |= {"random_state": self.seed, **self.learning(table.schema)}
        given = {name: value for name, value in chosen.items() if value not in (None, "", ())}
        return Synthesizer(**given)

    def learning(self, schema: Schema) -> dict[str, Any]:
        """Give how columns are learned, as far as it was said: what a release file calls `options`."""
        settings: dict[str, Any] = {
            "methods": _read_methods(self.methods),
            "partial": self.partial,
            "columns": _columns(schema, self.columns),
            "rules": self.rule,
            "order": _read_order(schema, self.order),
            "missing": _read_missing(self.missing),
        }
        given = {name: value for name, value in settings.items() if value not in (None, "", [], {}, ())}
        return {**given, "smoothing": not self.no_smoothing}

    def left_out(self, schema: Schema) -> tuple[str, ...]:
        """Give the columns that are not released."""
        return _columns(schema, self.leave_out) or ()

    def model(self, schema: Schema) -> Any:
        """Make a model that carries a guarantee."""
        from ziggurat import synthesize

        out = {*self.left_out(schema), schema.unit.column}
        settings: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "random_state": self.seed}
        settings |= {"columns": [name for name in schema.names if name not in out], **self.private_learning(schema)}
        given = {name: value for name, value in settings.items() if value not in (None, "", [])}
        return getattr(synthesize, PRIVATE[self.method])(**given)

    def private_learning(self, schema: Schema) -> dict[str, Any]:
        """Give how a model with a guarantee learns, as far as it was said; refuse columns that it cannot draw."""
        _refuse_sequences(self.method, schema, self.left_out(schema))
        workload = [_columns(schema, [each]) for each in self.workload or ()]
        settings = {"bins": self.bins, "rows_per_unit": self.rows_per_unit, "workload": workload}
        return {name: value for name, value in settings.items() if value not in (None, [])}

    def attacked(self, schema: Schema) -> dict[str, Any]:
        """Give which columns attackers know and want, if it was said."""
        return {"known": _columns(schema, self.known), "secret": _columns(schema, self.secret)}

    def _require_own_options(self) -> None:
        if not self.private:
            self._require_alone(_ONLY_PRIVATE, _PROMISE)
        plain = [name for name in _ONLY_PLAIN if not (self.sequences and name == "order")]
        if self.private:
            self._require_alone(plain, _NO_PROMISE)
        if self.sequences:
            self._require_alone(_ONLY_TABLES, _NO_SEQUENCE)
            if self.copies != 1:
                raise ParameterError("Sequences are drawn into one file; ask for more of them with --count.")
        else:
            self._require_alone(_ONLY_SEQUENCES, _SEQUENCE)

    def _require_alone(self, names: Sequence[str], sentence: str) -> None:
        for name in names:
            if getattr(self, name) not in (None, "", [], False):
                raise ParameterError(sentence.format(_FLAGS.get(name, name).replace("_", "-")))


_NO_PROMISE = "--{} goes with methods that promise nothing; those with a guarantee do not take it."
_PROMISE = "--{} goes with --method aim, mst, markov or recurrent; the other methods carry no guarantee."
_SEQUENCE = "--{} goes with --method markov or recurrent, which draw sequences."
_NO_SEQUENCE = "--{} is for tables of columns; markov and recurrent, which draw sequences, do not take it."


def _check_method(name: str) -> str:
    from ziggurat.wording import nearest

    if name not in _METHODS:
        raise ParameterError(f"There is no method {name!r}; {nearest(name, _METHODS)}")
    return name


def _refuse_sequences(method: str, schema: Schema, out: Sequence[str]) -> None:
    for column in schema.columns:
        if column.sequence is not None and column.name not in out:
            raise ParameterError(
                f"Column {column.name!r} holds sequences, which {method} cannot draw; use --method markov or "
                f"recurrent, or leave it out with --leave-out {column.name}."
            )


def _columns(schema: Schema, given: Sequence[str] | None) -> tuple[str, ...] | None:
    """The columns named; one that is not there is refused."""
    names = split_columns(schema, given)
    return None if names is None else tuple(schema[name].name for name in names)


def _read_methods(given: Several) -> dict[str, str]:
    pairs = [
        _split_last(each, "--methods income=forest,age=linear") for text in given or () for each in text.split(",")
    ]
    for column, name in pairs:
        if _check_method(name) in (*PRIVATE, *SEQUENCES):
            raise ParameterError(f"{name} is a method for whole tables, not for column {column!r}.")
    return dict(pairs)


def _read_missing(given: Several) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for text in given or ():
        column, code = _split_last(text, "--missing income=-8")
        found.setdefault(column, []).append(_read_number(code, text))
    return found


def _read_order(schema: Schema, given: str) -> str | tuple[str, ...] | None:
    from ziggurat.synthesize.columns import ORDERS

    return given if given in ORDERS else _columns(schema, [given] if given else None)


def read_share_or_table(text: str) -> object:
    """Read --holdout: a share, or a file of people who were not learned from."""
    try:
        return float(text)
    except ValueError:
        if not Path(text).exists():
            raise ParameterError(f"--holdout is a share such as 0.1, or a file; {text!r} is neither.") from None
    return open_table(text)


def _read_scenario(file: str) -> Scenario | None:
    """An intruder scenario in YAML or JSON."""
    import yaml

    from ziggurat.attacks import Scenario

    if not file:
        return None
    try:
        held = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except OSError:
        raise DataError(f"There is no file {file!r}.") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise ParameterError(f"{file!r} is not valid YAML.") from None
    return Scenario.from_dict(held)


def _require_checkpoint(folder: str, resume: bool) -> None:
    """A folder that holds something is taken up only by who says so."""
    if not folder:
        if resume:
            raise ParameterError("--resume takes up what --checkpoint kept; name that folder too.")
        return
    held = Path(folder)
    if held.exists() and not held.is_dir():
        raise DataError(f"{folder!r} is a file; name a folder.")
    filled = held.is_dir() and any(held.iterdir())
    if filled and not resume:
        raise DataError(f"{folder!r} holds what an earlier run learned; take it up with --resume, or name another.")
    if resume and not filled:
        raise DataError(f"There is nothing to take up in {folder!r}.")


def _split_last(text: str, example: str) -> tuple[str, str]:
    column, equals, value = text.strip().rpartition("=")
    if not (column and equals and value):
        raise ParameterError(f"{text!r} must name a column and a value, for instance {example}.")
    return column, value


def _read_number(text: str, given: str) -> int | float:
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise ParameterError(f"{given!r} must give a number, as in --missing income=-8.") from None
