"""Populations whose stewards let everybody read what was promised and spent about the people in them.

Promise: what is told follows from the ledger and from public facts alone. No table is opened and nobody's name is
looked at, so that the answer is the same for everybody, whether or not they are among these people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select

from ziggurat.errors import UnknownNameError
from ziggurat.privacy import Relation, best_posterior, in_words
from ziggurat.service.store import ServiceStore, populations
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.ledger import GrantStatement, Ledger, Statement

_GUESSES = ("1/2", "1/10", "1/100")


class PopulationBook:
    """Which populations everybody may ask about, kept in the database."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def set_open(self, name: str, is_open: bool) -> None:
        """Let everybody read what was promised about a population, or nobody but its stewards."""
        with self._store.write() as connection:
            connection.execute(delete(populations).where(populations.c.name == name))
            connection.execute(populations.insert().values(name=name, open=is_open))

    def require_open(self, name: str) -> None:
        """Refuse what no steward has opened, in the words for a name that nobody knows."""
        with self._store.read() as connection:
            found = connection.execute(select(populations.c.open).where(populations.c.name == name)).scalar()
        if not found:
            raise UnknownNameError(f"There is no population {name!r} whose steward made its promises public.")


def tell_promise(ledger: Ledger, name: str) -> dict[str, Any]:
    """Say in plain words what was promised about the people of a population, and what of it was spent.

    Parameters
    ----------
    ledger
        Where it was written down.
    name
        The population.
    """
    known = name in ledger.populations()
    account = ledger.account(name) if known else None
    promises = [] if account is None else [_tell_budget(each) for each in account.budgets if each.budget is not None]
    without = 0 if account is None else len(account.unbounded)
    stopped = 0 if account is None else len(account.decisions)
    return {
        "population": name,
        "promises": promises,
        "without_promise": without,
        "sentences": [
            *(sentence for each in promises for sentence in each["sentences"]),
            *_tell_together(len(promises)),
            *_tell_rest(without, stopped),
        ],
    }


def _tell_budget(statement: Statement) -> dict[str, Any]:
    assert statement.budget is not None  # whoever calls this has looked
    budget, spent, delta = statement.budget, Fraction(0), Fraction(0)
    for grant in statement.grants:
        used = _used(grant)
        spent, delta = spent + used[0], delta + used[1]
    questions = sum(each.questions for each in statement.grants)
    replaced = budget.neighbours.relation is Relation.REPLACE_ONE
    secret = "which of two records is theirs" if replaced else "whether somebody is among them"
    return {
        "protects": str(budget.neighbours),
        "epsilon": str(budget.epsilon),
        "delta": str(budget.delta),
        "spent": {"epsilon": str(spent), "delta": str(delta), "questions": questions},
        "guesses": [{"before": before, "after_at_most": _after(spent, before)} for before in _GUESSES],
        "sentences": [
            f"All that will ever leave under this budget costs at most epsilon {in_words(budget.epsilon)} and delta "
            f"{in_words(budget.delta)} ({budget.neighbours}); {count_noun(questions, 'question')} so far cost at most "
            f"epsilon {in_words(spent)} and delta {in_words(delta)} of it.",
            _say_guess(secret, spent, delta),
        ],
    }


def _used(grant: GrantStatement) -> tuple[Fraction, Fraction]:
    """What a grant has cost at most: plain sums where they are smaller, else what its rule keeps it within."""
    if not grant.questions:
        return Fraction(0), Fraction(0)
    spent = grant.spent
    if spent.epsilon is not None and spent.epsilon <= grant.grant.epsilon:
        return spent.epsilon, spent.delta
    return grant.grant.epsilon, grant.grant.delta


def _after(epsilon: Fraction, before: str) -> float:
    return float(Fraction(before)) if not epsilon else best_posterior(epsilon, before)


def _say_guess(secret: str, epsilon: Fraction, delta: Fraction) -> str:
    if not epsilon and not delta:
        return f"Nobody can guess better than before {secret}: nothing was spent."
    after = [min(math.ceil(1000 * _after(epsilon, each)) / 10, 100.0) for each in ("1/2", "1/100")]
    but = f", except with a probability of {in_words(delta)}" if delta else ""
    return (
        f"Whoever guesses about one person {secret}, and was right in 50 of 100 cases before, is right in at most "
        f"{after[0]:g} of 100 after seeing everything; one who was right in 1 of 100, in at most {after[1]:g}{but}."
    )


def _tell_together(count: int) -> Iterable[str]:
    if count > 1:
        yield f"These are {count} promises side by side, each about what was paid from it; none follows from another."
    if not count:
        yield "No budget was made about these people, so that nothing was released about them with a promise."


def _tell_rest(without: int, stopped: int) -> Iterable[str]:
    if without:
        yield f"{count_noun(without, 'release')} left without such a promise, which no budget covers."
    if stopped:
        yield f"The steward went on {count_noun(stopped, 'time')} although a check had stopped a release."
    yield "This is told to everybody alike: it is read off the ledger, and no table is opened to answer it."
