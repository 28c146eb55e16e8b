"""Synthetic copies are attacked, then remembered as unbounded or paid for, and only then released."""

import hashlib
import json
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from signal import SIGKILL
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from ziggurat.attacks import ClosestRecords, EpsilonBound, MatchRisk, Scenario
from ziggurat.data import Bounds, Categories, Column, Kind, Role, Schema, Table, Unit, read
from ziggurat.errors import (
    BudgetExceededError,
    DataError,
    EngineError,
    GateError,
    LedgerError,
    MixedNeighboursError,
    ParameterError,
    PrivacyError,
    SchemaError,
)
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, Relation, compose
from ziggurat.randomness import seeded
from ziggurat.release import Gate, check_synthetic, release_synthetic, release_synthetic_private
from ziggurat.release.tables import _synthetic as plain
from ziggurat.release.tables._attacking import Claim
from ziggurat.release.tables._synthetic_parts import parts_of, toss_parts
from ziggurat.synthesize import MST, Synthesizer

NAMES = ("age", "town", "illness", "cost")


def people(rows: int = 300, each: int = 1) -> pa.Table:
    draw = np.random.default_rng(5)
    age = draw.integers(20, 80, rows)
    return pa.table(
        {
            "name": [f"secretperson{i}" for i in range(rows)],
            "who": [f"id-{i // each}" for i in range(rows)],
            "age": age,
            "town": draw.choice(["Aville", "Beton", "Cove"], rows),
            "illness": np.where(age > 50, draw.choice(["gout", "flu"], rows), draw.choice(["flu", "cold"], rows)),
            "cost": np.round(draw.lognormal(6, 0.5, rows), 2),
        }
    )


def schema(unit: Unit = Unit.person("who")) -> Schema:  # noqa: B008
    columns = (
        Column("name", Kind.TEXT, Role.IDENTIFIER),
        Column("who", Kind.TEXT, Role.IDENTIFIER),
        Column("age", Kind.INTEGER, Role.QUASI_IDENTIFIER, bounds=Bounds(18, 99)),
        Column("town", Kind.CATEGORY, Role.QUASI_IDENTIFIER, categories=Categories(("Aville", "Beton", "Cove"))),
        Column("illness", Kind.CATEGORY, Role.SENSITIVE, categories=Categories(("cold", "flu", "gout"))),
        Column("cost", Kind.REAL, bounds=Bounds(0.0, 5000.0)),
    )
    return Schema(columns, unit=unit)


@pytest.fixture
def table() -> Table:
    return read(people(), schema())


@pytest.fixture
def book(tmp_path: Path) -> Any:
    """The budget 'clinic' holds (3, 1e-5), of which ada has (2, 1e-6)."""
    with Ledger.open(tmp_path / "book.db") as opened:
        opened.create_budget("clinic", "3", "1e-5", Neighbours(Unit.person("who")))
        opened.grant("clinic", "ada", "2", "1e-6", "zcdp")
        yield opened


def rehearsal(**settings: Any) -> Synthesizer:
    return Synthesizer(random_state=3, **settings)


def private(epsilon: str = "1", **settings: Any) -> MST:
    return MST(epsilon, "1e-9", rows_per_unit=1, bins=8, random_state=3, **settings)


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if not each.name.startswith("book.db"))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_the_certificate_states_what_was_made_and_measured_and_promises_nothing(
    table: Table, tmp_path: Path, name: str
) -> None:
    made = release_synthetic(table, tmp_path / name, rehearsal(methods={"cost": "linear"}, rules=["age < 100"]))
    text = made.certificate.read_text()
    facts = json.loads(text)
    size = (tmp_path / name).stat().st_size
    assert facts["artefacts"] == [{"name": name, "sha256": sha256(tmp_path / name), "bytes": size, "rows": 300}]
    assert facts["promise"] is None
    assert "private" not in text.lower()
    assert facts["rehearsal"] is True
    done, evidence = facts["details"], facts["evidence"]
    assert (done["kind"], evidence["facts"]["kept_back"], done["learned_from"]) == ("fully", 30, 270)
    assert done["methods"]["cost"]["name"] == "linear"
    assert done["rules"] == ["age < 100"]
    assert done["left_out"] == ["name", "who"]
    assert set(evidence["made"]) == {"closest records", "singling out", "linking", "inferring illness"}
    assert evidence["skipped"] == {}


