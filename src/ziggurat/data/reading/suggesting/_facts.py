"""What the engine says of the cells of each column: how many, how many different, from where to where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlglot import exp

from ziggurat.data._table import Table
from ziggurat.data.expressions import constant, count_where, is_one_of, is_present, only_where, reference
from ziggurat.data.reading.suggesting._text_look import TextLook, look_at_texts
from ziggurat.data.schema import (
    NUMBER_CODES,
    BoundValue,
    Column,
    Kind,
    MissingCode,
    Role,
    names_a_counter,
    names_a_number,
    names_a_unit,
    roles_in_name,
)
from ziggurat.data.written import MISSING_MARKS

MOST_CATEGORIES = 50
ENOUGH_ROWS = 20
_NEARLY_UNIQUE = 0.95
_NUMBERS = (Kind.INTEGER, Kind.REAL)
_RANGED = (*_NUMBERS, Kind.DATE)
FAR_CODES = tuple(
    sorted(
        {int(digit * length) for digit in "789" for length in range(2, 7)}
        | {10**length - last for length in range(2, 7) for last in (2, 3, 4)}
    )
)
"""Numbers that surveys use for no answer: 77, 88, 96 to 99, 777, and so on."""
STAND_INS = tuple(date(*day) for day in ((1900, 1, 1), (1901, 1, 1), (1970, 1, 1), (2099, 12, 31), (9999, 12, 31)))
"""Days that programs write for a date that they do not know."""


@dataclass(frozen=True)
class ColumnFacts:
    """What is seen of the cells of one column."""

    rows: int
    filled: int
    distinct: int | None = None
    lower: BoundValue | None = None
    upper: BoundValue | None = None
    codes: tuple[MissingCode, ...] = ()
    values: tuple[str, ...] = ()
    unreadable: int = 0
    look: TextLook | None = None
    far: tuple[int, ...] = ()
    rest: BoundValue | None = None
    stand_ins: tuple[tuple[date, int], ...] = ()

    @property
    def unique(self) -> bool:
        """Whether no value repeats."""
        return self.filled > 1 and self.distinct == self.filled

    @property
    def nearly_unique(self) -> bool:
        """Whether hardly a value repeats, in a table long enough for that to mean something."""
        return self.filled >= ENOUGH_ROWS and (self.distinct or 0) >= _NEARLY_UNIQUE * self.filled

    @property
    def two_valued(self) -> bool:
        """Whether there are two values at most, and they repeat."""
        return self.distinct is not None and self.distinct <= 2 and self.filled > max(self.distinct, 1)

    @property
    def constant(self) -> bool:
        """Whether all cells are equal, in a table long enough for that to mean something."""
        alike = self.lower == self.upper if self.distinct is None else self.distinct <= 1
        return self.rows >= ENOUGH_ROWS and alike and self.filled in (0, self.rows)

    @property
    def consecutive(self) -> bool:
        """Whether the numbers are all those from the smallest to the largest, each once."""
        ends = (self.lower, self.upper)
        whole = all(isinstance(end, int) for end in ends)
        return whole and self.unique and self.upper - self.lower == self.filled - 1  # type: ignore[operator]

    @property
    def digits(self) -> int:
        """How many digits every whole number has; 0 if they differ in that."""
        ends = [end for end in (self.lower, self.upper) if isinstance(end, int) and end > 0]
        lengths = {len(str(end)) for end in ends}
        return lengths.pop() if len(ends) == 2 and len(lengths) == 1 else 0

    def has_few(self, most: int, repeats: int = 3) -> bool:
        """Return whether there are at most so many values, and each occurs several times on average."""
        enough = self.filled >= max(ENOUGH_ROWS, repeats * (self.distinct or 0))
        return self.two_valued or (self.distinct is not None and self.distinct <= most and enough)


def look_at(table: Table) -> list[tuple[Column, ColumnFacts]]:
    """Return what is seen of every column that queries see."""
    columns = table.schema.columns
    rows, first = table.raw.count_rows(), table.tally(columns, _first_questions, unreadable=table.lenient)
    numbered = [column for column in columns if "distinct" not in first[column.name] and _counts_matter(column)]
    for name, found in table.tally(numbered, lambda column: {"distinct": _count_distinct(column)}).items():
        first[name] |= found
    later = _look_closer(table, columns, first)
    texts = [each.name for each in columns if each.storage is Kind.TEXT and first[each.name]["distinct"]]
    varied = {name for name in texts if first[name]["distinct"] > MOST_CATEGORIES and not _names_an_identifier(name)}
    looks = look_at_texts(table, texts, varied)
    return [
        (
            column,
            ColumnFacts(
                rows,
                **(first[column.name] | later.get(column.name, {})),
                look=looks.get(column.name),
            ),
        )
        for column in columns
    ]


def _counts_matter(column: Column) -> bool:
    """Counting distinct numbers is dear, and only the names of identifiers make anything of it."""
    name = column.name
    named = names_a_unit(name) or names_a_counter(name) or names_a_number(name) or _names_an_identifier(name)
    return column.storage in _NUMBERS and bool(named)


def _names_an_identifier(name: str) -> bool:
    return any(role is Role.IDENTIFIER for role, _ in roles_in_name(name))


def _first_questions(column: Column) -> dict[str, exp.Expr]:
    asked = {"filled": count_where(is_present(column))}
    if column.storage in _RANGED:
        return asked | {"lower": exp.Min(this=_cell(column)), "upper": exp.Max(this=_cell(column))}
    return asked | {"distinct": _count_distinct(column)}


def _count_distinct(column: Column) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[_cell(column)]))


def _cell(column: Column) -> exp.Expr:
    return only_where(is_present(column), reference(column))


def _look_closer(table: Table, columns: Sequence[Column], first: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The values of text with few of them, and what numbers and dates are like beside possible missing codes."""
    found: dict[str, dict[str, Any]] = {}
    for questions, read, choose in (
        (_ask_values, _read_values, _has_few_texts),
        (_ask_codes, _read_codes, _may_hold_codes),
        (_ask_far, _read_far, _may_hold_far),
        (_ask_days, _read_days, _may_hold_stand_ins),
    ):
        chosen = [column for column in columns if choose(column, first[column.name])]
        for name, answer in table.tally(chosen, questions).items():
            found.setdefault(name, {}).update(read(answer, first[name]))
    return found


