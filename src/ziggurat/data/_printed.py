"""Text from tables as it may stand on a screen."""


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
