"""How many rows must go because of two columns alone, at every pair of their levels.

A class that is kept has at least `smallest` rows, and all of them agree in any two columns. So where fewer rows than
that agree in two columns at their levels, all of these rows are suppressed at every node with those two levels,
whatever the other columns do. A column with itself gives what it costs alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Integers = npt.NDArray[np.int64]

MOST_CELLS = 1 << 12  # of two columns together: beyond this their table costs more than it spares


@compiled
def pairs_of(
    codes: npt.NDArray[np.int32],
    counts: Integers,
    sizes: Integers,
    heights: Integers,
    group_at: Integers,
    groups: Integers,
    smallest: int,
) -> Integers:
    """[j, a, i, b]: rows that must go at level a of column j and level b of column i; 0 where that was not counted.

    `codes` holds a row for each column; `groups` holds, from `group_at[j, a]` on, the group of every value of column j
    at level a.
    """
    many, tallest = sizes.size, heights.max()
    lost = np.zeros((many, tallest, many, tallest), np.int64)
    for j in range(many):
        for i in range(j + 1):
            wide = np.int64(1) if i == j else sizes[i]
            if sizes[j] * wide > MOST_CELLS:
                continue
            cells = np.zeros(sizes[j] * wide, np.int64)
            for row in range(counts.size):
                cells[codes[j, row] * wide + (0 if i == j else codes[i, row])] += counts[row]
            used = np.flatnonzero(cells)
            for a in range(heights[j]):
                for b in range(heights[i]):
                    if i == j and b != a:
                        continue
                    rows = np.zeros(sizes[j] * wide, np.int64)
                    for cell in used:
                        one = groups[group_at[j, a] + cell // wide]
                        other = np.int64(0) if i == j else groups[group_at[i, b] + cell % wide]
                        rows[one * wide + other] += cells[cell]
                    few = np.int64(0)
                    for many_rows in rows:
                        if many_rows < smallest:
                            few += many_rows
                    lost[j, a, i, b] = few
                    lost[i, b, j, a] = few
    return lost
