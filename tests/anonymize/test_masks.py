"""Values made coarser or suppressed, the driver that masks a table, and its records."""

import json
from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.anonymize import (
    PRAM,
    AddNoise,
    Among,
    BottomCode,
    Drop,
    KeyedHash,
    Microaggregate,
    Outside,
    PlainHash,
    RankSwap,
    Rare,
    Redact,
    Round,
    SuppressCells,
    SuppressRows,
    TopCode,
    YearOnly,
    ZipPrefix,
    mask,
    mask_batches,
)
from ziggurat.data import Column, Kind, Role, Schema, read
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import seeded

EVERY = [
    TopCode(3), TopCode(quantile=0.5), TopCode(3, label="more"), BottomCode(3), BottomCode(quantile=0.5), Round(5),
    SuppressCells(Outside(1, 2)), SuppressRows(Outside(1, 2)), SuppressCells(Rare(2)), SuppressRows(Rare(1)),
    PRAM(0.5), PRAM(0.5, invariant=True), RankSwap(10), AddNoise(0.1), AddNoise(sd=2), Redact("x"), Drop(),
]  # fmt: skip


def cells(values, technique, type_=None, **options):
    return mask(pa.table({"x": pa.array(values, type_)}), {"x": technique}, **options).table["x"].to_pylist()


def test_values_beyond_the_bound_move_to_it():
    assert cells([1, 5, 9, None], TopCode(5)) == [1, 5, 5, None]
    assert cells([1, 5, 9, None], BottomCode(4.5)) == [5, 5, 9, None]
    assert cells([1.5, float("inf"), float("nan")], TopCode(2)) == [1.5, 2.0, None]
    assert cells([date(1900, 1, 1), date(2000, 1, 1)], BottomCode(date(1950, 6, 1)))[0] == date(1950, 6, 1)
    assert cells([datetime(1900, 1, 1)], BottomCode(date(1950, 6, 1))) == [datetime(1950, 6, 1)]


def test_a_label_stands_for_what_lies_beyond():
    assert cells([89, 90, 101, None], TopCode(89, label="90+")) == ["89", "90+", "90+", None]


def test_a_quantile_is_read_off_the_data_and_recorded_as_learned():
    masked = mask(pa.table({"x": range(101)}), {"x": TopCode(quantile=0.9)})
    assert max(masked.table["x"].to_pylist()) == 90
    assert masked.records[0].tally.learned == {"bound": 90}
    assert masked.records[0].tally.changed == 10


@given(st.lists(st.integers(-(2**53), 2**53), max_size=20), st.integers(1, 10**6))
@settings(max_examples=50)
def test_rounding_gives_the_nearest_multiple(values, base):
    for value, rounded in zip(values, cells(values, Round(base), pa.int64()), strict=True):
        assert rounded % base == 0
        assert 2 * abs(rounded - value) <= base


def test_rounding_reals_leaves_no_stray_digits():
    assert cells([0.31, 0.25, -0.31, None], Round(0.1)) == [0.3, 0.3, -0.3, None]


def test_rounding_past_the_type_is_refused_without_the_cell():
    with pytest.raises(DataError, match="leaves its type") as caught:
        cells([2**63 - 1], Round(1000))
    assert "9223" not in str(caught.value)
    assert caught.value.__context__ is None


def test_dates_are_cut_to_their_year_and_early_ones_shown_together():
    days = [date(1930, 5, 1), date(1936, 12, 31), date(1937, 1, 1), None]
    assert cells(days, YearOnly()) == [1930, 1936, 1937, None]
    assert cells(days, YearOnly(1936)) == ["1936 or earlier", "1936 or earlier", "1937", None]


def test_zip_codes_keep_three_digits_unless_their_area_is_sparse():
    codes = ["02139", "03601", "90210-1234", " 902101234", "CV1 2AB", "9021", "", None]
    assert cells(codes, ZipPrefix()) == ["021", "000", "902", "902", "000", "000", "000", None]
    assert cells([2139, 21391234, 90210], ZipPrefix()) == ["021", "021", "902"]


