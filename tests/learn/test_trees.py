import itertools
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from ziggurat.errors import ParameterError, ZigguratError
from ziggurat.learn import DecisionTreeClassifier, RandomForestClassifier
from ziggurat.learn._clipping import Scale
from ziggurat.learn.counting._base import CountingFacts
from ziggurat.learn.counting._growing import CRITERIA, count_below, public_grid, split_scores
from ziggurat.learn.counting._splits import leaf_counts, leaf_probabilities, leaves_of, random_splits
from ziggurat.mechanisms import Selection, empirical_epsilon
from ziggurat.privacy import Relation
from ziggurat.randomness import permute_and_flip, seeded

CANARY = 987_654_321.125
SURE = "0.9999999"
MODELS = [
    DecisionTreeClassifier(classes=2, bounds=(-1, 1), depth=3),
    DecisionTreeClassifier(classes=2, bounds=(-1, 1), depth=3, criterion="gini"),
    RandomForestClassifier(classes=2, bounds=(-1, 1), depth=5, trees=5),
]


def _rows(n=2000, seed=0):
    """Rows of which two columns tell the class, together."""
    features = np.random.default_rng(seed).uniform(-1, 1, (n, 3))
    return features, ((features[:, 0] > 0.25) & (features[:, 1] > -0.5)).astype(int)


_DECLARED = "The classes are declared, and the check brings others."
_EMPTY = {"check_estimators_empty_data_messages": "A table without a row is a neighbour of one with a row."}
_FAILED = dict.fromkeys(("check_dtype_object", "check_classifiers_classes", "check_classifiers_train"), _DECLARED)
_FAILED |= _EMPTY


