"""Experiments: nested modules and trials from one file, cached, resumable and tracked.

`load` reads a file, `expand` makes the plan, `run_plan` runs what the cache does not know yet, `Results` holds what
came out, and `report` makes one page of it. `conduct` does all of that.
"""

from ziggurat.experiments._cache import Cache
from ziggurat.experiments._conduct import Conducted, conduct, draw_all, trackers_for
from ziggurat.experiments._figures import draw
from ziggurat.experiments._file import load, name_in, schema_text
from ziggurat.experiments._history import History, Run
from ziggurat.experiments._plan import expand
from ziggurat.experiments._report import report
from ziggurat.experiments._results import Comparison, Results
from ziggurat.experiments._run import preview, run_plan
from ziggurat.experiments._step_modules import take_steps
from ziggurat.experiments._steps import Step, resolve, step, step_names
from ziggurat.experiments._trackers import Guarded, MlflowTracker, Tracker, WandbTracker, resend
from ziggurat.experiments._types import (
    Expected,
    Experiment,
    Figure,
    Gathered,
    Module,
    Node,
    Plan,
    Record,
    Reproduces,
)

__all__ = [
    "Cache",
    "Comparison",
    "Conducted",
    "Expected",
    "Experiment",
    "Figure",
    "Gathered",
    "Guarded",
    "History",
    "MlflowTracker",
    "Module",
    "Node",
    "Plan",
    "Record",
    "Reproduces",
    "Results",
    "Run",
    "Step",
    "Tracker",
    "WandbTracker",
    "conduct",
    "draw",
    "draw_all",
    "expand",
    "load",
    "name_in",
    "preview",
    "report",
    "resend",
    "resolve",
    "run_plan",
    "schema_text",
    "step",
    "step_names",
    "take_steps",
    "trackers_for",
]
