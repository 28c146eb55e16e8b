"""`digit-data`: MNIST as the PATE papers divide it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases._case_parts import INVENTED, OUTPUTS, cut_parts, load_dataset, outputs_of

PIXELS = 784


@step("digit-data", outputs=OUTPUTS)
def digit_data(
    dataset: str = "mnist",
    *,
    teacher_rows: int = 60_000,
    pool_rows: int = 9000,
    validation_rows: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Give the training images to the teachers; of the test images the first to the student, the last to the test.

    Parameters
    ----------
    dataset
        The dataset, or 'invented' for toy images.
    teacher_rows, pool_rows, validation_rows
        How many images go to all teachers, to the student's pool and to the test. The images are public, so the
        student protects none.

    Returns
    -------
    dict
        Grey values between 0 and 1 and labels of the three parts, `classes`, `norm` (a bound of the l1 norm), the share
        of the largest class, and the `origin` of the data.
    """
    sizes = {"teacher": teacher_rows, "pool": pool_rows, "validation": validation_rows}
    if dataset == INVENTED:
        from ziggurat.experiments.steps.cases._invented import digits

        features, labels = digits(sum(sizes.values()), seed)
        return outputs_of(features, labels, cut_parts(np.arange(len(labels)), sizes), 10, float(PIXELS), dataset)
    from ziggurat.data import datasets

    table = load_dataset(dataset)
    learned = np.asarray(table["split"].to_numpy(zero_copy_only=False) == "train")
    own, public = np.flatnonzero(learned), np.flatnonzero(~learned)
    parts = {
        **cut_parts(own, {"teacher": teacher_rows}),
        **cut_parts(public, {"pool": pool_rows, "validation": validation_rows}),
    }
    features = (datasets.byte_matrix(table, "image") / np.float32(255)).astype(np.float32)
    labels = np.asarray(table["label"].to_numpy(), dtype=np.int64)
    return outputs_of(features, labels, parts, 10, float(PIXELS), dataset)
