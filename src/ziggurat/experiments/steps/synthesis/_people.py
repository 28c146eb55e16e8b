"""`synthesis-people` and `draw-samples`: the populations from which synthesis is repeated, and samples of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import INVENTED, load_dataset
from ziggurat.randomness import seeded
from ziggurat.wording import nearest

if TYPE_CHECKING:
    import pyarrow as pa

Places = npt.NDArray[np.int64]

ADULT: Mapping[str, str] = {
    "workclass": "workclass",
    "education": "education",
    "marital": "marital_status",
    "occupation": "occupation",
    "relationship": "relationship",
    "race": "race",
    "sex": "sex",
    "country": "native_country",
    "earnings": "income",
    "hours": "hours_per_week",
    "age": "age",
}
SD2011: Mapping[str, str] = {
    name: name for name in ("sex", "region", "placesize", "edu", "socprof", "marital", "ls", "smoke", "income", "age")
}


@step("synthesis-people", outputs=("population", "people"))
def synthesis_people(dataset: str = "acs2019", *, rows: int = 2000, seed: int = 0) -> dict[str, Any]:
    """Find a population: ten or eleven columns, those to be synthesised last.

    Parameters
    ----------
    dataset
        'acs2019', the persons whose income is asked, with the attributes of table 4.1 or the nearest there are
        (industry known or not for employment, Hispanic origin for birth place); 'adult_uci'; 'sd2011'; or 'invented'
        for a toy population.
    rows
        How many people are invented.

    Returns
    -------
    dict
        The `population`, a table in which categories are text, and how many `people` it has.
    """
    made = {"acs2019": _census, "adult_uci": _adult, "sd2011": _survey}
    if dataset == INVENTED:
        population = _toy(rows, seed)
    elif dataset in made:
        population = made[dataset]()
    else:
        raise DataError(f"There is no population called {dataset!r}; {nearest(dataset, [*made, INVENTED])}")
    return {"population": population, "people": population.num_rows}


def _census() -> pa.Table:
    """Who lives in no family counts as one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = load_dataset("acs2019")
    table = table.filter(pc.is_valid(table["PINCP"]))
    text = {"sex": "SEX", "marital": "MSP", "race": "RAC1P", "education": "EDU"}
    return pa.table(
        {
            "housing": table["HOUSING_TYPE"].cast(pa.string()),
            "family": pc.fill_null(table["NPF"], 1),
            **{name: table[column].cast(pa.string()) for name, column in text.items()},
            "employed": pc.if_else(pc.is_valid(table["INDP_CAT"]), "yes", "no"),
            "origin": table["HISP"].cast(pa.string()),
            "income": table["PINCP"].cast(pa.int64()),
            "age": table["AGEP"],
        }
    )


def _adult() -> pa.Table:
    return _name_columns("adult_uci", ADULT)


def _survey() -> pa.Table:
    return _name_columns("sd2011", SD2011)


def _name_columns(dataset: str, columns: Mapping[str, str]) -> pa.Table:
    import pyarrow as pa

    table = load_dataset(dataset)
    return pa.table({name: table[column] for name, column in columns.items()})


def _toy(rows: int, seed: int) -> pa.Table:
    import pyarrow as pa

    draw = seeded(seed).child("people").simulation()
    age = draw.integers(16, 90, rows)
    school, sex = draw.integers(1, 6, rows), draw.integers(1, 3, rows)
    income = np.exp(draw.normal(8.8 + 0.3 * school + 0.01 * age, 1.0, rows))
    return pa.table(
        {
            "sex": sex.astype(str),
            "education": school.astype(str),
            "origin": draw.choice(["0", "1"], rows, p=(0.9, 0.1)),
            "hours": np.clip(np.rint(draw.normal(36 + 3 * sex, 10, rows)), 1, 99).astype(np.int64),
            "income": np.rint(income).astype(np.int64),
            "age": age,
        }
    )


@step("draw-samples", outputs=("chosen", "size"))
def draw_samples(
    people: int, *, name: str = "", share: float = 0.01, samples: int = 25, seed: int = 0
) -> dict[str, Any]:
    """Draw several samples without replacement.

    Parameters
    ----------
    people
        How many people the population has.
    name
        What figures call samples of this size.
    share
        Which share of them a sample has.
    samples
        How many samples.

    Returns
    -------
    dict
        `chosen`, for each sample the numbers of its rows in order, and its `size`.
    """
    size = round(share * people)
    if samples < 1 or not 2 <= size <= people:
        raise ExperimentError(f"A share of {share:g} gives samples of {size:,} rows {name}; change it, or 'samples'.")
    draw = seeded(seed).child("samples").simulation()
    chosen = [np.sort(draw.choice(people, size, replace=False)) for _ in range(samples)]
    return {"chosen": np.stack(chosen).astype(np.int64), "size": size}
