"""Invented patients of an invented clinic: a table with something to find and nobody to harm.

The order of the draws is the story the table tells: where people live and how old they are decide who
smokes; these decide weight and blood pressure; all of them decide the diagnosis; the diagnosis decides the
laboratory value, the stay and its cost. Coefficients are plausible, not estimated from any person.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.data.generators._common import Flags, Integers, Reals, check_count, draw_places, labels
from ziggurat.data.schema import Schema
from ziggurat.randomness import seeded

SEXES = ("female", "male", "other")
INSURANCES = ("statutory", "private", "none")
POSTCODES = tuple(f"AV{number}" for number in range(100, 1000))
FIRST_DAY = date(2024, 1, 1)
LAST_DAY = date(2024, 12, 31)

# Per area AV1..AV9, from the well-off centre to the poor outskirts; it drives smoking, weight and insurance.
_HARDSHIP = np.array([-1.0, -0.8, -0.4, -0.2, 0.0, 0.2, 0.5, 0.8, 1.0])

# Log-odds of each diagnosis: at 50 years, BMI 26, 130 mmHg, a man, non-smoker, average area; then what is
# added per decade, for smoking, per 5 BMI points, for women, per 10 mmHg and per unit of hardship.
# Then the median stay in days, further visits a year, euros of treatment, and the share that winter brings.
_DIAGNOSES: dict[str, tuple[float, ...]] = {
    "appendicitis": (0.1, -0.35, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 2500.0, 0.0),
    "asthma": (0.0, -0.25, 0.3, 0.15, 0.3, 0.0, 0.2, 2.0, 2.0, 900.0, 1.0),
    "copd": (-1.2, 0.35, 1.9, -0.1, -0.1, 0.0, 0.3, 6.0, 4.0, 2200.0, 1.0),
    "depression": (0.5, -0.2, 0.4, 0.05, 0.5, -0.1, 0.3, 14.0, 6.0, 1800.0, 0.0),
    "diabetes": (0.4, 0.2, 0.2, 0.75, -0.2, 0.05, 0.25, 5.0, 5.0, 1500.0, 0.0),
    "fracture": (0.5, 0.1, 0.0, -0.2, 0.2, 0.0, 0.0, 6.0, 1.0, 5200.0, 0.5),
    "heart disease": (0.2, 0.45, 0.8, 0.2, -0.5, 0.15, 0.15, 6.0, 4.0, 7800.0, 0.0),
    "hiv": (-2.3, -0.35, 0.2, -0.1, -1.0, 0.0, 0.3, 4.0, 7.0, 6000.0, 0.0),
    "hypertension": (0.5, 0.25, 0.2, 0.25, 0.0, 0.35, 0.05, 2.0, 3.0, 700.0, 0.0),
    "lung cancer": (-2.4, 0.4, 2.4, -0.1, -0.2, 0.0, 0.15, 9.0, 8.0, 14000.0, 0.0),
    "pneumonia": (-0.1, 0.3, 0.6, -0.05, -0.1, 0.0, 0.2, 7.0, 1.0, 3100.0, 1.0),
    "stroke": (-0.9, 0.55, 0.6, 0.05, 0.0, 0.3, 0.1, 11.0, 3.0, 9500.0, 0.0),
}
DIAGNOSES = tuple(_DIAGNOSES)
_COEFFICIENTS = np.array(list(_DIAGNOSES.values()))
_LOG_ODDS, _STAY, _VISITS, _TREATMENT, _WINTER = slice(0, 7), 7, 8, 9, 10

BOUNDS: dict[str, tuple[float, float]] = {
    "age": (18, 99),
    "bmi": (12.0, 70.0),
    "systolic_bp": (70, 240),
    "visits_last_year": (0, 60),
    "hba1c": (3.5, 16.0),
    "length_of_stay": (0, 90),
    "cost": (0.0, 150_000.0),
}


@dataclass(frozen=True)
class _People:
    age: Integers
    sex: Integers
    postcode: Integers
    hardship: Reals
    smoker: Flags
    bmi: Reals
    pressure: Reals


def clinic_patients(n: int = 10_000, *, seed: int = 0) -> pa.Table:
    """Invent the patients admitted to a clinic in one year, one row each.

    Parameters
    ----------
    n
        How many patients, at least 1.
    seed
        The same seed gives the same table.

    Returns
    -------
    pyarrow.Table
        The columns of `clinic_patients_schema`, every value within its public bounds or categories, none
        missing. The first character groups of `postcode` are nested regions: AV3 holds AV31 holds AV317.

    Examples
    --------
    >>> clinic_patients(3, seed=1).num_columns
    14
    """
    n = check_count("the number of patients", n)
    random = seeded(seed).simulation()
    people = _people(random, n)
    illness = _illness(random, people)
    stay = _length_of_stay(random, people, illness)
    columns = {
        "patient_id": _identifiers(random, n),
        "age": people.age,
        "sex": labels(people.sex, SEXES),
        "postcode": labels(people.postcode, POSTCODES),
        "insurance": labels(_insurance(random, people), INSURANCES),
        "smoker": people.smoker,
        "bmi": people.bmi,
        "systolic_bp": _whole(people.pressure, "systolic_bp"),
        "visits_last_year": _visits(random, people, illness),
        "admission_date": _admission_dates(random, illness),
        "diagnosis": labels(illness, DIAGNOSES),
        "hba1c": _hba1c(random, people, illness),
        "length_of_stay": stay,
        "cost": _cost(random, stay, illness),
    }
    return pa.table(columns)


def clinic_patients_schema() -> Schema:
    """The public schema of `clinic_patients`; its privacy unit is the patient.

    Bounds and categories are properties of the generator, so they are public. Postcodes generalise by their
    prefixes: AV317, AV31*, AV3*, *.
    """
    return Schema.from_dict({"name": "clinic", "unit": {"person": "patient_id"}, "columns": _schema_columns()})


def _schema_columns() -> dict[str, dict[str, Any]]:
    quasi = {"role": "quasi-identifier"}
    return {
        "patient_id": {"kind": "text", "role": "identifier"},
        "age": {**_bounds_of("age", "integer"), **quasi},
        "sex": {**_list_values(SEXES), **quasi},
        "postcode": {**_list_values(POSTCODES), **quasi, "hierarchy": _postcode_hierarchy()},
        "insurance": {**_list_values(INSURANCES), **quasi},
        "smoker": {"kind": "boolean"},
        "bmi": _bounds_of("bmi", "real"),
        "systolic_bp": _bounds_of("systolic_bp", "integer"),
        "visits_last_year": _bounds_of("visits_last_year", "integer"),
        "admission_date": {"kind": "date", "bounds": [FIRST_DAY, LAST_DAY], **quasi},
        "diagnosis": {**_list_values(DIAGNOSES), "role": "sensitive"},
        "hba1c": {**_bounds_of("hba1c", "real"), "role": "sensitive"},
        "length_of_stay": _bounds_of("length_of_stay", "integer"),
        "cost": _bounds_of("cost", "real"),
    }


def _bounds_of(name: str, kind: str) -> dict[str, Any]:
    return {"kind": kind, "bounds": list(BOUNDS[name])}


def _list_values(values: tuple[str, ...]) -> dict[str, Any]:
    return {"kind": "category", "categories": list(values)}


def _postcode_hierarchy() -> dict[str, list[str]]:
    return {postcode: [f"{postcode[:4]}*", f"{postcode[:3]}*", "*"] for postcode in POSTCODES}


def _people(random: np.random.Generator, n: int) -> _People:
    age = _ages(random, n)
    sex = draw_places(random, np.array([0.52, 0.475, 0.005]), n)
    postcode = draw_places(random, _postcode_chances(), n)
    hardship = _HARDSHIP[postcode // 100]
    smoker = random.random(n) < _sigmoid(-1.2 + 0.6 * hardship + 0.3 * (sex == 1) - 0.02 * (age - 45))
    middle = 1.0 - ((age - 55) / 40.0) ** 2
    bmi = _tenths(20.5 + 2.5 * middle + 0.9 * hardship - 0.8 * smoker + random.gamma(3.0, 1.7, n), "bmi")
    spread = random.normal(0.0, 13.0, n)
    pressure = 108.0 + 0.4 * (age - 30) + 0.9 * (bmi - 25) + 4.0 * smoker + spread
    return _People(age, sex, postcode, hardship, smoker, bmi, pressure)


def _ages(random: np.random.Generator, n: int) -> Integers:
    """Two overlapping generations, the working and the retired."""
    low, high = BOUNDS["age"]
    older = random.random(n) < 0.55
    share = np.where(older, random.beta(5.0, 2.6, n), random.beta(1.6, 3.4, n))
    return np.floor(low + share * (high - low + 1)).clip(low, high).astype(np.int64)


def _postcode_chances() -> Reals:
    """The centre is dense and the last streets of the outskirts thin: some postcodes single people out."""
    area, sub, street = np.unravel_index(np.arange(900), (9, 10, 10))
    return np.asarray((area + 1.0) ** -0.7 * (sub + 1.0) ** -0.6 * (street + 1.0) ** -0.8, dtype=np.float64)


def _insurance(random: np.random.Generator, people: _People) -> Integers:
    private = _sigmoid(-1.6 - 0.9 * people.hardship + 0.015 * (people.age - 50))
    none = 0.04 * np.exp(0.6 * people.hardship) * (people.age < 65)
    chance = random.random(len(people.age))
    return np.select([chance < private, chance > 1.0 - none], [1, 2], default=0).astype(np.int64)


def _illness(random: np.random.Generator, people: _People) -> Integers:
    """One diagnosis each, by a multinomial logit inverted at one uniform number per patient."""
    facts = (
        np.ones(len(people.age)),
        (people.age - 50) / 10.0,
        people.smoker,
        (people.bmi - 26) / 5.0,
        people.sex == 0,
        (people.pressure - 130) / 10.0,
        people.hardship,
    )
    odds = np.exp(np.column_stack(facts) @ _COEFFICIENTS[:, _LOG_ODDS].T)
    ladder = np.cumsum(odds, axis=1)
    mark = random.random(len(people.age)) * ladder[:, -1]
    steps = (ladder <= mark[:, None]).sum(axis=1)
    return np.asarray(np.minimum(steps, len(DIAGNOSES) - 1), dtype=np.int64)


def _visits(random: np.random.Generator, people: _People, illness: Integers) -> Integers:
    mean = 1.0 + 0.03 * (people.age - 18) + 0.5 * (people.sex == 0) + _COEFFICIENTS[illness, _VISITS]
    return _whole(random.poisson(random.gamma(2.0, mean / 2.0)), "visits_last_year")


def _admission_dates(random: np.random.Generator, illness: Integers) -> pa.Array:
    """Days of the year: fewer at weekends, and more in winter for what winter brings."""
    day = np.arange((LAST_DAY - FIRST_DAY).days + 1)
    weekday = (day + FIRST_DAY.weekday()) % 7
    week = np.where(weekday >= 5, 0.6, 1.0)
    winter = week * (1.0 + 0.7 * np.cos(2 * np.pi * (day - 15) / len(day)))
    in_season = random.random(len(illness)) < _COEFFICIENTS[illness, _WINTER]
    n = len(illness)
    offset = np.where(in_season, draw_places(random, winter, n), draw_places(random, week, n))
    start = FIRST_DAY.toordinal() - date(1970, 1, 1).toordinal()
    return pa.array((offset + start).astype(np.int32)).cast(pa.date32())


def _hba1c(random: np.random.Generator, people: _People, illness: Integers) -> Reals:
    base = 5.3 + 0.008 * (people.age - 40) + 0.03 * (people.bmi - 26)
    diabetic = illness == DIAGNOSES.index("diabetes")
    raised = np.where(diabetic, 0.8 + random.gamma(3.0, 0.6, len(illness)), 0.0)
    return _tenths(base + raised + random.normal(0.0, 0.3, len(illness)), "hba1c")


def _length_of_stay(random: np.random.Generator, people: _People, illness: Integers) -> Integers:
    median = _COEFFICIENTS[illness, _STAY] * np.exp(0.008 * (people.age - 50))
    return _whole(median * random.lognormal(0.0, 0.55, len(illness)), "length_of_stay")


def _cost(random: np.random.Generator, stay: Integers, illness: Integers) -> Reals:
    treatment = _COEFFICIENTS[illness, _TREATMENT] * random.lognormal(0.0, 0.35, len(illness))
    nights = 480.0 * stay * random.lognormal(0.0, 0.1, len(illness))
    low, high = BOUNDS["cost"]
    return np.asarray(np.round(treatment + nights, 2).clip(low, high), dtype=np.float64)


def _identifiers(random: np.random.Generator, n: int) -> pa.Array:
    """Shuffled, so that an identifier says nothing about the row's place."""
    digits = pc.utf8_lpad(pa.array(random.permutation(n)).cast(pa.string()), 8, "0")
    return pc.binary_join_element_wise("P", digits, "")


def _sigmoid(x: Reals) -> Reals:
    return np.asarray(1.0 / (1.0 + np.exp(-x)), dtype=np.float64)


def _tenths(values: Reals, name: str) -> Reals:
    """To one decimal within the public bounds; rounding also hides the last bits of the machine's `exp`."""
    low, high = BOUNDS[name]
    return np.asarray(np.round(values, 1).clip(low, high), dtype=np.float64)


def _whole(values: Reals | Integers, name: str) -> Integers:
    low, high = BOUNDS[name]
    return np.round(values).clip(low, high).astype(np.int64)