def test_cells_are_blanked_and_rows_taken_out_by_rule():
    table = pa.table({"x": ["a", "b", "a", None], "n": [1, 5, 9, 3]})
    assert mask(table, {"x": SuppressCells(Among(["a"]))}).table["x"].to_pylist() == [None, "b", None, None]
    assert mask(table, {"n": SuppressCells(Outside(upper=5))}).table["n"].to_pylist() == [1, 5, None, 3]
    removed = mask(table, {("n",): SuppressRows(Outside(2, 8))})
    assert removed.table["n"].to_pylist() == [5, 3]
    assert removed.records[0].tally.rows_removed == 2


def test_rare_combinations_are_found_over_several_columns():
    table = pa.table({"x": ["a", "a", "a", None, None], "y": [1, 1, 2, 3, 3]})
    kept = mask(table, {("x", "y"): SuppressRows(Rare(2))}).table
    assert kept.to_pylist() == [{"x": "a", "y": 1}] * 2 + [{"x": None, "y": 3}] * 2
    blank = mask(table, {("x", "y"): SuppressCells(Rare(2))}).table.to_pylist()
    assert blank[2] == {"x": None, "y": None}
    assert blank[0] == {"x": "a", "y": 1}


def test_the_record_does_not_name_what_was_suppressed():
    record = mask(pa.table({"x": ["leprosy", "flu"]}), {"x": SuppressCells(Among(["leprosy"]))}).to_dict()
    assert "leprosy" not in json.dumps(record)
    assert record["techniques"][0]["changed"] == 1


@pytest.mark.parametrize("technique", EVERY, ids=lambda each: each.name)
@pytest.mark.parametrize("values", [[], [None], [7], [None, 2, None, 2]], ids=str)
@pytest.mark.parametrize("type_", [pa.int64(), pa.float64()], ids=str)
def test_missing_cells_stay_missing_and_small_tables_pass(technique, values, type_):
    masked = mask(pa.table({"x": pa.array(values, type_), "y": [0] * len(values)}), {"x": technique})
    record = json.loads(json.dumps(masked.to_dict()))["techniques"][0]
    assert record["cells"] == sum(value is not None for value in values) >= record["changed"]
    if masked.table.num_rows == len(values) and "x" in masked.table.column_names:
        shown = masked.table["x"].to_pylist()
        assert all(after is None for before, after in zip(values, shown, strict=True) if before is None)


TYPES = {
    "text": pa.array(["a", None, "bc"]),
    "large": pa.array(["a", None, "bc"], pa.large_string()),
    "dictionary": pa.array(["a", None, "bc"]).dictionary_encode(),
    "truth": pa.array([True, None, False]),
    "small": pa.array([1, None, 3], pa.uint8()),
    "whole": pa.array([2**63 - 1, None, -(2**63)]),
    "real": pa.array([1e308, None, float("nan")]),
    "single": pa.array([1.5, None, float("inf")], pa.float32()),
    "decimal": pa.array([Decimal("1.25"), None, Decimal("-3.00")]),
    "date": pa.array([date(2000, 1, 1), None, date(9999, 1, 1)]),
    "moment": pa.array([datetime(2000, 1, 1), None, datetime(1900, 1, 1)]),
    "zoned": pa.array([datetime(2000, 1, 1), None, datetime(1900, 1, 1)], pa.timestamp("us", "UTC")),
    "time": pa.array([time(1), None, time(2)]),
    "bytes": pa.array([b"\xff", None, b"a"]),
    "list": pa.array([[1], None, []]),
    "nothing": pa.nulls(3),
}


