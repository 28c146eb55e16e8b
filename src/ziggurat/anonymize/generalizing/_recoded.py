"""Local and Mondrian recoding as labels of combinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ziggurat.anonymize.generalizing._published import PublishedLabels

if TYPE_CHECKING:
    from ziggurat.anonymize.generalizing._coded import Combinations
    from ziggurat.anonymize.generalizing._local import Recoded
    from ziggurat.anonymize.generalizing._mondrian import Boxes


def local_labels(counted: Combinations, recoded: Recoded) -> list[PublishedLabels]:
    """Return what is published of every column: cells of one column may have different levels."""
    labels = []
    for place, ladder in enumerate(counted.ladders):
        levels = np.maximum(recoded.levels[:, place].astype(np.int64), 0)
        starts = np.cumsum([0, *(len(names) for names in ladder.labels)])
        groups = np.stack(ladder.groups)[levels, counted.codes[:, place]]
        names = tuple(name for level in ladder.labels for name in level)
        untouched = not levels[recoded.levels[:, place] >= 0].any()
        places = (starts[levels] + groups).astype(np.int32)
        labels.append(PublishedLabels(ladder.column, places, None if untouched else names))
    return labels


def range_labels(counted: Combinations, boxes: Boxes) -> list[PublishedLabels]:
    """Return what is published of every column: ranges of numbers, and labels of hierarchies."""
    labels = []
    for place, ladder in enumerate(counted.ladders):
        numbers: dict[object, int] = {}
        cells = boxes.labels(counted, place)
        places = np.array([numbers.setdefault(cell, len(numbers)) for cell in cells], np.int32)
        alone = bool((boxes.levels[:, place] == 0).all() and (boxes.lower[:, place] == boxes.upper[:, place]).all())
        labels.append(PublishedLabels(ladder.column, places, None if alone else tuple(numbers)))
    return labels
