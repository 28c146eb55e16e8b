"""A small invented survey."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest


def survey(rows: int, seed: int, shift: float = 0.0) -> pa.Table:
    """Rows of one population; `shift` moves the ages of another."""
    draw = np.random.default_rng(seed)
    age = np.round(draw.normal(45 + shift, 15, rows))
    sex = np.where(draw.random(rows) < 0.5, "f", "m")
    income = np.round(20_000 + 400 * age + 5_000 * (sex == "m") + draw.normal(0, 9_000, rows))
    region = draw.choice(["east", "north", "south", "west"], rows, p=[0.4, 0.3, 0.2, 0.1])
    chance = 1 / (1 + np.exp(3 - 0.05 * age - 0.5 * (sex == "m")))
    owner = np.where(draw.random(rows) < chance, "yes", "no")
    joined = [date(2020, 1, 1) + timedelta(days=int(each)) for each in draw.integers(0, 700, rows)]
    known = draw.random(rows) > 0.1
    return pa.table(
        {
            "age": age,
            "sex": sex,
            "income": pa.array(income, mask=~known),
            "region": region,
            "owner": owner,
            "joined": pa.array(joined),
        }
    )


@pytest.fixture(scope="session")
def original() -> pa.Table:
    return survey(2000, 1)


@pytest.fixture(scope="session")
def copies() -> list[pa.Table]:
    return [survey(2000, seed) for seed in (2, 3, 4)]


@pytest.fixture(scope="session")
def shifted() -> pa.Table:
    return survey(2000, 5, shift=8.0)
