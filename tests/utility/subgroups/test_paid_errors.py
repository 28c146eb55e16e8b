"""Errors by group for a price: the promise, its price, and an audit that catches half the noise.

A sound mechanism fails the audit with probability 1e-7; draws are seeded.
"""

import numpy as np
import pytest

from ziggurat.errors import DataError, ParameterError
from ziggurat.mechanisms import Laplace, empirical_epsilon
from ziggurat.privacy import Relation
from ziggurat.randomness import seeded
from ziggurat.utility import count_errors_privately
from ziggurat.utility.subgroups._paid import count_cells, make_error_noise

RELATIONS = pytest.mark.parametrize("relation", list(Relation))


def invent(rows=400):
    draw = np.random.default_rng(1)
    truth = draw.integers(0, 2, rows)
    return truth, draw.choice(["a", "b"], rows), np.where(draw.random(rows) < 0.2, 1 - truth, truth)


def count(table, **options):
    return count_errors_privately(*table, ("a", "b"), **{"epsilon": 1, "source": seeded("noise"), **options})


@RELATIONS
def test_it_promises_what_it_costs(relation):
    found = count(invent(), relation=relation)
    assert found.guarantee.epsilon == 1
    assert found.event.neighbours.relation is relation
    assert found.origin == "seeded"


@RELATIONS
def test_one_row_moves_cells_by_no_more_than_is_stated(relation):
    truth, groups, named = invent(60)
    whole = count_cells(truth == named, groups, ("a", "b"))
    for place in range(60):
        fewer = count_cells(np.delete(truth == named, place), np.delete(groups, place), ("a", "b"))
        assert np.abs(whole - fewer).sum() == 1
        for right, group in ((True, "a"), (False, "b"), (True, "elsewhere")):
            other = (truth == named).copy(), groups.astype("<U9")
            other[0][place], other[1][place] = right, group
            assert np.abs(whole - count_cells(*other, ("a", "b"))).sum() <= 2
    assert make_error_noise(1, relation).event.sensitivity == (2 if relation is Relation.REPLACE_ONE else 1)


@pytest.mark.statistical
@RELATIONS
@pytest.mark.parametrize("half", [False, True])
def test_an_audit_catches_half_the_noise_and_nothing_else(relation, half):
    noise = make_error_noise(1, relation)
    if half:
        noise = Laplace(noise.event.sensitivity, noise.scale / 2, values="integers", coordinates=noise.coordinates)
    cells = [np.array([True]), np.array(["a"])], [np.array([False]), np.array(["b"])]
    pair = [count_cells(*each, ("a", "b")) for each in cells]
    pair = pair if relation is Relation.REPLACE_ONE else [pair[0], 0 * pair[0]]
    source, seen = seeded("audit"), []
    for value in pair:
        drawn = np.asarray(noise.release(np.tile(value.ravel(), (20_000, 1)), source).value)
        ratio = (np.abs(drawn - pair[1].ravel()) - np.abs(drawn - pair[0].ravel())).sum(axis=1)
        seen.append(np.sign(ratio).astype(int) + 1)
    assert (empirical_epsilon(*seen, confidence="0.9999999") > 1) == half


@pytest.mark.statistical
def test_the_ends_hold_the_share_of_the_table():
    """All ends hold together in 95 of 100; of 200 fewer than 175 has a chance below 1e-5, and draws are seeded."""
    truth, groups, named = invent()
    exact = [float((truth != named)[groups == each].mean()) for each in ("a", "b")]
    held = 0
    for seed in range(200):
        told = count((truth, groups, named), source=seeded(seed)).table
        ends = zip(told["from"].to_pylist(), exact, told["to"].to_pylist(), strict=True)
        held += all(low <= share <= high for low, share, high in ends)
    assert held >= 175


def test_a_group_without_rows_is_told_with_noise_and_open_ends():
    truth, groups, named = invent()
    found = count_errors_privately(truth, groups, named, ("a", "nobody"), epsilon=1, source=seeded(3))
    told = found.table.to_pylist()[1]
    assert (told["from"], told["to"]) == (0.0, 1.0)


def test_rows_of_other_groups_are_not_counted():
    truth, _, named = invent()
    elsewhere = np.array(["elsewhere"] * len(truth))
    found = count((truth, elsewhere, named), epsilon=50)
    assert np.abs([*found.wrong, *found.right]).max() <= found.reach


def test_what_cannot_be_counted_is_refused():
    truth, groups, named = invent()
    with pytest.raises(ParameterError, match="public list"):
        count_errors_privately(truth, groups, named, ("a", "a"), epsilon=1)
    with pytest.raises(DataError, match="for each of the rows"):
        count((truth, groups, named[:-1]))