ON_ANY_TYPE = [
    *EVERY, Microaggregate(2), KeyedHash(b"x" * 16), YearOnly(1950), ZipPrefix(), TopCode(date(1950, 1, 1)),
    SuppressCells(Outside(date(1950, 1, 1))), PlainHash(accept_guessing=True),
]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("technique", ON_ANY_TYPE, ids=lambda each: each.name)
def test_any_type_passes_or_is_refused_in_our_own_words(kind, technique):
    table = pa.table({"x": TYPES[kind], "y": [1, 2, 3]})
    try:
        masked = mask(table, {"x": technique})
    except (DataError, ParameterError) as error:
        assert "'x'" in str(error)  # noqa: PT017
        return
    json.dumps(masked.to_dict())
    assert "x" not in masked.table.column_names or masked.table.num_rows < 3 or not masked.table["x"][1].is_valid


def test_techniques_run_in_turn_and_columns_not_named_leave_as_they_are():
    table = pa.table({"income": [12_345, 999_999], "town": ["x", "y"], "name": ["a", "b"]})
    masked = mask(table, {"income": [TopCode(200_000), Round(1000)], "name": Drop()})
    assert masked.table.to_pydict() == {"income": [12_000, 200_000], "town": ["x", "y"]}
    assert masked.untouched == ("town",)
    assert [record.technique for record in masked.records] == ["top-code", "round", "drop"]
    assert not masked.rehearsal


def test_a_table_in_an_engine_is_masked_with_its_identifiers():
    schema = Schema((Column("name", Kind.TEXT, Role.IDENTIFIER), Column("age", Kind.INTEGER)))
    table = read(pa.table({"name": ["Ann", "Bob"], "age": [3, 99]}), schema)
    shown = mask(table, {"name": Redact("-"), "age": TopCode(89)}).table
    assert shown.to_pydict() == {"name": ["-", "-"], "age": [3, 89]}


def test_the_missing_codes_of_a_schema_are_missing():
    schema = Schema((Column("x", Kind.TEXT, missing=("?",)), Column("n", Kind.INTEGER, missing=(-9,))))
    table = read(pa.table({"x": ["a", "?"], "n": [5, -9]}), schema)
    shown = mask(table, {"x": Redact("-"), "n": Round(10)}).table
    assert shown.to_pydict() == {"x": ["-", None], "n": [10, None]}


def test_pandas_frames_pass_and_leave_no_index_behind():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1, 2]}, index=["secret one", "secret two"])
    table = mask(frame, {"x": Round(2)}).table
    assert table.column_names == ["x"]
    assert "secret" not in str(table.schema.metadata)


def test_seeded_randomness_marks_a_rehearsal_and_repeats():
    table = pa.table({"x": [float(i) for i in range(50)]})
    first, again = (mask(table, {"x": AddNoise(0.1)}, source=seeded(7)) for _ in range(2))
    assert first.rehearsal
    assert first.table == again.table
    assert not mask(table, {"x": AddNoise(0.1)}).rehearsal
    assert not mask(table, {"x": Round(10)}, source=seeded(7)).rehearsal


def test_batches_pass_one_at_a_time_and_are_recorded_together():
    table = pa.table({"x": range(1000), "y": ["a", "b"] * 500})
    plan = {"x": [TopCode(500), Round(10), SuppressRows(Outside(upper=400))], "y": PRAM(0.5, categories=("a", "b"))}
    batches = mask_batches(table.to_reader(max_chunksize=100), plan, source=seeded(1))
    with pytest.raises(DataError, match="once every batch"):
        _ = batches.records
    made = pa.Table.from_batches(list(batches), batches.schema)
    assert made["x"].to_pylist() == mask(table, plan).table["x"].to_pylist()
    assert batches.records[0].tally.changed == 499
    assert batches.records[2].tally.rows_removed == 1000 - made.num_rows
    assert batches.rehearsal
    assert batches.to_dict()["rows"] == made.num_rows
    with pytest.raises(DataError, match="already"):
        list(batches)


