"""An attribute named with a model: what it adds to what the population tells, and nothing else, is a finding."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import ziggurat.learn as private
from ziggurat.attacks._guesses import ALARM
from ziggurat.attacks.models import AttackedModel, LabelledRows, infer_attribute
from ziggurat.errors import DataError, ParameterError

SEEDS, MOST = 150, 16  # a verdict that is false with probability 1/40 comes more often with a chance below 1e-6


def people(seed: int, count: int, link: float = 0.0, numbers: bool = False) -> LabelledRows:
    """The last column is the attribute: it follows the first by `link`, and the label follows it."""
    draw = np.random.default_rng(seed)
    rest = draw.normal(size=(count, 3))
    attribute = (draw.random(count) < 1 / (1 + np.exp(-link * rest[:, 0]))).astype(float)
    value = rest[:, 1] + 0.7 * attribute + draw.normal(size=count)
    return LabelledRows(np.column_stack([rest, attribute]), value if numbers else (value > 0.3).astype(int))


def split(seed: int, sizes: tuple[int, int, int], **how: object) -> tuple[LabelledRows, ...]:
    every = people(seed, sum(sizes), **how)  # type: ignore[arg-type]
    ends = np.cumsum((0, *sizes))
    return tuple(every.take(np.arange(ends[i], ends[i + 1])) for i in range(3))


def attack(estimator: object, groups: tuple[LabelledRows, ...], seed: int = 1, **how: object):
    members, others, population = groups
    fitted = estimator.fit(members.features, members.labels)  # type: ignore[attr-defined]
    options = {"random_split": True, "population": population, "baseline": LogisticRegression(), **how}
    return infer_attribute(AttackedModel.of(fitted), members, others, 3, [0, 1], random_state=seed, **options)


def attack_by_heart(learned: LabelledRows, groups: tuple[LabelledRows, ...], seed: int):
    """Attack a model that keeps the rows it learned, whoever they are."""
    members, others, population = groups

    def answer(rows):
        apart = ((rows[:, None] - learned.features[None]) ** 2).sum(axis=2)
        return learned.labels[apart.argmin(axis=1)]

    how = {"random_split": True, "population": population, "baseline": GaussianNB(), "random_state": seed}
    return infer_attribute(AttackedModel(answer, "numbers"), members, others, 3, [0, 1], **how)


def test_a_model_that_learned_the_attribute_by_heart_is_caught():
    found = attack(DecisionTreeRegressor(random_state=0), split(0, (300, 300, 300), numbers=True))
    assert found.verdict is True
    assert found.guesses.attack.rate > 0.9 > 0.7 > found.guesses.naive.rate
    assert "the model adds +" in found.sentence
    assert found.only_attack > found.only_naive


def test_without_a_recipe_it_is_caught_too():
    members, others, population = split(0, (300, 300, 300), numbers=True)
    nearest = KNeighborsRegressor(1).fit(members.features, members.labels)
    found = infer_attribute(
        AttackedModel(nearest.predict, "numbers"), members, others, 3, [0, 1],
        random_split=True, population=population, baseline=GaussianNB(), random_state=1,
    )  # fmt: skip
    assert found.verdict is True
    assert not found.shadow


def test_an_attribute_that_the_population_tells_is_no_finding_however_often_it_is_named():
    found = attack(LogisticRegression(), split(1, (400, 400, 400), link=6.0))
    assert found.guesses.attack.rate > 0.85
    assert found.verdict is False
    assert "no more than chance" in found.sentence


def test_a_model_that_knows_the_population_better_than_the_baseline_is_no_finding():
    """The baseline has 40 people, the model thousands: it names more, but of others as well."""
    members, others, population = split(2, (4000, 600, 40), numbers=False)
    # An attribute that follows from the rest and the label by a rule that 40 people do not show.
    for each in (members, others, population):
        each.features[:, 3] = (np.sin(4 * each.features[:, 2]) > 0).astype(float)
        each.labels[:] = (each.features[:, 3] + (np.abs(each.features[:, 1]) > 1.5)) % 2
    model = KNeighborsClassifier(25).fit(members.features, members.labels)
    found = infer_attribute(
        AttackedModel(model.predict_proba), members.take(np.arange(600)), others, 3, [0, 1],
        random_split=True, population=population, baseline=LogisticRegression(), random_state=1,
    )  # fmt: skip
    assert found.paired_chance <= ALARM  # beside the baseline alone it would be one
    assert found.verdict is False
    assert "knows the population better" in found.sentence


@pytest.mark.statistical
def test_a_model_that_does_not_know_its_members_is_accused_at_most_once_in_forty_times():
    """A model of strangers knows nothing of them; the negative control is one that learned the members by heart."""
    accused = dealt = caught = 0
    for seed in range(SEEDS):
        groups = split(10 + seed, (60, 60, 40), link=1.0, numbers=True)
        strangers = people(10_000 + seed, 60, link=1.0, numbers=True)
        found = attack_by_heart(strangers, groups, seed)
        accused += found.verdict is True
        dealt += found.guesses.chance <= ALARM
        caught += attack_by_heart(groups[0], groups, seed).verdict is True
    assert accused <= dealt <= MOST
    assert caught > SEEDS * 0.9


def test_a_shadow_of_a_private_model_is_no_fit_of_its_family():
    """It is trained on other people, so the promise about the members stays what it was."""
    groups = split(9, (120, 120, 120))
    model = private.LogisticRegression(bounds=(-4, 4), classes=2, random_state=1)
    for whole in (
        model,
        make_pipeline(private.DeclaredScaler((-4, 4)), private.GaussianNB(classes=2, bounds=(-1, 1), random_state=1)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of much noise for so few rows
            found = attack(whole, groups)
        assert found.shadow
        assert (whole if whole is model else whole[-1]).fits_ == 1
        assert found.verdict is False


def test_without_a_random_split_there_is_no_verdict():
    found = attack(DecisionTreeRegressor(random_state=0), split(0, (100, 100, 100), numbers=True), random_split=False)
    assert found.verdict is None
    assert "not drawn at random" in found.sentence


def test_few_people_get_no_verdict():
    found = attack(DecisionTreeRegressor(random_state=0), split(0, (20, 20, 60), numbers=True))
    assert found.verdict is None


def test_half_of_the_others_are_the_population_by_default():
    members, others, _ = split(3, (100, 200, 1))
    model = AttackedModel.of(LogisticRegression().fit(members.features, members.labels))
    found = infer_attribute(model, members, others, 3, [0, 1], random_split=True, random_state=1)
    assert (found.population, found.guesses.control.trials) == (100, 100)
    assert found.baseline in ("the most common value", "a logistic regression", "a forest")


def test_the_same_seed_gives_the_same_finding():
    groups = split(4, (80, 80, 120))
    assert attack(LogisticRegression(), groups, 5) == attack(LogisticRegression(), groups, 5)


def test_a_group_of_indicators_is_one_attribute():
    draw = np.random.default_rng(0)
    kinds = np.eye(3)[draw.integers(3, size=300)]
    rows = LabelledRows(np.column_stack([draw.normal(size=300), kinds]), draw.normal(size=300))
    members, others = rows.take(np.arange(100)), rows.take(np.arange(100, 300))
    model = AttackedModel.of(DecisionTreeRegressor(random_state=0).fit(members.features, members.labels))
    found = infer_attribute(
        model, members, others, [1, 2, 3], np.eye(3), random_split=True, baseline=GaussianNB(), random_state=1
    )
    assert len(found.by_candidate) == 3
    assert sum(each.attack.trials for each in found.by_candidate) == 100
    assert found.verdict is True


def test_a_model_that_names_classes_alone_is_attacked_by_its_errors():
    members, others, population = split(5, (100, 100, 100))
    tree = KNeighborsClassifier(1).fit(members.features, members.labels)
    named = AttackedModel(lambda rows: np.eye(2)[tree.predict(rows)], labels_only=True)
    how = {"random_split": True, "population": population, "baseline": GaussianNB(), "random_state": 1}
    found = infer_attribute(named, members, others, 3, [0, 1], **how)
    assert found.guesses.attack.trials == 100


def test_errors_by_class_and_the_paired_test_are_what_they_say():
    found = attack(DecisionTreeRegressor(random_state=0), split(6, (150, 150, 150), numbers=True))
    assert sum(each.attack.hits for each in found.by_candidate) == found.guesses.attack.hits
    assert sum(each.naive.hits for each in found.by_candidate) == found.guesses.naive.hits
    assert found.guesses.attack.hits - found.guesses.naive.hits == found.only_attack - found.only_naive
    pairs = found.only_attack + found.only_naive
    exact = stats.binomtest(found.only_attack, pairs, alternative="greater").pvalue
    assert found.paired_chance == pytest.approx(exact)


def test_a_finding_is_a_table_and_json():
    found = attack(LogisticRegression(), split(7, (60, 60, 60)))
    assert found.table.num_rows == 10
    assert json.loads(json.dumps(found.to_dict()))["model"] == "LogisticRegression"


@pytest.mark.parametrize(
    ("column", "candidates"), [(4, [0, 1]), (-1, [0, 1]), (3, [0]), (3, [1, 1]), ([3, 3], np.eye(2)), ([], [0, 1])]
)
def test_what_is_no_attribute_is_refused(column, candidates):
    members, others, population = split(8, (40, 40, 40))
    model = AttackedModel.of(LogisticRegression().fit(members.features, members.labels))
    with pytest.raises(ParameterError):
        infer_attribute(model, members, others, column, candidates, random_split=True, population=population)


def test_a_value_that_is_no_candidate_is_refused_and_not_shown():
    members, others, population = split(8, (40, 40, 40))
    model = AttackedModel.of(LogisticRegression().fit(members.features, members.labels))
    with pytest.raises(DataError, match="no candidate") as error:
        infer_attribute(model, members, others, 3, [0, 77], random_split=True, population=population)
    assert "77" not in str(error.value)


def test_too_few_people_for_a_baseline_are_refused():
    members, others, _ = split(8, (40, 40, 1))
    model = AttackedModel.of(LogisticRegression().fit(members.features, members.labels))
    with pytest.raises(DataError, match="baseline"):
        infer_attribute(model, members, others, 3, [0, 1], random_split=True)
