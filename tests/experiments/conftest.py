"""Steps that worker processes can import, and small plans made of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ziggurat.experiments import Cache, take_steps

SAMPLE = Path(__file__).parent / "sample" / "sample_steps.py"


@pytest.fixture
def sample_steps() -> None:
    """The steps of the sample, in this process and in its workers."""
    take_steps([SAMPLE])


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Where the sample steps note that they ran."""
    return tmp_path / "journal.txt"


@pytest.fixture
def ran(journal: Path) -> Callable[[], list[str]]:
    """What has run since the last call."""

    def read() -> list[str]:
        lines = journal.read_text().splitlines() if journal.exists() else []
        journal.unlink(missing_ok=True)
        return sorted(lines)

    return read


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty cache."""
    return Cache(tmp_path / "cache")
