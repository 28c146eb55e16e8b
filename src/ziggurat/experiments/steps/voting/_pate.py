"""`train-teachers`, `label-queries` and `label-votes`: PATE with a student who protects its own rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import INVENTED, Classes, Features, load_dataset
from ziggurat.experiments.steps.voting import _labelling

if TYPE_CHECKING:
    from fractions import Fraction

    from ziggurat.pate import Network, Partition, Teachers, Votes

NONE = "none"
LAPLACE: Mapping[str, Any] = {"gamma": "0.05"}
EXPECTED_COSTS = ("epsilon_expected_published", "epsilon_expected_exact")


@step("train-teachers", outputs=("ensemble", "manifest", "teacher_accuracy", "ensemble_accuracy", "rows_per_teacher"))
def train_teachers(
    teacher_features: Features,
    teacher_labels: Classes,
    validation_features: Features,
    validation_labels: Classes,
    *,
    classes: int,
    teachers: int = 250,
    hidden: Sequence[int] = (512, 128),
    training: Mapping[str, Any] | None = None,
    teacher_units: Sequence[Any] = (),
    judged_rows: int = 500,
    seed: int = 0,
) -> dict[str, Any]:
    """Deal the rows out to teachers, none to two of them, and train a network on each share.

    Parameters
    ----------
    teacher_features, teacher_labels
        All teachers' rows.
    validation_features, validation_labels
        What the accuracies are measured on, `judged_rows` of them at most.
    classes
        How many classes there are.
    teachers
        How many teachers.
    hidden
        The widths of the hidden layers.
    training
        The settings of `ziggurat.pate.Training`.
    teacher_units
        The unit of every row, all of whose rows go to one teacher; without them every row is a unit.

    Returns
    -------
    dict
        The `ensemble` as the files that `Teachers.save` writes, the `manifest` of the split, the mean accuracy of one
        teacher, the accuracy of their plurality, and the mean number of `rows_per_teacher`.
    """
    from ziggurat.pate import Teachers, Training
    from ziggurat.randomness import seeded

    source = seeded(seed)
    partition = _partition(len(teacher_features), teachers, teacher_units, seed)
    network = network_of(teacher_features.shape[1], hidden, classes)
    ensemble = Teachers(network, training=Training(**training or {}))
    ensemble.fit(teacher_features, teacher_labels, partition, source=source.child("teachers"))
    named = ensemble.predict(validation_features[:judged_rows])
    truth = validation_labels[:judged_rows]
    return {
        "ensemble": _pack(ensemble),
        "manifest": ensemble.manifest_,
        "teacher_accuracy": float((named == truth).mean()),
        "ensemble_accuracy": _labelling.accuracy(_votes(named, classes).counts.argmax(axis=1), truth),
        "rows_per_teacher": len(teacher_features) / teachers,
    }


def network_of(inputs: int, hidden: Sequence[int], classes: int) -> Network:
    """Fully connected layers; two classes have one output."""
    from ziggurat.pate import MLP

    return MLP(inputs, tuple(hidden), 1 if classes == 2 else classes)


def _partition(rows: int, teachers: int, units: Sequence[Any], seed: int) -> Partition:
    from ziggurat.data import Unit
    from ziggurat.pate import Partition
    from ziggurat.randomness import seeded

    source = seeded(seed).child("partition")
    if not len(units):
        return Partition.by_record(rows, teachers, balanced=True, source=source)
    return Partition.by_unit(list(units), teachers, unit=Unit.person("patient"), balanced=True, source=source)


def _votes(named: Any, classes: int) -> Votes:
    from ziggurat.pate import Votes
    from ziggurat.privacy import Relation

    return Votes.from_labels(named, classes, relation=Relation.REPLACE_ONE)  # the splits are even, as in the documents


def _pack(ensemble: Teachers) -> dict[str, bytes]:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        ensemble.save(folder)
        return {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}


def unpack_teachers(ensemble: Mapping[str, bytes]) -> Teachers:
    """The teachers that `train-teachers` returned."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from ziggurat.pate import Teachers

    with TemporaryDirectory() as folder:
        for name, content in ensemble.items():
            (Path(folder) / name).write_bytes(content)
        return Teachers.load(folder)


@step("label-queries", outputs=("rows", "sent", "labels", "event", "student_epsilon", *_labelling.OUTPUTS))
def label_queries(
    ensemble: Mapping[str, bytes],
    pool_features: Features,
    pool_labels: Classes,
    *,
    classes: int,
    norm: float = 1.0,
    queries: int = 1000,
    rho: float | str = NONE,
    scale: float | str = NONE,
    aggregator: str = "laplace",
    options: Mapping[str, Any] = LAPLACE,
    delta: float = 1e-5,
    moments: int = _labelling.MOMENTS,
    seed: int = 0,
) -> dict[str, Any]:
    """Draw the student's rows from its pool, protect them if asked, let the teachers vote and label by the aggregator.

    Parameters
    ----------
    ensemble
        From `train-teachers`.
    pool_features, pool_labels
        The student's rows; the labels serve to measure only.
    classes, norm
        How many classes there are, and the l1 norm of the rows.
    queries
        How many rows are drawn, all of which are asked.
    rho
        Curator B adds Laplace noise of scale norm/rho to every entry of a row before it leaves, which is 2 rho-DP for
        the row; 'none' sends the rows as they are.
    scale
        The same by the scale of the noise in units of `norm`, as document 004 has it: 2/scale-DP.
    aggregator, options
        'laplace', 'gumbel', 'gaussian' or 'confident', and its parameters.
    delta
        The failure probability of every epsilon.
    moments
        The largest moment of the published data-dependent account, which is over whole ones; the paper of 2017 has 8.

    Returns
    -------
    dict
        The numbers of the `rows` drawn, the rows as `sent`, the noisy `labels` (-1: not answered), their `event`; the
        epsilon of the student's own rows or nothing; the accuracy of the votes (before the aggregator's noise) and of
        the labels; epsilon as published and tight, both data-independent, and two data-dependent ones, which are
        private: as published with the documents' whole orders, and exact.
    """
    from ziggurat.randomness import seeded
    from ziggurat.threads import one_thread

    source = seeded(seed)
    if not 0 < queries <= len(pool_features):
        raise ExperimentError(f"'queries' must lie between 1 and the {len(pool_features):,} rows of the pool.")
    rows = source.child("queries").simulation().permutation(len(pool_features))[:queries]
    epsilon = student_epsilon(rho, scale)
    sent = _send(pool_features[rows], epsilon, norm, seed)
    rule = _labelling.aggregator_of(aggregator, options)
    with one_thread():
        votes = _votes(unpack_teachers(ensemble).predict(sent), classes)
        labels = rule.release(votes, source.child("aggregator"))
        measured = _labelling.tell_accuracy(rule, votes, labels, pool_labels[rows], str(delta), moments)
    return {
        "rows": rows,
        "sent": sent,
        "labels": labels.labels,
        "event": labels.event.to_dict(),
        "student_epsilon": None if epsilon is None else float(epsilon),
        **measured,
    }


