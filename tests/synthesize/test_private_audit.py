"""Private synthesis, audited: what a membership attack proves about epsilon stays below the claim.

Two neighbouring tables, the worst that can be, are measured many times by the parts that AIM and MST are made of, or
synthesised by MST as a whole. The attacker sees all that is published and knows both tables, so the log ratio of
likelihoods tells them apart best. A sound mechanism fails with probability 1e-7 each; draws are seeded. The negative
controls spend four times the rho that they state (half the noise; MST, of which there are fewer draws, more), and are
caught.
"""

from fractions import Fraction

import numpy as np
import pytest

from ziggurat.data import Column, Kind, Schema
from ziggurat.mechanisms import empirical_epsilon
from ziggurat.privacy import Neighbours, Relation, ZeroConcentratedEvent, compose
from ziggurat.randomness import seeded
from ziggurat.synthesize import MST
from ziggurat.synthesize.marginals._counts import CountedUnit, ExactCounts, score
from ziggurat.threads import one_thread

pytestmark = pytest.mark.statistical

DELTA = "1e-2"
RHO = Fraction(1, 4)
RELATIONS = pytest.mark.parametrize("relation", list(Relation))


def _claim(rho=RHO):
    return compose(ZeroConcentratedEvent(Neighbours(), rho)).approximate(DELTA).epsilon


def _told_apart(ratios, delta=DELTA):
    ends = np.quantile(np.concatenate(ratios), np.linspace(0.02, 0.98, 25))
    return empirical_epsilon(*(np.digitize(each, ends) for each in ratios), delta=delta, confidence="0.9999999")


def _neighbours(relation, rows):
    """The pair on which counts differ most: all rows of a unit in one cell, and none, or all in another."""
    other = [0, rows] if relation is Relation.REPLACE_ONE else [0, 0]
    return np.array([rows, 0]), np.array(other)


@RELATIONS
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("spent", [1, 4])
def test_counts(relation, rows, spent):
    noise = CountedUnit(Neighbours(relation=relation), rows).noise(RHO * spent)
    pair, source, ratios = _neighbours(relation, rows), seeded("counts"), []
    for counts in pair:
        seen = np.asarray(noise.release(np.tile(counts, (20_000, 1)), source).value)
        ratios.append(((seen - pair[1]) ** 2 - (seen - pair[0]) ** 2).sum(axis=1))
    assert (_told_apart(ratios) > _claim()) == (spent == 4)


@RELATIONS
@pytest.mark.parametrize("spent", [1, 4])
def test_choices(relation, spent):
    """One unit makes the score of one table better and those of all others worse, each by all that it can."""
    unit = CountedUnit(Neighbours(relation=relation))
    choice = unit.choice(RHO * spent)
    moved = unit.l1 * 1024
    source, scores = seeded("choices"), ([moved, 0, 0, 0, 0], [0, moved, moved, moved, moved])
    seen = [np.array([choice.release(np.array(each), source).value for _ in range(6000)]) for each in scores]
    stated = unit.choice(RHO).epsilon
    assert (empirical_epsilon(*seen, confidence="0.9999999") > stated) == (spent == 4)


def test_scores_of_neighbours_differ_by_no_more_than_is_stated():
    draw = np.random.default_rng(2)
    for _ in range(200):
        codes = {name: draw.integers(0, 3, 12) for name in "ab"}
        fewer = {name: each[1:] for name, each in codes.items()}
        moved = {name: np.append(each[1:], draw.integers(0, 3)) for name, each in codes.items()}
        expected = draw.random((3, 3)) * 4
        here, less, other = (
            score(ExactCounts(each, {"a": 3, "b": 3}).by(("a", "b")), expected) for each in (codes, fewer, moved)
        )
        assert abs(here - less) <= CountedUnit(Neighbours()).l1 * 1024
        assert abs(here - other) <= CountedUnit(Neighbours(relation=Relation.REPLACE_ONE)).l1 * 1024


@pytest.mark.parametrize("spent", ["2", "30"])
def test_the_whole_of_mst_on_tables_that_differ_in_one_row(spent):
    """One column, so that all is spent on one table of counts: there the promise is tight."""
    model = MST(spent, DELTA, missing=[])
    terms = model.plan_terms(Schema((Column("ill", Kind.BOOLEAN),)))
    centres, ratios = [np.array([40, 41]), np.array([40, 40])], []
    for rows in centres:
        counts = ExactCounts({"ill": np.repeat([0, 1], rows)}, {"ill": 2})
        with one_thread():
            drawn = [model._measure(counts, terms, None, seeded(seed), str)[0] for seed in range(500)]
        seen = np.array([measured[0].counts for measured in drawn])
        ratios.append(((seen - centres[1]) ** 2 - (seen - centres[0]) ** 2).sum(axis=1))
    assert (_told_apart(ratios) > 2) == (spent == "30")
