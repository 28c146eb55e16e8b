"""A served model is paid for before it sees a row, and says the same for ever, to whoever asks."""

import json
import shutil
import signal
import stat
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Categories, Column, Schema, Unit, read
from ziggurat.errors import (
    ArtefactError,
    BudgetExceededError,
    DataError,
    EngineError,
    MixedNeighboursError,
    ParameterError,
    SchemaError,
)
from ziggurat.learn import (
    CloakedRegression,
    GaussianProcessRegression,
    KernelDensity,
    KernelSVM,
    Ridge,
    ServedHistogram,
)
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, Relation
from ziggurat.release import Points, Serving, serve_model

ROWS = np.random.default_rng(1).uniform(0, 1, size=(300, 1))
TARGET = ROWS[:, 0] ** 2
ASKED = np.linspace(0, 1, 23)[:, None]
BUDGETS = {
    "rows": Neighbours(),
    "people": Neighbours(Unit.person("who")),
    "labels": Neighbours(Unit.of("y", "label"), Relation.REPLACE_ONE),
}
COMMON = {"bounds": (0, 1), "bandwidth": 0.2}
MODELS = {
    "kernel-density": (lambda **more: KernelDensity("1", "1e-6", **COMMON, **more), None, "rows"),
    "histogram": (lambda **more: ServedHistogram("1", "1e-6", bins=5, bounds=(0, 1), **more), None, "rows"),
    "svm": (lambda **more: KernelSVM("1", "1e-6", classes=2, **COMMON, **more), TARGET > 0.3, "rows"),
    "gaussian-process": (
        lambda **more: GaussianProcessRegression("1", "1e-6", y_bounds=(0, 1), noise_variance=3, **COMMON, **more),
        TARGET,
        "labels",
    ),
    "cloaked": (
        lambda **more: CloakedRegression("1", "1e-6", questions=ASKED, y_bounds=(0, 1), noise_variance=3, **more),
        TARGET,
        "labels",
    ),
}
WITH_PATHS = [*((kind, False) for kind in MODELS), *((k, True) for k in ("kernel-density", "svm", "gaussian-process"))]


