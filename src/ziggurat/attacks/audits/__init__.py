"""Audits of promises: what outputs on invented neighbours, or one run with coins, prove about epsilon."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks.audits._case import (
        FACTORS,
        AuditCase,
        AuditedPromise,
        Draw,
        audit_case,
        find_smallest_fault,
    )
    from ziggurat.attacks.audits._estimator import audit_estimator, make_estimator_case, state_claim
    from ziggurat.attacks.audits._one_run import SHARES, OneRunAudit, audit_in_one_run
    from ziggurat.attacks.audits._rows import AuditedRow, audit_row, show_audited, write_markdown
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_case": "FACTORS AuditCase AuditedPromise Draw audit_case find_smallest_fault",
            "_estimator": "audit_estimator make_estimator_case state_claim",
            "_one_run": "SHARES OneRunAudit audit_in_one_run",
            "_rows": "AuditedRow audit_row show_audited write_markdown",
        },
    )

__all__ = [
    "FACTORS",
    "SHARES",
    "AuditCase",
    "AuditedPromise",
    "AuditedRow",
    "Draw",
    "OneRunAudit",
    "audit_case",
    "audit_estimator",
    "audit_in_one_run",
    "audit_row",
    "find_smallest_fault",
    "make_estimator_case",
    "show_audited",
    "state_claim",
    "write_markdown",
]
