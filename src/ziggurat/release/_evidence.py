"""What attacks on a release found, and what was measured beside them: exact, unprotected, for the steward alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ziggurat.attacks import Finding


@dataclass(frozen=True)
class Evidence:
    """What attacks found, which were not made, and what else was measured."""

    findings: Mapping[str, Finding] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {}
