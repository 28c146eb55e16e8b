"""What a ledger tells people: quotes before a question, statements after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ziggurat.cards import Card, Shown, name_some
from ziggurat.ledger._entries import Budget, Grant, Unbounded, WentOn
from ziggurat.ledger._left import Remainder, in_the_rules_words, percent, share_left, share_used
from ziggurat.ledger._populations import same_promise
from ziggurat.ledger._rules import fits, refusal
from ziggurat.ledger._state import GrantState, State, TableState
from ziggurat.privacy import Event, Neighbours, Spent, in_words, profile
from ziggurat.wording import count_noun

Tell = Callable[[str, str], Sequence[str]]
"""Gives every text of a kind (unbounded or decision) about a table."""


@dataclass(frozen=True)
class Quote(Shown):
    """What an event would cost an analyst; making one reads no data and spends nothing.

    Attributes
    ----------
    fits
        Whether the filter admits the event now.
    epsilon
        The epsilon of the event alone; None if it is not epsilon-DP with delta 0.
    share_before, share_after
        How much of the grant is used, by the measure of its rule that has used least; 1 or more when nothing more
        fits.
    left_before, left_after
        The epsilon certainly left by plain addition (see `Ledger.left`); 0 need not mean that nothing more fits.
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
        share_used(rule, before),
        share_used(rule, after),
        rule.left(before),
        rule.left(after),
        replayed,
        _say_quote(grant, event, admitted, replayed),
    )


def _say_quote(grant: GrantState, event: Event, admitted: bool, replayed: bool) -> str:
    if replayed:
        return "This question has been answered before; asking it again costs nothing."
    if not admitted:
        return refusal(grant, event)
    rule, after = grant.filter, grant.spent.plus(event)
    left = in_the_rules_words(rule, after)
    return (
        f"The question fits: {percent(share_used(rule, grant.spent))} of the grant is used before it and "
        f"{percent(share_used(rule, after))} after it, leaving {left.amount}{left.detail}."
    )


@dataclass(frozen=True, kw_only=True)
class GrantStatement(Shown):
    """What was granted to an analyst and what became of it; every amount is exact.

    Attributes
    ----------
    grant, spent
        What was granted, and the totals of what was spent.
    left
        The epsilon certainly left by plain addition (see `Ledger.left`).
    share, share_left
        How much is used and left by the measure of the rule that has used least.
    remainder
        What is left in words.
    questions, pending, expired, rehearsals
        How many questions were reserved, and how many of them may still be answered, never will be, or were
        rehearsals.
    closed
        Whether the grant was ended.
    """

    grant: Grant
    spent: Spent
    left: Fraction
    share: Fraction
    share_left: Fraction
    remainder: Remainder
    questions: int
    pending: int
    expired: int
    rehearsals: int
    closed: bool

    def sentences(self) -> list[str]:
        """Say it in words."""
        grant = self.grant
        text = (
            f"{grant.analyst} was granted epsilon {in_words(grant.epsilon)} and delta {in_words(grant.delta)} "
            f"({grant.rule} rule) and has used {percent(self.share)} of it on {count_noun(self.questions, 'question')}"
        )
        unanswered = [f"{n} {word}" for n, word in ((self.pending, "pending"), (self.expired, "expired")) if n]
        text += f", of which {' and '.join(unanswered)}" if unanswered else ""
        left = f"{self.remainder.amount} is left{self.remainder.detail}"
        return [f"{text}; {'the grant is closed' if self.closed else left}.", *self._say_rehearsed()]

    def _card(self) -> Card:
        return Card("GrantStatement", " ".join(self.sentences()))

    def _say_rehearsed(self) -> list[str]:
        if not self.rehearsals:
            return []
        one = self.rehearsals == 1
        were, whose = ("was a rehearsal", "its answer") if one else ("were rehearsals", "their answers")
        return [f"{self.rehearsals} of these questions {were}; {whose} may never be published."]


