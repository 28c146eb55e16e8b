import datetime

import numpy as np
import pytest

from ziggurat.data import read
from ziggurat.data.datasets import content_digest
from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.errors import ParameterError


@pytest.fixture(scope="module")
def patients():
    return clinic_patients(20_000, seed=1)


def column(table, name):
    return np.array(table[name].to_pylist(), dtype=object)


def share(table, diagnosis, chosen):
    return np.mean(column(table, "diagnosis")[chosen] == diagnosis)


def test_the_same_seed_gives_the_same_table():
    # Values are rounded or drawn by comparison, so the last bits of exp and log on another machine do not show.
    digest = content_digest(clinic_patients(1000, seed=7))
    assert (
        digest
        == content_digest(clinic_patients(1000, seed=7))
        == "b6db3ade223cd504f42e005ac73482a0d25c2c9b4aaf9f36f6146075353a2966"
    )


def test_another_seed_gives_another_table():
    assert not clinic_patients(100, seed=1).equals(clinic_patients(100, seed=2))


def test_every_value_is_within_the_public_schema(patients):
    assert read(patients, schema=clinic_patients_schema()).validate() == []
    assert patients.column_names == [each.name for each in clinic_patients_schema().columns]
    assert all(patients[name].null_count == 0 for name in patients.column_names)


def test_identifiers_are_unique_and_say_nothing_about_the_row(patients):
    numbers = np.array([int(each[1:]) for each in patients["patient_id"].to_pylist()])
    assert sorted(numbers) == list(range(20_000))
    assert abs(np.corrcoef(numbers, np.arange(20_000))[0, 1]) < 0.05


def test_postcodes_generalise_by_their_prefixes(patients):
    levels = clinic_patients_schema()["postcode"].hierarchy.levels
    assert levels["AV317"] == ("AV31*", "AV3*", "*")
    assert len(set(patients["postcode"].to_pylist())) > 850


def test_smokers_have_the_diseases_of_smokers(patients):
    smoker = column(patients, "smoker").astype(bool)
    for diagnosis in ("lung cancer", "copd"):
        assert share(patients, diagnosis, smoker) > 2 * share(patients, diagnosis, ~smoker)


def test_age_weight_and_pressure_drive_the_diagnosis(patients):
    age, bmi = (column(patients, name).astype(float) for name in ("age", "bmi"))
    assert share(patients, "stroke", age >= 70) > 2 * share(patients, "stroke", age < 50)
    assert share(patients, "diabetes", bmi >= 30) > 1.5 * share(patients, "diabetes", bmi < 25)
    assert np.corrcoef(age, column(patients, "systolic_bp").astype(float))[0, 1] > 0.3


def test_the_diagnosis_drives_laboratory_stay_and_cost(patients):
    diabetic = column(patients, "diagnosis") == "diabetes"
    hba1c, stay, cost = (column(patients, name).astype(float) for name in ("hba1c", "length_of_stay", "cost"))
    assert hba1c[diabetic].mean() > hba1c[~diabetic].mean() + 1.5
    assert np.corrcoef(stay, cost)[0, 1] > 0.5


def test_winter_brings_pneumonia(patients):
    winter = np.array([day.month in (12, 1, 2) for day in patients["admission_date"].to_pylist()])
    ill = column(patients, "diagnosis") == "pneumonia"
    assert winter[ill].mean() > 1.3 * winter[~ill].mean()


def test_some_people_stand_out(patients):
    keys = list(zip(*(patients[name].to_pylist() for name in ("age", "sex", "postcode")), strict=True))
    assert len(set(keys)) > len(keys) / 2


def test_admissions_lie_in_one_year(patients):
    days = patients["admission_date"].to_pylist()
    assert min(days) == datetime.date(2024, 1, 1)
    assert max(days) == datetime.date(2024, 12, 31)


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "10", None])
def test_a_count_that_is_none_is_refused(n):
    with pytest.raises(ParameterError, match="number of patients must be a whole number of at least 1"):
        clinic_patients(n)


def test_a_single_patient_can_be_had():
    assert clinic_patients(1).num_rows == 1
