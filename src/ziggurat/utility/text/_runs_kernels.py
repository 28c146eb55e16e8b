"""Longest runs of words that two headlines have in common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Places = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]


@compiled
def mark_longest_runs(asked: Places, held: Marks, codes: Places, offsets: Places, marks: Marks, last: Places) -> int:
    """Mark the longest run that a headline has in common with each of many, and return the longest of all.

    `marks[start, size]` is set for the run of so many words from there in the headline that is asked about; of runs
    equally long that comes first which does in it. `held` says of every word whether it is in that headline, and `last`
    is room for as many numbers as it has words, and one more.
    """
    longest = 0
    for text in range(len(offsets) - 1):
        begin, size, running = 0, 0, False
        for place in range(offsets[text], offsets[text + 1]):
            word = codes[place]
            if not held[word]:  # most words are not, and end every run
                if running:
                    last[:] = 0
                running = False
                continue
            running = True
            # From right to left, so that last[i - 1] still tells how long the run up to the word before was.
            for i in range(len(asked), 0, -1):
                run = last[i - 1] + 1 if asked[i - 1] == word else 0
                last[i] = run
                if run > size or (run == size and size > 0 and i - run < begin):
                    begin, size = i - run, run
        if running:
            last[:] = 0
        if size > 0:
            marks[begin, size] = True
        longest = max(longest, size)
    return longest
