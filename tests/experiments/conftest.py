"""Steps that worker processes can import, and small plans made of them."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ziggurat.experiments._cache import Cache

SAMPLE = str(Path(__file__).parent / "sample")


@pytest.fixture
def sample_path(monkeypatch: pytest.MonkeyPatch) -> str:
    """The folder of sample_steps, on the path of this process and of its workers."""
    monkeypatch.setattr(sys, "path", [SAMPLE, *sys.path])
    return SAMPLE


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
