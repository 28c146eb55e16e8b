"""Look through a fitted object for rows of people: by what its parts are, and by comparing with rows that are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks._guesses import whole
from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows
from ziggurat.attacks.models.inspection._held import HeldPart, HeldRows
from ziggurat.attacks.models.inspection._kinds import recognize
from ziggurat.attacks.models.inspection._match import FoundRows, RowMatcher
from ziggurat.attacks.models.inspection._walk import MOST_CELLS, ObjectWalk, Visit
from ziggurat.errors import DataError

MOST_PARTS = 200
"""How many parts are listed."""

_MOST_VIEWS = 8


def inspect_model(
    model: Any, rows: Any = None, *, identifiers: Iterable[Any] = (), few: int = 1, values: bool = True
) -> HeldRows:
    """Find whatever in a fitted object holds rows of people.

    By their kind are found: nearest neighbours and their indexes, support vectors, Gaussian processes and other kernel
    methods, answers for every row, trees with leaves of one person (forests, isolation forests and boosting as well),
    means of one person. With rows, also any array, table, tensor, list or closure anywhere in the object that holds
    rows equal to them, as they are or as a scaler in front of the model maps them; and numbers of six digits or more
    that one person alone has. Nothing that is found is shown.

    Parameters
    ----------
    model
        A fitted object: an estimator, a pipeline, a search, a module of PyTorch, a function, anything in Python.
    rows
        The people it was trained on: `LabelledRows`, or a table of numbers with a row for each.
    identifiers
        Texts that name people, such as those of a column of identifiers.
    few
        A leaf or a mean of at most so many people counts as theirs.
    values
        Whether single numbers count that one person alone has. Of a model that holds public rows they would be found by
        chance: what is public of somebody else may be equal in one column.
    """
    root = model.answers if isinstance(model, AttackedModel) else model
    features, labels = _read_rows(rows)
    matcher = RowMatcher(features, labels, identifiers, values=values)
    _add_views(matcher, root, rows)
    walk, parts = ObjectWalk(root), dict[str, HeldPart]()
    most = whole(few, "The number of people of a leaf")
    for visit in walk:
        _note(parts, visit, matcher, most, walk)
    name = model.name if isinstance(model, AttackedModel) else type(model).__name__
    listed = tuple(parts.values())[:MOST_PARTS]
    return HeldRows(name, listed, walk.objects, walk.complete, None if features is None else len(features))


def _note(parts: dict[str, HeldPart], visit: Visit, matcher: RowMatcher, few: int, walk: ObjectWalk) -> None:
    part = recognize(visit, few)
    if part is not None:
        parts.setdefault(part.path, part)
    found = _compare(visit.value, matcher, walk)
    if found is None:
        return
    outer = next((path for path in _outwards(visit.path) if path in parts), None)
    if outer is None:
        parts[visit.path] = HeldPart(visit.path, found.kind, found.rows, found.people)
    else:
        parts[outer] = replace(parts[outer], people=max(found.people, parts[outer].people or 0))


def _outwards(path: str) -> Iterator[str]:
    """The path, and those of whatever it is in."""
    yield path
    for i in range(len(path) - 1, 0, -1):
        if path[i] in ".[":
            yield path[:i]


def _compare(value: Any, matcher: RowMatcher, walk: ObjectWalk) -> FoundRows | None:
    if isinstance(value, str | bytes | bytearray):
        return matcher.find_texts([value]) if matcher.identifiers else None
    if isinstance(value, list | tuple | set | frozenset):
        texts = [each for each in value if isinstance(each, str | bytes)]
        return matcher.find_texts(texts) if texts and matcher.identifiers else None
    if not isinstance(value, np.ndarray) or not value.size:
        return None
    if value.dtype.kind in "US":
        return matcher.find_texts(value.ravel().tolist()) if matcher.identifiers else None
    if value.dtype.kind not in "biuf" or matcher.rows is None:
        return None
    if value.size > MOST_CELLS:
        walk.complete = False
        return None
    return matcher.find(value)


def _read_rows(rows: Any) -> tuple[Floats | None, npt.NDArray[Any] | None]:
    if rows is None:
        return None, None
    if isinstance(rows, LabelledRows):
        return rows.features, rows.labels
    table = rows.to_pandas() if hasattr(rows, "to_pandas") else rows
    table = table.select_dtypes("number") if hasattr(table, "select_dtypes") else table
    features = np.asarray(table)
    if features.ndim != 2 or features.dtype.kind not in "biuf" or not features.size:
        raise DataError("Rows to compare with are a table of numbers, a row for each person.")
    return features.astype(np.float64), None


def _add_views(matcher: RowMatcher, root: Any, rows: Any) -> None:
    """Look for the rows as steps in front of models map them, one step after the other."""
    if matcher.rows is None:
        return
    given = rows.features if isinstance(rows, LabelledRows) else rows
    for visit in ObjectWalk(root):
        for mapped in _map_rows(visit.value, given, matcher.rows):
            if len(matcher.views) < 2 * _MOST_VIEWS:
                matcher.add_view(mapped)


def _map_rows(part: Any, given: Any, rows: Floats) -> Iterator[Floats]:
    steps = getattr(part, "steps", None)
    if isinstance(steps, list) and hasattr(part, "named_steps"):
        mapped = given
        for _, step in steps[:-1]:
            mapped = mapped if step in (None, "passthrough") else _transform(step, mapped)
            if mapped is None:
                return
            yield from _as_rows(mapped, len(rows))
    elif getattr(part, "n_features_in_", None) == rows.shape[1] and hasattr(part, "transform"):
        yield from _as_rows(_transform(part, given), len(rows))
    bounds = getattr(part, "bounds_", None)
    if bounds is not None and np.shape(bounds) == (2, rows.shape[1]):
        low, high = np.asarray(bounds, np.float64)
        yield (rows - (low + high) / 2) / np.where(high > low, (high - low) / 2, 1.0)


def _transform(step: Any, rows: Any) -> Any:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return step.transform(rows)
    except Exception:  # noqa: BLE001 - whatever a foreign step raises; it may quote cells
        return None


def _as_rows(mapped: Any, many: int) -> Iterator[Floats]:
    dense = mapped.toarray() if hasattr(mapped, "toarray") else mapped
    try:
        made = np.asarray(dense, np.float64)
    except (ValueError, TypeError):
        return
    if made.ndim == 2 and len(made) == many and np.isfinite(made).all():
        yield made
