"""What a ledger tells people: quotes before a question, statements after it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ziggurat.ledger._entries import Budget, Grant
from ziggurat.ledger._rules import fits, refusal
from ziggurat.ledger._state import GrantState, TableState
from ziggurat.privacy import Event, Spent, in_words, profile


@dataclass(frozen=True)
class Quote:
    """What an event would cost an analyst; making one reads no data and spends nothing.

    Attributes
    ----------
    fits
        Whether the filter admits the event now.
    epsilon
        The epsilon of the event alone; None if it is not epsilon-DP with delta 0.
    share_before, share_after
        How much of the grant is used: exact, above 1 when it is exhausted.
    left_before, left_after
        The epsilon certainly left for further epsilon-DP questions.
    replayed
        Whether the same question has been answered, so that asking again costs nothing.
    sentence
        All this in words.
    """

    fits: bool
    epsilon: Fraction | None
    share_before: Fraction
    share_after: Fraction
    left_before: Fraction
    left_after: Fraction
    replayed: bool
    sentence: str


def make_quote(grant: GrantState, event: Event, replayed: bool) -> Quote:
    """Work out what an event would cost under a grant."""
    before, rule, cost = grant.spent, grant.filter, profile(event)
    after = before if replayed else before.plus(event)
    admitted = replayed or fits(grant, event)
    return Quote(
        admitted,
        None if cost.delta > 0 else cost.epsilon,
        rule.share_used(before),
        rule.share_used(after),
        rule.left(before),
        rule.left(after),
        replayed,
        _quoted(grant, after, admitted, replayed),
    )


def _quoted(grant: GrantState, after: Spent, admitted: bool, replayed: bool) -> str:
    if replayed:
        return "This question has been answered before; asking it again costs nothing."
    if not admitted:
        return refusal(grant)
    before = grant.spent
    return (
        f"The question fits: {_percent(grant.filter.share_used(before))} of the grant is used before it and "
        f"{_percent(grant.filter.share_used(after))} after it, leaving epsilon "
        f"{in_words(grant.filter.left(after))}."
    )


def _percent(share: Fraction) -> str:
    return "100%" if share >= 1 else f"{in_words(100 * share, 3)}%"


@dataclass(frozen=True)
class GrantStatement:
    """What was granted to an analyst and what became of it; every amount is exact."""

    grant: Grant
    spent: Spent
    left: Fraction
    share: Fraction
    questions: int
    pending: int
    expired: int
    closed: bool

    def sentence(self) -> str:
        """Say it in words."""
        grant = self.grant
        text = (
            f"{grant.analyst} was granted epsilon {in_words(grant.epsilon)} and delta {in_words(grant.delta)} "
            f"({grant.rule} rule) and has used {_percent(self.share)} of it on {_count(self.questions, 'question')}"
        )
        unanswered = [f"{n} {word}" for n, word in ((self.pending, "pending"), (self.expired, "expired")) if n]
        text += f", of which {' and '.join(unanswered)}" if unanswered else ""
        return f"{text}; {'the grant is closed' if self.closed else f'epsilon {in_words(self.left)} is left'}."


@dataclass(frozen=True)
class Statement:
    """What was promised about a table, what was granted of it, what was spent, and what escaped all promises."""

    table: str
    budget: Budget | None
    grants: tuple[GrantStatement, ...]
    ungranted_epsilon: Fraction
    ungranted_delta: Fraction
    unbounded: tuple[str, ...]

    def sentences(self) -> list[str]:
        """Say it in words, releases without a guarantee first."""
        return [*unbounded_note(self.table, len(self.unbounded)), *self._budgeted()]

    def _budgeted(self) -> list[str]:
        if self.budget is None:
            return [f"The table {self.table} has no budget."]
        total = (
            f"The table {self.table} has a budget of epsilon {in_words(self.budget.epsilon)} and delta "
            f"{in_words(self.budget.delta)} ({self.budget.neighbours}), of which epsilon "
            f"{in_words(self.ungranted_epsilon)} and delta {in_words(self.ungranted_delta)} are not granted."
        )
        return [total, *(grant.sentence() for grant in self.grants)]


def make_statement(name: str, table: TableState, time: str) -> Statement:
    """State a table's account as of `time`."""
    epsilon, delta = table.charged()
    whole = (table.budget.epsilon, table.budget.delta) if table.budget else (epsilon, delta)
    grants = tuple(_granted(grant, time) for grant in table.grants)
    return Statement(name, table.budget, grants, whole[0] - epsilon, whole[1] - delta, tuple(table.unbounded))


def _granted(grant: GrantState, time: str) -> GrantStatement:
    left = Fraction(0) if grant.closed else grant.filter.left(grant.spent)
    share = grant.filter.share_used(grant.spent)
    counts = grant.spent.count, grant.pending(time), grant.expired(time)
    return GrantStatement(grant.grant, grant.spent, left, share, *counts, grant.closed)


def unbounded_note(table: str, count: int) -> list[str]:
    """Warn of releases without a guarantee, if there were any."""
    if not count:
        return []
    return [f"The table {table} also had {_count(count, 'release')} without a guarantee."]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
