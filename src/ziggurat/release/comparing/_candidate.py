"""One synthesis as a point of the risk-utility plane: how useful its copies are, and what attacks on them add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from ziggurat.attacks import Excess
from ziggurat.cards import Card, Shown, tabulate
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.release._tried import find_excesses
from ziggurat.utility import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UTILITY = (
    "1 minus the total variation of the tables of two columns, averaged over all pairs: 1 if every pair is distributed "
    "as in the original, 0 if no value is in common"
)
RISK = (
    "the share of what is left to be learned without the original that an attack learns, (attack - control) / (1 - "
    "control), and of closest records twice what exceeds one half; of all attacks with a control the one whose 95% "
    "interval begins highest, and never below 0"
)


@dataclass(frozen=True)
class Candidate(Shown):
    """One synthesis, judged.

    Attributes
    ----------
    name
        What it is called.
    comparison
        How useful its copies are.
    attacks
        What attacks on them found, by what they are called; those with a control need rows that were held out.
    seconds
        How long fitting and drawing took; None if the copies were there already.
    promise
        What is promised of it, in words; empty if nothing is.
    """

    name: str
    comparison: Comparison
    attacks: Mapping[str, Finding] = field(default_factory=dict)
    seconds: float | None = None
    promise: str = ""

    @property
    def utility(self) -> float:
        """1 minus the mean total variation of pairs of columns, from 0 to 1; the mean over the copies."""
        return 1 - self.comparison.pairs.mean_total_variation.mean

    @property
    def utility_ends(self) -> tuple[float, float]:
        """The utility of the worst and of the best copy."""
        found = self.comparison.pairs.mean_total_variation
        return 1 - found.high, 1 - found.low

    @property
    def excesses(self) -> dict[str, Excess]:
        """What each attack with a control learns beyond it."""
        return {name: excess for kind in self.attacks.values() for name, excess in find_excesses(kind).items()}

    @property
    def worst(self) -> tuple[str, Excess] | None:
        """The attack whose interval begins highest, one with a verdict before one without; None if none was made."""
        return max(self.excesses.items(), key=_severity, default=None)

    @property
    def risk(self) -> float | None:
        """What the worst attack learns beyond its control, from 0 to 1; None without a hold-out."""
        return None if self.worst is None else _share(self.worst[1].rate)

    @property
    def risk_ends(self) -> tuple[float, float] | None:
        """The 95 % interval of the worst attack by itself, cut at 0 and 1."""
        return None if self.worst is None else (_share(self.worst[1].low), _share(self.worst[1].high))

    @property
    def caught(self) -> tuple[str, ...]:
        """The attacks that learn more than chance explains."""
        return tuple(name for name, excess in self.excesses.items() if excess.more_than_chance)

    @property
    def sentence(self) -> str:
        """How useful and how risky it is, in a sentence for a steward."""
        useful = f"Utility {self.utility:.3f}"
        if self.worst is None or self.risk is None or self.risk_ends is None:
            return f"{useful}; the risk was not measured, because no rows were held out to compare with."
        name, excess = self.worst
        low, high = self.risk_ends
        words = _VERDICTS[excess.verdict]
        return f"{useful}; risk {self.risk:.1%} ({low:.1%} to {high:.1%}) by {name}, {words}."

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        worst = self.worst
        return {
            "name": self.name,
            "utility": self.utility,
            "utility_copies": list(self.utility_ends),
            "risk": self.risk,
            "risk_interval": None if self.risk_ends is None else list(self.risk_ends),
            "riskiest": None if worst is None else worst[0],
            "excesses": {name: vars(each) for name, each in self.excesses.items()},
            "comparison": self.comparison.to_dict(),
            "attacks": {name: each.to_dict() for name, each in self.attacks.items()},
            "seconds": self.seconds,
            "promise": self.promise or None,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Candidates(Shown):
    """Several syntheses of one table, judged on the same rows.

    Attributes
    ----------
    items
        The candidates, in the order in which they were named.
    rows, held_out
        How many rows they were made from, and how many were kept back (0 if none were).
    notes
        What to know about the comparison, in sentences.
    """

    items: tuple[Candidate, ...]
    rows: int
    held_out: int
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, name: str) -> Candidate:
        for each in self.items:
            if each.name == name:
                return each
        raise ParameterError("There is no candidate of this name; `items` has them all.")

    def _card(self) -> Card:
        return Card("Candidates", self.sentence, badge="private", **tabulate(self.table.select(_SHOWN)))

    @property
    def frontier(self) -> tuple[Candidate, ...]:
        """Those that no other beats: none is as useful at less risk, nor as safe and more useful."""
        shown = [each for each in self.items if each.risk is not None]
        return tuple(each for each in shown if not any(_beats(other, each) for other in shown))

    @property
    def sentence(self) -> str:
        """Which candidates are worth a choice, in words for a steward."""
        if len(self.items) == 1:
            return self.items[0].sentence
        useful = max(self.items, key=lambda each: each.utility)
        text = f"Of {len(self.items)} candidates {useful.name!r} is the most useful ({useful.utility:.3f})"
        if not self.frontier:
            return f"{text}; the risk was not measured, because no rows were held out to compare with."
        safe = min(self.frontier, key=lambda each: (each.risk or 0.0, -each.utility))
        names = ", ".join(repr(each.name) for each in self.frontier)
        return f"{text}, and {safe.name!r} shows the least risk ({safe.risk:.1%}). Beaten by no other: {names}."

    @property
    def table(self) -> pa.Table:
        """One row for each candidate."""
        return pa.Table.from_pylist([self._row(each) for each in self.items], schema=_SCHEMA)

    def _row(self, each: Candidate) -> dict[str, Any]:
        overall, ends = each.comparison.overall, each.risk_ends or (None, None)
        return {
            "candidate": each.name,
            "utility": each.utility,
            "risk": each.risk,
            "risk, low": ends[0],
            "risk, high": ends[1],
            "riskiest attack": None if each.worst is None else each.worst[0],
            "pMSE ratio of pairs": overall["pMSE ratio of pairs"],
            "pMSE ratio": overall["pMSE ratio"],
            "interval overlap": overall["interval overlap"],
            "seconds": each.seconds,
            "promise": each.promise or None,
            "unbeaten": each in self.frontier,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        return {
            "rows": self.rows,
            "held_out": self.held_out,
            "utility_means": UTILITY,
            "risk_means": RISK,
            "candidates": [each.to_dict() for each in self.items],
            "unbeaten": [each.name for each in self.frontier],
            "notes": list(self.notes),
            "sentence": self.sentence,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the risk-utility plane into a notebook, and give the Axes of matplotlib.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.
        """
        from ziggurat.drawing import styled
        from ziggurat.plots import make_axes
        from ziggurat.release.comparing._plane import fill_plane

        with styled():
            axes = make_axes(4.4) if ax is None else ax
            fill_plane(axes, self)
        return axes

    def draw(self, format: Literal["svg", "png"] = "svg") -> bytes:  # noqa: A002
        """Draw the risk-utility plane, a point for each candidate; the same findings give the same bytes."""
        from ziggurat.release.comparing._plane import draw_plane

        if format not in ("svg", "png"):
            raise ParameterError("A picture is drawn as 'svg' or 'png'.")
        return draw_plane(self, format)


