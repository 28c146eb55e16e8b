"""An audit of a model's promise before anybody pays: on invented rows, so that it may stand on the certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ziggurat.attacks.audits import audit_estimator

if TYPE_CHECKING:
    from ziggurat.release._plan import Progress
    from ziggurat.release._purse import Purse
    from ziggurat.release.models._fitting import ModelPlan


Planned = TypeVar("Planned", bound="ModelPlan")


def audit_plan(plan: Planned, runs: int, purse: Purse, progress: Progress | None = None) -> Planned:
    """Return the plan with what an audit of its model found; `PrivacyError` if the promise is refuted.

    What is audited is the same model with the same settings on invented rows, of which there are as many whatever the
    table holds: nothing of the table enters but how many columns it has. Nothing is paid.
    """
    if purse.ledger is not None:
        purse.require_room(plan.event)
    given: dict[str, Any] = {"columns": plan.columns, "runs": runs, "random_state": plan.model.random_state}
    found = audit_estimator(plan.model, **given, progress=progress).require()
    return replace(plan, audited=found.to_dict())
