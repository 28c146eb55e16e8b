"""What these tests share stands in `invented_visits.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
