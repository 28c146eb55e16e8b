"""What the cells of a column could be, by how they are written."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from ziggurat.data.reading.guessing._conventions import Conventions, date_notation, this_century
from ziggurat.data.schema import Kind, Notation, kind_reader
from ziggurat.data.written import (
    BLANKS,
    MONTHS,
    TRUTH_PAIRS,
    affix_in,
    clock_pattern,
    duration_pattern,
    number_pattern,
    read_date,
    same_affix,
)

_PLAIN = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.BOOLEAN)
_GROUPINGS = {".": (",", " ", "'"), ",": (".", " ", "'")}
# Pairs of single letters that are nothing else; O and N may be east and north.
_CLEAR_PAIRS = tuple(pair for pair in TRUTH_PAIRS if len(pair[0]) > 1 or pair in (("t", "f"), ("y", "n"), ("j", "n")))
_MOST_FORMS = 3
_EIGHT_DIGITS = "%Y%m%d"
_MONTH_NAMES = "|".join(sorted((name for names in MONTHS for name in names), key=len, reverse=True))
_DATE_SHAPES = (
    (re.compile(r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}"), ("%Y{0}%m{0}%d",)),
    (re.compile(r"[0-9]{1,2}([.])[0-9]{1,2}\1[0-9]{4}"), ("%d{0}%m{0}%Y",)),
    (re.compile(r"[0-9]{1,2}([.])[0-9]{1,2}\1[0-9]{2}"), ("%d{0}%m{0}%y",)),
    (re.compile(r"[0-9]{1,2}([-/])[0-9]{1,2}\1[0-9]{4}"), ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y")),
    (re.compile(r"[0-9]{1,2}([-/])[0-9]{1,2}\1[0-9]{2}"), ("%d{0}%m{0}%y", "%m{0}%d{0}%y")),
    (re.compile(rf"[0-9]{{1,2}}([-/. ])(?:{_MONTH_NAMES})[.]?\1[0-9]{{4}}"), ("%d{0}%b{0}%Y",)),
    (re.compile(rf"[0-9]{{1,2}}([-/. ])(?:{_MONTH_NAMES})[.]?\1[0-9]{{2}}"), ("%d{0}%b{0}%y",)),
    (re.compile(rf"[0-9]{{1,2}}([.]) (?:{_MONTH_NAMES})[.]? [0-9]{{4}}"), ("%d{0} %B %Y",)),
    (re.compile(rf"(?:{_MONTH_NAMES})[.]? [0-9]{{1,2}}(,) [0-9]{{4}}"), ("%B %d{0} %Y",)),
)
_TIME_SHAPES = (
    (re.compile(r"([t ])[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"), "%H:%M:%S"),
    (re.compile(r"([t ])[0-9]{1,2}:[0-9]{2}"), "%H:%M"),
)
_ZONE = re.compile(r"( ?)(?:z|utc|gmt|[+-][0-9]{2}:?(?:[0-9]{2})?)")
_EXPONENT = re.compile("[0-9][eE]")
_HALF = re.compile(r"( ?)[ap][.]?m[.]?")


@dataclass(frozen=True)
class Candidate:
    """What the cells of a column could be.

    Attributes
    ----------
    kind
        What the values would be.
    written
        How they would be written; None for the plain way.
    rival
        Whether another candidate reads the same cells as other values, so that something else must decide.
    """

    kind: Kind
    written: Notation | None = None
    rival: bool = False

    @property
    def words(self) -> str:
        """It in words, for a reason."""
        return f"{_NOUNS[self.kind]}{_tell(self.written)}"

    @property
    def decimal(self) -> str:
        """The decimal mark that it speaks for: nothing if it is plain whole numbers or no number."""
        if self.kind not in (Kind.INTEGER, Kind.REAL) or (self.written is not None and self.written.time):
            return ""
        if self.written is None:
            return "." if self.kind is Kind.REAL else ""
        plain_whole = self.kind is Kind.INTEGER and not self.written.thousands
        return "" if plain_whole else self.written.decimal

    @property
    def order(self) -> str:
        """Whether day or month comes first: "d", "m", or nothing if the year does or the month has a name."""
        forms = self.written.dates if self.written is not None else ()
        found = {re.sub("[^dm]", "", form)[:2] for form in forms if not form.startswith("%Y")}
        return {"dm": "d", "md": "m"}.get(next(iter(found)), "") if len(found) == 1 else ""


Misfits = frozenset[str]
"""Cells that a candidate does not read."""
Found = tuple[Candidate, Misfits]
"""What cells could be, and those that it does not read."""
_NOUNS = {
    Kind.INTEGER: "whole numbers",
    Kind.REAL: "numbers",
    Kind.DATE: "dates",
    Kind.BOOLEAN: "truth values",
    Kind.TEXT: "text",
}


def _tell(written: Notation | None) -> str:
    if written is None:
        return ""
    if written.time:
        return (
            " of seconds, written as times of day" if written.time == "clock" else " of seconds, written as durations"
        )
    if written.dates:
        short = f", years of two digits from {written.century} on" if written.century else ""
        return f" written as {' or '.join(written.dates)}{short}"
    told = ["a decimal comma"] if written.decimal == "," else []
    told += [f"{written.thousands!r} between thousands"] if written.thousands else []
    told += [" or ".join(written.affixes)] if written.affixes else []
    return f" with {' and '.join(told)}" if told else ""


def find_candidates(cells: Collection[str], told: Conventions, allowed: float = 0.0) -> tuple[Candidate, ...]:
    """Return what cells could be, the narrowest and plainest first; nothing if they are text.

    Parameters
    ----------
    cells
        Distinct cells without marks for missing values, and none of them blank.
    told
        What the steward said.
    allowed
        Which share of them need not fit.
    """
    return tuple(match_candidates([cell.strip(BLANKS) for cell in cells], told, allowed))


def match_candidates(given: Sequence[str], told: Conventions, allowed: float = 0.0) -> dict[Candidate, Misfits]:
    """Return what cells without blanks around them could be, as `find_candidates`, each with the cells that misfit."""
    most = int(allowed * len(given))
    if told.date_format == _EIGHT_DIGITS and (odd := _fit_form(given, _EIGHT_DIGITS, most)) is not None:
        return {Candidate(Kind.DATE, date_notation(_EIGHT_DIGITS, this_century())): odd}
    found = dict(_plain(given, most, told))
    if not found:
        found |= dict(_numbers(given, most, told, ".,"))
    elif next(iter(found)).kind is Kind.REAL:  # a rival has another decimal mark
        found |= dict(_numbers(given, most, told, ","))
    if not found:
        found |= {**dict(_dates(given, most, told)), **dict(_truths(given)), **dict(_times(given, most))}
    return dict(zip(_mark_rivals(found), found.values(), strict=True))


def _misfits(cells: Iterable[str], fits: Callable[[str], object], most: int) -> Misfits | None:
    """The cells that do not fit; None if they are more than allowed, which the first too many tells."""
    odd: list[str] = []
    for cell in cells:
        if not fits(cell):
            odd.append(cell)
            if len(odd) > most:
                return None
    return frozenset(odd)


def _plain(cells: Sequence[str], most: int, told: Conventions) -> Iterator[Found]:
    for kind in _PLAIN:
        if kind is Kind.REAL and told.decimal == ",":
            continue
        if kind is Kind.DATE and told.date_format not in ("", "%Y-%m-%d"):
            continue
        odd = _misfits(cells, kind_reader(kind), most)
        if odd is not None:
            yield Candidate(kind), odd
            if kind is Kind.INTEGER:
                return


def _numbers(cells: Sequence[str], most: int, told: Conventions, decimals: str) -> Iterator[Found]:
    affixes = _find_affixes(cells, most)
    if affixes is None:
        return
    for decimal in told.decimal or decimals:
        groupings = _GROUPINGS[decimal] if told.thousands is None else (told.thousands,)
        for thousands in ("", *(each for each in groupings if each)):
            written = _notation(decimal, thousands, affixes)
            odd = None if written.is_plain else _misfits(cells, _pattern(Kind.REAL, written, True).fullmatch, most)
            if odd is None:
                continue
            broken = _misfits(cells, partial(_is_whole, decimal=decimal), most)
            kind = Kind.REAL if broken is None else Kind.INTEGER
            # What is not written as people do is read all the same, once the column is a number.
            read = _pattern(kind, written, False).fullmatch
            yield Candidate(kind, written), frozenset(cell for cell in odd | (broken or set()) if not read(cell))
            break  # what groups more digits reads nothing else


@cache
def _notation(decimal: str, thousands: str, affixes: tuple[str, ...]) -> Notation:
    return Notation(decimal=decimal, thousands=thousands, affixes=affixes)


@cache
def _pattern(kind: Kind, written: Notation, typical: bool) -> re.Pattern[str]:
    return re.compile(number_pattern(kind, written, typical=typical))


def _is_whole(cell: str, decimal: str) -> bool:
    return decimal not in cell and _EXPONENT.search(cell) is None


def has_currencies(cells: Iterable[str]) -> bool:
    """Return whether cells are numbers of several currencies, which are no one amount."""
    found = set()
    for cell in cells:
        affix = affix_in(cell.strip(BLANKS))
        if affix is None:
            return False
        found.add(affix)
    return len(found - {""}) > 1


def _find_affixes(cells: Sequence[str], most: int) -> tuple[str, ...] | None:
    """What stands around the numbers, all of one meaning; None if they are none, or of several currencies."""
    found: dict[str, None] = {}
    odd = 0
    for cell in cells:
        affix = affix_in(cell)
        odd += affix is None
        if odd > most:
            return None
        if affix:
            found[affix] = None
    first = next(iter(found), "")
    return tuple(found) if all(same_affix(first, each) for each in found) else None


def _dates(cells: Sequence[str], most: int, told: Conventions) -> Iterator[Found]:
    if told.date_format:
        if (odd := _fit_form(cells, told.date_format, most)) is not None:
            yield Candidate(Kind.DATE, date_notation(told.date_format, this_century())), odd
        return
    if _misfits(cells, lambda cell: _forms(cell.lower()), most) is None:
        return
    kinds = list(dict.fromkeys(forms for cell in cells if (forms := _forms(cell.lower()))))
    if not 1 <= len(kinds) <= _MOST_FORMS:
        return
    for choice in range(max(map(len, kinds))):
        forms = tuple(dict.fromkeys(each[min(choice, len(each) - 1)] for each in kinds))
        century = this_century() if any("%y" in form for form in forms) else None
        written = Notation(dates=forms, century=century)
        odd = _misfits(cells, partial(_is_date, written=written), most)
        if odd is not None:
            yield Candidate(Kind.DATE, written), odd


def have_dates(cells: Iterable[str]) -> bool:
    """Return whether cells have the shape of dates, though of no one form."""
    return all(_forms(cell.strip(BLANKS).lower()) for cell in cells)


def _fit_form(cells: Sequence[str], form: str, most: int) -> Misfits | None:
    return _misfits(cells, lambda cell: read_date(cell, form, this_century()) is not None, most)


def _is_date(cell: str, written: Notation) -> bool:
    return any(read_date(cell, form, written.century) is not None for form in written.dates)


@cache
def _forms(cell: str) -> tuple[str, ...]:
    """The forms that a cell in lower case could have, by its shape."""
    for shape, forms in _DATE_SHAPES:
        found = shape.match(cell)
        if found is None:
            continue
        ending = _time_form(cell[found.end() :])
        if ending is not None:
            return tuple(form.format(found[1]) + ending for form in forms)
    return ()


def _time_form(rest: str) -> str | None:
    """The form of what stands after a date; None if it is no time."""
    if not rest:
        return ""
    for shape, form in _TIME_SHAPES:
        found = shape.match(rest)
        if found is None:
            continue
        made, rest = ("T" if found[1] == "t" else " ") + form, rest[found.end() :]
        for ending, directive in ((_HALF, "%p"), (_ZONE, "%z")):
            if rest and (match := ending.fullmatch(rest)):
                return f"{made}{match[1]}{directive}"
        return made if not rest else None
    return None


def _truths(cells: Sequence[str]) -> Iterator[Found]:
    words = {cell.lower() for cell in cells}
    if len(words) == 2 and any(words == set(pair) for pair in _CLEAR_PAIRS):
        yield Candidate(Kind.BOOLEAN), frozenset()


def _times(cells: Sequence[str], most: int) -> Iterator[Found]:
    clock, length = re.compile(clock_pattern()), re.compile(duration_pattern())
    if (odd := _misfits(cells, lambda cell: clock.fullmatch(cell.lower()), most)) is not None:
        yield Candidate(Kind.INTEGER, Notation(time="clock")), odd
    elif (odd := _misfits(cells, lambda cell: length.fullmatch(cell.lower()), most)) is not None:
        whole = not any(re.search("[.,]", cell) for cell in cells)
        yield Candidate(Kind.INTEGER if whole else Kind.REAL, Notation(time="duration")), odd


def _mark_rivals(found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Numbers of which each could be grouped digits or a fraction, and dates of which the day could be the month."""
    listed = list(found)
    numbers = {each.decimal for each in listed if each.decimal}
    orders = {each.order for each in listed if each.order}
    for each in listed:
        rival = (each.decimal and len(numbers) > 1) or (each.order and len(orders) > 1)
        yield Candidate(each.kind, each.written, bool(rival))