@pytest.fixture
def book(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as opened:
        for name, whom in BUDGETS.items():
            opened.create_budget(name, 3, "1e-5", whom)
            opened.grant(name, "ada", 3, "1e-5")
        yield opened


def served(book, folder, kind="kernel-density", path=False, **more):
    make, target, budget = MODELS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(**more)
        return serve_model(
            model, ROWS, target, folder=folder, ledger=book, analyst="ada", budget=budget, path=path
        )  # fmt: skip


def spends(book, budget="rows"):
    return sum(entry.kind == "reserve" for entry in book.history(budget))


ASK = """
import sys, numpy as np
from ziggurat.release import Serving
order = np.random.default_rng(int(sys.argv[2])).permutation(23)
asked = np.linspace(0, 1, 23)[:, None]
found = np.empty(23)
serving = Serving.open(sys.argv[1])
for part in np.array_split(order, 4):
    found[part] = serving.answer(asked[part])
print([value.hex() for value in found.tolist()])
"""


def asking(folder, seed):
    return subprocess.Popen([sys.executable, "-c", ASK, str(folder), str(seed)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("kind", "path"), WITH_PATHS)
def test_a_model_is_paid_for_kept_and_opened_again_with_the_same_answers(book, tmp_path, kind, path):
    made = served(book, tmp_path / "m", kind, path)
    once = made.answer(ASKED)
    again = Serving.open(tmp_path / "m")
    assert np.array_equal(again.answer(ASKED[::-1])[::-1], once)
    assert [again.answer(point[None])[0] for point in ASKED] == once.tolist()
    assert again.answered == 3 * len(ASKED)
    assert again.kind == kind
    assert again.event == made.model.event_ == made.event
    assert not again.rehearsal
    again.check(book)
    assert spends(book, MODELS[kind][2]) == 1


@pytest.mark.parametrize("path", [False, True])
def test_programs_that_ask_at_once_in_other_orders_hear_the_same(book, tmp_path, path):
    served(book, tmp_path / "m", path=path)
    programs = [asking(tmp_path / "m", seed) for seed in range(3)]
    heard = {program.communicate(timeout=120)[0] for program in programs}
    assert len(heard) == 1
    assert eval(heard.pop()) == [value.hex() for value in Serving.open(tmp_path / "m").answer(ASKED).tolist()]
    assert Serving.open(tmp_path / "m").answered == 4 * len(ASKED)


@pytest.mark.parametrize("path", [False, True])
def test_a_folder_may_move_and_only_its_owner_may_read_it(book, tmp_path, path):
    once = served(book, tmp_path / "m", path=path).answer(ASKED)
    (tmp_path / "m").rename(tmp_path / "n")
    assert np.array_equal(Serving.open(tmp_path / "n").answer(ASKED), once)
    assert stat.S_IMODE((tmp_path / "n").stat().st_mode) == 0o700
    private = {"model.npz", "seal", "answers"} | ({"noise.path"} if path else set())
    assert {file.name for file in (tmp_path / "n").iterdir()} == private | {"promise.json"}
    assert {stat.S_IMODE((tmp_path / "n" / name).stat().st_mode) for name in private} == {0o600}


def test_a_model_with_rows_in_it_is_not_opened_where_others_may_read_it(book, tmp_path):
    served(book, tmp_path / "m", path=True)
    (tmp_path / "m" / "model.npz").chmod(0o644)
    with pytest.raises(ArtefactError, match="chmod"):
        Serving.open(tmp_path / "m")


def test_the_promise_and_the_ledger_hold_no_row_and_no_seed(book, tmp_path):
    served(book, tmp_path / "m", path=True, random_state=987654321)
    told = (tmp_path / "m" / "promise.json").read_text()
    written = json.dumps([entry.data for entry in book.history()], default=str)
    for text in (told, written.split('"digest"')[-1]):
        assert "987654321" not in text
        assert str(tmp_path) not in text
        assert not any(str(cell)[:8] in text for cell in ROWS[:, 0])


def test_a_model_that_costs_more_than_is_left_sees_no_row_and_leaves_no_folder(book, tmp_path, monkeypatch):
    monkeypatch.setattr(KernelDensity, "fit", lambda *_: pytest.fail("a row was seen"))
    model = KernelDensity("9", "1e-6", **COMMON)
    with pytest.raises(BudgetExceededError):
        serve_model(model, ROWS, folder=tmp_path / "m", ledger=book, analyst="ada", budget="rows")
    assert spends(book) == 0
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("step", ["fit", "save"])
def test_what_goes_wrong_after_the_payment_stays_spent_and_leaves_nothing_to_ask(book, tmp_path, monkeypatch, step):
    def fails(*_):
        assert spends(book) == 1
        raise RuntimeError(f"secret cell {ROWS[0, 0]}")

    monkeypatch.setattr(KernelDensity, step, fails)
    with pytest.raises(EngineError, match="stays spent") as failed:
        served(book, tmp_path / "m", path=True)
    assert str(ROWS[0, 0]) not in str(failed.value)
    assert failed.value.__context__ is None
    assert not (tmp_path / "m").exists()
    assert spends(book) == 1


def test_a_promise_that_cannot_be_written_leaves_the_cost_spent(book, tmp_path, monkeypatch):
    def fails(*_, **__):
        raise DataError("The disk is full.")

    monkeypatch.setattr("ziggurat.release.models._serving_folder.write_text", fails)
    with pytest.raises(DataError, match="stays spent"):
        served(book, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    assert [entry.kind for entry in book.history("rows")][-2:] == ["reserve", "commit"]


KILLED = """
import os, signal, sys, numpy as np
from ziggurat.learn import KernelDensity
from ziggurat.ledger import Ledger
from ziggurat.release import serve_model
killed = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
setattr(KernelDensity, sys.argv[3], killed)
model = KernelDensity("1", "1e-6", bandwidth=0.2, bounds=(0, 1))
with Ledger.open(sys.argv[1]) as book:
    serve_model(model, np.ones((300, 1)), folder=sys.argv[2], ledger=book, analyst="ada", budget="rows", path=True)
"""


@pytest.mark.parametrize("step", ["fit", "save"])
def test_a_program_that_is_killed_has_spent_and_left_nothing_to_ask(book, tmp_path, step):
    told = [sys.executable, "-c", KILLED, str(tmp_path / "ledger.db"), str(tmp_path / "m"), step]
    assert subprocess.run(told, check=False).returncode == -signal.SIGKILL
    assert spends(book) == 1
    assert book.verify().ok
    with pytest.raises(ArtefactError, match="no served model"):
        Serving.open(tmp_path / "m")
    with pytest.raises(DataError, match="already"):
        served(book, tmp_path / "m")
    assert spends(book) == 1


def test_a_rehearsal_is_marked_everywhere_and_repeats_itself(book, tmp_path):
    one, two = (served(book, tmp_path / name, path=True, random_state=5) for name in "mn")
    assert np.array_equal(one.answer(ASKED), two.answer(ASKED))
    assert one.rehearsal
    assert one.to_dict()["rehearsal"]
    assert json.loads((tmp_path / "m" / "promise.json").read_text())["facts"]["rehearsal"]
    assert "nobody is protected" in one.not_protected[0]
    assert book.history("rows")[-2].data["rehearsal"]


@pytest.mark.parametrize("kind", ["gaussian-process", "cloaked"])
def test_a_promise_about_labels_says_that_inputs_are_public(book, tmp_path, kind):
    made = served(book, tmp_path / "m", kind)
    said = json.loads((tmp_path / "m" / "promise.json").read_text())["facts"]
    assert any("inputs" in each and "not protected at all" in each for each in said["not protected"])
    assert said["not protected"] == made.not_protected
    assert "one label" in said["promise"]
    assert "one label" in said["in words"]


def test_labels_are_paid_for_out_of_a_budget_of_labels_only(book, tmp_path):
    make, target, _ = MODELS["gaussian-process"]
    for budget in ("people", "rows"):
        with pytest.raises(MixedNeighboursError, match="--unit label=y --relation replace-one"):
            serve_model(make(), ROWS, target, folder=tmp_path / "m", ledger=book, analyst="ada", budget=budget)
        assert spends(book, budget) == 0


def test_people_with_one_row_each_are_protected_as_rows_are(book, tmp_path):
    whose = {"ledger": book, "analyst": "ada", "budget": "people"}
    model = KernelDensity("1", "1e-6", **COMMON)
    with pytest.raises(DataError, match="several rows"):
        serve_model(model, ROWS, folder=tmp_path / "m", **whose, units=np.arange(300) // 2)
    made = serve_model(model, ROWS, folder=tmp_path / "m", **whose, units=np.arange(300))
    assert made.event.neighbours == BUDGETS["people"]
    assert Serving.open(tmp_path / "m").guarantee.neighbours == BUDGETS["people"]


def _edited(file, find, put):
    file.write_bytes(file.read_bytes().replace(find, put))


DAMAGE = {
    "a weaker promise": lambda at: _edited(at / "promise.json", b'"rehearsal": false', b'"rehearsal": true'),
    "other facts": lambda at: _edited(at / "promise.json", b'"rows": null', b'"rows": 301'),
    "another model": lambda at: shutil.copy(at.parent / "other/model.npz", at / "model.npz"),
    "another seal": lambda at: shutil.copy(at.parent / "other/seal", at / "seal"),
    "a missing model": lambda at: (at / "model.npz").unlink(),
    "half a model": lambda at: (at / "model.npz").write_bytes((at / "model.npz").read_bytes()[:900]),
    "no promise": lambda at: (at / "promise.json").unlink(),
    "a promise of something else": lambda at: (at / "promise.json").write_text("[1]"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_folder_that_was_changed_is_refused(book, tmp_path, how):
    served(book, tmp_path / "other")
    served(book, tmp_path / "m")
    DAMAGE[how](tmp_path / "m")
    with pytest.raises(ArtefactError):
        Serving.open(tmp_path / "m")


@pytest.mark.parametrize("name", ["noise.path", "answers"])
def test_no_answer_leaves_without_the_noise_or_the_count(book, tmp_path, name):
    served(book, tmp_path / "m", path=True).answer(ASKED)
    file = tmp_path / "m" / name
    file.write_bytes(b"x" + file.read_bytes()[1:])
    with pytest.raises(ArtefactError):
        Serving.open(tmp_path / "m").answer(ASKED)
    file.unlink()
    with pytest.raises(ArtefactError):
        Serving.open(tmp_path / "m").answer(ASKED)


def test_the_noise_of_another_model_is_refused(book, tmp_path):
    for name in ("m", "n"):
        served(book, tmp_path / name, path=True).answer(ASKED)
    shutil.copy(tmp_path / "n/noise.path", tmp_path / "m/noise.path")
    with pytest.raises(ArtefactError, match="not the noise path of this model"):
        Serving.open(tmp_path / "m").answer(ASKED)


def test_a_ledger_that_did_not_pay_is_found_out(book, tmp_path):
    made = served(book, tmp_path / "m")
    with Ledger.open(tmp_path / "other.db") as other:
        other.create_budget("rows", 3, "1e-5", BUDGETS["rows"])
        with pytest.raises(DataError, match="something else"):
            made.check(other)
    forged = json.loads((tmp_path / "m/promise.json").read_text())
    forged["entry"]["seq"] -= 1
    (tmp_path / "m/promise.json").write_text(json.dumps(forged))
    with pytest.raises(DataError, match="something else"):
        Serving.open(tmp_path / "m").check(book)


@pytest.mark.parametrize(
    ("model", "path", "said"),
    [
        (Ridge(bounds=(0, 1), y_bounds=(0, 1)), False, "made to be served"),
        (ServedHistogram("1", bounds=(0, 1)), True, "needs no path"),
        (KernelDensity("1", bounds=(0, 1), path="mine"), True, "own path"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is_spent(book, tmp_path, model, path, said):
    with pytest.raises(ParameterError, match=said):
        serve_model(model, ROWS, folder=tmp_path / "m", ledger=book, analyst="ada", budget="rows", path=path)
    assert spends(book) == 0
    assert not (tmp_path / "m").exists()


def test_a_folder_with_something_in_it_is_left_alone(book, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/mine").write_text("mine")
    with pytest.raises(DataError, match="already"):
        served(book, tmp_path / "m")
    with pytest.raises(DataError, match="cannot be written"):
        served(book, tmp_path / "nowhere/m")
    assert (tmp_path / "m/mine").read_text() == "mine"
    assert spends(book) == 0


SCHEMA = Schema(
    (
        Column("who", "text", role="identifier"),
        Column("age", "integer", bounds=Bounds(20, 60)),
        Column("ward", "category", categories=Categories(("east", "west"))),
        Column("cost", "real", bounds=Bounds(0, 100)),
    ),
    name="clinic",
)


def test_tables_are_answered_in_the_units_of_their_columns(book, tmp_path):
    points = Points(SCHEMA, ("age",))
    model = KernelDensity("2", "1e-6", **COMMON, random_state=1)
    whose = {"ledger": book, "analyst": "ada", "budget": "rows"}
    serve_model(model, ROWS, folder=tmp_path / "m", points=points, **whose)
    made = Serving.open(tmp_path / "m")
    answers = made.answer_table(read(pa.table({"age": [20, 40, 60]}), points.asked_schema))
    expected = made.answer([[0.0], [0.5], [1.0]]) / 40
    assert answers["density"].to_pylist() == expected.tolist()
    assert made.noise == pytest.approx(model.noise_scale_ / 40)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"age": [30, 61], "ward": ["east", "west"]}, "from 20 to 60"),
        ({"age": [30, None], "ward": ["east", "west"]}, "no value in column 'age'"),
        ({"age": [30, 31], "ward": ["east", "north"]}, "public list of column 'ward'"),
    ],
)
def test_questions_outside_the_domain_are_refused_in_a_sentence(asked, said):
    points = Points(SCHEMA, ("age", "ward"), "cost")
    with pytest.raises(DataError, match=said) as refused:
        points.questions(read(pa.table(asked), points.asked_schema))
    assert "61" not in str(refused.value)
    assert "north" not in str(refused.value)


def test_points_are_numbers_for_a_density_and_survive_json():
    with pytest.raises(SchemaError, match="no density"):
        Points(SCHEMA, ("ward",))
    with pytest.raises(ParameterError, match="--column"):
        Points(SCHEMA)
    points = Points(SCHEMA, ("age",), "cost")
    again = Points.from_dict(json.loads(json.dumps(points.to_dict())))
    assert again.to_dict() == points.to_dict()
    assert list(again.schema) == ["age", "cost"]
    with pytest.raises(ArtefactError, match="damaged"):
        Points.from_dict({"schema": 3})
