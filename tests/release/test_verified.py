"""A file that does not hold one of its models has no name and no entry in the ledger, whichever model it is."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from ziggurat.anonymize import (
    Anonymized,
    AverageRisk,
    HighestRisk,
    KAnonymity,
    KMap,
    LDiversity,
    Presence,
    PrivacyModel,
    TCloseness,
    anonymize,
)
from ziggurat.data import Categories, Column, Hierarchy, Kind, Role, Schema, Table, read
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.ledger import Ledger
from ziggurat.release import release_anonymized

SEX = Hierarchy(dict.fromkeys("xyz", ("*",)))
ILLNESS = Hierarchy({"p": ("1", "*"), "q": ("1", "*"), "r": ("2", "*")})
SCHEMA = Schema(
    (
        Column("g", Kind.TEXT, Role.QUASI_IDENTIFIER, hierarchy=SEX),
        Column(
            "s",
            Kind.CATEGORY,
            Role.SENSITIVE,
            categories=Categories(("p", "q", "r"), ordered=True),
            hierarchy=ILLNESS,
        ),
    )
)
GOOD = ("x" * 12 + "y" * 12, "pqr" * 8)


def rows(groups: str, private: str) -> pa.Table:
    """A quasi-identifier and a sensitive column; "-" is a missing cell."""
    return pa.table({"g": list(groups), "s": pa.array([None if each == "-" else each for each in private])})


def population() -> Table:
    return read(pa.table({"g": list("x" * 20 + "y" * 20 + "z" * 3)}), Schema((Column("g", Kind.TEXT),)))


def crowd() -> Table:
    return read(pa.table({"g": list("x" * 20 + "y" * 20)}), Schema((Column("g", Kind.TEXT),)))


# For each model a file that breaks it and, as far as that can be, none of the others.
SMALL = ("x" * 11 + "z" + "y" * 12, "pqr" * 8)
FOUR = ("x" * 6 + "z" * 6 + "y" * 12, "pqr" * 8)
SKEWED = (GOOD[0], "p" * 10 + "qr" + "pqr" * 4)
HALF_MISSING = (GOOD[0], "ppp---ppp---" + "pqr" * 4)
PLANTED: dict[str, tuple[Callable[[], PrivacyModel], tuple[str, str]]] = {
    "k": (lambda: KAnonymity(5), SMALL),
    "highest risk": (lambda: HighestRisk(0.2), SMALL),
    "average risk": (lambda: AverageRisk(2 / 24), FOUR),
    "distinct": (lambda: LDiversity("s", 3), (GOOD[0], "p" * 12 + "pqr" * 4)),
    "distinct, missing": (lambda: LDiversity("s", 2), HALF_MISSING),
    "entropy": (lambda: LDiversity("s", 2.5, "entropy"), SKEWED),
    "entropy, missing": (lambda: LDiversity("s", 2.9, "entropy"), (GOOD[0], "pppqqqrrr---" + "pqr" * 4)),
    "recursive": (lambda: LDiversity("s", 2, "recursive", 2), SKEWED),
    "recursive, missing": (lambda: LDiversity("s", 2, "recursive", 1), (GOOD[0], "pppqqqrrr---" + "pqr" * 4)),
    "equal": (lambda: TCloseness("s", 0.3), SKEWED),
    "ordered": (lambda: TCloseness("s", 0.3, "ordered"), SKEWED),
    "hierarchical": (lambda: TCloseness("s", 0.3, "hierarchical"), SKEWED),
    "closeness, missing": (lambda: TCloseness("s", 0.2), (GOOD[0], "pppqqqrrr---" + "pqr" * 4)),
    "a value from nowhere": (lambda: TCloseness("s", 0.3), (GOOD[0], "pqr" * 6 + "u" * 6)),
    "k-map": (lambda: KMap(10, population()), ("x" * 12 + "y" * 6 + "z" * 6, "pqr" * 8)),
    "presence, upper": (lambda: Presence(0.1, 0.7, crowd()), ("x" * 18 + "y" * 6, "pqr" * 8)),
    "presence, lower": (lambda: Presence(0.5, 1, crowd()), ("x" * 18 + "y" * 6, "pqr" * 8)),
    "presence, nobody": (lambda: Presence(0.1, 1, crowd()), ("x" * 24, "pqr" * 8)),
}


class Planted:
    """A publication whose file is changed on the disk once it is written."""

    def __init__(self, anonymised: Anonymized, shown: pa.Table) -> None:
        self._true, self._shown = anonymised.publication, shown
        self.original, self.rows = self._true.original, self._true.rows

    def write(self, path: Path) -> None:
        self._true.write(path)
        (csv.write_csv if path.suffix == ".csv" else parquet.write_table)(self._shown, path)


def made(model: PrivacyModel, **options: Any) -> Anonymized:
    found = anonymize(read(rows(*GOOD), SCHEMA), model, **options)
    assert found.levels == {"g": 0}
    return found


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
@pytest.mark.parametrize("what", PLANTED)
def test_a_file_that_breaks_its_model_never_leaves(tmp_path: Path, what: str, name: str) -> None:
    model, shown = PLANTED[what]
    anonymous = made(model())
    planted = dataclasses.replace(anonymous, publication=Planted(anonymous, rows(*shown)))
    with Ledger.open(tmp_path / "book.db") as book:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(PrivacyError, match="does not satisfy its models when it is read back"):
            release_anonymized(planted, tmp_path / name, ledger=book, budget="clinic")
        assert sorted(tmp_path.iterdir()) == before
        assert "clinic" not in book.tables()


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
@pytest.mark.parametrize("what", PLANTED)
def test_the_same_release_leaves_with_the_right_file(tmp_path: Path, what: str, name: str) -> None:
    release = release_anonymized(made(PLANTED[what][0]()), tmp_path / name)
    (found,) = release.verified
    assert found.held
    assert found.model == release.anonymized.question.models[0].sentence
    assert release.to_dict()["evidence"]["facts"]["verified"][0]["measured"] == found.measured


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
@pytest.mark.parametrize("code", ["unknown", None])
def test_a_declared_code_for_missing_cells_is_no_value_either(tmp_path: Path, name: str, code: str | None) -> None:
    """{hiv, hiv, unknown, unknown} is one value to the search and to the judge of the file, unless it counts."""
    private = Column("s", Kind.TEXT, Role.SENSITIVE, missing=("unknown",))
    schema = Schema((Column("g", Kind.TEXT, Role.QUASI_IDENTIFIER, hierarchy=SEX), private))
    table = pa.table({"g": list("xxxxyyyy") * 2, "s": ["hiv", "hiv", code, code, "hiv", "flu", code, code] * 2})
    found = anonymize(read(table, schema), [KAnonymity(2), LDiversity("s", 2)])
    assert found.levels == {"g": 1}
    assert release_anonymized(found, tmp_path / name).verified[1].measured == 2
    counting = anonymize(read(table, schema), [KAnonymity(2), LDiversity("s", 2, missing_is_a_value=True)])
    release = release_anonymized(counting, tmp_path / name)
    assert (counting.levels, release.verified[1].measured) == ({"g": 0}, 2)
    assert "a missing cell counted as one" in release.to_dict()["evidence"]["facts"]["verified"][1]["model"]
    planted = Planted(found, table)
    with pytest.raises(PrivacyError, match="does not satisfy its models"):
        release_anonymized(dataclasses.replace(found, publication=planted), tmp_path / "again.csv")


def test_every_model_there_is_has_a_file_that_breaks_it() -> None:
    tested = {type(model()) for model, _ in PLANTED.values()}
    assert tested == set(PrivacyModel.__subclasses__())


def test_a_model_that_nobody_can_check_is_not_promised(tmp_path: Path) -> None:
    anonymous = made(KAnonymity(5))
    asked = dataclasses.replace(anonymous.question, models=(PrivacyModel(),))
    with pytest.raises(ParameterError, match="cannot be promised"):
        release_anonymized(dataclasses.replace(anonymous, question=asked), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_file_with_fewer_rows_is_held_back(tmp_path: Path) -> None:
    anonymous = made(KAnonymity(5))
    planted = Planted(anonymous, rows("x" * 12 + "y" * 11, "pqr" * 7 + "pq"))
    with pytest.raises(PrivacyError, match="23 rows and should have 24"):
        release_anonymized(dataclasses.replace(anonymous, publication=planted), tmp_path / "out.csv")


def test_a_file_with_a_column_more_is_held_back(tmp_path: Path) -> None:
    anonymous = made(KAnonymity(5))
    more = rows(*GOOD).append_column("born", pa.array(range(24)))
    planted = dataclasses.replace(anonymous, publication=Planted(anonymous, more))
    with pytest.raises(PrivacyError, match="shows column 'born'"):
        release_anonymized(planted, tmp_path / "out.csv")


@pytest.mark.parametrize("recoding", ["local", "mondrian"])
def test_people_of_a_population_are_found_in_labels_and_ranges(tmp_path: Path, recoding: Any) -> None:
    """Nobody knows to which of several classes that fit a person belongs; all who fit are counted."""
    ages = [20 + at * 7 % 30 for at in range(60)]
    table = pa.table({"age": ages, "s": ["p", "q"] * 30})
    everybody = read(pa.table({"age": [20 + at % 31 for at in range(300)]}), Schema((Column("age", Kind.INTEGER),)))
    tree = Hierarchy({age: (f"{age // 5 * 5}+", f"{age // 10}0s", "*") for age in range(20, 51)})
    options = {"quasi_identifiers": ["age"], "hierarchies": {"age": tree}, "recoding": recoding}
    anonymous = anonymize(table, [KMap(25, everybody), LDiversity("s", 2)], **options)
    release = release_anonymized(anonymous, tmp_path / "out.csv")
    shown = csv.read_csv(tmp_path / "out.csv", convert_options=csv.ConvertOptions(column_types={"age": "string"}))
    assert release.verified[0].measured == min(_fitting(label, tree) for label in shown["age"].to_pylist())
    planted = Planted(anonymous, shown.set_column(0, "age", pa.array(["20"] * len(shown))))
    with pytest.raises(PrivacyError, match="does not satisfy"):
        release_anonymized(dataclasses.replace(anonymous, publication=planted), tmp_path / "again.csv")


def _fitting(label: str, tree: Hierarchy) -> int:
    low, _, high = label.partition("-")
    ages = (
        range(int(low), int(high) + 1)
        if high
        else [age for age in tree.levels if label in (str(age), *tree.levels[age])]
    )
    return sum(20 + at % 31 in ages for at in range(300))
