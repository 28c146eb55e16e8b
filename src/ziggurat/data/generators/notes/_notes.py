"""Invented notes of a hospital, in which what tells who somebody is was planted at known places."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import pyarrow as pa

from ziggurat.data.generators._common import check_count
from ziggurat.data.generators.notes import _entities as written
from ziggurat.data.generators.notes._words import LISTED_FIRST, LISTED_LAST, PLAIN, SENTENCES, TITLES, UNLISTED
from ziggurat.data.schema import Schema

PLANTED = (
    "e-mail", "url", "phone", "iban", "card", "national id", "date", "address",
    "name on the list", "misspelt name", "name after a title", "name that no list knows",
)  # fmt: skip
"""The kinds of what is planted."""

_SPAN = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("kind", pa.string())])
_HARD = 0.03  # letters apart, or initials alone
_LANGUAGES = ("de", "fr", "en")


def listed_names() -> tuple[str, ...]:
    """Return the names that a steward would have on a list, for the notes that `hospital_notes` invents."""
    return (*LISTED_FIRST, *LISTED_LAST)


def hospital_notes(n: int = 2_000, *, seed: int = 0) -> pa.Table:
    """Invent notes in German, French and English, each about one patient, with what was planted and where.

    Parameters
    ----------
    n
        How many notes, at least 1.
    seed
        The same seed gives the same notes.

    Returns
    -------
    pyarrow.Table
        first_name, last_name, language, note, and `planted`: for each thing its start, end and kind (one of `PLANTED`).

    Examples
    --------
    >>> hospital_notes(3, seed=1).column_names
    ['first_name', 'last_name', 'language', 'note', 'planted']
    """
    n = check_count("the number of notes", n)
    random = Random(f"hospital notes {seed}")  # noqa: S311
    rows = [_Note(random).finish() for _ in range(n)]
    return pa.Table.from_pylist(rows, schema=_ARROW)


def hospital_notes_schema() -> Schema:
    """The public schema of `hospital_notes`; where things were planted is in no table about people."""
    return Schema.from_dict({
        "name": "hospital_notes",
        "columns": {
            "first_name": {"kind": "text", "role": "identifier"},
            "last_name": {"kind": "text", "role": "identifier"},
            "language": {"kind": "category", "categories": list(_LANGUAGES)},
            "note": {"kind": "text", "role": "sensitive"},
        },
    })  # fmt: skip


_ARROW = pa.schema([
    *((name, pa.string()) for name in ("first_name", "last_name", "language", "note")), ("planted", pa.list_(_SPAN)),
])  # fmt: skip


class _Note:
    """One note in the making."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._language = random.choice(_LANGUAGES)
        self._first, self._last = random.choice(LISTED_FIRST), random.choice(LISTED_LAST)
        self._text, self._planted = "", []  # type: tuple[str, list[dict[str, object]]]

    def finish(self) -> dict[str, object]:
        """Write two to five sentences."""
        planted = self._random.sample(SENTENCES[self._language], self._random.randrange(1, 4))
        plain = self._random.sample(PLAIN[self._language], self._random.randrange(1, 3))
        sentences = [*planted, *plain]
        self._random.shuffle(sentences)
        for sentence in sentences:
            self._write(sentence)
        facts = {"first_name": self._first, "last_name": self._last, "language": self._language}
        return {**facts, "note": self._text, "planted": self._planted}

    def _write(self, sentence: str) -> None:
        self._text += " " if self._text else ""
        for piece in sentence.replace("}", "{").split("{"):
            if piece in _SLOTS:
                self._plant(*_SLOTS[piece](self))
            else:
                self._text += piece

    def _plant(self, text: str, kind: str) -> None:
        for place, piece in enumerate(re.split("[<>]", text if "<" in text else f"<{text}>")):
            start = len(self._text)
            self._text += piece
            if place % 2:
                self._planted.append({"start": start, "end": len(self._text), "kind": kind})

    def person(self) -> tuple[str, str]:
        """The patient, by one name or both, in several ways."""
        first, last = self._first, self._last
        if self._random.random() < _HARD:
            return self._random.choice((" ".join(last), f"{first[0]}.{last[0]}.")), "name on the list"
        forms = (last, f"{first} {last}", f"{last}, {first}", last.upper(), f"{first[0]}. {last}", first, last.lower())
        return self._random.choice(forms), "name on the list"

    def relative(self) -> tuple[str, str]:
        """Somebody else on the list, sometimes misspelt."""
        name = f"{self._random.choice(LISTED_FIRST)} {self._random.choice(LISTED_LAST)}"
        long = [word for word in name.split() if len(word) >= 7 and word.isalpha()]
        if not long or self._random.random() > 0.25:
            return name, "name on the list"
        return _misspell(self._random, long[-1]), "misspelt name"

    def titled(self) -> tuple[str, str]:
        """Somebody whom no list knows, after a title that stays."""
        self._text += self._random.choice(TITLES[self._language]) + " "
        return self._random.choice(UNLISTED), "name after a title"

    def unlisted(self) -> tuple[str, str]:
        """Somebody whom no list knows, with nothing that shows it."""
        return self._random.choice(UNLISTED), "name that no list knows"

    def write(self, kind: str) -> str:
        """Write something of this kind."""
        if kind == "e-mail":
            return written.write_mail(self._random, f"{self._first} {self._last}")
        if kind in _FREE:
            return _FREE[kind](self._random)
        return _SPOKEN[kind](self._random, self._language)


_FREE: dict[str, Callable[[Random], str]] = {"url": written.write_url, "card": written.write_card}
_SPOKEN: dict[str, Callable[[Random, str], str]] = {
    "phone": written.write_phone, "iban": written.write_iban, "national id": written.write_number,
    "date": written.write_date, "address": written.write_address,
}  # fmt: skip
_NAMED = {"mail": "e-mail", "url": "url", "card": "card", "phone": "phone", "iban": "iban", "number": "national id",
          "date": "date", "address": "address"}  # fmt: skip
_SLOTS: dict[str, Callable[[_Note], tuple[str, str]]] = {
    "person": _Note.person, "relative": _Note.relative, "titled": _Note.titled, "unlisted": _Note.unlisted,
    **{slot: (lambda note, kind=kind: (note.write(kind), kind)) for slot, kind in _NAMED.items()},  # type: ignore[misc]
}  # fmt: skip


def _misspell(random: Random, name: str) -> str:
    """Leave out, double or change one letter, not the first."""
    at = random.randrange(1, len(name) - 1)
    return random.choice(
        (name[:at] + name[at + 1 :], name[:at] + name[at] + name[at:], name[:at] + "e" + name[at + 1 :])
    )
