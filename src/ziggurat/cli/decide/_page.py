"""How a decision is shown: a table, the sentence that may be promised, and JSON."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from ziggurat.privacy.cost import PRIORS, Decision, EpsilonCandidate, LaplaceNoise, round_to_digits

if TYPE_CHECKING:
    from rich.table import Table

    from ziggurat.privacy import Cheapest, Money

_NOTHING_WANTED = (
    "Say what you need (--error, --budget, or --within with --at-risk), and one of these will be recommended."
)


@dataclass(frozen=True)
class DecisionPage:
    """A decision with its candidates, the recommended one, and why there is none."""

    words: str
    decision: Decision
    candidates: list[EpsilonCandidate]
    chosen: EpsilonCandidate | None
    refused: str
    as_published: bool

    def show(self) -> None:
        """Print all."""
        from rich.console import Console

        typer.echo(f"{self.words} {self.decision.noise.words}.")
        Console().print(self._table())
        typer.echo("\n" + "\n\n".join(self._sentences()))
        for warning in self._repeat_published()[1]:
            typer.echo(f"Warning: {warning}", err=True)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON; amounts that are exact are text."""
        cheapest = None if self.chosen is None else self.decision.cheapest(self.chosen.epsilon)
        made: dict[str, Any] = {
            "release": self.words,
            "noise": self.decision.noise.words,
            "candidates": [_candidate(each, self.decision.wanted.anything) for each in self.candidates],
            "recommended": None if self.chosen is None else _exact(self.chosen),
            "promise": "" if self.chosen is None else self._promise(self.chosen),
            "cheapest_at_risk": _cheapest(cheapest),
            "refused": self.refused,
        }
        if self.as_published:
            made["as_published"] = dict(zip(("values", "warnings"), self._repeat_published(), strict=True))
        return made

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(header_style="dim", box=None, padding=(0, 2, 0, 0))
        for heading in self._headings():
            table.add_column(Text(heading), justify="right", no_wrap=True)
        for each in self.candidates:
            style = "bold" if each is self.chosen else ""
            table.add_row(*(Text(cell) for cell in self._cells(each)), style=style)
        return table

    def _headings(self) -> list[str]:
        wanted, cost = self.decision.wanted, self.decision.cost
        within = "half" if wanted.within is None else _plain(wanted.within)
        found = ["", "epsilon", "error", f"in {_percent(float(wanted.confidence))}", f"≤ {within}"]
        found += [] if cost is None else [f"{cost.currency} owed"]
        return [*found, *(f"{_percent(float(each))} to" for each in PRIORS)]

    def _legend(self) -> str:
        wanted = self.decision.wanted
        within = "half of epsilon" if wanted.within is None else _plain(wanted.within)
        money = "" if self.decision.cost is None else " Owed: the expected compensation."
        beliefs = "what one who was 1%, 10% or 50% sure about a person can be brought to believe"
        rare = ", as long as the loss stays within epsilon" if self.decision.noise.delta else ""
        return (
            f"Error: expected, and in {_percent(float(wanted.confidence))} of releases at most so much. ≤: how often "
            f"the privacy loss stays within {within}.{money} 1% to: {beliefs}{rare}.{self._marks()}"
        )

    def _marks(self) -> str:
        return " ✓ meets every constraint." if any(self._is_marked(each) for each in self.candidates) else ""

    def _is_marked(self, each: EpsilonCandidate) -> bool:
        return self.decision.wanted.anything and not each.unmet

    def _cells(self, each: EpsilonCandidate) -> list[str]:
        return [
            "✓" if self._is_marked(each) else "",
            _exact(each),
            _short(each.error),
            _short(each.within),
            _percent(each.confidence, up=False),
            *([] if each.compensation is None else [f"{each.compensation.amount:,.2f}"]),
            *(_percent(belief) for belief in each.posteriors),
        ]

    def _sentences(self) -> list[str]:
        found = [self._legend()]
        if self.chosen is not None:
            found += [self._promise(self.chosen), *self._tell_savings(self.chosen)]
        elif not self.refused and not self.decision.wanted.anything:
            found.append(_NOTHING_WANTED)
        return found + self._repeat_published()[0]

    def _promise(self, chosen: EpsilonCandidate) -> str:
        noise = self.decision.noise.at_risk(chosen.epsilon)
        what = noise.sentence(chosen.epsilon).rstrip(".")
        belief = f"a belief of 10% becomes at most {_percent(chosen.posteriors[1])}"
        # What holds with some probability only says so itself; that it is no epsilon-DP is said by its delta.
        what, _, _ = what.partition("; with the rest")
        level = f"epsilon {_exact(chosen)}"
        level += f" and delta {_plain(self.decision.noise.delta)}" if self.decision.noise.delta else ""
        error = f"it is within {_short(chosen.within)} of the truth"
        error += f" with probability {_percent(float(self.decision.wanted.confidence))}"
        cost = "" if chosen.compensation is None else f", and compensation is expected to be {chosen.compensation}"
        return f"At {level} you may promise: {_lower(what)}, so {belief}; {error}{cost}."

    def _tell_savings(self, chosen: EpsilonCandidate) -> list[str]:
        """What privacy at risk makes of the same noise: less money expected, and no stronger promise."""
        found = self.decision.cheapest(chosen.epsilon)
        if found is None:
            return []
        if not found.saving.amount > 0:
            return ["Privacy at risk saves nothing here: the loss is never enough smaller than epsilon."]
        return [
            f"Privacy at risk: the loss stays within {found.epsilon:.4f} with probability "
            f"{_percent(found.confidence, up=False)}, which brings the expected compensation to {found.budget}, "
            f"{found.saving} less. This is no {found.epsilon:.4f}-differential privacy; publish {_exact(chosen)}."
            f"{self._on_whole_numbers()}"
        ]

    def _on_whole_numbers(self) -> str:
        """Noise on whole numbers has no smaller loss where one person moves the answer by one."""
        one = isinstance(self.decision.noise, LaplaceNoise) and self.decision.noise.sensitivity == 1
        return " Drawn on whole numbers (--mechanism geometric) the noise would save nothing." if one else ""

    def _repeat_published(self) -> tuple[list[str], list[str]]:
        """What the thesis gives for the recommended epsilon, or else the last; and the warnings with it."""
        if not self.as_published:
            return [], []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            said = _as_published(self.decision, self.chosen or self.candidates[-1])
        return [said], [str(each.message) for each in caught]


