"""Words that everyone borrows: the name that was probably meant, counted nouns, text as a screen may show it."""

from collections.abc import Iterable, Sequence
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


def count_noun(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: '1 row', '2,000 rows', '5 copies', '2 people'.

    Parameters
    ----------
    number
        How many there are.
    one
        The noun for one of them.
    many
        The noun for several, where no rule makes it from that for one.
    """
    several = one[:-1] + "ies" if one[-1] == "y" and one[-2] not in "aeiou" else one + "s"
    return f"{number:,} {one if number == 1 else many or several}"


def list_names(names: Sequence[str]) -> str:
    """Return names in quotes, with commas and a last 'and'.

    Parameters
    ----------
    names
        One at least.
    """
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


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
