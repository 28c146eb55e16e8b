"""One run with coins: a promise that holds is refuted as rarely as is said, and one that is broken is."""

import json

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from ziggurat import learn
from ziggurat.attacks.audits import audit_in_one_run
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.mechanisms import RandomizedResponse
from ziggurat.randomness import seeded

CANARIES, RUNS = 400, 200
NUMBERS = np.arange(CANARIES)


def _respond(epsilon, seed, canaries=NUMBERS):
    """Every canary's coin leaves by randomised response: epsilon-DP about adding or removing each, and tight."""

    def train(inside):
        held = np.isin(canaries, inside).astype(np.int64)
        return RandomizedResponse(epsilon).release(held, seeded(seed)).value

    return train


def _audit(spent, seed, canaries=NUMBERS, **options):
    given = {"epsilon": 1, "random_state": seed, "name": "a response", **options}
    train = _respond(spent, f"noise {seed}", canaries)
    return audit_in_one_run(train, canaries, lambda made, _canaries: made, **given)


@pytest.mark.statistical
def test_an_honest_trainer_is_refuted_as_rarely_as_is_said():
    most = int(stats.binom.isf(1e-6, RUNS, 0.05))

    def count(claim, runs):
        tried = (_audit(1, seed, NUMBERS[:60], confidence="0.95", epsilon=claim) for seed in range(runs))
        return sum(each.refuted for each in tried)

    assert count(1, RUNS) <= most
    assert count("0.1", 2 * most) > most


def test_a_trainer_that_spends_ten_times_is_refuted():
    found = _audit(10, 1)
    assert found.refuted
    assert found.lower > 3
    with pytest.raises(PrivacyError, match="The promise is false"):
        found.require()
    honest = _audit(1, 1)
    assert honest.require() is honest
    assert json.loads(json.dumps(honest.to_dict()))["claimed"] == "1"


def test_how_many_guesses_are_dared_may_be_said_before():
    found = _audit(1, 2, guesses=50)
    assert found.guesses == 50
    with pytest.raises(ParameterError, match="more guesses than canaries"):
        _audit(1, 2, guesses=CANARIES + 1)


def test_a_delta_is_paid_for():
    assert _audit(3, 4, delta="1e-4", confidence="0.95").lower <= _audit(3, 4, confidence="0.95").lower


@pytest.mark.parametrize("scores", [np.zeros(3), np.full(CANARIES, np.nan)])
def test_every_canary_needs_a_score(scores):
    with pytest.raises(ParameterError, match="score for every canary"):
        audit_in_one_run(lambda _in: None, NUMBERS, lambda _made, _canaries: scores, epsilon=1)


def _count_cells(epsilon, relation):
    """A private histogram, in which every canary has a cell of its own (or a twin in another)."""

    def train(inside):
        cells = {"bins": 2 * CANARIES, "bounds": (-0.5, 2 * CANARIES - 0.5), "expected_rows": CANARIES}
        model = learn.Histogram(epsilon, 0, **cells, relation=relation, random_state=3)
        return model.fit(np.asarray(inside, float)[:, None])

    return train


def _read_cells(made, canaries):
    return made.shares_.ravel()[np.asarray(canaries)]


@pytest.mark.statistical
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_an_estimator_end_to_end(relation):
    twins = NUMBERS + CANARIES if relation == "replace-one" else None
    given = {"epsilon": 1, "twins": twins, "random_state": 5, "confidence": "0.999999"}
    assert not audit_in_one_run(_count_cells(1, relation), NUMBERS, _read_cells, **given).refuted
    assert audit_in_one_run(_count_cells(10, relation), NUMBERS, _read_cells, **given).refuted


def _synthesize(epsilon):
    """AIM as a whole: it chooses, measures, fits and draws; every canary is a row that nobody else has."""
    from ziggurat.data import Categories, Column, Kind, Schema, read
    from ziggurat.synthesize import AIM

    listed = tuple(f"c{at}" for at in range(CANARIES))
    columns = (Column("code", Kind.CATEGORY, categories=Categories(listed)), Column("ill", Kind.BOOLEAN))

    def train(inside):
        rows = pa.table({"code": [listed[at] for at in inside], "ill": [bool(at % 2) for at in inside]})
        made = AIM(epsilon, "1e-6", missing=[], rounds=2, random_state=3).fit(read(rows, Schema(columns)))
        return made.sample(10_000, random_state=4)

    return train


def _find_copies(made, canaries):
    drawn = made.column("code").to_pylist()
    return [drawn.count(f"c{at}") for at in canaries]


@pytest.mark.statistical
def test_a_synthesizer_end_to_end():
    given = {"epsilon": 1, "delta": "1e-6", "random_state": 5}
    assert not audit_in_one_run(_synthesize(1), NUMBERS, _find_copies, **given).refuted
    assert audit_in_one_run(_synthesize(100), NUMBERS, _find_copies, **given).refuted
