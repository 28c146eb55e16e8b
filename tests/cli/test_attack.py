"""`ziggurat attack`: any model, whoever made it, with a page; what is bad is refused in a sentence."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ziggurat.cli._app import run_command
from ziggurat.errors import ArtefactError, DataError, ParameterError, ZigguratError
from ziggurat.pate import MLP
from ziggurat.pate.training import write_classifier
from ziggurat.release.models import DeclaredModule
from ziggurat.release.models._modules import write_module

NAMES = ("a", "b", "smoker")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Members, others, a tree that learned them by heart, a regression, and what the tree says."""
    folder = tmp_path_factory.mktemp("attack")
    draw = np.random.default_rng(3)
    rows = draw.uniform(-1, 1, (400, 3))
    rows[:, 2] = draw.integers(0, 2, 400)
    ill = (rows[:, 0] + draw.normal(0, 0.7, 400) > 0).astype(int)
    tree = DecisionTreeClassifier(random_state=1).fit(rows[:200], ill[:200])
    (folder / "tree.skops").write_bytes(write_classifier(tree))
    (folder / "line.skops").write_bytes(write_classifier(LogisticRegression().fit(rows[:200], ill[:200])))
    (folder / "tree.pkl").write_bytes(pickle.dumps(tree))
    for name, part in (("in", slice(0, 200)), ("out", slice(200, 400))):
        said = dict(zip(("p_0", "p_1"), tree.predict_proba(rows[part]).T, strict=True))
        columns = {each: rows[part, at] for at, each in enumerate(NAMES)} | {"ill": ill[part]}
        csv.write_csv(pa.table(columns), folder / f"{name}.csv")
        csv.write_csv(pa.table(columns | said), folder / f"{name}_said.csv")
    return folder


def people(place: Path, said: str = "") -> list[str]:
    return ["--members", f"{place}/in{said}.csv", "--others", f"{place}/out{said}.csv", "--label", "ill"]


