"""A session with a server: asks, quotes and remembers as one of this machine does, and gives the same objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

from ziggurat.cards import Badge, Card, Shown, name_some
from ziggurat.client._effects import Steps, WireRequest
from ziggurat.client._exchange import PATIENCE, exchange, once
from ziggurat.client._facts import ServedAnswer
from ziggurat.client._operation import AwaitingSide, BlockingSide, operation
from ziggurat.client._saying import Asking, read_answer, say_question, tell_terms
from ziggurat.data import Schema, TableView
from ziggurat.errors import BudgetExceededError, ParameterError
from ziggurat.privacy import Amount, event_from_dict
from ziggurat.queries import Answer, Query, Workload, WorkloadAnswer
from ziggurat.release import Past, Quotation, TermOptions
from ziggurat.wording import nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.client._senders import AwaitingWire, BlockingWire

GROUP_SIZE = 1_000


@dataclass(frozen=True)
class KnownSession:
    """What a server said when a session was opened: who asks, who pays, and what is publicly known of the tables."""

    analyst: str
    budget: str
    rehearsal: bool
    private: tuple[str, ...]
    tables: Mapping[str, tuple[TableView, Schema]]


def open_session(tables: Sequence[str], patience: float = PATIENCE) -> Steps[KnownSession]:
    """Open a session over private tables of one population; refused as one of this machine is."""
    if not tables or not all(isinstance(each, str) for each in tables):
        raise ParameterError("Name the tables that questions are about, such as server.session('clinic').")
    told = yield from exchange(WireRequest("GET", "/v1/session", {"table": list(tables)}), patience)
    known = {}
    for name in told["tables"]:
        known[name] = read_table(name, (yield from exchange(WireRequest("GET", f"/v1/tables/{name}"), patience)))
    return KnownSession(told["analyst"], told["budget"], told["rehearsal"], tuple(tables), known)


def read_table(name: str, facts: Mapping[str, Any]) -> tuple[TableView, Schema]:
    """Make what is publicly known of a table again, as a table of this machine shows it."""
    import pyarrow as pa

    schema = Schema.from_yaml(facts["schema"] + "\n")
    return TableView(f"Table {name}", schema.unit, pa.Table.from_pylist(facts["columns"])), schema


class SessionSteps(Shown):
    """What a session can do, for both sides: those that wait and those that are awaited.

    Attributes
    ----------
    address
        Where the server is.
    """

    def __init__(self, address: str, opened: KnownSession, patience: float) -> None:
        self.address, self._opened, self._patience = address, opened, patience

    @property
    def analyst(self) -> str:
        """Who asks: the person whose key it is."""
        return self._opened.analyst

    @property
    def budget(self) -> str:
        """The name of the budget that pays."""
        return self._opened.budget

    @property
    def rehearsal(self) -> bool:
        """Whether noise is seeded, so that no answer may be published."""
        return self._opened.rehearsal

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that can be asked about, the private ones first; `session["name"]` shows one."""
        return tuple(self._opened.tables)

    def __getitem__(self, name: str) -> TableView:
        """Show what an analyst may know of a table: columns, kinds, public bounds and categories; no cell."""
        return self._known(name)[0]

    def declared(self, name: str = "") -> Schema:
        """What is publicly known of a table as a schema, for workloads; by default of the first one."""
        return self._known(name or self.tables[0])[1]

    def schema(self) -> pa.Table:
        """What an analyst may know of the tables: columns, kinds, public bounds and categories; no cell."""
        import pyarrow as pa

        views = {name: view for name, (view, _) in self._opened.tables.items()}
        rows = [{"table": name, **row} for name, view in views.items() for row in view.described.to_pylist()]
        return pa.Table.from_pylist(rows)

    @operation
    @tell_terms
    def ask(
        self, question: Asking, epsilon: Amount, delta: Amount = 0, **terms: Unpack[TermOptions]
    ) -> Steps[Answer | WorkloadAnswer]:
        """Pay for a question and answer it; sent again after a lost connection it is paid once.

        Parameters
        ----------
        question
            SQL, a `Query` or a `Workload`.
        epsilon, delta
            What it may cost, exact.
        **terms
            As in `Terms`, and bounds, such as `bounds={"income": (0, 100_000)}`.

        Raises
        ------
        QuestionError
            The question cannot be answered with a promise; nothing was read or spent.
        BudgetExceededError
            It costs more than is left; nothing was read or spent.
        UnavailableError
            The server was not reached, or was lost; the same question again costs nothing if it was answered.
        """
        answered = yield from self._ask(say_question(question, epsilon, delta, terms))
        return answered.output

    @operation
    @tell_terms
    def release(
        self, question: Asking, epsilon: Amount, delta: Amount = 0, **terms: Unpack[TermOptions]
    ) -> Steps[ServedAnswer]:
        """As `ask`, with the certificate of the answer, and what is left."""
        return (yield from self._ask(say_question(question, epsilon, delta, terms)))

    @operation
    @tell_terms
    def ask_all(
        self,
        questions: Sequence[Asking],
        epsilon: Amount | Sequence[Amount],
        delta: Amount = 0,
        **terms: Unpack[TermOptions],
    ) -> Steps[list[Answer | WorkloadAnswer]]:
        """Ask several questions on the same terms, or none if they do not all fit into what is left.

        `epsilon` is for each of them, or a list with one for each.
        """
        said = _say_all(questions, epsilon, delta, terms)
        quoted = yield from self._quote(said, GROUP_SIZE)
        if not quoted.fits:
            raise BudgetExceededError(quoted.sentence)
        given: list[Answer | WorkloadAnswer] = []
        for each in said:
            answered = yield from self._ask(each)
            given.append(answered.output)
        return given

    @operation
    @tell_terms
    def quote(
        self,
        questions: Asking | Sequence[Asking],
        epsilon: Amount | Sequence[Amount],
        delta: Amount = 0,
        *,
        group_size: int = GROUP_SIZE,
        **terms: Unpack[TermOptions],
    ) -> Steps[Quotation]:
        """Price a question, or several that are to be asked one after the other; nothing is read or spent.

        Where the error depends on how many values a group has, it is told for groups of `group_size`.
        """
        several = [questions] if isinstance(questions, str | Query | Workload) else questions
        return (yield from self._quote(_say_all(several, epsilon, delta, terms), group_size))

    @operation
    def left(self) -> Steps[Fraction]:
        """The epsilon that is certainly left by plain addition (see `Ledger.left`)."""
        return Fraction((yield from self._look())["left"])

    @operation
    def remainder(self) -> Steps[str]:
        """What is left in the words of the grant's rule."""
        return str((yield from self._look())["remainder"])

    @operation
    def history(self) -> Steps[list[Past]]:
        """What this analyst has paid for, oldest first; a question that was replayed is listed once."""
        request = WireRequest("GET", "/v1/history", {"table": self._opened.private[0]})
        told = yield from exchange(request, self._patience)
        return [_read_past(each) for each in told["questions"]]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.tables)

    def _known(self, name: str) -> tuple[TableView, Schema]:
        if name not in self._opened.tables:
            raise ParameterError(f"There is no table {name!r} in this session; {nearest(name, self.tables)}")
        return self._opened.tables[name]

    def _ask(self, said: dict[str, Any]) -> Steps[ServedAnswer]:
        body = {"tables": list(self._opened.private), "question": said}
        told = yield from exchange(once(WireRequest("POST", "/v1/ask", body=body)), self._patience)
        answer = read_answer(told["answer"], replayed=told["replayed"])
        late = tuple((told["slot"] or {}).get("not_protected", ()))
        return ServedAnswer(answer, told["certificate"], told["sentence"], told["left"], told["replayed"], late)

    def _quote(self, said: Sequence[dict[str, Any]], group_size: int) -> Steps[Quotation]:
        first, *rest = said
        body = {"tables": list(self._opened.private), "question": first, "also": rest, "group_size": group_size}
        told = yield from exchange(WireRequest("POST", "/v1/quote", body=body, harmless=True), self._patience)
        return Quotation.from_dict(told)

    def _look(self) -> Steps[Mapping[str, Any]]:
        request = WireRequest("GET", "/v1/session", {"table": list(self._opened.private)})
        told: Mapping[str, Any] = yield from exchange(request, self._patience)
        return told

    def _card(self) -> Card:
        kind = "Rehearsal" if self.rehearsal else "RemoteSession"
        about = ", ".join(self._opened.private)
        line = f"{kind} of {self.analyst!r} about {about} at {self.address}, paid by the budget {self.budget!r}"
        rows = [(name, name_some(self[name].columns, 12), str(self[name].unit)) for name in self.tables]
        badge: Badge = "rehearsal" if self.rehearsal else "public"
        return Card(line, "", (), badge, ("table", "columns", "unit"), rows)

    def __repr__(self) -> str:
        return f"<{self._card().title}>"


