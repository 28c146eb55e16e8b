"""HIPAA Safe Harbor: a plan that takes the eighteen kinds of identifiers out of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

from ziggurat.anonymize.masking._coarser import SPARSE_ZIP3, BottomCode, TopCode, YearOnly, ZipPrefix
from ziggurat.anonymize.masking._identifiers import Drop
from ziggurat.anonymize.masking._mask import rows_of
from ziggurat.anonymize.masking._technique import Technique
from ziggurat.anonymize.masking.harbor._kinds import AGE, BIRTH, BIRTH_YEAR, POSTCODE, US_ZIP, kind_named, name_words
from ziggurat.anonymize.masking.harbor._postcodes import PostcodePrefix
from ziggurat.anonymize.masking.harbor._values import POSTCODES, looks_like
from ziggurat.cards import Shown
from ziggurat.data import Column, Kind, Role, Schema
from ziggurat.errors import DataError, ParameterError

_OLDEST = 89
_OPEN = "Needs your decision"
_REGION = "the first two digits of a postcode that is none of the US, or the letters of a British area"


UNSEEN = (
    "Free text, photographs, scans and sound are not looked into: a note may name the person. Drop or review them.",
    "Columns are told by their names, kinds and roles; a misleading name is taken at its word. Read the plan.",
    "Whether the rest of a row identifies somebody you know of (45 CFR 164.514(b)(2)(ii)) is for you to judge.",
    "Safe Harbor is a rule of law and no proof: people were found again in tables that followed it.",
)
"""What no plan can see."""


@dataclass(frozen=True)
class SafeHarborPlan(Shown):
    """What to do with each column, and why; pass `techniques` to `mask`.

    Parameters
    ----------
    techniques
        For each column that must change, its technique.
    reasons
        For every column of the schema a sentence, also for those that stay.
    unseen
        What the plan cannot see.
    undecided
        The columns that stay although their cells look like something on the list, each with the reason; decide.
    """

    techniques: Mapping[str, Technique]
    reasons: Mapping[str, str]
    unseen: tuple[str, ...] = field(default=UNSEEN)
    undecided: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give the plan in JSON."""
        chosen = {name: {"technique": each.name, **each.parameters()} for name, each in self.techniques.items()}
        said = {"techniques": chosen, "reasons": dict(self.reasons), "unseen": list(self.unseen)}
        return {**said, **({"undecided": dict(self.undecided)} if self.undecided else {})}


def safe_harbor(
    schema: Schema, *, as_of: date | None = None, sparse: tuple[str, ...] = SPARSE_ZIP3, rows: Any = None
) -> SafeHarborPlan:
    """Propose how to mask a table by the Safe Harbor rule (45 CFR 164.514(b)(2)).

    Dates become years, birth dates of people of 90 or more "... or earlier", ages over 89 "90+". Columns called ZIP are
    cut to three digits (sparse areas 000), as the rule has it; all other postcodes, which the list of the census does
    not know, to two digits or to the letters of their area. Every other column that looks like one of the eighteen
    kinds, by its name in English, German or French, or whose role is identifier, is dropped. Columns of kind text are
    dropped too, because nobody reads what is in them: declare as a category what should stay. The plan is a proposal:
    names mislead, and the rule also asks that you know of nobody who could be found.

    Parameters
    ----------
    schema
        What the columns are.
    as_of
        The day at which ages count, today by default.
    sparse
        The beginnings of ZIP codes with at most 20,000 people, by default those of the census of 2000.
    rows
        The table, if columns that would stay are to be looked into: categories that look like postcodes are cut, and
        what looks like something else on the list is named in `undecided`. By default nothing of the data is read.
    """
    if not isinstance(schema, Schema):
        raise ParameterError("Safe Harbor is planned from a Schema, such as table.declared.")
    day, held = as_of or date.today(), None if rows is None else rows_of(rows)
    techniques, reasons, undecided = {}, {}, {}
    for column in schema.columns:
        technique, reasons[column.name] = _propose(column, day.year, tuple(sparse))
        if technique is None and held is not None and column.role is not Role.SENSITIVE:
            technique, reasons[column.name] = _look_into(held.column(column.name), reasons[column.name])
            if technique is None and reasons[column.name].startswith(_OPEN):
                undecided[column.name] = reasons[column.name]
        if technique is not None:
            techniques[column.name] = technique
    return SafeHarborPlan(techniques, reasons, undecided=undecided)


