"""Lengths and transitions before and after, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.drawing import NOISY, TRUE, encode, sheet, shorten
from ziggurat.utility.sequences._comparison import ComparedSequences, Counts, SequenceComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_GROUPS = 5
_MOST_SYMBOLS = 30
_ENDS = "·"
_ROW = 2.9  # inches
_LEFT_OUT = 0.002  # of the lengths, which may reach far


def draw_sequences(found: SequenceComparison, kind: Literal["svg", "png"] = "svg") -> bytes:
    """Draw the lengths and the transitions of original and synthetic sequences: a row for all, and one for each class.

    Parameters
    ----------
    found
        What `compare_sequences` gave. Of more than 4 classes the first are drawn, of more than 30 symbols the most
        frequent.
    kind
        Of the file.
    """
    groups = found.groups[:_MOST_GROUPS]
    with sheet(10.2, _ROW * len(groups)) as page:
        places = page.subplots(len(groups), 3, squeeze=False, width_ratios=(1.25, 1, 1))
        for row, each in zip(places, groups, strict=True):
            _draw_lengths(row[0], each, each.name if each is found.whole else f"class {each.name}")
            _draw_transitions(page, row[1], row[2], each, found.tokens)
        return encode(page, kind)


def _draw_lengths(axes: Axes, group: ComparedSequences, title: str) -> None:
    sides = zip(group.length_counts, (TRUE, NOISY), ("original", "synthetic"), strict=True)
    for place, (counts, colour, label) in enumerate(sides):
        shares, edges = counts / max(counts.sum(), 1), np.arange(len(counts) + 1) - 0.5
        axes.stairs(shares, edges, color=colour, label=label, fill=not place, alpha=1 if place else 0.35, linewidth=1.5)
    axes.set_title(shorten(title, 40))
    axes.set_xlim(-1, _find_end(group) + 1)
    axes.set_xlabel("symbols in a sequence (the longest 0.2% are left out)")
    axes.set_ylabel("share")
    axes.legend(frameon=False)


def _find_end(group: ComparedSequences) -> int:
    """The length that all but one in five hundred have at most."""
    both = np.cumsum(sum(group.length_counts))
    return max(2, int(np.searchsorted(both, (1 - _LEFT_OUT) * both[-1])))


def _draw_transitions(page: Figure, left: Axes, right: Axes, group: ComparedSequences, tokens: tuple[str, ...]) -> None:
    shown = _choose_symbols(group, len(tokens))
    maps = [_fill_map(keys, counts, shown, len(tokens)) for keys, counts in group.transition_counts]
    most, names = max(1e-12, *(float(each.max()) for each in maps)), [*tokens, _ENDS]
    for axes, shares, title in zip((left, right), maps, ("transitions, original", "synthetic"), strict=True):
        # The root shows rare transitions, too.
        image = axes.imshow(np.sqrt(shares), cmap="Blues", vmin=0, vmax=most**0.5)
        axes.set_title(title)
        axes.set_xlabel(f"next ({_ENDS} is the end)")
        labels = [shorten(names[code], 6) for code in shown]
        axes.set_xticks(range(len(shown)), labels, fontsize=6, rotation=90)
        axes.set_yticks(range(len(shown)), labels, fontsize=6)
    bar = page.colorbar(image, ax=right, shrink=0.8)
    ticks = np.linspace(0, most, 4)
    bar.set_ticks(np.sqrt(ticks).tolist(), labels=[f"{each:.2g}" for each in ticks])


def _choose_symbols(group: ComparedSequences, ends: int) -> list[int]:
    """The most frequent symbols of both, in the order of their codes, and the mark of both ends."""
    both = np.zeros(ends + 1)
    for keys, counts in group.transition_counts:
        both += np.bincount(keys // (ends + 1), weights=counts, minlength=ends + 1)
    return [*sorted(np.argsort(-both[:ends], kind="stable")[:_MOST_SYMBOLS].tolist()), ends]


def _fill_map(keys: Counts, counts: Counts, shown: list[int], ends: int) -> npt.NDArray[np.float64]:
    place = np.full(ends + 1, -1)
    place[shown] = np.arange(len(shown))
    one, other = place[keys // (ends + 1)], place[keys % (ends + 1)]
    held = (one >= 0) & (other >= 0)
    cells = np.zeros((len(shown), len(shown)))
    cells[one[held], other[held]] = counts[held] / max(int(counts.sum()), 1)
    return cells