@parametrize_with_checks(
    [
        DecisionTreeClassifier(epsilon=10**6, classes=3),
        DecisionTreeClassifier(
            epsilon=10**6, classes=3, criterion="gini", bounds=(-5, 5), relation="add-or-remove-one"
        ),
        RandomForestClassifier(epsilon=10**6, classes=3, trees=5, depth=4),
        RandomForestClassifier(
            epsilon=10**6, classes=3, trees=5, depth=4, delta=0, bounds=(-5, 5), relation="add-or-remove-one"
        ),
    ],
    expected_failed_checks=lambda _: _FAILED,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("criterion", ["majority", "gini"])
def test_without_noise_a_tree_finds_the_splits_that_tell_the_classes_apart(criterion):
    features, labels = _rows()
    made = DecisionTreeClassifier(
        classes=2, epsilon=10**6, depth=2, criterion=criterion, bounds=(-1, 1), random_state=1
    )
    made.fit(features, labels)
    assert made.score(features, labels) == 1
    found = {(int(column), float(at)) for column, at in zip(made.feature_, made.threshold_, strict=True)}
    assert {(0, 0.25), (1, -0.5)} <= found


@pytest.mark.parametrize(
    "model", [*MODELS, DecisionTreeClassifier(classes=2), RandomForestClassifier(classes=2, delta=0)]
)
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_does_what_was_planned_and_uses_its_epsilon(model, relation):
    made = model.fresh().set_params(epsilon="0.3", relation=relation.value, random_state=2)
    assert made.fit(*_rows(300)).event_ == made.planned(300, 3)
    assert Fraction("0.29") < made.guarantee_.epsilon <= Fraction("0.3")
    assert made.guarantee_.neighbours.relation is relation
    assert clone(made).set_params(classes=[0, 1]).planned(300, 3) == made.event_
    assert made.rehearsal_


@pytest.mark.parametrize("model", MODELS)
def test_it_learns_at_a_modest_epsilon(model):
    features, labels = _rows(10_000)
    made = clone(model).set_params(random_state=1).fit(features, labels)
    least = 0.97 if isinstance(model, DecisionTreeClassifier) else 0.85
    assert made.score(features, labels) > least > max(labels.mean(), 1 - labels.mean())
    assert made.predict_proba(features).sum(axis=1) == pytest.approx(1)


def _changes(criterion, rows, codes):
    """How the scores of all splits change when each row of a node is taken away."""
    for row in range(len(rows)):
        kept = np.arange(len(rows)) != row
        both = [
            split_scores(rows[keep], codes[keep], np.zeros(keep.sum(), int), (1, 2, 3), CRITERIA[criterion])
            for keep in (np.ones(len(rows), bool), kept)
        ]
        yield both[0] - both[1]


@pytest.mark.parametrize(("criterion", "least"), [("majority", 0), ("gini", -1)])
def test_an_added_row_changes_no_score_by_more_than_1_and_half_would_be_exceeded(criterion, least):
    seen = set()
    for cells in itertools.combinations_with_replacement(list(itertools.product(range(3), range(3))), 4):
        table = np.array(cells)
        for change in _changes(criterion, table[:, :1], table[:, 1]):
            seen |= set(change.ravel().tolist())
    draw = np.random.default_rng(1)
    for count in (2, 5, 30, 300):
        for change in _changes(criterion, draw.integers(3, size=(count, 2)), draw.integers(3, size=count) // 2):
            seen |= set(change.ravel().tolist())
    assert max(seen) == 1
    assert min(seen) >= least
    plan = DecisionTreeClassifier(classes=2, bounds=(0, 1), criterion=criterion)._plan(CountingFacts(1, 1, 2))
    assert plan.choice.sensitivity == 1
    assert plan.choice.monotone == (min(seen) == 0)


def test_gini_scores_do_fall_so_that_it_must_not_count_as_monotone():
    table = np.array([[0, 0]] * 5 + [[0, 1]])
    assert min(change.min() for change in _changes("gini", table[:, :1], table[:, 1])) == -1


def test_a_replaced_row_that_moves_between_nodes_changes_both_by_1():
    here, there = np.array([[0, 0]]), np.array([[1, 1]])
    code, nodes = np.array([0]), [np.array([0]), np.array([1])]
    before, after = (split_scores(row, code, node, (2, 1, 2)) for row, node in zip((here, there), nodes, strict=True))
    assert (before - after)[0].ravel().tolist() == [1, 1]
    assert (before - after)[1].ravel().tolist() == [-1, -1]


# Two nodes with two splits each: the candidate (cells, class) is in the first or in the second, the worst case for both
# at once. Held are the rows (cells, class, node) that are there anyway.
HELD = {
    "majority": [([1, 0], 1, 0), ([1, 0], 1, 1), ([1, 1], 0, 1)],
    "gini": [([0, 0], 0, 0), ([0, 0], 0, 0), ([0, 0], 0, 1), ([0, 0], 0, 1), ([1, 0], 1, 1)],
}
CANDIDATE = {"majority": ([0, 0], 0), "gini": ([0, 1], 1)}
SCORES = {"majority": [[[2, 1], [1, 2]], [[1, 1], [2, 2]]], "gini": [[[1, 3], [3, 1]], [[2, 2], [2, 2]]]}


# A sound mechanism fails with probability 1e-7; the draws are seeded.
@pytest.mark.statistical
@pytest.mark.parametrize("criterion", list(HELD))
def test_an_audit_of_a_level_stays_below_the_claim_and_catches_nodes_that_forget_the_other(criterion):
    """Each node at all of the level's epsilon, as if a replaced row were not in two of them, is half the noise."""
    scores = []
    for node in (0, 1):
        bins, codes, nodes = (
            np.array(part) for part in zip(*HELD[criterion], (*CANDIDATE[criterion], node), strict=True)
        )
        scores.append(split_scores(bins, codes, nodes, (2, 1, 2), CRITERIA[criterion])[:, :, 0])
    assert [pair.tolist() for pair in scores] == SCORES[criterion]
    given = {"epsilon": 2, "bounds": (0, 1), "depth": 1, "criterion": criterion, "relation": "replace-one"}
    model = DecisionTreeClassifier(classes=2, **given)
    choice = model._plan(CountingFacts(4, 2, 2)).choice
    forgetful = Selection(1, 1, monotone=choice.monotone, neighbours=choice.event.neighbours)

    def chosen(made, scores, source):
        return permute_and_flip(scores.max() - scores, made._rate, size=20_000, source=source)

    def proven(made):
        source = seeded("level")
        seen = [chosen(made, pair[0], source) + 2 * chosen(made, pair[1], source) for pair in scores]
        return empirical_epsilon(*seen, confidence=SURE)

    assert choice.epsilon == Fraction(1, 2)
    assert 0.5 < proven(choice) <= 1
    assert proven(forgetful) > 1


@pytest.mark.parametrize("relation", list(Relation))
def test_a_replaced_row_changes_two_counts_of_leaves_and_two_of_every_tree(relation):
    feature, threshold = random_splits(Scale(np.zeros(2), np.ones(2)), 3, np.random.default_rng(1))
    draw, most = np.random.default_rng(2), 0
    for _ in range(300):
        rows, codes = draw.choice([0, 0.3, 0.7, 1], size=(2, 1, 2)), draw.integers(2, size=(2, 1))
        counts = [
            leaf_counts(leaves_of(row, feature, threshold), code, (8, 2)) for row, code in zip(rows, codes, strict=True)
        ]
        other = counts[1] if relation is Relation.REPLACE_ONE else 0 * counts[1]
        most = max(most, np.abs(counts[0] - other).sum())
    options = {"bounds": (0, 1), "relation": relation.value}
    tree = DecisionTreeClassifier(classes=2, **options).planned(1, 2).events[1]
    forest = RandomForestClassifier(classes=2, trees=7, delta=0, **options).planned(1, 2)
    assert tree.sensitivity / 2 < most == tree.sensitivity
    assert forest.sensitivity == 7 * most


def test_growing_and_predicting_send_rows_the_same_way():
    scale = Scale(np.array([0.1, -7.0]), np.array([0.7, 3.0]))
    grid = public_grid(scale, 6)
    table = np.vstack([grid.T, np.random.default_rng(1).uniform(scale.lower, scale.upper, (50, 2))])
    bins = count_below(table, grid)
    for column, place in itertools.product(range(2), range(6)):
        assert np.array_equal(bins[:, column] > place, table[:, column] > grid[column, place])


def test_random_splits_cut_what_is_left_and_see_no_rows():
    scale = Scale(np.array([0.0]), np.array([1.0]))
    feature, threshold = random_splits(scale, 4, np.random.default_rng(1))
    leaves = leaves_of(np.linspace(0, 1, 5001)[:, None], feature, threshold)
    assert np.array_equal(leaves, np.sort(leaves))
    assert np.unique(leaves).size > 12


def test_where_noise_outweighs_counts_leaves_lean_on_the_node_above():
    counts = np.array([[180, 20], [0, 1], [500, 0], [0, 500]])
    sure, leaning = leaf_probabilities(counts, 1e-9), leaf_probabilities(counts, 20.0)
    assert sure[1].tolist() == pytest.approx([0, 1], abs=1e-6)
    assert leaning[1, 0] > 0.8
    assert leaning[2:, 0] == pytest.approx([1, 0], abs=0.05)


def test_the_depth_of_a_forest_comes_from_public_facts_unless_it_is_stated():
    features, labels = _rows()
    depths = []
    for epsilon, relation in (("0.05", "replace-one"), (1, "replace-one"), (1, "add-or-remove-one")):
        for table in (features, np.zeros_like(features)):
            model = RandomForestClassifier(
                classes=2, bounds=(-1, 1), epsilon=epsilon, relation=relation, random_state=1
            )
            depths.append(int(np.log2(model.fit(table, labels).value_.shape[1])))
    assert depths[::2] == depths[1::2]
    assert depths[0] < 5 < depths[4] == 6 < depths[2]


def test_more_levels_than_thresholds_are_grown_all_the_same():
    made = DecisionTreeClassifier(classes=2, bounds=(-1, 1), thresholds=1, depth=5, random_state=1).fit(*_rows())
    assert made.value_.shape == (32, 2)


@pytest.mark.parametrize(
    ("model", "wrong", "sentence"),
    [
        (MODELS[0], {"epsilon": 0}, "epsilon"),
        (MODELS[0], {"depth": 0}, "depth"),
        (MODELS[0], {"depth": 30}, "depth"),
        (MODELS[0], {"thresholds": 0}, "thresholds"),
        (MODELS[0], {"criterion": "entropy"}, "criterion"),
        (MODELS[0], {"leaf_share": 1}, "leaf_share"),
        (MODELS[0], {"bounds": (1, 0)}, "bounds"),
        (MODELS[0], {"relation": "neither"}, "relation"),
        (MODELS[2], {"delta": 1}, "delta"),
        (MODELS[2], {"trees": 0}, "trees"),
        (MODELS[2], {"depth": 1.5}, "depth"),
        (MODELS[2], {"classes": ["one"]}, "classes"),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(model, wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        clone(model).set_params(**wrong).fit(*_rows(30))


@pytest.mark.parametrize("model", MODELS)
def test_models_are_saved_and_loaded_whole_and_work_in_grids_and_pickles(model, tmp_path):
    features, labels = _rows()
    name = type(model).__name__.lower()
    pipeline = make_pipeline(FunctionTransformer(), clone(model).set_params(classes=["no", "yes"], random_state=1))
    search = GridSearchCV(pipeline, {f"{name}__depth": [2, 3]}, cv=2).fit(features, np.array(["no", "yes"])[labels])
    made = search.best_estimator_[-1]
    made.save(tmp_path / "model.npz")
    for again in (type(model).load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(made))):
        assert np.array_equal(again.predict_proba(features), made.predict_proba(features))
        assert again.event_ == made.event_
        assert again.get_params() == made.get_params()


@pytest.mark.parametrize("model", MODELS)
def test_secure_randomness_is_the_default_and_rehearsals_repeat(model):
    features, labels = _rows()
    first, second = (clone(model).set_params(random_state=5).fit(features, labels) for _ in range(2))
    assert np.array_equal(first.value_, second.value_)
    drawn = [clone(model).fit(features, labels) for _ in range(2)]
    assert not np.array_equal(drawn[0].value_, drawn[1].value_)
    assert drawn[0].origin_ == "secure"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.floats(allow_nan=True, width=64), min_size=2, max_size=2), min_size=2, max_size=6))
def test_any_table_of_floats_is_learned_from_or_refused_in_our_words(rows):
    for model in (
        DecisionTreeClassifier(classes=2, depth=2, random_state=1),
        RandomForestClassifier(classes=2, depth=3, random_state=1),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                made = model.fit(rows, np.arange(len(rows)) % 2)
            except ZigguratError:
                continue
        assert np.isfinite(made.predict_proba(rows)).all()
