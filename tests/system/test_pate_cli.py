"""`ziggurat pate`, stage by stage, as a steward and a student would run it."""

import json
from pathlib import Path

import pytest

from ziggurat.ledger import Ledger
from ziggurat.pate import Partition, Student

STUDENT = ("pate", "student", "teachers", "asked.csv", "labels.json", "--features", "public")
TEACH = ("pate", "teach", "clinic", "--label", "sex", "--out", "t", "--teachers")
COLUMNS = ("--column", "hba1c", "--column", "systolic_bp", "--column", "age")


@pytest.fixture
def stages(command):
    """Teachers, queries and a grant, all in the folder in which commands run."""
    assert command("data", "invent", "clinic", "--rows", "400", "--seed", "5", "--out", "asked.csv").code == 0
    assert command("data", "invent", "clinic", "--rows", "300", "--seed", "6", "--out", "truth.csv").code == 0
    budget = ("--epsilon", "10", "--delta", "1e-5", "--person", "patient_id")
    assert command("ledger", "budget", "clinic", *budget).code == 0
    assert command("ledger", "grant", "clinic", "stu", "--epsilon", "10", "--delta", "1e-5").code == 0
    taught = command(
        "pate", "teach", "clinic", "--label", "smoker", "--teachers", "10", *COLUMNS,
        "--model", "decision-tree", "--out", "teachers", "--rehearse", "1",
    )  # fmt: skip
    assert taught.code == 0, taught.err
    assert "one person (column patient_id), add-or-remove-one" in taught.out
    return command


def label(command, *more, queries="asked.csv", out="labels.json"):
    given = ("--budget", "clinic", "--analyst", "stu", "--out", out, "--rehearse", "2")
    return command("pate", "label", "teachers", queries, *given, *more)


def test_a_student_of_public_rows_goes_through_all_stages(stages):
    labelled = label(stages)
    assert labelled.code == 0, labelled.err
    assert "400 of 400 queries answered" in labelled.out
    assert "REHEARSAL" in labelled.out
    made = stages(
        "pate", "student", "teachers", "asked.csv", "labels.json", "--features", "public", "--out", "student", "--check"
    )
    assert made.code == 0, made.err
    assert made.out.startswith("REHEARSAL")
    assert "its features are public" in made.out
    judged = stages("pate", "evaluate", "student", "truth.csv", "--json")
    found = json.loads(judged.out)
    assert found["names"] == ["false", "true"]
    assert sum(map(sum, found["confusion"])) == 300
    again = stages("pate", "certificate", "student", "--check")
    assert again.code == 0
    assert again.out.strip() == made.out.rsplit("\n", 2)[0].strip()


def test_the_default_budget_pays_for_labels_and_everything_is_stated_at_its_delta(command):
    """The two commands that everybody types first; they could not pay for labels before."""
    command("data", "invent", "clinic", "--rows", "200", "--seed", "5", "--out", "asked.csv")
    command("ledger", "budget", "clinic", "--epsilon", "8", "--delta", "3e-7", "--person", "patient_id")
    command("ledger", "grant", "clinic", "stu", "--epsilon", "8", "--delta", "3e-7")
    given = ("--label", "smoker", "--teachers", "10", "--column", "age", "--model", "decision-tree", "--rehearse", "1")
    assert command("pate", "teach", "clinic", *given, "--out", "teachers").code == 0
    labelled = label(command)
    assert labelled.code == 0, labelled.err
    assert "≈3.7" in labelled.out
    assert "3e-7)-differential privacy (one person (column patient_id), add-or-remove-one" in labelled.out
    made = command(*STUDENT, "--out", "student")
    assert "at delta 3e-7 (one person" in " ".join(made.out.split())
    again = json.loads(command("pate", "certificate", "student", "--json").out)
    assert again["teachers"]["promise"]["delta"] == "3/10000000"


