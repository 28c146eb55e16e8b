"""What jobs do, by their kinds; each is a function of a folder, a task, who is told, and who may stop it."""

from typing import Any

from ziggurat.service.work.tasks import _releasing, _steward

TASKS: dict[str, Any] = {
    "release": _releasing.make_release,
    "try": _releasing.try_release,
    "risk": _steward.measure_risk,
    "verify": _steward.verify_ledger,
    "proposal": _steward.propose_schema,
}
"""One function for each kind; it gives the state in which the job ends, and what came of it."""

__all__ = ["TASKS"]
