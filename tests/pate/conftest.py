"""The real votes of 250 teachers, where the folder of public data is there."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from ziggurat.pate import Votes


def _column_matrix(name: str) -> np.ndarray:
    from ziggurat.data.datasets import load

    table = load(name, progress=False, offline=True)
    return np.stack([table[column].to_numpy() for column in table.column_names], axis=1).astype(np.int64)


def _need_data() -> Path:
    folder = os.environ.get("ZIGGURAT_DATA")
    if not folder:
        pytest.skip("set ZIGGURAT_DATA to the folder of public data")
    return Path(folder)


@pytest.fixture(scope="session")
def mnist() -> Votes:
    """Votes on 9,000 images, ten classes."""
    _need_data()
    return Votes(_column_matrix("pate2018_votes_mnist"))


@pytest.fixture(scope="session")
def adult() -> Votes:
    """Votes on 16,281 rows, two classes."""
    _need_data()
    return Votes(_column_matrix("pate2018_votes_adult"))


@pytest.fixture(scope="session")
def used_by_student() -> np.ndarray:
    """Which 100 of the images the student of 2017 used."""
    from ziggurat.data.datasets import load

    _need_data()
    return load("pate2017_student_labels", progress=False, offline=True)["used_by_student"].to_numpy()


@pytest.fixture(scope="session")
def oracles() -> dict[str, float]:
    """Values that others computed, by name."""
    file = _need_data().parent / "oracles" / "oracles.json"
    if not file.is_file():
        pytest.skip("there is no oracles/oracles.json beside the folder named by ZIGGURAT_DATA")
    return {item["id"]: item["correct_value"] for item in json.loads(file.read_text())}
