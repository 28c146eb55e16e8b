"""`ziggurat ask` and `ziggurat quote` as a person meets them: exit codes, sentences, files."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ziggurat.queries import Answer

CANARY = "CANARY-7f3a"
COUNT = "SELECT COUNT(*) AS n FROM visits"
MEAN = "SELECT ward, AVG(age) AS mean FROM visits GROUP BY ward"
SCHEMA = """
unit: {person: patient}
columns:
  patient: {kind: text}
  age: {kind: integer, bounds: [0, 100]}
  ward: {kind: category, categories: [east, west]}
"""


Run = Callable[..., Any]


@pytest.fixture
def run(command: Run) -> Run:
    """Runs a command in a folder with a table of 300 patients, its schema and a ledger."""
    rows = [f"p{i},{20 + i % 60},{('east', 'west')[i % 2]}" for i in range(300)]
    Path("visits.csv").write_text("\n".join(["patient,age,ward", *rows]) + "\n")
    Path("visits.yaml").write_text(SCHEMA)
    return command


@pytest.fixture
def granted(run: Run) -> Run:
    """The same, with a grant of epsilon 1 to ada."""
    assert run("ledger", "budget", "visits", "--epsilon", "2", "--person", "patient").code == 0
    assert run("ledger", "grant", "visits", "ada", "--epsilon", "1").code == 0
    return run


ADA = ("--analyst", "ada", "--rows-per-unit", "1")


def test_without_a_grant_one_sentence_says_which_two_commands_make_one(run):
    told = run("ask", "visits.csv", COUNT, "--epsilon", "0.2", *ADA)
    assert told.code == 2
    assert "ziggurat ledger budget visits --epsilon 1 --person patient" in told.err
    assert "ziggurat ledger grant visits ada --epsilon 1" in told.err
    assert len(told.err.strip().splitlines()) == 1


def test_an_answer_shows_its_interval_its_promise_its_cost_and_what_is_left(granted):
    told = granted("ask", "visits.csv", COUNT, "--epsilon", "0.2", *ADA)
    assert told.code == 0, told.err
    for piece in ("95% confidence", "The promise: No output becomes", "It cost epsilon 0.2; epsilon 0.8 is left.", "["):
        assert piece in told.out


def test_a_question_asked_again_costs_nothing_and_opens_no_file(granted):
    first = json.loads(granted("ask", "visits.csv", COUNT, "--epsilon", "0.2", *ADA, "--json").out)
    Path("visits.csv").write_text("patient,age,ward\n")
    again = json.loads(granted("ask", "visits.csv", COUNT.lower(), "--epsilon", "0.2", *ADA, "--json").out)
    assert (again["rows"], again["replayed"], again["left"]) == (first["rows"], True, "epsilon 0.8")
    assert Answer.from_dict(again["answer"]) == Answer.from_dict(first["answer"])


def test_a_quote_needs_the_schema_only_and_agrees_with_what_is_spent(granted):
    Path("visits.csv").rename("later.csv")
    Path("visits.csv").touch()
    quoted = granted("quote", "visits.csv", COUNT, "--epsilon", "0.2", *ADA, "--json")
    assert quoted.code == 0, quoted.err
    Path("later.csv").rename("visits.csv")
    told = json.loads(granted("ask", "visits.csv", COUNT, "--epsilon", "0.2", *ADA, "--json").out)
    assert json.loads(quoted.out)["left_after"] == "4/5"
    assert told["left"] == "epsilon 0.8"
    assert "answered before" in granted("quote", "visits.csv", COUNT, "--epsilon", "0.2", *ADA).out


def test_a_quote_tells_how_far_off_means_will_be_in_groups_of_a_stated_size(granted):
    asked = ("quote", "visits.csv", MEAN, "--epsilon", "0.5", "--groups-per-unit", "1", *ADA)
    assert " in a group of 1,000 people " in granted(*asked).out
    told = granted(*asked, "--group-size", "150", "--json")
    (part, *_) = json.loads(told.out)["questions"][0]["parts"]
    assert (part["name"], part["group_size"]) == ("mean", 150)
    rows = json.loads(granted("ask", *asked[1:], "--json").out)["rows"]
    assert all((row["mean_high"] - row["mean_low"]) / 2 < 1.5 * part["half_width"] for row in rows)
    assert granted(*asked, "--group-size", "0").code == 2


def test_several_questions_are_priced_together(granted):
    told = granted("quote", "visits.csv", COUNT, f"{COUNT} WHERE age > 50", "--epsilon", "0.5", *ADA)
    assert (told.code, "fit together, leaving epsilon 0" in told.out) == (0, True)
    assert granted("quote", "visits.csv", COUNT, f"{COUNT} WHERE age > 50", "--epsilon", "0.6", *ADA).code == 3


def test_what_does_not_fit_is_refused_with_code_3_and_opens_no_file(granted):
    Path("visits.csv").unlink()
    Path("visits.csv").touch()
    told = granted("ask", "visits.csv", COUNT, "--epsilon", "1.1", *ADA)
    assert (told.code, told.out) == (3, "")
    assert "nothing was read or spent" in told.err


def test_a_broken_line_costs_nothing_and_shows_no_cell(granted):
    with Path("visits.csv").open("a") as file:
        file.write(f"{CANARY},1,east,too,many\n")
    told = granted("ask", "visits.csv", COUNT, "--epsilon", "0.2", *ADA)
    assert (told.code, "has 5 fields, but the header has 3" in told.err) == (6, True), told.err
    assert CANARY not in told.out + told.err
    assert "0 questions" in granted("ledger", "show").out


def test_a_cell_that_cannot_be_read_costs_nothing_unless_the_steward_allows_for_it(granted):
    with Path("visits.csv").open("a") as file:
        file.write(f"px,{CANARY},east\n")
    asked = ("ask", "visits.csv", "SELECT AVG(age) AS a FROM visits", "--epsilon", "0.2", *ADA)
    told = granted(*asked)
    assert (told.code, "column 'age'" in told.err) == (6, True), told.err
    assert CANARY not in told.out + told.err
    assert "0 questions" in granted("ledger", "show").out
    told = granted(*asked, "--unreadable", "0.5")
    assert told.code == 0, told.err
    assert CANARY not in told.out + told.err


def test_terms_are_understood_and_the_answer_is_written(granted):
    told = granted(
        "ask", "visits.csv", f"{COUNT.replace('n FROM', 'n, AVG(age) AS a FROM')}", "--epsilon", "0.5", *ADA,
        "--share", "n=0.25", "--share", "a=0.75", "--bounds", "age=10:90", "--effects", "0", "--confidence", "0.9",
        "--explain", "--out", "answer.csv",
    )  # fmt: skip
    assert told.code == 0, told.err
    assert "90% confidence" in told.out
    assert "SELECT" in told.out
    with Path("answer.csv").open() as file:
        assert list(csv.DictReader(file).fieldnames) == ["n", "n_low", "n_high", "a", "a_low", "a_high"]
    granted("ask", "visits.csv", COUNT, "--epsilon", "0.2", *ADA, "--out", "answer.json")
    assert Answer.from_dict(json.loads(Path("answer.json").read_text())).columns == ("n",)


def test_public_and_second_private_tables_can_be_joined(granted):
    Path("regions.csv").write_text("ward,region\neast,sunrise\nwest,sunset\n")
    joined = "SELECT region, COUNT(*) AS n FROM visits JOIN regions USING (ward) GROUP BY region"
    told = granted("ask", "visits.csv", joined, "--epsilon", "0.2", *ADA, "--groups-per-unit", "1",
                   "--public", "regions=regions.csv")  # fmt: skip
    assert "sunrise" in told.out, told.err
    both = "SELECT COUNT(DISTINCT patient) AS n FROM visits JOIN more USING (patient)"
    told = granted("ask", "visits.csv", both, "--epsilon", "0.2", *ADA, "--budget", "visits",
                   "--private", "more=visits.csv:visits.yaml")  # fmt: skip
    assert told.code == 0, told.err


def test_invented_data_can_be_rehearsed_without_a_ledger_and_drawn_with_the_truth(run):
    asked = ("ask", "clinic", "SELECT COUNT(DISTINCT patient_id) AS n FROM clinic", "--rehearse", "1")
    first, second = run(*asked, "--epsilon", "1"), run(*asked, "--epsilon", "1")
    assert (first.code, first.out) == (0, second.out)
    assert "rehearsal" in first.out
    drawn = run(*asked, "--sweep", "0.01,0.1,1", "--truth", "--picture", "sweep.svg", "--out", "sweep.csv")
    assert drawn.code == 0, drawn.err
    assert "without noise" in Path("sweep.svg").read_text()
    assert not Path("book.db").exists()


def test_a_sweep_on_people_is_paid_for_point_by_point(granted):
    told = granted("ask", "visits.csv", COUNT, "--sweep", "0.1,0.2", *ADA, "--picture", "sweep.png", "--json")
    assert [each["epsilon"] for each in json.loads(told.out)["answers"]] == ["1/10", "1/5"]
    assert "epsilon 0.7" in granted("ledger", "show").out
    assert granted("ask", "visits.csv", COUNT, "--sweep", "0.3,0.5", *ADA).code == 3


def test_any_answer_can_be_drawn_and_so_can_the_ledger(granted):
    told = granted("ask", "visits.csv", COUNT, "--epsilon", "0.1", *ADA, "--picture", "answer.svg")
    assert told.code == 0, told.err
    assert "The picture is in answer.svg." in told.out
    drawn = Path("answer.svg").read_text()
    assert "noisy value, 95% interval" in drawn
    assert "Rehearsal" not in drawn
    for axis in ("analyst", "time"):
        told = granted("ledger", "show", "--picture", f"{axis}.svg", "--by", axis)
        assert told.code == 0, told.err
        assert "ada" in Path(f"{axis}.svg").read_text()
    assert granted("ledger", "show", "--picture", "x.svg", "--by", "moon").code == 2


def test_an_answer_without_a_number_is_not_drawn_and_not_paid_for(granted):
    before = granted("ledger", "show").out
    asked = ("ask", "visits.csv", "SELECT MODE(ward) AS m FROM visits", "--epsilon", "0.1", *ADA)
    told = granted(*asked, "--picture", "answer.svg")
    assert told.code == 2
    assert "leave --picture out" in told.err
    assert granted("ledger", "show").out == before
    assert not Path("answer.svg").exists()


BAD = [
    ("ask", "absent.csv", COUNT, "--epsilon", "1", *ADA),
    ("ask", "clinci", COUNT, "--epsilon", "1", *ADA),
    ("ask", "bare.csv", COUNT, "--epsilon", "1", *ADA),
    ("ask", "visits.csv", COUNT, *ADA),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", "--sweep", "1,2", *ADA),
    ("ask", "visits.csv", COUNT, "--epsilon", "x", *ADA),
    ("ask", "visits.csv", COUNT, "--epsilon", "1"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", "--rehearse", "1"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--bounds", "age"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--bounds", "age=1"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--bounds", "age=a:b"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--share", "n"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--share", "m=1"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--noise", "loud"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--out", "answer.docx"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--out", "absent/answer.csv"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--truth"),
    ("ask", "visits.csv", COUNT, "--sweep", "0.1,0.2", *ADA, "--picture", "p.gif"),
    ("ask", "visits.csv", COUNT, "--sweep", "0.1,0.2", *ADA, "--truth"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--table", "t"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--private", "more=visits.csv"),
    ("ask", "visits.csv", COUNT, "--epsilon", "1", *ADA, "--private", "visits=visits.csv"),
    ("ask", "visits.csv", "SELECT * FROM visits", "--epsilon", "1", *ADA),
    ("ask", "visits.csv", "DROP TABLE visits", "--epsilon", "1", *ADA),
    ("ask", "postgresql://nowhere/x", COUNT, "--epsilon", "1", *ADA),
    ("quote", "visits.csv", "SELECT MAX(age) FROM visits", "--epsilon", "1", *ADA),
]


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_gets_one_sentence_and_costs_nothing(granted, arguments):
    Path("bare.csv").write_text("x\n1\n")
    told = granted(*arguments)
    assert told.code in (2, 6), told.err
    assert told.err.startswith("Error: ")
    assert len(told.err.strip().splitlines()) == 1
    assert [line for line in granted("ledger", "show").out.splitlines() if "epsilon 1" in line and "ada" in line]
    assert "0 questions" in granted("ledger", "show").out


@pytest.mark.postgres
def test_a_table_in_postgresql_is_asked_where_it_lies(granted, postgres_uri):
    import psycopg

    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute("CREATE TABLE visits_asked (patient text, age int, ward text)")
        connection.execute("INSERT INTO visits_asked SELECT i::text, 30, 'east' FROM generate_series(1, 300) AS i")
    told = granted("ask", postgres_uri, COUNT, "--table", "visits_asked", "--schema", "visits.yaml", "--name", "visits",
                   "--epsilon", "1", *ADA, "--json")  # fmt: skip
    assert told.code == 0, told.err
    assert abs(json.loads(told.out)["rows"][0]["n"] - 300) < 30