def run(capsys: Any, *words: str) -> tuple[int, dict[str, Any]]:
    code = run_command(["attack", *words, "--seed", "1", "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_tree_that_knows_its_rows_by_heart_is_caught_and_a_line_is_not(place: Path, capsys: Any) -> None:
    code, found = run(capsys, f"{place}/tree.skops", *people(place), "--random-split", "--attack", "loss")
    assert code == 5
    assert {"membership by loss", "inspection"} <= {each["attack"] for each in found["verdict"]["stopped"]}
    code, found = run(capsys, f"{place}/line.skops", *people(place), "--random-split", "--attack", "loss")
    assert code == 0
    assert not found["verdict"]["stopped"]


def test_a_network_is_attacked_by_its_weights_as_declared_beside_them_or_by_name(place: Path, capsys: Any) -> None:
    torch.manual_seed(1)
    network = MLP(3, (6, 5), 2)
    declared = DeclaredModule(network.build(), network)
    told = write_module(declared)
    given = ["--random-split", "--attack", "loss", "--questions", "40"]
    (place / "bare.safetensors").write_bytes(told)
    with pytest.raises(ArtefactError, match="name one, such as mlp"):
        run_command(["attack", f"{place}/bare.safetensors", *people(place)])
    code, found = run(capsys, f"{place}/bare.safetensors", *people(place), *given, "--network", "mlp:6,5")
    assert code == 0
    assert {"membership", "inspection", "extraction"} <= set(found["evidence"]["made"])
    with pytest.raises(ArtefactError, match="not those of the network"):
        run_command(["attack", f"{place}/bare.safetensors", *people(place), "--network", "mlp:7,5"])
    with pytest.raises(ParameterError, match="leave it out"):
        run_command(["attack", f"{place}/tree.skops", *people(place), "--network", "mlp:7,5"])
    with pytest.raises(ParameterError, match="knows mlp"):
        run_command(["attack", f"{place}/bare.safetensors", *people(place), "--network", "os:system"])
    (place / "told.safetensors").write_bytes(told)
    (place / "told.json").write_text(json.dumps(declared.describe(told)))
    code, again = run(capsys, f"{place}/told.safetensors", *people(place), *given)
    assert again["evidence"]["made"]["membership"]["attacks"] == found["evidence"]["made"]["membership"]["attacks"]


def test_answers_alone_are_attacked_as_the_model_itself(place: Path, capsys: Any) -> None:
    given = ["--random-split", "--attack", "loss"]
    _, whole = run(capsys, f"{place}/tree.skops", *people(place), *given)
    code, said = run(capsys, "--answers", "p_0,p_1", *people(place, "_said"), *given)
    assert code == 5
    first, second = (each["evidence"]["made"]["membership"]["attacks"]["loss"]["area"] for each in (whole, said))
    assert first == second


def test_without_a_random_split_there_is_no_verdict_and_the_blind_attack_is_shown(place: Path, capsys: Any) -> None:
    code = run_command(["attack", "--answers", "p_0,p_1", *people(place, "_said"), "--seed", "1"])
    shown = " ".join(capsys.readouterr().out.split())
    assert code == 0
    assert "There is no verdict" in shown
    assert "without the model" in shown


def test_a_promise_that_is_stated_and_does_not_hold_is_refuted(place: Path, capsys: Any) -> None:
    stated = ["--random-split", "--attack", "loss", "--epsilon", "0.01"]
    code, found = run(capsys, "--answers", "p_0,p_1", *people(place, "_said"), *stated)
    assert code == 5
    assert found["verdict"]["refuted"]
    assert found["promised"] == {"epsilon": "1/100", "delta": "0"}


def test_the_page_is_one_file_that_asks_nobody(place: Path, tmp_path: Path, capsys: Any) -> None:
    page = tmp_path / "page.html"
    more = ["--random-split", "--attack", "loss", "--sensitive", "smoker", "--questions", "40", "--epsilon", "1"]
    code = run_command(["attack", f"{place}/line.skops", *people(place), *more, "--seed", "1", "--report", str(page)])
    assert code in (0, 5)
    text = page.read_text()
    for words in ("What an attacker with these tools learned", "allowed by epsilon 1", "How the model is copied"):
        assert words in text
    assert "Inferring smoker" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert page.stat().st_mode & 0o077 == 0
    assert "do not publish" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (["tree.pkl"], ArtefactError, "skops.io.dump"),
        (["gone.skops"], DataError, "no file"),
        (["in.csv"], ParameterError, "is no model"),
        (["."], ArtefactError, "no model of"),
        ([], ParameterError, "either a MODEL"),
        (["tree.skops", "--answers", "p_0,p_1"], ParameterError, "either a MODEL"),
        (["tree.skops", "--sensitive", "age"], ParameterError, "no column 'age'"),
        (["tree.skops", "--sensitive", "a"], ParameterError, "2 to 20"),
        (["tree.skops", "--attack", "magic"], ParameterError, "no attack 'magic'"),
        (["tree.skops", "--epsilon", "much"], ZigguratError, "epsilon"),
        (["--answers", "p_0,p_2"], DataError, "no column 'p_2'"),
    ],
)
def test_what_is_bad_is_said_in_a_sentence_and_nothing_is_written(
    place: Path, tmp_path: Path, words: list[str], error: type[Exception], said: str
) -> None:
    given = [f"{place}/{each}" if at == 0 and not each.startswith("-") else each for at, each in enumerate(words)]
    page = tmp_path / "page.html"
    with pytest.raises(error, match=said) as raised:
        run_command(["attack", *given, *people(place, "_said" if "--answers" in words else ""), "--report", str(page)])
    assert len(str(raised.value).split(". ")) == 1
    assert not page.exists()


def test_a_table_with_other_columns_is_refused(place: Path) -> None:
    with pytest.raises(DataError, match="trained on 3 columns and not 5"):
        run_command(["attack", f"{place}/tree.skops", *people(place, "_said")])
