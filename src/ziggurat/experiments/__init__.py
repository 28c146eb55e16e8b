"""Experiments: nested modules and trials from one file, cached, resumable and tracked.

`load` reads a file, `expand` makes the plan, `run_plan` runs what the cache does not know yet, `Results` holds what
came out, and `report` makes one page of it. `conduct` does all of that.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.experiments._results import PrintedComparison, Results
    from ziggurat.experiments._step_modules import take_steps
    from ziggurat.experiments._steps import Step, resolve, step, step_names
    from ziggurat.experiments._types import (
        Expected,
        Experiment,
        ExperimentPlan,
        Figure,
        Gathered,
        Module,
        Node,
        NodeRecord,
        Reproduces,
    )
    from ziggurat.experiments.file import expand, load, name_in, schema_text
    from ziggurat.experiments.running import Cache, Conducted, conduct, draw_all, preview, run_plan, trackers_for
    from ziggurat.experiments.showing import Guarded, MlflowTracker, Tracker, WandbTracker, draw, report, resend
    from ziggurat.experiments.storing import History, Run
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_results": "PrintedComparison Results",
            "_step_modules": "take_steps",
            "_steps": "Step resolve step step_names",
            "_types": "Expected Experiment Figure Gathered Module Node ExperimentPlan NodeRecord Reproduces",
            "file": "expand load name_in schema_text",
            "running": "Cache Conducted conduct draw_all preview run_plan trackers_for",
            "showing": "Guarded MlflowTracker Tracker WandbTracker draw report resend",
            "storing": "History Run",
        },
    )

__all__ = [
    "Cache",
    "Conducted",
    "Expected",
    "Experiment",
    "ExperimentPlan",
    "Figure",
    "Gathered",
    "Guarded",
    "History",
    "MlflowTracker",
    "Module",
    "Node",
    "NodeRecord",
    "PrintedComparison",
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