@dataclass(frozen=True)
class Statement(Shown):
    """What was promised about a table, what was granted of it, what was spent, and what escaped all promises."""

    table: str
    budget: Budget | None
    grants: tuple[GrantStatement, ...]
    ungranted_epsilon: Fraction
    ungranted_delta: Fraction
    unbounded: tuple[str, ...]
    decisions: tuple[str, ...] = ()

    def sentences(self, *, alone: bool = True) -> list[str]:
        """Say it in words: the budget, what no budget covers or a gate had stopped (`alone`), then each grant."""
        granted = [sentence for grant in self.grants for sentence in grant.sentences()]
        notes = [*unbounded_note(self.table, len(self.unbounded)), *decision_notes(self.table, self.decisions)]
        return [self._say_budget(), *(notes if alone else []), *granted]

    def _card(self) -> Card:
        return Card("Statement", " ".join(self.sentences()), heads=_HEADS, rows=list_grants(self))

    def _say_budget(self) -> str:
        if self.budget is None:
            return f"The table {self.table} has no budget."
        return (
            f"The table {self.table} has a budget of epsilon {in_words(self.budget.epsilon)} and delta "
            f"{in_words(self.budget.delta)} ({self.budget.neighbours}), of which epsilon "
            f"{in_words(self.ungranted_epsilon)} and delta {in_words(self.ungranted_delta)} are not granted."
        )


@dataclass(frozen=True)
class Total(Shown):
    """What all budgets under one promise come to; a delta of 1 or more promises nothing, and is told as it is."""

    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction

    def plus(self, budget: Budget) -> Total:
        """Add one more budget under the same promise."""
        return Total(self.neighbours, self.epsilon + budget.epsilon, self.delta + budget.delta)


@dataclass(frozen=True)
class PopulationStatement(Shown):
    """The one account of a population: every promise by itself, and what escaped all promises.

    Attributes
    ----------
    population, tables
        Its name, and the other names that are about the same people.
    budgets
        A statement for each budget.
    unbounded
        All releases without a guarantee, of whichever table.
    decisions
        Every decision of the steward to go on with a release that was stopped, with the table that it is about.
    """

    population: str
    tables: tuple[str, ...]
    budgets: tuple[Statement, ...]
    unbounded: tuple[str, ...]
    decisions: tuple[tuple[str, str], ...] = ()

    def totals(self) -> list[Total]:
        """Add up budgets under the same promise; there are several only where they were registered afterwards.

        Promises about different units or relations are never added up.
        """
        merged: list[Total] = []
        for budget in (each.budget for each in self.budgets if each.budget is not None):
            same = [place for place, one in enumerate(merged) if same_promise(one.neighbours, budget.neighbours)]
            if same:
                merged[same[0]] = merged[same[0]].plus(budget)
            else:
                merged.append(Total(budget.neighbours, budget.epsilon, budget.delta))
        return merged

    def sentences(self) -> list[str]:
        """Say it in words: whose account it is, each budget with its grants, how they stand to each other."""
        stated = [sentence for each in self.budgets for sentence in each.sentences(alone=False)]
        nothing = [] if self.budgets else [f"The table {self.population} has no budget."]
        notes = unbounded_note(self.population, len(self.unbounded), "population" if self.tables else "table")
        decided = [note for table, what in self.decisions for note in decision_notes(table, [what])]
        return [*self._members(), *nothing, *stated, *self._together(), *notes, *decided]

    def _card(self) -> Card:
        rows = [row for each in self.budgets for row in list_grants(each)]
        return Card("PopulationStatement", " ".join(self.sentences()), heads=_HEADS, rows=rows)

    def _members(self) -> list[str]:
        if not self.tables:
            return []
        return [f"The population {self.population} includes {', '.join(self.tables)}: they are about the same people."]

    def _together(self) -> list[str]:
        totals = self.totals()
        said = []
        if len(totals) < len(self.budgets):
            parts = [
                f"epsilon {in_words(one.epsilon)} and delta {in_words(one.delta)} ({one.neighbours})" for one in totals
            ]
            said.append(f"Its budgets add up to {'; '.join(parts)}.")
        if len(totals) > 1:
            said.append(
                f"These are {len(totals)} promises side by side, not one number: each is about what was paid from it, "
                "and neither follows from the other."
            )
        return said


