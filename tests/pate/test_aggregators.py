"""Statistical tests here use seeded draws; under fresh seeds each would err with probability below 1e-6."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.mechanisms import empirical_epsilon
from ziggurat.pate import (
    UNANSWERED,
    Aggregator,
    Ballot,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    ThresholdTest,
    Votes,
)
from ziggurat.pate.voting import ExactCosts
from ziggurat.pate.voting._aggregators import noisy_argmax
from ziggurat.pate.voting._laws import gumbel_law
from ziggurat.privacy import PureEvent, compose
from ziggurat.randomness import seeded, uniform_below

N = 300_000
AGGREGATORS = [GumbelNoisyMax("0.05"), LaplaceNoisyMax("0.05"), GaussianNoisyMax(20)]


def many(row, n=N, **options):
    return Votes(np.tile(row, (n, 1)), **options)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("made", "off"),
    [
        (GumbelNoisyMax("0.05"), GumbelNoisyMax("0.0525")),
        (LaplaceNoisyMax("0.05"), LaplaceNoisyMax("0.0525")),
        (GaussianNoisyMax(20), GaussianNoisyMax(19)),
    ],
    ids=["gumbel", "laplace", "gaussian"],
)
@pytest.mark.parametrize("row", [[90, 60, 40, 10], [80, 20]], ids=["four classes", "two classes"])
def test_labels_follow_the_exact_law_and_noise_5_percent_off_is_rejected(made, off, row):
    labels = made.release(many(row), seeded("law")).labels
    seen = np.bincount(labels, minlength=len(row))
    stated, wrong = (np.exp(each.log_law(np.array([row], dtype=float))[0]) for each in (made, off))
    assert chisquare(seen, stated / stated.sum() * N).pvalue > 1e-6
    assert chisquare(seen, wrong / wrong.sum() * N).pvalue < 1e-6


@pytest.mark.statistical
def test_soft_votes_follow_the_same_law_in_votes():
    row, made = [90.5, 60.25, 49.25], GumbelNoisyMax("0.05")
    labels = made.release(many((np.array(row) * 256).astype(int), parts=256), seeded("soft")).labels
    law = np.exp(gumbel_law(np.array([row]), 0.05)[0])
    assert chisquare(np.bincount(labels, minlength=3), law * N).pvalue > 1e-6


@pytest.mark.statistical
def test_a_threshold_test_passes_as_often_as_its_law_says():
    passed = ThresholdTest(60, 20).draw(many([50, 30]), seeded("test")).sum()
    for sigma, holds in ((20, True), (19, False)):
        law = np.exp(ThresholdTest(60, sigma).log_law(np.array([[50.0, 30.0]]))[0])
        assert bool(chisquare([passed, N - passed], law * N).pvalue > 1e-6) is holds


def audited(made, here, there, delta):
    source = seeded("audit")
    pair = [made.release(many(row, 200_000), source).labels for row in (here, there)]
    return empirical_epsilon(*pair, delta=delta, confidence=1 - 1e-6)


CLOSE = [
    (GumbelNoisyMax("0.25"), GumbelNoisyMax("0.5"), [6, 2, 0], [5, 3, 0], 0),
    (LaplaceNoisyMax("0.25"), LaplaceNoisyMax("0.5"), [7, 1], [6, 2], 0),
    (GaussianNoisyMax(2), GaussianNoisyMax(1), [7, 3], [6, 4], "0.02"),
    (ConfidentGaussianMax(8, 4, 4), ConfidentGaussianMax(8, 2, 2), [6, 4], [5, 5], "0.05"),
]


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("made", "half", "here", "there", "delta"), CLOSE, ids=["gumbel", "laplace", "gaussian", "confident"]
)
def test_a_planted_vote_moves_labels_by_no_more_than_claimed_and_half_the_noise_is_caught(
    made, half, here, there, delta
):
    event = made.planned(Ballot(len(here)), 1)
    claim = float((compose(event).approximate(delta) if delta else compose(event).pure()).epsilon)
    assert 0 < audited(made, here, there, delta) <= claim
    assert audited(half, here, there, delta) > claim


@pytest.mark.parametrize("made", [*AGGREGATORS, ConfidentGaussianMax(60, 10, 20)], ids=repr)
def test_a_seed_repeats_the_labels_and_marks_them_as_a_rehearsal(made):
    votes = many([60, 40, 0], 500)
    first, again = made.release(votes, seeded(1)), made.release(votes, seeded(1))
    assert np.array_equal(first.labels, again.labels)
    assert first.rehearsal
    assert not made.release(votes).rehearsal


def test_the_events_state_what_one_moved_vote_changes():
    four = Ballot(4)
    assert compose(GumbelNoisyMax("0.05").event(four)).zcdp().rho == Fraction(1, 800)
    assert compose(LaplaceNoisyMax("0.05").event(Ballot(2))).zcdp().rho == Fraction(1, 800)
    assert compose(LaplaceNoisyMax("0.05").event(four)).zcdp().rho == Fraction(1, 400)
    for made in AGGREGATORS[:2]:
        assert compose(made.event(four)).pure().epsilon == Fraction(1, 10)
    assert compose(GaussianNoisyMax(20).event(four)).gaussian().mu_squared == pytest.approx(2 / 400, rel=1e-12)
    assert compose(ThresholdTest(5, 20).event(four)).gaussian().mu_squared == Fraction(1, 400)


@pytest.mark.parametrize("made", [*AGGREGATORS, ConfidentGaussianMax(60, 10, 20)], ids=repr)
@pytest.mark.parametrize("classes", [2, 5])
def test_an_organisation_with_five_teachers_pays_the_square(made, classes):
    one = Ballot(classes)
    owner = one.owned_by(Unit.of("clinic", "organisation"), 5)
    rho, group = (compose(made.planned(ballot, 10)).zcdp().rho for ballot in (one, owner))
    assert group == 25 * rho
    assert compose(made.planned(owner, 10)).neighbours.unit.name == "organisation"


@pytest.mark.parametrize("rate", [0.01, 0.3, 2.0])
def test_on_a_lattice_one_step_changes_the_logit_of_two_classes_by_at_most_the_rate(rate):
    """The proof of bounded range rests on this closed form; here it is summed from the noise itself."""
    steps = np.arange(-int(60 / rate), int(60 / rate) + 1)
    noise = np.exp(-rate * np.abs(steps)) * np.tanh(rate / 2)
    apart = np.convolve(noise, noise[::-1])[2 * steps[-1] :]
    behind = np.arange(int(10 / rate) + 2)
    summed = np.array([apart[d + 1 :].sum() + apart[d] / 2 for d in behind])
    closed = np.exp(-rate * behind) * (1 + behind * np.tanh(rate / 2)) / 2
    assert summed == pytest.approx(closed, rel=1e-9)
    assert np.all(np.abs(np.diff(np.log(closed / (1 - closed)))) <= rate * (1 + 1e-12))


def test_soft_votes_with_laplace_noise_keep_the_pure_promise_only():
    event = LaplaceNoisyMax("0.05").event(Ballot(3, whole_votes=False))
    assert compose(event).pure().epsilon == Fraction(1, 10)
    assert compose(event).zcdp().rho == Fraction(1, 200)


def test_only_queries_on_which_teachers_agree_are_answered():
    votes = Votes([[1000, 0], [500, 500], [0, 1000]])
    labels = ConfidentGaussianMax(800, 5, 5).release(votes, seeded(2))
    assert labels.labels.tolist() == [0, UNANSWERED, 1]
    assert labels.answered.tolist() == [True, False, True]
    mu_squared = compose(labels.event).gaussian().mu_squared
    assert mu_squared == pytest.approx(3 / 25 + 2 * 2 / 25, rel=1e-12)


def test_the_charge_depends_on_the_labels_alone():
    made = ConfidentGaussianMax(800, 5, 5)
    events = [made.release(Votes([row, [500, 500]]), seeded(2)).event for row in ([1000, 0], [100, 900])]
    assert events[0] == events[1]


def test_no_more_answers_are_given_than_allowed():
    labels = ConfidentGaussianMax(8, 2, 2).release(many([20, 0], 50), seeded(3), most_answers=7)
    assert labels.answered.sum() == 7
    assert np.all(labels.labels[8:] == UNANSWERED)
    nothing = ConfidentGaussianMax(10_000, 2, 2).release(many([20, 0], 50), seeded(3))
    assert not nothing.answered.any()
    assert compose(nothing.event).gaussian().mu_squared == Fraction(50, 4)


def test_any_aggregator_may_test_first():
    made = GumbelNoisyMax(1, test=ThresholdTest(15, 1))
    labels = made.release(Votes([[20, 0, 0], [7, 7, 6]]), seeded(4))
    assert labels.labels.tolist() == [0, UNANSWERED]


def test_ties_are_broken_evenly():
    winners = noisy_argmax(np.tile([3, 1, 3, 3], (3000, 1)), seeded("ties"))
    seen = np.bincount(winners, minlength=4)
    assert seen[1] == 0
    assert chisquare(seen[[0, 2, 3]]).pvalue > 1e-6


@pytest.mark.parametrize("made", AGGREGATORS, ids=repr)
def test_ties_and_more_classes_than_votes_get_a_label(made):
    labels = made.release(Votes([[1, 1, 0, 0, 0], [2, 0, 0, 0, 0]]), seeded(5)).labels
    assert np.all((labels >= 0) & (labels < 5))


@pytest.mark.parametrize("kind", [GumbelNoisyMax, LaplaceNoisyMax, GaussianNoisyMax])
@pytest.mark.parametrize("bad", [0, -1, None, float("nan"), "x", True, "1e-40"])
def test_impossible_noise_is_refused_at_once(kind, bad):
    with pytest.raises(ParameterError):
        kind(bad)


def test_noise_below_a_quarter_of_a_vote_is_refused():
    for make in (lambda: GaussianNoisyMax("0.2"), lambda: LaplaceNoisyMax(5), lambda: ThresholdTest(1, "0.1")):
        with pytest.raises(ParameterError, match="quarter of a vote"):
            make()


@pytest.mark.parametrize("answers", [11, -1, 2.5])
def test_a_plan_cannot_answer_more_than_is_asked(answers):
    with pytest.raises(ParameterError):
        ConfidentGaussianMax(8, 2, 2).planned(Ballot(2), 10, answers)
    with pytest.raises(ParameterError):
        GumbelNoisyMax(1).planned(Ballot(2), 10, 3)


class Uniform(Aggregator):
    """Ignores the votes: the plug-in interface at its smallest."""

    def event(self, ballot):
        return PureEvent(ballot.neighbours, "1e-9")

    def log_law(self, counts):
        return np.full(counts.shape, -np.log(counts.shape[1]))

    def draw(self, votes, source):
        return uniform_below(votes.classes, size=len(votes), source=source)


def test_another_aggregator_plugs_in_with_an_event_a_law_and_draws():
    votes = Votes([[9, 1, 0], [4, 3, 3]])
    assert set(Uniform().release(many([9, 1, 0], 100), seeded(6)).labels) == {0, 1, 2}
    assert np.all(ExactCosts(Uniform(), votes).each(np.array([2.0])) < 1e-10)
