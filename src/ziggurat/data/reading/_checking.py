"""Check a table against its schema, and say where and what to do: for the steward, never for an analyst."""

from dataclasses import replace

from ziggurat.data._table import Table
from ziggurat.data._validation import Problem
from ziggurat.data.reading.guessing import Conventions, find_candidates
from ziggurat.data.schema import Kind
from ziggurat.data.written import MISSING_MARKS, UNSURE_MARKS

_PLACES = 3
_REMEDIES = {
    "outside the bounds": "Correct them, or widen the bounds if wider ones are publicly known; questions clamp them.",
    "not among the categories": "Correct them, or add what is publicly possible to 'categories'.",
    "not among the hierarchy": "Correct them, or add them to the hierarchy.",
}
_LEAVE = "Correct them, or let a share of them count as missing with --unreadable 0.01 (unreadable='0.01')."


def check_table(table: Table) -> list[Problem]:
    """Return what contradicts the schema, with the lines of the first cells and what to change.

    Parameters
    ----------
    table
        Opened with on_bad_cell="missing", so that cells that cannot be read are among the problems.
    """
    return [replace(each, remedy=_remedy(table, each)) for each in table.validate(places=_PLACES)]


def _remedy(table: Table, problem: Problem) -> str:
    if problem.column is None or not problem.what.startswith("not readable"):
        return _REMEDIES.get(problem.what, "")
    cells = {cell.strip() for cell in table.unreadable_cells(problem.column)}
    marks = [mark for mark in (*MISSING_MARKS, *UNSURE_MARKS) if mark in cells]
    rest = cells.difference(marks)
    told = f"Add missing: [{', '.join(map(repr, marks))}]" if marks else ""
    written = _written(rest, table.declared[problem.column].kind) if rest else ""
    if not told and not written:
        return _LEAVE
    joined = " and ".join(each for each in (told, written) if each)
    others = "; correct the others." if rest and not written else "."
    return f"{joined[0].upper()}{joined[1:]} to the column in the schema{others}"


def _written(cells: set[str], kind: Kind) -> str:
    """How cells that could not be read would be read, if one notation reads them all."""
    numbers = (Kind.INTEGER, Kind.REAL)
    for candidate in find_candidates(cells, Conventions()):
        alike = candidate.kind is kind or (candidate.kind in numbers and kind in numbers)
        if alike and candidate.written is not None and not candidate.rival:
            inner = ", ".join(f"{name}: {value!r}" for name, value in candidate.written.to_dict().items())
            return f"add written: {{{inner}}}"
    return ""
