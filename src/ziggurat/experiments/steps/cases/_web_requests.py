"""`web-request-data`: the requests of documents 001 and 004 as rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
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

PATTERN = r"[a-z0-9]+|[^a-z0-9\s]"


@step("web-request-data", outputs=(*OUTPUTS, "vocabulary"))
def web_request_data(
    dataset: str = "web_requests",
    *,
    collections: Sequence[str] = ("csic2010", "fwaf"),
    malicious_share: float = 0.05,
    public_rows: int = 4000,
    tokens: int = 500,
    teacher_rows: int = 107_500,
    pool_rows: int = 6000,
    validation_rows: int = 5000,
    seed: int = 0,
) -> dict[str, Any]:
    """Turn requests into TF-IDF vectors of l1 norm 1 and deal them out to teachers, student and validation.

    Vocabulary and document frequencies are learned from `public_rows` requests that nobody else gets, so they say
    nothing about anybody in the other parts. Every URL is taken once, and those with both labels not at all: the same
    URL among the teachers' rows and in the validation would make every result too good.

    Parameters
    ----------
    dataset
        The dataset, or 'invented' for toy requests.
    collections
        Which collections of the dataset to use; these two have whole requests of both classes.
    malicious_share
        The share of malicious requests; as many harmless ones as there are (or needed) are used.
    public_rows
        How many requests the vocabulary is learned from.
    tokens
        How many of the most frequent tokens count. A token is a run of letters and digits, or one other character.
    teacher_rows, pool_rows, validation_rows
        How many requests go to all teachers, to the student's pool and to validation.

    Returns
    -------
    dict
        Features and labels (1 is malicious) of the three parts, `classes`, `norm`, the `vocabulary`, the share of the
        largest class, and the `origin` of the data.
    """
    sizes = {"public": public_rows, "teacher": teacher_rows, "pool": pool_rows, "validation": validation_rows}
    urls, labels = _requests(dataset, collections, malicious_share, sum(sizes.values()), seed)
    parts = cut_parts(permute(len(urls), seed), sizes)
    words = _Vocabulary([urls[row] for row in parts["public"]], tokens)
    kept = np.concatenate([parts[name] for name in ("teacher", "pool", "validation")])
    ends = np.cumsum([teacher_rows, pool_rows, validation_rows])
    places = dict(zip(("teacher", "pool", "validation"), np.split(np.arange(ends[-1]), ends[:-1]), strict=True))
    features = words.vectors([urls[row] for row in kept])
    return {**outputs_of(features, labels[kept], places, 2, 1.0, dataset), "vocabulary": words.names}


def _requests(
    dataset: str, collections: Sequence[str], malicious_share: float, rows: int, seed: int
) -> tuple[list[str], Classes]:
    if not 0 < malicious_share < 1:
        raise DataError("'malicious_share' must lie between 0 and 1.")
    if dataset == INVENTED:
        from ziggurat.experiments.steps.cases._invented import requests

        return requests(rows, malicious_share, seed)
    return _mix(*_distinct(dataset, collections), malicious_share, seed)


def _distinct(dataset: str, collections: Sequence[str]) -> tuple[list[str], Classes]:
    """Every URL of the collections once, without those that stand there as harmless and as malicious."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = load_dataset(dataset)
    table = table.filter(pc.is_in(table["source"], value_set=pa.array(list(collections), pa.string())))
    grouped = table.group_by("url", use_threads=False).aggregate([("malicious", "min"), ("malicious", "max")])
    grouped = grouped.filter(pc.equal(grouped["malicious_min"], grouped["malicious_max"]))
    return grouped["url"].to_pylist(), grouped["malicious_min"].to_numpy().astype(np.int64)


def _mix(urls: list[str], labels: Classes, malicious_share: float, seed: int) -> tuple[list[str], Classes]:
    """As many of both as the share allows, at random."""
    order = permute(len(urls), seed)
    harmless, malicious = order[labels[order] == 0], order[labels[order] == 1]
    total = min(len(harmless) / (1 - malicious_share), len(malicious) / malicious_share)
    bad = round(total * malicious_share)
    kept = np.concatenate([harmless[: int(total) - bad], malicious[:bad]])
    return [urls[row] for row in kept], labels[kept]


class _Vocabulary:
    """The most frequent tokens of a public sample, and the logarithm of their inverse document frequency there."""

    def __init__(self, sample: Sequence[str], tokens: int) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        self._counter = CountVectorizer(token_pattern=PATTERN, max_features=tokens)
        counts = self._counter.fit_transform(sample)
        self.names: list[str] = self._counter.get_feature_names_out().tolist()
        self._width = tokens
        # Document 004 prints the inverse frequency without the logarithm.
        self._weights = np.log(len(sample) / np.bincount(counts.indices, minlength=len(self.names)))

    def vectors(self, urls: Sequence[str]) -> Features:
        """TF-IDF of l1 norm 1; columns without a token, if the sample has too few, are 0."""
        from scipy.sparse import diags_array

        weighted = self._counter.transform(urls) @ diags_array(self._weights)
        made = np.zeros((len(urls), self._width), dtype=np.float32)
        made[:, : len(self.names)] = weighted.toarray().astype(np.float32)
        return l1_normalised(made)
