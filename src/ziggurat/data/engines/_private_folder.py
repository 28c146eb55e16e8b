"""A folder of this process alone, for what holds cells."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def private_folder() -> Path:
    """Return a folder that nobody else can read, removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="ziggurat-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