def test_a_balanced_split_is_refused_from_the_default_budget_with_the_one_that_it_needs(stages):
    given = ("--label", "smoker", "--teachers", "10", "--column", "age", "--model", "decision-tree", "--rehearse", "1")
    even = stages("pate", "teach", "clinic", *given, "--out", "even", "--split", "balanced")
    assert "one person (column patient_id), replace-one" in even.out
    pay = ("--analyst", "stu", "--rehearse", "2")
    refused = stages("pate", "label", "even", "asked.csv", *pay, "--budget", "clinic", "--out", "labels.json")
    assert refused.code in (2, 6)
    assert "balanced split" in refused.err
    assert "--relation replace-one" in refused.err
    replaced = ("--epsilon", "10", "--delta", "1e-5", "--person", "patient_id", "--relation", "replace-one")
    stages("ledger", "budget", "replaced", *replaced)
    stages("ledger", "grant", "replaced", "stu", "--epsilon", "10", "--delta", "1e-5")
    paid = stages("pate", "label", "even", "asked.csv", *pay, "--budget", "replaced", "--out", "labels.json")
    assert paid.code == 0, paid.err


def test_the_key_of_the_split_stays_with_the_teachers(stages):
    """It is in the private folder alone: in no manifest, label, certificate or line on the screen."""
    key = Partition.load("teachers/partition.npz").key.hex()
    shown = label(stages).out + stages(*STUDENT, "--out", "student").out
    files = [each for each in Path().rglob("*") if each.is_file() and each != Path("teachers/partition.npz")]
    assert len(key) == 64
    assert key not in shown
    assert all(key.encode() not in each.read_bytes() for each in files)


def test_the_same_queries_are_labelled_again_for_nothing(stages):
    label(stages)
    before = stages("ledger", "show", "clinic").out
    again = label(stages, out="again.json")
    assert "nothing was spent" in again.out
    assert stages("ledger", "show", "clinic").out == before
    assert json.loads(Path("again.json").read_text())["labels"] == json.loads(Path("labels.json").read_text())["labels"]


def test_labels_that_cost_more_than_is_left_ask_no_teacher(stages):
    refused = label(stages, "--aggregator", "laplace:1")
    assert refused.code == 3
    assert "nothing was read or spent" in refused.err
    assert not Path("labels.json").exists()
    assert label(stages, "--aggregator", "laplace:1", "--quote").code == 3
    assert label(stages, "--quote").code == 0
    assert "used 0% of it on 0 questions" in stages("ledger", "show", "clinic").out


def test_a_private_student_pays_its_own_ledger_and_says_what_is_not_protected(stages):
    own = ("--ledger", "own.db")
    row = ("--epsilon", "3", "--relation", "replace-one")
    assert stages("ledger", "budget", "mine", *row, *own).code == 0
    assert stages("ledger", "grant", "mine", "me", "--epsilon", "3", *own).code == 0
    send = ("pate", "privatize", "teachers", "asked.csv", "--rho", "1.5", "--rehearse", "3", *own)
    sent = stages(*send, "--budget", "mine", "--analyst", "me", "--out", "sent")
    assert sent.code == 0, sent.err
    assert "3-differential privacy (one row, replace-one)" in sent.out
    assert "of the student's own people" in sent.out
    assert "Entry 5 of the ledger 'own.db' says that 'me' paid for it out of the budget 'mine'" in sent.out
    assert stages(*send, "--budget", "mine", "--analyst", "me", "--out", "more").code == 3
    assert not Path("more").exists()
    assert label(stages, queries="sent").code == 0
    student = ("pate", "student", "teachers")
    theirs = ("--student-ledger", "own.db", "--student-budget", "mine")
    kept = stages(*student, "sent", "labels.json", "--features", "privatised", "--out", "kept", *theirs)
    assert "and the released student as well" in kept.out
    open_ = ("--features", "original", "--queries", "sent", "--out", "open")
    bare = stages(*student, "asked.csv", "labels.json", *open_, *theirs)
    assert "NOT PROTECTED" in bare.out
    assert "without a guarantee" in stages("ledger", "show", "mine", *own).out