def student_epsilon(rho: float | str, scale: float | str) -> Fraction | None:
    """What a row of the student's is promised: 2 rho or 2/scale, exactly, because rows lie in a ball of diameter 2."""
    from ziggurat.privacy import exact_positive

    if rho != NONE and scale != NONE:
        raise ExperimentError("Give 'rho' or 'scale', not both: the scale is 1/rho.")
    if rho != NONE:
        return 2 * exact_positive(_decimal(rho), "rho")
    return None if scale == NONE else 2 / exact_positive(_decimal(scale), "scale")


def _decimal(amount: float | str) -> str:
    return amount if isinstance(amount, str) else repr(amount)


def _send(rows: Features, epsilon: Fraction | None, norm: float, seed: int) -> Features:
    """Protect the rows (curator B), and give them in single precision, which is post-processing."""
    from ziggurat.local import VectorNoise
    from ziggurat.randomness import seeded

    if epsilon is None:
        return rows
    noise = VectorNoise(epsilon, rows.shape[1], norm=_decimal(norm))
    return np.asarray(noise.privatize(rows, seeded(seed).child("student")).value, dtype=np.float32)


@step("label-votes", outputs=("labels", "event", *EXPECTED_COSTS, *_labelling.OUTPUTS))
def label_votes(
    dataset: str = "pate2018_votes_mnist",
    *,
    truth: str = "mnist",
    queries: int | str = 640,
    aggregator: str = "confident",
    options: Mapping[str, Any] = {"threshold": 200, "sigma1": 150, "sigma2": 40},
    delta: float = 1e-5,
    moments: int = _labelling.MOMENTS,
    seed: int = 0,
) -> dict[str, Any]:
    """Label by votes that were published, and account for it as the authors do and exactly.

    Parameters
    ----------
    dataset
        A dataset of vote counts, or 'invented'.
    truth
        The dataset whose test labels the votes are about.
    queries
        The first so many; 'student-2017' takes the hundred that the student of 2017 used.
    aggregator, options, delta, moments
        As for `label-queries`.

    Returns
    -------
    dict
        `labels`, `event` and the measures of `label-queries`, which charge what was answered. The two
        `epsilon_expected_...` charge every answer with its probability, as the authors' code does: as published, and
        exact. Both depend on the votes.
    """
    from ziggurat.randomness import seeded
    from ziggurat.threads import one_thread

    votes, right = _published_votes(dataset, truth, queries, seed)
    rule = _labelling.aggregator_of(aggregator, options)
    with one_thread():
        labels = rule.release(votes, seeded(seed).child("aggregator"))
        measured = _labelling.tell_accuracy(rule, votes, labels, right, str(delta), moments)
        expected = _labelling.expected_costs(rule, votes, str(delta))
    costs = dict(zip(EXPECTED_COSTS, expected, strict=True))
    return {"labels": labels.labels, "event": labels.event.to_dict(), **costs, **measured}


def _published_votes(dataset: str, truth: str, queries: int | str, seed: int) -> tuple[Votes, Classes]:
    from ziggurat.pate import Votes
    from ziggurat.privacy import Relation
    from ziggurat.randomness import seeded

    if dataset == INVENTED:
        draw = seeded(seed).child("votes").simulation()
        labels = draw.integers(10, size=queries if isinstance(queries, int) else 100)
        heads = 0.02 + 0.8 * np.eye(10)[labels]
        return Votes(draw.multinomial(250, heads), relation=Relation.REPLACE_ONE), np.asarray(labels, dtype=np.int64)
    table = load_dataset(dataset)
    counts = np.column_stack([table[name].to_numpy() for name in table.column_names]).astype(np.int64)
    named = load_dataset(truth)
    tested = named["split"].to_numpy(zero_copy_only=False) == "test"
    right = np.asarray(named["label"].to_numpy()[tested], dtype=np.int64)
    chosen = _choose(queries, len(counts))
    return Votes(counts[chosen], relation=Relation.REPLACE_ONE), right[chosen]


def _choose(queries: int | str, rows: int) -> Classes:
    if queries == "student-2017":
        used = load_dataset("pate2017_student_labels")
        return np.flatnonzero(used[used.column_names[-1]].to_numpy(zero_copy_only=False))
    if not isinstance(queries, int) or not 0 < queries <= rows:
        raise ExperimentError(f"'queries' must be 'student-2017' or lie between 1 and {rows:,}.")
    return np.arange(queries)
