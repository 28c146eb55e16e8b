import dataclasses

import numpy as np
import pytest
import torch

from ziggurat.errors import ParameterError
from ziggurat.pate import CNN, MLP, Partition, Placement, RandomSearch, Teachers, Training
from ziggurat.pate.training import split_rows
from ziggurat.pate.training._chunk import Chunk, train
from ziggurat.randomness import seeded


def _noise(training, epochs, teachers=2):
    """Labels that are noise: every epoch after the first few makes the held-out loss worse."""
    draw = np.random.default_rng(1)
    features, labels = draw.normal(size=(teachers * 50, 8)).astype(np.float32), draw.integers(0, 2, teachers * 50)
    own = [np.arange(50) + 50 * at for at in range(teachers)]
    halves = tuple(each[:30] for each in own), tuple(each[30:] for each in own)
    return Chunk(
        MLP(8, (64,)), dataclasses.replace(training, epochs=epochs), features, labels, *halves, tuple(range(teachers))
    )


def test_a_teacher_keeps_its_best_epoch_and_not_its_last():
    training = Training(batch=10, learning_rate=0.01)
    long = train(_noise(training, 30))
    best = int(long.epochs[0])
    assert 0 < best < 30
    short = train(_noise(training, best))
    assert all(torch.equal(value[0], short.parameters[name][0]) for name, value in long.parameters.items())


def test_a_teacher_that_stopped_no_longer_changes():
    patient, full = (train(_noise(Training(batch=10, learning_rate=0.01, patience=wait), 40)) for wait in (2, None))
    for at in range(2):
        waited = train(_noise(Training(batch=10, learning_rate=0.01, patience=2), int(patient.epochs[at]) + 2))
        assert patient.epochs[at] == waited.epochs[at]
        assert torch.equal(patient.losses[at], waited.losses[at])
    assert (full.losses <= patient.losses).all()


def test_without_held_out_rows_the_last_epoch_is_kept():
    chunk = _noise(Training(batch=10, held_out=0), 3)
    nothing = tuple(np.empty(0, dtype=np.int64) for _ in chunk.held)
    assert train(dataclasses.replace(chunk, held=nothing)).epochs.tolist() == [3, 3]


def test_a_teacher_too_small_to_hold_rows_out_keeps_its_last_epoch():
    chunk = _noise(Training(batch=10), 3)
    trained = train(dataclasses.replace(chunk, held=(np.empty(0, dtype=np.int64), chunk.held[1])))
    assert trained.epochs[0] == 3
    assert trained.cuts[0] == 0


def test_held_out_rows_have_every_class_and_no_row_is_lost():
    labels = np.repeat([0, 1, 2], [90, 9, 1])
    learned, held = split_rows(labels, 0.2, 5)
    assert sorted([*learned, *held]) == list(range(100))
    assert np.bincount(labels[held], minlength=3).tolist() == [18, 2, 0]
    assert (split_rows(labels, 0.2, 5)[1] == held).all()


def _rare(rows=2000):
    draw = np.random.default_rng(2)
    features = draw.normal(size=(rows, 5))
    return features, (features[:, 0] + 0.5 * draw.normal(size=rows) > 1.9).astype(int)


def _rates(teachers, features, labels):
    named = teachers.predict(features)
    return named[:, labels == 1].mean(), 1 - named[:, labels == 0].mean()


def test_thresholds_of_its_own_find_the_rare_class():
    features, labels = _rare()
    partition = Partition.by_record(len(labels), 4, source=seeded(1))
    half, own = (
        Teachers(MLP(5, (16,)), training=Training(epochs=8, learning_rate=0.01, held_out=0.3, threshold=rule)).fit(
            features, labels, partition, source=seeded(2)
        )
        for rule in ("half", "tpr-fpr")
    )
    assert sum(_rates(own, features, labels)) > sum(_rates(half, features, labels)) + 0.1


def test_balanced_class_weights_find_the_rare_class():
    features, labels = _rare()
    partition = Partition.by_record(len(labels), 4, source=seeded(1))
    plain, balanced, given = (
        Teachers(
            MLP(5, (16,)), training=Training(epochs=8, learning_rate=0.01, threshold="half", class_weights=weights)
        ).fit(features, labels, partition, source=seeded(2))
        for weights in (None, "balanced", (1.0, 20.0))
    )
    for weighted in (balanced, given):
        assert _rates(weighted, features, labels)[0] > _rates(plain, features, labels)[0] + 0.1


def test_a_search_lets_each_teacher_choose_by_its_own_rows():
    features, labels = _rare(400)
    partition = Partition.by_record(400, 4, source=seeded(1))
    search = RandomSearch(4, learning_rate=(1e-3, 1e-1), hidden=((2,), (32,)))
    made = Teachers(MLP(5, (2,)), training=Training(epochs=3, held_out=0.3), search=search)
    before = made.fit(features, labels, partition, source=seeded(2)).probabilities(features)
    changed = np.array(features)
    changed[partition.rows[2]] *= -1
    after = made.fit(changed, labels, partition, source=seeded(2)).probabilities(features)
    assert len(made._model.groups) > 1
    assert (before[[0, 1, 3]] == after[[0, 1, 3]]).all()
    assert (before[2] != after[2]).any()


def test_a_search_keeps_the_candidate_with_the_lowest_loss():
    features, labels = _rare(400)
    partition = Partition.by_record(400, 2, source=seeded(1))
    training = Training(epochs=3, held_out=0.3)
    searched = Teachers(MLP(5, (8,)), training=training, search=RandomSearch(5)).fit(
        features, labels, partition, source=seeded(3)
    )
    alone = Teachers(MLP(5, (8,)), training=training).fit(features, labels, partition, source=seeded(3))
    best = {
        teacher: loss
        for group in searched._model.groups
        for teacher, loss in zip(group.members, group.trained.losses, strict=True)
    }
    assert all(best[at] <= alone._model.groups[0].trained.losses[at] for at in range(2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Training(epochs=0),
        lambda: Training(batch=1.5),
        lambda: Training(learning_rate=0),
        lambda: Training(learning_rate=float("nan")),
        lambda: Training(weight_decay=-1),
        lambda: Training(optimiser="adamw"),
        lambda: Training(held_out=1),
        lambda: Training(held_out=0, patience=3),
        lambda: Training(class_weights="even"),
        lambda: Training(class_weights=(1, -1)),
        lambda: Training(threshold="best"),
        lambda: RandomSearch(0),
        lambda: RandomSearch(learning_rate=(1, 0.1)),
        lambda: RandomSearch(learning_rate=(0, 1)),
        lambda: Placement(devices="cpu"),
        lambda: Placement(devices=()),
        lambda: Placement(executor="dask"),
        lambda: Placement(precision="bf16"),
        lambda: Placement(chunk=0),
        lambda: RandomSearch(hidden=((2,),)).candidates(CNN(), Training(), np.random.default_rng(1)),
        lambda: RandomSearch().candidates(MLP(2), Training(held_out=0), np.random.default_rng(1)),
    ],
)
def test_settings_that_make_no_sense_are_refused(make):
    with pytest.raises(ParameterError):
        make()