@pytest.mark.parametrize(
    "technique",
    [TopCode(quantile=0.9), Microaggregate(3), RankSwap(5), PRAM(0.5), AddNoise(0.1), SuppressRows(Rare(5))],
)
def test_a_technique_that_needs_the_whole_table_refuses_batches(technique):
    with pytest.raises(ParameterError, match="must see the whole table"):
        mask_batches(pa.table({"x": [1, 2]}), {"x": technique})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: TopCode(), "either the bound"),
        (lambda: TopCode(3, quantile=0.5), "either the bound"),
        (lambda: TopCode(float("nan")), "finite"),
        (lambda: BottomCode(quantile=1), "between 0 and 1"),
        (lambda: Round(0), "positive"),
        (lambda: Round("3"), "positive"),
        (lambda: Microaggregate(1), "at least 2"),
        (lambda: RankSwap(0), "above 0"),
        (lambda: AddNoise(), "either"),
        (lambda: AddNoise(sd=-1), "positive"),
        (lambda: AddNoise(sd=1, correlated=True), "share"),
        (lambda: PRAM(1.5), "between 0 and 1"),
        (lambda: PRAM(matrix=[[1]]), "categories"),
        (lambda: PRAM(matrix=[[0.5, 0.5], [1, 1]], categories=("a", "b")), "add up to 1"),
        (lambda: PRAM(matrix=[[1, 0]], categories=("a", "b")), "2 of each"),
        (lambda: SuppressCells("x"), "rule"),
        (lambda: Rare(0), "at least 1"),
        (lambda: Outside(), "lower or upper"),
        (lambda: Among([]), "at least one"),
        (lambda: KeyedHash(b"x" * 16, length=4), "8 to 64"),
        (lambda: ZipPrefix(("12",)), "three digits"),
        (lambda: mask(pa.table({"x": [1]}), {}), "at least one column"),
        (lambda: mask(pa.table({"x": [1]}), {"x": "drop"}), "a technique such as"),
        (lambda: mask(pa.table({"x": [1]}), {"x": []}), "a technique such as"),
        (lambda: mask(pa.table({"x": [1]}), {("x", "x"): Drop()}), "each once"),
        (lambda: mask(pa.table({"x": [1]}), {"x": Drop()}, source=7), "source of randomness"),
    ],
)
def test_a_bad_parameter_is_refused_in_one_sentence(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


@pytest.mark.parametrize(
    ("values", "technique", "said"),
    [
        (["a"], TopCode(3), "neither numbers nor dates"),
        (["a"], Round(3), "does not hold numbers"),
        ([1], TopCode(date(2000, 1, 1)), "must be a number"),
        ([date(2000, 1, 1)], TopCode(3), "must be a date"),
        ([1], Round(0.5), "whole base"),
        ([1], YearOnly(), "does not hold dates"),
        ([1.5], ZipPrefix(), "neither text nor whole"),
        (["a"], Microaggregate(2), "table of 1"),
        (["a", "b"], Microaggregate(2), "does not hold numbers"),
        ([[1]], RankSwap(5), "no ranks"),
        (["a", "z"], PRAM(0.5, categories=("a",)), "1 cells of column 'x' hold none"),
        ([1], SuppressCells(Among(["a"])), "not of its type"),
        ([1], SuppressCells(Outside(date(2000, 1, 1))), "must be dates"),
    ],
)
def test_a_column_that_does_not_fit_is_refused_in_one_sentence(values, technique, said):
    with pytest.raises(DataError, match=said):
        cells(values, technique)


def test_an_unknown_column_is_named_with_the_nearest_known_one():
    with pytest.raises(DataError, match="did you mean 'income'"):
        mask(pa.table({"income": [1]}), {"incom": Drop()})


def test_a_column_dropped_cannot_be_masked_afterwards():
    with pytest.raises(DataError, match="no column 'x'"):
        mask(pa.table({"x": [1], "y": [1]}), {"x": [Drop(), Round(1)]})
