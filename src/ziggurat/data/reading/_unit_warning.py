"""Warn who opens a table of people's rows without saying whose they are."""

import warnings

from sqlglot import exp

from ziggurat.data._table import Table
from ziggurat.data.expressions import count_where, is_present, only_where, reference
from ziggurat.data.schema import Column, Kind, Role, is_bare_name, names_a_person, names_a_unit, roles_in_name
from ziggurat.errors import UnitWarning

_MOST_CANDIDATES = 3
_LEAST_PEOPLE = 3


def warn_of_people(table: Table) -> None:
    """Warn if a column is named like one that tells people apart and its values repeat: the unit is then a person.

    Only columns with such names are looked at, three at most, and no value is shown.

    Parameters
    ----------
    table
        Opened without a schema and without a unit.
    """
    named = [column for column in table.schema.columns if _names_people(column)]
    chosen = sorted(named, key=lambda column: not names_a_person(column.name))[:_MOST_CANDIDATES]
    for name, found in table.tally(chosen, _ask_repeats).items():
        if _LEAST_PEOPLE <= found["distinct"] < found["filled"]:
            warnings.warn(_say(name), UnitWarning, stacklevel=3)
            return


def _names_people(column: Column) -> bool:
    if column.storage not in (Kind.TEXT, Kind.INTEGER):
        return False
    told = [word for role, word in roles_in_name(column.name) if role is Role.IDENTIFIER and not is_bare_name(word)]
    return bool(told) or bool(names_a_unit(column.name) and not roles_in_name(column.name))


def _ask_repeats(column: Column) -> dict[str, exp.Expr]:
    cell = only_where(is_present(column), reference(column))
    return {"filled": count_where(is_present(column)), "distinct": exp.Count(this=exp.Distinct(expressions=[cell]))}


def _say(name: str) -> str:
    what = "a person's number" if names_a_person(name) else "an identifier"
    return (
        f"Column {name!r} looks like {what} and its values repeat: say unit={name!r}, otherwise a promise hides "
        "one row, not one person (unit='row' says that this is meant)."
    )
