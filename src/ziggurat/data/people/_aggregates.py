"""What can be computed of all rows of one person, and what is publicly known of it.

Nothing is learned here: the public bounds and categories of a new column are a function of what the schema declares of
the old one and of `most`, how many rows of one person are declared to count. Bounds that were learned are refused where
they would be computed with, and stay marked as learned where a cell is only carried over.
"""

import re
from dataclasses import dataclass, replace

from ziggurat.data.schema import INT64_LOWER, INT64_UPPER, Bounds, Column, Kind, Provenance, Role
from ziggurat.errors import NotPublicError, ParameterError, SchemaError
from ziggurat.wording import count_noun, list_names, nearest

AGGREGATES = {
    "count": "how many rows, filled cells, or cells with a value: count(), count(bmi), count(diagnosis=flu)",
    "sum": "the sum of a column",
    "mean": "the mean of a column",
    "min": "the smallest value of a column",
    "max": "the largest value of a column",
    "latest": "the latest value that is not missing",
    "first": "the first value that is not missing",
    "mode": "the most frequent value",
    "distinct": "how many different values",
    "any": "whether any of the truth values is true",
    "all": "whether all of the truth values are true",
}
"""What can be computed of a person's rows, with a word about each."""

PICKED = ("latest", "first", "mode")
"""Those that carry one cell of the person over as it is."""
_CLAMPED = ("sum", "mean", "min", "max")
_NEED_MOST = ("count", "sum", "distinct")
_NUMBERS, _ORDERED = (Kind.INTEGER, Kind.REAL), (Kind.INTEGER, Kind.REAL, Kind.DATE)
_COUNTABLE = (Kind.INTEGER, Kind.CATEGORY, Kind.TEXT, Kind.BOOLEAN)
_KINDS = {
    "sum": _NUMBERS,
    "mean": _NUMBERS,
    "min": _ORDERED,
    "max": _ORDERED,
    "mode": (Kind.CATEGORY, Kind.BOOLEAN, Kind.TEXT, Kind.INTEGER, Kind.DATE),
    "any": (Kind.BOOLEAN,),
    "all": (Kind.BOOLEAN,),
}
_WORDS = {
    "count": "Number of {counted}{cap}",
    "distinct": "Number of different values of {column}{cap}",
    "sum": "Sum of {column}, capped at what {reach} can reach",
    "min": "Smallest value of {column}",
    "max": "Largest value of {column}",
    "latest": "Latest value of {column}",
    "first": "First value of {column}",
    "mode": "Most frequent value of {column}",
    "any": "Whether {column} is true in any row",
    "all": "Whether {column} is true in all rows",
}
_WRITTEN = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class PersonAggregate:
    """One thing computed of all rows of a person.

    Parameters
    ----------
    what
        One of `AGGREGATES`.
    column
        Of which column; none for count() alone.
    equals
        With count: the value that a cell must have to count.
    """

    what: str
    column: str = ""
    equals: str | int | bool | None = None

    def __post_init__(self) -> None:
        if self.what not in AGGREGATES:
            raise ParameterError(
                f"{self.what!r} cannot be computed of a person's rows; {nearest(self.what, AGGREGATES)}"
            )
        if not self.column and self.what != "count":
            raise ParameterError(f"Say of which column: {self.what}(column).")
        if self.equals is not None and (self.what != "count" or not self.column):
            raise ParameterError("Only a count has a value to look for: count(diagnosis=flu).")

    def __str__(self) -> str:
        return f"{self.what}({self.column}{'' if self.equals is None else f'={self.equals}'})"


def read_aggregate(written: str) -> PersonAggregate:
    """Return the aggregate that a text such as "sum(cost)", "count()" or "count(diagnosis=flu)" describes."""
    found = _WRITTEN.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        raise ParameterError("An aggregate is written like 'sum(cost)', 'count()' or 'count(diagnosis=flu)'.")
    column, equals, value = found[2].partition("=")
    return PersonAggregate(found[1].lower(), column.strip(), value.strip() if equals else None)


