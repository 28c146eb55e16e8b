"""LiRA and RMIA are what their authors wrote, and shadows are drawn whoever the members are."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge as PlainRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from ziggurat.attacks.models import (
    AttackedModel,
    LabelledRows,
    NetworkRecipe,
    RankedArea,
    Shadows,
    compare_normal,
    compare_pairs,
    train_shadows,
)
from ziggurat.attacks.models._compared import choose_offline, score_by_lira, score_by_rmia
from ziggurat.attacks.models._recipes import EstimatorRecipe
from ziggurat.attacks.models._shadows import draw_halves
from ziggurat.errors import DataError, ParameterError
from ziggurat.learn import GaussianNB
from ziggurat.pate.training import MLP, Training


def invent(people: int, seed: int, columns: int = 6) -> LabelledRows:
    """Rows whose label is a third noise, so that there is something to remember."""
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(people, columns))
    clear = features[:, 0] + features[:, 1] > 0
    return LabelledRows(features, np.where(draw.random(people) < 0.3, ~clear, clear).astype(int))


def halve(rows: LabelledRows) -> tuple[LabelledRows, LabelledRows]:
    return rows.take(np.arange(len(rows) // 2)), rows.take(np.arange(len(rows) // 2, len(rows)))


@pytest.fixture(scope="module")
def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a model says about 40 people, and 12 shadows, each trained on half of them."""
    draw = np.random.default_rng(1)
    inside = draw_halves(40, 12, draw)
    return draw.normal(size=40), draw.normal(size=(12, 40)) + inside, inside


@pytest.mark.parametrize("pooled", [True, False])
def test_lira_is_the_ratio_of_two_normal_densities(
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray], pooled: bool
) -> None:
    signal, signals, inside = drawn
    groups = [[[signals[s, i] for s in range(12) if inside[s, i] == side] for i in range(40)] for side in (1, 0)]
    shared = [
        sum(sum((x - np.mean(own)) ** 2 for x in own) for own in group) / sum(len(own) - 1 for own in group)
        for group in groups
    ]
    online, offline = [], []
    for i in range(40):
        laws = []
        for group, common in zip(groups, shared, strict=True):
            spread = math.sqrt((common if pooled else np.var(group[i], ddof=1)) + 1e-12)
            laws.append(stats.norm(np.mean(group[i]), spread))
        online.append(laws[0].logpdf(signal[i]) - laws[1].logpdf(signal[i]))
        offline.append(stats.norm.ppf(laws[1].cdf(signal[i])))
    np.testing.assert_allclose(compare_normal(signal, signals, inside, pooled=pooled), online, atol=1e-10)
    ours = compare_normal(signal, signals, inside, online=False, pooled=pooled)
    np.testing.assert_allclose(ours, offline, atol=1e-10)


@pytest.mark.parametrize("a", [None, 0.3])
def test_rmia_counts_the_people_whom_a_person_beats(
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray], a: float | None
) -> None:
    signal, signals, inside = drawn
    own, others = 1 / (1 + np.exp(-signal)), 1 / (1 + np.exp(-signals))
    usual = []
    for i in range(40):
        without = np.mean([others[s, i] for s in range(12) if not inside[s, i]])
        within = np.mean([others[s, i] for s in range(12) if inside[s, i]])
        usual.append((within + without) / 2 if a is None else ((1 + a) * without + (1 - a)) / 2)
    ratios = [own[i] / usual[i] for i in range(40)]
    plain = [np.mean([ratios[x] / ratios[z] >= 1.1 for z in range(40)]) for x in range(40)]
    np.testing.assert_allclose(compare_pairs(own, others, inside, a=a, gamma=1.1), plain, atol=1e-10)


def test_halves_come_in_pairs_and_put_everybody_in_and_out() -> None:
    inside = draw_halves(11, 7, np.random.default_rng(0))
    assert (inside[0] == ~inside[1]).all()
    assert (inside[4] == ~inside[5]).all()
    assert set(inside.sum(axis=1)) <= {5, 6}
    assert (inside.any(axis=0) & ~inside.all(axis=0)).all()
    with pytest.raises(DataError, match="Everybody"):
        Shadows(np.ones((2, 5), bool), np.zeros((2, 5)))
    with pytest.raises(DataError, match="every person"):
        Shadows(inside, np.zeros((7, 12)))


@pytest.mark.statistical
def test_halves_do_not_depend_on_the_place_of_a_person() -> None:
    """2,000 pairs: every place is in the first half as often as not; a deviation of 5.2 sigma has chance 2e-7."""
    inside = draw_halves(10, 4_000, np.random.default_rng(1))[::2]
    assert np.abs(inside.mean(axis=0) - 0.5).max() < 5.2 * 0.5 / math.sqrt(2_000)


