"""Pictures for the steward's page: how exposed people were and are, and what attacks found beside what is allowed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from ziggurat.drawing import INK, NOISY, TRUE, clean, encode, sheet

if TYPE_CHECKING:
    from ziggurat.release._evidence import Evidence
    from ziggurat.release._gate import Verdict, Weighed

_RISKS = ("highest", "average", "share_above_threshold")
_HEIGHT = 0.36  # inches of a bar


def charts(evidence: Evidence, verdict: Verdict) -> dict[str, str]:
    """Draw what was measured, as SVG by title; nothing where nothing was."""
    drawn = {}
    risk = evidence.facts.get("risk")
    if risk:
        drawn["Risk before and after"] = _exposure(risk["before"], risk["after"])
    tested = [each for each in (*verdict.stopped, *verdict.passed) if each.chance is not None]
    if tested:
        drawn["What attacks found, and what is allowed"] = _against_thresholds(tested, set(verdict.stopped))
    return {**drawn, **evidence.charts}


def _exposure(before: Any, after: Any) -> str:
    """Two bars for each risk: in the table, and in the file."""
    names = ["highest", "average", f"share of people above {before['threshold']:g}"]
    with sheet(6.6, 0.9 + 2 * _HEIGHT * len(names)) as page:
        axes = page.add_subplot()
        places = range(len(names))
        axes.barh(
            [place - 0.2 for place in places], [before[name] for name in _RISKS], 0.38, color=TRUE, label="before"
        )
        axes.barh([place + 0.2 for place in places], [after[name] for name in _RISKS], 0.38, color=NOISY, label="after")
        axes.set_yticks(list(places), names)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel("risk of being found by the columns that others know (1 is certain)")
        axes.legend(frameon=False, loc="lower right")
        return encode(page, "svg").decode()


def _against_thresholds(tested: Sequence[Weighed], stopped: Collection[Weighed]) -> str:
    """A bar for each attack with a control, and a mark above which it stops the release unless chance explains it."""
    with sheet(6.6, 0.9 + _HEIGHT * len(tested)) as page:
        axes = page.add_subplot()
        places = list(range(len(tested)))
        axes.barh(
            places, [each.figure for each in tested], 0.6, color=[TRUE if each in stopped else NOISY for each in tested]
        )
        axes.plot([float(each.threshold) for each in tested], places, "|", color=INK, markersize=16, markeredgewidth=2)
        axes.set_yticks(places, [clean(each.attack) + (" (stopped)" if each in stopped else "") for each in tested])
        axes.invert_yaxis()
        axes.axvline(0, color=INK, linewidth=0.8)
        least, most = axes.get_xlim()
        axes.set_xlim(min(least, -0.02), max(most, 0.1))
        axes.set_xlabel("bar: found; mark: threshold (chance is accounted for besides)")
        return encode(page, "svg").decode()
