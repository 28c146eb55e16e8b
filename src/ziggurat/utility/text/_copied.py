"""Runs of words that generated headlines have from those learned from, beside what they have in common with others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ziggurat.errors import ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.randomness import choose_source
from ziggurat.utility.text._novelty import HeadlineIndex


@dataclass(frozen=True)
class CopiedRuns(Finding):
    """The longest run of words that each generated headline has in common with headlines learned from, and with others.

    Attributes
    ----------
    headlines
        How many headlines there are on each side to have runs in common with: as many, since more have longer ones.
    training, control
        For each generated headline the longest run, in words: with one learned from, and with one held out.
    whole
        The generated headlines that are, as a whole, a run of one that was learned from.
    longer, shorter
        Those with a longer run from what was learned than from what was held out, and those with a shorter one; as many
        of both are expected of a model that remembers no headline.
    """

    headlines: int
    training: tuple[int, ...]
    control: tuple[int, ...]
    whole: Share
    longer: Share
    shorter: Share

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        ours, theirs = np.mean(self.training), np.mean(self.control)
        return (
            f"Generated headlines have at most {max(self.training)} words in a row from one learned from, "
            f"{ours:.2f} on average, and {max(self.control)} and {theirs:.2f} from as many held out "
            f"({self.headlines:,} each); {self.longer} have a longer run from what was learned, {self.shorter} a "
            "shorter one."
        )

    @property
    def table(self) -> pa.Table:
        """How many generated headlines have a longest run of each number of words."""
        sizes = range(max(*self.training, *self.control) + 1)
        counts = {name: np.bincount(getattr(self, name), minlength=len(sizes)) for name in ("training", "control")}
        return pa.table({"words": list(sizes), **{name: each.tolist() for name, each in counts.items()}})


def longest_copied_run(
    generated: Sequence[str], training: Sequence[str], control: Sequence[str], *, random_state: int | None = None
) -> CopiedRuns:
    """Measure the longest runs of words that generated headlines have in common with those learned from, and others.

    Parameters
    ----------
    generated
        What a model wrote.
    training, control
        Headlines that it learned from, and headlines of the same kind that it did not learn from. As many of both are
        looked at, drawn at random.
    random_state
        A seed for this draw; by default it is drawn anew.
    """
    if not len(generated) or not len(training) or not len(control):
        raise ParameterError("There must be at least one headline generated, learned from and held out.")
    draw = choose_source(random_state).simulation()
    size = min(len(training), len(control))
    ours, theirs = (
        HeadlineIndex([side[place] for place in draw.permutation(len(side))[:size]]).longest_runs(generated)
        for side in (training, control)
    )
    lengths = np.array([len(each.split()) for each in generated])
    whole = HeadlineIndex(training).longest_runs(generated) == lengths
    shares = (Share(int(each.sum()), len(generated)) for each in (whole, ours > theirs, ours < theirs))
    return CopiedRuns(size, tuple(ours.tolist()), tuple(theirs.tolist()), *shares)
