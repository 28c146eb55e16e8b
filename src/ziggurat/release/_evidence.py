"""Evidence: what was measured on private rows about something that is to leave; for the steward's eyes only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ziggurat.cards import Shown

if TYPE_CHECKING:
    from ziggurat.findings import Finding

_ALARM = "Warning: these files tell more about the people in the table than about others ({})."


@dataclass(frozen=True)
class Evidence(Shown):
    """What attacks found, which were not made, and what else the steward should see.

    None of it is protected by any guarantee: it belongs into the steward's part of a bundle.

    Attributes
    ----------
    findings
        By what the attack is called.
    skipped
        Why an attack was not made.
    facts
        Further values that JSON can hold, such as risk and loss before and after.
    charts
        Pictures of private rows for the steward's page, as SVG by title.
    """

    findings: Mapping[str, Finding] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    charts: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        made = {name: each.to_dict() for name, each in self.findings.items()}
        return {"made": made, "skipped": dict(self.skipped), "alarms": self.alarms, "facts": dict(self.facts)}

    @property
    def alarms(self) -> list[str]:
        """The attacks that did better on people in the table than on the control, by more than chance; each by itself.

        The more attacks, the likelier a false one is among them: a `Gate` corrects for their number.
        """
        if not self.findings:
            return []
        from ziggurat.release._tried import find_excesses

        return [
            name
            for name, finding in self.findings.items()
            if any(each.more_than_chance for each in find_excesses(finding).values())
        ]

    @property
    def sentences(self) -> list[str]:
        """What was found, and what was not tried, for a steward."""
        return [*(each.sentence for each in self.findings.values()), *self.remarks]

    @property
    def remarks(self) -> list[str]:
        """What was not tried and why, and a warning if an attack learned more than chance explains."""
        reasons: dict[str, list[str]] = {}
        for name, why in self.skipped.items():
            reasons.setdefault(why, []).append(name)
        not_made = [f"Not attacked by {', '.join(names)}: {why}" for why, names in reasons.items()]
        warned = [_ALARM.format(", ".join(self.alarms))] if self.alarms else []
        return [*not_made, *warned]
