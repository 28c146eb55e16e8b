"""What questions would cost, and how exact their answers would be, before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ziggurat.cards import Card, Shown
from ziggurat.errors import LedgerUseError, ParameterError
from ziggurat.ledger import GrantStatement, Ledger
from ziggurat.privacy import (
    ApproximateDP,
    Event,
    PureDP,
    compose,
    compose_events,
    event_from_dict,
    in_words,
    make_filter,
    profile,
)
from ziggurat.queries.answering import GROUP_SIZE, QuotedPart
from ziggurat.release._certificate import best_promise
from ziggurat.release._plan import Plan
from ziggurat.wording import count_noun


@dataclass(frozen=True)
class QuotedQuestion(Shown):
    """One question of a quotation.

    Attributes
    ----------
    question
        Its canonical text.
    event, guarantee
        What answering it will do to the data, as the budget counts it, and what that promises by itself.
    parts
        What is measured, at what cost, and how far off it will be.
    replayed
        Whether it has been answered before (or stands earlier in the same batch), so that it costs nothing.
    """

    question: str
    event: Event
    guarantee: PureDP | ApproximateDP
    parts: tuple[QuotedPart, ...]
    replayed: bool

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of the guarantee."""
        return self.guarantee.epsilon

    @property
    def delta(self) -> Fraction:
        """The delta of the guarantee; 0 if it is pure."""
        return _delta(self.guarantee)

    def _card(self) -> Card:
        cost = "answered before, so it costs nothing" if self.replayed else str(self.guarantee)
        return Card("QuotedQuestion", cost, [("question", self.question)], heads=_HEADS, rows=_list_parts(self))

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "question": self.question,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "route": _route(self.guarantee),
            "event": self.event.to_dict(),
            "replayed": self.replayed,
            "parts": [part.to_dict() for part in self.parts],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> QuotedQuestion:
        """Read the JSON form."""
        event = event_from_dict(data["event"])
        parts = tuple(QuotedPart.from_dict(each) for each in data["parts"])
        return cls(data["question"], event, _guarantee(event, data), parts, bool(data["replayed"]))


@dataclass(frozen=True)
class Quotation(Shown):
    """What a question, or several together, would cost an analyst; making one reads no data and spends nothing.

    Attributes
    ----------
    questions
        Each question by itself.
    event, guarantee
        All that is new in them, together; None if everything has been answered before.
    fits
        Whether all may be asked, one after the other.
    left_before, left_after
        The epsilon certainly left by plain addition (see `Ledger.left`).
    share_before, share_after
        How much of the grant is used.
    sentence
        The verdict in words.
    """

    questions: tuple[QuotedQuestion, ...]
    event: Event | None
    guarantee: PureDP | ApproximateDP | None
    fits: bool
    left_before: Fraction
    left_after: Fraction
    share_before: Fraction
    share_after: Fraction
    sentence: str

    @property
    def replayed(self) -> bool:
        """Whether everything has been answered before."""
        return self.event is None

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form; amounts are exact, as text."""
        together = self.guarantee
        return {
            "questions": [each.to_dict() for each in self.questions],
            "epsilon": "0" if together is None else str(together.epsilon),
            "delta": "0" if together is None else str(_delta(together)),
            "route": "" if together is None else _route(together),
            "event": None if self.event is None else self.event.to_dict(),
            "fits": self.fits,
            "replayed": self.replayed,
            "left_before": str(self.left_before),
            "left_after": str(self.left_after),
            "share_before": str(self.share_before),
            "share_after": str(self.share_after),
            "sentence": self.sentence,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Quotation:
        """Read the JSON form."""
        event = None if data["event"] is None else event_from_dict(data["event"])
        names = ("left_before", "left_after", "share_before", "share_after")
        return cls(
            tuple(QuotedQuestion.from_dict(each) for each in data["questions"]),
            event,
            None if event is None else _guarantee(event, data),
            bool(data["fits"]),
            **{name: Fraction(data[name]) for name in names},
            sentence=data["sentence"],
        )

    def _card(self) -> Card:
        rows = [row for each in self.questions for row in _list_parts(each)]
        facts = [("question", each.question) for each in self.questions]
        if self.guarantee is not None:
            facts.append(("promise", str(self.guarantee)))
        line = f"{count_noun(len(self.questions), 'question')}. {self.sentence}"
        return Card("Quotation", self.sentence, facts, heads=_HEADS, rows=rows, line=line)

    def __str__(self) -> str:
        """Every part with its cost and its precision, then the verdict."""
        lines = [line for each in self.questions for line in _lines(each)]
        if len(self.questions) > 1 and self.guarantee is not None:
            lines.append(f"Together: {self.guarantee}.")
        return "\n".join([*lines, self.sentence])


_HEADS = ("measured", "cost", "how far off", "by")


def _list_parts(quoted: QuotedQuestion) -> list[tuple[str, ...]]:
    return [(each.name, f"epsilon {in_words(each.epsilon)}", each.precision, each.mechanism) for each in quoted.parts]


def _delta(guarantee: PureDP | ApproximateDP) -> Fraction:
    return guarantee.delta if isinstance(guarantee, ApproximateDP) else Fraction(0)


def _route(guarantee: PureDP | ApproximateDP) -> str:
    return guarantee.route if isinstance(guarantee, ApproximateDP) else ""


def _guarantee(event: Event, data: Mapping[str, Any]) -> PureDP | ApproximateDP:
    epsilon, delta = Fraction(data["epsilon"]), Fraction(data["delta"])
    if not data["route"]:
        return PureDP(event.neighbours, epsilon)
    return ApproximateDP(event.neighbours, epsilon, delta, data["route"])


def _lines(quoted: QuotedQuestion) -> list[str]:
    rows = _list_parts(quoted)
    widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
    table = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    cost = "answered before, so it costs nothing" if quoted.replayed else str(quoted.guarantee)
    return [quoted.question, *(f"  {line}" for line in table), f"  {cost}"]


def make_quotation(
    plans: Sequence[Plan[Any]],
    events: Sequence[Event | None],
    ledger: Ledger,
    population: str,
    analyst: str,
    rehearsal: bool,
    group_size: int = GROUP_SIZE,
) -> Quotation:
    """Price plans in the order in which they would be released; `population` names one, or a table or budget of it."""
    quoted: list[QuotedQuestion] = []
    seen: set[tuple[str, Event]] = set()
    grant = open_grant(ledger, ledger.paying(population, _require_event(events[0]).neighbours, analyst).table, analyst)
    for plan, given in zip(plans, events, strict=True):
        event = _require_event(given)
        counted = ledger.as_counted(population, event, analyst)
        question, seeded = plan.identity(), rehearsal or plan.rehearsal
        key = (repr(question), counted)
        replayed = ledger.quote(population, analyst, event, question, seeded).replayed
        free = replayed or (question is not None and key in seen)
        cost = promise_alone(plan, event, counted, grant.grant.delta)
        quoted.append(QuotedQuestion(plan.text, counted, cost, plan.parts(group_size), free))
        seen.add(key)
    fresh = [each for each in quoted if not each.replayed]
    return _add_up(tuple(quoted), fresh, _admits(grant, fresh), grant, ledger)


def _require_event(event: Event | None) -> Event:
    if event is None:
        raise ParameterError("A release that nothing bounds has no price; the ledger only remembers it.")
    return event


def promise_alone(plan: Plan[Any], event: Event, counted: Event, delta: Fraction) -> PureDP | ApproximateDP:
    """What a plan promises by itself; at the grant's delta where it does not say, or the budget counts it otherwise."""
    own = plan.guarantee() if event == counted else None
    if isinstance(own, PureDP | ApproximateDP):
        return own
    least = profile(counted).delta
    return compose(counted).approximate(least) if least else best_promise(counted, delta)


