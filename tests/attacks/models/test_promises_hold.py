"""What leaves with a promise stays below its bound, and the same without one is caught.

Everybody's label is drawn by lot, so that whoever names it right remembers it. A claim counts as refuted if guesses as
good have a chance below 1e-6 where it holds: a sound promise fails a test less often than that, and draws are seeded.
"""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression as ExactRegression
from sklearn.neighbors import KernelDensity as ExactDensity
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ziggurat.attacks.models import (
    AttackedModel,
    LabelledRows,
    attack_membership,
    meet_aggregator,
    meet_served,
    meet_student,
    meet_votes,
)
from ziggurat.errors import ParameterError
from ziggurat.learn import (
    KernelDensity,
    KernelSVM,
    LinearRegression,
    OutputPerturbation,
    PrivateSGDClassifier,
    ServedHistogram,
)
from ziggurat.pate import GumbelNoisyMax, Partition, Student, Teachers, Votes
from ziggurat.privacy import compose
from ziggurat.randomness import seeded

pytestmark = [pytest.mark.statistical, pytest.mark.filterwarnings("ignore:With .*epsilon")]

PEOPLE, CLASSES, COLUMNS = 400, 5, 8
DELTA = "1e-12"  # guesses about 800 people pay for 200 times as much, and more for a split of fixed sizes


def draw_people(rows=2 * PEOPLE, seed=1, columns=COLUMNS):
    draw = np.random.default_rng(seed)
    return LabelledRows(draw.uniform(-1, 1, (rows, columns)), draw.integers(0, CLASSES, rows))


POOL, PUBLIC = draw_people(), draw_people(600, 2)
MEMBERS, OTHERS = POOL.take(np.arange(PEOPLE)), POOL.take(np.arange(PEOPLE, 2 * PEOPLE))


def attack(model, members=MEMBERS, others=OTHERS, epsilon=1, delta=DELTA):
    terms = {"random_split": True, "epsilon": epsilon, "delta": delta, "random_state": 1}
    (found,) = attack_membership(model, members, others, attacks=["loss"], **terms).attacks.values()
    return found


def is_refuted(found):
    return found.bound.chance < 1e-6


def is_told_apart(found):
    return min(found.even.chance, found.surest.chance) < 1e-6


@pytest.fixture(scope="module")
def teachers():
    """Three, so that a vote says much."""
    split = Partition.by_record(PEOPLE, 3, source=seeded("split"))
    made = Teachers(DecisionTreeClassifier(random_state=1), classes=CLASSES)
    return made.fit(MEMBERS.features, MEMBERS.labels, split, source=seeded("fit"))


def test_a_student_that_was_trained_on_the_original_rows_is_caught():
    student = Student(RandomForestClassifier(20), random_state=1).fit(MEMBERS.features, MEMBERS.labels)
    assert is_refuted(attack(meet_student(student)))


def test_a_student_of_noisy_labels_on_public_rows_is_not(teachers):
    votes = Votes.from_labels(teachers.votes(PUBLIC.features), CLASSES)
    labels = GumbelNoisyMax("0.02").release(votes, seeded("labels"))
    claimed = compose(labels.event).approximate(DELTA)
    student = Student(RandomForestClassifier(20), random_state=1).fit(PUBLIC.features, labels)
    found = attack(meet_student(student), epsilon=claimed.epsilon)
    assert not is_refuted(found)
    assert not is_told_apart(found)


def test_a_student_has_no_recipe_because_nobody_else_has_its_labels(teachers):
    student = Student(random_state=1).fit(PUBLIC.features, PUBLIC.labels)
    assert meet_student(student).recipe is None
    assert AttackedModel.of(student).recipe is student


def test_the_raw_votes_of_the_teachers_leak_and_their_noisy_labels_do_not(teachers):
    gamma, asked = "0.001", 2 * PEOPLE
    votes = Votes.from_labels(teachers.votes(POOL.features), CLASSES)
    claimed = compose(GumbelNoisyMax(gamma).planned(votes.ballot, asked)).approximate(DELTA).epsilon
    assert claimed < 1 / 5
    assert is_refuted(attack(meet_votes(teachers), epsilon=claimed))
    noisy = attack(meet_aggregator(teachers, GumbelNoisyMax(gamma), seeded("answers")), epsilon=claimed)
    assert not is_refuted(noisy)
    bare = attack(meet_aggregator(teachers, GumbelNoisyMax(4), seeded("answers")), epsilon=claimed)
    assert is_told_apart(bare)


