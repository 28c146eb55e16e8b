"""`ziggurat pate`, and the folders in which tasks are handed on, which `ziggurat model` shares."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.cli.pate._command import app
    from ziggurat.cli.pate._folders import CERTIFICATE, TASK, read_features, read_task
    from ziggurat.cli.pate._options import make_model
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {"_command": "app", "_folders": "CERTIFICATE TASK read_features read_task", "_options": "make_model"},
    )

__all__ = ["CERTIFICATE", "TASK", "app", "make_model", "read_features", "read_task"]
