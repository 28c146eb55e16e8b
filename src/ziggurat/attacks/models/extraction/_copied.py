"""How closely copies agree with a model, by how many questions they were learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from ziggurat.attacks._finding import Share
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = (0.9, 0.95, 0.99)
"""For which agreements the number of questions is told."""


@dataclass(frozen=True)
class CopyPoint(Shown):
    """How good a copy is after so many questions.

    Attributes
    ----------
    questions
        How many rows the model was asked about.
    copy
        How it was copied; chosen by questions that were kept back from learning.
    agreement
        On how many unseen questions both name the same class, or numbers that are near each other.
    distance
        The mean over unseen questions of the total variation between their probabilities, or of the absolute difference
        of numbers in standard deviations of the model's.
    """

    questions: int
    copy: str
    agreement: Share
    distance: float


@dataclass(frozen=True)
class CopiedModel(Finding):
    """How many questions copy a model: information for whoever sets limits, never a verdict.

    Attributes
    ----------
    model
        What was copied.
    points
        Copies, by how many questions they were learned from.
    constant
        How often the model's most common answer (or its mean) agrees, which takes no copy at all.
    columns
        How many numbers a question has.
    adaptive
        Whether questions were chosen where the copy so far was least sure.
    within
        For numbers: how near counts as agreeing, in standard deviations of the model's answers; None for classes.
    """

    model: str
    points: tuple[CopyPoint, ...]
    constant: Share
    columns: int
    adaptive: bool
    within: float | None

    def count_questions(self, agreement: float) -> int | None:
        """The fewest questions after which copies agree so often; None if none of those tried do."""
        return next((each.questions for each in self.points if each.agreement.rate >= agreement), None)

    @property
    def needed(self) -> dict[str, int | None]:
        """The fewest questions for agreement of 90, 95 and 99 %."""
        return {f"{level:.0%}": self.count_questions(level) for level in LEVELS}

    @property
    def sentence(self) -> str:
        """What was found, and which limit follows from it, in a sentence for a steward."""
        last = self.points[-1]
        plain = f"({self._without} on {self.constant.rate:.1%})"
        # Of levels that are reached together the highest is told.
        reached = {count: level for level, count in self.needed.items() if count is not None}
        if not reached:
            return (
                f"Copies of {self.model} agree with it on {last.agreement} of unseen questions after "
                f"{last.questions:,} {plain}: none of them copied it; whoever limits each asker to so many keeps it so."
            )
        told = ", ".join(f"{level} after {count:,}" for count, level in reached.items())
        return (
            f"Copies of {self.model} agree with it on unseen questions: {told} questions {plain}. To make copying cost "
            f"more, limit each asker to fewer than {min(reached):,}; people who share answers still get there."
        )

    @property
    def table(self) -> pa.Table:
        """A row for each number of questions."""
        return pa.table(
            {
                "questions": [each.questions for each in self.points],
                "copy": [each.copy for each in self.points],
                "agreement": [each.agreement.rate for each in self.points],
                "low": [each.agreement.low for each in self.points],
                "high": [each.agreement.high for each in self.points],
                "distance": [each.distance for each in self.points],
            }
        )

    def draw(self, format: Literal["svg", "png"] = "svg") -> bytes:  # noqa: A002
        """Draw agreement against questions, with intervals; the same figures give the same bytes."""
        from ziggurat.drawing import encode, sheet

        if format not in ("svg", "png"):
            raise ParameterError("A picture is drawn as 'svg' or 'png'.")
        with sheet(6.4, 3.8) as page:
            self._fill(page.add_subplot())
            return encode(page, format)

    @property
    def _without(self) -> str:
        """What agrees without any copy, in words."""
        return "its most common answer" if self.within is None else "its mean answer"

    def _fill(self, axes: Axes) -> None:
        from ziggurat.drawing import DULL, LIMIT, NOISY, SOFT, shorten

        places, shares = [each.questions for each in self.points], [each.agreement for each in self.points]
        ends = [[each.rate - each.low for each in shares], [each.high - each.rate for each in shares]]
        rates = [each.rate for each in shares]
        axes.errorbar(places, rates, yerr=ends, fmt="o-", color=NOISY, capsize=3, linewidth=1.6,
                      label="copies, with 95% intervals")  # fmt: skip
        axes.axhline(self.constant.rate, color=SOFT, linestyle="--", linewidth=1.2, label=self._without)
        for level in LEVELS:
            axes.axhline(level, color=LIMIT if level == LEVELS[0] else DULL, linestyle=":", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xticks(places, [f"{each:,}" for each in places])
        axes.minorticks_off()
        axes.set_ylim(max(0.0, min(0.5, self.constant.rate, *(each.low for each in shares)) - 0.03), 1.01)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set(xlabel="questions asked", ylabel="agreement on unseen questions")
        axes.set_title(f"Copies of {shorten(self.model, 40)}")
        axes.grid(axis="y")
        axes.legend(frameon=False, fontsize=9, loc="lower right")
