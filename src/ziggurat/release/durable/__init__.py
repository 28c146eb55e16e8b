"""Releases that may be killed at any moment and are then taken up again: paid once, lost never, let go once."""

from ziggurat.release.durable._journal import ReleaseJournal
from ziggurat.release.durable._making import make_durably
from ziggurat.release.durable._steps import ReleaseSteps

__all__ = ["ReleaseJournal", "ReleaseSteps", "make_durably"]