def test_nobody_is_told_apart_and_no_cell_is_in_the_certificate(table: Table, tmp_path: Path) -> None:
    made = release_synthetic(table, tmp_path / "out.parquet", rehearsal(), copies=2, holdout=0)
    assert [path.name for path in made.paths] == ["out.1.parquet", "out.2.parquet"]
    assert parquet.read_schema(made.paths[0]).names == list(NAMES)
    certificate = made.certificate.read_text()
    assert not any(cell in certificate for cell in ("secretperson", "id-1", "Aville", "gout"))
    assert stat.S_IMODE(made.certificate.stat().st_mode) == 0o600
    assert names_in(tmp_path) == ["out.1.parquet", "out.2.parquet", "out.parquet.certificate.json"]
    first, second = (parquet.read_table(path) for path in made.paths)
    assert not first.equals(second)


def test_the_attack_sees_a_model_that_repeats_people(table: Table, tmp_path: Path) -> None:
    class Repeating(Synthesizer):
        def write(self, path: Any, *given: Any, **options: Any) -> Any:
            written = super().write(path, *given, **options)
            parquet.write_table(self.table_.raw.rows(NAMES), path)
            return written

    with pytest.raises(GateError, match="The gate stopped this release"):
        release_synthetic(table, tmp_path / "out.parquet", Repeating(random_state=3))
    assert not (tmp_path / "out.parquet").exists()
    made = release_synthetic(table, tmp_path / "out.parquet", Repeating(random_state=3), go_on="for our eyes only")
    assert made.to_dict()["decision"]["reason"] == "for our eyes only"
    closest = made.attacked.findings["closest records"]
    assert isinstance(closest, ClosestRecords)
    assert closest.overfit
    assert closest.copies.rate == 1
    assert "closest records" in made.attacked.alarms
    assert "tell more about the people in the table" in made.attacked.sentences[-1]
    calm = release_synthetic(table, tmp_path / "calm.parquet", rehearsal(method="sample"))
    assert calm.attacked.alarms == []


class Cheating(MST):
    """Promises like MST, and gives away the rows that it has seen."""

    def fit(self, table: Any, *given: Any, **options: Any) -> Any:
        self.seen_ = table.raw.rows(NAMES)
        return super().fit(table, *given, **options)

    def sample(self, *_given: Any, **_options: Any) -> pa.Table:
        return self.seen_


def test_a_promise_that_does_not_hold_is_refuted_by_people_who_were_kept_back(
    table: Table, tmp_path: Path, book: Ledger
) -> None:
    paid: dict[str, Any] = {"ledger": book, "budget": "clinic", "analyst": "ada", "holdout": 0.5}
    cheating = Cheating("1", "1e-9", rows_per_unit=1, bins=8, random_state=3)
    with pytest.raises(GateError, match="refuted"):
        release_synthetic_private(table, tmp_path / "out.parquet", cheating, **paid)
    assert not (tmp_path / "out.parquet").exists()
    made = release_synthetic_private(table, tmp_path / "out.parquet", cheating, **paid, go_on="to show it")
    assert made.refuted
    assert made.to_dict()["promise"] is None
    assert "No privacy is promised" in made.sentence
    assert check_synthetic(made.certificate, book)["decision"]["refuted"]
    assert book.history("clinic")[-1].kind == "unbounded"
    bound = made.attacked.findings["epsilon by linking"]
    assert isinstance(bound, EpsilonBound)
    assert bound.people == 300
    assert bound.lower > 2 > bound.claimed
    honest = release_synthetic_private(table, tmp_path / "fair.parquet", private("0.5"), **paid)
    fair = Gate().judge(honest.attacked, guaranteed=True)
    assert "epsilon by linking" in [each.attack for each in fair.passed]
    assert not fair.refuted
    assert not fair.stopped


