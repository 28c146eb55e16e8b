"""What a frame cannot offer is said in one sentence that is true of it."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ziggurat.data import Schema, Unit, read
from ziggurat.errors import DataError, ParameterError, SchemaError

TWO_LEVELS = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
FAULTS: dict[str, tuple[Any, str]] = {
    "two columns of one name": (pd.DataFrame([[1, 2]], columns=["v", "v"]), "two columns named 'v'"),
    "two Arrow columns of one name": (pa.table([[1], [2]], names=["v", "v"]), "two columns named 'v'"),
    "names of two levels": (pd.DataFrame([[1, 2]], columns=TWO_LEVELS), "names of several levels"),
    "None for a name": (pd.DataFrame([[1, 2]], columns=[None, "v"]), "whose name is not text"),
    "an empty name": (pd.DataFrame([[1, 2]], columns=["", "v"]), "a column without a name"),
    "complex numbers": (pd.DataFrame({"v": [1j, 2]}), "Column 'v' holds complex numbers"),
    "a sparse column": (pd.DataFrame({"v": pd.arrays.SparseArray([0, 1])}), "Column 'v' is sparse"),
    "long integers": (pd.DataFrame({"v": [2**70, 1]}), "Column 'v' holds integers of more than 64 bits"),
    "numbers and text": (pd.DataFrame({"v": pd.Series([1.5, "x"], dtype=object)}), "Column 'v' mixes values"),
    "objects": (pd.DataFrame({"v": pd.Series([object()], dtype=object)}), "of a type that Arrow does not know"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_own_sentence(fault: str) -> None:
    source, sentence = FAULTS[fault]
    with pytest.raises(DataError) as caught:
        read(source)
    assert sentence in str(caught.value)


def test_columns_that_pandas_only_numbers_are_named_by_their_numbers() -> None:
    assert read(pd.DataFrame(np.zeros((2, 2)), columns=[5, 7])).schema.names == ("5", "7")


DATA = pa.table({"who": ["a", "a"], "v": [1, 2]})


def test_a_schema_may_be_a_dictionary_and_a_unit_the_name_of_a_column() -> None:
    schema = Schema.from_yaml("columns:\n  who: {kind: text}\n  v: {kind: integer}\n")
    table = read(DATA, schema.to_dict(), unit="who")
    assert (table.declared.columns, table.unit) == (schema.columns, Unit.person("who"))
    assert read(DATA, unit="row").unit == Unit.row()


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (lambda: read(DATA, schema=5), ParameterError, "must be a Schema, a dictionary or the path"),
        (lambda: read(DATA, schema={"columns": 3}), SchemaError, "'columns' must be a mapping"),
        (lambda: read(DATA, unit=5), ParameterError, "must be a Unit or the name of the column"),
        (lambda: read(DATA, unit="whom"), SchemaError, "did you mean 'who'?"),
        (lambda: read(DATA).query("select 1"), ParameterError, "text is not taken"),
    ],
)
def test_wrong_arguments_are_our_own_errors(call: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert sentence in str(caught.value)