class RemoteSession(SessionSteps, BlockingSide):
    """One analyst's conversation with tables that a server holds: as `Session`, and every call waits for its answer.

    Promise: that of the server's sessions: every answer is paid for before a row is read. A call whose connection is
    lost is sent again with the same Idempotency-Key, so that nothing is paid twice.

    Parameters
    ----------
    wire
        What sends.
    opened
        What the server said when it was opened.
    patience
        For how many seconds in all a call waits between its attempts.
    """

    def __init__(self, wire: BlockingWire, opened: KnownSession, patience: float = PATIENCE) -> None:
        BlockingSide.__init__(self, wire)
        SessionSteps.__init__(self, wire.place.address, opened, patience)


class AsyncRemoteSession(SessionSteps, AwaitingSide):
    """As `RemoteSession`; every call is awaited.

    Parameters
    ----------
    wire
        What sends.
    opened
        What the server said when it was opened.
    patience
        For how many seconds in all a call waits between its attempts.
    """

    def __init__(self, wire: AwaitingWire, opened: KnownSession, patience: float = PATIENCE) -> None:
        AwaitingSide.__init__(self, wire)
        SessionSteps.__init__(self, wire.place.address, opened, patience)


def _say_all(
    questions: Sequence[Asking], epsilon: Amount | Sequence[Amount], delta: Amount, terms: TermOptions
) -> list[dict[str, Any]]:
    several = isinstance(epsilon, Sequence) and not isinstance(epsilon, str)
    epsilons: Sequence[Any] = epsilon if several else [epsilon] * len(questions)  # type: ignore[assignment]
    if len(epsilons) != len(questions) or not questions:
        raise ParameterError("Give at least one question, and one epsilon for all or as many as questions.")
    return [say_question(each, part, delta, terms) for each, part in zip(questions, epsilons, strict=True)]


def _read_past(told: Mapping[str, Any]) -> Past:
    answer = None if told["answer"] is None else read_answer(told["answer"])
    return Past(told["time"], told["question"], event_from_dict(told["event"]), told["rehearsal"], answer)
