"""`ziggurat model serve`, `answer` and `show`: a model that stays, and answers that leave without limit."""

import json
import stat
from pathlib import Path

import pyarrow.csv as csv
import pytest

REPLACED = ("--relation", "replace-one")


@pytest.fixture
def granted(command):
    command(
        "data", "invent", "clinic", "--rows", "400", "--seed", "6", "--out", "clinic.csv", "--schema", "clinic.yaml"
    )
    for name, unit in (("clinic", ("--person", "patient_id")), ("costs", ("--unit", "label=cost", *REPLACED))):
        command("ledger", "budget", name, "--epsilon", "4", "--delta", "1e-5", *unit)
        command("ledger", "grant", name, "ada", "--epsilon", "4", "--delta", "1e-5")
    Path("ages.csv").write_text("age\n" + "".join(f"{age}\n" for age in range(20, 99, 3)))
    Path("stays.csv").write_text("length_of_stay\n1\n5\n20\n")
    Path("both.csv").write_text("age,bmi\n30,22.5\n80,31\n")
    return command


def serving(*given, budget="clinic", out="m", epsilon="2", rehearse="1"):
    paying = ("--budget", budget, "--analyst", "ada", "--out", out, "--epsilon", epsilon)
    return ("model", "serve", "clinic.csv", *given, *paying, *(("--rehearse", rehearse) if rehearse else ()))


DENSITY = ("--kind", "kernel-density", "--column", "age")
LABELS = ("--label", "cost", "--column", "length_of_stay")
KINDS = {
    "kernel-density": (DENSITY, "clinic", "ages.csv", "density"),
    "path": ((*DENSITY, "--path", "--option", "bandwidth=0.2"), "clinic", "ages.csv", "density"),
    "histogram": (
        ("--kind", "histogram", "--column", "age", "--column", "bmi", "--option", "bins=4"),
        "clinic",
        "both.csv",
        "density",
    ),
    "svm": (
        ("--kind", "svm", "--label", "smoker", "--column", "age", "--column", "bmi", "--option", "C=0.02"),
        "clinic",
        "both.csv",
        "smoker",
    ),
    "gaussian-process": (
        ("--kind", "gaussian-process", *LABELS, "--option", "noise_variance=9"),
        "costs",
        "stays.csv",
        "cost",
    ),
    "cloaked": (("--kind", "cloaked", *LABELS, "--questions", "stays.csv"), "costs", "stays.csv", "cost"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_served_answers_the_same_again_and_says_what_it_is(granted, kind):
    given, budget, asked, named = KINDS[kind]
    made = granted(*serving(*given, budget=budget))
    assert made.code == 0, made.err
    assert "REHEARSAL" in made.out
    first = granted("model", "answer", "m", asked, "--out", "a.csv")
    assert first.code == 0, first.err
    assert named in first.out
    assert "REHEARSAL" in first.out
    once = csv.read_csv("a.csv")
    assert set(once["rehearsal"].to_pylist()) == {True}
    assert granted("model", "answer", "m", asked, "--out", "b.csv").code == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    shown = granted("model", "show", "m", "--check")
    assert f"given {2 * once.num_rows:,} answers" in shown.out
    assert "Not covered" in shown.out
    assert "says the same" in shown.out
    assert ("inputs" in shown.out) == (budget == "costs")


def test_answers_do_not_depend_on_the_order_or_company_of_questions(granted):
    assert granted(*serving(*DENSITY, rehearse="")).code == 0
    granted("model", "answer", "m", "ages.csv", "--out", "all.csv")
    Path("two.csv").write_text("age\n50\n20\n")
    granted("model", "answer", "m", "two.csv", "--out", "two-answers.csv")
    known = dict(zip(*csv.read_csv("all.csv").to_pydict().values(), strict=True))
    assert csv.read_csv("two-answers.csv")["density"].to_pylist() == [known[50], known[20]]
    assert "rehearsal" not in csv.read_csv("all.csv").column_names


def test_show_gives_json_for_served_and_published_models(granted):
    granted(*serving(*DENSITY))
    found = json.loads(granted("model", "show", "m", "--json").out)
    assert (found["model"], found["served"], found["rehearsal"], found["answers"]) == ("kernel-density", True, True, 0)
    paying = ("--budget", "clinic", "--analyst", "ada", "--epsilon", "1", "--out", "p", "--rehearse", "1")
    assert granted("model", "fit", "clinic.csv", *LABELS, *paying).code == 0
    found = json.loads(granted("model", "show", "p", "--json", "--check").out)
    assert (found["model"], found["served"], found["label"], found["checked"]) == ("linear", False, "cost", True)
    shown = granted("model", "show", "p")
    assert "may be published" in shown.out
    assert "REHEARSAL" in shown.out


@pytest.mark.parametrize("kind", ["kernel-density", "gaussian-process", "cloaked"])
def test_a_model_of_one_number_is_drawn(granted, kind):
    given, budget, asked, _ = KINDS[kind]
    granted(*serving(*given, budget=budget))
    drawn = granted("model", "answer", "m", asked, "--picture", "p.png")
    assert drawn.code == 0, drawn.err
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_too_dear_is_refused_and_a_price_is_told(granted):
    assert granted(*serving(*DENSITY), "--quote").code == 0
    assert granted(*serving(*DENSITY, epsilon="50"), "--quote").code == 3
    refused = granted(*serving(*DENSITY, epsilon="50"))
    assert refused.code == 3
    assert "nothing was read or spent" in refused.err
    assert not [file for file in Path().iterdir() if file.is_dir()]
    assert "0 questions" in granted("ledger", "show", "clinic").out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--kind", "kernel-densty", "--column", "age"), "kernel-density"),
        (("--kind", "kernel-density"), "--column"),
        (("--kind", "kernel-density", "--column", "sex"), "no density"),
        (("--kind", "kernel-density", "--column", "agee"), "age"),
        ((*DENSITY, "--label", "cost"), "no label"),
        (("--kind", "svm"), "--label"),
        (("--kind", "svm", *LABELS), "gaussian-process"),
        (("--kind", "gaussian-process", "--label", "smoker"), "--kind svm"),
        (("--kind", "gaussian-process", *LABELS), "--unit label=cost --relation replace-one"),
        (("--kind", "cloaked", *LABELS), "--questions"),
        ((*DENSITY, "--questions", "ages.csv"), "--questions"),
        ((*DENSITY, "--option", "bandwith=1"), "bandwidth"),
        ((*DENSITY, "--option", "bandwidth=-1"), "bandwidth"),
        ((*DENSITY, "--option", "path=x"), "no option"),
        (("--kind", "histogram", "--column", "age", "--path"), "needs no path"),
        ((*DENSITY, "--delta", "0"), "elta"),
    ],
)
def test_bad_input_gets_one_sentence_and_spends_nothing(granted, given, said):
    refused = granted(*serving(*given))
    assert refused.code in (2, 6)
    assert said in refused.err
    assert refused.err.count("\n") == 1
    assert not Path("m").exists()
    assert "0 questions" in granted("ledger", "show", "clinic").out


