"""Networks of PyTorch leave as weights without code: attacked as they are read back, and inspected for rows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ziggurat.data import Bounds, Column, Schema
from ziggurat.errors import ArtefactError, DataError, GateError, ParameterError
from ziggurat.ledger import Ledger
from ziggurat.pate import CNN, MLP, Network, Training
from ziggurat.release import NOT_PROMISED_OF_FOREIGN, DeclaredModule, ModelExam, read_module, release_model
from ziggurat.release.bundle import verify_bundle
from ziggurat.release.config import run_config
from ziggurat.threads import one_torch_thread

torch = pytest.importorskip("torch")
nn = torch.nn

EXAM = ModelExam(random_split=True, shadows=0, attacks=("loss",), random_state=1)


def people(columns: int = 4) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(1)
    rows = draw.uniform(-1, 1, (400, columns))
    return rows, (rows[:, 0] + draw.normal(0, 0.7, 400) > 0).astype(int)


ROWS, LABELS = people()
HALVES: Any = {"members": (ROWS[:200], LABELS[:200]), "others": (ROWS[200:], LABELS[200:])}


def train(network: Network, steps: int, rows: np.ndarray = ROWS, labels: np.ndarray = LABELS) -> Any:
    """Learn the first half, by heart if there are many steps."""
    torch.manual_seed(1)
    made = network.build()
    inputs = torch.tensor(rows[:200], dtype=torch.float32).reshape(-1, *network.shape)
    wanted, step = torch.tensor(labels[:200]), torch.optim.Adam(made.parameters(), 0.02)
    with one_torch_thread():
        for _ in range(steps):
            step.zero_grad()
            nn.functional.cross_entropy(made(inputs), wanted).backward()
            step.step()
    return made


class Drawer(nn.Module):
    """A line that keeps rows in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 2)
        self.register_buffer("drawer", torch.zeros(200, 4))

    def forward(self, rows: Any) -> Any:
        return self.line(rows)


