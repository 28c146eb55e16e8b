"""Words that everyone borrows: the name that was probably meant, and text as it may stand on a screen."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: object, known: Iterable[str]) -> str:
    """Return the tail of an error sentence: the nearest known name, or else a list of what is known.

    Parameters
    ----------
    name
        What was written.
    known
        Names that would have been understood.
    """
    names = [str(each) for each in known]
    lowered = {each.lower(): each for each in reversed(names)}
    close = get_close_matches(str(name).lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean {lowered[close[0]]!r}?"
    if not names:
        return "none is known."
    listed = ", ".join(repr(each) for each in names[:12])
    return f"known: {listed}{', ...' if len(names) > 12 else '.'}"


def printable(text: str) -> str:
    r"""Return text in one line that a terminal only shows: control characters as escapes, such as \n and \x1b.

    Parameters
    ----------
    text
        A cell, a category or the name of a column, by whomever.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def count_noun(number: int, one: str, many: str = "") -> str:
    """A number with its noun: '1 person', '2,000 people'."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
