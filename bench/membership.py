"""How long it takes to attack the membership of a model beside the Adversarial Robustness Toolbox, and what is found.

    python bench/membership.py [--art /path/to/python] [--people 2000] [--shadows 16] [--figures]

The people are of the Adult table (ZIGGURAT_DATA names its folder): half of them, drawn at random, are members. A forest
that remembers and an MLP are attacked by ART's shadow models with its black-box attack, and by ours with as many
shadows, whole call against whole call; then by ART's label-only attack and ours. ART needs an environment of its own:
python -m venv art && art/bin/pip install adversarial-robustness-toolbox==1.20.1 scikit-learn torch packaging, then
--art art/bin/python. Last, 64 shadows of the MLP are trained stacked and one by one. With --figures a table of what
loss, LiRA and RMIA find in a forest, an MLP, and networks by private gradient descent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from sklearn.ensemble import RandomForestClassifier

from ziggurat.attacks.models import (
    AttackedModel,
    LabelledRows,
    MembershipReport,
    NetworkRecipe,
    attack_membership,
    train_shadows,
)
from ziggurat.learn import PrivateSGDClassifier
from ziggurat.pate.training import MLP, Training

EPOCHS, BATCH, HIDDEN, TREES = 20, 128, 128, 100  # epochs and batch are what ART trains a network with, unless told
LABELS = 50  # people of each group whom both label-only attacks are asked about
Spent = tuple[float, float, float]
PEER = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
import torch
from art.attacks.inference.membership_inference import LabelOnlyDecisionBoundary, MembershipInferenceBlackBox
from art.attacks.inference.membership_inference import ShadowModels
from art.estimators.classification import PyTorchClassifier
from art.estimators.classification.scikitlearn import ScikitlearnRandomForestClassifier

data, kind, shadows, attack, epochs, batch, hidden, trees, few = np.load(sys.argv[1]), *sys.argv[2:]
epochs, batch, hidden, trees, few = map(int, (epochs, batch, hidden, trees, few))
x, y = data["features"].astype(np.float32), data["labels"]
member = np.arange(len(x)) < len(x) // 2
hot = np.eye(2, dtype=np.float32)[y]

if kind == "forest":
    forest = RandomForestClassifier(trees, random_state=0).fit(x[member], y[member])
    model = ScikitlearnRandomForestClassifier(forest)
else:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(x.shape[1], hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 2))
    adam = torch.optim.Adam(layers.parameters(), lr=1e-3)
    model = PyTorchClassifier(layers, torch.nn.CrossEntropyLoss(), (x.shape[1],), 2, optimizer=adam)
    model.fit(x[member], hot[member], nb_epochs=epochs, batch_size=batch)
start, busy = time.perf_counter(), time.process_time()
if attack == "labels":
    chosen = np.r_[:few, len(x) // 2 : len(x) // 2 + few]
    boundary = LabelOnlyDecisionBoundary(model, distance_threshold_tau=1.0)
    said = boundary.infer(x[chosen], y[chosen], probabilities=True, norm=2, max_iter=10, max_eval=500, verbose=False)
    member = member[chosen]
else:
    shadowed = ShadowModels(model, num_shadow_models=int(shadows), random_state=0)
    inside, outside = shadowed.generate_shadow_dataset(x, hot)
    learned = MembershipInferenceBlackBox(model, attack_model_type=attack)
    learned.fit(inside[0], inside[1], outside[0], outside[1], inside[2], outside[2])
    said = learned.infer(x, hot, probabilities=True)
spent, busy = time.perf_counter() - start, time.process_time() - busy
said = np.asarray(said)
said = said[:, -1] if said.ndim == 2 else said
print(json.dumps([spent, busy, roc_auc_score(member, said)]))
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--art", default="", help="A Python that has ART 1.20.")
    arguments.add_argument("--people", type=int, default=2_000)
    arguments.add_argument("--shadows", type=int, default=16)
    arguments.add_argument("--models", nargs="+", default=["forest", "mlp"], help="Which of them ART attacks too.")
    arguments.add_argument("--by", nargs="+", default=["nn", "rf"], help="What ART learns on shadows; it learns nn.")
    arguments.add_argument("--figures", action="store_true", help="Only the table of what is found.")
    given = arguments.parse_args()
    members, others = read_people(given.people)
    if given.figures:
        show_figures(members, others, given.shadows)
        return
    if given.art:
        against_art(given.art, members, others, given.shadows, given.models, given.by)
        against_labels(given.art, members, others)
    stack(members, others)


def read_people(people: int) -> tuple[LabelledRows, LabelledRows]:
    """Adult as numbers: columns scaled, categories one by one; a random half are members."""
    table = pq.read_table(Path(os.environ["ZIGGURAT_DATA"]) / "adult_uci.parquet")
    order = np.random.default_rng(0).permutation(table.num_rows)[:people]
    labels = np.array([">50K" in each for each in table["income"].to_pylist()])[order].astype(int)
    columns = [_encode(table[name].to_numpy(zero_copy_only=False)) for name in table.column_names[:-2]]
    rows = LabelledRows(np.column_stack(columns)[order], labels)
    return rows.take(np.arange(people // 2)), rows.take(np.arange(people // 2, people))


def _encode(values: Any) -> Any:
    if values.dtype.kind in "if":
        return ((values - values.mean()) / values.std()).clip(-4, 4)
    kinds, codes = np.unique(values.astype(str), return_inverse=True)
    return np.eye(len(kinds))[codes]


def make_model(kind: str, members: LabelledRows) -> AttackedModel:
    """The same forest as ART's, or a network of the same shape and training."""
    if kind == "forest":
        return AttackedModel.of(RandomForestClassifier(TREES, random_state=0).fit(members.features, members.labels))
    network = MLP(members.features.shape[1], (HIDDEN,), 2)
    return NetworkRecipe(network, Training(epochs=EPOCHS, batch=BATCH, held_out=0.0)).train(members, random_state=1)


