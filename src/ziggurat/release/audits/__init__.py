"""Audits of what is asked and paid for as a whole; with those of the catalogue, all audits that there are."""

from ziggurat.attacks.audits import AuditCase

__all__ = ["list_audits"]


def list_audits() -> tuple[AuditCase, ...]:
    """Return all audits: those of `ziggurat.attacks.audits.catalogue`, and those of whole sessions."""
    from ziggurat.attacks.audits.catalogue import list_cases
    from ziggurat.release.audits._session import CASES

    return (*list_cases(), *CASES)
