"""`ziggurat collect` as a person meets it."""

import json
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
import typer
from typer.testing import CliRunner

from ziggurat.cli.collect import collect
from ziggurat.data import Bounds, Categories, Column, Schema, Unit
from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.errors import (
    BudgetExceededError,
    DataError,
    LedgerUseError,
    MixedNeighboursError,
    ParameterError,
    ZigguratError,
)
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, Relation

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(collect)

ASKED = ("people.csv", "--schema", "people.yaml", "--column", "colour", "--column", "age", "--epsilon", "2")
SCHEMA = Schema(
    (
        Column("colour", "category", categories=Categories(("red", "green", "1"))),
        Column("age", "integer", bounds=Bounds(0, 100)),
        Column("height", "real", bounds=Bounds(0, 3)),
        Column("smokes", "boolean", missing=("?",)),
        Column("name", "text", "identifier"),
    )
)


PAY = ("--ledger", "book.db", "--analyst", "ana")


def budget(name="people", relation=Relation.REPLACE_ONE, grant="1000", unit=Unit()):  # noqa: B008
    with Ledger.open("book.db") as book:
        book.create_budget(name, "1000", neighbours=Neighbours(unit, relation))
        book.grant(name, "ana", grant)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the command in a folder with people.csv, people.yaml and a ledger; gives what it printed, or raises.

    Ana pays out of the budget that is called as the table, unless it is told otherwise.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZIGGURAT_LEDGER", raising=False)
    rows = [
        {
            "colour": ("red", "green", "1")[i % 3],
            "age": i % 90,
            "height": i / 400,
            "smokes": i % 2 == 0,
            "name": f"n{i}",
        }
        for i in range(600)
    ]
    csv.write_csv(pa.Table.from_pylist(rows), "people.csv")
    SCHEMA.to_yaml("people.yaml")
    budget()

    def call(*arguments, pay=PAY):
        outcome = CliRunner().invoke(app, [*arguments, *(() if "--estimate" in arguments else pay)])
        if isinstance(outcome.exception, ZigguratError):
            raise outcome.exception
        assert outcome.exit_code == 0, outcome.output
        return outcome.stdout

    return call


@pytest.mark.parametrize("out", ["reports.csv", "reports.parquet"])
@pytest.mark.parametrize("method", ["auto", "response", "unary", "hashing", "choice"])
def test_reports_alone_give_the_same_estimates(run, out, method):
    made = json.loads(run(*ASKED, "--out", out, "--method", method, "--json"))
    again = json.loads(run("--estimate", out, "--json"))
    assert made.pop("paid") == {"entry": 5, "budget": "people", "analyst": "ana"}
    assert again == made
    assert (made["people"], made["rehearsal"]) == (600, False)
    assert float(Fraction(made["epsilon"])) == pytest.approx(2)


def test_with_a_huge_epsilon_the_estimates_are_the_exact_answers(run):
    asked = ("--column", "colour=60", "--column", "age=60", "--column", "height=60", "--column", "smokes=60")
    found = json.loads(run(*ASKED[:3], *asked, "--out", "r.csv", "--json"))["columns"]
    assert [row["count"] for row in found["colour"]["counts"]] == pytest.approx([200, 200, 200], abs=1e-6)
    assert found["age"]["mean"] == pytest.approx(sum(i % 90 for i in range(600)) / 600, abs=0.3)
    assert [row["category"] for row in found["smokes"]["counts"]] == [0, 1, None]


def test_epsilon_is_split_equally_over_the_columns_that_state_none(run):
    run(
        *ASKED[:3],
        "--column",
        "colour",
        "--column",
        "age=0.5",
        "--column",
        "height",
        "--epsilon",
        "2",
        "--out",
        "r.csv",
    )
    columns = json.loads(Path("r.csv.collection.json").read_text())["columns"]
    assert {name: part["epsilon"] for name, part in columns.items()} == {"colour": "3/4", "age": "1/2", "height": "3/4"}


def test_people_read_tables_and_the_promise_in_a_sentence(run):
    shown = run(*ASKED, "--out", "r.csv")
    assert all(word in shown for word in ("colour", "green", "mean", "95% interval", "times as likely by replacing"))
    assert "rehearsal" not in shown


