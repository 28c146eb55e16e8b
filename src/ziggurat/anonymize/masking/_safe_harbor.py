"""HIPAA Safe Harbor: the eighteen kinds of identifiers, and a plan that takes them out of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.anonymize.masking._coarser import SPARSE_ZIP3, BottomCode, TopCode, YearOnly, ZipPrefix
from ziggurat.anonymize.masking._identifiers import Drop
from ziggurat.anonymize.masking._technique import Technique
from ziggurat.cards import Shown
from ziggurat.data import Column, Kind, Role, Schema
from ziggurat.errors import DataError, ParameterError

_OLDEST = 89


@dataclass(frozen=True)
class Identifier:
    """One of the eighteen kinds of identifiers of 45 CFR 164.514(b)(2)(i).

    Parameters
    ----------
    letter
        Its letter in the rule, A to R.
    name
        What it is called here.
    covers
        What falls under it.
    technique
        What is suggested, in words.
    pattern
        Words, one or several joined by a space, that a column of this kind is usually named by.
    """

    letter: str
    name: str
    covers: str
    technique: str
    pattern: str


_REMOVED = "removed"
_ZIPS = (
    r"zips?|zip ?codes?|zcta|post ?codes?|postal|postal codes?|pin ?codes?|eircodes?|cep"
    r"|plz|postleitzahl(?:en)?|postnummer|code postal"
)
SAFE_HARBOR = (
    Identifier("A", "names", "names of the person, relatives, employers and household members", _REMOVED,
               r"(first|last|full|middle|maiden|given|family|patient|mother|father|spouse|employer|user|nick)? ?names?"
               r"|surname|forename|initials|username"),
    Identifier("B", "places", "everything smaller than a state: street, city, county, precinct, ZIP code, coordinates",
               "removed; ZIP codes to three digits, those of sparse areas to 000",
               r"address(es)?|street|city|town|county|precinct|parish|village|municipality|district|neighbou?rhood"
               rf"|{_ZIPS}|lat|lon|lng|latitude|longitude|geo\w*"
               r"|census tract|tract|block|puma|location"),
    Identifier("C", "dates and ages", "all parts of dates about a person except the year; ages over 89 and years that "
               "tell them", "dates to the year, ages over 89 to 90+",
               r"dates?|date ?times?|dt|timestamps?|created|updated|onset|admit"
               r"|dob|dod|birth ?(day|date)?|born|deaths?|died|admi(tted|ssion)|discharged?|visit(ed)?|yob|age"
               r"|ages|patient ?age|age ?(years?|yrs?)?|birth ?year|year ?of ?birth"),
    Identifier("D", "telephone numbers", "telephone numbers", _REMOVED, r"phones?|telephones?|tel|mobile|cell ?phone"),
    Identifier("E", "fax numbers", "fax numbers", _REMOVED, r"fax"),
    Identifier("F", "e-mail addresses", "e-mail addresses", _REMOVED, r"e ?mail address(es)?|e ?mails?"),
    Identifier("G", "social security numbers", "social security numbers", _REMOVED, r"ssn|social security"),
    Identifier("H", "medical record numbers", "medical record numbers", _REMOVED,
               r"mrn|medical record|record (no|num|number|id)|chart (no|num|number|id)|patient (no|num|number|id)"),
    Identifier("I", "health plan numbers", "health plan beneficiary numbers", _REMOVED,
               r"beneficiary|health plan|plan (no|num|number|id)|member (no|num|number|id)|policy"
               r"|insurance (no|number|id)|medicare|medicaid"),
    Identifier("J", "account numbers", "account numbers", _REMOVED,
               r"accounts?|acct|iban|bank|credit card|card (no|num|number)|customer (no|num|number|id)"),
    Identifier("K", "certificate and licence numbers", "certificate and licence numbers", _REMOVED,
               r"certificates?|licen[cs]es?|passport|driver"),
    Identifier("L", "vehicle identifiers", "vehicle identifiers and serial numbers, number plates", _REMOVED,
               r"vin|vehicle|plate|number plate|licen[cs]e plate|registration"),
    Identifier("M", "device identifiers", "device identifiers and serial numbers", _REMOVED,
               r"device|serial|imei|udi|mac( address)?|implant"),
    Identifier("N", "web addresses", "URLs", _REMOVED, r"urls?|web ?sites?|web ?page|homepage|link"),
    Identifier("O", "IP addresses", "Internet Protocol addresses", _REMOVED, r"ip ?address(es)?|ipv ?4|ipv ?6|ip"),
    Identifier("P", "biometric identifiers", "fingerprints and voice prints among them", _REMOVED,
               r"biometric\w*|finger ?prints?|voice ?prints?|retina|iris|dna|genome"),
    Identifier("Q", "photographs", "full-face photographs and comparable images", _REMOVED,
               r"photos?|photographs?|images?|pictures?|face|portrait|selfie"),
    Identifier("R", "other identifiers", "any other unique identifying number, characteristic or code", _REMOVED,
               r"id|ids|uid|uuid|guid|pid|identifier|\w+ id|key|index|row ?id|case (no|num|number)"),
)  # fmt: skip
"""The eighteen kinds, as data."""

UNSEEN = (
    "Free text, photographs, scans and sound are not looked into: a note may name the person. Drop or review them.",
    "Columns are told by their names, kinds and roles; a misleading name is taken at its word. Read the plan.",
    "Whether the rest of a row identifies somebody you know of (45 CFR 164.514(b)(2)(ii)) is for you to judge.",
    "Safe Harbor is a rule of law and no proof: people were found again in tables that followed it.",
)
"""What no plan can see."""

_MATCHERS = tuple((kind, re.compile(rf"(?<!\S)(?:{kind.pattern})(?!\S)")) for kind in SAFE_HARBOR)
_ZIP = re.compile(rf"(?:^|.* )(?:{_ZIPS})(?: .*|$)")
_BIRTH = re.compile(r"(?:^|.* )(?:dob|yob|birth\w*|born)(?: .*|$)")
_BIRTH_YEAR = re.compile(r"(?:^|.* )(?:yob|birth ?year|year ?of ?birth)(?: .*|$)")
_AGE = re.compile(r"(?:^|.* )(?:ages?|patient ?age)(?: .*|$)")
# What codes of places and dates look like: ZIP codes of the US, postcodes of Britain and Canada, dates with numbers.
_TELLING = (
    r"^\s*([0-9]{5}(-?[0-9]{4})?|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}.*)\s*$"
)
_MOSTLY = 0.5


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
    """

    techniques: Mapping[str, Technique]
    reasons: Mapping[str, str]
    unseen: tuple[str, ...] = field(default=UNSEEN)

    def to_dict(self) -> dict[str, Any]:
        """Give the plan in JSON."""
        chosen = {name: {"technique": each.name, **each.parameters()} for name, each in self.techniques.items()}
        return {"techniques": chosen, "reasons": dict(self.reasons), "unseen": list(self.unseen)}


