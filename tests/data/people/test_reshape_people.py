"""What the row of a person holds, what is publicly known of it, and what is refused."""

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from invented_visits import SCHEMA, open_rows

from ziggurat.data import Role, Schema, read
from ziggurat.data.people import AGGREGATES, PersonAggregate, read_aggregate, reshape_people
from ziggurat.errors import NotPublicError, ParameterError, SchemaError, ZigguratError

DAYS = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
ROWS = [
    ("p1", DAYS[0], "a", 20.0, 100.0, 1, True),
    ("p1", DAYS[1], "b", 21.0, 900.0, 2, False),
    ("p1", None, "b", 99.0, 1.5, 3, None),
    ("p2", DAYS[2], "c", None, 7.0, 11, None),
    (None, DAYS[2], "c", 30.0, 7.0, 5, True),
]


def _first(made: Any, person: str = "p1") -> dict[str, Any]:
    return next(row for row in made.table.raw.rows().to_pylist() if row["patient"] == person)


def test_latest_keeps_every_column_of_the_latest_row_as_it_is() -> None:
    made = reshape_people(open_rows(ROWS), "latest", "day")
    assert tuple(_first(made).values()) == ROWS[1]
    assert tuple(_first(made, "p2").values()) == ROWS[3]
    assert made.schema.names == Schema.from_yaml(SCHEMA).names
    assert made.schema["bmi"].description == "Latest by 'day'."


def test_a_row_without_a_date_comes_last_whichever_row_is_kept() -> None:
    assert _first(reshape_people(open_rows(ROWS), "first", "day"))["ward"] == "a"
    assert _first(reshape_people(open_rows(ROWS[2:]), "first", "day"))["bmi"] == 99.0


def test_a_second_column_decides_between_rows_of_one_day() -> None:
    rows = [("p1", DAYS[0], "c", 1.0, 1.0, hour, None) for hour in (9, 12, 3)]
    assert _first(reshape_people(open_rows(rows), "latest", ["day", "tests"]))["tests"] == 12


def test_the_order_of_the_rows_in_the_table_decides_nothing() -> None:
    rows = [("p1", DAYS[0], ward, bmi, None, None, None) for ward, bmi in (("a", 9.0), ("b", 1.0), ("b", 2.0))]
    for keep, best in (("latest", rows[2]), ("first", rows[0])):
        for turned in (rows, rows[::-1], rows[1:] + rows[:1]):
            assert tuple(_first(reshape_people(open_rows(turned), keep, "day")).values()) == best  # type: ignore[arg-type]


def test_only_the_columns_that_are_named_stay() -> None:
    made = reshape_people(open_rows(ROWS), "latest", "day", columns=["ward"])
    assert made.schema.names == ("patient", "ward")


def test_identifiers_stay_identifiers() -> None:
    schema = SCHEMA.replace(
        "ward: {kind: category, categories: [a, b, c], role: sensitive}", "ward: {kind: text, role: identifier}"
    )
    made = reshape_people(open_rows(ROWS, schema), "latest", "day", {"wards": "distinct(ward)"}, most=5)
    assert made.schema["ward"].role is Role.IDENTIFIER
    assert made.schema["wards"].role is Role.QUASI_IDENTIFIER
    assert pa.Table.from_batches(made.batches()).column("ward").to_pylist() == ["b", "c"]


@pytest.mark.parametrize(
    ("asked", "value", "bounds"),
    [
        ("count()", 2, (1, 2)),
        ("count(bmi)", 2, (0, 2)),
        ("count(ward=b)", 2, (0, 2)),
        ("count(smoker=yes)", 1, (0, 2)),
        ("distinct(ward)", 2, (0, 2)),
        ("sum(cost)", 601.5, (0.0, 1000.0)),
        ("sum(tests)", 6, (0, 20)),
        ("mean(bmi)", 101 / 3, (10.0, 60.0)),
        ("mean(tests)", 2.0, (0.0, 10.0)),
        ("min(bmi)", 20.0, (10.0, 60.0)),
        ("max(bmi)", 60.0, (10.0, 60.0)),
        ("latest(bmi)", 21.0, (10.0, 60.0)),
        ("first(bmi)", 20.0, (10.0, 60.0)),
        ("mode(ward)", "b", None),
        ("any(smoker)", True, None),
        ("all(smoker)", False, None),
    ],
)
def test_an_aggregate_and_its_bounds_follow_from_declared_facts(asked: str, value: Any, bounds: Any) -> None:
    made = reshape_people(open_rows(ROWS), by="day", aggregates={"new": asked}, most=2)
    assert _first(made)["new"] == value
    known = made.schema["new"].bounds
    assert (None if known is None else (known.lower, known.upper)) == bounds
    assert made.table.validate() == []


