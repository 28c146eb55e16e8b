"""What a run found: tables, figures, a report, and trackers of others."""

from ziggurat.experiments.showing._figures import draw
from ziggurat.experiments.showing._report import report
from ziggurat.experiments.showing._trackers import Guarded, MlflowTracker, Tracker, WandbTracker, resend

__all__ = [
    "Guarded",
    "MlflowTracker",
    "Tracker",
    "WandbTracker",
    "draw",
    "report",
    "resend",
]
