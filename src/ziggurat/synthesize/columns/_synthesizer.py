"""Sequential synthesis: each column is learned given those before it, and drawn in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
from sklearn.base import BaseEstimator

from ziggurat.data import Condition, Role, Table, open_table, sample_rows
from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.free_text import free_text_in, refuse_free_text, say_dropped
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source, secure, seeded
from ziggurat.signatures import take_options_of
from ziggurat.synthesize._encoding import ColumnCoding, learn_coding
from ziggurat.synthesize._result import Origin, Synthesis, Synthetic
from ziggurat.synthesize._writing import WrittenCopies, write_copies
from ziggurat.synthesize.columns import _stored
from ziggurat.synthesize.columns._copying import Drawing, Progress
from ziggurat.synthesize.columns._drawing import LearnedTable
from ziggurat.synthesize.columns._fitting import either, keeping, rows_for
from ziggurat.synthesize.columns._learning import learn
from ziggurat.synthesize.columns._plan import conditions_of, plan_columns
from ziggurat.synthesize.columns._rules import check_rules
from ziggurat.synthesize.learners import describe_method, method_of, name_of
from ziggurat.threads import one_thread

_BATCH = 100_000


@dataclass(eq=False, repr=False, kw_only=True)
class Synthesizer(BaseEstimator):  # type: ignore[misc]
    """Learns a table column by column and draws synthetic copies of it.

    Not promised: privacy. The copies follow the table, and people who stand out in it may be recognised; what was
    learned holds values of the table. Measure copies with `ziggurat.attacks` before they leave.

    Parameters
    ----------
    method
        How columns are learned: "cart", "forest", "linear", "network" or "sample", or an object such as `Cart()`.
    methods
        Other methods for some columns.
    order
        In which order columns are drawn: categories with the "fewest-first" and numbers last, so that what few values
        tell is learned before trees are cut by many, but those with more than 50 before all others, because they would
        tell of people; as in the "table"; or a list, the columns that it does not name last.
    predictors
        For some columns the only ones that they are learned from; by default all that are drawn before.
    rules
        What holds in every row: "birth <= visit", or "age < 18 -> marital = 'single'". A missing cell breaks no rule.
    missing
        For some columns of numbers the codes that stand for a missing one, such as -8, besides those of the schema.
    leave_out
        Columns that are not synthesised and not written; identifiers and free text (`data.free_text`) never are.
    partial
        Makes partially synthetic copies: a condition such as "income > 70000", or several, whose columns are drawn anew
        in the rows where it holds; or a condition for each column. Everything else stays as it is.
    columns
        The columns that are drawn anew where `partial` holds, if not those that it names.
    known
        Columns that are not drawn but taken from the population that is handed to `sample`.
    smoothing
        Whether numbers that fewer than 5 rows hold are replaced by draws near them.
    posterior
        Whether each copy has parameters of its own, drawn as the table leaves them open. The combining rules "fully"
        and "partially" rest on it; the rule "simple" does not, and without it copies are closer to the table. By
        default only partially synthetic copies and those with known columns have them.
    learn_from
        At most so many rows are learned from, chosen at random; memory does not grow with the table beyond them.
    random_state
        A seed makes it a rehearsal; by default the randomness is secure.

    Attributes
    ----------
    plan_
        Order, methods and predictors.
    rows_
        How many rows the table has.
    learned_from_
        How many of them were learned from; the intervals of the copies rest on this number.
    marked_
        How many rows have cells that are drawn anew; None unless `partial` says which.
    """

    method: object = field(default="cart", kw_only=False)
    methods: Mapping[str, object] | None = None
    order: str | Sequence[str] = "fewest-first"
    predictors: Mapping[str, Sequence[str]] | None = None
    rules: Sequence[str] = ()
    missing: Mapping[str, Sequence[object]] | None = None
    leave_out: Sequence[str] = ()
    partial: object = None
    columns: Sequence[str] | None = None
    known: Sequence[str] = ()
    smoothing: bool = True
    posterior: bool | None = None
    learn_from: int = 200_000
    random_state: int | str | None = None

    @one_thread()  # once for all columns and copies: looking for the libraries to hold takes longer than a small draw
    def fit(
        self,
        table: object,
        y: None = None,  # noqa: ARG002
        *,
        progress: Progress | None = None,
        checkpoint: str | Path | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Learn from a table.

        Parameters
        ----------
        table
            A table, or anything that `ziggurat.data.read` opens.
        y
            Not used; scikit-learn hands it to every estimator.
        progress
            Called with a column, how many columns are learned and how many there are.
        checkpoint
            A folder that keeps each column as soon as it is learned; the same call takes up what is there.
        names
            What `choose_names` gave, where it was asked already, such as of a larger table.
        """
        self._check_settings()
        source, held = self._source(), open_table(table)
        names = self.choose_names(held) if names is None else tuple(names)
        self._check_missing(names)
        where = conditions_of(self.partial, self.columns, names)
        marked = None if where is None else either(where, names)
        rows, total = sample_rows(held, names, self.learn_from, source.child("rows"), marked)
        if rows.num_rows == 0:
            raise DataError(_NOTHING if marked is None else _UNMARKED.format(self.partial))
        self._learn(held, rows, names, where, source, progress, checkpoint)
        self.table_: Table | None = held
        self.names_ = names
        self.rows_ = total if marked is None else held.raw.count_rows()
        self.learned_from_, self.marked_ = rows.num_rows, None if marked is None else total
        return self

    @one_thread()
    def sample(
        self,
        rows: int | None = None,
        copies: int = 1,
        *,
        population: object = None,
        table: object = None,
        progress: Progress | None = None,
    ) -> Synthetic:
        """Draw synthetic copies.

        Parameters
        ----------
        rows
            How many rows each copy has; by default as many as the table. A partially synthetic copy has its own.
        copies
            How many.
        population
            Holds the `known` columns of everybody: each copy is a sample of its rows, with the rest drawn. That is the
            law of a synthetic population from which a sample is drawn, without making the rows that nobody sees.
        table
            The table whose marked cells are drawn anew, if the synthesiser was loaded from a file.
        progress
            Called with "copy", how many rows are done and how many there are.
        """
        drawn = [
            pa.concat_tables(pieces)
            for pieces in self._copies(rows, copies, population, table, progress or _silent, _BATCH)
        ]
        return Synthetic(
            tuple(drawn),
            self._origin.kind,
            self.learned_from_,
            self.is_proper,
            self.random_state is not None,
            {name: name_of(method) for name, method in self.plan_.methods.items()},
            dict(self.replaced_) if self.plan_.where is not None else {},
            self._codes(),
            bool(self.known),
            self.marked_,
        )

    @one_thread()
    def write(
        self,
        path: str | Path,
        rows: int | None = None,
        copies: int = 1,
        *,
        population: object = None,
        table: object = None,
        batch: int = _BATCH,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> WrittenCopies:
        """Draw copies into files, a batch at a time, so that memory does not grow with the rows.

        Parameters
        ----------
        path
            A .parquet, .csv, .xlsx or other file; several copies are NAME.1.parquet and so on. A file is complete
            or not there.
        batch
            How many rows are drawn at a time.
        resume
            Leave copies alone that are there already; all copies are independent draws.
        rows, copies, population, table, progress
            As in `sample`.
        """
        pieces = self._copies(rows, copies, population, table, progress or _silent, batch)
        facts = {
            **self._origin.to_dict(),
            "rehearsal": self.random_state is not None,
            "promise": "unbounded",
            "missing": {name: list(codes) for name, codes in self._codes().items()},
        }
        return write_copies(path, pieces, copies, facts, resume=resume)

    def save(self, path: str | Path) -> None:
        """Store what was learned, for its owner's eyes only: it holds values of the table."""
        self._fitted()
        _stored.save(path, self._settings(), self.names_, self._sizes(), self.model_, self.plan_)

    @classmethod
    def load(cls, path: str | Path) -> Synthesizer:
        """Open what `save` stored."""
        settings, facts, model, plan = _stored.load(path)
        made = cls(**settings)
        made.model_, made.plan_, made.table_ = model, plan, None
        made.names_, made.rows_, made.learned_from_ = tuple(facts["names"]), facts["rows"], facts["learned_from"]
        made.marked_ = facts.get("marked")
        return made

    def _learn(
        self,
        held: Table,
        rows: pa.Table,
        names: tuple[str, ...],
        where: Mapping[str, Condition] | None,
        source: Source,
        progress: Progress | None,
        checkpoint: str | Path | None,
    ) -> None:
        encodings = self._encodings(held, rows, names, where)
        cells = {name: made.encode(rows.column(name)) for name, made in encodings.items()}
        plan = plan_columns(
            encodings, self.method, self.methods or {}, self.order, self.predictors or {}, tuple(self.known), where
        )
        asked = held.engine if isinstance(held.engine, DuckDBEngine) else None
        rules = check_rules(self.rules, tuple(encodings), rows, asked)
        fits = {name: rows_for(name, rows, where, rules, asked) for name in plan.order}
        kept, keep = keeping(checkpoint, plan, cells, fits)
        learned = learn(plan, encodings, cells, fits, self.smoothing, source, progress or _silent, kept, keep)
        self.plan_, self.model_ = plan, LearnedTable(encodings, learned, rules)

    def _encodings(
        self, held: Table, rows: pa.Table, names: tuple[str, ...], where: Mapping[str, Condition] | None
    ) -> dict[str, ColumnCoding]:
        found: dict[str, ColumnCoding] = {}
        for name in names:
            try:
                found[name] = learn_coding(held.schema[name], rows.column(name), (self.missing or {}).get(name, ()))
            except DataError:
                # What stays as it is need not be understood; it then predicts nothing.
                if where is None or name in where:
                    raise
        return found

    def _copies(
        self, rows: int | None, copies: int, population: object, table: object, progress: Progress, batch: int
    ) -> Iterator[Iterator[pa.Table]]:
        self._fitted()
        if isinstance(copies, bool) or not isinstance(copies, int) or copies < 1:
            raise ParameterError("The number of copies must be a whole number of at least 1.")
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise ParameterError("A batch must have at least 1 row.")
        known = tuple(self.known)
        drawing = Drawing(self.model_, self.plan_, self.names_, self.rows_, known, progress, batch, self._drawn_anew)
        source = self._source()
        if self.plan_.where is None:
            return drawing.fully(copies, self.rows_ if rows is None else rows, population, source)
        if rows is not None:
            raise ParameterError("A partially synthetic copy has the rows of its table; do not give a number.")
        self.replaced_: dict[str, int] = {}
        return drawing.partially(copies, self.table_ if table is None else open_table(table), source, self.replaced_)

    def choose_names(self, held: Table) -> tuple[str, ...]:
        """Say which columns of a table are learned: not what tells people apart, and no free text."""
        for name in self.leave_out:
            if name not in held.schema:
                raise ParameterError(f"'leave_out' names {name!r}, which is no column of the table.")
        # The unit's column is in sight even if it identifies people.
        shown = (each.name for each in held.schema.columns if each.role is not Role.IDENTIFIER)
        names = tuple(name for name in shown if name not in self.leave_out)
        written = free_text_in(held, names)
        for name in self._named:
            if name in written:
                raise ParameterError(refuse_free_text(name, "--leave-out"))
        names = tuple(name for name in names if name not in written)
        if not names:
            raise ParameterError("No column is left to synthesise." + _say_written(written))
        return names

    @property
    def _named(self) -> tuple[str, ...]:
        """The columns that somebody asked for by name."""
        ordered = () if self.order is None or isinstance(self.order, str) else tuple(self.order)
        return (*ordered, *(self.columns or ()), *self.known, *(self.methods or {}), *(self.predictors or {}))

    def _check_missing(self, names: Sequence[str]) -> None:
        for name, codes in (self.missing or {}).items():
            if name not in names:
                raise ParameterError(f"'missing' names {name!r}, which is no column that is synthesised.")
            if isinstance(codes, str) or not all(isinstance(code, int | float | date) for code in codes):
                raise ParameterError(
                    f"The codes for missing numbers of column {name!r} are a list of numbers or dates."
                )

    def _codes(self) -> dict[str, tuple[Any, ...]]:
        made = self.model_.encodings.values()
        found = {each.name: tuple(label for label in each.labels if label is not None) for each in made if each.numeric}
        return {name: codes for name, codes in found.items() if codes}

    def _check_settings(self) -> None:
        method_of(self.method)
        if isinstance(self.learn_from, bool) or not isinstance(self.learn_from, int) or self.learn_from < 1:
            raise ParameterError("'learn_from' must be a whole number of at least 1.")
        if not isinstance(self.smoothing, bool) or not isinstance(self.posterior, bool | None):
            raise ParameterError("'smoothing' and 'posterior' must be true or false.")
        for what in ("leave_out", "known", "rules"):
            if isinstance(getattr(self, what), str):
                raise ParameterError(f"'{what}' takes a list, not one text.")
        if self.known and self.partial is not None:
            raise ParameterError("'known' columns belong to fully synthetic copies; leave 'partial' out, or 'known'.")
        if self.columns is not None and self.partial is None:
            raise ParameterError("'columns' says what is drawn anew where 'partial' holds; give that condition too.")

    def _settings(self) -> dict[str, Any]:
        given = self.get_params(deep=False)
        chosen = {name: describe_method(method_of(each)) for name, each in (self.methods or {}).items()}
        return {**given, "method": describe_method(method_of(self.method)), "methods": chosen}

    def _sizes(self) -> dict[str, int | None]:
        return {"rows": self.rows_, "learned_from": self.learned_from_, "marked": self.marked_}

    @property
    def _origin(self) -> Origin:
        kind: Synthesis = "fully" if self.plan_.where is None else "partially"
        return Origin(kind, self.learned_from_, self.marked_, self.is_proper, bool(self.known))

    def _source(self) -> Source:
        return secure() if self.random_state is None else seeded(self.random_state)

    @property
    def _drawn_anew(self) -> bool:
        """Whether each copy has parameters of its own."""
        return bool(self.known) or self.partial is not None if self.posterior is None else self.posterior

    @property
    def is_proper(self) -> bool:
        """Whether each copy was drawn from parameters of its own."""
        return self._drawn_anew and self.plan_.proper

    def _fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise ParameterError("This synthesiser has learned nothing yet; call fit first.")


def _say_written(names: Sequence[str]) -> str:
    return f" {say_dropped(names)}" if names else ""


_NOTHING = "The table has no rows; there is nothing to learn from."
_UNMARKED = "The condition {!r} holds in no row, so nothing would be drawn anew; change it."


@take_options_of(Synthesizer, leave_out=("method",))
def synthesize(
    table: object,
    method: object = "cart",
    *,
    copies: int = 1,
    rows: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Synthetic:
    """Learn a table and draw synthetic copies of it.

    Not promised: privacy; see `Synthesizer`, which takes the same settings and can be kept.

    Parameters
    ----------
    table
        A table, or anything that `ziggurat.data.read` opens.
    method
        "cart", "forest", "linear", "network" or "sample", or an object such as `Cart()`.
    copies, rows
        How many copies, of how many rows; by default one, as long as the table.
    progress
        Called with what is being done, how much of it is done, and how much there is.
    **settings
        As `Synthesizer` takes them.
    """
    made = Synthesizer(method, **settings).fit(table, progress=progress)
    return made.sample(rows, copies, progress=progress)


def _silent(what: str, done: int, of: int) -> None:
    """Report nothing."""
