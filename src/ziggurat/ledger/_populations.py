"""Populations: which of the budgets about the same people pays for an event, and as what it counts there.

A population is a name that the steward declares; tables and budgets are registered under it, and a name that was
never registered is a population of its own. All budgets of a population are one account of its people: there is at most
one under each promise (a unit and a relation), so that whatever is released about them, from whichever table and by
whichever method, adds up there.

An event counts in a budget that protects the same unit
- as it is, where the relations are the same;
- as a group of two (2 epsilon, 4 rho, 2 mu, (1 + e^epsilon) delta), where the event is about adding or removing one
  unit and the budget about replacing one: a replaced unit is one removed and one added;
- not at all the other way round: from replace-one nothing follows for add-or-remove-one (a mechanism may publish the
  number of units and promise everything under replace-one). Such an event is refused, with the budget that it needs.
"""

from __future__ import annotations

from ziggurat.data import Unit
from ziggurat.errors import MixedNeighboursError
from ziggurat.ledger._entries import Budget
from ziggurat.ledger._state import State
from ziggurat.privacy import Event, Neighbours, Relation, as_replace_one, rename_unit

_OF_A_COLUMN = "label"
"""A unit that is one cell of its column: another column is another unit, and not another name for the same people."""


def same_promise(one: Neighbours, other: Neighbours) -> bool:
    """Tell whether two budgets protect the same unit under the same relation, by whichever columns they tell it."""
    return one.relation is other.relation and _same_unit(one.unit, other.unit)


def _same_unit(one: Unit, other: Unit) -> bool:
    return one == other or one.name == other.name != _OF_A_COLUMN


def paying(state: State, name: str, whom: Neighbours, analyst: str | None = None) -> Budget:
    """Find the budget that pays for what is promised to `whom` about a table.

    Its own budget comes before others of its population, one that counts the event as it is before one that counts it
    twice, and one of which the analyst has a grant before one of which not.
    """
    budgets = state.budgets(name) or [state.budget(name)]
    member = state.members.get(name)
    column = None if member is None else member.column
    reached = [budget for budget in budgets if _reaches(whom, budget.neighbours, column)]
    if not reached:
        raise MixedNeighboursError(_say_needed(state.population(name), whom, budgets))

    def last(budget: Budget) -> tuple[bool, bool]:
        granted = analyst is None or analyst in state.tables[budget.table].current
        return not granted, budget.neighbours.relation is not whom.relation

    return min(reached, key=last)


def count_for(event: Event, protected: Neighbours) -> Event:
    """State an event as a budget counts it."""
    stated = rename_unit(event, protected.unit)
    return stated if protected.relation is Relation.ADD_OR_REMOVE_ONE else as_replace_one(stated)


def _reaches(whom: Neighbours, protected: Neighbours, column: str | None) -> bool:
    declared = column is not None and whom.unit.column == column and _same_unit(whom.unit, protected.unit)
    if whom.unit != protected.unit and not declared:
        return False
    return whom.relation is protected.relation or whom.relation is Relation.ADD_OR_REMOVE_ONE


def _say_needed(population: str, whom: Neighbours, budgets: list[Budget]) -> str:
    held = " and ".join(f"{budget.table!r} ({budget.neighbours})" for budget in budgets)
    others = "budget" if len(budgets) == 1 else "budgets"
    return (
        f"This is promised about {whom}, which cannot be combined with the {others} {held} of the population "
        f"{population!r}: nothing follows from the one for the other. Create a budget beside it with 'ziggurat ledger "
        f"budget {population}-{whom.unit.name} --population {population}{in_options(whom)} --epsilon …'; both promises "
        "are then shown side by side."
    )


def in_options(whom: Neighbours) -> str:
    """A unit and a relation as `ziggurat ledger budget` takes them."""
    relation = "" if whom.relation is Relation.ADD_OR_REMOVE_ONE else f" --relation {whom.relation}"
    return _unit_option(whom.unit) + relation


def _unit_option(unit: Unit) -> str:
    if unit.column is None:
        return ""
    return f" --person {unit.column}" if unit.name == "person" else f" --unit {unit.name}={unit.column}"
