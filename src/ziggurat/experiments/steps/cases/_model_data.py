"""`model-data`: the tables of document 002's models, every column scaled to [-1, 1] by public bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases._case_parts import INVENTED, load_dataset
from ziggurat.randomness import seeded
from ziggurat.wording import nearest

Floats = npt.NDArray[np.float64]
Columns = Mapping[str, tuple[float, float]]

WINE: Columns = {
    "fixed_acidity": (3, 15),
    "volatile_acidity": (0, 1.2),
    "citric_acid": (0, 1.7),
    "residual_sugar": (0, 70),
    "chlorides": (0, 0.4),
    "free_sulfur_dioxide": (0, 300),
    "total_sulfur_dioxide": (0, 450),
    "density": (0.98, 1.04),
    "pH": (2.5, 4),
    "sulphates": (0, 1.2),
    "alcohol": (8, 15),
    "quality": (0, 10),
}
CENSUS: Columns = {
    "age": (15, 95),
    "sex": (1, 2),
    "race": (1, 9),
    "marital": (1, 6),
    "family": (1, 12),
    "education": (1, 12),
    "employed": (0, 1),
    "housing": (1, 3),
    "income": (0, 200_000),
}
WOMEN: Columns = {"age": (0, 90), "height": (50, 180)}
FLOWERS: Columns = {
    "sepal_length": (4, 8),
    "sepal_width": (2, 5),
    "petal_length": (1, 7),
    "petal_width": (0, 3),
}
NORMAL: Columns = {"value": (-4, 8)}
"""Round numbers that anybody knows without the tables; the document takes the smallest and largest of the data."""

_MEAN, _VARIANCE = 2.0, 1.3


@step("model-data", outputs=("features", "target", "classes", "origin"))
def model_data(
    dataset: str = "winequality_white",
    *,
    columns: Sequence[str] = (),
    target: str = "",
    positive: float | None = None,
    rows: int = 6000,
    seed: int = 0,
) -> dict[str, Any]:
    """Find a table and scale its columns to [-1, 1] by public bounds, beyond which values are cut off.

    Parameters
    ----------
    dataset
        'winequality_white'; 'acs2019', the persons of 15 years and more; 'howell1', the women; 'iris', as
        scikit-learn has it; 'gaussian', a sample of mean 2 and variance 1.3; or 'invented' for a toy table.
    columns
        The features, by default all columns but the target.
    target
        The column to predict; for flowers, always the species.
    positive
        Make two classes of the target: above this number, in the target's own units, or not. Toy tables take 0.
    rows
        How many rows are drawn, where the dataset is a distribution.

    Returns
    -------
    dict
        `features` and `target`, one class or one number a row, how many `classes` (0: numbers), and the `origin`.
    """
    if dataset == INVENTED:
        return _toy(max(len(columns), 1), rows, positive, seed)
    table, bounds = _table(dataset, rows, seed)
    wanted = list(columns) or [name for name in bounds if name != target]
    for name in [*wanted, *([target] if target else [])]:
        if name not in bounds:
            raise DataError(f"{dataset!r} has no column {name!r}; {nearest(name, list(bounds))}")
    features = np.column_stack([_scale(table[name], bounds[name]) for name in wanted])
    if dataset == "iris":
        return _outputs(features, table["species"], 3, dataset)
    if positive is not None and target:
        return _outputs(features, (table[target] > positive).astype(np.int64), 2, dataset)
    aim = _scale(table[target], bounds[target]) if target else np.zeros(len(features))
    return _outputs(features, aim, 0, dataset)


def normal_density(points: Floats) -> Floats:
    """The density that 'gaussian' rows are drawn from, in scaled units."""
    low, high = NORMAL["value"]
    half = (high - low) / 2
    away = (points[:, 0] - (_MEAN - (low + high) / 2) / half) * half
    return np.asarray(np.exp(-(away**2) / (2 * _VARIANCE)) * half / np.sqrt(2 * np.pi * _VARIANCE))


def _outputs(features: Floats, target: npt.NDArray[Any], classes: int, origin: str) -> dict[str, Any]:
    return {"features": features, "target": target, "classes": classes, "origin": origin}


def _scale(values: Floats, bounds: tuple[float, float]) -> Floats:
    low, high = bounds
    return np.asarray(np.clip(2 * (values - low) / (high - low) - 1, -1, 1))


def _table(dataset: str, rows: int, seed: int) -> tuple[dict[str, npt.NDArray[Any]], Columns]:
    if dataset == "gaussian":
        draw = seeded(seed).child("sample").simulation()
        return {"value": draw.normal(_MEAN, np.sqrt(_VARIANCE), rows)}, NORMAL
    if dataset == "iris":
        return _flowers(), FLOWERS
    if dataset == "winequality_white":
        table = load_dataset(dataset)
        return {name: np.asarray(table[name].to_numpy(), dtype=float) for name in WINE}, WINE
    if dataset == "acs2019":
        return _persons(), CENSUS
    if dataset == "howell1":
        table = load_dataset(dataset)
        women = table["male"].to_numpy() == 0
        return {name: np.asarray(table[name].to_numpy(), dtype=float)[women] for name in WOMEN}, WOMEN
    known = ["winequality_white", "acs2019", "howell1", "iris", "gaussian", INVENTED]
    raise DataError(f"There are no rows called {dataset!r}; {nearest(dataset, known)}")


def _flowers() -> dict[str, npt.NDArray[Any]]:
    from sklearn.datasets import load_iris

    rows, species = load_iris(return_X_y=True)
    return {**dict(zip(FLOWERS, rows.T, strict=True)), "species": species}


def _persons() -> dict[str, npt.NDArray[Any]]:
    """The document's nine attributes of everybody whose income is asked; who has no family there counts as one."""
    import pyarrow.compute as pc

    table = load_dataset("acs2019")
    table = table.filter(pc.is_valid(table["PINCP"]))
    named = {"age": "AGEP", "sex": "SEX", "race": "RAC1P", "marital": "MSP", "family": "NPF", "education": "EDU"}
    found = {name: pc.fill_null(table[column], 1) for name, column in named.items()}
    found |= {"employed": pc.is_valid(table["INDP_CAT"]), "housing": table["HOUSING_TYPE"], "income": table["PINCP"]}
    return {name: np.asarray(column.to_numpy(), dtype=float) for name, column in found.items()}


def _toy(columns: int, rows: int, positive: float | None, seed: int) -> dict[str, Any]:
    draw = seeded(seed).child("sample").simulation()
    features = np.clip(draw.normal(0, 0.4, (rows, columns)), -1, 1)
    aim = np.clip(0.2 + features.mean(axis=1) * 0.8 + draw.normal(0, 0.1, rows), -1, 1)
    if positive is None:
        return _outputs(features, aim, 0, INVENTED)
    return _outputs(features, (aim > 0).astype(np.int64), 2, INVENTED)