def test_a_rehearsal_repeats_itself_and_says_so(run):
    first = run(*ASKED, "--out", "r.csv", "--rehearse", "slides")
    assert "rehearsal" in first
    again = run(*ASKED, "--out", "r.csv", "--rehearse", "slides", "--force")
    assert again.replace("Entry 7", "Entry 5") == first  # paid for again, and otherwise the same
    assert json.loads(run("--estimate", "r.csv", "--json"))["rehearsal"] is True


def test_only_the_columns_asked_for_leave_and_no_name(run):
    run(*ASKED, "--out", "r.parquet")
    assert parquet.read_table("r.parquet").column_names == ["colour", "age"]


def test_nothing_is_overwritten_without_force(run):
    run(*ASKED, "--out", "r.csv")
    before = Path("r.csv").read_bytes()
    with pytest.raises(DataError, match="--force"):
        run(*ASKED, "--out", "r.csv")
    assert Path("r.csv").read_bytes() == before
    run(*ASKED, "--out", "r.csv", "--force")
    with pytest.raises(DataError, match="take the place"):
        run(*ASKED, "--out", "people.csv", "--force")


def left(name="people"):
    with Ledger.open("book.db") as book:
        return book.left(name, "ana")


def test_the_ledger_pays_once_and_refuses_the_second_time_before_the_file_is_read(run):
    budget("few", grant="3")
    shown = run(*ASKED, "--out", "r.csv", "--budget", "few")
    assert left("few") == 1
    said = "Entry 7 of the ledger 'book.db' says that 'ana' paid for it out of the budget 'few', which protects one row"
    assert said in shown
    assert "for ever" in shown
    Path("people.csv").write_text("this is no table")
    with pytest.raises(BudgetExceededError):
        run(*ASKED, "--out", "s.csv", "--budget", "few")
    assert not Path("s.csv").exists()


def test_a_row_that_cannot_be_reported_is_found_before_anything_is_paid(run):
    Path("people.csv").write_text("colour,age,height,smokes,name\nred,1,1,true,x\ncanary,1,1,true,x\n")
    with pytest.raises(DataError) as caught:
        run(*ASKED, "--out", "r.csv")
    assert "canary" not in str(caught.value)
    assert left() == 1000
    assert not Path("r.csv").exists()


@pytest.mark.parametrize("typo", [("--confidence", "95"), ("--method", "magic"), ("--column", "absent")], ids=str)
def test_a_typo_costs_nothing(run, typo):
    with pytest.raises(ZigguratError):
        run(*ASKED, "--out", "r.csv", *typo)
    assert left() == 1000


def test_a_budget_about_adding_somebody_cannot_pay_and_the_one_that_can_is_named(run):
    budget("default", Relation.ADD_OR_REMOVE_ONE)
    with pytest.raises(MixedNeighboursError, match=r"one report more or less shows.*--relation replace-one"):
        run(*ASKED, "--out", "r.csv", "--budget", "default")
    assert left("default") == 1000
    assert not Path("r.csv").exists()


TWO_COMMANDS = (
    r"'ziggurat ledger budget {0} --epsilon 1 --relation replace-one.*"
    r"'ziggurat ledger grant {0} (ana|bob) --epsilon 1"
)


@pytest.mark.parametrize(
    ("pay", "name"),
    [
        ((), "people"),
        (PAY[:2], "people"),
        (("--budget", "people"), "people"),
        (("--rehearse", "1"), "people"),
        (("--ledger", "absent.db", "--analyst", "ana"), "people"),
        ((*PAY, "--budget", "nothing"), "nothing"),
        ((*PAY[:2], "--analyst", "bob"), "people"),
    ],
    ids=" ".join,
)
def test_nothing_about_people_is_collected_round_the_ledger(run, pay, name):
    """It was, unless --table and --analyst were given."""
    with pytest.raises((ParameterError, LedgerUseError), match=TWO_COMMANDS.format(name)):
        run(*ASKED, "--out", "r.csv", pay=pay)
    assert not Path("r.csv").exists()
    assert left() == 1000