class Secretive(nn.Module):
    """A line with a shift outside of its state."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 2)
        self.shift = torch.zeros(2)

    def forward(self, rows: Any) -> Any:
        return self.line(rows) + self.shift


@pytest.fixture
def book(tmp_path: Path) -> Any:
    with Ledger.open(tmp_path / "ledger.db") as opened:
        opened.create_budget("clinic", 9, "1e-5")
        yield opened


def test_a_network_leaves_as_weights_and_words_and_is_read_without_code(book: Ledger, tmp_path: Path) -> None:
    network = MLP(4, (8,), 2)
    module = train(network, 20)
    declared = DeclaredModule(module, network, ("no", "yes"))
    named = {name: (rows, np.where(codes == 1, "yes", "no")) for name, (rows, codes) in HALVES.items()}
    made = release_model(declared, tmp_path / "m.safetensors", **named, exam=EXAM, ledger=book, budget="clinic")
    assert made.event is None
    assert made.certificate.not_protected[0] == NOT_PROMISED_OF_FOREIGN
    assert {each.name for each in made.write(tmp_path)[1].artefacts} == {"m.safetensors", "m.json"}
    assert [each.kind for each in book.history()].count("unbounded") == 1
    again = read_module(tmp_path / "m.safetensors")
    assert again.classes == ("no", "yes")
    assert np.allclose(again.predict_proba(ROWS), declared.predict_proba(ROWS))
    told = json.loads((tmp_path / "m.json").read_text())
    assert told["network"] == {"kind": "mlp", "inputs": 4, "hidden": [8], "outputs": 2, "dropout": 0.0}
    assert json.loads((tmp_path / "m.safetensors.certificate.json").read_text())["promise"] is None


def test_a_network_that_knows_its_rows_by_heart_is_caught_and_nothing_leaves(book: Ledger, tmp_path: Path) -> None:
    network, coins = MLP(4, (64, 64), 2), np.random.default_rng(2).integers(0, 2, 400)  # to be known by heart alone
    declared = DeclaredModule(train(network, 200, labels=coins), network)
    halves: Any = {"members": (ROWS[:200], coins[:200]), "others": (ROWS[200:], coins[200:])}
    with pytest.raises(GateError) as raised:
        release_model(declared, tmp_path / "m.safetensors", **halves, exam=EXAM, ledger=book, budget="clinic")
    assert "membership by loss" in {each.attack for each in raised.value.held.verdict.stopped}
    assert not list(tmp_path.glob("m.*"))
    assert not any(each.kind == "unbounded" for each in book.history())


def test_a_buffer_of_rows_is_stopped_without_a_waiver(book: Ledger, tmp_path: Path) -> None:
    network = Network.of(Drawer, shape=(4,), outputs=2)
    empty, full = Drawer(), Drawer()
    full.load_state_dict(empty.state_dict())
    full.drawer.copy_(torch.tensor(ROWS[:200]))
    where: Any = {**HALVES, "exam": EXAM, "ledger": book, "budget": "clinic"}
    with pytest.raises(GateError) as raised:
        release_model(DeclaredModule(full, network), tmp_path / "full.safetensors", **where)
    assert [each.attack for each in raised.value.held.verdict.stopped] == ["inspection"]
    assert not list(tmp_path.glob("full*"))
    made = release_model(
        DeclaredModule(full, network), tmp_path / "full.safetensors", **where, go_on="They agreed in writing."
    )
    assert made.decision is not None
    assert "They agreed in writing." in str(book.history()[-1])
    assert not release_model(DeclaredModule(empty, network), tmp_path / "empty.safetensors", **where).verdict.stopped
    with pytest.raises(ParameterError, match="network of your own"):
        read_module(tmp_path / "full.safetensors")
    assert read_module(tmp_path / "full.safetensors", network).predict(ROWS[:3]).shape == (3,)


def test_images_that_a_buffer_holds_are_found_as_rows(tmp_path: Path) -> None:
    class Album(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = CNN((1, 4, 4), (2,), 4, 2).build()
            self.register_buffer("album", torch.zeros(200, 1, 4, 4))

        def forward(self, rows: Any) -> Any:
            return self.inner(rows)

    rows, labels = people(16)
    module = Album()
    module.album.copy_(torch.tensor(rows[:200]).reshape(-1, 1, 4, 4))
    declared = DeclaredModule(module, Network.of(Album, shape=(1, 4, 4), outputs=2))
    halves: Any = {"members": (rows[:200], labels[:200]), "others": (rows[200:], labels[200:])}
    with pytest.raises(GateError) as raised:
        release_model(declared, tmp_path / "m.safetensors", **halves, exam=EXAM)
    assert "inspection" in [each.attack for each in raised.value.held.verdict.stopped]


def test_attackers_train_networks_like_it_where_they_know_how(tmp_path: Path) -> None:
    network = MLP(4, (8,), 2)
    declared = DeclaredModule(train(network, 20), network, training=Training(epochs=3))
    exam = ModelExam(random_split=True, shadows=4, attacks=("rmia",), random_state=1)
    made = release_model(declared, tmp_path / "m.safetensors", **HALVES, exam=exam)
    assert set(made.evidence.findings["membership"].attacks) == {"rmia"}


def _secretive() -> DeclaredModule:
    module = Secretive()
    module.shift += torch.tensor([3.0, 0.0])
    return DeclaredModule(module, Network.of(Secretive, shape=(4,), outputs=2))


@pytest.mark.parametrize(
    ("make", "where", "error", "words"),
    [
        (lambda: DeclaredModule("a model", MLP(4)), "m.safetensors", ParameterError, "module of PyTorch"),  # type: ignore[arg-type]
        (lambda: DeclaredModule(nn.Linear(4, 2), "mlp"), "m.safetensors", ParameterError, "with its network"),  # type: ignore[arg-type]
        (lambda: DeclaredModule(nn.Linear(4, 2), MLP(4, (), 2), ("a",)), "m.safetensors", ParameterError, "2 classes"),
        (lambda: DeclaredModule(MLP(4, (3,), 2).build(), MLP(4, (5,), 2)), "m.safetensors", ArtefactError, "declared"),
        (lambda: DeclaredModule(MLP(4, (3,), 2).build(), MLP(4, (3,), 2)), "m.pt", DataError, "safetensors"),
        (lambda: DeclaredModule(MLP(5, (3,), 2).build(), MLP(5, (3,), 2)), "m.safetensors", DataError, "5 columns"),
        (lambda: nn.Linear(4, 2), "m.safetensors", ParameterError, "DeclaredModule"),
        (_secretive, "m.safetensors", ArtefactError, "outside of its parameters"),
    ],
)
def test_what_cannot_leave_is_refused_and_leaves_no_trace(
    tmp_path: Path, make: Callable[[], Any], where: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        release_model(make(), tmp_path / where, **HALVES, exam=EXAM)
    assert list(tmp_path.iterdir()) == []


def test_weights_and_words_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    network = MLP(4, (8,), 2)
    release_model(DeclaredModule(network.build(), network), tmp_path / "m.safetensors", **HALVES, exam=EXAM)
    content = (tmp_path / "m.safetensors").read_bytes()
    (tmp_path / "m.safetensors").write_bytes(content[:-4] + b"\0\0\1\0")
    with pytest.raises(ArtefactError, match="other weights"):
        read_module(tmp_path / "m.safetensors")
    (tmp_path / "m.safetensors").write_bytes(content)
    (tmp_path / "m.json").write_text("{")
    with pytest.raises(ArtefactError, match="damaged"):
        read_module(tmp_path / "m.safetensors")
    (tmp_path / "m.json").unlink()
    with pytest.raises(ArtefactError, match="Nothing beside"):
        read_module(tmp_path / "m.safetensors")
    assert read_module(tmp_path / "m.safetensors", network).classes == (0, 1)


def test_a_file_describes_the_release_of_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    network = MLP(4, (8,), 2)
    release_model(DeclaredModule(train(network, 20), network), tmp_path / "net.safetensors", **HALVES, exam=EXAM)
    names = "abcd"
    for name, (rows, codes) in zip(("inside", "outside"), HALVES.values(), strict=True):
        lines = [",".join([*map(str, row), str(bool(code)).lower()]) for row, code in zip(rows, codes, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join([",".join([*names, "ill"]), *lines]) + "\n")
    columns = [Column(name, "real", bounds=Bounds(-1, 1)) for name in names]
    Schema((*columns, Column("ill", "boolean")), name="inside").to_yaml(tmp_path / "inside.yaml")
    said = {"kind": "foreign model", "model": "net.safetensors", "others": "outside.csv", "label": "ill"}
    said |= {"scaled": False, "random_split": True, "shadows": 0}
    config = {"format": "ziggurat/release/1", "table": "inside.csv", "ledger": "book.db", "rehearse": 1}
    (tmp_path / "release.yaml").write_text(json.dumps({**config, "release": said}))
    made, bundle = run_config(tmp_path / "release.yaml")
    assert {each.name for each in (bundle / "public").glob("model.*")} == {"model.safetensors", "model.json"}
    assert verify_bundle(bundle).rehearsal
    assert made.event is None
