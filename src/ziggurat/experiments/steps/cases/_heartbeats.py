"""`heartbeat-data`: the beats of document 001 as rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ziggurat.errors import DataError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases._case_parts import (
    INVENTED,
    OUTPUTS,
    Classes,
    Features,
    cut_parts,
    l1_normalised,
    load_dataset,
    outputs_of,
    permute,
)

SAMPLES = 187


@step("heartbeat-data", outputs=(*OUTPUTS, "teacher_units"))
def heartbeat_data(
    dataset: str = "mitbih",
    *,
    unit: str = "row",
    teacher_rows: int = 100_000,
    pool_rows: int = 4000,
    validation_rows: int = 5000,
    patients_apart: int = 8,
    norm: float = float(SAMPLES),
    seed: int = 0,
) -> dict[str, Any]:
    """Turn heartbeats into vectors of one l1 norm and deal them out to teachers, student and validation.

    Parameters
    ----------
    dataset
        The dataset, or 'invented' for toy beats.
    unit
        'row': every beat is somebody else, as the document has it. 'patient': one of the 48 records; all its beats
        stay in one part, and with one teacher, so there are at most 48 less `patients_apart` teachers.
    teacher_rows, pool_rows, validation_rows
        How many beats go to all teachers, to the student's pool and to validation; with patients, at most.
    patients_apart
        How many records are kept for the student and for validation, half of them each; with patients only.
    norm
        The l1 norm of every row. The document has 1, at which networks hardly learn: the entries are about 1/187.
        Curator B's noise is in proportion to it, so what is promised and what is lost does not depend on it.

    Returns
    -------
    dict
        Features and labels (0 to 4 are N, S, V, F, Q) of the three parts, `teacher_units` (the record of every row of
        the teachers, or nothing), `classes`, `norm`, the share of the largest class, and the `origin` of the data.
    """
    sizes = {"teacher": teacher_rows, "pool": pool_rows, "validation": validation_rows}
    beats, labels, records = _beats(dataset, sum(sizes.values()), seed)
    order = permute(len(beats), seed)
    if unit == "row":
        parts = cut_parts(order, sizes)
    elif unit == "patient":
        parts = _by_patient(order, records, sizes, patients_apart, seed)
    else:
        raise DataError("'unit' must be 'row' or 'patient'.")
    made = outputs_of(l1_normalised(beats, norm), labels, parts, 5, norm, dataset)
    return {**made, "teacher_units": records[parts["teacher"]].tolist() if unit == "patient" else []}


def _beats(dataset: str, rows: int, seed: int) -> tuple[Features, Classes, Classes]:
    if dataset == INVENTED:
        from ziggurat.experiments.steps.cases._invented import beats

        return beats(rows, seed)
    from ziggurat.data import datasets

    table = load_dataset(dataset)
    labels, records = (np.asarray(table[name].to_numpy(), dtype=np.int64) for name in ("cls", "record"))
    return datasets.byte_matrix(table, "beat").astype(np.float32), labels, records


def _by_patient(order: Classes, records: Classes, sizes: dict[str, int], apart: int, seed: int) -> dict[str, Classes]:
    """Whole records to one part each: `apart` of them to the student's pool and validation, the others to teachers."""
    names = np.unique(records)
    if not 2 <= apart <= len(names) - 2:
        raise DataError(f"'patients_apart' must leave two of the {len(names)} records to teachers and be at least 2.")
    names = names[permute(len(names), seed)]
    owners = {"pool": names[: apart // 2], "validation": names[apart // 2 : apart], "teacher": names[apart:]}
    return {part: order[np.isin(records[order], owners[part])][: sizes[part]] for part in sizes}
