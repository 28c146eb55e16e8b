"""What the cells of a column could be, by how they are written."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ziggurat.data.reading.guessing._conventions import Conventions, date_notation, this_century
from ziggurat.data.schema import Kind, Notation, cell_reads_as
from ziggurat.data.written import (
    BLANKS,
    MONTHS,
    TRUTH_PAIRS,
    affix_in,
    clock_pattern,
    duration_pattern,
    read_date,
    read_number,
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


def find_candidates(cells: set[str], told: Conventions, allowed: float = 0.0) -> tuple[Candidate, ...]:
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
    given = [cell.strip(BLANKS) for cell in cells]
    most = int(allowed * len(given))
    if told.date_format == _EIGHT_DIGITS and _fit_form(given, _EIGHT_DIGITS, most):
        return (Candidate(Kind.DATE, date_notation(_EIGHT_DIGITS, this_century())),)
    found = [*_plain(given, most, told)]
    if not found or found[0].kind is Kind.REAL:
        found += _numbers(given, most, told)
    if not found:
        found += [*_dates(given, most, told), *_truths(given), *_times(given, most)]
    return tuple(_mark_rivals(dict.fromkeys(found)))


def _misfits(cells: Iterable[str], fits: Callable[[str], bool], most: int) -> bool:
    """Whether more cells than allowed do not fit; it stops at the first too many."""
    count = 0
    for cell in cells:
        if not fits(cell):
            count += 1
            if count > most:
                return True
    return False


def _plain(cells: Sequence[str], most: int, told: Conventions) -> Iterator[Candidate]:
    for kind in _PLAIN:
        if kind is Kind.REAL and told.decimal == ",":
            continue
        if kind is Kind.DATE and told.date_format not in ("", "%Y-%m-%d"):
            continue
        if not _misfits(cells, lambda cell, kind=kind: cell_reads_as(cell, kind), most):  # type: ignore[misc]
            yield Candidate(kind)
            if kind is Kind.INTEGER:
                return


def _numbers(cells: Sequence[str], most: int, told: Conventions) -> Iterator[Candidate]:
    affixes = _find_affixes(cells, most)
    if affixes is None:
        return
    for decimal in [told.decimal] if told.decimal else [".", ","]:
        groupings = _GROUPINGS[decimal] if told.thousands is None else (told.thousands,)
        for thousands in ("", *(each for each in groupings if each)):
            written = Notation(decimal=decimal, thousands=thousands, affixes=affixes)
            if written.is_plain or _misfits(cells, lambda cell, w=written: _is_number(cell, w), most):  # type: ignore[misc]
                continue
            whole = not _misfits(cells, lambda cell, d=decimal: not _has_fraction(cell, d), most)  # type: ignore[misc]
            yield Candidate(Kind.INTEGER if whole else Kind.REAL, written)
            break  # what groups more digits reads nothing else


def _is_number(cell: str, written: Notation) -> bool:
    return read_number(cell, written, typical=True) is not None


def _has_fraction(cell: str, decimal: str) -> bool:
    return decimal in cell or re.search("[0-9][eE]", cell) is not None


def has_currencies(cells: Iterable[str]) -> bool:
    """Return whether cells are numbers of several currencies, which are no one amount."""
    found = {affix_in(cell.strip(BLANKS)) for cell in cells}
    return None not in found and len(found - {""}) > 1


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


def _dates(cells: Sequence[str], most: int, told: Conventions) -> Iterator[Candidate]:
    if told.date_format:
        if _fit_form(cells, told.date_format, most):
            yield Candidate(Kind.DATE, date_notation(told.date_format, this_century()))
        return
    shaped = [_forms(cell.lower()) for cell in cells]
    if sum(not forms for forms in shaped) > most:
        return
    kinds = list(dict.fromkeys(forms for forms in shaped if forms))
    if not 1 <= len(kinds) <= _MOST_FORMS:
        return
    for choice in range(max(map(len, kinds))):
        forms = tuple(dict.fromkeys(each[min(choice, len(each) - 1)] for each in kinds))
        century = this_century() if any("%y" in form for form in forms) else None
        written = Notation(dates=forms, century=century)
        if not _misfits(cells, lambda cell, w=written: _is_date(cell, w), most):  # type: ignore[misc]
            yield Candidate(Kind.DATE, written)


def have_dates(cells: Iterable[str]) -> bool:
    """Return whether cells have the shape of dates, though of no one form."""
    return all(_forms(cell.strip(BLANKS).lower()) for cell in cells)


def _fit_form(cells: Sequence[str], form: str, most: int) -> bool:
    return not _misfits(cells, lambda cell: read_date(cell, form, this_century()) is not None, most)


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


def _truths(cells: Sequence[str]) -> Iterator[Candidate]:
    words = {cell.lower() for cell in cells}
    if len(words) == 2 and any(words == set(pair) for pair in _CLEAR_PAIRS):
        yield Candidate(Kind.BOOLEAN)


def _times(cells: Sequence[str], most: int) -> Iterator[Candidate]:
    clock, length = re.compile(clock_pattern()), re.compile(duration_pattern())
    if not _misfits(cells, lambda cell: clock.fullmatch(cell.lower()) is not None, most):
        yield Candidate(Kind.INTEGER, Notation(time="clock"))
    elif not _misfits(cells, lambda cell: length.fullmatch(cell.lower()) is not None, most):
        whole = not any(re.search("[.,]", cell) for cell in cells)
        yield Candidate(Kind.INTEGER if whole else Kind.REAL, Notation(time="duration"))


def _mark_rivals(found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Numbers of which each could be grouped digits or a fraction, and dates of which the day could be the month."""
    listed = list(found)
    numbers = {each.decimal for each in listed if each.decimal}
    orders = {each.order for each in listed if each.order}
    for each in listed:
        rival = (each.decimal and len(numbers) > 1) or (each.order and len(orders) > 1)
        yield Candidate(each.kind, each.written, bool(rival))
