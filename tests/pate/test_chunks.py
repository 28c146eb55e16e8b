import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

from ziggurat.errors import DataError, ParameterError
from ziggurat.pate import MLP, Network, Partition, Placement, Teachers, Training
from ziggurat.pate.training._chunks import run_chunks
from ziggurat.randomness import seeded


def _answers(executor, teacher=None, **options):
    draw = np.random.default_rng(4)
    labels = draw.integers(0, 2, 120)
    features = draw.normal(size=(120, 6)) + labels[:, None]
    made = Teachers(
        teacher or MLP(6, (8,)),
        training=Training(epochs=3, batch=16),
        placement=Placement(executor=executor, workers=2, chunk=2),
        **options,
    )
    made.fit(features, labels, Partition.by_record(120, 6, source=seeded(1)), source=seeded(2))
    return made.probabilities(features)


@pytest.mark.parametrize("executor", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_networks_are_the_same_wherever_they_are_trained(executor):
    threads = torch.get_num_threads()
    assert (_answers("inline") == _answers(executor)).all()
    assert torch.get_num_threads() == threads


def test_classifiers_are_the_same_wherever_they_are_trained():
    plain, spread = (_answers(name, LogisticRegression(), classes=2) for name in ("inline", "threads"))
    assert (plain == spread).all()


@pytest.mark.usefixtures("ray_pool")
def test_ray_gives_the_same_results():
    assert (_answers("inline") == _answers("ray")).all()


def test_every_task_has_one_result_under_its_place():
    tasks = [(number, 2) for number in range(20)]
    for executor in ("inline", "threads"):
        assert dict(run_chunks(pow, tasks, executor=executor, workers=3)) == {n: n**2 for n in range(20)}


def test_a_network_that_cannot_be_sent_is_told():
    local = Network.of(lambda: nn.Linear(6, 1), shape=(6,), outputs=1)
    with pytest.raises(ParameterError, match="a module that workers can import"):
        _answers("processes", local)


def test_a_worker_that_is_killed_is_told():
    import os

    with pytest.raises(DataError, match="A worker was killed"):
        list(run_chunks(os._exit, [(3,)], executor="processes", workers=1))


def test_an_unknown_executor_is_refused():
    with pytest.raises(ParameterError, match="'inline', 'threads', 'processes' or 'ray'"):
        list(run_chunks(pow, [(1, 2)], executor="dask"))
