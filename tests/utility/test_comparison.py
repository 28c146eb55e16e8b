"""All judges at once, and what every judge returns."""

import json
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ziggurat import utility
from ziggurat.data import Column, Kind, Schema, read
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.randomness import seeded
from ziggurat.utility import compare, correlations, estimates, marginals, pairs, propensity, regression, transfer

JUDGES = {
    "marginals": marginals,
    "pairs": pairs,
    "correlations": correlations,
    "estimates": estimates,
    "propensity": propensity,
    "regression": lambda one, two: regression(one, two, "owner ~ age + sex", kind="logistic"),
    "transfer": lambda one, two: transfer(one, two, "owner", model="linear"),
    "compare": lambda one, two: compare(one, two, target="owner", model="linear", formula="income ~ age"),
}


@pytest.mark.parametrize("name", JUDGES)
def test_a_judgement_has_facts_a_sentence_and_a_table(name, original, copies):
    found = JUDGES[name](original, copies[:2])
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["sentence"] == found.sentence
    assert found.sentence.endswith(".")
    assert found.table.num_rows > 0
    with pytest.raises(AttributeError):
        found.rows = 3


def test_the_public_names_are_there():
    assert {name for name in utility.__all__ if not hasattr(utility, name)} == set()
    with pytest.raises(AttributeError):
        utility.magic  # noqa: B018


def test_a_copy_of_the_original_is_as_good_as_can_be(original):
    found = compare(original, original, combining="as real", source=seeded(1))
    assert found.overall["total variation of columns"] == 0
    assert found.overall["total variation of pairs"] == 0
    assert found.overall["interval overlap"] == pytest.approx(1)
    assert found.overall["pMSE ratio of pairs"] == 0
    assert found.table.column_names[-2:] == ["pMSE ratio of pairs", "interval overlap"]


def test_every_judge_prefers_the_good_copy(original, copies, shifted):
    good = compare(original, copies[0], source=seeded(1)).overall
    bad = compare(original, shifted, source=seeded(1)).overall
    for name in ("total variation of columns", "total variation of pairs", "pMSE ratio of pairs", "pMSE ratio"):
        assert bad[name] > 1.3 * good[name]
    assert bad["normalised KL"] < good["normalised KL"]
    assert bad["interval overlap"] < good["interval overlap"]


def test_a_page_can_be_drawn_from_the_dictionary(original, copies):
    facts = compare(original, copies, source=seeded(1)).to_dict()
    column = facts["marginals"]["columns"][0]["histogram"]
    assert len(column["original"]) == len(column["synthetic"]) == len(column["labels"])
    size = len(facts["pairs"]["columns"])
    for matrix in (facts["pairs"]["total_variation"], facts["correlations"]["original"]):
        assert (len(matrix), len(matrix[0])) == (size, size)


def test_a_seed_gives_the_same_comparison_twice(original, copies):
    first, second = (compare(original, copies[0], rows=500, source=seeded(3)).to_dict() for _ in range(2))
    assert first == second


def test_a_large_table_is_sampled_and_it_says_so(original, copies):
    found = compare(original, copies[0], rows=300, source=seeded(1))
    assert (found.rows, found.looked_at, found.synthetic_rows) == (2000, 300, (2000,))
    assert "sample of 300 rows" in found.sentence


def test_files_frames_and_tables_are_read(original, copies, tmp_path):
    pq.write_table(original, tmp_path / "o.parquet")
    found = marginals(str(tmp_path / "o.parquet"), [copies[0].to_pandas(), read(copies[1])])
    assert found.total_variation.values == marginals(original, copies[:2]).total_variation.values


def test_what_synthesis_returned_is_taken_whole(original, copies):
    from ziggurat.synthesize import Synthetic

    made = Synthetic(tuple(copies), "partially", 2000, True, False, {})
    assert estimates(original, made).combining == "partially"
    one = Synthetic((copies[0],), "partially", 2000, True, False, {})
    assert estimates(original, one).combining == "as real"
    whole = Synthetic(tuple(copies), "fully", 2000, True, False, {})
    assert estimates(original, whole).combining == estimates(original, copies).combining == "simple"