def test_a_sum_is_cut_at_what_so_many_rows_can_reach() -> None:
    rows = [("p1", None, None, None, 400.0, 9, None)] * 3
    made = reshape_people(open_rows(rows), aggregates={"cost": "sum(cost)", "tests": "sum(tests)"}, most=2)
    assert (_first(made)["cost"], _first(made)["tests"]) == (1000.0, 20)


def test_the_bounds_of_a_sum_hold_one_cell_at_least() -> None:
    schema = {"unit": {"person": "p"}, "columns": {"p": {"kind": "text"}, "x": {"kind": "integer", "bounds": [5, 9]}}}
    table = read(pa.table({"p": ["a", "b", "b"], "x": [5, 9, None]}), schema)
    made = reshape_people(table, aggregates={"s": "sum(x)"}, most=4)
    assert (made.schema["s"].bounds.lower, made.schema["s"].bounds.upper) == (5, 36)  # type: ignore[union-attr]
    assert made.table.raw.rows().column("s").to_pylist() == [5, 9]


def test_nobody_s_cells_are_missing_not_zero() -> None:
    made = reshape_people(
        open_rows(ROWS), by="day", aggregates={"a": "mean(bmi)", "b": "latest(bmi)", "c": "any(smoker)"}
    )
    assert list(_first(made, "p2").values()) == ["p2", None, None, None]


def test_the_schema_is_the_same_whatever_the_rows_are() -> None:
    asked = {name: read_aggregate(f"{name}(tests)") for name in ("sum", "mean", "min", "max", "count", "distinct")}
    one = reshape_people(open_rows(ROWS), "latest", "day", asked, most=7)
    other = reshape_people(open_rows(ROWS[:1] * 50), "latest", "day", asked, most=7)
    assert one.schema == other.schema
    assert one.said == other.said


def test_what_was_learned_stays_learned() -> None:
    schema = SCHEMA.replace(
        "bmi: {kind: real, bounds: [10, 60]}", "bmi: {kind: real, bounds: [10, 60], bounds_from: learned}"
    )
    made = reshape_people(open_rows(ROWS, schema), "latest", "day", {"new": "latest(bmi)"})
    for name in ("bmi", "new"):
        with pytest.raises(NotPublicError):
            made.schema[name].public_bounds()


