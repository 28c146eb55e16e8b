"""One noise path, fixed for ever: the same answer in any order, program and life."""

import pickle
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ziggurat.errors import ArtefactError, ParameterError
from ziggurat.learn import GaussianProcessRegression, KernelDensity, KernelSVM
from ziggurat.learn.served import _paths
from ziggurat.learn.served._kernels import gaussian_kernel
from ziggurat.learn.served._paths import JITTER, LazyPath
from ziggurat.randomness import secure, seeded

ASKED = np.random.default_rng(9).random((25, 1))


def _nothing(points):
    return np.zeros((len(points), 1))


def _path(folder, source=None, width=0.2, outputs=1):
    return LazyPath.create(folder / "path", 1, outputs, width, source or secure())


def _density(folder, **options):
    rows = np.random.default_rng(0).random((300, 1))
    options = {"path": str(folder / "path"), **options}
    return KernelDensity(1, bandwidth=0.2, bounds=(0, 1), **options).fit(rows)


def test_each_draw_is_made_given_all_before(tmp_path, monkeypatch):
    """Oracle rkhs.path.condvar: at 0.35, given 0, 0.3 and 0.9, with kernel width 0.2 and no jitter."""
    monkeypatch.setattr(_paths, "JITTER", 0.0)
    path = _path(tmp_path)
    path.answers(np.array([[0.0], [0.3], [0.9]]), _nothing)
    factor = path._extend(np.array([[0.35]]), 0.2)
    assert factor[-1, -1] ** 2 == pytest.approx(0.04962848722472879, abs=1e-10)


def test_the_law_does_not_depend_on_the_order_of_the_questions(tmp_path):
    """The deviates that noise is made of are those of the joint law, in whatever batches it was drawn."""
    path, asked = _path(tmp_path, seeded("law")), np.random.default_rng(1).random((600, 1))
    for part in np.array_split(asked, 7):
        path.answers(part, _nothing)
    noise = path.answers(asked, _nothing)[:, 0]
    law = gaussian_kernel(asked, asked, 0.2) + JITTER * np.eye(600)
    joint = np.linalg.solve(np.linalg.cholesky(law), noise)
    assert joint == pytest.approx(path._white[:, 0], abs=1e-6)


@pytest.mark.statistical
def test_paths_have_the_kernel_as_covariance(tmp_path):
    """40,000 functions on one path at three points drawn one after the other; five standard errors (false alarms 4e-6,
    and the seed is fixed). Negative control: what is 5% off is rejected."""
    path, asked = _path(tmp_path, seeded("many"), outputs=40_000), np.array([[0.1], [0.3], [0.2]])
    noise = np.vstack([path.answers(row[None], lambda points: np.zeros((len(points), 40_000))) for row in asked])
    expected = gaussian_kernel(asked, asked, 0.2) + JITTER * np.eye(3)
    seen = noise @ noise.T / 40_000
    errors = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 40_000)
    assert (np.abs(seen - expected) < 5 * errors).all()
    assert (np.abs(seen - expected * 1.05) > 5 * errors).any()


def test_the_same_point_has_the_same_answer_in_any_order_and_life(tmp_path):
    model = _density(tmp_path)
    first = model.density(ASKED)
    assert model.density(ASKED[::-1]).tolist() == first[::-1].tolist()
    assert [float(model.density(row[None])[0]) for row in ASKED] == first.tolist()
    again = pickle.loads(pickle.dumps(model))
    again.density(np.array([[0.5], [-0.0]]))
    assert again.density(ASKED).tolist() == first.tolist()
    assert again.density(np.array([[0.0]])) == model.density(np.array([[-0.0]]))


def test_another_program_gives_the_same_answers_and_adds_its_own(tmp_path):
    model = _density(tmp_path)
    first = model.density(ASKED)
    model.save(tmp_path / "model")
    script = (
        "import numpy, sys\nfrom ziggurat.learn import KernelDensity\n"
        f"model = KernelDensity.load({str(tmp_path / 'model')!r})\n"
        "asked = numpy.random.default_rng(9).random((25, 1))\n"
        "print(model.density(numpy.vstack([[[0.123]], asked])).tobytes().hex())"
    )
    seen = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    answers = np.frombuffer(bytes.fromhex(seen.strip()))
    assert answers[1:].tolist() == first.tolist()
    assert model.density(np.array([[0.123]])) == answers[:1]


