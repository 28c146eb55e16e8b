"""An anonymised table is attacked, then remembered as unbounded, and only then released."""

import dataclasses
import hashlib
import json
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from ziggurat.anonymize import Anonymized, KAnonymity, LDiversity, anonymize
from ziggurat.data import Column, Kind, Role, Schema, Unit, read
from ziggurat.errors import DataError, LedgerError, ParameterError, PrivacyError
from ziggurat.ledger import Ledger
from ziggurat.release import release_anonymized

KNOWN = ("age", "postcode")


def people(rows: int = 120) -> pa.Table:
    return pa.table(
        {
            "person": [f"id-{i}" for i in range(rows)],
            "age": [20 + i * 7 % 41 for i in range(rows)],
            "postcode": [f"CV{11 + i * 3 % 20}" for i in range(rows)],
            "illness": [("flu", "gout", "cold")[i % 3] for i in range(rows)],
            "cost": list(range(rows)),
        }
    )


def described(unit: Unit) -> Schema:
    columns = (
        Column("person", Kind.TEXT, Role.IDENTIFIER),
        Column("age", Kind.INTEGER, Role.QUASI_IDENTIFIER),
        Column("postcode", Kind.TEXT, Role.QUASI_IDENTIFIER),
        Column("illness", Kind.TEXT, Role.SENSITIVE),
        Column("cost", Kind.INTEGER),
    )
    return Schema(columns, unit=unit)


@pytest.fixture
def anonymous() -> Anonymized:
    return anonymize(read(people(), described(Unit.row())), [KAnonymity(5), LDiversity("illness", 2)])


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "book.db")


class Shown:
    """A publication that shows another table than it should."""

    def __init__(self, anonymised: Anonymized, rows: pa.Table) -> None:
        self.original, self._rows, self.rows = anonymised.publication.original, rows, anonymised.publication.rows

    def write(self, path: Path) -> None:
        parquet.write_table(self._rows, path)


def showing(anonymised: Anonymized, rows: pa.Table) -> Anonymized:
    return dataclasses.replace(anonymised, publication=Shown(anonymised, rows))


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_the_certificate_names_the_file_and_what_attackers_make_of_it(
    anonymous: Anonymized, tmp_path: Path, name: str
) -> None:
    made = release_anonymized(anonymous, tmp_path / name, keep=["cost"])
    facts = json.loads(made.certificate.read_text())
    data, evidence = (tmp_path / name).read_bytes(), facts["evidence"]
    assert facts["artefacts"] == [{"name": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}]
    assert (facts["format"], facts["kind"]) == ("ziggurat/certificate/2", "anonymized table")
    assert (facts["promise"], facts["sentence"]) == (None, made.release.certificate.sentence)
    assert "not differential privacy" in facts["not_protected"][0]
    assert facts["details"]["sentence"] == made.sentence
    assert evidence["facts"]["risk"]["before"]["highest"] == 1
    assert evidence["facts"]["risk"]["after"]["highest"] <= 0.2
    assert evidence["facts"]["risk"]["after"]["share_above_threshold"] == 0
    assert evidence["made"]["homogeneity of illness"]["learned"]["hits"] == 0
    assert evidence["facts"]["undone"]["untouched"] == {"illness": 0, "cost": 1}
    assert facts["recorded"] is None
    assert evidence["facts"]["done"]["levels"] == dict(anonymous.levels)


def test_the_measured_risks_are_those_of_the_file(anonymous: Anonymized, tmp_path: Path) -> None:
    made = release_anonymized(anonymous, tmp_path / "out.csv", keep=["cost"])
    shown = csv.read_csv(tmp_path / "out.csv")
    sizes = shown.group_by(list(KNOWN)).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert shown.num_rows == made.after.rows == anonymous.rows - anonymous.suppressed
    assert made.after.classes == len(sizes) == anonymous.classes
    assert made.after.prosecutor.average == pytest.approx(len(sizes) / shown.num_rows)
    assert made.after.prosecutor.highest == pytest.approx(1 / min(sizes))