_SHOWN = ["candidate", "utility", "risk", "riskiest attack", "promise", "unbeaten"]
_SCHEMA = pa.schema(
    [
        ("candidate", pa.string()),
        *((name, pa.float64()) for name in ("utility", "risk", "risk, low", "risk, high")),
        ("riskiest attack", pa.string()),
        *((name, pa.float64()) for name in ("pMSE ratio of pairs", "pMSE ratio", "interval overlap", "seconds")),
        ("promise", pa.string()),
        ("unbeaten", pa.bool_()),
    ]
)


def plane(candidates: Candidates, file: str | Path) -> None:
    """Draw the risk-utility plane into a .png or .svg file, which only its owner may read.

    Parameters
    ----------
    candidates
        What `candidates` found.
    file
        Where to draw; an existing file is replaced, whole or not at all.
    """
    from ziggurat.release.comparing._plane import save_plane

    save_plane(candidates, Path(file))


_VERDICTS = {
    True: "more than chance explains",
    False: "no more than chance explains",
    None: "by too few guesses for a verdict",
}


def _severity(each: tuple[str, Excess]) -> tuple[bool, float, float]:
    return each[1].verdict is not None, each[1].low, each[1].rate


def _beats(one: Candidate, other: Candidate) -> bool:
    ours, theirs = (one.utility, -(one.risk or 0.0)), (other.utility, -(other.risk or 0.0))
    return ours != theirs and all(mine >= yours for mine, yours in zip(ours, theirs, strict=True))


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