def test_a_promise_is_tested_only_where_each_person_had_a_coin_and_a_row(table: Table) -> None:
    paid = MST("1", "1e-9", rows_per_unit=1).fit(table).guarantee_
    replacing = MST("1", "1e-9", rows_per_unit=1, relation="replace-one").fit(table).guarantee_
    assert Claim(paid, 0.1, 300).why_untested(300, 1) == ""
    assert "by a coin" in Claim(paid, 0.0, 0).why_untested(300, 1)
    assert "one row for each person" in Claim(paid, 0.1, 100).why_untested(300, 1)
    assert "one copy" in Claim(paid, 0.1, 300).why_untested(300, 2)
    assert "more than" in Claim(paid, 0.1, 40_000).why_untested(40_000, 1)
    assert "replacing somebody" in Claim(replacing, 0.1, 300).why_untested(300, 1)


def test_all_rows_of_a_person_are_on_one_side(tmp_path: Path) -> None:
    several = read(people(300, each=3), schema().with_column(Column("who", Kind.TEXT)))
    with several.engine as engine:
        parts = parts_of(several, (*NAMES, "who"), 0.2, 10_000, seeded(1), engine)  # type: ignore[arg-type]
        assert parts.control is not None
        mine, theirs = (set(each.raw.rows(["who"])["who"].to_pylist()) for each in (parts.learned, parts.control))
        assert not mine & theirs
        assert (len(mine), len(theirs)) == (80, 20)


def test_a_coin_for_each_person_leaves_everybody_else_where_they_are() -> None:
    more = read(people(300), schema())
    less = read(people(300).slice(0, 299), schema())
    kept = []
    for table in (more, less):
        learned, _ = toss_parts(table, NAMES, 0.3, seeded(1), table.engine)  # type: ignore[arg-type]
        kept.append(set(learned.raw.rows(["who"])["who"].to_pylist()))
    assert kept[0] - kept[1] <= {"id-299"}
    assert kept[1] <= kept[0]


def test_memory_is_that_of_the_rows_that_are_learned_from(table: Table, tmp_path: Path) -> None:
    made = release_synthetic(table, tmp_path / "out.parquet", rehearsal(learn_from=30))
    assert made.synthesizer.rows_ == 30
    assert made.table_rows == made.files[0].rows == 300
    assert made.kept_back == 3


def test_without_a_hold_out_only_copies_are_counted_and_the_rest_is_said_to_be_missing(
    table: Table, tmp_path: Path
) -> None:
    made = release_synthetic(table, tmp_path / "out.parquet", rehearsal(), holdout=0)
    assert list(made.attacked.findings) == ["exact copies"]
    assert "no control" in made.attacked.skipped["closest records"]
    stored = release_synthetic(table, tmp_path / "again.parquet", made.synthesizer, rows=50)
    assert stored.files[0].rows == 50
    assert "no control" in stored.attacked.skipped["inferring"]
    others = release_synthetic(table, tmp_path / "more.parquet", made.synthesizer, holdout=read(people(50), schema()))
    assert "closest records" in others.attacked.findings
    assert others.kept_back is None


def test_a_partially_synthetic_table_keeps_its_people_and_is_matched(table: Table, tmp_path: Path) -> None:
    maker = rehearsal(partial="age > 60", columns=["age", "cost"])
    made = release_synthetic(table, tmp_path / "out.csv", maker, copies=2)
    old = int(np.sum(np.array(people()["age"]) > 60))
    copy = csv.read_csv(made.paths[0])
    assert copy.num_rows == 300
    assert copy.column_names == list(NAMES)
    found = made.attacked.findings["matching"]
    assert isinstance(found, MatchRisk)
    assert (found.targets, found.rows) == (old, 300)
    assert made.attacked.findings["exact copies"].to_dict()["copies"]["rate"] == pytest.approx(1 - old / 300, abs=0.05)
    assert "keeps its people" in made.attacked.skipped["closest records"]
    facts = made.to_dict()["details"]
    assert (facts["kind"], made.kept_back, facts["as_they_were"]) == ("partially", 0, ["town", "illness"])
    assert facts["replaced"] == {"age": old, "cost": old}
    named = release_synthetic(table, tmp_path / "b.csv", maker, scenario=Scenario({"town": "exact"}, "illness = 'flu'"))
    assert named.attacked.findings["matching"].to_dict()["targets"] == people()["illness"].to_pylist().count("flu")