def test_a_rehearsal_on_invented_people_needs_nobody(run):
    asked = ("clinic", "--column", "sex", "--column", "age", "--epsilon", "2", "--out", "r.csv")
    shown = run(*asked, "--rehearse", "1", pay=())
    assert "a rehearsal on open data" in shown
    assert json.loads(run("--estimate", "r.csv", "--json"))["rehearsal"] is True
    with pytest.raises(ParameterError, match="--analyst"):
        run(*asked, "--force", pay=())


def test_a_person_with_two_rows_is_not_covered_by_a_promise_about_persons(run):
    rows = pa.table({"colour": ["red", "green", "red"], "id": [1, 2, 2]})
    csv.write_csv(rows, "twice.csv")
    columns = (SCHEMA["colour"], Column("id", "integer", "identifier"))
    Schema(columns, Unit.person("id")).to_yaml("twice.yaml")
    budget("twice", unit=Unit.person("id"))
    asked = ("twice.csv", "--schema", "twice.yaml", "--column", "colour", "--epsilon", "1", "--out", "r.csv")
    with pytest.raises(DataError, match="share their person"):
        run(*asked)
    csv.write_csv(rows.slice(0, 2), "twice.csv")
    assert "one person (column id)" in run(*asked, "--json")


def test_missing_values_are_refused_or_reported(run):
    rows = csv.read_csv("people.csv").slice(0, 40).to_pylist()
    csv.write_csv(
        pa.Table.from_pylist([{**row, "age": None if i < 5 else 3} for i, row in enumerate(rows)]), "people.csv"
    )
    with pytest.raises(DataError, match="'age'"):
        run(*ASKED, "--out", "r.csv")
    assert json.loads(run(*ASKED, "--out", "r.csv", "--missing", "--json"))["people"] == 40


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("people.csv",),
        (*ASKED,),
        (*ASKED[:3], "--epsilon", "1", "--out", "r.csv"),
        (*ASKED[:5], "--out", "r.csv"),
        (*ASKED[:-1], "0", "--out", "r.csv"),
        (*ASKED[:-1], "many", "--out", "r.csv"),
        (*ASKED, "--out", "r.txt"),
        (*ASKED, "--out", "no/such/r.csv"),
        (*ASKED, "--out", "r.csv", "--method", "magic"),
        (*ASKED, "--out", "r.csv", "--confidence", "1"),
        (*ASKED, "--out", "r.csv", "--column", "name"),
        (*ASKED, "--out", "r.csv", "--column", "absent"),
        (*ASKED, "--out", "r.csv", "--column", "age"),
        (*ASKED, "--out", "r.csv", "--column", "height=2"),
        ("absent.csv", *ASKED[1:], "--out", "r.csv"),
        ("people.csv", "--schema", "absent.yaml", *ASKED[3:], "--out", "r.csv"),
        ("--estimate", "people.csv"),
        ("--estimate", "absent.csv"),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_sentence_and_leaves_no_file(run, arguments):
    with pytest.raises(ZigguratError) as caught:
        run(*arguments)
    assert (caught.value.exit_code in (2, 6), "\n" in str(caught.value)) == (True, False)
    assert not Path("r.csv").exists()


@pytest.mark.parametrize("damage", ["colour,age\nred,1\n", "x\n1\n", "", "colour,age\n" + "canary,1\n" * 600])
def test_reports_that_do_not_fit_their_description_are_refused(run, damage):
    run(*ASKED, "--out", "r.csv")
    Path("r.csv").write_text(damage)
    with pytest.raises(DataError) as caught:
        run("--estimate", "r.csv")
    assert "canary" not in str(caught.value)


def test_the_invented_clinic_is_collected_from_its_schema(run):
    parquet.write_table(clinic_patients(3000, seed=1), "clinic.parquet")
    clinic_patients_schema().to_yaml("clinic.yaml")
    budget("clinic", unit=clinic_patients_schema().unit)
    asked = ("--column", "diagnosis", "--column", "smoker", "--column", "age", "--column", "cost", "--missing")
    found = json.loads(
        run("clinic.parquet", "--schema", "clinic.yaml", *asked, "--epsilon", "4", "--out", "r.csv", "--json")
    )
    assert set(found["columns"]) == {"diagnosis", "smoker", "age", "cost"}
