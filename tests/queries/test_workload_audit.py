"""The promise of a workload, tested from outside on neighbouring tables; planted bugs must be caught."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine
from ziggurat.mechanisms import Laplace, empirical_epsilon
from ziggurat.queries import Workload
from ziggurat.queries.workloads import _plan as _workload_plan
from ziggurat.queries.workloads import _read as _workload_read
from ziggurat.randomness import seeded

COLUMNS = (Column("who", Kind.INTEGER), Column("x", Kind.INTEGER, bounds=Bounds(0, 7)), Column("b", Kind.BOOLEAN))
ROWS, PEOPLE = Schema(COLUMNS), Schema(COLUMNS, unit=Unit.person("who"))
OTHERS = [(1, 1, True), (1, 5, False), (2, 3, True), (3, 7, False)]


def table_of(schema, extra):
    who, x, b = zip(*OTHERS, *extra, strict=True)
    engine = DuckDBEngine()
    return Table(engine, engine.attach(pa.table({"who": who, "x": x, "b": b})), schema)


def audited(plan, schema, extra, delta=0, salts=10, draws=2000):
    """Lower bound on epsilon from the likelihood ratio of all noisy histograms, of which answers are a function."""
    source = seeded("audit")
    pair = [[plan._count(table_of(schema, rows), seeded(salt))[0] for salt in range(salts)] for rows in (extra, [])]
    near, far = (each[0] for each in pair)
    scores = []
    for each in pair:
        noisy = [plan._noisy([np.stack([one] * draws) for one in counts], source) for counts in each]
        scores.append(np.concatenate([score(plan, tables, near, far) for tables in noisy]))
    return empirical_epsilon(*(np.round(each, 2) for each in scores), delta=delta, confidence=1 - 1e-6)


def score(plan, noisy, near, far):
    """The logarithm of the likelihood ratio of the neighbours, up to a constant, for every draw."""
    total = 0.0
    for mechanism, y, a, b in zip(plan.mechanisms, noisy, near, far, strict=True):
        if isinstance(mechanism, Laplace):
            gain = (abs(y - b) - abs(y - a)) / float(mechanism.scale)
        else:
            gain = y * (a - b) / float(mechanism.sigma) ** 2
        total = total + gain.reshape(len(y), -1).sum(axis=1)
    return total


def planned(schema, **options):
    plan = Workload(schema).marginal("b").prefixes("x").total(weight=20).plan(schema.unit, **options)
    assert len(plan.mechanisms) > 1
    return plan


@pytest.mark.statistical
def test_one_row_never_shows_more_than_epsilon():
    """False alarm at most 1e-6, here and below, were the seeds fresh."""
    assert 0.6 < audited(planned(ROWS, epsilon=1), ROWS, [(9, 3, True)]) <= 1


@pytest.mark.statistical
def test_one_row_never_shows_more_than_gaussian_noise_allows():
    plan = planned(ROWS, epsilon=1, delta="0.01")
    assert 0.3 < audited(plan, ROWS, [(9, 3, True)], delta="0.01") <= 1


@pytest.mark.statistical
def test_a_person_with_many_rows_never_shows_more_than_epsilon():
    plan = planned(PEOPLE, epsilon=1, rows_per_unit=2)
    assert 0.6 < audited(plan, PEOPLE, [(9, 3, True)] * 12) <= 1
    assert audited(plan, PEOPLE, [(9, place % 8, True) for place in range(12)]) <= 1


@pytest.mark.statistical
def test_bounding_removed_is_caught(monkeypatch):
    monkeypatch.setattr(_workload_read, "bound_rows", lambda query, *_args, **_options: query)
    plan = planned(PEOPLE, epsilon=1, rows_per_unit=2)
    assert audited(plan, PEOPLE, [(9, 3, True)] * 12) > 2


@pytest.mark.statistical
def test_a_sensitivity_that_is_half_the_right_one_is_caught(monkeypatch):
    def halved(shares, epsilon, rows, neighbours):
        return [Laplace(rows, rows / (2 * Fraction(share) * epsilon), values="integers", coordinates=rows)
                for share in shares]  # fmt: skip

    monkeypatch.setattr(_workload_plan, "laplace_noise", halved)
    assert audited(planned(ROWS, epsilon=1), ROWS, [(9, 3, True)]) > 1
