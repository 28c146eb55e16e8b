"""What every attack returns, and the intervals of shares."""

import json

import pyarrow as pa
import pytest
from scipy.stats import binomtest

from ziggurat import attacks
from ziggurat.attacks import (
    Difference,
    Share,
    homogeneity,
    intersection,
    linkage,
    risk,
    scoreboard,
    singling_out,
    skewness,
)
from ziggurat.errors import ParameterError

TABLE = pa.table({"age": [20, 20, 30], "sex": ["f", "m", "m"], "ill": ["flu", "flu", "gout"]})
FINDINGS = {
    "risk": lambda: risk(TABLE, ["age", "sex"], sampling_fraction=0.1),
    "singling out": lambda: singling_out(TABLE, ["age", "sex"]),
    "linkage": lambda: linkage(TABLE, TABLE, ["age"], truth="sex", control=TABLE),
    "homogeneity": lambda: homogeneity(TABLE, "ill", ["age"]),
    "skewness": lambda: skewness(TABLE, "ill", ["age"]),
    "intersection": lambda: intersection(TABLE, TABLE, TABLE, on=["age"], sensitive="ill"),
    "scoreboard": lambda: scoreboard([[1, 2], [3, 4]], [[1, 2]], truth=[0]),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_has_facts_a_sentence_and_a_table(name):
    found = FINDINGS[name]()
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["sentence"] == found.sentence
    assert found.sentence.endswith(".")
    assert found.table.num_rows > 0
    with pytest.raises(AttributeError):
        found.rows = 3


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (250, 1000), (1, 1)])
def test_intervals_are_wilsons(hits, trials):
    share, wanted = Share(hits, trials), binomtest(hits, trials).proportion_ci(0.95, method="wilson")
    assert (share.low, share.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_the_difference_of_newcombes_example_has_his_interval():
    found = Difference(Share(56, 70), Share(48, 80))  # Newcombe (1998), table II, example (a): 0.0524 to 0.3339
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)


def test_a_share_of_nothing_says_nothing():
    assert (Share(0, 0).rate, Share(0, 0).low, Share(0, 0).high) == (0, 0, 1)
    for hits, trials in ((2, 1), (-1, 3)):
        with pytest.raises(ParameterError):
            Share(hits, trials)


def test_every_public_name_is_there():
    assert dir(attacks) == sorted(attacks.__all__)
    for name in attacks.__all__:
        assert getattr(attacks, name).__doc__
