"""`prepare-data`: find, merge, shuffle, cut and split."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError, ExperimentError
from ziggurat.experiments._steps import step

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.data import Schema

INVENTED = ("clinic", "commuters", "logs")
PARTS = ("train", "validation", "test")
TARGET = "target"


@step("prepare-data", outputs=(*PARTS, "schema", "rows", "positive_share", "matrices"))
def prepare_data(
    dataset: str | Mapping[str, Any] | Sequence[Any],
    target: str,
    *,
    positive: str | float | None = None,
    columns: Sequence[str] | None = None,
    rows: int | None = None,
    shares: Sequence[float] = (0.6, 0.2, 0.2),
    shuffle: bool = True,
    matrices: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Load data, merge them, shuffle, cut to `rows` and split into train, validation and test tables.

    Parameters
    ----------
    dataset
        An invented table ("clinic", "commuters", "logs"), the name of a public dataset that is on this machine, a
        file as {"file": ..., "schema": ..., "sha256": ...}, or a list of these, to be merged below each other. The
        sum is part of the step's parameters, so a changed file is never mistaken for the one meant.
    target
        The column to be predicted; it leaves the table and returns as the boolean column 'target'.
    positive
        What counts as true: a category, or a number that must be exceeded. Not needed for a boolean column.
    columns
        The columns to learn from; by default all with public bounds or categories.
    rows
        How many rows to invent, or at most how many to keep.
    shares
        The shares of train, validation and test; they sum to 1.
    shuffle
        Whether to shuffle before cutting and splitting.
    matrices
        Whether to give the encoded parts as NumPy arrays as well, under 'matrices'.

    Returns
    -------
    dict
        The three tables, the public `schema` of their columns, the number of `rows`, the `positive_share`, and
        `matrices`: {"X_train": ..., "y_train": ..., ...} or nothing.
    """
    table, schema = _merge(dataset, rows, seed)
    table = _order(table, shuffle, rows, seed)
    table, schema = _choose_target(table, schema, target, positive, columns)
    parts = _split(table, shares)
    return {
        **parts,
        "schema": schema.to_dict(),
        "rows": table.num_rows,
        "positive_share": _positive_share(table),
        "matrices": _matrices(parts, schema) if matrices else {},
    }


def _merge(dataset: Any, rows: int | None, seed: int) -> tuple[pa.Table, Schema]:
    import pyarrow as pa

    datasets = list(dataset) if isinstance(dataset, list | tuple) else [dataset]
    if not datasets:
        raise ExperimentError("'dataset' names nothing; give a table, a dataset, a file or a list of them.")
    found = [_find(each, rows, seed, place) for place, each in enumerate(datasets)]
    first = found[0][1]
    if any(schema.columns != first.columns for _, schema in found[1:]):
        raise DataError("Tables can be merged only if their schemas declare the same columns.")
    return pa.concat_tables([table for table, _ in found]), first


def _find(dataset: Any, rows: int | None, seed: int, place: int) -> tuple[pa.Table, Schema]:
    if isinstance(dataset, Mapping):
        return _from_file(dataset)
    if dataset in INVENTED:
        return _invent(dataset, rows or 10_000, seed, place)
    from ziggurat.data import datasets
    from ziggurat.wording import nearest

    if dataset not in datasets.names():
        known = nearest(dataset, (*INVENTED, *datasets.names()))
        raise DataError(f"There is no data called {dataset!r}; {known}")
    return _read_rows(datasets.load(dataset, offline=True), datasets.schema(dataset))


def _invent(what: str, rows: int, seed: int, place: int) -> tuple[pa.Table, Schema]:
    from ziggurat.data import generators as made
    from ziggurat.randomness import seeded

    drawn = int(seeded(seed).child("invent", place).words(1)[0] >> 1)
    if what == "clinic":
        return _read_rows(made.clinic_patients(rows, seed=drawn), made.clinic_patients_schema())
    if what == "logs":
        return _read_rows(made.log_sequences(rows, seed=drawn), made.log_sequences_schema())
    return _read_rows(made.commuters(members=rows, seed=drawn), made.commuters_schema())