def test_a_students_rows_do_not_go_round_the_ledger(stages):
    send = ("pate", "privatize", "teachers", "asked.csv", "--rho", "1", "--out", "sent")
    for more in ((), ("--rehearse", "3"), ("--budget", "asked"), ("--analyst", "me")):
        refused = stages(*send, *more)
        assert refused.code in (2, 6)
        assert "ziggurat ledger budget asked --epsilon 1 --relation replace-one" in refused.err
        assert "ziggurat ledger grant asked" in refused.err
    stages("ledger", "budget", "asked", "--epsilon", "3")
    stages("ledger", "grant", "asked", "me", "--epsilon", "3")
    assert "--relation replace-one --population asked" in stages(*send, "--analyst", "me").err
    assert not Path("sent").exists()
    open_data = ("pate", "privatize", "teachers", "clinic", "--rho", "1", "--rehearse", "3", "--out", "sent")
    assert "a rehearsal on open data" in stages(*open_data).out


def test_the_threshold_is_chosen_on_rows_kept_aside(stages):
    label(stages)
    made = stages(*STUDENT, "--out", "s", "--threshold-rows", "100")
    assert made.code == 0
    assert Student.load("s").threshold_ != 0.5


def test_networks_are_taught_and_go_on_after_a_kill(stages):
    given = ("pate", "teach", "clinic", "--label", "smoker", *COLUMNS, "--model", "mlp:8", "--epochs", "2")
    made = stages(*given, "--teachers", "4", "--out", "nets")
    assert made.code == 0, made.err
    assert not Path("nets/checkpoints").exists()
    assert "is there already" in stages(*given, "--teachers", "4", "--out", "nets").err
    Path("nets/teachers.json").unlink()
    Path("nets/checkpoints").mkdir()
    before = Path("nets/partition.npz").read_bytes()
    assert "unfinished run" in stages(*given, "--teachers", "5", "--out", "nets").err
    assert stages(*given, "--teachers", "4", "--out", "nets").code == 0
    assert Path("nets/partition.npz").read_bytes() == before


def test_a_split_is_not_taken_up_for_a_table_in_another_order(command):
    command("data", "invent", "clinic", "--rows", "60", "--out", "some.csv", "--schema", "some.yaml")
    given = ("pate", "teach", "some.csv", "--label", "smoker", "--column", "age", "--teachers", "3", "--out", "t")
    assert command(*given).code == 0
    Path("t/teachers.json").unlink()
    Path("t/checkpoints").mkdir()
    header, *lines = Path("some.csv").read_text().splitlines()
    Path("some.csv").write_text("\n".join([header, *reversed(lines)]))
    assert "unfinished run" in command(*given).err


def test_a_students_files_are_compared_with_its_certificate(stages):
    label(stages)
    assert stages(*STUDENT, "--out", "s").code == 0
    assert stages("pate", "certificate", "s").code == 0
    Path("s/task.json").write_text("{}")
    assert "not the one that was certified" in stages("pate", "certificate", "s").err


def test_a_student_that_cannot_be_certified_leaves_nothing_behind(stages):
    label(stages)
    before = sorted(Path().iterdir())
    assert stages(*STUDENT, "--out", "s", "--delta", "2").code not in (0, 70)
    assert sorted(Path().iterdir()) == before