def test_many_who_ask_at_once_hear_the_same(tmp_path):
    path = _path(tmp_path)
    asking = [pickle.loads(pickle.dumps(path)) for _ in range(4)]
    points = np.random.default_rng(3).random((30, 1))
    orders = [np.random.default_rng(i).permutation(30) for i in range(4)]

    def ask(which):
        heard = np.empty(30)
        for part in np.array_split(orders[which], 6):
            heard[part] = asking[which].answers(points[part], _nothing)[:, 0]
        return heard.tolist()

    with ThreadPoolExecutor(4) as pool:
        heard = list(pool.map(ask, range(4)))
    assert heard[0] == heard[1] == heard[2] == heard[3]


def test_what_a_crash_left_uncounted_was_never_said(tmp_path):
    path = _path(tmp_path)
    first = path.answers(ASKED[:5], _nothing)
    whole = (tmp_path / "path").read_bytes()
    for torn in (b"\0" * 10, b"\1" * 500, whole[-32:] * 3):
        (tmp_path / "path").write_bytes(whole + torn)
        fresh = pickle.loads(pickle.dumps(path))
        assert fresh.answers(ASKED[:5], _nothing).tolist() == first.tolist()
        later = fresh.answers(ASKED[:9], _nothing)
        assert pickle.loads(pickle.dumps(path)).answers(ASKED[:9], _nothing).tolist() == later.tolist()


def test_a_disk_that_fails_gives_no_answer_and_forgets_nothing(tmp_path, monkeypatch):
    import os

    path = _path(tmp_path)
    first = path.answers(ASKED[:5], _nothing)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _full)
        with pytest.raises(ArtefactError, match="must not answer"):
            path.answers(ASKED[5:6], _nothing)
        assert path.answers(ASKED[:5], _nothing).tolist() == first.tolist()
    later = path.answers(ASKED, _nothing)
    assert pickle.loads(pickle.dumps(path)).answers(ASKED, _nothing).tolist() == later.tolist()


def _full(descriptor):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("damage", ["cell", "short", "empty", "missing", "older"])
def test_a_damaged_path_is_refused(tmp_path, damage):
    path, file = _path(tmp_path), tmp_path / "path"
    start = file.read_bytes()
    path.answers(ASKED, _nothing)
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes({"cell": bytes(content), "short": content[:-40], "empty": b"", "older": start}[damage])
    asking = path if damage == "older" else pickle.loads(pickle.dumps(path))
    with pytest.raises(ArtefactError):
        asking.answers(ASKED, _nothing)


@pytest.mark.filterwarnings("ignore:With this epsilon")
def test_a_path_belongs_to_one_fit(tmp_path):
    model = _density(tmp_path)
    with pytest.raises(ParameterError, match="another fit"):
        model.fit(np.zeros((9, 1)))
    (tmp_path / "other").mkdir()
    _density(tmp_path / "other")
    (tmp_path / "other" / "path").rename(tmp_path / "path")
    with pytest.raises(ArtefactError, match="not the noise path of this model"):
        model.density(ASKED)
    with pytest.raises(ParameterError, match="name a new file"):
        _density(tmp_path / "nowhere")


def test_only_its_owner_may_read_a_path(tmp_path):
    _path(tmp_path)
    assert stat.S_IMODE((tmp_path / "path").stat().st_mode) == 0o600


def test_a_rehearsal_repeats_itself_and_is_marked(tmp_path):
    answers = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        model = _density(tmp_path / name, random_state=5)
        answers.append(model.density(ASKED).tolist())
        assert model.rehearsal_
    assert answers[0] == answers[1]
    (tmp_path / "c").mkdir()
    assert _density(tmp_path / "c").density(ASKED).tolist() != answers[0]


@pytest.mark.filterwarnings("ignore:With this epsilon")
def test_all_served_models_walk_a_path(tmp_path):
    draw = np.random.default_rng(0)
    rows, labels = draw.random((200, 2)), draw.integers(0, 3, 200)
    common = {"epsilon": 5, "bandwidth": 0.3, "bounds": (0, 1)}
    machine = KernelSVM(path=str(tmp_path / "svm"), classes=3, **common).fit(rows, labels)
    process = GaussianProcessRegression(y_bounds=(0, 2), path=str(tmp_path / "gp"), **common).fit(rows, labels)
    for model in (machine, process):
        assert model.event_ == model.planned(200, 2)
        assert model.predict(rows[:9]).tolist() == model.predict(rows[:9]).tolist()
        assert float(model.guarantee_.epsilon) <= 5
    assert machine.decision_function(rows[:2]).shape == (2, 3)


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_a_path_and_features_have_the_same_spread(tmp_path, relation):
    rows = np.random.default_rng(0).random((300, 1))
    there = KernelDensity(1, bandwidth=0.2, bounds=(0, 1), relation=relation, random_state=0).fit(rows)
    here = _density(tmp_path, relation=relation)
    spread = here.noise_scale_ * here.count_  # a private count is drawn anew
    assert spread == pytest.approx(there.noise_scale_ * there.count_, rel=3e-3)