def _add_up(
    quoted: tuple[QuotedQuestion, ...],
    fresh: Sequence[QuotedQuestion],
    fits: bool,
    grant: GrantStatement,
    ledger: Ledger,
) -> Quotation:
    before, used = grant.left, grant.share
    if not fresh:
        sentence = "All of this has been answered before; asking it again costs nothing."
        return Quotation(quoted, None, None, True, before, before, used, used, sentence)
    event = compose_events(each.event for each in fresh)
    cost = ledger.quote(grant.grant.table, grant.grant.analyst, event)
    sentence = cost.sentence if len(fresh) == 1 else _verdict(len(fresh), fits, grant, cost.left_after)
    return Quotation(
        quoted, event, _together(fresh, event), fits, before, cost.left_after, used, cost.share_after, sentence
    )


def _verdict(count: int, fits: bool, grant: GrantStatement, left: Fraction) -> str:
    if fits:
        return f"The {count} new questions fit together, leaving epsilon {in_words(left)} by plain addition."
    return (
        f"The {count} new questions together cost more than is left of the grant of {grant.grant.analyst!r} on the "
        f"table {grant.grant.table!r} ({grant.remainder.amount}); nothing was read or spent."
    )


def _together(fresh: Sequence[QuotedQuestion], event: Event) -> PureDP | ApproximateDP:
    delta = sum((each.delta for each in fresh), Fraction(0))
    return compose(event).approximate(delta) if delta else compose(event).pure()


def open_grant(ledger: Ledger, budget: str, analyst: str) -> GrantStatement:
    """Find what an analyst may spend."""
    for each in ledger.grants_of(budget, analyst):
        if not each.closed:
            return each
    raise LedgerUseError(f"{analyst!r} has no open grant on the table {budget!r}; the steward must give one first.")


def _admits(grant: GrantStatement, fresh: Sequence[QuotedQuestion]) -> bool:
    """Whether the grant's filter will admit each question after those before it, as the ledger will decide."""
    rule = make_filter(grant.grant.epsilon, grant.grant.delta, grant.grant.rule)
    spent = grant.spent
    for each in fresh:
        if not rule.admits(each.event, spent):
            return False
        spent = spent.plus(each.event)
    return True
