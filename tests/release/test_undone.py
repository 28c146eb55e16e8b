"""A column that leaves as it was and undoes the table stops it until the steward decides about that column by name."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from ziggurat.anonymize import Anonymized, KAnonymity, LDiversity, Loss, anonymize
from ziggurat.attacks import ColumnCounts
from ziggurat.attacks.tables import _classes as coded
from ziggurat.data import Column, Hierarchy, Kind, Role, Schema, Table, read
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.ledger import Ledger
from ziggurat.release import AnonymizedRelease, release_anonymized

ROWS = 400
AGES = Hierarchy({age: (f"{age // 10}0s", "*") for age in range(20, 60)})
FIRST_AGE = Loss({"age": 9})  # so that it is the city that becomes more general
CITIES = Hierarchy({f"city {at}": (f"region {at % 2}", "*") for at in range(10)})


def people(**more: Any) -> pa.Table:
    mixed = [at * 7919 % ROWS for at in range(ROWS)]
    cells = {
        "person": [f"id-{at}" for at in range(ROWS)],
        "age": [20 + each % 40 for each in mixed],
        "city": [f"city {each // 40}" for each in mixed],
        "illness": [("flu", "gout", "cold")[at % 3] for at in range(ROWS)],
    }
    return pa.table({**cells, **more})


def described(**more: Column) -> Schema:
    columns = (
        Column("person", Kind.TEXT, Role.IDENTIFIER),
        Column("age", Kind.INTEGER, Role.QUASI_IDENTIFIER, hierarchy=AGES),
        Column("city", Kind.TEXT, Role.QUASI_IDENTIFIER, hierarchy=CITIES),
        Column("illness", Kind.TEXT, Role.SENSITIVE),
    )
    return Schema((*columns, *more.values()))


def made(name: str, cells: Any, column: Column, **options: Any) -> Anonymized:
    table = read(people(**{name: cells}), described(**{name: column}))
    return anonymize(table, [KAnonymity(5), LDiversity("illness", 2)], **options)


def released(found: Anonymized, folder: Path, **options: Any) -> AnonymizedRelease:
    return release_anonymized(found, folder / "out.parquet", **options)


def code_of_city(noise: int = 0) -> list[int]:
    """A number for each city, wrong for one row in `noise`."""
    cities = people()["city"].to_pylist()
    return [(int(each[-1]) * 37 % 11 + bool(noise and at % noise == 0)) % 11 for at, each in enumerate(cities)]


def test_a_plain_table_leaves_without_a_decision(tmp_path: Path) -> None:
    """The negative control: a column that says nothing of the others and singles out nobody."""
    found = made("smoker", [at % 2 == 0 for at in range(ROWS)], Column("smoker", Kind.BOOLEAN))
    release = released(found, tmp_path)
    assert release.undone.columns == ()
    assert release.verdict.startswith("No column that leaves as it was undoes it")
    assert release.dropped == ("person",)


@pytest.mark.parametrize("noise", [0, 10])
def test_a_code_that_determines_a_generalised_column_stops_the_release(tmp_path: Path, noise: int) -> None:
    found = made("code", code_of_city(noise), Column("code", Kind.INTEGER), metric=FIRST_AGE)
    assert found.levels["city"]
    with Ledger.open(tmp_path / "book.db") as book:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(PrivacyError, match=r"'code' tells (100|8\d|9\d)% of what generalising 'city' hides"):
            released(found, tmp_path, ledger=book, budget="clinic")
        assert (sorted(tmp_path.iterdir()), book.tables()) == (before, [])


@pytest.mark.parametrize("recoding", ["local", "mondrian"])
def test_the_same_where_cells_have_levels_of_their_own(tmp_path: Path, recoding: Any) -> None:
    found = made("code", code_of_city(), Column("code", Kind.INTEGER), metric=FIRST_AGE, recoding=recoding)
    with pytest.raises(PrivacyError, match="'code' tells 100% of what generalising 'city' hides"):
        released(found, tmp_path)


def test_a_birth_year_beside_an_age_stops_the_release(tmp_path: Path) -> None:
    years = [2026 - age for age in people()["age"].to_pylist()]
    found = made("born", years, Column("born", Kind.INTEGER))
    assert found.levels["age"]
    with pytest.raises(PrivacyError, match="'born' tells 100% of what generalising 'age' hides"):
        released(found, tmp_path)


def test_a_declared_quasi_identifier_that_is_left_out_stops_the_release(tmp_path: Path) -> None:
    jobs = [f"job {at % 50}" for at in range(ROWS)]
    found = made(
        "job",
        jobs,
        Column("job", Kind.TEXT, Role.QUASI_IDENTIFIER),
        quasi_identifiers=["age", "city"],
        suppression="0.05",
    )
    with pytest.raises(PrivacyError, match="'job' is declared a quasi-identifier and left out") as caught:
        released(found, tmp_path)
    kept = released(found, tmp_path, keep={"job": "asked by nobody else"})
    shown = parquet.read_table(tmp_path / "out.parquet").group_by(["age", "city", "job"]).aggregate([([], "count_all")])
    alone = shown["count_all"].to_pylist().count(1)
    assert kept.undone.declared_uniques == alone > 0
    assert f"({alone} of 400 rows stand alone" in str(caught.value)


def test_a_quasi_identifier_that_is_to_be_protected_is_left_out_as_well(tmp_path: Path) -> None:
    table = read(people(), described())
    found = anonymize(table, [KAnonymity(5), LDiversity("city", 2)])
    with pytest.raises(PrivacyError, match="'city' is declared a quasi-identifier and left out"):
        released(found, tmp_path)


def test_columns_that_single_out_only_together_are_named(tmp_path: Path) -> None:
    table = read(
        people(one=[at % 20 for at in range(ROWS)], two=[at // 20 for at in range(ROWS)], plain=["a"] * ROWS),
        described(one=Column("one", Kind.INTEGER), two=Column("two", Kind.INTEGER), plain=Column("plain", Kind.TEXT)),
    )
    found = anonymize(table, KAnonymity(50))
    with pytest.raises(PrivacyError, match="beside the quasi-identifiers 400 of 400 rows stand alone") as caught:
        released(found, tmp_path)
    named = caught.value.args[0].partition("with ")[2].partition(" beside")[0]
    assert "'plain'" not in named
    assert "'illness'" not in named
    for name in ("one", "two"):
        if f"'{name}'" in named:
            found_all = released(found, tmp_path, drop=[name], keep=[each for each in ("one", "two") if each != name])
            assert name not in parquet.read_schema(found_all.path).names


def test_a_sensitive_column_that_finds_people_by_itself_stops_the_release(tmp_path: Path) -> None:
    found = made("cost", [at / 7 for at in range(ROWS)], Column("cost", Kind.REAL, Role.SENSITIVE))
    with pytest.raises(PrivacyError, match="'cost' alone finds 100% of the people"):
        released(found, tmp_path)


def test_what_was_decided_stands_in_the_certificate_and_in_the_ledger(tmp_path: Path) -> None:
    found = made("code", code_of_city(), Column("code", Kind.INTEGER), metric=FIRST_AGE)
    with Ledger.open(tmp_path / "book.db") as book:
        release = released(found, tmp_path, keep={"code": "drawn anew"}, ledger=book, budget="clinic")
        assert "Kept as they were: 'code' (drawn anew)." in book.statement("clinic").unbounded[0]
    facts = json.loads(release.certificate.read_text())
    assert facts["details"]["kept"] == {"code": "drawn anew"}
    assert facts["details"]["dropped"] == ["person"]
    assert facts["evidence"]["facts"]["undone"]["told"] == [{"column": "code", "of": "city", "share": 1.0}]
    assert "Kept by decision of the steward: 'code' (drawn anew)." in facts["details"]["verdict"]
    assert not any(cell in release.certificate.read_text() for cell in ("city 1", "id-1", "gout"))


def test_what_is_dropped_is_not_in_the_file_and_is_named(tmp_path: Path) -> None:
    found = made("code", code_of_city(), Column("code", Kind.INTEGER), metric=FIRST_AGE)
    release = released(found, tmp_path, drop=["code"])
    assert parquet.read_schema(release.path).names == ["age", "city", "illness"]
    assert release.dropped == ("person", "code")
    assert release.undone.columns == ()
    assert "code" in found.table().column_names


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"keep": ["person"]}, "nothing to decide"),
        ({"keep": ["age"]}, "nothing to decide"),
        ({"keep": "code"}, "a list of names"),
        ({"keep": ["code"], "drop": ["code"]}, "choose one"),
        ({"keep": {"code": "x" * 999}}, "shorten them"),
        ({"drop": ["illness"]}, "the models speak of"),
    ],
)
def test_a_decision_that_means_nothing_is_refused(tmp_path: Path, options: Any, sentence: str) -> None:
    found = made("code", code_of_city(), Column("code", Kind.INTEGER), metric=FIRST_AGE)
    with pytest.raises(ParameterError, match=sentence):
        released(found, tmp_path, **options)


def test_a_large_table_is_asked_and_a_small_one_read_with_the_same_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    table: Table = read(people(), described())
    names = ["age", "city", "illness"]
    small = ColumnCounts(table, names)
    monkeypatch.setattr(coded, "_AT_ONCE", 0)
    large = ColumnCounts(table, names)
    for chosen in (["age"], ["age", "city"], names):
        assert small.uniques(chosen) == large.uniques(chosen)
        one, other = small.of(chosen), large.of(chosen)
        assert sorted(one.counts) == sorted(other.counts)
        assert one.rows == other.rows == ROWS
    monkeypatch.setattr(coded, "_VALUES", 4)
    some = large.pairs("age", "city")
    assert 0 < some.rows < ROWS
    whole = {age.as_py(): 0 for age in some.values[0]}
    for age in people()["age"].to_pylist():
        whole[age] = whole.get(age, 0) + 1
    assert some.rows == sum(whole[age.as_py()] for age in some.values[0])  # values are taken with all of their rows


def test_a_column_to_decide_about_is_named_as_a_shell_takes_it(tmp_path: Path) -> None:
    found = made("Kosten €", list(range(ROWS)), Column("Kosten €", Kind.INTEGER))
    with pytest.raises(PrivacyError, match=r"--drop 'Kosten €'\).*--keep 'Kosten €=why'\)\.$"):
        released(found, tmp_path)