def test_rmia_with_two_references_is_close_to_lira_with_many() -> None:
    """A forest that remembers; by the seed both areas lie within 0.06 of each other."""
    people = invent(500, 4)
    members, _ = halve(people)
    model = AttackedModel.of(RandomForestClassifier(20, random_state=0).fit(members.features, members.labels))
    shadows = train_shadows(model, people, 16, random_state=2)
    many = score_by_lira(model, people, shadows)
    few = score_by_rmia(model, people, shadows.keep(2))
    areas = [RankedArea.of(each[:250], each[250:]).rate for each in (many, few)]
    assert min(areas) > 0.75
    assert abs(areas[0] - areas[1]) < 0.06
    shuffled = compare_pairs(np.random.default_rng(0).random(500), shadows.answers[:2, :, 1], shadows.inside[:2])
    assert RankedArea.of(shuffled[:250], shuffled[250:]).rate < 0.6


def test_a_is_chosen_where_shadows_are_attacked() -> None:
    draw = np.random.default_rng(0)
    inside = draw_halves(60, 6, draw)
    hard = draw.random(60)  # how likely a model makes a label that it was not trained on
    likelihoods = np.where(inside, (1 + hard) / 2, hard) + 0.05 * draw.random((6, 60))
    assert 0 <= choose_offline(likelihoods, inside) <= 1
    assert choose_offline(likelihoods[:2], inside[:2]) == 0.5  # of two, the other does not know everybody


def test_shadows_repeat_by_their_random_state_and_have_states_of_their_own() -> None:
    people = invent(60, 5)
    model = AttackedModel.of(RandomForestClassifier(3, random_state=7).fit(people.features, people.labels))
    first, again, other = (train_shadows(model, people, 4, random_state=state) for state in (1, 1, 2))
    assert (first.inside == again.inside).all()
    assert (first.answers == again.answers).all()
    assert (first.inside != other.inside).any()
    states = {EstimatorRecipe(model.recipe, "classes").fresh(seed).random_state for seed in (3, 4)}
    assert states == {3, 4}


def test_a_shadow_does_not_count_as_a_fit_of_the_attacked_model() -> None:
    """Alone and in a pipeline; clones, the control, share the count."""
    people = invent(60, 6)
    private = GaussianNB(epsilon="1", classes=2, bounds=(-4, 4), random_state=1).fit(people.features, people.labels)
    train_shadows(AttackedModel.of(private), people, 4, random_state=1)
    assert private.fits_ == 1
    line = make_pipeline(MaxAbsScaler(), GaussianNB(epsilon="1", classes=2, bounds=(-4, 4)))
    fresh = EstimatorRecipe(line, "classes").fresh(3)
    assert fresh[-1].random_state == 3
    assert fresh[-1].kin is not line[-1].kin


def test_networks_are_trained_stacked_as_they_are_alone() -> None:
    """Overlapping halves in one program give what each gives by itself, up to rounding; other seeds do not."""
    people = invent(40, 7)
    places = (np.arange(0, 30), np.arange(10, 40), np.arange(5, 35))
    recipe = NetworkRecipe(MLP(6, (8,), 1), Training(epochs=2, batch=8, held_out=0.0), stacked=3)
    stacked = recipe.answer(people, places, (1, 2, 3), None)
    alone = np.concatenate(
        [recipe.answer(people, (own,), (seed,), None) for own, seed in zip(places, (1, 2, 3), strict=False)]
    )
    np.testing.assert_allclose(stacked, alone, atol=1e-5)
    assert np.abs(stacked - recipe.answer(people, places, (4, 5, 6), None)).max() > 1e-2


def test_regressions_have_shadows_too() -> None:
    people = invent(60, 8)
    model = AttackedModel.of(PlainRidge().fit(people.features, people.labels.astype(float)))
    assert train_shadows(model, people, 4, random_state=1).answers.shape == (4, 60)


def test_what_cannot_be_trained_is_refused() -> None:
    people = invent(20, 9)
    with pytest.raises(ParameterError, match="recipe"):
        train_shadows(AttackedModel(lambda rows: rows), people, 4)
    with pytest.raises(ParameterError, match="at least 2"):
        train_shadows(AttackedModel(lambda rows: rows, recipe=RandomForestClassifier()), people, 1)
    with pytest.raises(ParameterError, match="NetworkRecipe"):
        train_shadows(AttackedModel(lambda rows: rows, recipe="forest"), people, 4)
    broken = AttackedModel(lambda rows: rows, recipe=RandomForestClassifier(max_features=99.5))
    with pytest.raises(DataError, match="could not be trained") as caught:
        train_shadows(broken, people, 4)
    assert "99" not in str(caught.value)  # what estimators say may quote cells
