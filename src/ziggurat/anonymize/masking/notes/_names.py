"""Names of people in notes: those on a list, misspelt ones of six letters or more, and what follows a title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_UP = "A-ZÄÖÜÉÈÀÂÇŒŠŽŁØÅ"
_PART = "von|van|der|den|de|du|la|le|di|da|zu|vom|zum|ten|al|el|bin|mc|mac|del|dos|y"
_TITLE = (
    r"Herrn?|Frau|Fr\.|Hr\.|Familie|Fam\.|Dr\.?|Prof\.?|Professor|Schwester|Sr\.|Pfleger|PD|OA|OÄ|Oberarzt|Oberärztin|"
    r"Chefarzt|Chefärztin|Mrs?\.?|Ms\.?|Miss|Sir|Nurse|Sister|Monsieur|Madame|Mademoiselle|M\.|Mme\.?|Mlle\.?|Pr\.?|"
    r"Docteur|Maître|Me\.|Doctor|Professeur|Hebamme|Vater|Mutter|Sohn|Tochter|Ehemann|Ehefrau|Bruder|Schwager"
)
_TITLES = re.compile(
    rf"(?<!\w)(?:{_TITLE})(?:\s(?:{_TITLE}|med\.|rer\.|nat\.|phil\.|h\.c\.|Dipl\.-\w+\.?))*\s"
    rf"(?P<it>(?:[{_UP}]\.\s?){{0,2}}(?:(?i:{_PART})\s){{0,2}}(?:[Dd]['’]|O['’])?[{_UP}][\w'’-]+"
    rf"(?:\s(?:(?i:{_PART})\s){{0,2}}[{_UP}][\w'’-]+)?)"
)
_SINGLE = re.compile(rf"(?:[{_UP}]\.\s?)+$")
_BETWEEN = re.compile(rf"[\s,-]+(?:(?:{_PART})\s|[{_UP}]\.\s?)*", re.IGNORECASE)
_PARTS = frozenset(_PART.split("|"))
_SHORTEST, _SHORTEST_MISSPELT = 3, 6

Span = tuple[int, int]


@dataclass(frozen=True)
class NameList:
    """Names to look for, in whatever case, with or without a genitive.

    Parameters
    ----------
    names
        First or last names; of those with several words each word counts, save particles such as "von" and words of
        fewer than three letters.
    phrases
        Names of several words, which also count as a whole.
    misspelt
        Whether capitalised words that are one letter away from a listed name of at least six letters count as it.
    """

    names: frozenset[str]
    misspelt: bool = True
    phrases: tuple[str, ...] = ()
    _known: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, names: Iterable[str], *, misspelt: bool = True) -> NameList:
        """Make a list of names as people write them."""
        given = list(names)
        words = (word.lower() for name in given for word in _WORD.findall(name))
        phrases = tuple(sorted({" ".join(name.split()) for name in given if len(name.split()) > 1}))
        return cls(frozenset(_split_hyphens(words)), misspelt, phrases)

    def find(self, text: str) -> Iterator[Span]:
        """Give where names stand, initials and particles between them included."""
        spans = [found.span() for found in _WORD.finditer(text) if self.holds(found.group())]
        if self.phrases:
            spans = _widen(spans, [found.span() for found in self._phrases.finditer(text)])
        yield from _join(text, spans)

    def holds(self, word: str) -> bool:
        """Return whether a word is a name on the list."""
        if word not in self._known:
            self._known[word] = self._look_up(word)
        return self._known[word]

    def _look_up(self, word: str) -> bool:
        forms = [form for part in (word, *re.split(r"[-'’]", word)) for form in _forms(part.lower())]
        if any(form in self.names for form in forms):
            return True
        if not self.misspelt or not word[0].isupper():
            return False
        return any(self._is_misspelt(form) for form in forms if len(form) >= _SHORTEST_MISSPELT - 1)

    def _is_misspelt(self, word: str) -> bool:
        from rapidfuzz.distance import OSA

        near = {name for form in (word, *_shorten(word)) for name in self._shortened.get(form, ())}
        return any(OSA.distance(word, name, score_cutoff=1) <= 1 for name in near)

    @cached_property
    def _phrases(self) -> re.Pattern[str]:
        listed = "|".join(re.escape(each).replace(r"\ ", r"\s+") for each in self.phrases)
        return re.compile(rf"(?<!\w)(?:{listed})(?:['’]?s)?(?!\w)", re.IGNORECASE)

    @cached_property
    def _shortened(self) -> dict[str, list[str]]:
        """Every long name by itself and by what is left without one of its letters."""
        found: dict[str, list[str]] = {}
        for name in self.names:
            if len(name) >= _SHORTEST_MISSPELT:
                for form in (name, *_shorten(name)):
                    found.setdefault(form, []).append(name)
        return found


def find_titled(text: str) -> Iterator[Span]:
    """Give where a capitalised word follows a title."""
    for found in _TITLES.finditer(text):
        yield found.span("it")


def find_exact(text: str, values: Iterable[str]) -> Iterator[Span]:
    """Give where values stand word for word, in whatever case."""
    lowered = text.lower()
    if len(lowered) != len(text):
        return
    for value in values:
        at = lowered.find(value.lower())
        while at >= 0:
            end = at + len(value)
            if not lowered[at - 1 : at].isalnum() and not lowered[end : end + 1].isalnum():
                yield at, end
            at = lowered.find(value.lower(), end)


def _split_hyphens(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        for part in (word, *re.split(r"[-'’]", word)):
            if len(part) >= _SHORTEST and part not in _PARTS:
                yield part


def _forms(word: str) -> Iterator[str]:
    """A word, and what it is the genitive of."""
    yield word
    if len(word) > _SHORTEST and word[-1] in "s'’":
        yield word.rstrip("'’").removesuffix("s").rstrip("'’")


def _shorten(word: str) -> Iterator[str]:
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]


def _widen(spans: list[Span], phrases: list[Span]) -> list[Span]:
    """The spans with whole names in place of what lies within them."""
    kept = [each for each in spans if not any(low <= each[0] and each[1] <= high for low, high in phrases)]
    return sorted([*kept, *phrases])


def _join(text: str, spans: list[Span]) -> list[Span]:
    """Names with nothing but blanks, particles and initials between them are one; initials before it belong to it."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and _BETWEEN.fullmatch(text, joined[-1][1], start):
            joined[-1] = (joined[-1][0], end)
            continue
        initials = _SINGLE.search(text, 0 if not joined else joined[-1][1], start)
        joined.append((initials.start() if initials else start, end))
    return joined