def require_harmless(table: pa.Table, schema: Schema, untouched: Iterable[str]) -> None:
    """Refuse a masked table if columns that stayed hold what looks like something on the list; names do mislead.

    Parameters
    ----------
    table, schema
        The masked table, and what its columns are. Sensitive columns may hold codes of five digits and stay.
    untouched
        The columns that stayed as they were.
    """
    open_ones = [name for name in untouched if schema[name].role is not Role.SENSITIVE]
    found = {name: what for name in open_ones if (what := looks_like(table.column(name)))}
    if not found:
        return
    first = next(iter(found))
    listed = "; ".join(f"column {name!r} looks like none of the eighteen by its name, but holds what looks like {what}"
                       for name, what in found.items())  # fmt: skip
    raise DataError(
        f'{listed[:1].upper()}{listed[1:]}: drop it (--drop {first}), say why it stays (--keep "{first}=why"), or '
        "declare it sensitive if it is something else."
    )


def _look_into(cells: pa.ChunkedArray, stays: str) -> tuple[Technique | None, str]:
    """Cut what clearly are postcodes, and name what somebody must decide about."""
    what = looks_like(cells)
    if what == POSTCODES and not kinds.is_integer(cells.type):
        return PostcodePrefix(), f"B, places: its cells look like postcodes: {_REGION}."
    return None, f"{_OPEN}: its cells look like {what}." if what else stays


def _propose(column: Column, year: int, sparse: tuple[str, ...]) -> tuple[Technique | None, str]:
    words = name_words(column.name)
    if column.kind is Kind.DATE:
        return _treat_date(words, year)
    if column.role is not Role.IDENTIFIER and AGE.match(words) and column.storage in (Kind.INTEGER, Kind.REAL):
        return TopCode(_OLDEST, label="90+"), "C, dates and ages: ages over 89 are shown as 90+."
    if column.storage is Kind.INTEGER and BIRTH_YEAR.match(words):
        return _treat_birth(year)
    if US_ZIP.match(words) and column.storage in (Kind.INTEGER, Kind.TEXT):
        return ZipPrefix(sparse), "B, places: three digits of the ZIP code, 000 for sparse areas."
    if POSTCODE.match(words) and column.storage in (Kind.INTEGER, Kind.TEXT):
        return PostcodePrefix(), f"B, places: {_REGION}."
    kind = kind_named(words)
    if kind is not None:
        return Drop(), f"{kind.letter}, {kind.name}: removed."
    if column.role is Role.IDENTIFIER:
        return Drop(), "R, other identifiers: its role is identifier, so it is removed."
    if column.kind is Kind.TEXT:
        return Drop(), "Free text, which may hold any of the eighteen: removed; a category would stay."
    return None, "Looks like none of the eighteen: it stays as it is."


def _treat_date(words: str, year: int) -> tuple[Technique, str]:
    if BIRTH.match(words):
        earliest = _earliest(year)
        return YearOnly(earliest), f"C, dates and ages: the year alone, up to {earliest} together."
    return YearOnly(), "C, dates and ages: the year alone."


def _treat_birth(year: int) -> tuple[Technique, str]:
    earliest = _earliest(year)
    coded = BottomCode(earliest + 1, label=f"{earliest} or earlier")
    return coded, f"C, dates and ages: years of birth up to {earliest} together."


def _earliest(year: int) -> int:
    """The last year of birth of somebody who may be 90 by the end of this year."""
    return year - _OLDEST - 1