BAD_QUESTIONS = [
    ("age\n30\n17\n", (), "from 18 to 99"),
    ("age\n30\nNA\n", (), "age"),
    ("bmi\n30\n", (), "none of the columns"),
    ("age\n", (), "no rows"),
    ("age\n30\n", ("--out", "a.txt"), ".csv"),
    ("age\n30\n", ("--out", "nowhere/a.csv"), "does not exist"),
    ("age\n30\n", ("--picture", "a.pdf"), ".svg or .png"),
]


def test_bad_questions_get_one_sentence_and_no_answer(granted):
    granted(*serving(*DENSITY))
    for asked, more, said in BAD_QUESTIONS:
        Path("q.csv").write_text(asked)
        refused = granted("model", "answer", "m", "q.csv", *(more or ("--out", "a.csv")))
        assert refused.code in (2, 6)
        assert said in refused.err
        assert refused.err.count("\n") == 1
        assert not Path("a.csv").exists()
    assert json.loads(granted("model", "show", "m", "--json").out)["answers"] == 0


def test_a_wrong_folder_and_a_changed_one_are_refused(granted):
    for words in (("answer", "nowhere", "ages.csv"), ("show", "nowhere")):
        assert granted("model", *words).code == 6
    granted(*serving(*DENSITY))
    assert granted("model", "answer", "m", "missing.csv").code == 6
    assert "already" in granted(*serving(*DENSITY)).err
    assert "ziggurat model answer" in granted("model", "predict", "m", "ages.csv").err
    promise = Path("m/promise.json")
    promise.write_text(promise.read_text().replace('"rehearsal": true', '"rehearsal": false'))
    for words in (("answer", "m", "ages.csv"), ("show", "m")):
        refused = granted("model", *words)
        assert refused.code in (2, 6)
        assert "were changed" in refused.err


def test_a_folder_is_for_its_owner_and_a_drawn_path_is_kept_in_it(granted):
    granted(*serving(*DENSITY, "--path"))
    assert stat.S_IMODE(Path("m").stat().st_mode) == 0o700
    size = Path("m/noise.path").stat().st_size
    granted("model", "answer", "m", "ages.csv")
    assert Path("m/noise.path").stat().st_size > size


def test_answers_that_are_mostly_noise_are_said_to_be_in_a_line(granted):
    made = granted(*serving(*DENSITY, "--option", "expected_rows=400", epsilon="0.001"))
    assert made.code == 0, made.err
    assert made.err.startswith("Note: ")
    assert made.err.count("\n") == 1