def _has_few_texts(column: Column, known: Mapping[str, Any]) -> bool:
    return column.storage is Kind.TEXT and known["distinct"] <= MOST_CATEGORIES and column.categories is None


def _ask_values(column: Column) -> dict[str, exp.Expr]:
    return {"values": exp.ArrayAgg(this=exp.Distinct(expressions=[_cell(column)]))}


def _read_values(answer: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    values = sorted(value for value in answer["values"] or () if value is not None)
    kept = tuple(value for value in values if value.strip() and value.strip() not in MISSING_MARKS)
    if not kept:
        return {}
    codes = tuple(value for value in values if value not in kept)
    return {"values": kept, "codes": codes, "distinct": min(known["distinct"], len(kept))}


def _may_hold_codes(column: Column, known: Mapping[str, Any]) -> bool:
    return column.storage in _NUMBERS and known["lower"] in NUMBER_CODES and known["upper"] >= 0


def _ask_codes(column: Column) -> dict[str, exp.Expr]:
    codes = {code: constant(code, column.storage) for code in NUMBER_CODES}
    counts = {str(code): count_where(exp.EQ(this=reference(column), expression=each)) for code, each in codes.items()}
    return counts | {"rest": exp.Min(this=_other_than(column, list(codes.values())))}


def _other_than(column: Column, values: list[exp.Expr]) -> exp.Expr:
    other = exp.and_(is_present(column), exp.Not(this=is_one_of(reference(column), values)), copy=False)
    return only_where(other, reference(column))


def _read_codes(answer: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    if answer["rest"] is None or answer["rest"] < 0:
        return {}
    codes = tuple(code for code in NUMBER_CODES if answer[str(code)])
    counted = sum(answer[str(code)] for code in codes)
    few = {"distinct": known["distinct"] - len(codes)} if "distinct" in known else {}
    return {"lower": answer["rest"], "codes": codes, "filled": known["filled"] - counted, **few}


def _may_hold_far(column: Column, known: Mapping[str, Any]) -> bool:
    return column.storage in _NUMBERS and not column.labels and known["upper"] in FAR_CODES


def _ask_far(column: Column) -> dict[str, exp.Expr]:
    codes = [constant(code, column.storage) for code in FAR_CODES]
    held = only_where(is_one_of(reference(column), codes), reference(column))
    return {
        "rest": exp.Max(this=_other_than(column, codes)),
        "far": exp.ArrayAgg(this=exp.Distinct(expressions=[held])),
    }


def _read_far(answer: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Those of the codes that are at least four times as large as every other value."""
    if answer["rest"] is None:
        return {}
    held = sorted(int(code) for code in answer["far"] or () if code is not None)
    far = tuple(code for code in held if code >= 4 * answer["rest"])
    near = [code for code in held if code not in far]
    rest = max((answer["rest"], *near))
    return {"far": far, "rest": rest} if far and far[0] >= 4 * rest else {}


def _may_hold_stand_ins(column: Column, known: Mapping[str, Any]) -> bool:
    if column.storage is not Kind.DATE or known["lower"] is None:
        return False
    return any(known["lower"] <= day <= known["upper"] for day in STAND_INS)


def _ask_days(column: Column) -> dict[str, exp.Expr]:
    days = {day: constant(day, Kind.DATE) for day in STAND_INS}
    return {str(day): count_where(exp.EQ(this=reference(column), expression=each)) for day, each in days.items()}


def _read_days(answer: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the days that one cell in fifty holds at least, and three; or any at all, if no calendar has them."""
    bulk = max(3, known["filled"] / 50)
    counts = [(day, answer[str(day)]) for day in STAND_INS]
    found = tuple((day, count) for day, count in counts if count >= (1 if day.year == date.max.year else bulk))
    return {"stand_ins": found} if found else {}
