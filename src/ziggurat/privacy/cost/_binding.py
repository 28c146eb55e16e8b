"""Why no candidate will do: which constraint binds, and by how much."""

from __future__ import annotations

from fractions import Fraction

from ziggurat.privacy.accounting import in_words
from ziggurat.privacy.cost._decision import LEAST, MOST, Decision, edge_of, round_to_digits


def why_not(decision: Decision) -> str:
    """Say in one sentence why no candidate meets every constraint."""
    edges = [(limit, edge_of(limit)) for limit in decision.limits()]
    for limit, place in edges:
        if place is None:
            return _alone(decision, limit.name)
    lowest = max((place for limit, place in edges if place is not None and limit.from_below), default=None)
    tops = [(place, limit.name) for limit, place in edges if place is not None and not limit.from_below]
    highest, name = min(tops, default=(float("inf"), ""))
    if lowest is not None and lowest > highest:
        return _conflict(decision, lowest, highest, name)
    return _between(lowest, highest)


def _between(lowest: float | None, highest: float) -> str:
    low = round_to_digits(lowest) if lowest is not None else None
    high = round_to_digits(highest, up=False)
    if low is None:
        return f"No candidate meets every constraint, but every epsilon up to {high:f} does; make it a candidate."
    reach = "on" if highest == float("inf") else f"to {high:f}"
    return f"No candidate meets every constraint, but every epsilon from {low:f} {reach} does; make one a candidate."


def _alone(decision: Decision, name: str) -> str:
    wanted = decision.wanted
    if name == "budget" and decision.cost is not None and wanted.budget is not None:
        owed = decision.compensation(Fraction(LEAST))
        short = owed - wanted.budget if owed is not None else ""
        return f"The budget binds: {owed} are owed however private the release is, {short} too much; raise it."
    if name == "error":
        left = round_to_digits(decision.noise.within(Fraction(MOST), wanted.confidence))
        most = _plain(wanted.error)
        return f"The error binds: even at an epsilon of {MOST} it is {left:f}, more than {most}; allow more."
    return "Privacy at risk binds: no epsilon of at least 0.000001 gives this confidence; ask for less of it."


def _conflict(decision: Decision, lowest: float, highest: float, name: str) -> str:
    wanted, needed, most = (
        decision.wanted,
        Fraction(round_to_digits(lowest)),
        Fraction(round_to_digits(highest, up=False)),
    )
    error = round_to_digits(decision.noise.within(most, wanted.confidence))
    start = f"The error and {'the budget' if name == 'budget' else name} contradict each other: an error of at most "
    start += f"{_plain(wanted.error)} needs an epsilon of at least {round_to_digits(lowest):f}, "
    end = f"; {{}} epsilon is at most {round_to_digits(highest, up=False):f}, and the error {error:f}."
    if name == "budget" and wanted.budget is not None:
        cost = decision.compensation(needed)
        over = cost - wanted.budget if cost is not None else ""
        return start + f"which costs {cost}, {over} too much" + end.format("within the budget")
    share = 0.0 if wanted.within is None else decision.noise.at_risk(needed).confidence(wanted.within)
    likely = round_to_digits(share, up=False)
    return (
        start
        + f"where the loss stays within {_plain(wanted.within)} with probability {likely:f} only"
        + end.format(f"for {_plain(wanted.at_risk)}")
    )


def _plain(amount: Fraction | None) -> str:
    return "" if amount is None else in_words(amount)
