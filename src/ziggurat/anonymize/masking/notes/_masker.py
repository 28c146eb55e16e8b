"""Find what tells who somebody is in notes, and put placeholders in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ziggurat.anonymize.masking.notes._dates import DATE_RULES
from ziggurat.anonymize.masking.notes._names import NameList, find_exact, find_titled
from ziggurat.anonymize.masking.notes._numbers import CONTACT_RULES, NUMBER_RULES, PHONE_RULES
from ziggurat.anonymize.masking.notes._places import STREET_RULES, TOWN_RULES
from ziggurat.anonymize.masking.notes._rules import COUNTRIES, ID, NAME, NoteRule
from ziggurat.errors import ParameterError
from ziggurat.wording import nearest

Progress = Callable[[int, int], None]

_DIGIT = re.compile(r"\d")
_EVERY = 2000
_RULES = (*CONTACT_RULES, *NUMBER_RULES, *STREET_RULES, *TOWN_RULES, *DATE_RULES, *PHONE_RULES)


@dataclass(frozen=True)
class FoundInNote:
    """Where something stands in a note, and of which kind it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class MaskedNotes:
    """Notes with placeholders such as [NAME], and how many of each kind were put in.

    Masked text is not anonymous: a name that no list knows stays, and so does what somebody tells about themselves.

    Parameters
    ----------
    texts
        In the order in which they came; None stays None.
    counts
        For each kind how many placeholders stand in the notes.
    """

    texts: list[str | None]
    counts: dict[str, int]


@dataclass(frozen=True)
class NoteMasker:
    """Looks for e-mail and web addresses, numbers, dates, addresses and names in notes.

    Parameters
    ----------
    names
        The names to look for.
    countries
        Whose national numbers, telephone numbers and addresses are looked for.
    """

    names: NameList = field(default_factory=lambda: NameList(frozenset()))
    countries: tuple[str, ...] = COUNTRIES

    def __post_init__(self) -> None:
        for each in self.countries:
            if each not in COUNTRIES:
                raise ParameterError(f"No forms of the country {each!r} are known; {nearest(each, COUNTRIES)}")

    def find(self, text: str, own: Sequence[str] = ()) -> list[FoundInNote]:
        """Return what stands where, in order; `own` are values of the row that are masked word for word."""
        found = _Taken(text)
        found.take(find_exact(text, [value for value in own if _DIGIT.search(value)]), ID)
        with_digits = _DIGIT.search(text) is not None
        for rule in self._rules:
            if with_digits or not rule.digits:
                found.take(_spans(rule, text), rule.kind)
        found.take(find_titled(text), NAME)
        found.take(find_exact(text, [value for value in own if not _DIGIT.search(value)]), NAME)
        found.take(self.names.find(text), NAME)
        return found.ordered()

    def mask(self, text: str, own: Sequence[str] = ()) -> tuple[str, list[FoundInNote]]:
        """Return the note with placeholders, and what they stand for."""
        found, pieces, at = self.find(text, own), [], 0
        for each in found:
            pieces += [text[at : each.start], f"[{each.kind}]"]
            at = each.end
        return "".join([*pieces, text[at:]]), found

    @property
    def _rules(self) -> Iterator[NoteRule]:
        return (rule for rule in _RULES if not rule.country or rule.country in self.countries)


class _Taken:
    """The places of a note that are taken; what overlaps them is not taken again."""

    def __init__(self, text: str) -> None:
        self._free = bytearray(b"\x01") * len(text)
        self._found: list[FoundInNote] = []

    def take(self, spans: Iterable[tuple[int, int]], kind: str) -> None:
        """Take what is still free of each span."""
        for start, end in spans:
            if 0 not in self._free[start:end]:
                self._add(start, end, kind)
            elif kind == NAME:  # "Dr. Weber, 12.3.": the name before what was taken
                for low, high in self._gaps(start, end):
                    self._add(low, high, kind)

    def ordered(self) -> list[FoundInNote]:
        """Give what was taken, from the beginning of the note to its end."""
        return sorted(self._found, key=lambda each: each.start)

    def _add(self, start: int, end: int, kind: str) -> None:
        self._free[start:end] = bytes(end - start)
        self._found.append(FoundInNote(start, end, kind))

    def _gaps(self, start: int, end: int) -> list[tuple[int, int]]:
        gaps = [found.span() for found in re.finditer(b"\x01+", bytes(self._free[start:end]))]
        return [(start + low, start + high) for low, high in gaps if high - low > 1]


def mask_notes(
    texts: Iterable[str | None],
    *,
    names: Iterable[str] = (),
    own: Iterable[Sequence[str]] | None = None,
    countries: Sequence[str] = COUNTRIES,
    misspelt: bool = True,
    progress: Progress | None = None,
) -> MaskedNotes:
    """Put placeholders in place of what tells who somebody is in notes; the result is not anonymous.

    Looked for are e-mail and web addresses, telephone numbers, account and card numbers and national numbers (by their
    check digits where they have some), days and months, streets with a number, postcodes with a town, capitalised words
    after a title, and the names that are given, in whatever case and with a genitive. How much of that is found in
    invented notes is measured by `measure_masking`. A name that no list knows stays.

    Parameters
    ----------
    texts
        The notes; None stays None.
    names
        First and last names to look for.
    own
        For each note, values of its own row (a name, a number) that are masked word for word.
    countries
        Whose numbers and addresses are looked for: "de", "fr", "gb", "us".
    misspelt
        Whether capitalised words one letter away from a given name of six letters or more are masked too.
    progress
        Called with how many notes are done and how many there are.
    """
    listed = list(texts)
    masker = NoteMasker(NameList.of(names, misspelt=misspelt), tuple(countries))
    values = [()] * len(listed) if own is None else list(own)
    if len(values) != len(listed):
        raise ParameterError("Give for every note the values of its own row, or none at all.")
    counts: dict[str, int] = {}
    done: list[str | None] = []
    for text, mine in zip(listed, values, strict=True):
        masked, found = (None, []) if text is None else masker.mask(text, mine)
        done.append(masked)
        for each in found:
            counts[each.kind] = counts.get(each.kind, 0) + 1
        if progress is not None and (len(done) % _EVERY == 0 or len(done) == len(listed)):
            progress(len(done), len(listed))
    return MaskedNotes(done, counts)


def _spans(rule: NoteRule, text: str) -> Iterator[tuple[int, int]]:
    group = "it" if "it" in rule.pattern.groupindex else 0
    for found in rule.pattern.finditer(text):
        if rule.passes is None or rule.passes(found.group(group)):
            yield found.span(group)
