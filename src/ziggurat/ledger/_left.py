"""What is left of a grant, in the unit that its rule counts.

Under the zcdp and gaussian rules a grant has two measures: the sum of epsilons, and a total of rhos or squares of mu.
One of them is enough to go on, so a grant is used up only when both are.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from ziggurat.privacy import Filter, Spent, in_words

_OTHER_MEASURES = {"zcdp": "rho", "gaussian": "mu_squared"}
_NAMES = {"rho": "rho", "mu_squared": "squared mu"}
_ONE_OF_EACH = Spent(1, None, Fraction(0), Fraction(1), Fraction(1))


def share_used(rule: Filter, spent: Spent) -> Fraction:
    """How much of a grant is used, by the measure that has used least; at least 1 when nothing more fits."""
    least = min(rule.share_used(spent), rule.share_used(replace(spent, epsilon=None)))
    return least if rule.allows(spent) else max(least, Fraction(1))


def share_left(rule: Filter, spent: Spent) -> Fraction:
    """How much of a grant is left, between 0 and 1; 0 means that nothing more fits."""
    return 1 - min(share_used(rule, spent), Fraction(1))


def other_left(rule: Filter, spent: Spent) -> tuple[str, Fraction] | None:
    """What is left of the measure besides epsilon, and its name; None if the rule or what was spent has none."""
    measure = _OTHER_MEASURES.get(rule.name)
    used: Fraction | None = None if measure is None else getattr(spent, measure)
    if measure is None or used is None or not rule.allows(spent):
        return None
    whole = 1 / rule.share_used(_ONE_OF_EACH)
    return _NAMES[measure], max(whole - used, Fraction(0))


class Remainder(NamedTuple):
    """What is left in words: an amount, and what it consists of."""

    amount: str
    detail: str = ""


def in_the_rules_words(rule: Filter, spent: Spent) -> Remainder:
    """Say what is left; it reads as nothing only if no further question fits."""
    note = f", with delta {in_words(delta_left(rule, spent))} for questions that have one" if spent.delta else ""
    note = _why_taken_whole(rule, spent) or note
    if rule.name not in _OTHER_MEASURES:
        return Remainder(f"epsilon {in_words(rule.left(spent))}", note)
    if not share_left(rule, spent):
        return Remainder("nothing", _why_taken_whole(rule, spent))
    other, epsilon = other_left(rule, spent), rule.left(spent)
    parts = [f"epsilon {in_words(epsilon)} by addition"] if epsilon else []
    parts += [f"{other[0]} {in_words(other[1])}"] if other is not None and other[1] else []
    return Remainder(percent(share_left(rule, spent)), f", that is {' or '.join(parts)}{note}")


def _why_taken_whole(rule: Filter, spent: Spent) -> str:
    """Say why a first question, which may use the whole grant, did so though it costs less; else nothing."""
    most, measure = rule.delta_for_events(), _OTHER_MEASURES.get(rule.name)
    if spent.delta > most:
        return (
            f", because the first question has a delta of {in_words(spent.delta)}, where the {rule.name} rule allows "
            f"questions {in_words(most)} of the grant's, and so took all of it"
        )
    if spent.epsilon is not None or (measure is not None and getattr(spent, measure) is not None):
        return ""
    lacking = "epsilon" if measure is None else f"epsilon or {_NAMES[measure]}"
    return (
        f", because the first question has no {lacking} that the {rule.name} rule could add up, as with Gaussian noise "
        "or sampling, and so took all of the grant"
    )


def delta_left(rule: Filter, spent: Spent) -> Fraction:
    """What is left for the deltas of events that have one."""
    return max(rule.delta_for_events() - spent.delta, Fraction(0))


def percent(share: Fraction) -> str:
    """Write a share for people."""
    return "100%" if share >= 1 else f"{in_words(100 * share, 3)}%"