_HEADS = ("budget", "analyst", "granted", "used", "left", "questions")


def list_grants(statement: Statement) -> list[tuple[str, ...]]:
    """List the grants of a budget: who, how much, and what is left."""
    return [
        (
            statement.table,
            each.grant.analyst,
            f"epsilon {in_words(each.grant.epsilon)}",
            percent(each.share),
            "closed" if each.closed else each.remainder.amount,
            f"{each.questions:,}",
        )
        for each in statement.grants
    ]


def tell_ledger(held: Sequence[Statement], entries: int) -> Card:
    """Tell of a ledger in a card: its budgets, and what became of every grant."""
    names = name_some([each.table for each in held], 4) or "none yet"
    granted, asked = sum(len(each.grants) for each in held), sum(one.questions for each in held for one in each.grants)
    counted = f"{count_noun(granted, 'grant')}, {count_noun(asked, 'question')}, {count_noun(entries, 'entry')}"
    rows = [row for each in held for row in list_grants(each)]
    return Card("Ledger", f"{count_noun(len(held), 'budget')} ({names}), {counted}", heads=_HEADS, rows=rows)


def make_population_statement(state: State, name: str, time: str, tell: Tell) -> PopulationStatement:
    """State the account of a population as of `time`; `name` is its own or that of one of its tables."""
    first, *others = state.family(name)
    names = [each for each in (first, *others) if each in state.tables]
    if not names and first not in state.members and not others:
        state.table(name)
    budgeted = [each for each in names if state.tables[each].budget is not None]
    held = [make_statement(each, state.tables[each], time, tell) for each in budgeted]
    unbounded = tuple(what for each in names for what in tell(Unbounded.kind, each))
    decided = tuple((each, what) for each in names for what in tell(WentOn.kind, each))
    return PopulationStatement(first, tuple(others), tuple(held), unbounded, decided)


def make_statement(name: str, table: TableState, time: str, tell: Tell) -> Statement:
    """State a table's account as of `time`."""
    epsilon, delta = table.charged()
    whole = (table.budget.epsilon, table.budget.delta) if table.budget else (epsilon, delta)
    grants = tuple(state_grant(grant, time) for grant in table.grants)
    left = (whole[0] - epsilon, whole[1] - delta)
    unbounded, decided = tuple(tell(Unbounded.kind, name)), tuple(tell(WentOn.kind, name))
    return Statement(name, table.budget, grants, *left, unbounded, decided)


def state_grant(grant: GrantState, time: str) -> GrantStatement:
    """State one grant as of `time`."""
    rule, spent, nothing = grant.filter, grant.spent, Fraction(0)
    return GrantStatement(
        grant=grant.grant,
        spent=spent,
        left=nothing if grant.closed else rule.left(spent),
        share=share_used(rule, spent),
        share_left=nothing if grant.closed else share_left(rule, spent),
        remainder=in_the_rules_words(rule, spent),
        questions=spent.count,
        pending=grant.pending(time),
        expired=grant.expired(time),
        rehearsals=grant.rehearsals,
        closed=grant.closed,
    )


def unbounded_note(table: str, count: int, noun: str = "table") -> list[str]:
    """Warn of releases without a guarantee, if there were any."""
    if not count:
        return []
    return [f"The {noun} {table} had {count_noun(count, 'release')} without a guarantee, which no budget covers."]


def decision_notes(table: str, decisions: Iterable[str]) -> list[str]:
    """Tell every decision of the steward to go on, each in a sentence."""
    return [f"The steward of the table {table} went on although {what.rstrip('.')}." for what in decisions]
