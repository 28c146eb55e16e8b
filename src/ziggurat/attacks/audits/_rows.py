"""Audits side by side: one line for each, in a table for people and for the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa

from ziggurat.attacks.audits._case import AuditCase, AuditedPromise, Progress, audit_case, find_smallest_fault
from ziggurat.cards import Shown
from ziggurat.privacy import Amount, exact_epsilon, in_words

_NEVER = "none of those"


@dataclass(frozen=True)
class AuditedRow(Shown):
    """One audit and what it is able to see.

    Attributes
    ----------
    case, audited
        What was audited, and what that proves.
    caught
        Whether the planted fault of the case was seen; None if it was not tried.
    smallest
        The smallest fault that is seen, in multiples of the epsilon claimed; None if none of those tried is, as
        far as it can be built.
    """

    case: AuditCase
    audited: AuditedPromise
    caught: bool | None = None
    smallest: Fraction | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        smallest = None if self.smallest is None else str(self.smallest)
        planted = {"fault": str(self.case.fault), "caught": self.caught, "smallest_fault": smallest}
        return {**self.audited.to_dict(), "sees": self.case.sees, "refuted": self.audited.refuted, **planted}

    def to_line(self) -> dict[str, str]:
        """Return it as the words of one line of a table."""
        found = self.audited
        line = {
            "name": self.case.name,
            "neighbours": self.case.pair,
            "promised": in_words(found.claimed),
            "delta": in_words(found.delta),
            "proven": f"{found.lower:.2f}" + (" REFUTED" if found.refuted else ""),
        }
        if self.caught is not None:
            said = "caught" if self.caught else "NOT SEEN"
            line["fault"] = f"{in_words(exact_epsilon(self.case.fault))} times: {said}"
            line["smallest fault seen"] = _NEVER if self.smallest is None else f"{float(self.smallest):g} times"
        return {**line, "sees": self.case.sees, "runs": f"{found.runs:,}"}


def audit_row(
    case: AuditCase,
    epsilon: Amount = 1,
    *,
    runs: int | None = None,
    faults: bool = False,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> AuditedRow:
    """Run one audit, and with `faults` also say whether it sees its planted fault, and which is the smallest.

    Parameters
    ----------
    case, epsilon, runs, random_state, progress
        As for `audit_case`.
    faults
        Whether to plant faults.
    """
    given: dict[str, Any] = {"runs": runs, "random_state": random_state, "progress": progress}
    found = audit_case(case, epsilon, **given)
    if not faults:
        return AuditedRow(case, found)
    planted = audit_case(case, epsilon, spent=found.claimed * exact_epsilon(case.fault), **given)
    return AuditedRow(case, found, planted.refuted, find_smallest_fault(case, epsilon, **given))


def show_audited(rows: Sequence[AuditedRow]) -> pa.Table:
    """Return audits as a table, a line for each."""
    return pa.Table.from_pylist([row.to_line() for row in rows])


def write_markdown(rows: Sequence[AuditedRow]) -> str:
    """Return audits as a table in Markdown, a line for each."""
    lines = [row.to_line() for row in rows]
    names = list(lines[0]) if lines else []
    told = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    told += [f"| `{line['name']}` | {' | '.join(list(line.values())[1:])} |" for line in lines]
    return "\n".join(told) + "\n"
