"""The three topic models as estimators: what they find, that they repeat themselves, go on, are saved and refuse."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from ziggurat.data import Unit
from ziggurat.data.generators import commuters
from ziggurat.errors import DataError, ParameterError
from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.communities import SLDA, STLDA, TLDA
from ziggurat.sequences.mobility.communities import _running as running
from ziggurat.sequences.mobility.communities._bags import Bags
from ziggurat.sequences.mobility.communities._starting import join_groups, start_with_people

_MODELS = (SLDA, TLDA, STLDA)


def _people(seed: int = 0, places: int = 50, **how: float) -> tuple[Trajectories, np.ndarray]:
    """Invented commuters with the community of each."""
    table = commuters(**{"communities": 3, "members": 60, "locations": places, "seed": seed, **how})
    who, hour = table["commuter"].to_numpy(), table["hour"].to_numpy()
    order = np.lexsort((hour, who))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(who))])
    domain = TrajectoryDomain.on(Ground(tuple(range(places))), 60, unit=Unit.person("commuter"))
    visits = Trajectories(
        domain, table["location"].to_numpy()[order], offsets, None, np.arange(len(offsets) - 1), 60 * hour[order]
    )
    return visits, table["community"].to_numpy()[offsets[:-1]]


_VISITS, _TRUTH = _people()


@pytest.fixture(scope="module", params=_MODELS, ids=lambda model: model.__name__)
def fitted(request):
    return request.param(3, iterations=50, chains=2, random_state=1).fit(_VISITS)


def test_distributions_have_their_shapes_and_sum_to_one(fitted) -> None:
    """Places, hours and memberships are chances."""
    wide = 24 if isinstance(fitted, TLDA) else 50
    shapes = {"components_": (3, wide), "memberships_": (180, 3)}
    if not isinstance(fitted, SLDA):
        shapes["hours_"] = (3, 24)
    for name, shape in shapes.items():
        assert getattr(fitted, name).shape == shape
        assert getattr(fitted, name).sum(axis=1) == pytest.approx(1.0)
        assert (getattr(fitted, name) > 0).all()
    assert fitted.owners_.tolist() == list(range(180))


def test_those_who_were_fitted_are_transformed_to_their_memberships(fitted) -> None:
    """Folding in draws nothing, and does not depend on who else is there."""
    np.testing.assert_array_equal(fitted.transform(_VISITS), fitted.memberships_)
    few = _VISITS.take([3, 100])
    np.testing.assert_allclose(fitted.transform(few), fitted.memberships_[[3, 100]])


def test_the_likelihood_rises_and_the_best_chain_is_kept(fitted) -> None:
    """Sampling improves on its start, and of two chains the better one stays."""
    assert fitted.log_likelihood_[-1] > fitted.log_likelihood_[0] - 0.05
    assert fitted.chains_.max() == fitted.held_out_[-1]
    assert len(fitted.chains_) == 2


def test_a_model_is_saved_and_read_again(fitted, tmp_path) -> None:
    """With everything that transforming needs."""
    fitted.save(tmp_path / "model")
    again = type(fitted).load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(_VISITS), fitted.memberships_)
    np.testing.assert_array_equal(again.log_likelihood_, fitted.log_likelihood_)
    other = SLDA if not isinstance(fitted, SLDA) else TLDA
    with pytest.raises(DataError, match=f"is no {other.__name__}"):
        other.load(tmp_path / "model")


@pytest.mark.parametrize("model", _MODELS)
def test_a_seed_gives_the_same_communities_whatever_the_threads(model) -> None:
    """Chains do not share anything that changes."""
    one, two = (model(3, iterations=25, chains=3, workers=each, random_state=5).fit(_VISITS) for each in (1, 3))
    np.testing.assert_array_equal(one.memberships_, two.memberships_)
    np.testing.assert_array_equal(one.components_, two.components_)
    other = model(3, iterations=25, chains=3, random_state=6).fit(_VISITS)
    assert not np.array_equal(one.components_, other.components_)


class _KilledError(Exception):
    pass


@pytest.mark.parametrize("seed", [3, None])
def test_after_an_interruption_it_goes_on_to_the_same_result(tmp_path, seed) -> None:
    """With a seed the result is the one without an interruption; without one, it is one of the same run."""

    def stop(what: str, done: int, of: int) -> None:
        if done == 50:
            raise _KilledError

    settings = {"communities": 3, "iterations": 100, "chains": 2, "tolerance": None, "random_state": seed}
    interrupted = STLDA(**settings, checkpoint=tmp_path / "kept")
    with pytest.raises(_KilledError):
        interrupted.fit(_VISITS, progress=stop)
    told: list[int] = []
    interrupted.fit(_VISITS, progress=lambda what, done, of: told.append(done))
    assert told == [50, 75, 100] or told == [75, 100]
    if seed is not None:
        whole = STLDA(**settings).fit(_VISITS)
        np.testing.assert_array_equal(interrupted.memberships_, whole.memberships_)
        np.testing.assert_array_equal(interrupted.held_out_, whole.held_out_)


def test_a_checkpoint_of_other_visits_or_settings_is_refused(tmp_path) -> None:
    """Nobody goes on from what was learned of others."""
    path = tmp_path / "kept"
    SLDA(3, iterations=25, chains=1, checkpoint=path, random_state=1).fit(_VISITS)
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(DataError, match="of other visits or settings"):
        SLDA(2, iterations=25, chains=1, checkpoint=path, random_state=1).fit(_VISITS)
    with pytest.raises(DataError, match="of other visits or settings"):
        SLDA(3, iterations=25, chains=1, checkpoint=path, random_state=1).fit(_people(1)[0])


def test_a_chain_that_stands_still_ends_early() -> None:
    """By the likelihood of people who were held out; without a tolerance it goes on to the end."""
    told: list[int] = []
    SLDA(3, iterations=1000, chains=1, tolerance=10.0, random_state=1).fit(
        _VISITS, progress=lambda what, done, of: told.append(done)
    )
    assert told[-1] == 5 * running.EVERY
    whole = SLDA(3, iterations=200, chains=1, tolerance=None, held_out=0, random_state=1).fit(_VISITS)
    assert len(whole.log_likelihood_) == 200 // running.EVERY + 1
    assert len(whole.held_out_) == 0


@pytest.mark.parametrize("prior", ["learned", "uneven"])
def test_the_prior_of_people_is_learned(prior) -> None:
    """Commuters have one community each: the prior becomes small."""
    model = SLDA(3, people_prior=prior, places_prior="learned", iterations=100, chains=1, random_state=2).fit(_VISITS)
    assert model.people_prior_.shape == (3,)
    assert model.people_prior_.sum() < 0.9
    assert (len(set(model.people_prior_.tolist())) == 1) is (prior == "learned")
    given = SLDA(3, people_prior=0.5, iterations=25, chains=1, random_state=2).fit(_VISITS)
    assert given.people_prior_.tolist() == [0.5] * 3


def test_hours_are_folded_by_day_or_week() -> None:
    """A week has 168 hours from Monday on."""
    assert TLDA(2, fold="week", iterations=25, chains=1, random_state=1).fit(_VISITS).hours_.shape == (2, 168)
    with pytest.raises(ParameterError, match="'day' or by 'week'"):
        TLDA(2, fold="month").fit(_VISITS)  # type: ignore[arg-type]


def test_all_visits_of_an_owner_are_one_person() -> None:
    """However they are cut into trajectories."""
    cut = _VISITS.by_day()
    settings = {"communities": 3, "iterations": 25, "chains": 1, "random_state": 1}
    np.testing.assert_array_equal(SLDA(**settings).fit(cut).memberships_, SLDA(**settings).fit(_VISITS).memberships_)


def test_what_cannot_be_fitted_is_refused() -> None:
    """In one sentence."""
    domain = TrajectoryDomain.on(Ground(("a",)), 3)
    with pytest.raises(DataError, match="no visit to learn"):
        SLDA().fit(Trajectories.of_visits(domain, [[]]))
    with pytest.raises(ParameterError, match="A prior is"):
        SLDA(people_prior=0.0).fit(_VISITS)
    with pytest.raises(ParameterError, match="A prior is"):
        STLDA(hours_prior="much").fit(_VISITS)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="communities must be a whole number"):
        SLDA(0).fit(_VISITS)
    with pytest.raises(ParameterError, match="held_out is a share"):
        SLDA(held_out=1.0).fit(_VISITS)
    with pytest.raises(ParameterError, match="on other places"):
        SLDA(2, iterations=25, chains=1).fit(_VISITS).transform(Trajectories.of_visits(domain, [[("a", 1)]]))


def _score(found: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """The accuracy under the best naming of communities, and the worst Jaccard similarity."""
    table = np.zeros((found.max() + 1, truth.max() + 1))
    np.add.at(table, (found, truth), 1)
    rows, columns = linear_sum_assignment(-table)
    both = table[rows, columns]
    either = table.sum(axis=1)[rows] + table.sum(axis=0)[columns] - both
    return both.sum() / len(truth), (both / either).min()


@pytest.mark.slow
def test_the_ten_planted_communities_are_found() -> None:
    """The set of the thesis with Zipf parameter 1.1; one chain from random topics merges some of them (seed 4)."""
    visits, truth = _people(4, 10_000, communities=10, members=1_000)
    model = SLDA(random_state=4).fit(visits)
    accuracy, worst = _score(model.memberships_.argmax(axis=1), truth)
    assert accuracy >= 0.985
    assert worst >= 0.95
    assert model.chains_[[0, 2]].max() >= model.chains_[[1, 3]].max() - 0.01


def test_whole_people_are_a_better_start_than_random_topics() -> None:
    """Ten small communities: from people all are found in the first sweeps; by joining groups, not by luck."""
    visits, truth = _people(2, 300, communities=10, members=60)
    bags = SLDA()._bag(visits)
    topics = start_with_people(bags, 10, (0.1, 1.0), np.random.default_rng(1))
    assert (np.diff(topics)[np.diff(bags.people_of_visits) == 0] == 0).all()
    accuracy, _ = _score(topics[bags.offsets[:-1]], truth)
    assert accuracy > 0.9


def test_groups_that_are_one_are_joined() -> None:
    """Of three groups the two with the same places become one."""
    places, groups = (np.repeat(each, times).astype(np.int32) for each, times in (([0, 1, 0, 1], 6), ([0, 1, 2, 1], 3)))
    bags = Bags(np.arange(0, 25, 2), places, np.zeros(0, np.int32), (4, 1))
    assert join_groups(bags, groups, 3, (0.1, 1.0), 2).tolist() == [0] * 3 + [1] * 3 + [0] * 3 + [1] * 3


@pytest.mark.parametrize("seed", [0, 3])
def test_places_and_hours_find_what_places_alone_cannot(seed) -> None:
    """Shifts that share their places: by places alone two of four communities are the same."""
    visits, truth = _people(seed, 100, communities=4, sharing=2)
    alone, both = (
        _score(model(4, random_state=seed).fit(visits).memberships_.argmax(axis=1), truth)[0] for model in (SLDA, STLDA)
    )
    assert both > 0.95
    assert alone < 0.7