def test_the_ledger_remembers_the_release_as_unbounded(table: Table, tmp_path: Path, book: Ledger) -> None:
    told = {"ledger": book, "budget": "clinic", "note": "For class."}
    made = release_synthetic(table, tmp_path / "out.parquet", copies=2, holdout=0, **told)
    (said,) = book.statement("clinic").unbounded
    assert "For class." in said
    assert "2 copies of 300 rows, fully synthetic" in said
    assert "private" not in said.lower()
    assert made.recorded is not None
    assert book.history("clinic")[-1].hash == made.recorded.hash
    assert check_synthetic(made.certificate, book)["artefacts"][0]["sha256"] == sha256(made.paths[0])
    assert not made.rehearsal


def test_a_rehearsal_is_marked_in_ledger_file_and_certificate(table: Table, tmp_path: Path, book: Ledger) -> None:
    made = release_synthetic(table, tmp_path / "out.parquet", rehearsal(), holdout=0, ledger=book, budget="clinic")
    assert book.statement("clinic").unbounded[0].startswith("Rehearsal.")
    assert "may not be published" in made.sentence
    again = release_synthetic(table, tmp_path / "again.parquet", rehearsal(), holdout=0)
    assert again.files[0].sha256 == made.files[0].sha256


def test_without_an_entry_in_the_ledger_there_is_no_file(table: Table, tmp_path: Path) -> None:
    Ledger.open(tmp_path / "book.db").close()
    with Ledger.open(tmp_path / "book.db", read_only=True) as closed, pytest.raises(LedgerError):
        release_synthetic(table, tmp_path / "out.parquet", rehearsal(), holdout=0, ledger=closed, budget="clinic")
    assert names_in(tmp_path) == []


