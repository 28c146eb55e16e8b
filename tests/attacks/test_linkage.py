"""The join with a table that has names."""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.attacks import linkage
from ziggurat.data import Hierarchy
from ziggurat.errors import DataError, ParameterError, SchemaError

RELEASED = pa.table(
    {
        "zip": ["CV1*", "CV1*", "CV2*", "CV2*", "*"],
        "age": ["20-29", "30-39", "20-29", "20-29", "*"],
        "illness": ["flu", "gout", "cold", "flu", "gout"],
        "person": ["ann", "bob", "cyd", "dan", "eve"],
    }
)
VOTERS = pa.table(
    {
        "zip": ["CV11", "CV12", "CV21", "CV29", "CV33"],
        "age": [21, 35, 22, 29, 50],
        "person": ["ann", "bob", "cyd", "dan", "eve"],
    }
)


def people(rows, seed, offset=0):
    generator = np.random.default_rng(seed)
    cells = {"age": generator.integers(0, 80, rows), "zip": generator.integers(0, 30, rows)}
    return pa.table({**cells, "person": np.arange(offset, offset + rows)})


def test_the_governor_is_found_and_counted_by_hand():
    found = linkage(RELEASED, VOTERS, ["zip", "age"], truth="person")
    assert (found.claims.hits, found.right.hits, found.wrong.hits) == (2, 2, 0)  # ann and bob
    assert found.found.hits == 4
    assert found.suppressed_rows == 1  # eve's row says nothing
    assert found.expected == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 5)
    assert "2 fit exactly one released row" in found.sentence


def test_a_wrong_claim_is_counted_as_wrong():
    moved = VOTERS.set_column(2, "person", pa.array(["bob", "ann", "cyd", "dan", None]))
    found = linkage(RELEASED, moved, ["zip", "age"], truth="person")
    assert (found.claims.hits, found.right.hits) == (2, 0)
    assert found.wrong.rate == 1


def test_without_the_truth_only_claims_are_counted():
    found = linkage(RELEASED, VOTERS, ["zip", "age"])
    assert (found.right, found.wrong, found.expected, found.control) == (None, None, None, None)
    assert found.table.num_rows == 2


def test_labels_of_a_hierarchy_match_what_is_under_them():
    tree = Hierarchy({age: ("young" if age < 30 else "old", "*") for age in (21, 22, 29, 35, 50)})
    named = RELEASED.set_column(1, "age", pa.array(["young", "old", "young", "young", "*"]))
    blind = linkage(named, VOTERS, ["zip", "age"], truth="person")
    assert blind.silent == ("age",)
    assert "name its hierarchy" in blind.sentence
    seeing = linkage(named, VOTERS, ["zip", "age"], truth="person", hierarchies={"age": tree})
    assert (seeing.claims.hits, seeing.right.hits) == (2, 2)


def test_an_exact_join_agrees_with_pandas():
    table, known = people(2000, 1), people(2000, 1).slice(0, 500)
    found = linkage(table, known, ["age", "zip"], truth="person")
    sizes = table.to_pandas().groupby(["age", "zip"])["person"].transform("size")[:500]
    assert found.claims.hits == found.right.hits == int((sizes == 1).sum())
    assert found.expected == pytest.approx((1 / sizes).mean())


def test_pairwise_tests_agree_with_the_exact_join():
    table = people(600, 2)
    text = table.set_column(0, "age", table["age"].cast(pa.string()))
    local = pa.concat_tables([text.slice(0, 400), text.slice(400).set_column(0, "age", pa.array(["0-79"] * 200))])
    found = linkage(local, table, ["age", "zip"], truth="person")  # a value has two labels: no hash join
    fits = []
    for age, place, who in zip(*(table[name].to_pylist() for name in ("age", "zip", "person")), strict=True):
        rows = [r for r in local.to_pylist() if r["zip"] == place and r["age"] in (str(age), "0-79")]
        fits.append((len(rows), sum(r["person"] == who for r in rows)))
    assert found.claims.hits == sum(rows == 1 for rows, _ in fits)
    assert found.expected == pytest.approx(sum(own / max(rows, 1) for rows, own in fits) / 600)


def test_shuffled_names_are_matched_no_better_than_by_chance():
    table = people(3000, 3)
    shuffled = table.set_column(2, "person", pa.array(np.random.default_rng(4).permutation(3000)))
    assert linkage(table, table, ["age", "zip"], truth="person").right.rate > 0.2
    # The right row is one of 3,000: 20 or more hits of about 860 claims have a probability below 1e-20.
    assert linkage(table, shuffled, ["age", "zip"], truth="person").right.hits < 20


def test_a_control_of_strangers_shows_what_claims_are_worth():
    rare, strangers = people(300, 5), people(300, 6, offset=300)
    assert linkage(rare, rare, ["age", "zip"], control=strangers).excess.low > 0.5
    nothing = linkage(rare, strangers, ["age", "zip"], control=people(300, 7, offset=600))
    assert nothing.excess.low < 0 < nothing.excess.high


def test_in_a_dense_table_fitting_one_row_is_no_sign_of_being_in_it():
    table, strangers = people(3000, 5), people(3000, 6, offset=3000)
    found = linkage(table, table, ["age", "zip"], truth="person", control=strangers)
    assert found.wrong.hits == 0
    assert found.excess.high < 0  # a class of 1.25 people on average holds exactly one stranger more often


@pytest.mark.parametrize(
    ("on", "options", "error"),
    [
        ([], {}, ParameterError),
        (["zpi"], {}, SchemaError),
        (["zip"], {"truth": "zip"}, ParameterError),
        (["zip"], {"truth": "name"}, SchemaError),
        (["illness"], {}, SchemaError),
        (["zip"], {"hierarchies": {"age": Hierarchy({1: ("*",)})}}, ParameterError),
        (["zip"], {"control": VOTERS.slice(0, 0)}, DataError),
    ],
)
def test_bad_input_is_refused(on, options, error):
    with pytest.raises(error):
        linkage(RELEASED, VOTERS, on, **options)
