"""How the options of `ziggurat synthesize` become a synthesiser, a private model, and what attackers know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ziggurat.attacks import Scenario
    from ziggurat.data import Schema, Table
    from ziggurat.synthesize import Synthesizer

Several = list[str] | None

PRIVATE = {"aim": "AIM", "mst": "MST"}
_METHODS = ("cart", "forest", "linear", "network", "sample", *PRIVATE)
_ONLY_PRIVATE = ("epsilon", "delta", "bins", "workload", "rows_per_unit", "analyst")
_ONLY_PLAIN = (
    "methods",
    "partial",
    "columns",
    "rule",
    "order",
    "missing",
    "no_smoothing",
    "source",
    "checkpoint",
    "resume",
    "scenario",
)
_LEARNING = ("method", "methods", "partial", "columns", "rule", "order", "leave_out", "missing", "no_smoothing")
_FLAGS = {"source": "from"}


@dataclass(frozen=True)
class Given:
    """The options of the command, as they were given."""

    table: str
    out: str
    method: str
    methods: Several
    copies: int
    rows: int | None
    partial: Several
    columns: Several
    rule: Several
    order: str
    leave_out: Several
    missing: Several
    no_smoothing: bool
    save: str
    source: str
    checkpoint: str
    resume: bool
    holdout: str
    known: Several
    secret: Several
    scenario: str
    epsilon: str
    delta: str
    bins: int | None
    workload: Several
    rows_per_unit: int | None
    schema: str
    name: str
    unreadable: str
    ledger: str
    budget: str
    analyst: str
    note: str
    go_on: str
    rehearse: int | None
    as_json: bool
    quiet: bool

    @property
    def private(self) -> bool:
        """Whether the method carries a guarantee."""
        return self.method in PRIVATE

    @property
    def remembered_as(self) -> str:
        """What the ledger calls the table; nothing if no ledger was named."""
        return self.budget or (Path(self.table).name.split(".")[0] if self.ledger else "")

    def require_consistent(self) -> None:
        """Refuse what does not go together before anything is read."""
        if self.method:
            _method(self.method)
        self._require_alone(_ONLY_PLAIN, _NO_PROMISE) if self.private else self._require_alone(_ONLY_PRIVATE, _PROMISE)
        if self.private and not (self.epsilon and self.budget and self.analyst):
            raise ParameterError("A guarantee is paid for: name --epsilon, --budget and --analyst.")
        if self.workload and self.method == "mst":
            raise ParameterError("--workload goes with --method aim; mst chooses the pairs of columns itself.")
        if self.source:
            self._require_alone(
                _LEARNING, "--{} belongs to learning, and with --from nothing is learned; leave it out."
            )
        if self.save and not Path(self.save).absolute().parent.is_dir():
            raise DataError(f"The folder of {self.save!r} does not exist; create it first.")
        _require_checkpoint(self.checkpoint, self.resume)

    def asked(self, table: Table) -> dict[str, Any]:
        """Give what every release is asked for."""
        return {
            "copies": self.copies,
            "rows": self.rows,
            "note": self.note,
            "go_on": self.go_on,
            "holdout": _holdout(self.holdout),
            "known": _columns(table.schema, self.known),
            "secret": _columns(table.schema, self.secret),
        }

    def asked_of_plain(self) -> dict[str, Any]:
        """Give what only a release without a guarantee is asked for."""
        return {"scenario": _scenario(self.scenario), "checkpoint": self.checkpoint or None}

    def synthesizer(self, table: Table) -> Synthesizer:
        """Open what was learned before, or make one that is to learn."""
        from ziggurat.synthesize import Synthesizer

        if self.source:
            made = Synthesizer.load(self.source)
            return made if self.rehearse is None else made.set_params(random_state=self.rehearse)
        schema = table.schema
        settings: dict[str, Any] = {
            "method": self.method,
            "methods": _methods(self.methods),
            "partial": self.partial,
            "columns": _columns(schema, self.columns),
            "rules": self.rule,
            "order": _order(schema, self.order),
            "leave_out": _columns(schema, self.leave_out),
            "missing": _missing(self.missing),
            "random_state": self.rehearse,
        }
        given = {name: value for name, value in settings.items() if value not in (None, "", [], {}, ())}
        return Synthesizer(smoothing=not self.no_smoothing, **given)

    def model(self, table: Table) -> Any:
        """Make a model that carries a guarantee."""
        from ziggurat import synthesize

        schema = table.schema
        out = {*(_columns(schema, self.leave_out) or ()), table.unit.column}
        settings = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "bins": self.bins,
            "rows_per_unit": self.rows_per_unit,
            "random_state": self.rehearse,
            "columns": [name for name in schema.names if name not in out],
            "workload": [_columns(schema, [each]) for each in self.workload or ()],
        }
        given = {name: value for name, value in settings.items() if value not in (None, "", [])}
        return getattr(synthesize, PRIVATE[self.method])(**given)

    def _require_alone(self, names: Sequence[str], sentence: str) -> None:
        for name in names:
            if getattr(self, name) not in (None, "", [], False):
                raise ParameterError(sentence.format(_FLAGS.get(name, name).replace("_", "-")))


_NO_PROMISE = "--{} goes with methods that promise nothing; aim and mst do not take it."
_PROMISE = "--{} goes with --method aim or mst; the other methods carry no guarantee."


def _method(name: str) -> str:
    from ziggurat.wording import nearest

    if name not in _METHODS:
        raise ParameterError(f"There is no method {name!r}; {nearest(name, _METHODS)}")
    return name


def _columns(schema: Schema, given: Sequence[str] | None) -> tuple[str, ...] | None:
    """The columns named, each by an option of its own or several in one with commas."""
    if not given:
        return None
    parts = [[each] if each in schema else each.split(",") for each in given]
    return tuple(schema[name.strip()].name for part in parts for name in part)


def _methods(given: Several) -> dict[str, str]:
    pairs = [_pair(each, "--methods income=forest,age=linear") for text in given or () for each in text.split(",")]
    for column, name in pairs:
        if _method(name) in PRIVATE:
            raise ParameterError(f"{name} is a method for whole tables, not for column {column!r}.")
    return dict(pairs)


def _missing(given: Several) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for text in given or ():
        column, code = _pair(text, "--missing income=-8")
        found.setdefault(column, []).append(_number(code, text))
    return found


def _order(schema: Schema, given: str) -> str | tuple[str, ...] | None:
    from ziggurat.synthesize.columns import ORDERS

    return given if given in ORDERS else _columns(schema, [given] if given else None)


def _holdout(text: str) -> object:
    """A share, or a table of people who were not learned from."""
    from ziggurat.cli.risk import _opened

    try:
        return float(text)
    except ValueError:
        if not Path(text).exists():
            raise ParameterError(f"--holdout is a share such as 0.1, or a file; {text!r} is neither.") from None
    return _opened(text)


def _scenario(file: str) -> Scenario | None:
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


def _pair(text: str, example: str) -> tuple[str, str]:
    column, equals, value = text.strip().rpartition("=")
    if not (column and equals and value):
        raise ParameterError(f"{text!r} must name a column and a value, for instance {example}.")
    return column, value


def _number(text: str, given: str) -> int | float:
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise ParameterError(f"{given!r} must give a number, as in --missing income=-8.") from None