def test_a_file_that_changed_after_the_attack_is_not_released(
    table: Table, tmp_path: Path, book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    attacked = plain._attack

    def attack(maker: Any, drafts: Any, *given: Any) -> Any:
        found = attacked(maker, drafts, *given)
        parquet.write_table(people().select(NAMES), drafts[0])
        return found

    monkeypatch.setattr(plain, "_attack", attack)
    with pytest.raises(PrivacyError, match="changed after it had been attacked"):
        release_synthetic(table, tmp_path / "out.parquet", rehearsal(), holdout=0, ledger=book, budget="clinic")
    assert names_in(tmp_path) == []
    assert book.statement("clinic").unbounded == ()


def test_tampering_with_a_released_file_is_found(table: Table, tmp_path: Path, book: Ledger) -> None:
    made = release_synthetic(table, tmp_path / "out.csv", rehearsal(), holdout=0, ledger=book, budget="clinic")
    held = made.certificate.read_text()
    with made.paths[0].open("a") as file:
        file.write("44,Cove,flu,1.0\n")
    with pytest.raises(DataError, match="another file than the one that was attacked"):
        check_synthetic(made.certificate)
    made.certificate.write_text(held.replace(made.files[0].sha256, sha256(made.paths[0])))
    check_synthetic(made.certificate)
    with pytest.raises(DataError, match="The ledger says something else"):
        check_synthetic(made.certificate, book)
    facts = json.loads(made.certificate.read_text())
    earlier = {"format": "ziggurat/synthetic-release/1", "files": facts["artefacts"], "recorded": facts["recorded"]}
    made.certificate.write_text(json.dumps(earlier))
    assert check_synthetic(made.certificate) == earlier
    made.certificate.write_text(json.dumps({**earlier, "format": "ziggurat/another/1"}))
    with pytest.raises(DataError, match="no certificate"):
        check_synthetic(made.certificate)
    made.certificate.write_text("{}")
    with pytest.raises(DataError, match="no certificate"):
        check_synthetic(made.certificate)


def test_a_file_that_shows_who_it_is_about_is_held_back(table: Table, tmp_path: Path) -> None:
    class Telling(Synthesizer):
        def write(self, path: Any, *given: Any, **options: Any) -> Any:
            written = super().write(path, *given, **options)
            parquet.write_table(people(), path)
            return written

    with pytest.raises(PrivacyError, match="tells people apart"):
        release_synthetic(table, tmp_path / "out.parquet", Telling(random_state=3))
    told = Synthesizer(random_state=3, methods={"who": "sample"}).fit(
        read(people().select([*NAMES, "who"]).slice(0, 20))
    )
    with pytest.raises(PrivacyError, match="learn without it"):
        release_synthetic(table, tmp_path / "out.parquet", told)
    assert names_in(tmp_path) == []


def test_an_interruption_leaves_nothing_and_a_checkpoint_takes_it_up(table: Table, tmp_path: Path) -> None:
    def stop(stage: str, what: str, done: int, of: int) -> None:
        if stage == "drawing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release_synthetic(table, tmp_path / "out.parquet", checkpoint=tmp_path / "kept", progress=stop)
    assert names_in(tmp_path) == ["kept"]
    learned = {each.name: each.stat().st_mtime_ns for each in (tmp_path / "kept").iterdir()}
    release_synthetic(table, tmp_path / "out.parquet", checkpoint=tmp_path / "kept")
    assert learned == {each.name: each.stat().st_mtime_ns for each in (tmp_path / "kept").iterdir()}
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in (tmp_path / "kept").iterdir())


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"path": "out.txt"}, DataError, r"has no known ending; use \.parquet, \.csv"),
        ({"path": "none/out.csv"}, DataError, "create it first"),
        ({"budget": "clinic"}, ParameterError, "Give the ledger"),
        ({"copies": 0}, ParameterError, "at least 1"),
        ({"rows": 0}, ParameterError, "at least 1"),
        ({"holdout": 1.0}, ParameterError, "below 1"),
        ({"holdout": "some"}, ParameterError, "a share"),
        ({"known": ["agee"]}, SchemaError, "did you mean 'age'"),
        ({"known": "age"}, ParameterError, "a list"),
        ({"secret": "who"}, ParameterError, "not released"),
        ({"scenario": Scenario(["age"])}, ParameterError, "partially"),  # type: ignore[arg-type]
        ({"synthesizer": "cart"}, ParameterError, "Give a Synthesizer"),
        ({"table": pa.table({"x": [1]})}, DataError, "set the hold-out to 0"),
        ({"table": pa.table({"x": pa.array([], pa.int64())})}, DataError, "no rows"),
    ],
)
def test_bad_input_is_one_sentence(
    table: Table, tmp_path: Path, options: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    given = {"table": table, "path": "out.csv", "synthesizer": rehearsal()} | options
    with pytest.raises(error, match=sentence):
        release_synthetic(**given | {"path": tmp_path / given["path"]})
    assert names_in(tmp_path) == []


def test_what_carries_a_guarantee_is_paid_for_and_states_it(table: Table, tmp_path: Path, book: Ledger) -> None:
    model = private()
    who = {"ledger": book, "budget": "clinic", "analyst": "ada"}
    made = release_synthetic_private(table, tmp_path / "out.parquet", model, copies=2, **who)
    planned = model.planned(table.schema)
    (hold,) = [each for each in book.history("clinic") if each.kind == "reserve"]
    assert hold.data["event"] == planned.to_dict() == made.event.to_dict()
    proven = compose(planned).approximate("1e-9")
    facts = check_synthetic(made.certificate, book)
    assert made.guarantee == proven
    assert proven.epsilon <= 1
    assert str(proven) in facts["details"]["sentence"]
    granted = book.budget("clinic").delta  # a certificate states the promise at the delta of the budget that paid
    assert Fraction(facts["promise"]["epsilon"]) == compose(planned).approximate(granted).epsilon <= proven.epsilon
    assert (facts["promise"]["delta"], facts["promise"]["relation"]) == (str(granted), "add-or-remove-one")
    assert facts["promise"]["unit"] == "one person (column who)"
    assert facts["rehearsal"] is True
    assert "closest records" in facts["evidence"]["made"]
    assert "for the steward" in facts["details"]["not_covered"]
    assert [parquet.read_schema(path).names for path in made.paths] == [list(NAMES)] * 2
    assert stat.S_IMODE(made.certificate.stat().st_mode) == 0o600
    assert not any(cell in made.certificate.read_text() for cell in ("secretperson", "id-1", "Aville", "gout"))


def test_a_second_release_pays_again(table: Table, tmp_path: Path, book: Ledger) -> None:
    for name in ("a.csv", "b.csv"):
        release_synthetic_private(
            table, tmp_path / name, private(), ledger=book, budget="clinic", analyst="ada", holdout=0
        )
    assert sum(each.kind == "reserve" for each in book.history("clinic")) == 2


def test_what_costs_more_than_is_left_reads_no_row(table: Table, tmp_path: Path, book: Ledger) -> None:
    with pytest.raises(BudgetExceededError):
        release_synthetic_private(
            table, tmp_path / "out.csv", private("9"), ledger=book, budget="clinic", analyst="ada"
        )
    assert names_in(tmp_path) == []
    assert not any(each.kind == "reserve" for each in book.history("clinic"))


@pytest.mark.parametrize("step", ["fit", "sample"])
def test_what_goes_wrong_after_the_payment_stays_spent_and_leaves_no_file(
    table: Table, tmp_path: Path, book: Ledger, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("secretperson7")

    monkeypatch.setattr(MST, step, fail)
    with pytest.raises(EngineError, match="stays spent") as failed:
        release_synthetic_private(table, tmp_path / "out.csv", private(), ledger=book, budget="clinic", analyst="ada")
    assert "secretperson" not in str(failed.value)
    assert names_in(tmp_path) == []
    kinds = [each.kind for each in book.history("clinic")]
    assert kinds[-2:] == ["reserve", "abandon"]


DIES = """
import os, signal, sys
from ziggurat.data import Bounds, Column, Schema, read
from ziggurat.ledger import Ledger
from ziggurat.release import release_synthetic_private
from ziggurat.synthesize import MST
import pyarrow as pa

class Dying(MST):
    def sample(self, *given, **options):
        os.kill(os.getpid(), signal.SIGKILL)

columns = tuple(Column(name, "integer", bounds=Bounds(0, 9)) for name in "xy")
table = read(pa.table({"x": [1, 2, 3], "y": [2, 3, 4]}), Schema(columns))
book = Ledger.open(sys.argv[1])
release_synthetic_private(table, sys.argv[2], Dying("1", "1e-9"), ledger=book, budget="t", analyst="ada")
"""


def test_a_crash_between_fit_and_file_leaves_the_cost_spent_and_no_file(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "book.db") as opened:
        opened.create_budget("t", "2", "1e-6", Neighbours())
        opened.grant("t", "ada", "2", "1e-6", "zcdp")
    died = subprocess.run([sys.executable, "-c", DIES, str(tmp_path / "book.db"), str(tmp_path / "o.csv")], check=False)
    assert died.returncode == -SIGKILL
    with Ledger.open(tmp_path / "book.db") as opened:
        assert opened.share_left("t", "ada") < 1
        assert [each.kind for each in opened.history("t")][-1] == "reserve"
    assert [each for each in names_in(tmp_path) if not each.startswith(".")] == []


def test_a_model_that_did_something_else_than_was_paid_for_is_not_released(
    table: Table, tmp_path: Path, book: Ledger
) -> None:
    class Lying(MST):
        def planned(self, schema: Schema) -> Any:
            return MST("1/100", "1e-9", rows_per_unit=1).planned(schema)

    model = Lying("1", "1e-9", rows_per_unit=1, bins=8, random_state=3)
    with pytest.raises(PrivacyError, match="something else than was paid for"):
        release_synthetic_private(table, tmp_path / "out.csv", model, ledger=book, budget="clinic", analyst="ada")
    assert names_in(tmp_path) == []


def test_a_budget_about_others_is_refused_with_the_way_out(table: Table, tmp_path: Path, book: Ledger) -> None:
    book.create_budget("rows", "3", "1e-5", Neighbours())
    book.grant("rows", "ada", "2", "1e-6")
    given = {"ledger": book, "analyst": "ada"}
    with pytest.raises(MixedNeighboursError, match="--unit person=who"):
        release_synthetic_private(table, tmp_path / "out.csv", private(), budget="rows", **given)
    with pytest.raises(MixedNeighboursError, match="--relation replace-one"):
        release_synthetic_private(
            table, tmp_path / "out.csv", private(relation=Relation.REPLACE_ONE.value), budget="clinic", **given
        )
    with pytest.raises(LedgerError, match="nothere"):
        release_synthetic_private(table, tmp_path / "out.csv", private(), budget="nothere", **given)
    with pytest.raises(ParameterError, match="carry no guarantee"):
        release_synthetic_private(table, tmp_path / "out.csv", rehearsal(), budget="clinic", **given)
    assert names_in(tmp_path) == []