def test_shares_of_votes_are_told_for_every_row(teachers):
    told = meet_votes(teachers).ask(POOL.features[:7])
    assert told.shape == (7, CLASSES)
    assert told.sum(axis=1) == pytest.approx(1)
    assert told * 3 == pytest.approx(np.rint(told * 3))


def test_a_network_by_private_gradient_descent_stays_below_and_the_same_without_noise_is_caught():
    pytest.importorskip("torch")
    private = PrivateSGDClassifier(
        epsilon=1, delta=DELTA, classes=CLASSES, hidden=(64,), epochs=3, expected_rows=PEOPLE, random_state=1
    ).fit(MEMBERS.features, MEMBERS.labels)
    assert not is_refuted(attack(AttackedModel.of(private)))
    exact = MLPClassifier((64,), activation="tanh", alpha=0, learning_rate_init=0.02, max_iter=400, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        exact.fit(MEMBERS.features, MEMBERS.labels)
    assert is_refuted(attack(AttackedModel.of(exact)))


def drop_labels(rows, columns=3):
    return LabelledRows(rows.features[:, :columns], np.zeros(len(rows), dtype=int))


@pytest.mark.parametrize(
    "private",
    [
        KernelDensity(1, DELTA, bandwidth=0.1, bounds=(-1, 1), features=512, random_state=1),
        ServedHistogram(1, DELTA, bounds=(-1, 1), bins=20, random_state=1),
        OutputPerturbation(
            KernelDensity(bandwidth=0.1, bounds=(-1, 1)), 1, DELTA, questions=POOL.features[:, :3], random_state=1
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_served_density_stays_below(private):
    members, others = drop_labels(MEMBERS), drop_labels(OTHERS)
    assert not is_refuted(attack(meet_served(private.fit(members.features)), members, others))


def test_an_exact_density_is_caught():
    members, others = drop_labels(MEMBERS), drop_labels(OTHERS)
    exact = ExactDensity(bandwidth=0.05).fit(members.features)
    exact.density = lambda rows: np.exp(exact.score_samples(rows))
    assert is_refuted(attack(meet_served(exact), members, others))


def test_a_served_support_vector_machine_stays_below_and_an_exact_one_is_caught():
    private = KernelSVM(
        1, DELTA, classes=CLASSES, C=1.0, bandwidth=0.3, bounds=(-1, 1), features=256, random_state=1
    ).fit(MEMBERS.features, MEMBERS.labels)
    assert not is_refuted(attack(meet_served(private)))
    exact = SVC(C=1000, gamma=1 / (2 * 0.3**2)).fit(MEMBERS.features, MEMBERS.labels)
    assert is_refuted(attack(meet_served(exact)))


def test_a_private_regression_stays_below_and_one_with_a_column_for_everybody_is_caught():
    wide = draw_people(columns=PEOPLE)
    members, others = wide.take(np.arange(PEOPLE)), wide.take(np.arange(PEOPLE, 2 * PEOPLE))
    exact = ExactRegression().fit(members.features, members.labels)
    assert is_refuted(attack(AttackedModel.of(exact), members, others))
    private = LinearRegression(
        epsilon=1, delta=DELTA, bounds=(-1, 1), y_bounds=(0, CLASSES - 1), expected_rows=PEOPLE, random_state=1
    ).fit(MEMBERS.features, MEMBERS.labels.astype(float))
    assert not is_refuted(attack(AttackedModel.of(private)))


def test_decision_values_of_two_classes_say_what_is_decided():
    exact = SVC().fit(MEMBERS.features, MEMBERS.labels > 2)
    told = meet_served(exact).ask(OTHERS.features)
    assert told.sum(axis=1) == pytest.approx(1)
    assert (told.argmax(axis=1) == exact.predict(OTHERS.features)).all()
    assert np.log(told[:, 1] / told[:, 0]) == pytest.approx(exact.decision_function(OTHERS.features))


def test_a_density_is_told_in_its_order_also_below_zero():
    class Noisy:
        def density(self, rows):
            return rows[:, 0]

    asked = np.array([[-3.0], [0.0], [1e-3], [5.0], [1e6]])
    told = meet_served(Noisy()).ask(asked)
    assert (np.diff(told[:, 0]) > 0).all()
    assert told[1, 0] == 0.5


def test_what_tells_nothing_is_refused():
    with pytest.raises(ParameterError, match="densities, decision values or numbers"):
        meet_served(object())