def against_art(
    python: str, members: LabelledRows, others: LabelledRows, shadows: int, models: list[str], learners: list[str]
) -> None:
    """Time both with shadows on the same models and people."""
    with written(members, others) as path:
        for kind in models:
            model = make_model(kind, members)
            ours = timed(
                lambda model=model: attack_membership(
                    model, members, others, random_split=True, attacks=["shadow"], shadows=shadows, random_state=1
                )
            )
            everything = timed(
                lambda model=model: attack_membership(
                    model, members, others, random_split=True, shadows=shadows, random_state=1
                )
            )
            for attack in learners:
                theirs = ask_peer(python, path, kind, shadows, attack)
                tell(f"{kind}, {shadows} shadows, ART's attack by {attack} against our classifier", theirs, ours)
                tell(f"{kind}, {shadows} shadows, ART's attack by {attack} against all 7 of ours", theirs, everything)


def against_labels(python: str, members: LabelledRows, others: LabelledRows) -> None:
    """Time both on a forest that tells labels alone; ART asks far less here than it does unless told."""
    with written(members, others) as path:
        model, few = make_model("forest", members), np.arange(LABELS)
        ours = timed(
            lambda: attack_membership(
                model, members.take(few), others.take(few), random_split=True, attacks=["label-only"], random_state=1
            )
        )
        theirs = ask_peer(python, path, "forest", 0, "labels")
        tell(f"forest, labels alone, {2 * LABELS} people", theirs, ours)


@contextmanager
def written(members: LabelledRows, others: LabelledRows) -> Iterator[Path]:
    """Give the people in a file, members first."""
    with tempfile.TemporaryDirectory() as folder:
        path, both = Path(folder) / "people.npz", members.join(others)
        np.savez(path, features=both.features, labels=both.labels)
        yield path


def ask_peer(python: str, path: Path, kind: str, shadows: int, attack: str) -> Spent:
    """Run ART in its own environment; return seconds, those of a processor, and the area under the curve."""
    numbers = [str(each) for each in (EPOCHS, BATCH, HIDDEN, TREES, LABELS)]
    command = [python, "-c", PEER, str(path), kind, str(shadows), attack, *numbers]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=clean).stdout
    seconds, busy, area = json.loads(said.splitlines()[-1])
    return float(seconds), float(busy), float(area)


def timed(call: Callable[[], MembershipReport]) -> Spent:
    start, busy = time.perf_counter(), time.process_time()
    found = call()
    return time.perf_counter() - start, time.process_time() - busy, found.strongest.area.rate


def tell(what: str, theirs: Spent, ours: Spent) -> None:
    told = [f"{wall:.1f} s ({busy:.1f} s of a processor, area {area:.3f})" for wall, busy, area in (theirs, ours)]
    ratios = f"{theirs[0] / ours[0]:.1f} times, {theirs[1] / ours[1]:.1f} times by the processor"
    print(f"{what}: ART {told[0]}, ours {told[1]}: {ratios}", flush=True)


def stack(members: LabelledRows, others: LabelledRows) -> None:
    """64 shadows of the MLP in programs of 16, and one by one."""
    spent = {}
    for name, stacked in (("stacked", None), ("one by one", 1)):
        recipe = NetworkRecipe(MLP(members.features.shape[1], (HIDDEN,), 2), _training(), stacked)
        model = AttackedModel(lambda rows: rows, recipe=recipe)
        start = time.perf_counter()
        train_shadows(model, members.join(others), 64, random_state=1)
        spent[name] = time.perf_counter() - start
    print(
        f"64 shadows of an MLP: stacked {spent['stacked']:.1f} s, one by one {spent['one by one']:.1f} s: "
        f"{spent['one by one'] / spent['stacked']:.1f} times"
    )


def _training() -> Training:
    return Training(epochs=EPOCHS, batch=BATCH, held_out=0.0)


def show_figures(members: LabelledRows, others: LabelledRows, shadows: int) -> None:
    """What is found in models with and without a promise."""
    width = members.features.shape[1]
    remembering = Training(epochs=100, batch=32, held_out=0.0)
    models = {
        "forest": make_model("forest", members),
        "MLP, 20 epochs": make_model("mlp", members),
        "MLP, 100 epochs": NetworkRecipe(MLP(width, (HIDDEN,), 2), remembering).train(members, random_state=1),
    }
    for epsilon in ("1", "8"):
        private = PrivateSGDClassifier(
            epsilon=epsilon, classes=2, hidden=(HIDDEN,), epochs=20, expected_rows=len(members), random_state=1
        )
        models[f"MLP, epsilon {epsilon}"] = AttackedModel.of(private.fit(members.features, members.labels))
    print("| model | attack | area | members named at 1% of others |\n| --- | --- | --- | --- |")
    for name, model in models.items():
        found = attack_membership(
            model, members, others, random_split=True, attacks=["loss", "lira", "rmia"], shadows=shadows, random_state=1
        )
        for attack, each in found.attacks.items():
            print(f"| {name} | {attack} | {each.area} | {each.readings[0]} |", flush=True)


if __name__ == "__main__":
    main()
