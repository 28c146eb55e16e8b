"""What a frame cannot offer is said in one sentence that is true of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow.dataset import dataset

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


def _latin() -> pa.Array:
    """The second of three texts is in Latin-1, which Arrow takes for text without looking."""
    ends = np.array([0, 2, 12, 13], np.int32)
    return pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(ends), pa.py_buffer(b"ok" + b"M\xfcller4711" + b"x")]
    )


LATIN: dict[str, Callable[[Path], Any]] = {
    "an Arrow table": lambda _: pa.table({"n": [1, 2, 3], "v": _latin()}),
    "several chunks": lambda _: pa.table({"v": pa.chunked_array([["a"], _latin()])}),
    "a dictionary": lambda _: pa.table({"v": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), _latin())}),
    "a pandas frame": lambda _: pd.DataFrame({"v": pd.array(_latin(), dtype=pd.ArrowDtype(pa.string()))}),
    "a dataset": lambda _: dataset(pa.table({"v": _latin()})),
    "an Arrow file": lambda folder: _written(folder / "latin.arrow", pa.table({"v": _latin()})),
}


def _written(path: Path, table: pa.Table) -> Path:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path


@pytest.mark.parametrize("form", LATIN)
def test_text_that_is_not_utf_8_is_refused_without_the_cell(form: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(LATIN[form](tmp_path))
    assert str(caught.value) == "Column 'v' holds text that is not UTF-8; decode it by the encoding that it is in."
    assert caught.value.__context__ is None


def test_text_that_is_utf_8_is_read_as_it_is(tmp_path: Path) -> None:
    texts = ["Müller", "日本", "🙂", None, ""]
    for source in (
        pa.table({"v": texts}),
        dataset(pa.table({"v": texts})),
        _written(tmp_path / "a.arrow", pa.table({"v": texts})),
    ):
        assert read(source).raw.rows().column("v").to_pylist() == texts
