"""Members and others as `ziggurat attack` reads them: by a task, as columns of numbers, or with the model's answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.cli._tables import open_as, open_table
from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.attacks.models import AttackedModel, LabelledRows
    from ziggurat.cli.attack._models import GivenModel
    from ziggurat.release import SensitiveColumn

Floats = npt.NDArray[np.float64]
_PREFIX = "p_"


@dataclass(frozen=True)
class ModelCase:
    """A model and the people who are asked about.

    Attributes
    ----------
    met
        The model as attackers meet it.
    estimator
        The fitted model; None if there are answers only.
    members, others
        People it was trained on, and people it was not.
    places
        By column where it stands in a row of features.
    """

    met: AttackedModel
    estimator: Any
    members: LabelledRows
    others: LabelledRows
    places: dict[str, tuple[int, ...]]

    def hide(self, name: str) -> SensitiveColumn:
        """A column that attackers want to know."""
        from ziggurat.release import SensitiveColumn
        from ziggurat.wording import nearest

        if self.estimator is None:
            raise ParameterError("--sensitive needs a model that can be asked; answers alone are not enough.")
        if name not in self.places:
            raise ParameterError(f"The model looks at no column {name!r}; {nearest(name, list(self.places))}")
        return SensitiveColumn.among(name, self.places[name], self.members, self.others)


def read_case(given: GivenModel, members: str, others: str, label: str, schema: str) -> ModelCase:
    """Read both groups as the model takes them."""
    from ziggurat.release import Task
    from ziggurat.release.models import find_places, label_rows, meet_model, read_people

    task = given.task
    if task is not None and (schema or label not in ("", task.label)):
        raise ParameterError(
            f"The model knows its own columns and names {task.label!r}; leave --schema and --label out."
        )
    if task is None and schema:
        task = Task(_read_schema(schema), label)
    if task is not None:
        groups = [read_people(open_as(each, task.labelled_schema), task, given.estimator) for each in (members, others)]
        places = find_places(task)
    else:
        names = _names_of(given.estimator, members, label)
        groups = [_read_numbers(each, names, label) for each in (members, others)]
        places = {name: (place,) for place, name in enumerate(names)}
    wanted = getattr(given.estimator, "n_features_in_", None)
    if wanted not in (None, groups[0][0].shape[1]):
        raise DataError(
            f"The model was trained on {wanted} columns and not {groups[0][0].shape[1]}; "
            "give tables with these columns and the label alone, or the --schema by which cells become numbers."
        )
    inside, outside = (label_rows(given.estimator, *each) for each in groups)
    met = replace(meet_model(given.estimator), name=given.name)
    return ModelCase(met, given.estimator, inside, outside, places)


def read_answers(members: str, others: str, label: str, answers: str) -> ModelCase:
    """Read both groups with what a model said about them, in columns p_CLASS, or of a number in one column.

    Attackers ask by a number that is drawn for everybody, whoever they are: other columns of numbers stay what an
    attack without the model sees.
    """
    from ziggurat.attacks.models import AttackedModel, LabelledRows
    from ziggurat.randomness import seeded

    columns = tuple(each.strip() for each in answers.split(","))
    tables = [_read_table(each, label, *columns) for each in (members, others)]
    said = np.vstack([np.column_stack([_numbers(table, name) for name in columns]) for table in tables])
    labels = np.concatenate([_labels(table, label) for table in tables])
    rest = [name for name in tables[0].column_names if name not in (label, *columns) and _is_number(tables[0], name)]
    seen = np.vstack([_stack(table, rest) for table in tables])
    numbers = len(columns) == 1
    codes = labels.astype(np.float64) if numbers else _code(labels, columns)
    keys = seeded("keys").simulation().permutation(len(said)).astype(np.float64)  # a name tag, and no secret
    rows = LabelledRows(np.column_stack([seen, keys]), codes)
    met = AttackedModel(_look_up(keys, said[:, 0] if numbers else said), "numbers" if numbers else "classes")
    first = np.arange(len(rows)) < tables[0].num_rows
    return ModelCase(met, None, rows.take(np.flatnonzero(first)), rows.take(np.flatnonzero(~first)), {})


def _look_up(keys: Floats, said: Floats) -> Callable[[Floats], Floats]:
    order = np.argsort(keys)

    def answer(features: Floats) -> Floats:
        found = features[:, -1]
        if not np.isin(found, keys).all():
            raise DataError("The answers are about these people only, and the model cannot be asked more.")
        return np.asarray(said[order[np.searchsorted(keys, found, sorter=order)]])

    return answer


def _code(labels: npt.NDArray[Any], columns: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """The place of everybody's label among the columns of answers: p_yes is about yes."""
    places = {name.removeprefix(_PREFIX): place for place, name in enumerate(columns)}
    codes = np.array([places.get(_text(each), -1) for each in labels.tolist()], np.int64)
    if (codes < 0).any():
        raise DataError("Somebody has a label without a column of answers; call the columns p_ and the label.")
    return codes


def _text(label: Any) -> str:
    if isinstance(label, bool):
        return "true" if label else "false"
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _read_schema(file: str) -> Any:
    from pathlib import Path

    from ziggurat.data import Schema

    return Schema.from_yaml(Path(file))


def _names_of(estimator: Any, members: str, label: str) -> tuple[str, ...]:
    """The columns of the model by its own names, or all that are not the label."""
    if not label:
        raise ParameterError("Name the column that the model predicts with --label.")
    named = getattr(estimator, "feature_names_in_", None)
    if named is not None:
        return tuple(str(each) for each in named)
    return tuple(name for name in open_table(members).schema.names if name != label)


def _read_numbers(data: str, names: tuple[str, ...], label: str) -> tuple[Floats, Any]:
    table = _read_table(data, label, *names)
    return _stack(table, names), _labels(table, label)


def _read_table(data: str, *names: str) -> pa.Table:
    opened = open_table(data)
    for name in names:
        if name not in opened.schema:
            raise DataError(f"The table {data!r} has no column {name!r}.")
    found = opened.query(opened.select(*opened.schema.names))
    if not found.num_rows:
        raise DataError(f"The table {data!r} has no rows.")
    return found


def _stack(table: pa.Table, names: Any) -> Floats:
    return np.column_stack([_numbers(table, name) for name in names]) if names else np.empty((table.num_rows, 0))


def _is_number(table: pa.Table, name: str) -> bool:
    import pyarrow as pa

    kind = table.schema.field(name).type
    return (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)) and not table[
        name
    ].null_count


def _numbers(table: pa.Table, name: str) -> Floats:
    if not _is_number(table, name):
        raise DataError(
            f"Column {name!r} must hold numbers, none missing; give the --schema by which cells become numbers."
        )
    return np.asarray(table[name].to_numpy(zero_copy_only=False), np.float64)


def _labels(table: pa.Table, name: str) -> npt.NDArray[Any]:
    if table[name].null_count:
        raise DataError(f"Some rows have no label in column {name!r}; fill them in, or leave them out.")
    return np.asarray(table[name].to_numpy(zero_copy_only=False))