def describe_aggregate(asked: PersonAggregate, name: str, origin: Column | None, most: int | None) -> Column:
    """Return the new column: its kind, role and public bounds, by declared facts alone.

    Raises NotPublicError where bounds are needed and nobody declared them, or they were learned from the data.
    """
    if asked.what in _NEED_MOST and most is None and not _is_bounded(asked, origin):
        raise ParameterError(
            f"State how many rows of one person may count in {name!r}: most=20, or --most 20 on the command line."
        )
    if origin is None:
        return Column(name, Kind.INTEGER, Role.QUASI_IDENTIFIER, _counted(1, most), description=_say(asked, most, ""))
    _check_kind(asked, origin)
    said = _say(asked, most, origin.description)
    if asked.what in PICKED:
        return replace(origin, name=name, description=said, written=None)
    role = Role.QUASI_IDENTIFIER if origin.role is Role.IDENTIFIER else origin.role
    kind, bounds = _known(asked, origin, most)
    return Column(name, kind, role, bounds, description=said)


def read_value(asked: PersonAggregate, column: Column) -> str | int | bool:
    """Return the value that a count looks for as cells of the column hold it."""
    value = asked.equals
    if column.storage is Kind.BOOLEAN:
        found: str | int | bool | None = _TRUTH.get(str(value).lower())
    elif column.storage is Kind.INTEGER:
        found = int(str(value)) if re.fullmatch(r"[+-]?[0-9]{1,18}", str(value)) else None
    else:
        found = str(value)
    if found is None:
        raise ParameterError(
            f"The value that {str(asked)!r} looks for is not {column.storage}; column {column.name!r} is."
        )
    if column.categories is not None and found not in column.categories.values:
        raise ParameterError(f"{found!r} is no category of column {column.name!r}; declare it, or name one that is.")
    return found


def _is_bounded(asked: PersonAggregate, origin: Column | None) -> bool:
    """Whether categories bound a number of different values."""
    return asked.what == "distinct" and origin is not None and _categories(origin) is not None


def _categories(column: Column) -> int | None:
    try:
        return len(column.public_categories().values)
    except NotPublicError:
        return None


def _check_kind(asked: PersonAggregate, origin: Column) -> None:
    wanted = _COUNTABLE if asked.equals is not None else _KINDS.get(asked.what, tuple(Kind))
    if origin.kind not in wanted:
        listed = list_names([kind.value for kind in wanted]).replace(" and ", " or ").replace("'", "")
        raise SchemaError(f"{str(asked)!r} needs a column that is {listed}; column {origin.name!r} is {origin.kind}.")
    if asked.what in _CLAMPED and (origin.bounds is None or origin.bounds.provenance is not Provenance.PUBLIC):
        given = "there are none" if origin.bounds is None else "they were learned from the data"
        raise NotPublicError(
            f"{str(asked)!r} needs public bounds of column {origin.name!r}, but {given}; declare what is public "
            "in the schema, such as 'bounds: [0, 500]'."
        )
    if asked.equals is not None:
        read_value(asked, origin)


def _known(asked: PersonAggregate, origin: Column, most: int | None) -> tuple[Kind, Bounds | None]:
    if asked.what in ("any", "all"):
        return Kind.BOOLEAN, None
    if asked.what == "count":
        return Kind.INTEGER, _counted(0, most)
    if asked.what == "distinct":
        limits = [limit for limit in (most, _categories(origin)) if limit is not None]
        return Kind.INTEGER, _counted(0, min(limits))
    bounds = origin.public_bounds()
    if asked.what == "sum":
        return origin.kind, _sum_bounds(origin, bounds, most or 1)
    return (Kind.REAL if asked.what == "mean" else origin.kind), bounds


def _counted(least: int, most: int | None) -> Bounds:
    return Bounds(least, most or least, Provenance.PUBLIC)


def _sum_bounds(origin: Column, bounds: Bounds, most: int) -> Bounds:
    """From one cell to `most` of them: a sum of nothing is missing."""
    ends = [end * count for end in (bounds.lower, bounds.upper) for count in (1, most)]  # type: ignore[operator]
    lower, upper = min(ends), max(ends)
    if origin.kind is Kind.INTEGER and not INT64_LOWER <= lower <= upper <= INT64_UPPER:
        raise SchemaError(f"A sum of so many cells of {origin.name!r} has more than 64 bits; declare narrower bounds.")
    return Bounds(lower, upper, Provenance.PUBLIC)


def _say(asked: PersonAggregate, most: int | None, before: str) -> str:
    cap = f", at most {most}" if most else ""
    value = "" if asked.equals is None else f" that are {asked.equals}"
    told = _WORDS.get(asked.what, "{what} of {column}").format(
        what=asked.what.capitalize(),
        column=repr(asked.column),
        counted=f"cells of {asked.column!r}{value}" if asked.column else "rows",
        cap=cap,
        reach=count_noun(most or 1, "row"),
    )
    return f"{before.rstrip('.')}. {told}." if before else f"{told}."
