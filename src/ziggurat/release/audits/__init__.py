"""Audits of whole sessions and of what else promises something above the attacks; with the catalogue, all there are."""

from ziggurat.attacks.audits import AuditCase

__all__ = ["list_audits"]


def list_audits() -> tuple[AuditCase, ...]:
    """Return all audits: those of `ziggurat.attacks.audits.catalogue`, and of what stands above it."""
    from ziggurat.attacks.audits.catalogue import list_cases
    from ziggurat.release.audits import _reported, _session

    return (*list_cases(), *_session.CASES, *_reported.CASES)
