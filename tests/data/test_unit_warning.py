"""Who opens a table with several rows of a person, and does not say so, is warned once, without a cell."""

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data import Schema, Unit, read
from ziggurat.errors import UnitWarning

VISITS = pa.table({"patient_id": ["secret-1", "secret-2", "secret-3"] * 2, "cost": [1, 2, 3, 4, 5, 6]})


def _warned(data: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(data, **options)
    return [str(each.message) for each in caught if each.category is UnitWarning]


def test_values_that_repeat_under_a_persons_name_are_worth_a_warning_without_a_cell() -> None:
    (told,) = _warned(VISITS)
    assert told == (
        "Column 'patient_id' looks like a person's number and its values repeat: say unit='patient_id', otherwise a "
        "promise hides one row, not one person (unit='row' says that this is meant)."
    )


def test_a_file_is_worth_the_same_warning(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("Fallnr,cost\n1,2\n2,3\n3,5\n1,4\n")
    assert len(_warned(tmp_path / "visits.csv")) == 1


def test_the_warning_points_at_the_line_that_opens_the_table() -> None:
    with pytest.warns(UnitWarning) as caught:
        read(VISITS)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("unit", ["patient_id", "row", Unit.row()])
def test_whoever_names_the_unit_is_not_warned(unit: Any) -> None:
    assert _warned(VISITS, unit=unit) == []


def test_a_schema_is_a_choice() -> None:
    schema = Schema.from_dict({"columns": {"patient_id": {"kind": "text"}, "cost": {"kind": "integer"}}})
    assert _warned(VISITS, schema=schema) == []


@pytest.mark.parametrize(
    "columns",
    [
        {"patient_id": [1, 2, 3], "cost": [1, 1, 2]},
        {"is_member": ["yes", "no", "no"], "cost": [1, 1, 2]},
        {"state_id": [1, 2, 3, 3], "city": list("abcc")},
        {"product_name": list("abcc"), "score": [1, 1, 1, 2]},
        {"a": [1, 1, 1], "b": ["x", "x", "y"]},
    ],
)
def test_tables_without_repeating_persons_are_opened_in_silence(columns: dict[str, list[Any]]) -> None:
    assert _warned(pa.table(columns)) == []