def _as_published(decision: Decision, chosen: EpsilonCandidate) -> str:
    from ziggurat.privacy import published_cheapest, published_confidence

    numbers = getattr(decision.noise, "coordinates", 1)
    start = f"As published, at epsilon {_exact(chosen)}: "
    if decision.cost is None:
        share = published_confidence(chosen.epsilon, chosen.promised, numbers)
        return f"{start}the loss would stay within {_plain(chosen.promised)} with probability {share:.4f}."
    found = published_cheapest(decision.cost, chosen.epsilon, numbers)
    return f"{start}compensation would be expected to be {found.budget} at {found.epsilon:.4f}."


def _candidate(each: EpsilonCandidate, marked: bool) -> dict[str, Any]:
    return {
        "epsilon": _exact(each),
        "expected_error": each.error,
        "error_within": each.within,
        "loss_within": _plain(each.promised),
        "confidence": each.confidence,
        "compensation": _money(each.compensation),
        "posteriors": dict(zip(PRIORS, each.posteriors, strict=True)),
        "meets": not each.unmet if marked else None,
        "unmet": list(each.unmet),
    }


def _cheapest(found: Cheapest | None) -> dict[str, Any] | None:
    if found is None:
        return None
    money = {"compensation": _money(found.budget), "saving": _money(found.saving)}
    return {"epsilon": found.epsilon, "confidence": found.confidence, **money}


def _money(amount: Money | None) -> dict[str, str] | None:
    return None if amount is None else {"amount": f"{amount.amount:f}", "currency": amount.currency}


def _exact(each: EpsilonCandidate) -> str:
    return _plain(each.epsilon)


def _plain(amount: Any) -> str:
    from ziggurat.privacy import in_words

    return in_words(amount)


def _short(value: float) -> str:
    if value == 0:
        return "0"
    return f"{round_to_digits(value):f}" if 1e-4 < value < 1e6 else f"{round_to_digits(value):.2e}"


def _percent(share: float, up: bool = True) -> str:
    """A share to a tenth of a per cent; never shown as certain, or impossible, when it is not."""
    turned = (math.ceil if up else math.floor)(share * 1000 * (1 - 1e-12 if up else 1 + 1e-12)) / 10
    shown = min(turned, 99.9) if share < 1 and not up else turned
    return f"{shown:g}%"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
