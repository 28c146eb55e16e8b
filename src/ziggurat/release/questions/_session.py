"""A session: one analyst asks about one population, and every answer is paid for before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack, overload

from ziggurat.cards import Badge, Card, Shown, name_some
from ziggurat.data import Table, TableView
from ziggurat.errors import (
    BudgetExceededError,
    LedgerUseError,
    MixedNeighboursError,
    ParameterError,
)
from ziggurat.ledger import Entry, Ledger, LedgerMark
from ziggurat.privacy import Amount, Event, Neighbours, event_from_dict
from ziggurat.queries import Answer, Question, Terms
from ziggurat.queries.answering import GROUP_SIZE, QuestionPlan
from ziggurat.queries.language import Catalogue, Query, parse
from ziggurat.queries.workloads import Workload, WorkloadAnswer
from ziggurat.randomness import Source
from ziggurat.release._cited import unpack
from ziggurat.release._plan import Progress
from ziggurat.release._purse import Purse
from ziggurat.release._quotation import Quotation, open_grant
from ziggurat.release.questions._asking import (
    AnswerPlan,
    AskedQuestion,
    Given,
    TermOptions,
    check_options,
    plan_workload,
    tell_terms,
)
from ziggurat.wording import nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.release._release import Release

Asked = str | Query | Workload | AnswerPlan[Any]


@dataclass(frozen=True)
class Past(Shown):
    """A question that was paid for.

    Attributes
    ----------
    time
        When, in UTC.
    question
        Its canonical text.
    event
        What was reserved for it.
    rehearsal
        Whether its noise was seeded, so that the answer may never be published.
    answer
        What was answered; None if no answer came, or has not come yet.
    answered
        When the ledger was told the answer, in UTC; empty without one.
    """

    time: str
    question: str
    event: Event
    rehearsal: bool
    answer: Answer | WorkloadAnswer | None
    answered: str = ""

    def _card(self) -> Card:
        came = "" if self.answer is not None else ", without an answer"
        badge: Badge = "rehearsal" if self.rehearsal else ""
        return Card("Past", f"{self.time}{came}: {self.question}", badge=badge)


class Session(Shown):
    """One analyst's conversation with the tables of one population.

    Promise: everything asked here, of whichever table, is charged to one budget of the ledger before a row is read, so
    that all answers together keep what the analyst's grant on that budget promises. A question that was answered
    before is answered again from the ledger: nothing is read and nothing is spent. No cell reaches the analyst except
    through a mechanism: errors name columns, never values, and which groups appear is public or paid for.

    Parameters
    ----------
    ledger
        Where the budget is kept.
    analyst
        Who asks; needs an open grant on the budget.
    tables
        The private tables by the names that questions call them, or the only one, called as its schema is.
    public
        Tables that are no secret, for joins.
    budget
        The name of the budget in the ledger; by default that of the only table. All private tables must be about the
        unit that it protects.
    source
        Where randomness comes from: secure unless a rehearsal passes a seeded one.
    """

    def __init__(
        self,
        ledger: Ledger,
        analyst: str,
        tables: Mapping[str, Table] | Table,
        *,
        public: Mapping[str, Table] | None = None,
        budget: str | None = None,
        source: Source | None = None,
    ) -> None:
        self._ledger, self._analyst = ledger, analyst
        self._private, self._public = _name_tables(tables), _require_tables(public or {})
        self._catalogue = Catalogue(self._private, self._public)
        self._payer = _payer(ledger, self._private, budget)
        self._purse = Purse(ledger, self._payer, analyst, source)
        self._budget = self._find_budget()

    @property
    def ledger(self) -> Ledger:
        """Where the budget is kept."""
        return self._ledger

    @property
    def budget(self) -> str:
        """The name of the budget that pays."""
        return self._budget

    @property
    def rehearsal(self) -> bool:
        """Whether noise is seeded, so that no answer may be published."""
        return self._purse.rehearsal

    @overload
    def ask(
        self, question: str | Query, epsilon: Amount, delta: Amount = 0, *, progress: Progress | None = None,
        **terms: Unpack[TermOptions],
    ) -> Answer: ...  # fmt: skip

    @overload
    def ask(
        self, question: AnswerPlan[Given], epsilon: Amount = 0, delta: Amount = 0, *, progress: Progress | None = None,
        **terms: Unpack[TermOptions],
    ) -> Given: ...  # fmt: skip

    @overload
    def ask(
        self, question: Workload, epsilon: Amount, delta: Amount = 0, *, progress: Progress | None = None,
        **terms: Unpack[TermOptions],
    ) -> WorkloadAnswer: ...  # fmt: skip

    @tell_terms
    def ask(
        self,
        question: Asked,
        epsilon: Amount = 0,
        delta: Amount = 0,
        *,
        progress: Progress | None = None,
        **terms: Unpack[TermOptions],
    ) -> Answer | WorkloadAnswer:
        """Pay for a question and answer it.

        Parameters
        ----------
        question
            SQL, a `Query`, a `Workload`, or what `plan` made of one.
        epsilon, delta
            What it may cost, exact.
        progress
            Called with a few words before every step that may take long.
        **terms
            As in `Terms`: shares, rows_per_unit, groups_per_unit, bounding, noise, learn, effects, confidence; and
            bounds, such as `bounds={"income": (0, 100_000)}`: cells outside count as the bound.

        Raises
        ------
        QuestionError
            The question cannot be answered with a promise; nothing was read or spent.
        BudgetExceededError
            It costs more than is left; nothing was read or spent.
        EngineError
            The engine failed. What the question cost stays spent, because something was read.
        """
        answer: Answer | WorkloadAnswer = self.release(question, epsilon, delta, progress=progress, **terms).output
        return answer

    @tell_terms
    def release(
        self,
        question: Asked,
        epsilon: Amount = 0,
        delta: Amount = 0,
        *,
        progress: Progress | None = None,
        mark: LedgerMark | None = None,
        **terms: Unpack[TermOptions],
    ) -> Release[Any]:
        """As `ask`, with the certificate of the answer and what else a release has; see `Purse.release`."""
        return self._purse.release(self.plan(question, epsilon, delta, **terms), progress=progress, mark=mark)

    @tell_terms
    def plan(
        self, question: Asked, epsilon: Amount = 0, delta: Amount = 0, **terms: Unpack[TermOptions]
    ) -> AnswerPlan[Any]:
        """Plan a question on its terms, to be priced by `quote` and answered by `ask`; nothing is read."""
        return question if isinstance(question, AnswerPlan) else self._plan(question, epsilon, delta, terms)

    @tell_terms
    def ask_all(
        self,
        questions: Sequence[Asked],
        epsilon: Amount | Sequence[Amount],
        delta: Amount = 0,
        *,
        progress: Progress | None = None,
        **terms: Unpack[TermOptions],
    ) -> list[Answer | WorkloadAnswer]:
        """Ask several questions on the same terms, or none if they do not all fit into what is left.

        `epsilon` is for each of them, or a list with one for each.
        """
        askings = self._plan_all(questions, epsilon, delta, terms)
        quoted = self._purse.quote(*askings)
        if not quoted.fits:
            raise BudgetExceededError(quoted.sentence)
        return [self._purse.release(asking, progress=progress).output for asking in askings]

    @tell_terms
    def quote(
        self,
        questions: Asked | Sequence[Asked],
        epsilon: Amount | Sequence[Amount] = 0,
        delta: Amount = 0,
        *,
        group_size: int = GROUP_SIZE,
        **terms: Unpack[TermOptions],
    ) -> Quotation:
        """Price a question, or several that are to be asked one after the other; nothing is read or spent.

        Where the error depends on how many values a group has, it is told for groups of `group_size`.
        """
        several = [questions] if isinstance(questions, str | Query | Workload | AnswerPlan) else questions
        return self._purse.quote(*self._plan_all(several, epsilon, delta, terms), group_size=group_size)

    def left(self) -> Fraction:
        """The epsilon that is certainly left by plain addition (see `Ledger.left`)."""
        return self._ledger.left(self._budget, self._analyst)

    def remainder(self) -> str:
        """What is left in the words of the grant's rule."""
        left = open_grant(self._ledger, self._budget, self._analyst).remainder
        return f"{left.amount}{left.detail}"

    def history(self) -> list[Past]:
        """What this analyst has paid for, oldest first; a question that was replayed is listed once."""
        entries = self._ledger.history(self._budget, self._analyst)
        answers = {each.data["reservation"]: each for each in entries if each.kind == "commit"}
        reserved = [each for each in entries if each.kind == "reserve" and _is_ours(each.data["question"])]
        return [_past(each, answers.get(each.seq)) for each in reserved]

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that can be asked about, the private ones first; `session["name"]` shows one."""
        return (*self._private, *self._public)

    def __getitem__(self, name: str) -> TableView:
        """Show what an analyst may know of a table: columns, kinds, public bounds and categories; no cell."""
        known = {**self._private, **self._public}
        if name not in known:
            raise ParameterError(f"There is no table {name!r} in this session; {nearest(name, known)}")
        return known[name].view(name)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.tables)

    def schema(self) -> pa.Table:
        """What an analyst may know of the tables: columns, kinds, public bounds and categories; no cell."""
        import pyarrow as pa

        rows = [
            {"table": name, **row}
            for name, table in {**self._private, **self._public}.items()
            for row in table.describe().to_pylist()
            if row["name"] in table.schema
        ]
        return pa.Table.from_pylist(rows)

    def _card(self) -> Card:
        kind: str = "Rehearsal" if self.rehearsal else "Session"
        line = f"{kind} of {self._analyst!r} about {', '.join(self._private)}, paid by the budget {self._budget!r}"
        rows = [(name, name_some(self[name].columns, 12), str(self[name].unit)) for name in self.tables]
        badge: Badge = "rehearsal" if self.rehearsal else "public"
        return Card(line, "", [("left", self.remainder())], badge, ("table", "columns", "unit"), rows)

    def __repr__(self) -> str:
        return f"<{self._card().title}>"

    def _plan(
        self, question: str | Query | Workload, epsilon: Amount, delta: Amount, options: TermOptions
    ) -> AnswerPlan[Any]:
        rest: dict[str, Any] = check_options(options)
        bounds = rest.pop("bounds", None)
        terms = Terms(epsilon, delta, **rest)
        if isinstance(question, Workload):
            return plan_workload(question, self._private, terms, options)
        catalogue = self._catalogue.with_bounds(bounds) if bounds else self._catalogue
        resolved = question.resolve(catalogue) if isinstance(question, Query) else parse(question, catalogue)
        return AskedQuestion(QuestionPlan(resolved, terms), self._read_by(resolved))

    def _plan_all(
        self, questions: Sequence[Asked], epsilon: Amount | Sequence[Amount], delta: Amount, options: TermOptions
    ) -> list[AnswerPlan[Any]]:
        several = isinstance(epsilon, Sequence) and not isinstance(epsilon, str)
        epsilons: Sequence[Any] = epsilon if several else [epsilon] * len(questions)  # type: ignore[assignment]
        if len(epsilons) != len(questions) or not questions:
            raise ParameterError("Give at least one question, and one epsilon for all or as many as questions.")
        return [self.plan(each, part, delta, **options) for each, part in zip(questions, epsilons, strict=True)]

    def _read_by(self, question: Question) -> dict[str, Table]:
        """The tables that a question reads, private and public, for its identity."""
        named = {name.lower() for name in question.reads}
        return {name: table for name, table in {**self._private, **self._public}.items() if name.lower() in named}

    def _find_budget(self) -> str:
        """Find the budget that pays for all private tables, and see that the analyst has a grant of it."""
        account = ""
        for name, table in self._private.items():
            account = self._reach(name, Neighbours(table.unit))
        made_for = self._ledger.budget(account).schema_fingerprint if account == self._payer else None
        if made_for and made_for not in {table.declared.fingerprint() for table in self._private.values()}:
            raise LedgerUseError(
                f"The budget {account!r} was made for another schema; use that one, or name another budget."
            )
        open_grant(self._ledger, account, self._analyst)
        return account

    def _reach(self, name: str, theirs: Neighbours) -> str:
        try:
            return self._ledger.paying(self._payer, theirs, self._analyst).table
        except MixedNeighboursError:
            protected = self._ledger.budget(self._payer).neighbours
            raise MixedNeighboursError(
                f"The budget {self._payer!r} protects {protected}, but questions about the table {name!r} protect "
                f"{theirs}; declare the same unit in the schema, or name another budget."
            ) from None


def _name_tables(tables: Mapping[str, Table] | Table) -> dict[str, Table]:
    if isinstance(tables, Table):
        name = tables.declared.name
        if not name:
            raise ParameterError("The schema of the table has no name; pass the table as {'name': table}.")
        return {name: tables}
    if not isinstance(tables, Mapping) or not tables:
        raise ParameterError("Pass at least one private table, as {'name': table}.")
    return _require_tables(tables)


def _require_tables(tables: Mapping[str, Table]) -> dict[str, Table]:
    for name, table in tables.items():
        if not isinstance(table, Table):
            raise ParameterError(f"{name!r} is no Table yet; open it with read(frame, schema) first.")
    return dict(tables)


def _payer(ledger: Ledger, tables: Mapping[str, Table], budget: str | None) -> str:
    """The name under which the ledger is asked to pay: that of the only table if it is registered, or the budget's."""
    named = _budget_name(tables) if budget is None else budget
    for name in tables:
        whose = ledger.population(name)
        if whose not in (name, ledger.population(named)):
            raise LedgerUseError(
                f"The table {name!r} is registered under the population {whose!r}, whose budgets pay for it; "
                f"{named!r} is none of them."
            )
        if len(tables) == 1 and whose != name:
            return name
    return named


def _budget_name(tables: Mapping[str, Table]) -> str:
    if len(tables) > 1:
        raise ParameterError("With several private tables, say which budget pays for all of them: budget='name'.")
    return next(iter(tables))


def _is_ours(question: Any) -> bool:
    return isinstance(question, dict) and question.get("kind") in _KINDS


_KINDS: dict[str, type[Answer] | type[WorkloadAnswer]] = {"question": Answer, "workload": WorkloadAnswer}


def _past(reserved: Entry, told: Entry | None) -> Past:
    question, event = reserved.data["question"], event_from_dict(reserved.data["event"])
    asked = reserved.time, question["question"], event, reserved.data["rehearsal"]
    if told is None:
        return Past(*asked, None)
    return Past(*asked, _KINDS[question["kind"]].from_dict(unpack(told.data["answer"])), told.time)