@pytest.mark.parametrize("what", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize(
    ("declared", "why"),
    [("bmi: {kind: real}", "there are none"), ("bmi: {kind: real, bounds: [1, 2], bounds_from: learned}", "learned")],
)
def test_bounds_that_nobody_declared_are_refused_with_the_remedy(what: str, declared: str, why: str) -> None:
    table = open_rows(ROWS, SCHEMA.replace("bmi: {kind: real, bounds: [10, 60]}", declared))
    with pytest.raises(NotPublicError, match=f"needs public bounds of column 'bmi'.*{why}.*'bounds:"):
        reshape_people(table, aggregates={"new": f"{what}(bmi)"}, most=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "--latest date"),
        ({"keep": "latest"}, "by='visit_date'"),
        ({"keep": "last", "by": "day"}, "did you mean 'latest'"),
        ({"keep": "latest", "by": "ward"}, "by dates or numbers"),
        ({"keep": "latest", "by": "patient"}, "tells people apart"),
        ({"keep": "latest", "by": "dya"}, "did you mean 'day'"),
        ({"aggregates": {"n": "count()"}}, "--most 20"),
        ({"aggregates": {"n": "sum(cost)"}}, "--most 20"),
        ({"aggregates": {"n": "latest(bmi)"}}, "by='visit_date'"),
        ({"aggregates": {"n": "sum(ward)"}, "most": 2}, "integer or real"),
        ({"aggregates": {"n": "any(ward)"}}, "boolean"),
        ({"aggregates": {"n": "sums(cost)"}, "most": 2}, "did you mean 'sum'"),
        ({"aggregates": {"n": "cost"}}, "written like"),
        ({"aggregates": {"n": "count(ward=x)"}, "most": 2}, "no category"),
        ({"aggregates": {"n": "count(tests=x)"}, "most": 2}, "not integer"),
        ({"aggregates": {"patient": "count()"}, "most": 2}, "already"),
        ({"keep": "latest", "by": "day", "aggregates": {"Cost": "sum(cost)"}, "most": 2}, "already"),
        ({"aggregates": {"n": "count()"}, "most": 0}, "at least 1"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ZigguratError, match=said) as refused:
        reshape_people(open_rows(ROWS), **options)
    assert not str(refused.value)[:-1].count("\n")


def test_a_table_of_rows_has_no_people() -> None:
    with pytest.raises(SchemaError, match="--person patient_id"):
        reshape_people(open_rows(ROWS, SCHEMA.replace("{person: patient}", "row")), "latest", "day")


def test_a_sum_of_more_than_64_bits_is_refused() -> None:
    schema = SCHEMA.replace(
        "tests: {kind: integer, bounds: [0, 10]}", f"tests: {{kind: integer, bounds: [0, {2**62}]}}"
    )
    with pytest.raises(SchemaError, match="64 bits"):
        reshape_people(open_rows(ROWS, schema), aggregates={"n": "sum(tests)"}, most=5)


@pytest.mark.parametrize("bounds", [[0, 0], [0, 1e-9], [-1e300, 1e300], [0, 1e15]])
def test_a_sum_of_reals_of_any_size_is_right(bounds: list[float]) -> None:
    schema = {"unit": {"person": "p"}, "columns": {"p": {"kind": "text"}, "x": {"kind": "real", "bounds": bounds}}}
    table = read(pa.table({"p": ["a"] * 3, "x": [bounds[1] / 4] * 3}), schema)
    made = reshape_people(table, aggregates={"s": "sum(x)", "m": "mean(x)"}, most=4)
    (row,) = made.table.raw.rows().to_pylist()
    assert row["s"] == pytest.approx(3 * bounds[1] / 4, rel=1e-12)
    assert row["m"] == pytest.approx(bounds[1] / 4, rel=1e-12)


def test_nothing_that_is_shown_holds_a_cell() -> None:
    rows = [("secret-person", DAYS[0], "a", 20.0, 17.25, 1, True)]
    made = reshape_people(open_rows(rows), "latest", "day", {"n": "sum(cost)"}, most=2)
    shown = repr(made) + " ".join(made.said) + made.schema.to_yaml() + repr(made.table)
    assert not [cell for cell in ("secret", "17.25") if cell in shown]


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_what_is_written_is_read_back_and_for_its_owner_alone(tmp_path: Path, ending: str) -> None:
    made = reshape_people(open_rows(ROWS), "latest", "day", {"n": "count()"}, most=2)
    file, schema = tmp_path / f"patients{ending}", tmp_path / "patients.yaml"
    assert made.write(file, schema) == 2
    assert {oct(each.stat().st_mode & 0o777) for each in (file, schema)} == {"0o600"}
    assert read(file, schema).raw.rows().to_pylist() == made.table.raw.rows().to_pylist()


def test_what_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = reshape_people(open_rows(ROWS), "latest", "day")

    def fail(*_: object) -> None:
        raise ParameterError("stopped")

    monkeypatch.setattr(type(made), "batches", fail)
    with pytest.raises(ParameterError, match="stopped"):
        made.write(tmp_path / "p.parquet", tmp_path / "p.yaml")
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_nobody_has_no_rows() -> None:
    made = reshape_people(open_rows(ROWS[4:]), "latest", "day")
    assert (made.table.raw.count_rows(), made.count_exactly()["rows_of_nobody"]) == (0, 1)


def test_every_aggregate_is_written_as_it_is_shown() -> None:
    for name in AGGREGATES:
        assert str(read_aggregate(f"{name}(cost)")) == f"{name}(cost)"
    assert read_aggregate("count(ward=a=b)") == PersonAggregate("count", "ward", "a=b")
