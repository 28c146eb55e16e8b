"""A private topic model: its price, what one person can move, audits, what it finds, and how it is kept."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from ziggurat.data import Unit
from ziggurat.data.generators import commuters
from ziggurat.errors import DataError, ParameterError
from ziggurat.mechanisms import empirical_epsilon
from ziggurat.privacy import ComposedEvent, GaussianEvent, PureEvent, Relation
from ziggurat.randomness import seeded
from ziggurat.sequences._counting_noise import CountingNoise
from ziggurat.sequences.mobility import Box, Ground, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.communities import PrivateSTLDA, describe_communities, draw_communities
from ziggurat.sequences.mobility.communities.private import _learning, _noisy_topics
from ziggurat.sequences.mobility.communities.private._learning import bound_visits
from ziggurat.sequences.mobility.communities.private._person_weights import (
    MOST_VISITS,
    PARTS,
    to_matrix,
    weigh_pairs,
    weigh_places,
)

PERSON = Unit.person("card")
PLACES, HOURS = 12, 24


def on(places=PLACES, unit=PERSON, **given):
    return TrajectoryDomain.on(Ground(tuple(f"p{i}" for i in range(places))), 5000, unit=unit, **given)


def people(visits, domain=None):
    domain = domain or on()
    return Trajectories.of_visits(domain, visits, owners=range(len(visits)))


def invent_visits(count, seed=0, places=PLACES):
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 9, count)
    return [
        [
            (f"p{p}", int(m))
            for p, m in zip(draw.integers(0, places, n), np.sort(draw.integers(0, 1440, n)), strict=True)
        ]
        for n in sizes
    ]


def planted(members, locations=300, seed=1):
    table = commuters(members=members, locations=locations, seed=seed).to_pandas().sort_values(["commuter", "hour"])
    counts = table.groupby("commuter").size().to_numpy()
    domain = TrajectoryDomain.on(Ground(tuple(range(locations))), 50, unit=Unit.person("commuter"))
    offsets = np.concatenate([[0], counts.cumsum()])
    places, minutes = table.location.to_numpy(), table.hour.to_numpy() * 60
    return Trajectories(domain, places, offsets, None, np.arange(len(counts)), minutes), table.community.to_numpy()[
        offsets[:-1]
    ]


# What it costs.


@pytest.mark.parametrize("most_places", [4, 400])
def test_the_parts_without_delta_sum_to_epsilon_exactly(most_places):
    model = PrivateSTLDA("0.7", 0, 2, most_places=most_places, random_state=1)
    event = model.planned(on())
    assert isinstance(event, ComposedEvent)
    assert all(isinstance(each, PureEvent) for each in event.events)
    assert sum(each.epsilon for each in event.events) == Fraction(7, 10)
    assert len(event.events) == (2 if most_places < PLACES else 1)
    assert model.fit(people(invent_visits(40))).event_ == event
    assert model.guarantee_.epsilon == Fraction(7, 10)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-5"), ("0.1", "1e-9"), (8, "0.01")])
def test_the_parts_with_delta_compose_to_epsilon_and_delta(epsilon, delta):
    model = PrivateSTLDA(epsilon, delta, 2, most_places=4, random_state=1).fit(people(invent_visits(40)))
    assert all(isinstance(each, GaussianEvent) for each in model.event_.events)
    assert model.event_ == model.planned(on())
    assert float(Fraction(epsilon)) * (1 - 1e-6) <= float(model.guarantee_.epsilon) <= Fraction(epsilon)
    assert model.event_.neighbours.unit == PERSON
    assert model.event_.neighbours.relation is Relation.ADD_OR_REMOVE_ONE


def test_the_price_is_known_before_and_does_not_depend_on_the_visits():
    model = PrivateSTLDA(1, "1e-6", 2, most_places=4, random_state=1)
    assert {str(model.fit(people(invent_visits(count))).event_) for count in (1, 3, 50)} == {str(model.planned(on()))}


# What one person can move.

NOTORIOUS = {
    "one visit": [(0, 0)],
    "two visits": [(0, 0), (1, 1)],
    "the same twice": [(0, 0)] * 2,
    "one place for ever": [(3, 7)] * MOST_VISITS,
    "everywhere for ever": [(i % PLACES, i % HOURS) for i in range(MOST_VISITS)],
    "one place at every hour": [(5, i % HOURS) for i in range(MOST_VISITS)],
    "mostly at home": [(0, 8)] * 1000 + [(i, i) for i in range(PLACES)],
    "mostly elsewhere": [(-1, 3)] * 500 + [(2, 4)],
    "nowhere": [],
}
SIZES = {"both": (PLACES, HOURS), "places": (PLACES, 0), "hours": (0, HOURS)}


def tables(visits_of_people, sees, square):
    """Both tables of lists of (place, hour)."""
    flat = [visit for mine in visits_of_people for visit in mine]
    places, hours = (np.array([visit[i] for visit in flat], np.int32) for i in (0, 1))
    offsets = np.cumsum([0, *map(len, visits_of_people)])
    known = np.where(places < 0, 0, places).astype(np.int32)
    return (
        weigh_places(known, offsets, PLACES, square),
        weigh_pairs(places, hours, offsets, SIZES[sees], square),
    )


def norm_exceeds(moved, square):
    """Exactly, in whole numbers."""
    told = [int(each) for each in moved]
    return sum(each**2 for each in told) > PARTS**2 if square else sum(map(abs, told)) > PARTS


@pytest.mark.parametrize("square", [False, True], ids=["l1", "l2"])
@pytest.mark.parametrize("sees", SIZES)
def test_one_person_moves_both_tables_by_at_most_the_bound(sees, square):
    draw = np.random.default_rng(1)
    crowd = [[(int(p), int(h)) for p, h in draw.integers(0, PLACES, (int(n), 2))] for n in draw.integers(1, 9, 40)]
    strange = [[(int(p), int(h)) for p, h in draw.integers(-1, PLACES, (int(n), 2))] for n in draw.integers(1, 60, 150)]
    before = tables(crowd, sees, square)
    for one in [*NOTORIOUS.values(), *strange]:
        at = int(draw.integers(0, len(crowd) + 1))
        after = tables([*crowd[:at], one, *crowd[at:]], sees, square)
        for old, new in zip(before, after, strict=True):
            assert not norm_exceeds(new - old, square)


@pytest.mark.parametrize("square", [False, True], ids=["l1", "l2"])
def test_weights_rounded_to_the_nearest_would_break_the_bound(square):
    """The negative control of the test above: rounding is felt."""
    broken = 0
    for one in invent_visits(300, seed=3):
        counts = np.bincount([int(place[1:]) for place, _ in one]).astype(float)
        norm = np.sqrt((counts**2).sum()) if square else counts.sum()
        broken += norm_exceeds(np.rint(counts * PARTS / norm), square)
    assert broken > 10


@pytest.mark.parametrize("square", [False, True], ids=["l1", "l2"])
def test_pairs_are_those_of_different_visits(square):
    """Against a slow count of ordered pairs of visits."""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        visits = [(int(p), int(h)) for p, h in draw.integers(-1, 4, (6, 2)) % [99, HOURS]]
        visits = [(-1 if place > 90 else place, hour) for place, hour in visits]
        expected = np.zeros((PLACES + HOURS, PLACES + HOURS))
        for one, other in permutations(visits, 2):
            for thing, weight in _things(one):
                for second, second_weight in _things(other):
                    expected[thing, second] += weight * second_weight
        told = np.triu(expected)
        norm = np.sqrt((told**2).sum()) if square else told.sum()
        found = to_matrix(tables([visits], "both", square)[1].astype(float), PLACES + HOURS)
        assert np.abs(found - expected * PARTS / norm).max() <= PARTS / 128


def _things(visit):
    place, hour = visit
    return [(PLACES + hour, 1)] if place < 0 else [(place, 2), (PLACES + hour, 1)]


def test_visits_of_a_person_are_bounded_by_lot_whoever_else_there_is():
    one = [("p1", minute) for minute in range(0, 1000, 10)]
    alone = bound_visits(people([one]), 7, "day", seeded(1))
    assert alone.offsets.tolist() == [0, 7]
    kept = {tuple(bound_visits(people([one]), 7, "day", seeded(seed)).second.tolist()) for seed in range(20)}
    assert len(kept) > 1
    both = bound_visits(people([one, one[:3]]), 7, "day", seeded(1))
    assert both.offsets.tolist() == [0, 7, 10]


def test_all_trajectories_of_a_person_count_together():
    domain = on()
    days = Trajectories.of_visits(domain, [[("p1", 10)], [("p2", 20)], [("p1", 1500)]], owners=[0, 1, 0])
    visits = bound_visits(days, 200, "day", seeded(1))
    assert visits.offsets.tolist() == [0, 2, 3]


# Audits: the output of two neighbours, told apart by the best test there is, or by what is described.


def _nothing(patched):
    """As it is."""


def _unbounded(patched):
    def counted(codes, offsets, size, square):
        return np.bincount(codes, minlength=size) * PARTS

    patched.setattr(_learning, "weigh_places", counted)


def _pairs_unbounded(patched):
    def counted(places, hours, offsets, sizes, square):
        table = np.zeros((sizes[0], sizes[0]), np.int64)
        for mine in np.split(places, offsets[1:-1]):
            counts = np.bincount(mine[mine >= 0], minlength=sizes[0])
            table += np.outer(counts, counts) - np.diag(counts)
        return table[np.triu_indices(sizes[0])] * PARTS

    patched.setattr(_learning, "weigh_pairs", counted)


def _without_noise(patched):
    protect = CountingNoise.protect

    def spoilt(noise, counts, bound, source):
        return (counts.astype(float), 1e-3) if len(counts) == PLACES else protect(noise, counts, bound, source)

    patched.setattr(CountingNoise, "protect", spoilt)


def neighbours(places=PLACES - 1):
    """Forty people who know a few places, and the same with one who goes to p11 alone, five hundred times."""
    crowd = invent_visits(40, places=places)
    return people(crowd), people([*crowd, [("p11", i) for i in range(500)]])


def _fit(trajectories, seed, most_places=6):
    return PrivateSTLDA(1, 0, 2, sees="places", most_places=most_places, random_state=seed).fit(trajectories)


def _shown_by_tables(monkeypatch, spoil):
    """A lower bound on epsilon at confidence 1 - 1e-7, by the likelihood ratio of both noisy tables."""
    pair = neighbours()
    with monkeypatch.context() as patched:
        patched.setattr(_noisy_topics, "_TURNS", 1)
        patched.setattr(_noisy_topics, "_STARTS", 1)
        patched.setattr(_learning, "choose_places", lambda weights, *given: np.arange(6, 12, dtype=np.int32))
        spoil(patched)
        exact = [_watch(each, 0, patched, lambda noisy, counts, width: counts) for each in pair]
        ratios = []
        for each in pair:
            seen = [_watch(each, seed, patched, lambda noisy, counts, width: (noisy, width)) for seed in range(400)]
            ratios.append([_ratio(one, exact) for one in seen])
    ends = np.quantile(np.concatenate(ratios), np.linspace(0.05, 0.95, 19))
    return empirical_epsilon(*(np.digitize(each, ends) for each in ratios), confidence=1 - 1e-7)


def _watch(trajectories, seed, monkeypatch, keep):
    protect, seen = CountingNoise.protect, []

    def noted(noise, counts, bound, source):
        noisy, width = protect(noise, counts, bound, source)
        seen.append(keep(noisy, counts, width))
        return noisy, width

    with monkeypatch.context() as patched:
        patched.setattr(CountingNoise, "protect", noted)
        _fit(trajectories, seed)
    return seen


def _ratio(seen, exact):
    told = 0.0
    for (noisy, width), none, one in zip(seen, *exact, strict=True):
        told += float((np.abs(noisy - none) - np.abs(noisy - one)).sum() / width)
    return told


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("spoil", "caught"),
    [(_nothing, False), (_unbounded, True), (_pairs_unbounded, True), (_without_noise, True)],
    ids=["sound", "many visits not bounded", "pairs not bounded", "places without noise"],
)
def test_the_best_attack_on_the_tables_refutes_planted_bugs_alone(monkeypatch, spoil, caught):
    """A false alarm comes up in fewer than one of a million runs, and draws are seeded."""
    assert (_shown_by_tables(monkeypatch, spoil) > 1) is caught


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("spoil", "caught"),
    [(_nothing, False), (_unbounded, True), (_without_noise, True)],
    ids=["sound", "many visits not bounded", "places without noise"],
)
def test_a_rare_place_of_one_person_does_not_show(monkeypatch, spoil, caught):
    """Whether p11 is among what was learned of, for neighbours; false alarms as above."""
    monkeypatch.setattr(_noisy_topics, "_TURNS", 1)
    spoil(monkeypatch)
    shown = [[int("p11" in _fit(each, seed, 9).features_) for seed in range(150)] for each in neighbours(7)]
    assert (empirical_epsilon(*shown, confidence=1 - 1e-7) > 1) is caught


# What it finds, and how it is kept.


@pytest.mark.parametrize("delta", ["1e-5", 0])
def test_planted_communities_are_recovered(delta):
    trajectories, truth = planted(300)
    model = PrivateSTLDA(4, delta, random_state=1).fit(trajectories)
    assert model.components_.shape == (10, 300)
    assert np.allclose(model.components_.sum(axis=1), 1)
    assert np.allclose(model.hours_.sum(axis=1), 1)
    assert model.components_.min() > 0
    found = model.transform(trajectories)
    assert np.allclose(found.sum(axis=1), 1)
    counts = np.zeros((10, 10))
    np.add.at(counts, (truth, found.argmax(axis=1)), 1)
    assert counts.max(axis=1).sum() / len(truth) > 0.93
    assert len(set(counts.argmax(axis=1))) == 10


def test_hours_alone_and_places_alone():
    early, late = [("p0", 420), ("p1", 540)], [("p2", 1200), ("p3", 1320)]
    trajectories = people([early] * 300 + [late] * 200)
    hours = PrivateSTLDA(2, "1e-6", 2, sees="hours", random_state=1).fit(trajectories)
    assert hours.components_.shape == (2, 24)
    assert hours.features_ == ()
    assert {int(each) for each in hours.components_.argsort(axis=1)[0][-2:]} == {7, 9}
    weekly = PrivateSTLDA(2, "1e-6", 2, fold="week", random_state=1).fit(trajectories)
    assert weekly.hours_.shape == (2, 168)
    places = PrivateSTLDA(2, "1e-6", 2, sees="places", random_state=1).fit(trajectories)
    assert places.hours_ is None
    assert places.transform(trajectories).argmax(axis=1).tolist() == [0] * 300 + [1] * 200
    assert places.shares_[0] > places.shares_[1]


def test_regions_are_learned_where_places_are_too_many():
    box = Box(0, 0, 1, 1)
    draw = np.random.default_rng(0)
    ground = Ground.of(range(400), draw.random(400), draw.random(400), box=box)
    west = np.flatnonzero(ground.points[:, 0] < box.width / 2)
    east = np.setdiff1d(np.arange(400), west)
    domain = TrajectoryDomain.on(ground, 50, unit=PERSON, timed=False)
    codes = np.concatenate([draw.choice(side, (300, 6)) for side in (west, east)]).ravel()
    trajectories = Trajectories(domain, codes, np.arange(0, len(codes) + 1, 6), None, np.arange(600))
    model = PrivateSTLDA(1, "1e-6", 2, sees="places", regions=4, random_state=1).fit(trajectories)
    assert len(model.features_) == 16
    assert sorted(model.components_[:, west].sum(axis=1).round(1)) == [0.1, 0.9]
    found = model.transform(trajectories).argmax(axis=1)
    assert abs(found[:300].mean() - found[300:].mean()) == 1


def test_a_model_is_kept_whole(tmp_path):
    model = PrivateSTLDA("0.5", 0, 2, most_places=6, random_state=3).fit(people(invent_visits(60)))
    model.save(tmp_path / "model.npz")
    again = PrivateSTLDA.load(tmp_path / "model.npz")
    assert np.array_equal(again.components_, model.components_)
    assert np.array_equal(again.hours_, model.hours_)
    assert (again.features_, again.guarantee_, again.rehearsal_) == (model.features_, model.guarantee_, True)
    (tmp_path / "model.npz").write_bytes(b"no")
    with pytest.raises(DataError):
        PrivateSTLDA.load(tmp_path / "model.npz")


def test_seeds_repeat_and_secure_randomness_does_not():
    trajectories = people(invent_visits(60))
    one, two = (PrivateSTLDA(1, 0, 2, random_state=3).fit(trajectories) for _ in range(2))
    assert np.array_equal(one.components_, two.components_)
    safe, other = (PrivateSTLDA(1, 0, 2).fit(trajectories) for _ in range(2))
    assert not safe.rehearsal_
    assert not np.array_equal(safe.components_, other.components_)


@pytest.mark.parametrize(
    ("given", "domain"),
    [
        ({"sees": "nothing"}, on()),
        ({"fold": "year"}, on()),
        ({"visits_per_person": MOST_VISITS + 1}, on()),
        ({"most_places": 100_000}, on()),
        ({"communities": 30}, on()),
        ({"membership_prior": 0}, on()),
        ({"regions": "district"}, on()),
        ({"regions": 4}, on()),
        ({}, on(timed=False)),
    ],
)
def test_what_cannot_be_learned_is_refused_before_anything_is_read(given, domain):
    with pytest.raises(ParameterError):
        PrivateSTLDA(**({"communities": 2} | given)).planned(domain)


def test_people_on_another_ground_are_refused():
    model = PrivateSTLDA(1, 0, 2, random_state=1).fit(people(invent_visits(20)))
    with pytest.raises(ParameterError, match="same ground"):
        model.transform(people(invent_visits(3, places=5), on(5)))


# How it is described.


def test_communities_are_described_by_what_is_above_the_noise_alone():
    trajectories, _ = planted(300)
    model = PrivateSTLDA(4, "1e-5", random_state=1).fit(trajectories)
    told = describe_communities(model, 3).to_pandas()
    places = told[told.what == "place"]
    assert places.groupby("community").size().tolist() == [3] * 10
    assert (places.times > 1).all()
    assert places.latitude.isna().all()
    hours = told[told.what == "hour"]
    assert np.allclose(hours.groupby("community").chance.sum(), 1)
    assert "nothing above the noise" not in draw_communities(model)


@pytest.mark.parametrize("delta", ["1e-5", 0])
def test_noise_alone_is_seldom_described(delta):
    """Nobody is there; one of a hundred models names anything, so that more than five of forty come up in 1e-6."""
    nobody = people([])
    told = [describe_communities(PrivateSTLDA(1, delta, 3, random_state=seed).fit(nobody)) for seed in range(40)]
    assert sum("place" in each["what"].to_pylist() for each in told) <= 5
    assert "nothing above the noise" in draw_communities(PrivateSTLDA(1, delta, 3, random_state=0).fit(nobody))


def test_regions_are_described_by_where_their_places_lie():
    ground = Ground.of(["a", "b", "c", "d"], [0, 0, 1, 1], [0, 0.2, 1, 0.8], box=Box(0, 0, 1, 1))
    domain = TrajectoryDomain.on(ground, 50, unit=PERSON)
    visits = [[("a", 60), ("b", 120)]] * 300 + [[("c", 600), ("d", 700)]] * 200
    model = PrivateSTLDA(2, "1e-6", 2, regions=2, random_state=1).fit(people(visits, domain))
    told = describe_communities(model).to_pandas().query("what == 'region'")
    assert told.name.tolist() == ["0", "3"]
    assert told.latitude.round(2).tolist() == [0, 1]
    assert told.longitude.round(2).tolist() == [0.1, 0.9]


def test_hours_alone_are_described_without_places():
    trajectories = people([[("p0", 420), ("p1", 540)]] * 300)
    told = describe_communities(PrivateSTLDA(2, "1e-6", 2, sees="hours", random_state=1).fit(trajectories))
    assert told["what"].unique().to_pylist() == ["hour"]
    assert told.num_rows == 48
