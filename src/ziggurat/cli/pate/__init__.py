"""`ziggurat pate`."""

from ziggurat.cli.pate._folders import TASK, empty_folder, features_of, require_file, task_in
from ziggurat.cli.pate._options import AsJson, Out

__all__ = [
    "TASK",
    "AsJson",
    "Out",
    "empty_folder",
    "features_of",
    "require_file",
    "task_in",
]
