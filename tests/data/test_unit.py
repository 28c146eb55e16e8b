"""The privacy unit says whose contribution is hidden."""

import pytest

from ziggurat.data import Unit
from ziggurat.errors import SchemaError


def test_units_read_as_words() -> None:
    assert str(Unit.row()) == "one row"
    assert str(Unit.person("patient_id")) == "one person (column patient_id)"
    assert str(Unit.of("firm", "organisation")) == "one organisation (column firm)"
    assert Unit() == Unit.row()


@pytest.mark.parametrize(("name", "column"), [("row", "id"), ("person", None), ("person", ""), ("", "id"), (3, "id")])
def test_a_unit_that_contradicts_itself_is_refused(name: str, column: str | None) -> None:
    with pytest.raises(SchemaError):
        Unit(name, column)
