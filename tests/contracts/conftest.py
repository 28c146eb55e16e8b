"""Lets contracts, and the processes that they have killed, share what they know of the kinds of releases."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
