"""Models that remember are caught, those with a promise stay below it, and those that know nobody are not accused."""

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression
from sklearn.naive_bayes import GaussianNB as PlainGaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as PlainTree
from sklearn.tree import DecisionTreeRegressor

from ziggurat import learn
from ziggurat.attacks.models import (
    MEMBERSHIP_ATTACKS,
    AttackedModel,
    LabelledRows,
    MembershipReport,
    NetworkRecipe,
    attack_membership,
    train_shadows,
)
from ziggurat.errors import DataError, ParameterError
from ziggurat.pate.training import MLP, Training

CHANCE = 1e-6  # a model that keeps its promise, or knows nobody, is accused with less


def invent(people: int, seed: int, columns: int = 6) -> LabelledRows:
    """Rows whose label is a third noise, so that there is something to remember."""
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(people, columns)).clip(-4, 4)
    clear = features[:, 0] + features[:, 1] > 0
    return LabelledRows(features, np.where(draw.random(people) < 0.3, ~clear, clear).astype(int))


def split(people: LabelledRows, seed: int) -> tuple[LabelledRows, LabelledRows]:
    """Members and others, drawn at random."""
    order = np.random.default_rng(seed).permutation(len(people))
    return people.take(order[: len(people) // 2]), people.take(order[len(people) // 2 :])


def attack(estimator: Any, people: int = 400, seed: int = 0, **options: Any) -> MembershipReport:
    members, others = split(invent(people, seed), seed)
    model = AttackedModel.of(estimator.fit(members.features, members.labels))
    given: dict[str, Any] = {"random_split": True, "shadows": 6, "random_state": seed, **options}
    return attack_membership(model, members, others, **given)


def test_an_overfitted_forest_is_caught_by_every_attack() -> None:
    found = attack(RandomForestClassifier(20, random_state=0), epsilon="0.5")
    assert found.verdict
    assert all(each.verdict for each in found.attacks.values())
    assert found.strongest.area.rate > 0.8
    assert found.bound is not None
    assert found.bound.chance < CHANCE
    assert found.bound.lower > 1
    assert set(found.attacks) == set(MEMBERSHIP_ATTACKS) - {"label-only"}
    assert "by the strongest of 7 attacks" in found.sentence
    assert "Warning" in found.sentence
    assert found.blind is not None
    assert found.table.num_rows == 8
    assert found.table["verdict"].to_pylist() == [True] * 7 + [None]
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["shadows"] == 6
    assert plain["refuted"] is None


def test_a_nearest_neighbour_is_caught() -> None:
    found = attack(KNeighborsClassifier(1))
    assert found.verdict
    assert found.strongest.chance < CHANCE


def test_a_memorising_network_is_caught_and_its_shadows_are_stacked() -> None:
    members, others = split(invent(300, 2), 2)
    recipe = NetworkRecipe(MLP(6, (64,), 1), Training(epochs=80, batch=32, learning_rate=1e-2, held_out=0.0))
    told: list[tuple[int, int]] = []
    model = recipe.train(members, random_state=1, name="the MLP")
    found = attack_membership(
        model, members, others, random_split=True, shadows=8, random_state=1,
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert found.model == "the MLP"
    assert found.shadows == 8
    assert found.verdict
    assert found.strongest.chance < CHANCE
    assert told[-1] == (8 * 80, 8 * 80)


def test_a_regression_that_remembers_is_caught() -> None:
    found = attack(DecisionTreeRegressor(min_samples_leaf=2, random_state=0), attacks=["loss", "lira", "rmia"])
    assert found.verdict
    assert found.strongest.chance < CHANCE
    assert attack(DecisionTreeRegressor(), attacks=["loss", "label-only"]).skipped == {
        "label-only": "the model tells numbers, not labels"
    }


@pytest.mark.parametrize(
    "private",
    [
        learn.LogisticRegression(epsilon="1", delta="1e-6", classes=2, bounds=(-4, 4), random_state=1),
        learn.GaussianNB(epsilon="1", delta="1e-6", classes=2, bounds=(-4, 4), random_state=1),
        learn.RandomForestClassifier(
            epsilon="1", delta="1e-6", classes=2, bounds=(-4, 4), random_state=1, trees=2, depth=3
        ),
    ],
)
def test_models_with_a_promise_of_epsilon_1_stay_below_it(private: Any) -> None:
    """The bound refutes a promise that holds with probability below `CHANCE`; the forest above is its control."""
    found = attack(private, epsilon="1", delta="1e-6", attacks=["loss", "calibrated", "lira", "rmia"])
    assert found.bound is not None
    assert found.bound.chance > CHANCE
    assert found.bound.lower <= 1
    assert found.strongest.accuracy < 0.731


def test_a_model_that_tells_labels_alone_is_attacked_by_noise() -> None:
    """Nearest neighbours, asked for labels: one remembers everybody; the vote of a hundred is the control."""
    people = invent(600, 3)
    members, others = split(people, 3)

    def ask_labels(neighbours: int) -> MembershipReport:
        nearest = KNeighborsClassifier(neighbours).fit(members.features, members.labels)
        model = AttackedModel(lambda rows: np.eye(2)[nearest.predict(rows)], labels_only=True)
        return attack_membership(model, members, others, random_split=True, random_state=1)

    found = ask_labels(1)
    assert set(found.attacks) == {"loss", "label-only"}
    assert "recipe" in found.skipped["lira"]
    assert found.attacks["label-only"].verdict
    assert found.attacks["label-only"].chance < CHANCE
    assert found.attacks["label-only"].area.rate > found.attacks["loss"].area.rate
    assert ask_labels(100).attacks["label-only"].chance > CHANCE


def test_labels_of_an_estimator_without_probabilities_are_read() -> None:
    found = attack(LinearSVC(), people=120)
    assert "labels alone" in found.skipped["lira"]
    assert "label-only" in found.attacks
    assert "rmia" in found.attacks


@pytest.mark.statistical
@pytest.mark.slow
def test_models_that_know_nobody_are_accused_at_most_as_often_as_stated() -> None:
    """200 splits of people whom the model never met: more accusations than this have a chance below 1e-6.

    The control remembers its members, and is accused every time.
    """
    people, runs = invent(120, 11), 200
    elsewhere = invent(120, 12)
    model = AttackedModel.of(PlainGaussianNB().fit(elsewhere.features, elsewhere.labels))
    shadows = train_shadows(model, people, 4, random_state=1)

    def accuse(seed: int, knows: bool) -> bool | None:
        order = np.random.default_rng(seed).permutation(len(people))
        members, others = people.take(order[:60]), people.take(order[60:])
        told = model
        if knows:
            nearest = KNeighborsClassifier(1).fit(members.features, members.labels)
            told = AttackedModel(nearest.predict_proba, recipe=model.recipe)
        names = ["loss", "calibrated", "lira", "lira-offline", "rmia", "rmia-offline"]
        names += ["shadow"] if seed % 10 == 0 else []
        found = attack_membership(
            told, members, others, random_split=True, shadows=shadows.take(order), attacks=names, random_state=seed
        )
        assert found.refuted is None
        return found.verdict

    assert sum(accuse(seed, False) is True for seed in range(runs)) <= stats.binom.isf(CHANCE, runs, 0.05)
    assert all(accuse(seed, True) for seed in range(5))


def shift(people: LabelledRows, by: float) -> tuple[LabelledRows, LabelledRows]:
    """Members from an earlier time than others: one column went up since then."""
    members, others = split(people, 1)
    moved = others.features.copy()
    moved[:, 5] += by
    return members, LabelledRows(moved, others.labels)


def test_given_groups_get_no_verdict_and_are_shown_beside_the_blind_attack() -> None:
    members, others = shift(invent(400, 13), 1.5)
    model = AttackedModel.of(RandomForestClassifier(20, random_state=0).fit(members.features, members.labels))
    found = attack_membership(model, members, others, random_split=False, shadows=4, epsilon="1", random_state=1)
    assert found.verdict is None
    assert found.bound is None
    assert found.refuted is None
    assert found.blind is not None
    assert found.blind.area.rate > 0.75
    assert "no verdict" in found.sentence
    assert "never sees RandomForestClassifier" in found.sentence
    assert found.table["verdict"].to_pylist() == [None] * found.table.num_rows


def test_a_wrong_claim_of_a_random_split_is_noticed() -> None:
    """The control is the same people drawn at random: a right claim is doubted with probability below 1e-6."""
    members, others = shift(invent(400, 13), 1.5)
    model = AttackedModel.of(PlainLogisticRegression().fit(members.features, members.labels))
    found = attack_membership(model, members, others, random_split=True, attacks=["loss"], random_state=1)
    assert found.refuted is not None
    assert found.refuted <= CHANCE
    assert found.verdict is None
    assert not found.random_split
    assert "does not look so" in found.sentence
    right = attack_membership(model, *shift(invent(400, 13), 0), random_split=True, attacks=["loss"], random_state=1)
    assert right.refuted is None
    assert right.random_split
    assert right.verdict is not None


def test_what_was_trained_once_serves_again_and_the_same_state_gives_the_same() -> None:
    members, others = split(invent(100, 14), 14)
    model = AttackedModel.of(PlainGaussianNB().fit(members.features, members.labels))
    shadows = train_shadows(model, members.join(others), 4, random_state=5)
    first, again = (
        attack_membership(
            model, members, others, random_split=True, shadows=shadows, attacks=["lira", "rmia"], random_state=6
        )
        for _ in range(2)
    )
    assert first == again
    assert first.shadows == 4
    with pytest.raises(DataError, match="other people"):
        attack_membership(model, members, members.join(others), random_split=True, shadows=shadows)


def test_what_cannot_be_attacked_is_refused_or_left_out_with_a_reason() -> None:
    members, others = split(invent(80, 15), 15)
    bare = AttackedModel(lambda rows: np.full((len(rows), 2), 0.5))
    found = attack_membership(bare, members, others, random_split=True)
    assert list(found.attacks) == ["loss"]
    assert len(found.skipped) == len(MEMBERSHIP_ATTACKS) - 1
    model = AttackedModel.of(PlainGaussianNB().fit(members.features, members.labels))
    few = attack_membership(model, members, others, random_split=True, shadows=2, random_state=1)
    assert "at least 4" in few.skipped["lira"]
    assert "rmia" in few.attacks
    with pytest.raises(ParameterError, match="no attack 'magic'"):
        attack_membership(bare, members, others, random_split=True, attacks=["magic"])
    with pytest.raises(ParameterError, match="None of these"):
        attack_membership(bare, members, others, random_split=True, attacks=["lira"])
    with pytest.raises(ParameterError, match="number of shadows"):
        attack_membership(bare, members, others, random_split=True, shadows=-1)
    with pytest.raises(DataError, match="whole numbers"):
        attack_membership(bare, LabelledRows(members.features, members.labels - 0.5), others, random_split=True)
    with pytest.raises(DataError, match="same columns"):
        attack_membership(bare, LabelledRows(members.features[:, :3], members.labels), others, random_split=True)


def test_classes_with_gaps_and_classes_that_a_shadow_never_met_are_read() -> None:
    people = invent(80, 16)
    labels = np.where(people.labels == 1, 3, 1)
    labels[0] = 5
    rows = LabelledRows(people.features, labels)
    model = AttackedModel.of(PlainTree(random_state=0).fit(rows.features, rows.labels))
    assert model.ask(rows.features).shape == (80, 6)
    shadows = train_shadows(model, rows, 4, random_state=1)
    assert shadows.answers.shape == (4, 80, 6)
    np.testing.assert_allclose(shadows.answers.sum(axis=2), 1)
