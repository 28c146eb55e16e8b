"""Names of columns as a table needs them: filled, printable, and different by more than case."""

from collections.abc import Sequence

from ziggurat.wording import count_noun, list_names


def name_columns(given: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names for columns, and sentences that say what was changed.

    Line breaks and other characters that cannot be printed become blanks, and blanks around a name go. A column without
    a name is called after its place, `column_3`; a name that was given before gets `_2`, `_3` and so on.

    Parameters
    ----------
    given
        As they stand in the file, in order; those without one are empty.
    """
    cleaned = [_clean(name) for name in given]
    names: list[str] = []
    taken: set[str] = set()
    for place, name in enumerate(cleaned, start=1):
        names.append(_find_free(name or f"column_{place}", taken))
        taken.add(names[-1].lower())
    return tuple(names), tuple(_say_changes(given, cleaned, names))


def _clean(name: str) -> str:
    shown = "".join(each if each.isprintable() else " " for each in name)
    return " ".join(shown.split()) if shown != name else name.strip()


def _find_free(name: str, taken: set[str]) -> str:
    number, found = 1, name
    while found.lower() in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def _say_changes(given: Sequence[str], cleaned: Sequence[str], names: Sequence[str]) -> list[str]:
    unnamed = [name for name, was in zip(names, cleaned, strict=True) if not was]
    twice = [name for name, was in zip(names, cleaned, strict=True) if was and was != name]
    tidied = sum(1 for name, was in zip(cleaned, given, strict=True) if name and name != was)
    notes = []
    if unnamed:
        notes.append(f"{count_noun(len(unnamed), 'column')} without a name: now {list_names(unnamed)}.")
    if twice:
        notes.append(f"{count_noun(len(twice), 'name')} stood there before: now {list_names(twice)}.")
    if tidied:
        notes.append(f"Blanks or line breaks were taken out of {count_noun(tidied, 'name')}.")
    return notes
