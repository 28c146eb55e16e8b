"""Questions and workloads that are paid for before anything is read."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.release.questions._asking import MOST_NUMBERS, AnswerPlan, TermOptions, flatten_lists
    from ziggurat.release.questions._session import Past, Session
    from ziggurat.release.questions._sweep import Sweep, sweep
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_asking": "AnswerPlan MOST_NUMBERS TermOptions flatten_lists",
            "_session": "Past Session",
            "_sweep": "Sweep sweep",
        },
    )

__all__ = [
    "MOST_NUMBERS",
    "AnswerPlan",
    "Past",
    "Session",
    "Sweep",
    "TermOptions",
    "flatten_lists",
    "sweep",
]