def safe_harbor(schema: Schema, *, as_of: date | None = None, sparse: tuple[str, ...] = SPARSE_ZIP3) -> SafeHarborPlan:
    """Propose how to mask a table by the Safe Harbor rule (45 CFR 164.514(b)(2)); nothing of the data is read.

    Dates become years, birth dates of people of 90 or more "... or earlier", ages over 89 "90+", ZIP codes three digits
    (sparse areas 000), and every other column that looks like one of the eighteen kinds, or whose role is identifier,
    is dropped. Columns of kind text are dropped too, because nobody reads what is in them: declare as a category what
    should stay. The plan is a proposal: names mislead, and the rule also asks that you know of nobody who could be
    found.

    Parameters
    ----------
    schema
        What the columns are.
    as_of
        The day at which ages count, today by default.
    sparse
        The beginnings of ZIP codes with at most 20,000 people, by default those of the census of 2000.
    """
    if not isinstance(schema, Schema):
        raise ParameterError("Safe Harbor is planned from a Schema, such as table.declared.")
    day = as_of or date.today()
    techniques, reasons = {}, {}
    for column in schema.columns:
        technique, reasons[column.name] = _propose(column, day.year, tuple(sparse))
        if technique is not None:
            techniques[column.name] = technique
    return SafeHarborPlan(techniques, reasons)


def require_harmless(table: pa.Table, schema: Schema, untouched: Iterable[str]) -> None:
    """Refuse a masked table if a column that stayed holds what looks like places or dates; names do mislead.

    Parameters
    ----------
    table, schema
        The masked table, and what its columns are. Sensitive columns may hold codes of five digits and stay.
    untouched
        The columns that stayed as they were.
    """
    for name in untouched:
        cells = table.column(name)
        if schema[name].role is Role.SENSITIVE or not (
            kinds.is_string(cells.type) or kinds.is_large_string(cells.type)
        ):
            continue
        share = pc.mean(pc.match_substring_regex(cells, _TELLING)).as_py()
        if share is not None and share > _MOSTLY:
            raise DataError(
                f"Column {name!r} looks like none of the eighteen by its name, but holds what looks like postcodes or "
                "dates; say what to do with it in a plan, rename it, or declare it sensitive if it is something else."
            )


def _propose(column: Column, year: int, sparse: tuple[str, ...]) -> tuple[Technique | None, str]:
    words = _words(column.name)
    if column.kind is Kind.DATE:
        return _treat_date(words, year)
    if column.role is not Role.IDENTIFIER and _AGE.match(words) and column.storage in (Kind.INTEGER, Kind.REAL):
        return TopCode(_OLDEST, label="90+"), "C, dates and ages: ages over 89 are shown as 90+."
    if column.storage is Kind.INTEGER and _BIRTH_YEAR.match(words):
        return _treat_birth(year)
    if _ZIP.match(words) and column.storage in (Kind.INTEGER, Kind.TEXT):
        return ZipPrefix(sparse), "B, places: three digits of the ZIP code, 000 for sparse areas."
    kind = _kind(words)
    if kind is not None:
        return Drop(), f"{kind.letter}, {kind.name}: removed."
    if column.role is Role.IDENTIFIER:
        return Drop(), "R, other identifiers: its role is identifier, so it is removed."
    if column.kind is Kind.TEXT:
        return Drop(), "Free text, which may hold any of the eighteen: removed; a category would stay."
    return None, "Looks like none of the eighteen: it stays as it is."


def _kind(words: str) -> Identifier | None:
    """The kind that most of the name speaks for: an IP address is no place."""
    lengths = {
        kind: max((len(found.group()) for found in matcher.finditer(words)), default=0) for kind, matcher in _MATCHERS
    }
    likeliest = max(lengths, key=lambda kind: lengths[kind])
    return likeliest if lengths[likeliest] else None


def _treat_date(words: str, year: int) -> tuple[Technique, str]:
    if _BIRTH.match(words):
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


def _words(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])", " ", name)
    return " ".join(re.findall(r"[^\W_]+", spaced.lower()))
