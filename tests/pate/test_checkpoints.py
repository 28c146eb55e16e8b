import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ziggurat.errors import ArtefactError, DataError
from ziggurat.pate import MLP, Partition, Placement, RandomSearch, Teachers, Training
from ziggurat.randomness import seeded

RUN = """
import sys, time
sys.path.insert(0, {folder!r})
from test_checkpoints import fit
fit({checkpoints!r}, progress=lambda done, total: time.sleep(0.05))
"""


def fit(checkpoints=None, *, seed=2, training=None, scale=1.0, progress=None, teachers=4, search=None, source=None):
    draw = np.random.default_rng(4)
    labels = draw.integers(0, 3, 240)
    features = draw.normal(size=(240, 6)) * scale + 2 * np.eye(6)[labels]
    training = training or Training(epochs=30, batch=16, patience=12)
    made = Teachers(MLP(6, (12,), 3, 0.2), training=training, search=search, placement=Placement(chunk=2))
    partition = Partition.by_record(240, teachers, source=seeded(1))
    drawn = seeded(seed) if source is None else source
    made.fit(features, labels, partition, source=drawn, checkpoints=checkpoints, every=2, progress=progress)
    return made.probabilities(features)


class StopError(Exception):
    pass


def _stop_after(epochs):
    def progress(done, total):
        if done >= epochs:
            raise StopError

    return progress


def test_a_run_that_was_killed_goes_on_to_the_same_teachers(tmp_path):
    script = RUN.format(folder=str(Path(__file__).parent), checkpoints=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", script])
    while len(list(tmp_path.glob("*.safetensors"))) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert (fit(tmp_path) == fit()).all()


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
@pytest.mark.parametrize("epochs", [3, 40, 70])
def test_a_run_that_stopped_anywhere_goes_on_to_the_same_teachers(tmp_path, optimiser, epochs):
    training = Training(epochs=20, batch=16, optimiser=optimiser)
    with pytest.raises(StopError):
        fit(tmp_path, training=training, progress=_stop_after(epochs))
    assert (fit(tmp_path, training=training) == fit(training=training)).all()


def test_a_search_that_stopped_goes_on(tmp_path):
    training, search = Training(epochs=4, batch=16), RandomSearch(3, hidden=((5,), (9,)))
    with pytest.raises(StopError):
        fit(tmp_path, training=training, search=search, progress=_stop_after(20))
    assert (fit(tmp_path, training=training, search=search) == fit(training=training, search=search)).all()


def test_a_secure_run_goes_on_with_the_seeds_it_noted(tmp_path):
    from ziggurat.randomness import secure

    training = Training(epochs=3, batch=16)
    first = fit(tmp_path, training=training, source=secure())
    assert (fit(tmp_path, training=training, source=secure()) == first).all()
    assert (fit(training=training, source=secure()) != first).any()


@pytest.mark.parametrize(
    "change", [{"seed": 3}, {"scale": 1.01}, {"training": Training(epochs=31, batch=16)}, {"teachers": 5}]
)
def test_checkpoints_of_another_run_are_refused(tmp_path, change):
    fit(tmp_path)
    with pytest.raises(DataError, match="choose an empty folder"):
        fit(tmp_path, **change)


def test_a_damaged_checkpoint_is_told(tmp_path):
    fit(tmp_path, training=Training(epochs=2))
    for path in tmp_path.glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ArtefactError, match="damaged"):
        fit(tmp_path, training=Training(epochs=2))


def test_only_the_owner_can_read_checkpoints(tmp_path):
    fit(tmp_path / "new", training=Training(epochs=2))
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "new").iterdir()} == {0}