def _from_file(dataset: Mapping[str, Any]) -> tuple[pa.Table, Schema]:
    from ziggurat.data import Schema

    if set(dataset) - {"file", "schema", "sha256"} or not {"file", "schema"} <= set(dataset):
        raise ExperimentError('A file is given as {"file": ..., "schema": ..., "sha256": ...}.')
    files = [dataset["file"]] + ([dataset["schema"]] if isinstance(dataset["schema"], str) else [])
    digest = hashlib.sha256(b"".join(_bytes(each) for each in files)).hexdigest()
    if dataset.get("sha256") != digest:
        raise DataError(
            f'State which content of {dataset["file"]!r} is meant: "sha256": "{digest}" is what lies there now '
            "(of the file, followed by its schema where that is a file)."
        )
    inline = not isinstance(dataset["schema"], str)
    schema = Schema.from_dict(dataset["schema"]) if inline else Schema.from_yaml(Path(dataset["schema"]))
    return _read_rows(dataset["file"], schema)


def _bytes(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError:
        raise DataError(f"The file {file!r} cannot be read; check its name.") from None


def _read_rows(data: Any, schema: Schema) -> tuple[pa.Table, Schema]:
    """Read the rows through the schema, so that every kind of data gives the same types."""
    from ziggurat.data import Role, read

    opened = read(data, schema)
    names = [each.name for each in opened.schema.columns if each.role is not Role.IDENTIFIER]
    return opened.raw.rows(names), schema


def _order(table: pa.Table, shuffle: bool, rows: int | None, seed: int) -> pa.Table:
    from ziggurat.randomness import seeded

    if shuffle:
        table = table.take(seeded(seed).child("shuffle").simulation().permutation(table.num_rows))
    return table if rows is None else table.slice(0, rows)


def _choose_target(
    table: pa.Table, schema: Schema, target: str, positive: Any, columns: Sequence[str] | None
) -> tuple[pa.Table, Schema]:
    from ziggurat.data import Column, Kind, Schema

    truth = _truth(table, schema, target, positive)
    names = [each for each in columns or _usable(table, schema) if each != target]
    kept = table.select([schema[name].name for name in names])
    declared = Schema((*(schema[name] for name in names), Column(TARGET, Kind.BOOLEAN)), name=schema.name)
    whole = kept.append_column(TARGET, truth)
    return whole.filter(truth.is_valid()).combine_chunks(), declared


def _usable(table: pa.Table, schema: Schema) -> list[str]:
    """The columns of which bounds or categories are publicly known."""
    from ziggurat.data import Kind, Provenance

    def public(name: str) -> bool:
        column = schema[name]
        known = column.categories if column.kind is Kind.CATEGORY else column.bounds
        return column.kind is Kind.BOOLEAN or (known is not None and known.provenance is Provenance.PUBLIC)

    return [name for name in table.column_names if public(name)]


def _truth(table: pa.Table, schema: Schema, target: str, positive: Any) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    from ziggurat.data import Kind
    from ziggurat.wording import nearest

    column = schema[target]
    if target not in table.column_names:
        raise DataError(f"Column {target!r} is an identifier; predict another.")
    if column.kind is Kind.BOOLEAN:
        return table[target]
    if column.kind is Kind.CATEGORY:
        known = column.public_categories().values
        if positive not in known:
            raise DataError(f"'positive' must be a category of {target!r}; {nearest(positive, map(str, known))}")
        return pc.equal(table[target], pa.scalar(positive, table[target].type))
    if column.kind in (Kind.INTEGER, Kind.REAL) and isinstance(positive, int | float):
        return pc.greater(table[target], positive)
    raise DataError(f"'positive' must be a number: what counts as true is what exceeds it in {target!r}.")


def _split(table: pa.Table, shares: Sequence[float]) -> dict[str, pa.Table]:
    import math

    if len(shares) != len(PARTS) or min(shares) <= 0 or not math.isclose(sum(shares), 1, abs_tol=1e-9):
        raise ExperimentError("'shares' must be three positive numbers that sum to 1: train, validation, test.")
    ends = [0, *(round(table.num_rows * sum(shares[: place + 1])) for place in range(len(PARTS)))]
    if any(end <= start for start, end in pairwise(ends)):
        raise DataError(f"{table.num_rows} rows are too few to be split into three parts; raise 'rows'.")
    return {name: table.slice(start, end - start) for name, (start, end) in zip(PARTS, pairwise(ends), strict=True)}


def _positive_share(table: pa.Table) -> float:
    import pyarrow.compute as pc

    return float(pc.mean(table[TARGET].cast("float64")).as_py())


def _matrices(parts: Mapping[str, pa.Table], schema: Schema) -> dict[str, Any]:
    from ziggurat.data.encoding import Encoding, labels_of

    encoding = Encoding(schema.to_dict(), without=[TARGET])
    made: dict[str, Any] = {}
    for name, part in parts.items():
        made[f"X_{name}"], made[f"y_{name}"] = encoding.encode(part), labels_of(part, TARGET)
    return made
