"""A task turns rows into numbers by the public schema alone, and says the same tomorrow."""

import json

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Categories, Column, Kind, Role, Schema, Unit, read
from ziggurat.errors import ArtefactError, DataError, ParameterError, SchemaError
from ziggurat.release import Task


@pytest.fixture
def schema():
    return Schema(
        (
            Column("who", Kind.TEXT, role=Role.IDENTIFIER),
            Column("age", Kind.INTEGER, bounds=Bounds(0, 100)),
            Column("sex", Kind.CATEGORY, categories=Categories(("f", "m"))),
            Column("note", Kind.TEXT),
            Column("ill", Kind.BOOLEAN),
        ),
        name="patients",
        unit=Unit.person("who"),
    )


@pytest.fixture
def cells():
    return {
        "who": ["a", "a", "b"],
        "age": [50, 100, None],
        "sex": ["f", "m", "x"],
        "note": ["", "", ""],
        "ill": [True, False, True],
    }


def test_features_are_scaled_by_public_bounds_and_lists_alone(schema, cells):
    task = Task(schema, "ill")
    rows = task.rows(read(pa.table(cells), schema), units=True)
    assert task.encoding.names == ("age", "sex")
    assert rows.features.tolist() == [[0.5, 1, 0], [1, 0, 1], [0.5, 0, 0]]
    assert rows.labels.tolist() == [1, 0, 1]
    assert rows.units.tolist() == ["a", "a", "b"]


def test_a_row_is_the_same_whatever_rows_stand_beside_it(schema, cells):
    task = Task(schema, "ill", l1=True)
    alone = {name: values[:1] for name, values in cells.items()}
    both = task.rows(read(pa.table(cells), schema)).features
    assert np.array_equal(task.rows(read(pa.table(alone), schema)).features, both[:1])
    assert np.allclose(np.abs(both).sum(axis=1), 1)


def test_queries_need_neither_label_nor_unit(schema, cells):
    task = Task(schema, "ill")
    asked = {name: cells[name] for name in ("age", "sex")}
    rows = task.rows(read(pa.table(asked), task.query_schema), labels=False)
    assert rows.labels is None
    assert len(rows) == 3
    assert task.labelled_schema.names == ("age", "sex", "ill")


def test_a_row_without_a_label_of_the_public_list_is_refused(schema, cells):
    with pytest.raises(DataError, match="no label of the public list"):
        Task(schema, "ill").rows(read(pa.table({**cells, "ill": [True, None, False]}), schema))


@pytest.mark.parametrize(
    ("label", "columns", "error", "said"),
    [
        ("note", (), SchemaError, "must be a category, a truth value or a number"),
        ("il", (), SchemaError, "did you mean|There is no column"),
        ("ill", ("ill",), ParameterError, "cannot be looked at"),
        ("ill", ("who",), SchemaError, "identifier"),
        ("ill", ("nobody",), SchemaError, "no column 'nobody'"),
    ],
)
def test_names_that_cannot_be_learned_are_refused_in_one_sentence(schema, label, columns, error, said):
    with pytest.raises(error, match=said):
        Task(schema, label, columns)


def test_a_number_is_predicted_within_its_public_bounds(schema, cells):
    task = Task(schema, "age", ("sex",))
    given = {**cells, "age": [50, 100, 7]}
    assert task.is_number
    assert task.label_bounds == (0, 100)
    assert task.rows(read(pa.table(given), schema)).labels.tolist() == [50, 100, 7]
    with pytest.raises(DataError, match="no number"):
        task.rows(read(pa.table(cells), schema))
    with pytest.raises(SchemaError, match="category or a truth value"):
        _ = task.classes


def test_a_table_without_rows_is_refused(schema, cells):
    empty = pa.table(cells).slice(0, 0)
    with pytest.raises(DataError, match="no rows"):
        Task(schema, "ill").rows(read(empty, schema))


def test_what_was_saved_is_loaded(tmp_path, schema):
    task = Task(schema, "ill", ("age",), l1=True)
    task.save(tmp_path / "task.json")
    assert Task.load(tmp_path / "task.json") == task


@pytest.mark.parametrize("content", ["", "{}", '{"format": "ziggurat/task/1"}', "[1]"])
def test_a_damaged_task_is_refused_in_one_sentence(tmp_path, content):
    (tmp_path / "task.json").write_text(content)
    with pytest.raises(ArtefactError, match="task"):
        Task.load(tmp_path / "task.json")


def test_a_task_holds_nothing_but_what_is_public(schema, cells):
    task = Task(schema, "ill")
    task.rows(read(pa.table(cells), schema), units=True)
    assert json.dumps(task.to_dict()) == json.dumps(Task(schema, "ill").to_dict())