def test_the_certificate_is_for_its_owner_and_no_draft_stays(anonymous: Anonymized, tmp_path: Path) -> None:
    made = release_anonymized(anonymous, tmp_path / "out.parquet", keep=["cost"])
    assert stat.S_IMODE(made.certificate.stat().st_mode) == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.parquet", "out.parquet.certificate.json"]


def test_the_ledger_remembers_the_release_as_unbounded(anonymous: Anonymized, tmp_path: Path, book: Ledger) -> None:
    made = release_anonymized(
        anonymous, tmp_path / "out.parquet", keep=["cost"], ledger=book, budget="clinic", note="For the census."
    )
    statement = book.statement("clinic")
    assert made.sha256 in statement.unbounded[0]
    assert "For the census." in statement.unbounded[0]
    assert "1 release without a guarantee" in " ".join(statement.sentences())
    assert json.loads(made.certificate.read_text())["recorded"] == made.recorded.to_dict()
    assert book.history("clinic")[-1].hash == made.recorded.hash
    assert book.verify().ok


def test_without_an_entry_in_the_ledger_there_is_no_file(anonymous: Anonymized, tmp_path: Path) -> None:
    Ledger.open(tmp_path / "book.db").close()
    before = sorted(tmp_path.iterdir())
    with Ledger.open(tmp_path / "book.db", read_only=True) as closed, pytest.raises(LedgerError):
        release_anonymized(anonymous, tmp_path / "out.parquet", keep=["cost"], ledger=closed, budget="clinic")
    assert sorted(tmp_path.iterdir()) == before


def test_a_crash_before_the_file_leaves_the_entry(
    anonymous: Anonymized, tmp_path: Path, book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", crash)
    monkeypatch.setattr(anonymous.publication, "write", lambda path: parquet.write_table(anonymous.table(), path))
    with pytest.raises(KeyboardInterrupt):
        release_anonymized(anonymous, tmp_path / "out.parquet", keep=["cost"], ledger=book, budget="clinic")
    assert len(book.statement("clinic").unbounded) == 1
    assert not (tmp_path / "out.parquet").exists()


def test_a_column_that_tells_people_apart_never_leaves(tmp_path: Path) -> None:
    made = anonymize(read(people(), described(Unit.person("person"))), KAnonymity(5))
    try:
        release_anonymized(made, tmp_path / "out.parquet", keep=["cost"])
    except PrivacyError:
        assert not list(tmp_path.iterdir())
    else:
        assert "person" not in parquet.read_schema(tmp_path / "out.parquet").names


def test_a_file_that_shows_an_identifier_is_held_back(anonymous: Anonymized, tmp_path: Path, book: Ledger) -> None:
    with pytest.raises(PrivacyError, match="still shows column 'person'"):
        release_anonymized(showing(anonymous, people()), tmp_path / "out.parquet", ledger=book, budget="clinic")
    assert not (tmp_path / "out.parquet").exists()
    assert "clinic" not in book.tables()


def test_a_file_that_does_not_satisfy_its_models_is_held_back(anonymous: Anonymized, tmp_path: Path) -> None:
    wrong = people().drop_columns(["person"]).set_column(0, "age", [[str(i) for i in range(120)]])
    with pytest.raises(PrivacyError, match="does not satisfy its models when it is read back"):
        release_anonymized(showing(anonymous, wrong), tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "options", "error", "sentence"),
    [
        ("out.txt", {}, DataError, r"has no known ending; use \.parquet, \.csv"),
        ("none/out.csv", {}, DataError, "create it first"),
        ("out.csv", {"budget": "clinic"}, ParameterError, "Give the ledger"),
        ("out.csv", {"note": "a\nb"}, ParameterError, "printable text"),
        ("folder.csv", {}, DataError, "is a folder"),
    ],
)
def test_bad_input_is_one_sentence(
    anonymous: Anonymized, tmp_path: Path, name: str, options: dict[str, str], error: type[Exception], sentence: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(error, match=sentence):
        release_anonymized(anonymous, tmp_path / name, **options)


def test_a_ledger_needs_the_name_of_the_budget(anonymous: Anonymized, tmp_path: Path, book: Ledger) -> None:
    with pytest.raises(ParameterError, match="Name the budget"):
        release_anonymized(anonymous, tmp_path / "out.csv", keep=["cost"], ledger=book)
