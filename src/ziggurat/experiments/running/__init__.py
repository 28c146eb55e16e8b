"""Running a plan: which node runs when and where, and what need not run again."""

from ziggurat.experiments.running._cache import Cache
from ziggurat.experiments.running._conduct import Conducted, conduct, draw_all, trackers_for
from ziggurat.experiments.running._run import Preview, preview, run_plan

__all__ = [
    "Cache",
    "Conducted",
    "Preview",
    "conduct",
    "draw_all",
    "preview",
    "run_plan",
    "trackers_for",
]