@pytest.mark.parametrize("change", [{"bandwidth": 1e-4}, {"bounds": (0, 2)}, {"bounds": None}, {"path": None}])
@pytest.mark.parametrize("walks", [True, False])
def test_answers_are_refused_with_other_parameters_than_the_noise_was_made_for(tmp_path, change, walks):
    model = _density(tmp_path) if walks else _density(tmp_path, path=None)
    if not walks and "path" in change:
        change = {"path": str(tmp_path / "path")}
    first, before = model.density(ASKED), model.get_params()
    model.save(tmp_path / "model")
    for one in (model, KernelDensity.load(tmp_path / "model")):
        with pytest.raises(ParameterError, match=f"fitted with another {next(iter(change))}"):
            one.set_params(**change).density(ASKED)
        assert one.set_params(**before).density(ASKED).tolist() == first.tolist()


@pytest.mark.filterwarnings("ignore:With this epsilon")
@pytest.mark.parametrize("walks", [True, False])
def test_what_answers_do_not_use_may_change_and_bounds_of_labels_may_not(tmp_path, walks):
    rows = np.random.default_rng(0).random((60, 1))
    paths = [str(tmp_path / name) if walks else None for name in ("svm", "gp")]
    machine = KernelSVM(classes=2, bounds=(0, 1), path=paths[0]).fit(rows, rows[:, 0] > 0.5)
    process = GaussianProcessRegression(y_bounds=(0, 1), bounds=(0, 1), path=paths[1]).fit(rows, rows[:, 0])
    first = machine.decision_function(ASKED), process.predict(ASKED)
    machine.set_params(C=9, features=8, classes=3, relation="add-or-remove-one")
    process.set_params(noise_variance=9, features=8, shaped=False)
    assert machine.decision_function(ASKED).tolist() == first[0].tolist()
    assert process.predict(ASKED).tolist() == first[1].tolist()
    with pytest.raises(ParameterError, match="another y_bounds"):
        process.set_params(y_bounds=(0, 2)).predict(ASKED)


def test_a_secure_path_never_draws_seeded_noise_nor_a_rehearsal_secure_noise(tmp_path):
    (tmp_path / "rehearsal").mkdir()
    for folder, state, other in ((tmp_path, None, 0), (tmp_path / "rehearsal", 0, None)):
        model = _density(folder, random_state=state)
        first = model.density(ASKED)
        model.save(folder / "model")
        again = KernelDensity.load(folder / "model")
        with pytest.raises(ParameterError, match="random state"):
            again.set_params(random_state=other).density(ASKED)
        assert KernelDensity.load(folder / "model").density(ASKED).tolist() == first.tolist()


def test_a_refused_fit_leaves_the_noise_of_the_path_as_it_was(tmp_path):
    model = _density(tmp_path)
    scale, first = model.noise_scale_, model.density(ASKED)
    with pytest.raises(ParameterError, match="another fit"):
        model.set_params(epsilon=10**9).fit(np.zeros((300, 1)))
    assert (model.noise_scale_, model.density(ASKED).tolist()) == (scale, first.tolist())


def test_a_fit_without_a_path_keeps_no_row_of_one_with_a_path(tmp_path):
    model = _density(tmp_path)
    model.set_params(path=None).fit(np.random.default_rng(0).random((300, 1)))
    assert not {"centres_", "coefficients_", "path_identity_", "_lazy"} & set(vars(model))


@pytest.mark.filterwarnings("ignore:With this epsilon")
def test_a_path_is_text_or_a_path_and_is_saved_as_text(tmp_path):
    rows = np.random.default_rng(0).random((60, 1))
    model = KernelDensity(bandwidth=0.2, bounds=(0, 1), path=tmp_path / "path").fit(rows)
    model.save(tmp_path / "model")
    again = KernelDensity.load(tmp_path / "model")
    assert (model.path, again.path) == (tmp_path / "path", str(tmp_path / "path"))
    assert again.density(ASKED).tolist() == model.density(ASKED).tolist()
    (tmp_path / "path").rename(tmp_path / "moved")
    assert (
        model.set_params(path=tmp_path / "moved").density(ASKED).tolist()
        == again.set_params(path=str(tmp_path / "moved")).density(ASKED).tolist()
    )
    for wrong in (3, True, b"bytes", ["file"]):
        with pytest.raises(ParameterError, match="path"):
            KernelDensity(path=wrong).fit(rows)