def test_prices_are_told_without_data(command):
    told = command("pate", "quote", "--queries", "1000", "--aggregator", "laplace:0.05", "--organisation", "site=2")
    assert "20.1743" in told.out
    assert "8.05848" in told.out
    priced = json.loads(command("pate", "quote", "--queries", "1000", "--json").out)
    assert [each["queries"] for each in priced] == [100, 333, 1000]
    assert priced[0]["organisation"] is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("pate", "quote", "--queries", "10", "--aggregator", "gumble:1"), "gumbel"),
        (("pate", "quote", "--queries", "10", "--aggregator", "confident:200"), "confident:200,150,40"),
        (("pate", "quote", "--queries", "10", "--organisation", "site"), "hospital=5"),
        (("pate", "teach", "clinic", "--label", "age", "--teachers", "3", "--out", "t"), "category or a truth value"),
        ((*TEACH, "20000", "--split", "balanced"), "use at most"),
        ((*TEACH, "3", "--split", "odd"), "balanced"),
        (("pate", "teach", "clinic", "--label", "sex", "--teachers", "3", "--out", "t", "--model", "x"), "classifier"),
        (("pate", "label", "nowhere", "x.csv", "--budget", "b", "--analyst", "a", "--out", "o"), "no readable task"),
        (("pate", "certificate", "nowhere.json"), "certificate"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(command, given, said):
    refused = command(*given)
    assert refused.code not in (0, 70)
    assert said in refused.err
    assert refused.err.count("\n") == 1


def test_rows_that_were_not_labelled_are_refused(stages):
    label(stages)
    student = ("pate", "student", "teachers")
    Path("fewer.csv").write_text("\n".join(Path("asked.csv").read_text().splitlines()[:50]))
    fewer = stages(*student, "fewer.csv", "labels.json", "--features", "public", "--out", "s")
    assert "give the same rows" in fewer.err
    lines = Path("asked.csv").read_text().splitlines()
    Path("turned.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]))
    turned = stages(*student, "turned.csv", "labels.json", "--features", "public", "--out", "s")
    assert "same ones in the same order" in turned.err
    assert not Path("s").exists()


def test_a_claim_that_rows_are_privatised_is_checked(stages):
    label(stages)
    claimed = stages(
        "pate", "student", "teachers", "asked.csv", "labels.json", "--features", "privatised", "--out", "s"
    )
    assert "needs ROWS from 'pate privatize'" in claimed.err


def test_a_student_is_attacked_with_people_whom_its_teachers_never_saw(stages):
    """One of paid labels leaves; one that holds original rows leaves only for a reason that its ledger keeps."""
    taught = stages(
        "pate", "teach", "clinic", "--label", "sex", "--teachers", "10", *COLUMNS,
        "--model", "decision-tree", "--out", "held", "--rehearse", "1", "--holdout", "0.3",
    )  # fmt: skip
    assert taught.code == 0, taught.err
    assert Path("held/control.npz").stat().st_mode & 0o077 == 0
    given = ("--budget", "clinic", "--analyst", "stu", "--out", "held.json", "--rehearse", "2")
    assert stages("pate", "label", "held", "asked.csv", *given).code == 0
    learn = ("pate", "student", "held", "asked.csv", "held.json", "--seed", "1")
    made = stages(*learn, "--features", "public", "--out", "student", "--check", "--json")
    assert made.code == 0, made.err
    told = json.loads(made.out)
    assert set(told["attacks"]["made"]) == {"membership", "inspection"}
    assert told["verdict"]["stopped"] == []
    assert "control.npz" not in {each.name for each in Path("student").iterdir()}

    own = ("--student-ledger", "own.db", "--student-budget", "mine")
    budget = ("--epsilon", "1", "--relation", "replace-one", "--ledger", "own.db")
    assert stages("ledger", "budget", "mine", *budget).code == 0
    original = (*learn, "--features", "original", "--model", "random-forest", "--out", "bare")
    stopped = stages(*original, *own)
    assert stopped.code == 5
    assert not Path("bare").exists()
    refused = stages(*original, "--go-on", "All agreed.")
    assert (refused.code, "A reason is kept in" in refused.err) == (2, True)
    went = stages(*original, *own, "--go-on", "All agreed.")
    assert went.code == 0, went.err
    assert "NOT PROTECTED" in went.out
    with Ledger.open("own.db", create=False, read_only=True) as book:
        entry = book.history()[-1]
    assert entry.kind == "unbounded"
    assert "All agreed." in str(entry)
