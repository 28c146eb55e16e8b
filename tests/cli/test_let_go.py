"""A model that the gate stops in `model fit` is kept, and `model let-go` lets it go for a reason, paid for once."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from ziggurat import learn
from ziggurat.cli._app import run_command
from ziggurat.data import Bounds, Categories, Column, Schema, Unit
from ziggurat.errors import ArtefactError, DataError, GateError, ParameterError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours

pytestmark = pytest.mark.filterwarnings("ignore:With epsilon")
SCHEMA = Schema(
    (
        Column("patient", "text"),
        Column("age", "real", bounds=Bounds(0, 100)),
        Column("cost", "real", bounds=Bounds(0, 100)),
        Column("ill", "category", categories=Categories(("no", "yes"))),
    ),
    unit=Unit.person("patient"),
    name="clinic",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clinic, a budget, and a naive Bayes that keeps its rows in a drawer."""
    draw = np.random.default_rng(2)
    rows = draw.uniform(0, 100, (500, 2))
    ill = np.where(rows[:, 0] + draw.normal(0, 20, 500) > 50, "yes", "no")
    cells = {"patient": [f"p{i}" for i in range(500)], "age": rows[:, 0], "cost": rows[:, 1], "ill": ill}
    csv.write_csv(pa.table(cells), tmp_path / "clinic.csv")
    SCHEMA.to_yaml(tmp_path / "clinic.yaml")
    with Ledger.open(tmp_path / "book.db") as book:
        book.create_budget("clinic", 4, "1e-5", Neighbours(SCHEMA.unit))
        book.grant("clinic", "ada", 4, "1e-5")
    plain = learn.GaussianNB.fit

    def fit(self: Any, X: Any, y: Any) -> Any:  # noqa: N803
        plain(self, X, y)
        self.drawer_ = np.array(X)
        return self

    monkeypatch.setattr(learn.GaussianNB, "fit", fit)
    monkeypatch.chdir(tmp_path)
    return tmp_path


LEDGER = ["--ledger", "book.db"]
FIT = ["model", "fit", "clinic.csv", "--label", "ill", "--column", "age", "--column", "cost", "--model", "naive-bayes"]
FIT += ["--epsilon", "1", "--delta", "0", "--budget", "clinic", "--analyst", "ada", "--out", "m", "--rehearse", "1"]
FIT += ["--holdout", "0.3", *LEDGER]


def kinds(place: Path) -> list[str]:
    with Ledger.open(place / "book.db", create=False, read_only=True) as book:
        return [each.kind for each in book.history()][3:]


def test_a_stopped_model_is_kept_and_goes_with_a_reason_that_the_ledger_keeps(place: Path, capsys: Any) -> None:
    with pytest.raises(GateError, match=r"ziggurat model let-go m\.held --go-on WHY"):
        run_command(FIT)
    held = place / "m.held"
    assert not (place / "m").exists()
    assert {each.name for each in held.iterdir()} == {"held.json", "model.npz", "task.json"}
    assert held.stat().st_mode & 0o077 == 0
    assert all(each.stat().st_mode & 0o077 == 0 for each in held.iterdir())
    assert kinds(place) == ["reserve", "commit"]
    with pytest.raises(ArtefactError, match="gate stopped the model"):
        run_command(["model", "predict", "m.held", "clinic.csv"])
    with pytest.raises(DataError, match="waits in"):
        run_command(FIT)
    capsys.readouterr()
    assert run_command(["model", "let-go", "m.held", "--go-on", "All agreed.", *LEDGER, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["model"] == "naive-bayes"
    assert told["rehearsal"]
    assert not held.exists()
    assert kinds(place) == ["reserve", "commit", "decision"]
    with Ledger.open(place / "book.db", create=False, read_only=True) as book:
        assert "All agreed." in str(book.history()[-1])
    assert run_command(["model", "predict", "m", "clinic.csv", "--json"]) == 0
    assert run_command(["model", "show", "m", "--check", *LEDGER]) == 0


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (["m.held", "--go-on", " "], ParameterError, "Say why"),
        (["m", "--go-on", "x"], DataError, "No model waits"),
        (["m.held", "--go-on", "x", "--out", "full"], DataError, "there already"),
        (["m.held", "--go-on", "\u0007"], ParameterError, "printable"),
    ],
)
def test_what_cannot_be_let_go_is_said_and_waits_on(place: Path, words: list[str], error: type, said: str) -> None:
    (place / "full").mkdir()
    (place / "full" / "file").write_text("mine")
    with pytest.raises(GateError):
        run_command(FIT)
    with pytest.raises(error, match=said):
        run_command(["model", "let-go", *words, *LEDGER])
    assert (place / "m.held" / "held.json").is_file()
    assert kinds(place) == ["reserve", "commit"]


DIES = """
import os, signal, sys
import numpy as np
from ziggurat import learn
from ziggurat.cli._app import run_command
from ziggurat.release.bundle import _held

plain = learn.GaussianNB.fit

def fit(self, X, y):
    plain(self, X, y)
    self.drawer_ = np.array(X)
    return self

learn.GaussianNB.fit = fit
_held.write_text = lambda *given, **options: os.kill(os.getpid(), signal.SIGKILL)
run_command(sys.argv[1:])
"""


def test_a_kill_while_it_is_put_aside_leaves_nothing_half_written(place: Path) -> None:
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", DIES, *FIT], cwd=place, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not (place / "m.held").exists()
    assert not (place / "m").exists()
    assert kinds(place) == ["reserve", "commit"]
    assert all(each.stat().st_mode & 0o077 == 0 for each in place.glob(".m*"))
