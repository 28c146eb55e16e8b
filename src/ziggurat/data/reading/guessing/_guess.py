"""Guess the kinds of columns of text, and how their cells are written, by looking at every cell."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._conversion import conversion, reads_as
from ziggurat.data._stacking import WORTH_STACKING, HeldColumns, tally_columns
from ziggurat.data._tally import tally
from ziggurat.data.engines import Engine, table_named
from ziggurat.data.expressions import count_where, is_one_of, reference
from ziggurat.data.reading.guessing._candidates import Candidate, has_currencies, have_dates, match_candidates
from ziggurat.data.reading.guessing._conventions import Conventions
from ziggurat.data.schema import Column, Kind, Schema
from ziggurat.data.written import BLANKS, MISSING_MARKS, TEXT_MARKS, UNSURE_MARKS
from ziggurat.wording import count_noun

_MOST_ROWS, _LEAST_ROWS, _MOST_CELLS = 1_000, 200, 200_000
ODD_SHARE = 0.05
"""Which share of the filled cells of a column need not fit its kind, where such cells may count as missing."""


@dataclass(frozen=True)
class Guess:
    """Kinds of columns, and for those that are not plain the reason in words, with counts of cells.

    Attributes
    ----------
    schema
        The columns, without bounds or categories.
    reasons
        By the name of a column.
    """

    schema: Schema
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Seen:
    """What was seen of one column."""

    candidates: tuple[Candidate, ...] = ()
    fitting: tuple[int, ...] = ()
    filled: int = 0
    marks: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    doubt: str = ""


def guess_schema(
    engine: Engine,
    relation: str,
    known: Sequence[Column] = (),
    left_out: Collection[str] = (),
    *,
    told: Conventions | None = None,
    comma: bool = False,
    lenient: bool = False,
) -> Guess:
    """Return the narrowest kind that fits every cell of each column of text.

    A number with leading zeros (a postcode) is text. Marks such as "?" and "NA" do not turn a column of numbers into
    text: they become its missing codes. What could be read in two ways (1,234 or 03/04/2024) is decided by the other
    columns of the table, and otherwise stays text. The first rows tell what is possible at all; if there are more, one
    pass over the table then counts the cells that fit.

    Parameters
    ----------
    engine, relation
        Where the table is.
    known
        Columns that need not be guessed; of all others every cell is text.
    left_out
        Names of columns that no kind describes.
    told
        What the steward said.
    comma
        Whether something speaks for decimal commas, such as semicolons between cells.
    lenient
        Let one cell in twenty be unreadable as the kind of its column.
    """
    told, settled = told or Conventions(), {column.name: column for column in known}
    every = [name for name in engine.columns(relation) if name not in left_out]
    names = [name for name in every if name not in settled]
    allowed = ODD_SHARE if lenient else 0.0
    limit = max(_LEAST_ROWS, min(_MOST_ROWS, _MOST_CELLS // max(len(names), 1)))
    if not names:
        return Guess(Schema(tuple(known)))
    first = engine.query(exp.select(*(_cell(name) for name in names)).from_(table_named(relation)).limit(limit + 1))
    looked_at = first.slice(0, limit)
    seen = {name: _look_at(column, told, allowed) for name, column in zip(names, looked_at.columns, strict=True)}
    if first.num_rows > limit:
        seen = _count_all(engine, relation, seen, told)
    decided = _decide(seen, told, comma, allowed)
    columns = tuple(settled.get(name) or decided[name][0] for name in every)
    return Guess(Schema(columns), {name: reason for name, (_, reason) in decided.items() if reason})


def _cell(name: str) -> exp.Expr:
    return reference(Column(name, Kind.TEXT))


def _look_at(column: pa.ChunkedArray, told: Conventions, allowed: float) -> _Seen:
    values, counts = (each.to_pylist() for each in column.value_counts().flatten())
    stripped = {cell: bare for cell in values if cell and (bare := cell.strip(BLANKS))}
    filled = {cell: count for cell, count in zip(values, counts, strict=True) if cell in stripped}
    marks = tuple(dict.fromkeys(each for each in (*told.missing, *MISSING_MARKS) if each in filled))
    unsure = tuple(each for each in UNSURE_MARKS if each in filled)
    sure = filled.keys() - {*marks, *unsure}
    matched = match_candidates([stripped[cell] for cell in sure], told, allowed) if sure else {}
    total = sum(map(filled.__getitem__, sure))
    odd = (sum(filled[cell] for cell in sure if stripped[cell] in each) if each else 0 for each in matched.values())
    fitting = tuple(total - each for each in odd)
    return _Seen(tuple(matched), fitting, total, marks, unsure, "" if matched or not sure else _doubt(sure))


def _doubt(cells: Collection[str]) -> str:
    """Why cells that are nearly numbers or dates stay text."""
    if has_currencies(cells):
        return "its amounts are of several currencies or units, so it stays text; split it, or convert it to one"
    if have_dates(cells):
        return "its dates are written in ways that contradict each other, so it stays text; write them in one way"
    return ""


def _count_all(engine: Engine, relation: str, seen: Mapping[str, _Seen], told: Conventions) -> dict[str, _Seen]:
    """Count the cells of the whole table that are filled, and those that fit each candidate.

    There are many marks and few cells that do not fit, so marks are looked for only where there are some.
    """
    marks = tuple(told.missing)
    asked = {name: each.candidates for name, each in seen.items() if each.candidates}  # text is text whatever the count
    held = HeldColumns(engine, table_named(relation), dict.fromkeys(seen, pa.string()))
    counts = _ask(held, asked, marks, _ask_fitting)
    odd = {name: asked[name] for name, each in counts.items() if _most_fitting(each) < each["filled"]}
    for name, found in _ask(held, odd, marks, _ask_marks).items():
        counts[name] |= found
    return {name: _recount(each, counts[name], marks) if name in counts else each for name, each in seen.items()}


_Questions = Callable[[str, tuple[Candidate, ...], tuple[str, ...]], dict[str, exp.Expr]]


def _most_fitting(counts: Mapping[str, Any]) -> int:
    return max(int(count) for key, count in counts.items() if key.isdecimal())


def _ask(
    held: HeldColumns, candidates: Mapping[str, tuple[Candidate, ...]], told: tuple[str, ...], questions: _Questions
) -> dict[str, dict[str, Any]]:
    """Ask the same of columns with the same candidates at once, if they are many, and of the others one by one."""
    alike: dict[tuple[Candidate, ...], list[str]] = {}
    for name, each in candidates.items():
        alike.setdefault(each, []).append(name)
    found: dict[str, dict[str, Any]] = {}
    for each, names in alike.items():
        if len(names) >= WORTH_STACKING:
            columns = [Column(name, Kind.TEXT) for name in names]
            found |= tally_columns(held, columns, lambda column, _, c=each: questions(column.name, c, told))  # type: ignore[misc]
    apart = {name: questions(name, each, told) for name, each in candidates.items() if name not in found}
    answers = tally(
        lambda wanted: held.engine.query(exp.select(*wanted, copy=False).from_(held.relation, copy=False)),
        {f"{key} {name}": asked for name, each in apart.items() for key, asked in each.items()},
    )
    return found | {name: {key: answers[f"{key} {name}"] for key in each} for name, each in apart.items()}


def _ask_fitting(name: str, candidates: tuple[Candidate, ...], told: tuple[str, ...]) -> dict[str, exp.Expr]:
    fitting = {str(place): count_where(_fits(name, each, told)) for place, each in enumerate(candidates)}
    return {"filled": count_where(reads_as(Column(name, Kind.TEXT, missing=told))), **fitting}


def _ask_marks(name: str, candidates: tuple[Candidate, ...], told: tuple[str, ...]) -> dict[str, exp.Expr]:
    """Which marks stand among the cells that fit no candidate, and how many cells are marks."""
    listed = is_one_of(_cell(name), (exp.Literal.string(mark) for mark in (*MISSING_MARKS, *UNSURE_MARKS)))
    fits = [exp.If(this=_fits(name, each, told), true=exp.Null()) for each in candidates]
    mark = exp.Case(ifs=[*fits, exp.If(this=listed, true=_cell(name))], default=exp.Null())
    return {"marks": exp.ArrayAgg(this=exp.Distinct(expressions=[mark])), "marked": exp.Count(this=mark)}


def _recount(seen: _Seen, counts: Mapping[str, Any], told: tuple[str, ...]) -> _Seen:
    found = {value for value in counts.get("marks") or () if value is not None}
    return replace(
        seen,
        filled=counts["filled"] - counts.get("marked", 0),
        fitting=tuple(counts[str(place)] for place in range(len(seen.candidates))),
        marks=tuple(dict.fromkeys((*told, *(mark for mark in MISSING_MARKS if mark in found)))),
        unsure=tuple(mark for mark in UNSURE_MARKS if mark in found),
    )


def _fits(name: str, candidate: Candidate, missing: tuple[str, ...]) -> exp.Expr:
    if candidate.written is None and candidate.kind is not Kind.BOOLEAN:
        return reads_as(Column(name, candidate.kind, missing=missing))
    column = Column(name, candidate.kind, written=candidate.written, missing=missing)
    value = conversion(column, pa.string()).value
    return exp.Not(this=exp.Is(this=exp.Paren(this=value), expression=exp.Null()))


def _decide(seen: Mapping[str, _Seen], told: Conventions, comma: bool, allowed: float) -> dict[str, tuple[Column, str]]:
    left = {name: _survivors(each, allowed) for name, each in seen.items()}
    decimal = told.decimal or _evidence(left, "decimal")
    order = _evidence(left, "order") or ("d" if decimal == "," else "")
    decided = {}
    for name, each in seen.items():
        chosen, reason = _choose(left[name], decimal, order, comma)
        reason = each.doubt or reason
        if chosen is None:
            decided[name] = (Column(name, Kind.TEXT, missing=_told_marks(each, told)), reason)
            continue
        place = each.candidates.index(chosen)
        misfits = each.filled - each.fitting[place]
        missing = tuple(dict.fromkeys((*each.marks, *each.unsure)))
        column = Column(name, chosen.kind, written=chosen.written, missing=missing)
        decided[name] = (column, _tell_reason(chosen, reason, each.filled, misfits))
    return decided


def _told_marks(seen: _Seen, told: Conventions) -> tuple[str, ...]:
    return tuple(mark for mark in seen.marks if mark in told.missing or mark in TEXT_MARKS)


def _survivors(seen: _Seen, allowed: float) -> list[Candidate]:
    """The candidates that fit; of rivals only those that fit most cells, because one cell may settle it."""
    fitting = dict(zip(seen.candidates, seen.fitting, strict=True))
    left = [each for each, count in fitting.items() if seen.filled and count >= (1 - allowed) * seen.filled]
    best = max((fitting[each] for each in left), default=0)
    return [each for each in left if not each.rival or fitting[each] == best]


def _evidence(left: Mapping[str, list[Candidate]], what: str) -> str:
    """What the columns that can be read in one way only speak for, if they all speak for the same."""
    found = set()
    for candidates in left.values():
        spoken = {getattr(each, what) for each in candidates}
        if len(spoken) == 1:
            found |= spoken
    found.discard("")
    return found.pop() if len(found) == 1 else ""


def _choose(left: Sequence[Candidate], decimal: str, order: str, comma: bool) -> tuple[Candidate | None, str]:
    if not left:
        return None, ""
    decimals, orders = {each.decimal for each in left if each.decimal}, {each.order for each in left if each.order}
    if len(orders) > 1:
        chosen = next((each for each in left if each.order == order), None)
        why = "other columns show whether day or month comes first" if chosen else _UNDECIDED_DATE
        return chosen, why
    if len(decimals) > 1:
        if not decimal and left[0].written is None:
            return left[0], ""
        decimal = decimal or ("," if comma else "")
        chosen = next((each for each in left if each.decimal == decimal), None)
        why = f"other columns, or what separates cells, speak for {decimal!r} before fractions"
        return chosen, why if chosen else _UNDECIDED_NUMBER
    return left[0], ""


_UNDECIDED_DATE = (
    "its dates could have day or month first, so it stays text; say date_format='%d/%m/%Y' (--date-format)"
)
_UNDECIDED_NUMBER = (
    "its commas could group thousands or begin fractions, so it stays text; say decimal=',' or thousands=',' "
    "(--decimal, --thousands)"
)


def _tell_reason(chosen: Candidate, why: str, filled: int, misfits: int) -> str:
    if chosen.written is None and not misfits:
        return why
    told = f"{filled - misfits:,} of {count_noun(filled, 'cell')} are {chosen.words}"
    return "; ".join([told, *([why] if why else [])])