def test_intervals_rest_on_the_rows_that_the_copies_or_their_files_say_were_learned_from(original, tmp_path):
    from ziggurat.synthesize import Synthesizer

    maker = Synthesizer("sample", learn_from=200, random_state=3).fit(original)
    made, written = maker.sample(copies=2), maker.write(tmp_path / "out.parquet", copies=2)
    bare = [table.replace_schema_metadata(None) for table in made.tables]
    found = {what: estimates(original, given).figures[0] for what, given in [("made", made), ("bare", bare)]}
    # 2,000/200 + 1/2; of bare tables 2 is taken for granted: all rows learned from, and draws from the posterior
    assert found["made"].synthetic.error == pytest.approx(found["bare"].synthetic.error * (10.5 / 2) ** 0.5)
    for given in (written, [str(path) for path in written.paths]):
        assert estimates(original, given).figures[0].synthetic.error == pytest.approx(found["made"].synthetic.error)


def test_free_text_is_left_out_with_a_note_unless_it_is_named():
    table = pa.table({"note": [f"text {place}" for place in range(50)], "n": list(range(50))})
    found = compare(table, table)
    assert [each.column for each in found.marginals.columns] == ["n"]
    assert "'note' is left out" in found.sentence
    assert len(marginals(table, table, columns="note").columns) == 1
    with pytest.raises(DataError, match="free text"):
        marginals(table.select(["note"]), table)


@pytest.mark.parametrize(
    ("copy", "error", "words"),
    [
        (pa.table({"other": [1]}), SchemaError, "Synthetic copy 1"),
        (pa.table({"n": [1], "c": ["x"]}), SchemaError, "Synthetic copy 1: The data have no column 'd'"),
        (pa.table({"n": ["secret"], "c": ["x"], "d": [date(2020, 1, 1)]}), DataError, "Synthetic copy 1: 1 cell of"),
        (pa.table({"n": [1], "c": ["x"], "d": [5]}), SchemaError, "Synthetic copy 1: Column 'd'"),
        (read(pa.table({"n": ["x"], "c": ["x"], "d": ["x"]})), SchemaError, "Column 'n' holds categories or text, but"),
        (pa.table({"n": [1], "c": ["x"], "d": [date(2020, 1, 1)]}).slice(0, 0), DataError, "copy 1 has no rows"),
        ([], ParameterError, "at least one"),
    ],
)
def test_a_copy_that_does_not_fit_is_refused_in_a_sentence(copy, error, words):
    original = pa.table({"n": [1, 2], "c": ["x", "y"], "d": [date(2020, 1, 1)] * 2})
    with pytest.raises(error, match=words) as caught:
        compare(original, copy)
    assert "secret" not in str(caught.value)


def test_an_empty_original_and_too_few_rows_are_refused(original):
    with pytest.raises(DataError, match="The original has no rows"):
        compare(original.slice(0, 0), original)
    for rows in (1, True, 0.5):
        with pytest.raises(ParameterError):
            compare(original, original, rows=rows)
    with pytest.raises(ParameterError, match="at least one column"):
        compare(original, original, columns=[])


def test_synthetic_whole_numbers_may_have_decimals():
    found = marginals(pa.table({"n": [1, 2, 3]}), pa.table({"n": [1.5, 2.5, 3.0]}))
    assert found.columns[0].kind == "integer"


def test_odd_columns_do_no_harm():
    schema = Schema(
        (
            Column("one", Kind.INTEGER),
            Column("none", Kind.REAL),
            Column("day", Kind.DATE),
            Column("flag", Kind.BOOLEAN),
            Column("code", Kind.CATEGORY),
            Column("gone", Kind.TEXT),
        )
    )
    draw = np.random.default_rng(1)

    def rows(count):
        return {
            "one": [7] * count,
            "none": pa.array([None] * count, pa.float64()),
            "day": [date(2020, 1, 1 + place % 28) if place % 3 else None for place in range(count)],
            "flag": draw.random(count) < 0.5,
            "code": [f"c{each}" for each in draw.integers(0, 10_000, count)],
            "gone": pa.array([None] * count, pa.string()),
        }

    found = compare(read(pa.table(rows(400)), schema), pa.table(rows(300)), target="flag", model="linear")
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.table.num_rows == 6
    assert found.table.column("total variation").to_pylist()[0] == 0
