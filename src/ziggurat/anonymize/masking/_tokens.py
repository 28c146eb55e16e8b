"""Tokens: made-up values of the same format, with a vault that leads back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.anonymize.masking._technique import CellTechnique, Tally, distinct_of, identifier_text, look_up
from ziggurat.anonymize.masking._vault import Vault, VaultTransaction
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source, uniform_below

_DRAWN = {"0": 10, "a": 26, "A": 26}  # each class by its first character, and how many characters it has
_GLOBS = {"0": "[0-9]", "a": "[a-z]", "A": "[A-Z]", "*": "[*]", "?": "[?]", "[": "[[]"}
_ROOM = 4


@dataclass(frozen=True)
class Tokens(CellTechnique):
    """Replace identifiers by drawn tokens of the same format, and remember them in a vault.

    Every digit becomes a digit, every letter a letter of its case (from a to z, whatever its alphabet), and all other
    characters stay, so length and punctuation are kept. Within a domain different values have different tokens, and a
    value has the same token in every release made with the vault. No token is a value that the domain has shown so far,
    so a token is never mistaken for somebody's own number; over batches that holds for the values of earlier batches
    and of its own. The column becomes text.

    It does not hide the format, how often a value occurs or which rows belong together, and whoever has the vault has
    the values. A format needs four times as many possible values as there are distinct ones in it; else the column is
    refused.

    Parameters
    ----------
    vault
        The steward's file of tokens; keep it away from the output (`MaskedTable.save` refuses the same folder).
    domain
        Whose tokens agree: columns of several tables that hold the same identifiers share a domain. By default the
        name of the column.
    """

    name: ClassVar[str] = "tokens"
    random: ClassVar[bool] = True
    vault: Vault
    domain: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.vault, Vault):
            raise ParameterError("Tokens need a Vault, such as Tokens(Vault('secrets/patients.vault')).")
        if not isinstance(self.domain, str):
            raise ParameterError("The domain of tokens must be text.")

    def parameters(self) -> dict[str, Any]:
        """Return the domain; where the vault is stays out of the record."""
        return {"domain": self.domain}

    def column(self, cells: pa.ChunkedArray, name: str, source: Source) -> tuple[pa.ChunkedArray, Tally]:
        """Look up the tokens of all distinct values, and draw those that are missing."""
        text = identifier_text(cells, name)
        distinct = distinct_of(text)
        originals = distinct.to_pylist()
        if not originals:
            return text, Tally()
        with self.vault.changing(source.origin) as drawing:
            tokens, new = _tokens(drawing, self.domain or name, originals, name, source)
        shown = pa.array([tokens[original] for original in originals], pa.string())
        return look_up(text, distinct, shown), Tally(counts={"tokens_drawn": new})


def _tokens(
    drawing: VaultTransaction, domain: str, originals: list[str], name: str, source: Source
) -> tuple[dict[str, str], int]:
    known = drawing.known(domain, originals)
    new = [original for original in originals if original not in known]
    formats = [format_of(original) for original in new]
    _check_room(drawing, domain, formats, name)
    drawn = _draw_tokens(drawing, domain, new, formats, source)
    drawing.add(domain, drawn)
    return known | drawn, len(drawn)


def format_of(text: str) -> str:
    """Return a text with every digit as 0, every lower-case or uncased letter as a, and every capital as A."""
    return text.translate(_CLASSES)


class _CharacterClasses(dict[int, str]):
    """The class of every character, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isnumeric():
            self[code] = "0"
        elif character.isalpha():
            self[code] = "A" if character.isupper() or character.istitle() else "a"
        else:
            self[code] = character
        return self[code]


_CLASSES = _CharacterClasses()


def _size(form: str) -> int:
    size = 1
    for character in form:
        size *= _DRAWN.get(character, 1)
    return size


def _check_room(drawing: VaultTransaction, domain: str, formats: list[str], name: str) -> None:
    """Refuse formats of which tokens and values would take more than half, so that a draw soon finds a free one."""
    most = _ROOM * (drawing.count(domain) + len(formats))
    for form, count in Counter(formats).items():
        size = _size(form)
        if size >= most:
            continue
        pattern = "".join(_GLOBS.get(character, character) for character in form)
        if size < _ROOM * (count + drawing.alike(domain, pattern)):
            raise DataError(
                f"A format of column {name!r} has only {size:,} possible values, fewer than four for each distinct "
                "one; use KeyedHash, or pad the values."
            )


def _draw_tokens(
    drawing: VaultTransaction, domain: str, originals: list[str], formats: list[str], source: Source
) -> dict[str, str]:
    """Draw until every value has a token that is nobody's: rejecting leaves the free ones equally likely."""
    own, used, found = set(originals), set[str](), {}
    open_ = dict(zip(originals, formats, strict=True))
    while open_:
        candidates = dict(zip(open_, _fill_formats(list(open_.values()), source), strict=True))
        taken = drawing.find_taken(domain, list(candidates.values())) | own
        for original, token in candidates.items():
            if token not in taken and token not in used:
                used.add(token)
                found[original] = token
        open_ = {original: form for original, form in open_.items() if original not in found}
    return found


def _fill_formats(formats: list[str], source: Source) -> list[str]:
    """Draw a text for each format, all characters of a class at once."""
    joined = "".join(formats)
    characters = np.frombuffer(joined.encode("utf-32-le"), dtype="<u4").copy()
    for first, size in _DRAWN.items():
        places: npt.NDArray[np.int64] = np.flatnonzero(characters == ord(first))
        characters[places] = ord(first) + uniform_below(size, size=places.size, source=source)
    text = characters.tobytes().decode("utf-32-le")
    ends = np.cumsum([len(form) for form in formats]).tolist()
    return [text[end - len(form) : end] for form, end in zip(formats, ends, strict=True)]
